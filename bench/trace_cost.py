#!/usr/bin/env python3
"""trace_cost.py: the cost of tracing for traced processes, and for all others.

Runs Debian's postmark (2000 files, default sizes) on a separate file system, traced from its start by one
tool after the other, all tools in each repetition; prints medians. The slow tools get a fifth of the
transactions, and are compared with runs of the same size without a tool. Then it measures the cost of a call
in an untraced process while limpet is attached to another one. Needs root; creates and removes its own
mounts.
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LIMPET = os.environ.get("LIMPET", "build-bench/src/cli/limpet")
BENCH = pathlib.Path(os.environ.get("BUILD", "build-bench")) / "bench"
SLOW = {"ptrace", "strace", "perf"}
FILES, SEED, IMAGE = 2000, 7, "2G"
ATTACH_S, END_S = 20, 120


@contextlib.contextmanager
def mounted(kind, work):
    """A fresh file system of this kind; its path."""
    path = work / "mnt"
    path.mkdir(exist_ok=True)
    if kind == "tmpfs":
        subprocess.run(["mount", "-t", "tmpfs", "limpet-bench", path], check=True)
    else:
        image = work / "image"
        subprocess.run(["truncate", "-s", IMAGE, image], check=True)
        subprocess.run([f"mkfs.{kind}", "-q", "-f", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


def tracer(tool, pid, work):
    """The command that traces a process."""
    limpet = [LIMPET, "trace", "syscalls", "-q", "-o", str(work / "trace.lpa"), "-p", str(pid)]
    return {
        "summary": [*limpet, "--backend", "bpf", "--summary"],
        "records": [*limpet, "--backend", "bpf", "--records"],
        "ptrace": [*limpet, "--backend", "ptrace", "--records"],
        "strace": ["strace", "-f", "-q", "-o", str(work / "trace.txt"), "-p", str(pid)],
        "perf": ["perf", "trace", "-o", str(work / "trace.txt"), "-p", str(pid)],
    }[tool]


def attached(process, tool, work):
    """Wait until a tracer is ready."""
    output = work / ("trace.txt" if tool in ("strace", "perf") else "trace.lpa")
    deadline = time.monotonic() + ATTACH_S
    while not output.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    if process.poll() is not None:
        raise RuntimeError(f"{tool} ended at once: {process.stderr.read()}")


class Gate:
    """A command that begins on request."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'read x && exec "$@"', "gate", *map(str, command)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid

    def run(self):
        """(seconds, CPU seconds)"""
        begin = time.monotonic()
        self.process.stdin.write(b"\n")
        self.process.stdin.close()
        _, status, used = os.wait4(self.pid, 0)
        wall = time.monotonic() - begin
        self.process.returncode = status
        if status:
            raise RuntimeError(f"postmark ended with {status}")
        return wall, used.ru_utime + used.ru_stime


