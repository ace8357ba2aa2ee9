#!/usr/bin/env python3
"""limpet trace syscalls: calls that are easy to misunderstand, which calls belong to a command, and the permissions
that tracing needs."""
import csv
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

from program import LIMPET, good, limpet, run_tests, tests_of, trace_backends
from tap import Skip, check

PYTHON = os.path.realpath(sys.executable)
COMM = os.path.basename(PYTHON)[:15]
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

INTERRUPTED = """
import signal, time
signal.signal(signal.SIGALRM, lambda *_: None)
for _ in range(3):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(0.2)
"""

# Redundant slashes count, too, so a path can be made as long as necessary.
LONG_PATHS = """
import os, sys
os.chdir(sys.argv[1])
os.stat("/" * 4092 + "etc")
os.stat("/" * 4091 + "etc")
for path in ("/" * 4093 + "etc", "/" * 5000 + "etc"):
    try:
        os.stat(path)
    except OSError:
        pass
open("a", "w").close()
os.rename("." + "/" * 2045 + "a", "." + "/" * 2045 + "b")
os.execv("/" * (4095 - len(sys.argv[2][1:])) + sys.argv[2][1:], ["true"])
"""

NO_FILES = """
import ctypes, os, select, signal
libc = ctypes.CDLL(None)
count = libc.eventfd(1, 0)
timer = libc.timerfd_create(1, 0o4000)
signals = libc.signalfd(-1, ctypes.create_string_buffer(128), 0o4000)
fds = [count, timer, signals, libc.inotify_init1(0o4000), select.epoll().fileno()]
if hasattr(os, "pidfd_open"):
    fds.append(os.pidfd_open(os.getpid()))
os.set_blocking(count, False)
for fd in fds:
    for move in (lambda: os.read(fd, 128), lambda: os.write(fd, bytes([1] + [0] * 7))):
        try:
            move()
        except OSError:
            pass
"""


MODES = [(name, mode) for name in trace_backends() for mode in ("--records", "--summary")]


def raw(path):
    """{(component, column): last value}"""
    text = good("show", "--raw", "--values", "--csv", path)
    return {(row["component"], row["metric"]): float(row["value"])
            for row in csv.DictReader(io.StringIO(text)) if row["value"]}


def calls(path):
    return [json.loads(line) for line in good("show", "--calls", "--json", path).splitlines()]


def trace(directory, backend, mode, *command):
    """The archive of a command, and the messages about it."""
    path = os.path.join(directory, f"{backend}{mode}{len(os.listdir(directory))}.lpa")
    ran = limpet("trace", "syscalls", "--json", "--backend", backend, mode, "-n", "obs", "-o", path,
                 "--exit-status", "--", *command)
    check(ran.code == 0, f"{backend} {mode}: {ran}")
    return path, json.loads(ran.out.splitlines()[-1])


def test_signal_handlers(directory):
    """the end of a signal handler has no result and never fails"""
    for backend, mode in MODES:
        path, _ = trace(directory, backend, mode, PYTHON, "-c", INTERRUPTED)
        where = f"{backend} {mode}: "
        wrong = [name for name, _ in raw(path) if "sigreturn" in name]
        check(not wrong, where + str(wrong))
        if mode == "--records":
            returns = [c for c in calls(path) if c.get("call") == "rt_sigreturn"]
            check(len(returns) == 3, where + str(returns))
            check(all("errno" not in c and "result" not in c for c in returns), where + str(returns))
            check("rt_sigreturn() = ? <" in good("show", "--calls", path), where)


def test_long_paths(directory):
    """paths are marked as cut only if they were cut"""
    program = shutil.which("true")
    for backend in {b for b, m in MODES if m == "--records"}:
        path, _ = trace(directory, backend, "--records", PYTHON, "-c", LONG_PATHS, directory,
                        program)
        told = [c for c in calls(path) if len(c.get("path", "")) > 2000]
        seen = [(c["call"], len(c["path"]), c.get("errno"), "cut" in c["flags"])
                for c in told if c["what"] == "call"]
        stat = seen[0][0]
        check(seen[:2] == [(stat, 4095, None, False), (stat, 4094, None, False)],
              f"{backend}: {seen}")
        # Too long for the kernel, and for the log: it is marked as cut.
        check([s[2:] for s in seen[2:4]] == [("ENAMETOOLONG", True)] * 2 and
              all(s[1] in (4095, 4096) for s in seen[2:4]), f"{backend}: {seen}")
        check(seen[4][1:] == (2047, None, False), f"{backend}: {seen}")
        check(len(told[4]["to"]) == 2047, f"{backend}: {told[4]}")
        check(seen[5] == ("execve", 4095, None, False), f"{backend}: {seen}")
        check([len(c["path"]) for c in told if c["what"] == "exec"] == [4095], f"{backend}")


