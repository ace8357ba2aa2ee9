#!/usr/bin/env python3
"""limpet diagnose as an operator runs it: on a real recording, on foreign files, on bad ones."""
import datetime
import json
import os
import random
import re
import shutil
import subprocess

from program import LIMPET, bad, good, limpet, run_tests, tests_of

RECORDING = os.path.join(os.environ.get("SOURCE", "."), "tests/fixtures/recordings/slow-disk")
KEYS = {"limpet", "method", "params", "groups", "anomalies", "suspects", "incidents"}
ANOMALY = {"window", "start", "end", "component", "metric", "direction", "distance", "threshold"}
SUSPECT = {"component", "metrics", "persistence", "severity", "first", "last", "cause",
           "confidence", "evidence"}
INCIDENT = {"part", "components", "cause", "severity", "first", "last"}
STATELESS = ("--state", "/dev/null")


def diagnose(*args, status=1):
    ran = limpet("diagnose", *STATELESS, "--json", *args)
    assert ran.code == status, f"{args}: {ran.code}: {ran.err}"
    return json.loads(ran.out)


def names(verdict):
    return [s["component"] for s in verdict["suspects"]]


def disks_csv(directory, name="disks.csv", slow=None, factor=3.0, disks=8, samples=400, step=15,
              load=1.0, start=1300000000):
    """Peers with the same bursts and their own noise."""
    rng = random.Random(7)
    path = os.path.join(directory, name)
    with open(path, "w") as f:
        f.write("time,component,metric,value\n")
        for i in range(samples):
            burst = 1 + 0.5 * (i // 40 % 2)
            for d in range(disks):
                bad_one = d == slow
                latency = 10 * burst * rng.uniform(0.8, 1.2) * (factor if bad_one else 1)
                work = 5e7 * burst * rng.uniform(0.9, 1.1) * (load if bad_one else 1)
                when = start + i * step
                f.write(f"{when},oss{d}/disk:sda,latency,{latency:.4f}\n")
                f.write(f"{when},oss{d}/disk:sda,throughput,{work:.1f}\n")
    return path


def test_functions_by_name(directory):
    """1000 functions on each of 8 servers are compared function by function, without an option."""
    rng, path = random.Random(3), os.path.join(directory, "functions.csv")
    with open(path, "w") as f:
        f.write("time,host,function,busy\n")
        for i in range(60):
            for h in range(8):
                for n in range(1000):
                    slow = 5 if (h, n) == (6, 417) else 1
                    busy = (1 + n % 50) * 10 * slow * rng.uniform(0.9, 1.1)
                    f.write(f"{1300000000 + 5 * i},oss{h},f{n},{busy:.2f}\n")
    verdict = diagnose("--time", "time", "--component", "{host}/function:{function}", "--value",
                       "busy=latency", "--win-size", "10", "--win-shift", "5", path)
    groups = {g["name"]: g["components"] for g in verdict["groups"]
              if g["name"].startswith("function ")}
    assert len(groups) == 1000, len(groups)
    assert groups["function f417"] == [f"oss{h}/function:f417" for h in range(8)]
    assert names(verdict)[0] == "oss6/function:f417", names(verdict)[:5]
    assert all(name == "oss6/function:f417" for name in names(verdict) if "function:" in name)


def test_labels(directory):
    """The collector's labels of a disk reach the verdict."""
    suspect = diagnose(RECORDING)["suspects"][0]
    shown = json.loads(good("show", "--json", RECORDING))["components"]
    known = next(c["labels"] for c in shown if c["component"] == suspect["component"])
    assert known and suspect["labels"] == known, suspect


def test_recording_text(directory):
    ran = limpet("diagnose", *STATELESS, RECORDING)
    assert ran.code == 1, ran.err
    first = ran.out.splitlines()[0]
    assert first.startswith("CRITICAL  oss4: disk loop3 is slow, "), first
    for word in ("await", "its peers", "DO ", "THEN  limpet ack oss4/disk:loop3", "since 2026-11-15 09:0"):
        assert word in ran.out, word
    assert "\x1b[" not in ran.out, "colours on a pipe"
    assert ran.err == "", ran.err
    assert len(ran.out.splitlines()) < 24, "more than a screenful"


def test_recording_json(directory):
    verdict = diagnose(RECORDING)
    assert KEYS <= verdict.keys(), verdict.keys()
    assert verdict["method"] == "cdf"
    assert [g["name"] for g in verdict["groups"]] == ["disk"]
    assert len(verdict["groups"][0]["components"]) == 6
    assert names(verdict) == ["oss4/disk:loop3"]
    suspect, = verdict["suspects"]
    assert SUSPECT <= suspect.keys()
    assert suspect["metrics"] == ["await", "await-peak"] and suspect["cause"] == "disk-busy"
    assert 0.5 < suspect["confidence"] <= 1
    incident, = verdict["incidents"]
    assert INCIDENT <= incident.keys()
    assert incident["part"] == "oss4/disk:loop3" == incident["components"][0]
    assert all(ANOMALY <= a.keys() for a in verdict["anomalies"])
    # The fault began at 09:05:07.
    assert "2026-11-15T09:05:02Z" <= suspect["first"] <= "2026-11-15T09:05:12Z", suspect["first"]
    assert 1 <= suspect["first_error_s"] <= 5 and not suspect["since_before"], suspect
    assert not suspect["ended"], suspect
    assert suspect["last"] >= "2026-11-15T09:10:00Z"
    datetime.datetime.fromisoformat(suspect["first"].replace("Z", "+00:00"))


def test_html(directory):
    path = os.path.join(directory, "report.html")
    ran = limpet("diagnose", *STATELESS, "--html", path, RECORDING)
    assert ran.code == 1, ran.err
    with open(path) as f:
        page = f.read()
    assert "oss4/disk:loop3" in page and "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page


def test_hourly(directory):
    out = limpet("diagnose", *STATELESS, "--hourly", RECORDING).out
    assert "20261115.09:" in out and "oss4/disk:loop3" in out, out
    hours = json.loads(limpet("diagnose", *STATELESS, "--hourly", "--json", RECORDING).out)
    assert hours["hours"][0]["persistent"][0]["component"] == "oss4/disk:loop3"


def test_all_is_well(directory):
    path = disks_csv(directory)
    out = good("diagnose", *STATELESS, path)
    assert out.startswith("OK        all is well: ") and "among 8 disks" in out, out
    verdict = diagnose(path, status=0)
    assert verdict["suspects"] == [] and verdict["incidents"] == []


def test_before_the_fault(directory):
    assert diagnose("--until", "2026-11-15T09:04:30Z", RECORDING, status=0)["suspects"] == []
    after = diagnose("--since", "2026-11-15T09:05:00Z", RECORDING)
    assert names(after) == ["oss4/disk:loop3"]


def test_csv_without_conversion(directory):
    verdict = diagnose(disks_csv(directory, slow=5))
    assert names(verdict) == ["oss5/disk:sda"]
    assert verdict["suspects"][0]["metrics"] == ["latency"]


def test_every_method_finds_it(directory):
    path = disks_csv(directory, slow=5, factor=4)
    for method in "kl", "cdf", "median", "thresh", "manhattan":
        assert names(diagnose("--method", method, path)) == ["oss5/disk:sda"], method


def functions_csv(directory, name, changed=()):
    """Six observers and thirty functions each, of which some have more on oss3 from 150 s on."""
    rng = random.Random(4)
    path = os.path.join(directory, name)
    with open(path, "w") as f:
        f.write("time,component,metric,value\n")
        for i in range(400):
            for observer in range(6):
                for k in range(30):
                    value = 2000 / (k + 1) * rng.uniform(0.9, 1.1)
                    if observer == 3 and k in changed and i >= 150:
                        value += 3000
                    f.write(f"{1300000000 + i},oss{observer}/function:srv:f{k},samples,{value:.2f}\n")
    return path


def test_vectors_of_functions(directory):
    vectors = "--group", "functions"
    good_one = functions_csv(directory, "good.csv")
    bad_one = functions_csv(directory, "bad.csv", changed=(2, 7))
    assert names(diagnose(*vectors, good_one, status=0)) == []
    verdict = diagnose(*vectors, bad_one)
    assert names(verdict) == ["oss3/functions:all"]
    assert verdict["suspects"][0]["metrics"] == ["samples"]
    assert verdict["suspects"][0]["first"] >= "2011-03-13T07:08:00Z", verdict["suspects"][0]
    trained = os.path.join(directory, "trained")
    good("train", good_one, "-o", trained)
    rows = [line.split() for line in open(trained) if "/functions:all" in line]
    assert [row[:2] for row in rows] == [["samples", f"oss{i}/functions:all"] for i in range(6)]
    assert all(float(row[2]) == int(float(row[2])) and int(float(row[2])) % 2 == 0 for row in rows)
    assert names(diagnose(*vectors, "--thresholds", trained, good_one, status=0)) == []
    assert names(diagnose(*vectors, "--thresholds", trained, bad_one)) == ["oss3/functions:all"]


def test_parameters_by_name(directory):
    verdict = diagnose("--win-size", "40", "--win-shift", "10", "--smooth", "3", "--k", "2",
                       "--downsample", "30s", disks_csv(directory, slow=5))
    params = verdict["params"]
    assert params["win_size"] == 40 and params["win_shift"] == 10, params
    assert params["smooth"] == 3 and params["k"] == 2, params
    assert names(verdict) == ["oss5/disk:sda"]


def test_fixed_threshold(directory):
    path = disks_csv(directory, slow=5, factor=3)
    assert names(diagnose("--threshold", "latency=5", "--threshold", "1000", path)) \
        == ["oss5/disk:sda"]
    assert diagnose("--threshold", "1000", path, status=0)["suspects"] == []
    assert len(diagnose("--threshold", "0", path)["anomalies"]) > 100


def test_imbalanced_is_not_slow(directory):
    verdict = diagnose(disks_csv(directory, slow=5, factor=2, load=2.2), status=0)
    assert verdict["suspects"] == []
    causes = {a["component"]: a["cause"] for a in verdict["asymmetries"]}
    assert causes == {"oss5/disk:sda": "imbalanced"}, causes
    out = good("diagnose", *STATELESS, disks_csv(directory, slow=5, factor=2, load=2.2))
    assert "imbalanced" in out, out


def test_faster_is_no_suspect(directory):
    verdict = diagnose(disks_csv(directory, slow=5, factor=0.3), status=0)
    assert {a["component"]: a["cause"] for a in verdict["asymmetries"]} \
        == {"oss5/disk:sda": "faster"}


def test_evidence_agrees(directory):
    """Load explains only metrics with more load; a fault that continues has not passed; windows count once."""
    idle, mild = (os.path.join(directory, n) for n in ("idle.csv", "mild.csv"))
    rng = random.Random(3)
    with open(idle, "w") as f, open(mild, "w") as g:
        f.write("time,component,metric,value\n")
        g.write("time,component,metric,value\n")
        for i in range(300):
            for d in range(8):
                busy = d == 3 or rng.random() < 0.3
                who = f"{1300000000 + i},oss{d}/disk:sda"
                f.write(f"{who},await,{5 * busy * rng.uniform(0.9, 1.1):.3f}\n")
                f.write(f"{who},wr_sec,{9000 * rng.uniform(0.9, 1.1):.1f}\n")
                g.write(f"{who},await,{20 * rng.uniform(0.9, 1.1) * (1.4 if d == 3 else 1):.3f}\n")
    verdict = diagnose(idle, status=0)
    asymmetry, = (a for a in verdict["asymmetries"] if a["component"] == "oss3/disk:sda")
    assert asymmetry["cause"] == "less-idle", asymmetry
    assert not any("load" in e and "explains" in e for e in asymmetry["evidence"]), asymmetry
    out = good("diagnose", *STATELESS, mild)
    assert "passing" not in out and "1 difference at the end of the data" in out, out
    ran = limpet("diagnose", "-v", *STATELESS, RECORDING)
    assert ran.out.count("of 31 windows") == 2, "once for each of two metrics: " + ran.out


def test_metric_and_group(directory):
    path = disks_csv(directory, slow=5)
    assert diagnose("-m", "throughput", path, status=0)["suspects"] == []
    assert names(diagnose("-m", "latency,throughput", "--group", "di*", path)) == ["oss5/disk:sda"]
    bad(2, ["nonsense"], "diagnose", "-m", "nonsense", path)
    bad(2, ["no component has a metric 'nonsense'"], "diagnose", "-m", "latency,nonsense", path)
    bad(2, ["nonsense", "limpet topology"], "diagnose", "--group", "nonsense", path)


def without_dates(text):
    """Text on one line, with times as "12:34:56": JSON has them in ISO 8601, a terminal as people write them."""
    return re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([0-9:]{8})Z?|([0-9:]{8})Z", r"\1\2", " ".join(text.split()))


def unknown(*args):
    """The reasons why diagnose cannot tell."""
    head = limpet("diagnose", *STATELESS, *args)
    assert head.code == 4 and head.out.startswith("UNKNOWN   "), (args, head)
    verdict = diagnose(*args, status=4)
    assert verdict["status"] == "unknown" and verdict["suspects"] == [], verdict
    text = without_dates(head.out)
    assert all(without_dates(r) in text for r in verdict["unknown"]), head
    return verdict["unknown"]


def test_cannot_tell(directory):
    """Too little data, no peers, nothing at all: neither well nor an error."""
    assert "too little data" in unknown(disks_csv(directory, samples=20))[0]
    assert "too little data" in unknown(disks_csv(directory, samples=40, slow=5))[0]
    assert "no group has the 3 components" in unknown(disks_csv(directory, disks=2, slow=1))[0]
    assert "in that time" in unknown("--until", "2001-01-01", RECORDING)[0]
    assert "no component matches" in unknown("-c", "nobody/*", RECORDING)[0]
    bad(2, "nonexistent", "diagnose", os.path.join(directory, "nonexistent"))
    other = os.path.join(directory, "other.bin")
    with open(other, "wb") as f:
        f.write(bytes(range(256)))
    bad(2, "neither an archive", "diagnose", other)


def test_one_server(directory):
    """one server that cannot be compared: a note says what would make it comparable"""
    path = os.path.join(directory, "one.csv")
    with open(path, "w") as f:
        f.write("time,component,metric,value\n")
        f.writelines(f"{1300000000 + i},oss1/disk:sda,await,{5 + i % 3}\n" for i in range(60))
    note, = diagnose(path, status=4)["notes"]
    assert "the data of at least 3" in note and "own past, record it for 1m20s or longer" in note, note
    with open(path, "a") as f:
        f.writelines(f"{1300000060 + i},oss1/disk:sda,await,{5 + i % 3}\n" for i in range(30))
    note, = diagnose(path, status=0)["notes"]
    assert "compared with the 3 stretches" in note and "older does not show" in note, note
    # The data that the others lack is no less unknown because this server is unchanged.
    expected = os.path.join(directory, "expected")
    with open(expected, "w") as f:
        f.write("oss1\noss2\n")
    assert "no data from oss2" in unknown(path, "--expect", expected)[0]
    # Idle interfaces are not compared either, so the whole server is compared with its past.
    idle = os.path.join(directory, "idle.csv")
    with open(path) as f, open(idle, "w") as g:
        g.write(f.read())
        g.writelines(f"{1300000000 + i},oss1/net:eth{n},rxbyt,0\n" for i in range(90) for n in range(4))
    note, = diagnose(idle, status=0)["notes"]
    assert "compared with the 3 stretches" in note, note
    # Interfaces are compared, the disk is not: the verdict is well, and says how to look at the disk.
    with open(path, "a") as f:
        for i in range(90):
            f.writelines(f"{1300000000 + i},oss1/net:eth{n},rxbyt,{1000 + (i * 7 + n * 3) % 11}\n" for n in range(4))
    note, = diagnose(path, status=0)["notes"]
    assert "compare each disk with its own past, use -c '*/disk:*'" in note, note


def test_absurd_peers(directory):
    """servers without any plausible value are not well, whatever the past of the only other one says"""
    path = os.path.join(directory, "absurd.csv")
    with open(path, "w") as f:
        f.write("time,component,metric,value\n")
        for i in range(120):
            f.writelines(f"{1300000000 + i},oss{d}/disk:sda,await,{5 + i % 3 if d == 0 else -1}\n" for d in range(4))
    assert "no group has the 3 components" in unknown(path)[0]


def test_recordings_apart(directory):
    """A server that was recorded on another day was not compared, and is not lost either."""
    data = os.path.join(directory, "data")
    os.mkdir(data)
    disks_csv(data, "monday.csv")
    with open(disks_csv(directory, "x.csv", disks=1, start=1300000000 - 86400)) as f:
        rows = f.read().replace("oss0/", "early/")
    with open(os.path.join(data, "sunday.csv"), "w") as f:
        f.write(rows)
    reason, = unknown(data)
    assert "early was compared with no other" in reason and "from 2011-03-12T" in reason, reason


def test_expected_observers(directory):
    well, slow = disks_csv(directory), disks_csv(directory, "slow.csv", slow=5)
    inventory, topology = (os.path.join(directory, n) for n in ("nodes", "site.yaml"))
    with open(inventory, "w") as f:
        f.write("# all\n" + "".join(f"oss{d}\n" for d in range(9)))
    assert unknown("--expect", inventory, well) \
        == ["no data from oss8 (of 9 observers that must be there)"]
    verdict = diagnose("--expect", inventory, slow)
    assert verdict["status"] == "suspects" and "oss8" in verdict["unknown"][0], verdict["unknown"]
    with open(topology, "w") as f:
        f.write("version: 1\nobservers: [oss0, oss77]\n")
    assert "oss77" in unknown("--topology", topology, well)[0]
    with open(inventory, "a") as f:
        f.write("oss9/disk:sda\n")
    bad(2, ["nodes:11:", "component"], "diagnose", "--expect", inventory, well)


def test_one_bad_file(directory):
    """Intact data is judged, bad data is reported: suspects and 1, or UNKNOWN and 4."""
    for name, args, code in (("slow", (), 1), ("well", ("--until", "2026-11-15T09:04:30Z"), 4)):
        data = os.path.join(directory, name)
        shutil.copytree(RECORDING, data)
        victim = sorted(n for n in os.listdir(data) if n.endswith(".lpa"))[0]
        with open(os.path.join(data, victim), "r+b") as f:
            f.seek(os.path.getsize(f.name) // 2)
            f.write(b"\xff" * 64)
        ran = limpet("diagnose", *STATELESS, *args, data)
        assert ran.code == code and victim in ran.err, ran
        text = " ".join(ran.out.split())
        assert victim in text, text
        assert ("oss4: disk loop3 is slow" in text) == (code == 1), text
        verdict = diagnose(*args, data, status=code)
        assert victim in verdict["unknown"][0], verdict["unknown"]
        for other in os.listdir(data):
            with open(os.path.join(data, other), "r+b") as f:
                f.truncate(8)
        assert limpet("diagnose", *STATELESS, data).code == 2, "nothing can be read at all"


def test_threads_change_nothing(directory):
    path = disks_csv(directory, slow=5, disks=40)
    outputs = set()
    for threads in "1", "2", "5":
        env = dict(os.environ, OMP_NUM_THREADS=threads)
        outputs.add(limpet("diagnose", *STATELESS, "--json", path, RECORDING, env=env).out)
    assert len(outputs) == 1


def test_split_archives_same_verdict(directory):
    """One file, or three of it with cuts in the middle of windows."""
    whole = disks_csv(directory, slow=5)
    with open(whole) as f:
        header, *rows = f.readlines()
    cut = [0, 1111, 4321, len(rows)]
    for i, (a, b) in enumerate(zip(cut, cut[1:])):
        part = os.path.join(directory, f"part{i}.csv")
        with open(part, "w") as f:
            f.writelines([header, *rows[a:b]])
        good("import", "csv", part, "-o", os.path.join(directory, "parts", str(i)), "-q")
    one, many = diagnose(whole), diagnose(os.path.join(directory, "parts"))
    assert one == many


def test_topology(directory):
    topology = os.path.join(directory, "site.yaml")
    with open(topology, "w") as f:
        f.write("version: 1\ncomponents:\n  - match: 'oss{n}/disk:*'\n"
                "    where: {n: 0-3}\n    attributes: {set: old}\n"
                "  - match: 'oss{n}/disk:*'\n    where: {n: 4-7}\n    attributes: {set: new}\n"
                "groups:\n  - {name: disks, match: '*/disk:*', split_by: [set]}\n")
    verdict = diagnose("--topology", topology, disks_csv(directory, slow=5))
    assert [g["name"] for g in verdict["groups"]] == ["disks set=old", "disks set=new"]
    assert names(verdict) == ["oss5/disk:sda"]
    with open(topology, "a") as f:
        f.write("nonsense: 1\n")
    bad(2, ["site.yaml:", "nonsense"], "diagnose", "--topology", topology, RECORDING)


def test_trained(directory):
    clean = disks_csv(directory, "clean.csv", samples=800)
    trained = os.path.join(directory, "trained.txt")
    good("train", clean, "-o", trained)
    assert diagnose("--thresholds", trained, clean, status=0)["suspects"] == []
    verdict = diagnose("--thresholds", trained, disks_csv(directory, slow=5, factor=3))
    assert names(verdict) == ["oss5/disk:sda"] and verdict["trained"] is True
    bad(2, ["--method"], "diagnose", "--thresholds", trained, "--method", "kl", clean)


def test_trained_before_the_fault(directory):
    """The good part of a recording is enough to train on."""
    trained = os.path.join(directory, "trained.txt")
    good("train", "--until", "2026-11-15T09:04:30Z", "--win-size", "20", RECORDING, "-o", trained)
    assert names(diagnose("--thresholds", trained, "-m", "await", RECORDING)) == ["oss4/disk:loop3"]
    bad(2, "--until", "train", "--since", "2026-01-02", "--until", "2026-01-01", RECORDING, "-o",
        trained)


def test_operator_state(directory):
    path, state = disks_csv(directory, slow=5), os.path.join(directory, "state.db")
    args = ("--state", state, "--json", path)
    good("ack", "oss5/disk:sda", "--note", "drive is ordered", "--state", state)
    verdict = json.loads(limpet("diagnose", *args).out)
    assert verdict["suspects"][0]["acknowledged"] is True
    good("mute", "oss5/*", "--state", state)
    ran = limpet("diagnose", *args)
    assert json.loads(ran.out)["suspects"] == [] and ran.code == 0
    assert json.loads(ran.out)["muted"] == 1
    assert json.loads(ran.out)["muted_components"] == ["oss5/disk:sda"]
    head = good("diagnose", "--state", state, path)
    assert head.startswith("OK ") and "\nMuted, and still out of step: oss5/disk:sda.\n" in head, head


def test_cleared_counts_no_more(directory):
    path, state = disks_csv(directory, slow=5), os.path.join(directory, "state.db")
    good("clear", "oss5/disk:sda", "--at", "@1300005900", "--state", state)
    verdict = json.loads(limpet("diagnose", "--state", state, "--json", path).out)
    assert verdict["suspects"] == []


def test_absent(directory):
    """A server that falls silent."""
    whole = disks_csv(directory)
    with open(whole) as f:
        rows = f.readlines()
    path = os.path.join(directory, "silent.csv")
    with open(path, "w") as f:
        f.writelines(r for r in rows if "oss3/" not in r or int(r.split(",")[0]) < 1300002000)
    verdict = diagnose(path)
    assert verdict["suspects"] == []
    assert [(s["component"], s["missing"]) for s in verdict["absent"]] == [("oss3/disk:sda", "observer")]
    assert verdict["incidents"][0]["cause"] == "server-down"


def test_coarser_peer(directory):
    """a server that is sampled every 4 s among others with 1 s is compared, and found if it is slow"""
    rng = random.Random(3)
    for factor, status in (1, 0), (4, 1):
        path = os.path.join(directory, f"steps{factor}.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("time,component,metric,value\n")
            for i in range(900):
                for d in range(6):
                    slow = factor if d == 5 else 1
                    if d < 5 or i % 4 == 0:
                        f.write(f"{1300000000 + i},oss{d}/disk:sda,await,{10 * slow * rng.uniform(0.8, 1.2):.3f}\n")
        verdict = diagnose(path, status=status)
        assert not verdict["unknown"], verdict["unknown"]
        assert names(verdict) == (["oss5/disk:sda"] if factor > 1 else []), verdict["suspects"]


def test_bad_usage(directory):
    for args, says in (
            (["diagnose"], "name the data"),
            (["diagnose", "/nonexistent"], "/nonexistent"),
            (["diagnose", "--method", "x", RECORDING], "kl"),
            (["diagnose", "--win-size", "0", RECORDING], "win-size"),
            (["diagnose", "--win-shift", "90", RECORDING], "win-shift"),
            (["diagnose", "--k", "-1", RECORDING], "k"),
            (["diagnose", "--threshold", "await=", RECORDING], "threshold"),
            (["diagnose", "--thresholds", "/nonexistent", RECORDING], "/nonexistent"),
            (["diagnose", "--topology", "/nonexistent", RECORDING], "/nonexistent"),
            (["diagnose", "--html", "/nonexistent/x", RECORDING], "/nonexistent/x"),
            (["diagnose", "--since", "2026-01-02", "--until", "2026-01-01", RECORDING], "--until")):
        bad(2, says, *args)


def sleeping(**environment):
    """How the threads of `limpet diagnose` wait, according to the messages of OpenMP when it is loaded. GNU's
    OpenMP calls the policy passive even if none was chosen; the spin count shows the difference."""
    kept = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    ran = subprocess.run([LIMPET, "diagnose", *STATELESS, RECORDING], capture_output=True, text=True,
                         env={**kept, "OMP_DISPLAY_ENV": "verbose", **environment}, check=False)
    assert ran.returncode == 1, ran
    spins = [int(n) for n in re.findall(r"GOMP_SPINCOUNT\s*=\s*'(\d+)'", ran.stderr)]
    return [not n for n in spins] or \
        [p == "PASSIVE" for p in re.findall(r"OMP_WAIT_POLICY\s*=\s*'(\w+)'", ran.stderr)]


def test_waiting(directory):
    """Threads sleep while they wait, unless the user chooses otherwise."""
    assert sleeping()[-1], sleeping()
    assert not any(sleeping(OMP_WAIT_POLICY="active")), sleeping(OMP_WAIT_POLICY="active")


def test_nothing_touched(directory):
    """Diagnosing writes nothing next to its data."""
    copy = os.path.join(directory, "copy")
    shutil.copytree(RECORDING, copy)
    before = {n: os.stat(os.path.join(copy, n)).st_mtime_ns for n in os.listdir(copy)}
    limpet("diagnose", copy)
    assert before == {n: os.stat(os.path.join(copy, n)).st_mtime_ns for n in os.listdir(copy)}


if __name__ == "__main__":
    run_tests(tests_of(__name__))
