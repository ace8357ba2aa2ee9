#!/usr/bin/env python3
"""Clocks that are wrong, impossible values, and data with gaps of years: docs/reliability.md describes the results."""
import json
import os
import random
import subprocess

import fleet
from program import LIMPET, run_tests, tests_of
from tap import check
from verdicts import accused, check_only

# Without limits, limpet would need gigabytes for each of these.
MEMORY_MAX_KIB = 1 << 20


def diagnose(*data):
    """Exit code and verdict; also checks the memory."""
    out = os.path.join(os.path.dirname(str(data[0])), "verdict.json")
    pid = os.fork()
    if not pid:
        try:
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
            os.execv(LIMPET, [LIMPET, "diagnose", "--json", "--quiet", *map(str, data)])
        finally:
            os._exit(99)
    _, status, usage = os.wait4(pid, 0)
    check(os.WIFEXITED(status), f"ended by status {status}")
    check(usage.ru_maxrss < MEMORY_MAX_KIB, f"it took {usage.ru_maxrss} KiB")
    with open(out, encoding="utf-8") as f:
        return os.WEXITSTATUS(status), json.load(f)


def noted(verdict, *words):
    """Does a note have all of these words?"""
    return any(all(w in note for w in words) for note in verdict["notes"])


def append(path, *rows):
    """Add rows to a file."""
    with open(path, "a", encoding="ascii") as f:
        f.writelines(f"{row}\n" for row in rows)


def well(verdict, code, what):
    """No server is accused, and nothing is unknown."""
    check(code == 0 and not verdict["suspects"], f"{what}: exit {code}, accused are {accused(verdict)}")


def small(start=fleet.START):
    """Ten minutes of six servers."""
    return fleet.Fleet(6, 2, minutes=10, step_s=1, seed=7, start=start)


def test_a_while_in_1970(directory):
    """one of six servers spent 8 s in 1970: it is reported, and no server is accused"""
    paths = small().write_each(directory)
    append(paths[3], *[f"{at},s4/disk:sda,await,5" for at in range(777777, 777785)])
    code, verdict = diagnose(*paths)
    well(verdict, code, "1970")
    check(noted(verdict, "s4.csv", "8 samples of s4", "1970-01-10T00:02:57Z", "1970-01-10T00:03:04Z"),
          verdict["notes"])


def test_a_row_a_year_ahead(directory):
    """one row a year ahead: it is reported, and a slow disk is still found"""
    made = small()
    made.slow("s2/disk:sdb", at_min=4, minutes=6)
    path = made.write(directory)
    append(path, f"{fleet.START + 365 * 86400},s1/disk:sda,await,5")
    check_only("a year ahead", "s2/disk:sdb", path)
    _, verdict = diagnose(path)
    check(noted(verdict, "fleet.csv", "1 sample of s1", "2027-03-02"), verdict["notes"])


def moved(path, by_s):
    """Shift all times of a file."""
    with open(path, encoding="ascii") as f:
        header, *rows = f.read().splitlines()
    with open(path, "w", encoding="ascii") as f:
        print(header, *(f"{int(at) + by_s},{rest}" for at, rest in (row.split(",", 1) for row in rows)), sep="\n", file=f)


def another_time(by_s):
    """A test case: the clock of one server is off by this much."""
    def test(directory):
        made = small()
        made.slow("s2/disk:sda", at_min=4, minutes=6)
        paths = made.write_each(directory)
        moved(paths[3], by_s)
        code, verdict = diagnose(*paths)
        check(code == 1 and list(accused(verdict)) == ["s2/disk:sda"], accused(verdict))
        check(any("s4 was compared with no other" in reason for reason in verdict["unknown"]), verdict["unknown"])
    test.__doc__ = f"the clock of one of six servers is off by {by_s} s: it is named, and the others are compared"
    return test


def test_ten_years_between(directory):
    """two recordings, ten years apart, are read with little memory"""
    first, second = small(), small(start=fleet.START + 3652 * 86400)
    data = [first.write(directory, "a.csv"), second.write(directory, "b.csv")]
    code, verdict = diagnose(*data)
    well(verdict, code, "ten years")
    check(verdict["end"].startswith("2036-"), verdict["end"])


def test_single_samples(directory):
    """3000 components of one sample each, at different seconds, cost next to nothing"""
    path = small().write(directory)
    append(path, *[f"{fleet.START + 86400 + i},x{i}/disk:sda,await,5" for i in range(3000)])
    diagnose(path)


def test_nothing_but_single_samples(directory):
    """if there is nothing else, values are printed piece by piece, and the verdict is unknown"""
    path = os.path.join(directory, "singles.csv")
    rows = [f"{fleet.START + i * 7},h{i % 9}/disk:d{i},await,{i}" for i in range(6000)]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(["time,component,metric,value"] + rows) + "\n")
    shown = subprocess.run([LIMPET, "show", "--csv", path], capture_output=True, text=True, check=False)
    check(shown.returncode == 0 and shown.stdout.count("\n") == 6001, (shown.returncode, shown.stderr))
    for line, i in zip(shown.stdout.splitlines()[1:], range(6000)):
        check(line.endswith(f"Z,h{i % 9}/disk:d{i},await,{i}"), line)
    for options in ([], ["--method", "cdf"]):
        code, verdict = diagnose(path, *options)
        check(code == 4 and verdict["unknown"], (code, verdict["unknown"]))
    check(noted(verdict, "rows of metrics have so few samples"), verdict["notes"])


