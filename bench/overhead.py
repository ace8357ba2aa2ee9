#!/usr/bin/env python3
"""overhead.py: how much longer work takes while functions are watched (Table 2 of the behaviour paper).

Two labs of the same size, of which one works at a time: one with a GlusterFS that was built with `limpet cc` (--prefix), the
other with one that was built from the same source with the same options, but without it (--plain; otherwise the one that is
installed, whose options differ). For each workload and repetition all instruments come one after the other, with none of
them first. All clients at once do a fixed amount of the lab's own work (src/lab/workloads): the same pieces of files, or the
same transactions, in the same order. What is printed is how much longer they take than without an instrument in the same
repetition, in percent: the median, and from the least to the most. The second table has the CPU time of the servers in the
same way, which a disk or a link does not hide.

    none        GlusterFS as it is, nobody looks
    samples N   the same, `limpet record --collect profile -F N`
    calls       built with `limpet cc`, `limpet record --collect calls`: all functions
    selected    the same with the functions that `limpet functions --select --budget 0.1%` chose from a recording of all
                workloads
    budget      the same with `--budget 2%`, which switches off by itself
    off         the same program with all functions switched off, nobody looks

The paper counts servers only. Here clients run the program that was built with `limpet cc`, too, and are counted. Needs
root, and a machine that does nothing else. About 40 minutes as it is.
"""
import argparse
import contextlib
import glob
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LIMPET = os.environ.get("LIMPET", "build/src/cli/limpet")
WORKLOADS = ("ddr", "ddw", "iozoner", "iozonew", "postmark")
ARMS = ("none", "samples 199", "samples 997", "calls", "selected", "budget", "off")
PAPER = {"ddr": (-1.43, 2.39), "ddw": (2.67, 1.28), "iozoner": (-0.28, 0.74), "iozonew": (3.23, 0.82),
         "postmark": (-0.36, 122.18)}
BUDGET = "2%"
SELECT = "0.1%"
BUDGET_SETTLES_S = 12  # it checks every five seconds
START_S = 60
# What a client does each time, in words of src/lab/workloads/library.sh: about ten seconds, and 30 of PostMark.
PASSES = {"ddr": "read_pieces 5", "ddw": "write_pieces 5", "iozoner": "iozone_pass read 1",
          "iozonew": "iozone_pass write 0", "postmark": "mail 100 300"}
LIBRARY = pathlib.Path(__file__).resolve().parent.parent / "src/lab/workloads/library.sh"
LEARN_S = 10


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        sys.exit(f"overhead.py: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Lab:
    """A lab; its programs keep their tables of calls in a separate directory."""

    def __init__(self, name, args, tables, prefix=None):
        self.name, self.args = name, args
        self.env = {**os.environ, "LIMPET_CALLS_DIR": tables}
        self.options = [f"--prefix={prefix}"] if prefix else []

    def __enter__(self):
        run(LIMPET, "lab", "up", "--name", self.name, "--servers", str(self.args.servers), "--clients",
            str(self.args.clients), "--disk", "512M", *self.options, env=self.env)
        return self

    def __exit__(self, *_):
        subprocess.run([LIMPET, "lab", "down", "--name", self.name], check=False, env=self.env)

    def work(self, workload):
        run(LIMPET, "lab", "work", "--name", self.name, workload, env=self.env)

    def stop(self):
        run(LIMPET, "lab", "work", "--name", self.name, "--stop", env=self.env)

    def begin_pass(self, workload, client):
        """The process of a client that does its part."""
        room = f"/run/limpet/lab/{self.name}"
        env = {"CLIENT": client, "CLIENTS": self.args.clients, "SERVERS": self.args.servers, "PASS": 1, "SEED": 1,
               "WORK_DIR": f"{room}/c{client}/mnt/c{client}", "LIST": f"{room}/c{client}/pieces",
               "BRICKS": " ".join(f"{room}/s{i}/brick" for i in range(1, self.args.servers + 1))}
        script = LIBRARY.read_text(encoding="utf-8") + f"set -e\ncd $WORK_DIR\n{PASSES[workload]}\n"
        return subprocess.Popen(["sh", "-c", script], env={**self.env, **{k: str(v) for k, v in env.items()}})

    def do_pass(self, workload):
        parts = [self.begin_pass(workload, i) for i in range(1, self.args.clients + 1)]
        if any([part.wait() for part in parts]):
            sys.exit(f"overhead.py: {workload} failed")

    def cpu_s(self):
        """CPU time of all servers; 0 without control groups."""
        total = 0.0
        for name in (f"limpet-{self.name}-s{i}" for i in range(1, self.args.servers + 1)):
            for path in glob.glob(f"/sys/fs/cgroup/*/{name}/cpuacct.usage"):
                total += int(pathlib.Path(path).read_text(encoding="ascii")) / 1e9
                break
            for path in glob.glob(f"/sys/fs/cgroup/**/{name}/cpu.stat", recursive=True):
                words = pathlib.Path(path).read_text(encoding="ascii").split()
                if "usage_usec" in words:
                    total += int(words[words.index("usage_usec") + 1]) / 1e6
                    break
        return total


@contextlib.contextmanager
def recorder(lab, directory, *options, then=None):
    """limpet record, from its first output to its end; `then` gets its files."""
    if not options:
        yield
        return
    with tempfile.TemporaryDirectory(dir=directory) as room:
        log, out = pathlib.Path(room) / "log", os.path.join(room, "out")
        with open(log, "w", encoding="utf-8") as to:
            process = subprocess.Popen([LIMPET, "record", "-n", "here", "-o", out, *options], stderr=to, env=lab.env)
        try:
            deadline = time.monotonic() + START_S
            while not list(pathlib.Path(out).glob("*.lpa")):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"overhead.py: limpet record {' '.join(options)}: {log.read_text(encoding='utf-8')}")
                time.sleep(0.1)
            yield
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
        if then:
            then(out)


