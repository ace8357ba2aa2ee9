#!/usr/bin/env python3
"""Traced processes are left unharmed: by attaching, by detaching, and by the death of limpet."""
import json
import os
import signal
import struct
import subprocess
import sys
import time

import program
import tap

BUILD = os.environ.get("BUILD", "build")
BUSY = os.path.join(BUILD, "tests/trace/busy")
THREADS = 12
PATIENCE = 20


def until(condition, what):
    """Wait for something that must come."""
    end = time.monotonic() + PATIENCE
    while not condition():
        tap.check(time.monotonic() < end, f"{what}: not within {PATIENCE} s")
        time.sleep(0.02)


def programs():
    """Ids of the BPF programs in the kernel; None: unknown."""
    try:
        ran = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True,
                             check=False)
    except FileNotFoundError:
        return None
    return None if ran.returncode else {p["id"] for p in json.loads(ran.stdout)}


def programs_of(pid):
    """Ids of the BPF programs that a process has descriptors of."""
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as file:
                found |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
        except FileNotFoundError:
            continue
    return found


class Busy:
    """A process with many threads that count their rounds, and failed calls."""

    def __init__(self, directory):
        self.file = os.path.join(directory, "counts")
        self.process = subprocess.Popen([BUSY, str(THREADS), self.file])
        self.pid = self.process.pid
        until(lambda: os.path.exists(self.file) and
              os.path.getsize(self.file) == 8 * (THREADS + 2) and min(self.rounds()) > 0, "busy")

    def counts(self):
        with open(self.file, "rb") as file:
            return struct.unpack(f"={THREADS + 2}Q", file.read())

    def rounds(self):
        return self.counts()[2:]

    def threads(self):
        return [int(t) for t in os.listdir(f"/proc/{self.pid}/task")]

    def status(self, tid, key):
        with open(f"/proc/{tid}/status", encoding="utf-8") as file:
            return next(line.split()[1] for line in file if line.startswith(key + ":"))

    def traced(self):
        return any(self.status(t, "TracerPid") != "0" for t in self.threads())

    def stopped(self):
        return [t for t in self.threads() if self.status(t, "State") in "tT"]

    def goes_on(self):
        """Every thread makes rounds."""
        before = self.rounds()
        until(lambda: all(now > old + 20 for now, old in zip(self.rounds(), before)), "rounds")

    def check_unharmed(self, killed):
        until(lambda: not self.traced(), "end of ptrace")
        until(lambda: not self.stopped(), f"no stopped thread: {self.stopped()}")
        self.goes_on()
        tap.check(self.process.poll() is None, "the process ended")
        wrong, interrupted = self.counts()[:2]
        # When limpet is killed, calls that are about to begin may be interrupted.
        tap.check(wrong == (interrupted if killed else 0),
                  f"{wrong} calls of the process went wrong, {interrupted} of them with EINTR")

    def end(self):
        self.process.kill()
        self.process.wait()


def usable(backend, directory):
    if os.geteuid() != 0:
        raise tap.Skip("needs root")
    ran = program.limpet("trace", "syscalls", "--backend", backend, "-q", "-o",
                         os.path.join(directory, "try.lpa"), "--", "true")
    if ran.code:
        raise tap.Skip(ran.err.strip())


def start(backend, directory, number, busy, mode):
    """A running limpet that traces the process."""
    tracer = subprocess.Popen(
        [program.LIMPET, "trace", "syscalls", "--backend", backend, mode, "-q", "-o",
         os.path.join(directory, f"{backend}{number}.lpa"), "-p", str(busy.pid)],
        stderr=subprocess.PIPE, text=True)
    if backend == "ptrace":
        until(lambda: all(busy.status(t, "TracerPid") != "0" for t in busy.threads()), "ptrace")
    else:
        until(lambda: len(programs_of(tracer.pid)) > 1, "programs in the kernel")
    busy.goes_on()
    mine = programs_of(tracer.pid)
    tap.check(programs() is None or mine <= programs(), "bpftool does not show them")
    return tracer, mine


def check(directory, backend, mode, end):
    """Attach and detach several times; `end` ends limpet in one of several ways."""
    usable(backend, directory)
    busy = Busy(directory)
    try:
        for number in range(3):
            tracer, mine = start(backend, directory, number, busy, mode)
            end(tracer)
            busy.check_unharmed(end is kill)
            until(lambda m=mine: not m & (programs() or set()), "no program is left")
    finally:
        busy.end()


def kill(tracer):
    tracer.kill()
    tracer.wait()


def interrupt(tracer):
    tracer.send_signal(signal.SIGINT)
    out = tracer.communicate(timeout=PATIENCE)[1]
    tap.check(tracer.returncode == 0, f"limpet ended with {tracer.returncode}: {out}")


def test_ptrace_killed(directory):
    """ptrace: limpet is killed"""
    check(directory, "ptrace", "--records", kill)


def test_ptrace_detaches(directory):
    """ptrace: limpet is interrupted and detaches"""
    check(directory, "ptrace", "--records", interrupt)


def test_bpf_killed(directory):
    """bpf: limpet is killed"""
    check(directory, "bpf", "--records", kill)


def test_bpf_summary_killed(directory):
    """bpf: limpet is killed while it counts"""
    check(directory, "bpf", "--summary", kill)


def test_bpf_detaches(directory):
    """bpf: limpet is interrupted and detaches"""
    check(directory, "bpf", "--records", interrupt)


def test_command_outlives(directory):
    """a command that limpet started continues when limpet is killed"""
    usable("ptrace", directory)
    counts = os.path.join(directory, "outlives")
    with subprocess.Popen([program.LIMPET, "trace", "syscalls", "--backend", "ptrace", "--records",
                           "-q", "-o", os.path.join(directory, "c.lpa"), "--", BUSY, "2",
                           counts]) as tracer:
        until(lambda: os.path.exists(counts) and os.path.getsize(counts) == 32, "the command")
        children = f"/proc/{tracer.pid}/task"
        pids = [int(c) for t in os.listdir(children)
                for c in open(f"{children}/{t}/children", encoding="ascii").read().split()]
        tap.check(len(pids) == 1, f"children: {pids}")
        tracer.kill()
        tracer.wait()

    def rounds():
        with open(counts, "rb") as file:
            return struct.unpack("=4Q", file.read())[2:]
    before = rounds()
    until(lambda: all(now > old for now, old in zip(rounds(), before)), "rounds")
    os.kill(pids[0], signal.SIGKILL)


def test_filtered_command_ends(directory):
    """a command under a filter of calls ends with limpet"""
    usable("ptrace", directory)
    counts = os.path.join(directory, "ends")
    with subprocess.Popen([program.LIMPET, "trace", "syscalls", "--backend", "ptrace", "--summary",
                           "-q", "-o", os.path.join(directory, "f.lpa"), "--", BUSY, "2",
                           counts]) as tracer:
        until(lambda: os.path.exists(counts) and os.path.getsize(counts) == 32, "the command")
        children = f"/proc/{tracer.pid}/task"
        pids = [int(c) for t in os.listdir(children)
                for c in open(f"{children}/{t}/children", encoding="ascii").read().split()]
        tap.check(len(pids) == 1, f"children: {pids}")
        tracer.kill()
        tracer.wait()

    def gone():
        try:
            with open(f"/proc/{pids[0]}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True
    until(gone, "end of the command")


if __name__ == "__main__":
    sys.exit(program.run_tests(program.tests_of("__main__")))
