#!/usr/bin/env python3
"""How well limpet finds the slow drives of the Perseus data set (Alibaba, FAST'23).

usage: BUILD=DIR perseus.py DATA SLOW_DRIVES.csv [--split-by observer] [--json]

DATA contains cluster_X/host_N/DATE.csv with the columns ts, disk_id, throughput and latency, as published;
SLOW_DRIVES.csv names the drives that the operators confirmed as slow. Every cluster is diagnosed as a whole
and day by day, straight from the CSV files, with no training and default settings. Then each day is diagnosed
again for every quarter of an hour, to find when each slow drive was first named.
"""
import argparse
import collections
import csv
import datetime
import glob
import json
import os
import statistics
import subprocess
import sys

LIMPET = os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
FORMAT = ["--time", "ts", "--component", "{dir2}.{dir}/disk:{disk_id}",
          "--value", "throughput,latency"]
STEP_MINUTES = 15


def truth(path):
    """{cluster: {component}}"""
    slow = collections.defaultdict(set)
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            cluster = row["cluster"]
            slow[cluster].add(f"{cluster}.{row['host_name']}/disk:{row['disk_id']}")
    return slow


def suspects(files, options, until=None):
    argv = [LIMPET, "diagnose", "--json", "--quiet", *FORMAT, *options, *files]
    if until:
        argv += ["--until", until]
    ran = subprocess.run(argv, capture_output=True, text=True)
    if ran.returncode not in (0, 1, 4):  # 4: too little data, in the first minutes of a day
        raise RuntimeError(f"{' '.join(argv[:4])} ...: {ran.stderr.strip()}")
    verdict = json.loads(ran.stdout)
    return {s["component"] for s in verdict["suspects"]}, verdict


def count(found, slow):
    return len(found & slow), len(found - slow), len(slow - found)


def first_named(files, options, slow, verdict):
    """Minutes from the start of the data until each slow drive was named; None: never."""
    start = datetime.datetime.fromisoformat(verdict["start"].replace("Z", "+00:00"))
    end = datetime.datetime.fromisoformat(verdict["end"].replace("Z", "+00:00"))
    named, now = {}, start
    while now < end and len(named) < len(slow):
        now += datetime.timedelta(minutes=STEP_MINUTES)
        try:
            found, _ = suspects(files, options, now.strftime("%Y-%m-%dT%H:%M:%SZ"))
        except RuntimeError:
            continue
        for drive in found & slow:
            named.setdefault(drive, (now - start).total_seconds() / 60)
    return [named.get(drive) for drive in slow]


def ratio(a, b):
    return a / (a + b) if a + b else 1.0


def print_row(name, c):
    print(f"{name:24} {c[0]:5} {c[1]:6} {c[2]:7} {ratio(c[0], c[2]):8.3f} {ratio(c[0], c[1]):10.3f}")


def print_delays(delays):
    known = sorted(d for d in delays if d is not None)
    if not known:
        print("\nNo slow drive was named.")
        return
    quartiles = statistics.quantiles(known, n=4) if len(known) > 1 else known * 3
    print(f"\nFrom the start of a day's data until a slow drive is named, asked every "
          f"{STEP_MINUTES} minutes ({len(known)} of {len(delays)} drive-days):")
    print(f"  minimum {known[0]:.0f}, quartiles {quartiles[0]:.0f} {quartiles[1]:.0f} "
          f"{quartiles[2]:.0f}, maximum {known[-1]:.0f} minutes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("slow_drives")
    parser.add_argument("--split-by", action="append", default=[])
    parser.add_argument("--no-delays", action="store_true")
    args = parser.parse_args()
    options = [o for attribute in args.split_by for o in ("--split-by", attribute)]
    slow, days, delays = truth(args.slow_drives), [0, 0, 0], []
    print(f"{'data':24} {'found':>5} {'wrong':>6} {'missed':>7} {'recall':>8} {'precision':>10}")
    for path in sorted(glob.glob(os.path.join(args.data, "cluster_*"))):
        cluster = os.path.basename(path)
        files = sorted(glob.glob(os.path.join(path, "host_*", "*.csv")))
        found, _ = suspects(files, options)
        print_row(f"{cluster}, all days", count(found, slow[cluster]))
        for day in sorted({os.path.basename(f) for f in files}):
            of_day = [f for f in files if os.path.basename(f) == day]
            found, verdict = suspects(of_day, options)
            c = count(found, slow[cluster])
            days = [a + b for a, b in zip(days, c)]
            print_row(f"{cluster}, {day[:-4]}", c)
            if not args.no_delays:
                delays += first_named(of_day, options, slow[cluster], verdict)
    print_row("single days, summed", days)
    if not args.no_delays:
        print_delays(delays)
    return 0


if __name__ == "__main__":
    sys.exit(main())