def test_around_2038(directory):
    """the second at which 32 bits overflow is one like any other"""
    made = small(start=2**31 - 300)
    made.slow("s2/disk:sdb", at_min=4, minutes=6)
    check_only("2038", "s2/disk:sdb", made.write(directory))


def test_before_1970(directory):
    """nor is 1960 special"""
    made = small(start=-300000000)
    made.slow("s2/disk:sdb", at_min=4, minutes=6)
    check_only("1960", "s2/disk:sdb", made.write(directory))


def bursts(directory, offset_s, seconds=1200, period_s=None, n=6):
    """Disks that are busy at the same times, with one clock that is off; returns the path."""
    rng = random.Random(11)
    busy, at = [], 0
    while at < seconds:
        pause, length = (period_s or rng.randrange(60, 200)), rng.randrange(20, 60)
        busy += [False] * pause + [True] * length
        at += pause + length
    path = os.path.join(directory, "bursts.csv")
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for s in range(seconds):
            for o in range(n):
                when = fleet.START + s + (offset_s if o == 2 else 0)
                tps, wait = (2400, 150) if busy[s] else (100, 7)
                f.write(f"{when},o{o}/disk:sda,tps,{tps * rng.lognormvariate(0, 0.15):.1f}\n")
                f.write(f"{when},o{o}/disk:sda,await,{wait * rng.lognormvariate(0, 0.25):.2f}\n")
    return path


def offset(offset_s, seconds=1200, n=6):
    """A test case: a clock that is off by a constant time."""
    def test(directory):
        code, verdict = diagnose(bursts(directory, offset_s, seconds, n=n))
        well(verdict, code, f"{offset_s} s")
        check(noted(verdict, "clock of o2", "ahead of" if offset_s > 0 else "behind") == bool(offset_s),
              verdict["notes"])
    test.__doc__ = f"bursts of load, one clock of {n} off by {offset_s} s: nobody is accused"
    return test


def backtest(path):
    """The incidents that would have been opened."""
    done = subprocess.run([LIMPET, "backtest", "--json", "--quiet", path], capture_output=True, text=True, check=False)
    check(done.returncode == 0, (done.returncode, done.stderr))
    return [(i["cause"], i["part"]) for i in json.loads(done.stdout)["incidents"]]


def live(offset_s, seconds=1200, period_s=None, n=6):
    """A test case: the same clock, while the data arrives."""
    def test(directory):
        opened = backtest(bursts(directory, offset_s, seconds, period_s, n))
        check(not opened, opened)
    test.__doc__ = (f"as it arrives, one clock of {n} off by {offset_s} s"
                    f"{f', bursts every {period_s} s' if period_s else ''}: no incident is opened")
    return test


def live_fault(offset_s):
    """A test case: a disk that is slow, on the server whose clock is off, and on another one."""
    def test(directory):
        for server in "o2", "o4":
            path = bursts(directory, offset_s, 1800)
            with open(path, encoding="ascii") as f:
                header, *rows = f.read().splitlines()
            late = fleet.START + 900 + (offset_s if server == "o2" else 0)
            with open(path, "w", encoding="ascii") as f:
                print(header, file=f)
                for row in rows:
                    at, component, metric, value = row.split(",")
                    if component.startswith(server) and metric == "await" and late <= int(at) < late + 420:
                        value = f"{float(value) * 9:.2f}"
                    print(at, component, metric, value, sep=",", file=f)
            opened = backtest(path)
            check([part for _, part in opened] == [f"{server}/disk:sda"], (server, opened))
    test.__doc__ = f"as it arrives, one clock off by {offset_s} s: a slow disk is found there, and elsewhere"
    return test


def test_pieces(directory):
    """a server that is absent two thirds of each minute is not healthy"""
    made = small()
    path = os.path.join(directory, "pieces.csv")
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        f.writelines(f"{at},{component},{metric},{value}\n" for at, component, metric, value in made.rows()
                     if not component.startswith("s3/") or at % 60 < 20)
    code, verdict = diagnose(path)
    check(code == 4 and any("s3 has data in only 3" in why for why in verdict["unknown"]), verdict["unknown"])


def test_values_that_cannot_be(directory):
    """negative and absurd latencies are missing values, not a lost path"""
    made = small()
    path = os.path.join(directory, "values.csv")
    bad = iter(["-1", "1e300", "-3e5", "inf", "1e999"] * 10000)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for at, component, metric, value in made.rows():
            value = next(bad) if component == "s3/disk:sda" and metric == "await" and at % 3 == 0 else value
            f.write(f"{at},{component},{metric},{value}\n")
    code, verdict = diagnose(path)
    well(verdict, code, "values")
    check(noted(verdict, "values.csv", "200 values are negative, infinite or absurdly large"), verdict["notes"])


if __name__ == "__main__":
    run_tests([offset(s) for s in (0, 60, 150, -90)] + [offset(900, 3600), offset(90, 1800, 3)] +
              [live(s) for s in (0, 60, 150, -90)] + [live(90, 1800, n=3), live(60, 1200, 60), live(150, 3000, 240)] +
              [live_fault(s) for s in (0, 150, -90)] +
              [another_time(s) for s in (5 * 3600, -86400, -400 * 86400, 3650 * 86400)] + tests_of(__name__))
