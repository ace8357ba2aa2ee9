#!/usr/bin/env python3
"""The backend in the kernel: I/O that bypasses calls, which processes it follows, what it loses, and that it leaves
nothing behind."""
import ctypes
import csv
import glob
import io
import json
import os
import platform
import signal
import subprocess
import sys
import time

from program import LIMPET, good, limpet, run_tests, tests_of
from tap import Skip, check

ASYNC = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/trace_async")
N = 20
BPF_CALL = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
BPF_PROG_GET_FD_BY_ID = 13
TALK = "import os, sys\nfor line in sys.stdin:\n  [os.getppid() for _ in range(int(line))]\n  print('done', flush=True)\n"


class Attr(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("rest", ctypes.c_uint8 * 116)]


def program_is_loaded(number):
    """Does the kernel have the BPF program with this id?"""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = Attr(id=number)
    fd = libc.syscall(BPF_CALL, BPF_PROG_GET_FD_BY_ID, ctypes.byref(attr), ctypes.sizeof(attr))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def programs_of(pid):
    """The ids of the programs that a process has loaded."""
    found = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii", errors="replace") as info:
                found |= {int(line.split()[1]) for line in info if line.startswith("prog_id:")}
        except FileNotFoundError:
            pass
    return found


class Talker:
    """A process that makes the requested number of calls."""

    def __init__(self, program=sys.executable):
        self.process = subprocess.Popen([program, "-c", TALK],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def call(self, n):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        check(self.process.stdout.readline() == "done\n", "the traced process was harmed")

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        check(self.process.wait(timeout=20) == 0, "the traced process was harmed")


def waits_for_events(pid):
    """Is it attached, and waiting for events? Loading takes seconds on a busy machine."""
    for path in glob.glob(f"/proc/{pid}/task/*/wchan"):
        try:
            with open(path, encoding="ascii") as where:
                if "poll" in where.read():
                    return True
        except (FileNotFoundError, ProcessLookupError):
            pass
    return False


def start(path, *args):
    """limpet trace syscalls, when it is attached."""
    process = subprocess.Popen([LIMPET, "trace", "syscalls", "--backend", "bpf", "--json", "-n",
                                "obs", "-o", path, *map(str, args)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not waits_for_events(process.pid) and time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError("it ended: " + process.stderr.read())
        time.sleep(0.05)
    return process


def grows(path, times):
    """Wait until this many samples were written."""
    sizes, deadline = {os.path.getsize(path)}, time.monotonic() + 60
    while len(sizes) <= times:
        check(time.monotonic() < deadline, f"{path} does not grow")
        time.sleep(0.05)
        sizes.add(os.path.getsize(path))


def stop(process):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    check(process.returncode == 0, f"exit {process.returncode}: {err}")
    check("Sanitizer" not in err, err)
    return json.loads(out.splitlines()[-1])


def raw(path):
    """{(component, column): last value}"""
    text = good("show", "--raw", "--values", "--csv", path)
    return {(row["component"], row["metric"]): float(row["value"])
            for row in csv.DictReader(io.StringIO(text)) if row["value"]}


def calls_of(path, comm):
    return raw(path).get((f"obs/sys:{comm}", "calls"), 0)


def why_not():
    """Why the backend does not work here; None if it does."""
    ran = limpet("trace", "syscalls", "--backend", "bpf", "-q", "-o", "/dev/null/x.lpa", "--",
                 "/bin/true")
    if "/dev/null/x.lpa" in ran.err:  # it got as far as the impossible file
        return None
    check(ran.code == 2 and "bpf" in ran.err, str(ran))
    return ran.err.strip()


def test_async(directory):
    """reads and writes by AIO and io_uring are counted like others"""
    for mode in ("--summary", "--records"):
        path = os.path.join(directory, f"async{mode}.lpa")
        data = os.path.join(directory, "data")
        ran = limpet("trace", "syscalls", "--backend", "bpf", mode, "-n", "obs", "-o", path, "--",
                     ASYNC, data, N)
        check(ran.code == 0, str(ran))
        ways = [way for way in ("aio", "uring") if way in ran.out.split()]
        if not ways:
            raise Skip("this kernel has neither AIO nor io_uring")
        got = raw(path)
        writes = got[("obs/sys:trace_async", "dwrite_n")]
        check(writes == len(ways) * N, f"{mode} {ways}: {writes} writes")
        size = got[("obs/sys:trace_async", "dwrite_bytes")]
        check(size == len(ways) * N * 512, f"{mode} {ways}: {size} bytes")
        # The dynamic linker reads, too.
        check(got[("obs/sys:trace_async", "dread_n")] >= len(ways) * N, f"{mode}: {got}")
        check(got[("obs/sys:trace_async", "lost")] == 0, f"{mode}: {got}")


def test_by_name(directory):
    """processes are traced by name: those that run, and those that are started later"""
    path = os.path.join(directory, "name.lpa")
    name = f"lpt{os.getpid()}"  # a name that no other process has
    link = os.path.join(directory, name)
    os.symlink(os.path.realpath(sys.executable), link)
    stranger, before = Talker(), Talker(link)
    trace = start(path, "--comm", name, "--summary")
    later = Talker(link)
    for talker in (stranger, stranger, before, later):
        talker.call(2500)
    time.sleep(2.2)
    stop(trace)
    for talker in (stranger, before, later):
        talker.end()
    calls = calls_of(path, name)
    check(5000 <= calls < 7500, f"{calls} calls")


def test_cgroup(directory):
    """processes are traced by control group, also those that enter it later"""
    root = "/sys/fs/cgroup"
    if os.path.isdir(root + "/cpu"):
        root += "/cpu"
    group = os.path.join(root, f"limpet-test-{os.getpid()}")
    try:
        os.mkdir(group)
    except OSError as why:
        raise Skip(f"no control group can be made: {why}") from why
    inside, later, outside = Talker(), Talker(), Talker()

    def enter(pid):
        with open(group + "/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write(str(pid))
    try:
        enter(inside.pid)
        path = os.path.join(directory, "cgroup.lpa")
        trace = start(path, "--cgroup", group, "--summary", "--flush", "1s")
        enter(later.pid)
        grows(path, 3)  # version 1: its processes are looked up before each sample
        for talker in (inside, later, outside):
            talker.call(1000)
        time.sleep(1.2)
        stop(trace)
        comm = os.path.basename(sys.executable)[:15]
        calls = calls_of(path, comm)
        check(2000 <= calls < 3000, f"{calls} calls of {comm}")
    finally:
        for talker in (inside, later, outside):
            talker.end()
        os.rmdir(group)


def test_lost(directory):
    """events for which there is no room are counted, and no others are missing"""
    path = os.path.join(directory, "lost.lpa")
    talker = Talker()
    trace = start(path, "-p", talker.pid, "--records", "--ring", "64K")
    trace.send_signal(signal.SIGSTOP)
    talker.call(20000)
    trace.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    talker.call(10)
    time.sleep(0.5)
    told = stop(trace)
    talker.end()
    check(told["lost"] > 10000, str(told))
    check(told["lost"] + told["calls"] >= 20010, str(told))
    check("lost" in good("show", "--calls", path), "the log does not say where they are missing")


def test_killed(directory):
    """limpet killed with -9 leaves no program in the kernel, and the process continues"""
    for mode in ("--summary", "--records"):
        talker = Talker()
        trace = start(os.path.join(directory, f"killed{mode}.lpa"), "-p", talker.pid, mode)
        programs = programs_of(trace.pid)
        check(len(programs) >= 5, f"found only {programs}")
        check(all(map(program_is_loaded, programs)), "they are not loaded")
        trace.kill()
        trace.communicate(timeout=20)
        deadline = time.monotonic() + 10  # the kernel frees them after a grace period
        while any(map(program_is_loaded, programs)) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = [p for p in programs if program_is_loaded(p)]
        check(not left, f"{mode}: still loaded: {left}")
        talker.call(1000)
        talker.end()


if __name__ == "__main__":
    if os.geteuid() != 0 or not BPF_CALL:
        print("1..0 # SKIP needs root and a processor that the backend is for")
        sys.exit(77)
    REASON = why_not()
    if REASON:
        print("1..0 # SKIP " + REASON)
        sys.exit(77)
    run_tests(tests_of(__name__))
