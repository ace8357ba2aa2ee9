#!/usr/bin/env python3
"""The results of limpet on parts of the Perseus data set: whole periods, days, and short stretches.

usage: perseus_cuts.py DATA SLOW_DRIVES.csv [NAME=LIMPET...] [--seed N] [--places N] [--groups]

DATA and SLOW_DRIVES.csv are those of perseus.py. Every cluster is diagnosed whole, day by day, and in
stretches of 20 to 180 minutes at random places of random days, with each of the programs that are named
[now=$BUILD/src/cli/limpet], and the slow drives that were found, the others that were accused and those that
were missed are summed up. All programs get the same stretches.

With --groups nothing is scored. Each stretch is cut one sample earlier and one sample later instead, and
every change of a peer group is printed; the exit status is 1 if there was one.
"""
import argparse
import collections
import concurrent.futures
import datetime
import glob
import json
import os
import random
import subprocess
import sys

from perseus import FORMAT, truth

MINUTES = (20, 30, 45, 60, 90, 120, 180)
STEP = datetime.timedelta(seconds=15)


def iso(t):
    return t.strftime("%Y-%m-%dT%H:%M:%SZ")


def diagnose(limpet, files, since=None, until=None):
    argv = [limpet, "diagnose", "--json", "--quiet", *FORMAT, *files]
    if since:
        argv += ["--since", iso(since)]
    if until:
        argv += ["--until", iso(until)]
    ran = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if ran.returncode not in (0, 1, 4):
        raise RuntimeError(f"{' '.join(argv[:4])} ...: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def beginning(files):
    """The beginning of the earliest file and the end of the latest one: all files of a day begin together."""
    with open(files[0], encoding="ascii") as f:
        times = [int(line.split(",")[0]) for line in f if line[0].isdigit()]
    return (datetime.datetime.fromtimestamp(min(times), datetime.timezone.utc),
            datetime.datetime.fromtimestamp(max(times), datetime.timezone.utc))


def cuts(data, seed, places):
    """(row, cluster, files, since, until)"""
    for path in sorted(glob.glob(os.path.join(data, "cluster_*"))):
        cluster = os.path.basename(path)
        chance = random.Random(f"{seed} {cluster}")
        files = sorted(glob.glob(os.path.join(path, "host_*", "*.csv")))
        days = collections.defaultdict(list)
        for f in files:
            days[os.path.basename(f)].append(f)
        yield "whole", cluster, files, None, None
        for day in sorted(days):
            yield "single days", cluster, days[day], None, None
        for minutes in MINUTES:
            for _ in range(places):
                of_day = days[chance.choice(sorted(days))]
                first, last = beginning(of_day)
                length = datetime.timedelta(minutes=minutes)
                room = max(0, (last - first - length) // STEP)
                since = first + STEP * chance.randint(0, room)
                yield f"{minutes} minutes", cluster, of_day, since, since + length


def score(limpet, cut, slow):
    _, cluster, files, since, until = cut
    found = {s["component"] for s in diagnose(limpet, files, since, until)["suspects"]}
    return len(found & slow[cluster]), len(found - slow[cluster]), len(slow[cluster] - found)


def table(programs, every, slow, pool):
    rows = collections.OrderedDict()
    jobs = [(cut, name, pool.submit(score, limpet, cut, slow))
            for cut in every for name, limpet in programs]
    for cut, name, job in jobs:
        for of in (cut[1], "both"):
            cell = rows.setdefault((of, cut[0]), {}).setdefault(name, [0, 0, 0])
            for i, n in enumerate(job.result()):
                cell[i] += n
    names = [name for name, _ in programs]
    print("| data | " + " | ".join(f"{n}: found | wrong | missed" for n in names) + " |")
    print("|---" * (3 * len(names) + 1) + "|")
    for (of, row), cells in sorted(rows.items(), key=lambda r: r[0][0] == "both"):
        numbers = " | ".join(str(n) for name in names for n in cells[name])
        print(f"| {of}, {row} | {numbers} |")


def groups(limpet, cut, until):
    verdict = diagnose(limpet, cut[2], cut[3], until)
    return {tuple(sorted(g["components"])) for g in verdict["groups"]}


def changes(limpet, cut):
    """Differences one sample earlier, and one sample later."""
    until = cut[4] or beginning(cut[2])[1] - STEP
    here = groups(limpet, cut, until)
    told = []
    for other in (until - STEP, until + STEP):
        there = groups(limpet, cut, other)
        if there != here:
            told.append(f"{cut[1]} from {cut[3] and iso(cut[3])}: {len(here)} groups until "
                        f"{iso(until)}, {len(there)} until {iso(other)}")
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("slow_drives")
    parser.add_argument("programs", nargs="*", metavar="NAME=LIMPET")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--groups", action="store_true")
    args = parser.parse_args()
    default = "now=" + os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
    programs = [p.split("=", 1) for p in args.programs or [default]]
    every = list(cuts(args.data, args.seed, args.places))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if not args.groups:
            table(programs, every, truth(args.slow_drives), pool)
            return 0
        told = [t for ts in pool.map(lambda c: changes(programs[-1][1], c), every) for t in ts]
    print(*told, sep="\n", end="\n" if told else "")
    print(f"{len(every)} stretches, {len(told)} changes of groups by one sample")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