def switch(lab, directory, line):
    """Switch functions of all programs of a lab on or off."""
    path = os.path.join(directory, "switches")
    pathlib.Path(path).write_text(line + "\n", encoding="ascii")
    run(LIMPET, "functions", "--apply", path, env=lab.env)


def options_of(arm, chosen):
    """The arguments of limpet record."""
    if arm.startswith("samples"):
        return ["--collect", "profile", "-F", arm.split()[1]]
    return {"calls": ["--collect", "calls"],
            "selected": ["--collect", "calls", "--functions", chosen],
            "budget": ["--collect", "calls", "--budget", BUDGET]}.get(arm, [])


def measure(lab, arm, workload, directory, chosen):
    """(seconds, CPU seconds of the servers)"""
    if not arm.startswith(("none", "samples")):
        switch(lab, directory, "off *" if arm == "off" else "on *")
    with recorder(lab, directory, *options_of(arm, chosen)):
        if arm == "budget":  # it has to see work first
            lab.work(workload)
            time.sleep(BUDGET_SETTLES_S)
            lab.stop()
        begin, cpu_before = time.monotonic(), lab.cpu_s()
        lab.do_pass(workload)
        return time.monotonic() - begin, lab.cpu_s() - cpu_before


def prepare(lab, workloads):
    """Each workload once, which makes its files, and a pass that does not count: the first one takes longer."""
    for workload in workloads:
        lab.work(workload)
        time.sleep(LEARN_S)
        lab.stop()
        lab.do_pass(workload)


def choose(lab, workloads, directory):
    """The list of functions worth counting, from a recording of all workloads."""
    chosen = os.path.join(directory, "chosen")
    switch(lab, directory, "on *")
    with recorder(lab, directory, "--collect", "calls", then=lambda out: run(
            LIMPET, "functions", "--select", "--budget", SELECT, "-o", chosen, out, env=lab.env)):
        prepare(lab, workloads)
    words = pathlib.Path(chosen).read_text(encoding="utf-8").split()
    print(f"selected: {words.count('on')} functions on, {words.count('off')} off", file=sys.stderr)
    return chosen


def summary(values):
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0]:+.1f}"
    return f"{statistics.median(values):+.1f} ({min(values):+.1f} to {max(values):+.1f})"


def table(title, results, args, at, paper):
    """Percent more than without an instrument in the same repetition."""
    arms = [arm for arm in args.arms if arm != "none"]
    print(f"\n{title}\n")
    print("| workload | " + " | ".join(arms) + (" | paper: samples | paper: calls |" if paper else " |"))
    print("|---" * (1 + len(arms) + (2 if paper else 0)) + "|")
    for workload in args.workloads:
        cells = []
        for arm in arms:
            pairs = [(r[at], bare[at]) for r, bare in zip(results[workload, arm], results[workload, "none"]) if bare[at]]
            cells.append(summary([100 * (a / b - 1) for a, b in pairs]))
        if paper:
            cells += [f"{x:+.1f}" for x in PAPER[workload]]
        print(f"| {workload} | " + " | ".join(cells) + " |")


def run_all(args, directory):
    """{(workload, arm): [(seconds, CPU seconds)]} of all repetitions."""
    results = {(w, a): [] for w in args.workloads for a in args.arms}
    with (Lab(args.name + "p", args, directory, args.plain) as plain,
          Lab(args.name + "c", args, directory, args.prefix) as counting):
        prepare(plain, args.workloads)
        chosen = choose(counting, args.workloads, directory)
        for repetition in range(args.repeat):
            for workload in args.workloads:
                for arm in args.arms:
                    lab = plain if arm == "none" or arm.startswith("samples") else counting
                    got = measure(lab, arm, workload, directory, chosen)
                    results[workload, arm].append(got)
                    print(f"{repetition + 1} {workload:9} {arm:12} {got[0]:8.2f} s {got[1]:8.2f} s CPU", file=sys.stderr)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="a GlusterFS that was built with 'limpet cc'")
    parser.add_argument("--plain", help="the same GlusterFS, built without it [the one that is installed]")
    parser.add_argument("--name", default="overhead", help="labs are called NAMEp and NAMEc [overhead]")
    parser.add_argument("--workloads", type=lambda s: s.split(","), default=list(WORKLOADS))
    parser.add_argument("--arms", type=lambda s: s.split(","), default=list(ARMS),
                        help=f"instruments, 'none' among them [{','.join(ARMS)}]")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions [3]")
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=3)
    args = parser.parse_args()
    if "none" not in args.arms or not set(args.arms) <= set(ARMS):
        sys.exit(f"overhead.py: --arms takes 'none' and others of {', '.join(ARMS)}")
    if os.geteuid() != 0:
        sys.exit("overhead.py: needs root")
    with tempfile.TemporaryDirectory(prefix="limpet-overhead-", dir="/dev/shm") as directory:
        results = run_all(args, directory)
    table("More time for the same work, percent: median (least to most)", results, args, 0, True)
    table("More CPU time of the servers for the same work, percent", results, args, 1, False)


if __name__ == "__main__":
    main()
