#!/usr/bin/env python3
"""How much faster than sadf does limpet read `await` of all disks out of an hour of 60 disks?

usage: BUILD=build bench/sysstat_read.py [RUNS]

Creates the file, then measures sadf and limpet in turn and prints the medians and their ratio. limpet is
measured in three ways: the importer alone (the four columns that await needs, nothing printed), `limpet show`
that reads all of await and prints its mean over the hour for each disk, and `limpet show` that prints all
216,000 values, with all their digits, as CSV.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "..", "build"))


def seconds(argv):
    start = time.monotonic()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def works(argv):
    """Can it read the file at all? (Not every build has `limpet show`.)"""
    done = subprocess.run(argv, capture_output=True)
    return done.returncode == 0 and (b"sda" in done.stdout or done.stdout == b"3600\n")


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "sa15")
        subprocess.run([sys.executable, os.path.join(HERE, "gen_sysstat.py"), path], check=True)
        megabytes = os.path.getsize(path) / 1e6
        programs = {
            "sadf -d FILE -- -d": ["sadf", "-d", path, "--", "-d"],
            "importer alone": [os.path.join(BUILD, "tests/e2e/dump_source"), "-q", "sysstat",
                               path, "ios", "rd_ticks", "wr_ticks", "dc_ticks"],
            "limpet show, a mean": [os.path.join(BUILD, "src", "cli", "limpet"), "show", path,
                                    "--csv", "--metric", "await", "--interval", "1h"],
            "limpet show, all": [os.path.join(BUILD, "src", "cli", "limpet"), "show", path,
                                 "--csv", "--metric", "await"],
        }
        programs = {name: argv for name, argv in programs.items() if works(argv)}
        times = {name: [] for name in programs}
        for _ in range(runs):
            for name, argv in programs.items():
                times[name].append(seconds(argv))
    reference = statistics.median(times["sadf -d FILE -- -d"])
    print(f"one hour, 60 disks, 1 s: {megabytes:.1f} MB, medians of {runs} runs in turns")
    for name, taken in times.items():
        t = statistics.median(taken)
        print(f"{name:20} {t * 1e3:8.1f} ms {megabytes / t:8.0f} MB/s {reference / t:8.1f} x")


if __name__ == "__main__":
    main()
