#!/usr/bin/env python3
"""Healthy systems that look unusual: nobody must be woken because of them, and a fault among them is still found."""
import json
import random

from fleet import START
from program import limpet, run_tests, tests_of
from tap import check
from verdicts import accused, diagnose


def write(path, components, value, minutes=180):
    """value(minute, component, rng) -> {metric: value}"""
    rng = random.Random(5)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for minute in range(minutes):
            for c in components:
                for metric, v in value(minute, c, rng).items():
                    f.write(f"{START + 60 * minute},{c},{metric},{v:.3f}\n")
    return path


DISKS = [f"s{s}/disk:sd{d}" for s in range(1, 7) for d in "bcdefg"]
LINKS = [f"s{s}/net:eth{n}" for s in range(1, 9) for n in range(2)]


def noise(rng):
    return rng.lognormvariate(0, .08)


def drives(slower, began=0):
    """Disks with an await of 2 ms, multiplied by the factors in `slower`."""
    return lambda t, c, r: {"await": 2 * noise(r) * (slower(c) if t >= began else 1), "rd_sec": 9000 * noise(r)}


def test_old_drive_in_each(directory):
    """a drive of another type in every server, under the same name, is not a fault; a slow one next to it is"""
    path = write(directory + "/old.csv", DISKS, drives(lambda c: 8 if c.endswith("sdb") else 1))
    code, verdict = diagnose(path)
    check(code == 0 and verdict["status"] == "ok", (verdict["status"], accused(verdict)))
    check(any("disk:sdb took longer" in n for n in verdict["notes"]), verdict["notes"])
    path = write(directory + "/fault.csv", DISKS,
                 drives(lambda c: 8 if c.endswith("sdb") or c == "s3/disk:sdd" else 1))
    check(accused(diagnose(path)[1]) == {"s3/disk:sdd": "disk-busy"}, "the other one")


def flash(slower):
    """Drives that take 0.1 ms."""
    return lambda t, c, r: {"await": .1 * noise(r) * slower(c), "rd_sec": 90000 * noise(r)}


def test_older_flash(directory):
    """a server with slower flash drives than the others is another class; half of all drives are, too; one is slow"""
    code, verdict = diagnose(write(directory + "/server.csv", DISKS, flash(lambda c: 4 if c.startswith("s4/") else 1)))
    check(code == 0 and verdict["status"] == "ok", (verdict["status"], accused(verdict)))
    older = {c for c in DISKS if (int(c[1]) + ord(c[-1])) % 2}
    ran = limpet("diagnose", "--json", "--quiet",
                 write(directory + "/half.csv", DISKS, flash(lambda c: 4 if c in older else 1)))
    verdict = json.loads(ran.out)
    check(ran.code in (0, 4) and not verdict["suspects"], accused(verdict))
    path = write(directory + "/one.csv", DISKS, flash(lambda c: 4 if c == "s4/disk:sdd" else 1))
    check(accused(diagnose(path)[1]) == {"s4/disk:sdd": "disk-busy"}, "one")


def test_same_name_by_chance(directory):
    """two drives of one name are slow on two of six servers, or, after a while, on all of them: both are faults"""
    few = {"s2/disk:sdb", "s5/disk:sdb"}
    path = write(directory + "/few.csv", DISKS, drives(lambda c: 8 if c in few else 1))
    check(set(accused(diagnose(path)[1])) == few, "two of six")
    path = write(directory + "/later.csv", DISKS, drives(lambda c: 8 if c.endswith("sdb") else 1, began=90))
    check(set(accused(diagnose(path)[1])) == {c for c in DISKS if c.endswith("sdb")}, "later")