def test_no_files(directory):
    """eventfds, timers and descriptors of processes are not storage"""
    for backend in {b for b, m in MODES if m == "--records"}:
        path, _ = trace(directory, backend, "--records", PYTHON, "-c", NO_FILES)
        about = [c for c in calls(path) if c.get("name", "").startswith(("anon_inode:", "pidfd:"))]
        check(len(about) >= 10, f"{backend}: {about}")
        wrong = [c for c in about if c["file"] != "other"]
        check(not wrong, f"{backend}: {wrong}")


def test_first_call(directory):
    """a command's first call is the execve that starts it, even if the program had to be searched in $PATH"""
    counts = {}
    for backend, mode in MODES:
        path, told = trace(directory, backend, mode, "true")
        counts[backend, mode] = told["calls"]
        check([p["name"] for p in told["processes"]] == ["true"], f"{backend} {mode}: {told}")
        check(raw(path).get(("obs/errno:true:execve:ENOENT", "n"), 0) == 0,
              f"{backend} {mode}: attempts are told")
        if mode == "--records":
            first = calls(path)[:2]
            check({c["what"] for c in first} == {"exec", "call"}, f"{backend}: {first}")
            check([c["call"] for c in first if c["what"] == "call"] == ["execve"],
                  f"{backend}: {first}")
    counts.pop(("ptrace", "--summary"), None)  # does not stop at calls without information
    check(len(set(counts.values())) <= 1, f"they count differently: {counts}")


def test_listening(directory):
    """summaries show which processes listen, even if no client connects"""
    for backend in {b for b, m in MODES if m == "--summary"}:
        with socket.create_server(("127.0.0.1", 0)) as server:
            child = subprocess.Popen([PYTHON, "-c", "import sys; sys.stdin.read()"],
                                     stdin=subprocess.PIPE, pass_fds=[server.fileno()])
            port = server.getsockname()[1]
        path = os.path.join(directory, backend + ".lpa")
        ran = limpet("trace", "syscalls", "-q", "--backend", backend, "--summary", "-n", "obs",
                     "-o", path, "-p", child.pid, "-d", "1s")
        child.stdin.close()
        check(child.wait(timeout=20) == 0 and ran.code == 0, str(ran))
        told = [line for line in good("show", "--descriptors", path).splitlines()
                if line.endswith(f" tcp tcp 127.0.0.1:{port}")]
        check(len(told) == 1 and " seen " in told[0], f"{backend}: {told}")


def as_nobody(*args):
    """Run limpet as a user without privileges."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv, to be somebody else")
    with tempfile.TemporaryDirectory(prefix="limpet-e2e-") as place:
        os.chmod(place, 0o755)
        program = shutil.copy(LIMPET, place)
        out = os.path.join(place, "out")
        os.mkdir(out)
        os.chown(out, 65534, 65534)
        return subprocess.run([*NOBODY, program, "trace", "syscalls", "-o", out, *map(str, args)],
                              capture_output=True, text=True, timeout=60, check=False, cwd="/")


def test_own_process(_):
    """a user who may not use bpf traces their own processes with ptrace, and gets one message about it"""
    ran = as_nobody("--", "/bin/true")
    check(ran.returncode == 0, ran.stderr)
    lines = ran.stderr.splitlines()
    check("with ptrace" in lines[0] or "with ptrace" in lines[1], ran.stderr)
    check(sum("bpf" in line for line in lines) <= 1, ran.stderr)
    ran = as_nobody("--backend", "bpf", "--", "/bin/true")
    check(ran.returncode == 2 and len(ran.stderr.splitlines()) == 1 and "bpf" in ran.stderr,
          ran.stderr)


def test_process_of_another(_):
    """another user's process is refused in one sentence"""
    with open("/proc/self/comm", encoding="ascii") as file:
        name = file.read().strip()
    for target in (("-p", os.getpid()), ("--comm", name)):
        ran = as_nobody(*target, "-d", "1s")
        check(ran.returncode == 2, ran.stderr)
        said = [line for line in ran.stderr.splitlines() if "cannot be traced" in line]
        check(len(said) == 1 and "it belongs to user 0, so limpet needs root" in said[0], ran.stderr)


if not MODES:
    print("1..0 # SKIP no backend works here (neither bpf nor ptrace is permitted)")
    sys.exit(77)
run_tests(tests_of(__name__))
