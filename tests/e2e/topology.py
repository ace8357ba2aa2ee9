#!/usr/bin/env python3
"""limpet topology as a user runs it: groups from data, a suggestion that can be read again, the examples of
docs/topology.md."""
import json
import math
import os
import random
import re
import sys

import program
from program import bad, good

DOCS = os.path.join(os.environ.get("SOURCE", "."), "docs/topology.md")


def data(directory, servers, disks, throughput):
    """A CSV file with the values of `throughput(random, server, disk, slot)`."""
    path = os.path.join(directory, "data.csv")
    rng = random.Random(7)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for slot in range(64):
            for server in range(servers):
                for disk in range(disks):
                    value = throughput(rng, server, disk, slot)
                    f.write(f"{1600000000 + 15 * slot},fs{server}/disk:{disk}.0,throughput,{value}\n")
    return path


def put(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def hosts(rng, server, _disk, _slot):
    return 1e7 * (1 + server % 5 / 5) * math.exp(rng.gauss(0, 0.1))


def attachments(rng, server, disk, _slot):
    return 1e7 * math.exp(rng.gauss(0, 0.1)) if (server + disk) % 4 == 0 else 0


def alike(rng, _server, _disk, _slot):
    return 1e7 * math.exp(rng.gauss(0, 0.1))


def classes_of_hosts(rng, server, disk, slot):
    return hosts(rng, server, disk, slot) * (100 if disk % 2 else 1)


def members(text):
    """The groups of --json as a set of sets of names."""
    return {frozenset(c["component"] for c in g["components"]) for g in json.loads(text)["groups"]}


def check_round_trip(directory, path, n_groups):
    found = members(good("topology", "--json", path))
    assert len(found) == n_groups, found
    site = put(directory, "site.yaml", good("topology", "--suggest", path))
    good("topology", "--check", site)
    assert members(good("topology", "--json", "-t", site, path)) == found


def test_suggestion_by_observer(directory):
    """a suggested file makes the same groups: by observer"""
    path = data(directory, 8, 6, hosts)
    check_round_trip(directory, path, 8)
    text = good("topology", path)
    assert "disk of fs3: 6 components, found in the data" in text, text
    assert "compared with those of their own observer" in text, text


def test_suggestion_by_class(directory):
    """a suggested file makes the same groups: classes"""
    path = data(directory, 8, 8, attachments)
    check_round_trip(directory, path, 2)
    assert 'class: "2"' in good("topology", "--suggest", path)


def test_suggestion_by_class_and_observer(directory):
    """a suggested file makes the same groups: observers in classes"""
    check_round_trip(directory, data(directory, 8, 12, classes_of_hosts), 16)


def test_suggestion_of_one(directory):
    """a suggested file makes the same groups: one"""
    path = data(directory, 8, 6, alike)
    check_round_trip(directory, path, 1)
    assert '#   - match: "fs{n1}/disk:{n2}.{n3}"' in good("topology", "--suggest", path)


def test_listing(directory):
    """groups, attributes, and components that no rule matches"""
    path = data(directory, 3, 2, alike)
    site = put(directory, "site.yaml", 'version: 1\ncomponents:\n- match: "fs{n}/disk:0.*"\n'
               '  attributes: {array: "a{n}"}\ngroups:\n- {name: zero, match: "*:0.0"}\n')
    ran = program.limpet("topology", "-t", site, path)
    assert ran.code == 0, ran
    assert "zero: 3 components\n  fs0/disk:0.0  array=a0\n" in ran.out, ran
    assert "no rule matches:\n  fs0/disk:1.0\n" in ran.out, ran
    assert "parts that can fail as a whole: array observer" in ran.out, ran
    assert "no group matches 3 components, which are left out: fs0/disk:1.0, " in ran.err, ran
    got = json.loads(program.limpet("topology", "--json", "-t", site, path).out)
    assert got["undescribed"] == [f"fs{n}/disk:1.0" for n in range(3)], got
    assert got["groups"][0]["components"][1]["attributes"] == {"array": "a1"}, got
    assert got["parts"] == ["array", "observer"], got


def test_split_by(directory):
    """--split-by, and groups too small"""
    text = good("topology", "--split-by", "observer", data(directory, 3, 2, alike))
    assert "disk observer=fs2: 2 components\n  not compared; of 2 components it is impossible" in text, text


def test_errors(directory):
    """errors say what is wrong, and where"""
    site = put(directory, "site.yaml", "version: 1\ngroup: []\n")
    for option in "--check", "--topology":
        bad(2, "site.yaml:2: there is no 'group'; did you mean 'groups'?", "topology", option, site,
            "nowhere")
    bad(2, "cannot read", "topology", "--check", os.path.join(directory, "none.yaml"))
    bad(2, "name the data", "topology")
    bad(2, "--suggest", "topology", "--suggest", "--json", "x")
    bad(2, "--suggest", "topology", "--suggest", "-t", site, "x")


def test_documentation(directory):
    """every example of docs/topology.md is a valid file"""
    with open(DOCS, encoding="utf-8") as f:
        text = f.read()
    examples = re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)
    put(directory, "priorities.csv", re.search(r"^```csv\n(.*?)^```", text, re.M | re.S)[1])
    assert len(examples) >= 6, len(examples)
    for number, example in enumerate(examples):
        site = put(directory, f"{number}.yaml", example)
        assert ": valid;" in good("topology", "--check", site)
    intrepid = next(e for e in examples if "issuer" in e)
    site = put(directory, "intrepid.yaml", intrepid)
    lines = ["time,component,metric,value"]
    for server in range(1, 9):
        for lun in 0, 1, 2, 47, 48, 71:
            lines.append(f"1600000000,fs{server}/disk:6.{lun:02},await,1")
    path = put(directory, "data.csv", "\n".join(lines) + "\n")
    groups = json.loads(good("topology", "--json", "-t", site, path))["groups"]
    assert len(groups) == 16, groups
    assert groups[0]["name"] == "disk priority=1 set=old", groups
    assert groups[0]["components"][0]["attributes"] == {
        "array": "ddn6", "lun": "6.00", "server": "fs1", "set": "old", "controller": "ddn6a",
        "priority": "1"}, groups[0]


if __name__ == "__main__":
    sys.exit(program.run_tests(program.tests_of(__name__)))
