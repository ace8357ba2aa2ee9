#!/usr/bin/env python3
"""A supercomputer's day: archives of 128 servers to a ranked list, compared with plain NumPy.

usage: BUILD=build bench/intrepid_day.py [--data DIR] [--slice HOURS] [--arrays N]

Generates a day of 1 s samples (unless DIR has one already, made by gen_intrepid), then runs `limpet diagnose -m await`
on the first four peer groups (the first two priorities, old LUNs and new ones: 2304 attachments) with one thread and
with two: wall time, CPU time and peak memory of the whole process, by all horizons (the default of `limpet diagnose`)
and plainly (a method and a step chosen by hand: everything at once). The output must be identical for both numbers of
threads. Then plain_numpy.py does the same analysis on the first HOURS of that day, from raw counters in its own format,
with the same fixed threshold; the anomalies of both must be the same. Its time for a whole day is scaled up: work per
sample by the number of samples, work per window by the number of windows. The peer groups are complete in both, so
pairs need no scaling.
"""
import argparse
import csv
import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "..", "build"))
LIMPET = os.path.join(BUILD, "src/cli/limpet")
COUNTERS = ("rd_ios", "wr_ios", "rd_ticks", "wr_ticks")
THRESHOLD = 50
GROUPS = "luns priority=[12] *"
START = datetime.datetime(2011, 4, 17, 0, 0, 5)