def test_traffic_moves(directory):
    """the other link of a bond takes over: that link is not a hog, the one without traffic is named"""
    def moved(t, c, r):
        first = c.endswith("eth0") != (c.startswith("s3/") and t >= 90)
        return {m: 5e7 * noise(r) if first else 0 for m in ("rxbyt", "txbyt")}
    _, verdict = diagnose(write(directory + "/moved.csv", LINKS, moved))
    check(not verdict["suspects"], accused(verdict))
    check([a["component"] for a in verdict["absent"]] == ["s3/net:eth0"], verdict["absent"])

    def hog(t, c, r):
        more = 4 if c == "s3/net:eth1" and t >= 90 else 1
        return {m: 5e7 * noise(r) * more for m in ("rxbyt", "txbyt")}
    check(accused(diagnose(write(directory + "/hog.csv", LINKS, hog))[1]) == {"s3/net:eth1": "network-hog"}, "hog")


def test_names_of_metrics(directory):
    """the use of memory, or the time since a server started, is not the time that a request takes"""
    def odd(t, c, r):
        more = 3 if c == "s3/disk:sdd" else 1
        return {"cpu_usage": 20 * noise(r) * more, "uptime": (5e4 + 60 * t) * more, "mem_used": 5e9 * noise(r) * more,
                "latency": 5 * noise(r)}
    code, verdict = diagnose(write(directory + "/odd.csv", DISKS, odd))
    check(code == 0 and verdict["status"] == "ok", (verdict["status"], accused(verdict)))
    path = write(directory + "/lat.csv", DISKS, lambda t, c, r: {
        "avg_lat": 5 * noise(r) * (3 if c == "s3/disk:sdd" else 1)})
    check(accused(diagnose(path)[1]) == {"s3/disk:sdd": "disk-busy"}, "avg_lat")


def test_unknown_meaning(directory):
    """a difference in the only metric, which limpet does not know, is not well: the user has to say what it means"""
    def only(more):
        return lambda t, c, r: {"zorp": 5 * noise(r) * (more if c == "s3/disk:sdd" else 1)}
    ran = limpet("diagnose", "--json", "--quiet", write(directory + "/zorp.csv", DISKS, only(3)))
    verdict = json.loads(ran.out)
    check(ran.code == 4 and verdict["status"] == "unknown", (ran.code, verdict["status"]))
    check("s3/disk:sdd" in verdict["unknown"][0] and "--worse higher zorp" in verdict["unknown"][0], verdict["unknown"])
    _, verdict = diagnose("--worse", "higher", "zorp", directory + "/zorp.csv")
    check(list(accused(verdict)) == ["s3/disk:sdd"], accused(verdict))
    code, _ = diagnose("--worse", "lower", "zorp", directory + "/zorp.csv")
    check(code == 0, "it is better than the others")
    code, verdict = diagnose(write(directory + "/alike.csv", DISKS, only(1)))
    check(code == 0 and verdict["status"] == "ok", "all alike")
    check("--worse" in limpet("diagnose", directory + "/zorp.csv").out, "the text says it, too")


def late_samples(path, step_s, slow=None):
    """Four hours of eight servers with late samples, each by another fraction of a second; the last two take samples
    less often. Disk `slow` takes four times as long in the second half."""
    rng = random.Random(7)
    rows = []
    for server in range(1, 9):
        at = rng.uniform(0, step_s)
        while at < 4 * 3600:
            for disk in ("sda", "sdb"):
                c = f"s{server}/disk:{disk}"
                factor = 4 if c == slow and at > 2 * 3600 else 1
                rows.append(f"{START + at:.6f},{c},await,{6 * factor * noise(rng):.3f}\n")
            at += step_s * (3 if server > 6 else 1) * rng.uniform(1, 1.3)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        f.writelines(rows)
    return path


def test_late_samples(directory):
    """programs that sleep between samples have no two equal intervals; those that sleep longer are compared, too"""
    for step_s in (2, 15):
        path = late_samples(f"{directory}/late{step_s}.csv", step_s)
        code, verdict = diagnose(path)
        check(code == 0 and verdict["status"] == "ok", (step_s, verdict["status"], verdict["unknown"]))
        for slow in ("s3/disk:sda", "s8/disk:sda"):
            found = accused(diagnose(late_samples(path, step_s, slow))[1])
            check(list(found) == [slow], (step_s, slow, found))


if __name__ == "__main__":
    run_tests(tests_of(__name__))
