#!/usr/bin/env python3
"""Steady and mild slowness is a separate warning: certain, listed separately, and no reason to wake an operator."""
import csv
import json
import os
import random
import sys

import fleet
from program import limpet, run_tests, tests_of
from tap import check
from verdicts import accused, diagnose

sys.path.insert(0, os.path.join(os.environ.get("SOURCE", "."), "bench"))
import fleets  # noqa: E402

SLOW = "s3/disk:sde"


def warned(verdict):
    return {w["component"]: w for w in verdict["warnings"]}


def made(directory, seed, factor=None):
    """Four hours of six servers with ten disks each, a sample per minute; one disk may be a little slower throughout."""
    of = fleet.Fleet(servers=6, disks=10, minutes=240, step_s=60, seed=seed)
    for disk in of.disks.values():
        disk.pace = 1.0
    if factor:
        of.slow(SLOW, 0, 240, factor)
    return of.write(directory)


def test_warning(directory):
    """a disk that takes a third longer than its peers for hours is warned of, and is no suspect"""
    path = made(directory, 1, 1.35)
    code, verdict = diagnose(path)
    check(not verdict["suspects"] and list(warned(verdict)) == [SLOW], (accused(verdict), list(warned(verdict))))
    check(code == 0 and verdict["status"] == "warnings", (code, verdict["status"]))
    warning = warned(verdict)[SLOW]
    check(warning["level"] == "warning" and warning["certainty"] >= 1 and warning["cause"] == "disk-busy", warning)
    check(1.2 < warning["ratio"] < 1.5, warning["ratio"])
    check(not verdict["incidents"], verdict["incidents"])
    head = limpet("diagnose", path).out
    server, disk = SLOW.split("/disk:")
    check(head.startswith(f"WARNING   {server}: disk {disk} is a little slow, 1."), head)
    check("\n          await 1." in head and "all else is well" in head, head)


def test_bar(directory):
    """the threshold can be chosen, and there are no warnings if nothing is wrong"""
    path = made(directory, 1, 1.35)
    _, verdict = diagnose("--warn-at", "50", path)
    check(not verdict["warnings"] and verdict["status"] == "ok", warned(verdict))
    for text in ("0", "-1", "x"):
        ran = limpet("diagnose", "--warn-at", text, path)
        check(ran.code == 2 and "--warn-at" in ran.err, ran)
    _, verdict = diagnose(made(directory, 2))
    check(not verdict["warnings"] and not verdict["suspects"], (accused(verdict), warned(verdict)))


def test_whole_host(directory):
    """a host that becomes slow as a whole is one incident, although its disks are compared only with each other"""
    of = fleet.Fleet(servers=6, disks=5, minutes=480, step_s=60, seed=3)
    for name, disk in of.disks.items():
        disk.pace *= int(name[1])  # each host is a separate class
        if name.startswith("s4/"):
            of.slow(name, 240, 240, 4)
    code, verdict = diagnose(of.write(directory))
    check(code == 1 and {c.split("/")[0] for c in accused(verdict)} == {"s4"}, accused(verdict))
    check([(i["part"], len(i["components"])) for i in verdict["incidents"]] == [("observer:s4", 5)], verdict["incidents"])
    check("relative to other observers" in verdict["suspects"][0]["evidence"][0], verdict["suspects"][0]["evidence"])


def test_busier_disk(directory):
    """there is no warning about a disk that is slower in proportion to its load; its server has twelve disks, so its
    additional load is a small part of the server's traffic"""
    rng = random.Random(5)
    path = os.path.join(directory, "busier.csv")
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for i in range(0, 4 * 3600, 30):
            for server in range(4):
                total = 0
                for disk in range(12):
                    more = 1.25 if (server, disk) == (3, 0) else 1
                    work = 50000 * more * rng.uniform(0.95, 1.05)
                    total += work
                    name = f"{1300000000 + i},s{server}/disk:sd{disk}"
                    f.write(f"{name},await,{10 * more * rng.uniform(0.9, 1.1):.3f}\n{name},rd_sec,{work:.1f}\n")
                f.write(f"{1300000000 + i},s{server}/net:eth0,txbyt,{512 * total:.1f}\n")
    _, verdict = diagnose(path)
    check(verdict["status"] == "ok", (accused(verdict), warned(verdict)))


def test_score(directory):
    """limpet score counts warnings separately"""
    path, truth = os.path.join(directory, "one.json"), os.path.join(directory, "truth.csv")
    with open(path, "w", encoding="ascii") as f:
        json.dump(diagnose(made(directory, 1, 1.35))[1], f)
    for component, right in ((SLOW, True), ("s1/disk:sda", False)):
        with open(truth, "w", encoding="ascii") as f:
            f.write(f"verdict,component,cause\none,{component},disk-busy\n")
        total = json.loads(limpet("score", path, "--truth", truth, "--json").out)["total"]
        check((total["warned"], total["false_warned"]) == ((1, 0) if right else (0, 1)), total)
        check((total["tp"], total["fp"], total["fn"]) == (0, 0, 1), total)


def test_fleets(directory):
    """the generator of fleets gives the same data for the same seed, and the truth about it"""
    class Args:
        fleets, seed = 2, 5
    texts = []
    for name in ("a", "b"):
        Args.write = os.path.join(directory, name)
        fleets.write_all(Args)
        texts.append([open(path, encoding="ascii").read() for path in fleets.csv_files(Args.write)])
    check(texts[0] == texts[1] and len(texts[0]) > 8, [len(t) for t in texts])
    with open(os.path.join(directory, "a", "truth.csv"), encoding="ascii") as f:
        rows = list(csv.DictReader(f))
    check({r["verdict"] for r in rows} == {"fleet-1", "fleet-2"}, rows)
    check(all(1.15 <= float(r["factor"]) <= 30 for r in rows if r["component"]), rows)
    files = fleets.csv_files(os.path.join(directory, "a", "fleet-1"))
    ran = limpet("diagnose", "--json", "--quiet", *fleets.FORMAT, *files)
    components = {c for g in json.loads(ran.out)["groups"] for c in g["components"]}
    check({r["component"] for r in rows if r["component"] and r["verdict"] == "fleet-1"} <= components, components)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