class Run:
    """A finished command: its output and its cost."""

    def __init__(self, argv, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), LIMPET_STATE=os.devnull)
        start = time.monotonic()
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(argv, stdout=out, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall_s = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.out = out.read()
        if process.returncode not in (0, 1, 4):  # 4: no suspects, but not everything could be judged
            sys.exit(f"{' '.join(argv)} ended with {process.returncode}")
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.rss_mib = usage.ru_maxrss / 1024

    def cost(self):
        return f"{self.wall_s:7.2f} s  {self.cpu_s:7.2f} s of CPU  {self.rss_mib:6.0f} MiB"


def diagnose(data, state, *more):
    return [LIMPET, "diagnose", "-q", os.path.join(data, "archives"), "--topology",
            os.path.join(data, "topology.yaml"), "-m", "await", "--group", GROUPS, "--state", state,
            "--json", *more]


# If a method and a step are chosen, everything is compared at once, by the plain definitions.
PLAIN = ("--method", "cdf", "--downsample", "15s")


def generate(data, arrays):
    start = time.monotonic()
    subprocess.run([os.path.join(BUILD, "bench/gen_intrepid"), "-o", data, "-s", "1s", "-a",
                    str(arrays)], check=True)
    size = sum(os.path.getsize(os.path.join(data, "archives", f))
               for f in os.listdir(os.path.join(data, "archives")))
    print(f"generated: {size / 1e6:.0f} MB of archives in {time.monotonic() - start:.0f} s")


def select(data, path):
    """The names of the attachments of the first two priorities."""
    with open(os.path.join(data, "attachments.csv"), encoding="utf-8") as f:
        names = [r["component"] for r in csv.DictReader(f) if r["priority"] in "12"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(n + "\n" for n in names))
    return len(names)


def both_threads(data, work, what, *more):
    """limpet on all data, with one thread and with two; the runs, and whether they agree."""
    runs = {}
    for threads in (1, 2):
        runs[threads] = Run(diagnose(data, os.path.join(work, "state"), *more), threads)
        print(f"limpet, {what}, {threads} threads  {runs[threads].cost()}")
    same = runs[1].out == runs[2].out
    print("output with 1 and 2 threads: " + ("the same" if same else "DIFFERS"))
    verdict = json.loads(runs[2].out)
    print(f"{verdict['windows']} windows, {len(verdict['anomalies'])} anomalies, "
          f"{len(verdict['suspects'])} suspects, {len(verdict['incidents'])} incidents")
    return runs, verdict, same


def whole_day(data, work):
    """limpet on all data, by all horizons and plainly; the costs of the latter by number of threads."""
    _, _, all_same = both_threads(data, work, "all horizons   ")
    runs, verdict, same = both_threads(data, work, "archive to list", *PLAIN)
    same = same and all_same
    read = Run([os.path.join(BUILD, "bench/table_bench"), "-n", os.path.join(work, "names"),
                "await", "15s", os.path.join(data, "archives")], 2)
    print(f"of which reading those archives          {read.cost()}")
    return runs, runs[2].wall_s - read.wall_s, verdict["windows"], same


def plain_slice(data, work, hours):
    """NumPy on a slice, and limpet on the same; NumPy's report and whether they agree."""
    until = (START + datetime.timedelta(hours=hours)).isoformat() + "Z"
    for counter in COUNTERS:
        subprocess.run([os.path.join(BUILD, "bench/table_bench"), "-n",
                        os.path.join(work, "names"), "-u", until, "-o",
                        os.path.join(work, counter + ".npy"), "raw:" + counter, "1s",
                        os.path.join(data, "archives")], check=True, stdout=subprocess.DEVNULL)
    out = os.path.join(work, "plain.json")
    plain = Run(["/usr/bin/python3", os.path.join(HERE, "plain_numpy.py"), work,
                 os.path.join(data, "attachments.csv"), str(THRESHOLD), out], 1)
    print(plain.out.decode(), end="")
    print(f"NumPy, {hours} h from raw counters          {plain.cost()}")
    with open(out, encoding="utf-8") as f:
        report = json.load(f)
    fixed = Run(diagnose(data, os.path.join(work, "state"), *PLAIN, "--until", until, "--threshold",
                         f"await={THRESHOLD}"), 2)
    print(f"limpet, {hours} h from archives, 2 threads   {fixed.cost()}")
    verdict = json.loads(fixed.out)
    ours = {(a["window"], a["component"]) for a in verdict["anomalies"]}
    # NumPy also compares a last window with an incomplete last slot at the end of the slice.
    theirs = {(w, c) for w, c in report["anomalous"] if w < verdict["windows"]}
    print(f"anomalies of both: {len(ours & theirs)}, of limpet only: {len(ours - theirs)}, of "
          f"NumPy only: {len(theirs - ours)}")
    return report, ours == theirs


def scale(took, windows, windows_a_day, hours):
    """Seconds for a whole day: distances by the number of windows, everything else by the number of
    samples."""
    by_window = took["distances and votes"]
    return by_window * windows_a_day / windows + (sum(took.values()) - by_window) * 24 / hours


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--slice", type=float, default=2)
    parser.add_argument("--arrays", type=int, default=16)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limpet-bench-") as work:
        data = args.data or os.path.join(work, "day")
        if not args.data:
            generate(data, args.arrays)
        print(f"{select(data, os.path.join(work, 'names'))} attachments in 4 groups")
        runs, after_s, windows, same = whole_day(data, work)
        report, agree = plain_slice(data, work, args.slice)
    wall, cpu = (scale(report[t], report["windows"], windows, args.slice) for t in ("took", "cpu"))
    print(f"NumPy, scaled to {windows} windows and 24 h: {wall:.0f} s, {cpu:.0f} s of CPU")
    for threads, run in runs.items():
        print(f"limpet with {threads} threads is {wall / run.wall_s:.0f} times as fast; by CPU time "
              f"{cpu / run.cpu_s:.0f} times")
    took = {k: s for k, s in report["took"].items() if k not in ("load", "downsample")}
    table = scale(took, report["windows"], windows, args.slice)
    print(f"from the table of await on: NumPy {table:.0f} s, limpet {after_s:.2f} s (with 2 threads; all "
          f"but reading), {table / after_s:.0f} times as fast")
    print(f"peak memory of this script's children: "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
    return 0 if same and agree else 1


if __name__ == "__main__":
    sys.exit(main())
