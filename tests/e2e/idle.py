#!/usr/bin/env python3
"""Idle is not faulty: OS disks with occasional requests, and spares without any, are not suspects next to busy data
disks. A disk is lost if it worked and then stopped while its peers continued."""
import random

import fleet
from program import limpet, run_tests, tests_of
from tap import check
from verdicts import absent, accused, check_nobody, check_only, diagnose

SLOW = "s4/disk:sdd"


def named(data_disks, gap):
    """The slow data disk is named, and no idle one."""
    def test(directory):
        made = fleet.with_idle_disks(data_disks, seed=data_disks, slow=SLOW)
        if gap:
            made.idle_is_a_gap()
        data = made.write(directory)
        check_only(f"{data_disks} data disks", SLOW, data)
        ran = limpet("diagnose", data)
        check(ran.code == 1 and "s4: disk sdd is slow" in ran.out.splitlines()[0], ran)
    test.__doc__ = (f"{data_disks} data disks, an OS disk and a spare per server: the slow disk is named, alone "
                    f"(idle is {'a gap' if gap else '0'})")
    return test


test_8 = named(8, False)
test_12 = named(12, False)
test_8_gaps = named(8, True)
test_12_gaps = named(12, True)


def test_sound(directory):
    """with nothing wrong idle disks are not accused"""
    check_nobody("idle disks", fleet.with_idle_disks(8, seed=3).write(directory))


def test_lost_path(directory):
    """a disk that worked and stopped while its peers continue is absent, not slow, and no other is"""
    made = fleet.with_idle_disks(8, seed=4)
    made.stop("s2/disk:sde", at_min=30)
    path = made.write(directory)
    code, verdict = diagnose(path)
    check(code == 1 and verdict["status"] == "absent" and not verdict["suspects"], accused(verdict))
    check(absent(verdict) == {"s2/disk:sde": "work"}, absent(verdict))
    check(verdict["absent"][0]["cause"] == "lost-path" and verdict["absent"][0]["level"] == "absent", verdict["absent"])
    head = limpet("diagnose", path).out.splitlines()[0]
    check(head.startswith("CRITICAL  s2: disk sde does no work, while its peers do"), head)


def test_never_worked(directory):
    """a disk that never works while all others work a fifth of the time is absent; two of them, or a spare, are not"""
    for idle, gone in (({3}, {"s3/disk:sda": "work"}), ({3, 6}, {})):
        rng, path = random.Random(9), directory + "/never.csv"
        with open(path, "w", encoding="ascii") as f:
            f.write("time,component,metric,value\n")
            for second in range(900):
                busy = rng.random() < 0.2
                for server in range(8):
                    tps = rng.uniform(80, 120) * (busy and server not in idle)
                    f.write(f"{fleet.START + second},s{server}/disk:sda,tps,{tps:.2f}\n"
                            f"{fleet.START + second},s{server}/disk:sda,await,{5 * (tps > 0)}\n")
        _, verdict = diagnose(path)
        check(not verdict["suspects"] and absent(verdict) == gone, (accused(verdict), absent(verdict)))
    made = fleet.Fleet(servers=6, disks=6, minutes=60, step_s=5, seed=10)
    made.stop("s2/disk:sdf", at_min=0)
    del made.disks["s4/disk:sdf"]  # not all servers have a disk with this name
    _, verdict = diagnose(made.write(directory))
    check(not verdict["suspects"] and not verdict["absent"], (accused(verdict), absent(verdict)))


def test_slow_before_lost(directory):
    """a slow disk is the only suspect next to a disk that stopped, and ranks above it"""
    made = fleet.with_idle_disks(8, seed=5, slow=SLOW)
    made.stop("s2/disk:sde", at_min=30)
    _, verdict = diagnose(made.write(directory))
    check(list(accused(verdict)) == [SLOW] and list(absent(verdict)) == ["s2/disk:sde"], accused(verdict))
    check([i["level"] for i in verdict["incidents"]] == ["suspect", "absent"], verdict["incidents"])


def test_gone(directory):
    """a disk without data is distinguished from a server without any"""
    made = fleet.Fleet(servers=6, disks=6, minutes=60, step_s=5, seed=6)
    lines = [line for line in open(made.write(directory), encoding="ascii")]
    path = directory + "/gone.csv"
    with open(path, "w", encoding="ascii") as f:
        for line in lines:
            at, component = line.split(",")[:2]
            late = at.isdigit() and int(at) > fleet.START + 1800
            if not (late and (component == "s2/disk:sdb" or component.startswith("s5/"))):
                f.write(line)
    _, verdict = diagnose(path)
    check(not verdict["suspects"], accused(verdict))
    found = absent(verdict)
    check(found.pop("s2/disk:sdb") == "data" and set(found.values()) == {"observer"} and
          {c.split("/")[0] for c in found} == {"s5"} and len(found) == 6, absent(verdict))
    check({(i["part"], i["cause"]) for i in verdict["incidents"]} ==
          {("observer:s5", "server-down"), ("s2/disk:sdb", "lost-path")}, verdict["incidents"])


def test_sparse(directory):
    """a few requests per minute, with quiet times, are not absence"""
    rng = random.Random(7)
    path = directory + "/sparse.csv"
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for second in range(0, 3600):
            for server in range(6):
                busy = rng.random() < (0.05 if server == 3 else 0.6)
                f.write(f"{fleet.START + second},s{server}/disk:sda,wr_sec,{4096 * busy}\n")
    _, verdict = diagnose(path)
    check(not verdict["suspects"] and not verdict["absent"], (accused(verdict), absent(verdict)))


def test_derived(directory):
    """derived metrics (svctm, %util, a queue, an unknown one) are evidence, and accuse no component"""
    rng = random.Random(8)
    path = directory + "/derived.csv"
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for step in range(480):
            for server in range(6):
                odd = 4 if server == 2 else 1
                values = {"await": 10 / odd ** 0.5, "svctm": 2 * odd, "%util": 20 * odd, "avgqu-sz": 3 * odd,
                          "colour": 7 * odd, "wr_sec": 5000}
                for metric, value in values.items():
                    f.write(f"{fleet.START + 5 * step},s{server}/disk:sda,{metric},{value * rng.lognormvariate(0, .1):.3f}\n")
    code, verdict = diagnose(path)
    check(code == 0 and not verdict["suspects"], accused(verdict))
    told = {a["component"] for a in verdict["asymmetries"]}
    check(told == {"s2/disk:sda"}, told)
    # If it is selected, or its meaning is given, it is reported.
    for options in (["-m", "colour"], ["--worse", "higher", "colour"]):
        _, verdict = diagnose(*options, path)
        check(list(accused(verdict)) == ["s2/disk:sda"], (options, accused(verdict)))
    bad = limpet("diagnose", "--worse", "less", "colour", path)
    check(bad.code == 2 and "want lower or higher" in bad.err, bad)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
