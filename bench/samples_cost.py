#!/usr/bin/env python3
"""samples_cost.py: the cost of sampling the machine, compared with `perf record -a` at the same rate.

usage: BUILD=build-bench bench/samples_cost.py [--runs N] [--work N] [--rates 199,997]

All CPUs do a fixed amount of work, once alone and once under each sampler, all of them in each run, in an order that
changes from run to run. The cost is the additional CPU time of the work compared with no sampling (its user and system
time: interrupts count for the process that they interrupt), and the CPU time of the sampler itself as a share of the
machine. Medians, and the spread between the quartiles of the runs. Needs root, and a machine that is otherwise idle:
CPU time hardly depends on other processes, but it does depend on caches and on neighbours of a virtual machine.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LIMPET = os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
# Memory and arithmetic, and a system call now and then.
WORK = """
import os, sys, zlib
data = bytes(range(256)) * 256
for i in range(int(sys.argv[1])):
    zlib.crc32(zlib.compress(data, 1)); os.getppid()
"""


def work(amount):
    """Seconds of CPU time, and of wall time, for the work on all CPUs."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    workers = [subprocess.Popen([sys.executable, "-S", "-c", WORK, str(amount)])
               for _ in range(os.cpu_count())]
    if any(worker.wait() for worker in workers):
        sys.exit("the work failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            time.monotonic() - began)


def sampler(name, rate, directory):
    """The command of a sampler; its first word shows whether it is installed."""
    if name == "limpet":
        return [LIMPET, "trace", "samples", "-q", "-F", str(rate), "-o", directory]
    if name == "limpet ring":
        return [LIMPET, "trace", "samples", "-q", "-F", str(rate), "--sampler", "ring", "-o", directory]
    return ["perf", "record", "-q", "-a", "-F", str(rate), "-e", "cpu-clock", "-o",
            os.path.join(directory, "perf.data")]


def under(name, rate, amount):
    """The same as work(), while a sampler runs; and the CPU time of the sampler."""
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(sampler(name, rate, directory), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(1)  # it has begun; the time for that does not count
        began = cpu_of(process.pid)
        cpu, wall = work(amount)
        own = cpu_of(process.pid) - began
        process.terminate()
        process.wait()
        return cpu, wall, own


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(values):
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (0, 0, 0)
    return f"{statistics.median(values):6.2f} ({low:.2f} to {high:.2f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--work", type=int, default=4000)
    parser.add_argument("--rates", default="199,997")
    args = parser.parse_args()
    rates = [int(r) for r in args.rates.split(",")]
    names = ["limpet", "limpet ring"] + (["perf record -a"] if shutil.which("perf") else [])
    cases = [(name, rate) for rate in rates for name in names]
    cost = {case: [] for case in cases}
    own = {case: [] for case in cases}
    for number in range(args.runs):
        turn = cases[number % len(cases):] + cases[:number % len(cases)]
        for case in turn:
            # Each next to a run without it, so that slow changes do not count.
            plain, _ = work(args.work)
            cpu, wall, used = under(*case, args.work)
            cost[case].append(100 * (cpu / plain - 1))
            own[case].append(100 * used / wall / os.cpu_count())
        print(f"run {number + 1} of {args.runs}", file=sys.stderr)
    print(f"{os.cpu_count()} CPUs, {args.runs} runs\n")
    print("| sampler | per second and CPU | the work takes more CPU time, % | the sampler itself, % of the machine |")
    print("|---|---|---|---|")
    for case in cases:
        print(f"| {case[0]} | {case[1]} | {spread(cost[case])} | {spread(own[case])} |")


if __name__ == "__main__":
    main()
