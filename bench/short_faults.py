#!/usr/bin/env python3
"""Does limpet name disks that are slow for some minutes, in groups of several sizes?

usage: BUILD=DIR short_faults.py [--sizes 4,8,24,100] [--minutes 3,5,10] [--places N] [--factor X] [--seed N]

For every size of the group and every length, N times [4]: 2.5 hours of disks that share one load, a sample every 5 s
(tests/e2e/fleet.py), one of which is X times [8] as slow for that long, from a random time on. Prints how often it was
named, and how many others were.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
os.environ.setdefault("LIMPET", os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet"))
from fleet import Fleet  # noqa: E402  (it needs the variable)

LASTS_MIN = 150
# Servers, and disks of each.
SHAPES = {4: (4, 1), 8: (4, 2), 24: (6, 4), 100: (25, 4)}


def suspects(path):
    argv = [os.environ["LIMPET"], "diagnose", "--json", "--quiet", path]
    ran = subprocess.run(argv, capture_output=True, text=True)
    if ran.returncode not in (0, 1, 4):
        sys.exit(f"{' '.join(argv)}: {ran.stderr.strip()}")
    return {s["component"] for s in json.loads(ran.stdout)["suspects"]}


def one(size, minutes, factor, seed):
    """Was it named, and how many others were?"""
    chance = random.Random(f"{size} {minutes} {seed}")
    servers, disks = SHAPES[size]
    fleet = Fleet(servers=servers, disks=disks, minutes=LASTS_MIN, seed=f"{seed} {size} {minutes}")
    slow = chance.choice(fleet.components())
    fleet.slow(slow, at_min=chance.uniform(0, LASTS_MIN - minutes), minutes=minutes, factor=factor)
    with tempfile.TemporaryDirectory() as work:
        found = suspects(fleet.write(work))
    return slow in found, len(found - {slow})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="4,8,24,100")
    parser.add_argument("--minutes", default="3,5,10")
    parser.add_argument("--places", type=int, default=4)
    parser.add_argument("--factor", type=float, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lengths = [int(m) for m in args.minutes.split(",")]
    print("| disks | " + " | ".join(f"{m} minutes" for m in lengths) + " | others |")
    print("|---" * (len(lengths) + 2) + "|")
    for size in (int(s) for s in args.sizes.split(",")):
        cells, others = [], 0
        for minutes in lengths:
            told = [one(size, minutes, args.factor, f"{args.seed} {i}") for i in range(args.places)]
            cells.append(f"{sum(named for named, _ in told)} of {len(told)}")
            others += sum(n for _, n in told)
        print(f"| {size} | {' | '.join(cells)} | {others} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