def start(tool, pid, work):
    for name in ("trace.lpa", "trace.txt"):
        (work / name).unlink(missing_ok=True)
    process = subprocess.Popen(tracer(tool, pid, work), stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    attached(process, tool, work)
    return process


def one_run(tool, where, transactions, work):
    """postmark under a tool; (seconds, CPU seconds of postmark)."""
    place = where / "files"
    place.mkdir()
    config = work / "postmark.cfg"
    config.write_text(f"set location {place}\nset number {FILES}\nset seed {SEED}\n"
                      f"set transactions {transactions}\nrun\nquit\n")
    os.sync()
    bystander = subprocess.Popen(["sleep", "1000"])
    gate = Gate("postmark", config)
    process = None
    try:
        if tool == "untraced":
            process = start("summary", bystander.pid, work)
        elif tool != "bare":
            process = start(tool, gate.pid, work)
        return gate.run()
    finally:
        bystander.kill()
        bystander.wait()
        if process:
            process.communicate(timeout=END_S)
        shutil.rmtree(place)


def measure(kind, tools, options, work):
    """{(tool, transactions): [(seconds, CPU seconds)]}"""
    runs = {}
    for tool in tools:
        n = options.transactions // 5 if tool in SLOW else options.transactions
        runs[(tool, n)] = []
        runs.setdefault(("bare", n), [])
    for number in range(options.reps):
        for tool, n in turned(list(runs), number):
            with mounted(kind, work) as where:
                got = one_run(tool, where, n, work)
            runs[(tool, n)].append(got)
            print(f"# {kind} {number + 1}/{options.reps} {tool} {n}: {got[0]:.2f} s",
                  file=sys.stderr)
    return runs


def turned(them, by):
    """Begin with another one each time, because a tool may affect the next one."""
    by %= len(them)
    return them[by:] + them[:by]


def report(kind, runs):
    def median(key, which):
        return statistics.median(run[which] for run in runs[key])

    print(f"\npostmark on {kind}, medians of {len(next(iter(runs.values())))}")
    print(f"{'':10} {'transactions':>12} {'seconds':>8} {'slower':>8} {'CPU s':>8} {'more':>8} "
          f"{'strace : it':>12}")
    slowdown = {key: median(key, 0) / median(("bare", key[1]), 0) - 1 for key in runs}
    strace = next((slowdown[key] for key in runs if key[0] == "strace"), None)
    for key in sorted(runs, key=lambda k: (k[0] != "bare", slowdown[k])):
        more = median(key, 1) / median(("bare", key[1]), 1) - 1
        ratio = f"{strace / slowdown[key]:.0f}" if strace and slowdown[key] > 0 else "-"
        print(f"{key[0]:10} {key[1]:12} {median(key, 0):8.2f} {slowdown[key]:8.1%} "
              f"{median(key, 1):8.2f} {more:8.1%} {ratio if key[0] != 'bare' else '-':>12}")


def call_costs(work):
    """The cost of one call in nanoseconds: without programs; with programs that only return, or only read the
    clock, which is the minimum cost of any tracer; untraced while another process is traced; traced."""
    def cost(*how):
        return [float(x) for x in subprocess.run([BENCH / "call_bench", *how], check=True, text=True,
                                                 stdout=subprocess.PIPE).stdout.split()]

    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        rows = [("bare", cost()), ("return", cost("return")), ("clock", cost("clock"))]
        process = start("summary", bystander.pid, work)
        rows.append(("untraced", cost()))
    finally:
        bystander.kill()
        bystander.wait()
    process.communicate(timeout=END_S)
    for mode in ("summary", "records"):
        (work / "trace.lpa").unlink(missing_ok=True)
        run = subprocess.run([LIMPET, "trace", "syscalls", "-q", "--backend", "bpf", f"--{mode}",
                              "-o", work / "trace.lpa", "--", BENCH / "call_bench"], check=True,
                             text=True, stdout=subprocess.PIPE)
        rows.append((mode, [float(x) for x in run.stdout.split()[:2]]))
    print("\na call, ns (least of many batches)")
    print(f"{'':10} {'getppid':>8} {'more':>8} {'pread':>8} {'more':>8}")
    for name, (first, second) in rows:
        print(f"{name:10} {first:8.0f} {first - rows[0][1][0]:8.0f} {second:8.0f} "
              f"{second - rows[0][1][1]:8.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fs", default="xfs,tmpfs", help="file systems")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--transactions", type=int, default=100000)
    parser.add_argument("--tools", default="bare,summary,records,untraced,ptrace,strace,perf")
    parser.add_argument("--keep", help="directory for images and traces [a temporary one]")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("trace_cost.py: needs root, for mounts and BPF")
    tools = options.tools.split(",")
    for tool in ("strace", "perf"):
        if tool in tools and not shutil.which(tool):
            print(f"# {tool} is not here", file=sys.stderr)
            tools.remove(tool)
    with tempfile.TemporaryDirectory(prefix="limpet-bench-", dir=options.keep) as directory:
        work = pathlib.Path(directory)
        call_costs(work)
        for kind in filter(None, options.fs.split(",")):
            report(kind, measure(kind, tools, options, work))


if __name__ == "__main__":
    main()
