#!/usr/bin/env python3
"""Tracing while processes and connections come and go by the hundred thousand: its memory, and its entries in the
kernel, stay below the limits of docs/reliability.md."""
import ctypes
import glob
import json
import os
import platform
import signal
import subprocess
import time

from program import LIMPET, run_tests, tests_of, trace_backends
from tap import Skip, check

CHURN = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/trace_churn")
N = 100000
# As in docs/reliability.md. Measurements showed less than half of it.
CEILING_KIB = 256 << 10
PATIENCE = 120
BPF_CALL = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
PIDFD_OPEN, PIDFD_GETFD = 434, 438
MAP_GET_NEXT_KEY, OBJ_GET_INFO_BY_FD = 4, 15
LIBC = ctypes.CDLL(None, use_errno=True)


class Attr(ctypes.Structure):
    """Arguments of bpf(2) for keys of maps."""
    _fields_ = [("fd", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("key", ctypes.c_uint64),
                ("next", ctypes.c_uint64), ("flags", ctypes.c_uint64)]


class InfoAttr(ctypes.Structure):
    """Arguments of bpf(2) for information about a descriptor."""
    _fields_ = [("fd", ctypes.c_uint32), ("size", ctypes.c_uint32), ("info", ctypes.c_uint64)]


def bpf(what, attr):
    return LIBC.syscall(BPF_CALL, what, ctypes.byref(attr), ctypes.sizeof(attr))


def map_name(fd):
    """The name of the map with this descriptor."""
    info = ctypes.create_string_buffer(80)
    attr = InfoAttr(fd=fd, size=ctypes.sizeof(info), info=ctypes.addressof(info))
    check(bpf(OBJ_GET_INFO_BY_FD, attr) == 0, "bpf() does not say what a map is")
    return info.raw[24:40].split(b"\0")[0].decode()


def maps_of(pid):
    """{name: descriptor of ours} of the hash maps that a process has."""
    found = {}
    pidfd = LIBC.syscall(PIDFD_OPEN, pid, 0)
    check(pidfd >= 0, "pidfd_open")
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with open(path, encoding="ascii") as f:
            if "map_type:\t1\n" not in f.read():
                continue
        fd = LIBC.syscall(PIDFD_GETFD, pidfd, int(path.split("/")[-1]), 0)
        check(fd >= 0, "pidfd_getfd")
        found[map_name(fd)] = fd
    os.close(pidfd)
    return found


def entries(fd):
    """How many there are in a map."""
    keys = [ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)]
    attr = Attr(fd=fd, key=0, next=ctypes.addressof(keys[0]))
    n = 0
    while bpf(MAP_GET_NEXT_KEY, attr) == 0:
        n += 1
        attr.key, attr.next = attr.next, ctypes.addressof(keys[n % 2])
    return n


def peak_kib(pid):
    """The most memory that a process has had so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1])


class Churn:
    """The program that does it, traced, when it is done and still there."""

    def __init__(self, directory, what, n, *options, backend="bpf"):
        # A separate loopback interface, to keep a hundred thousand connections away from this machine.
        self.process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", LIMPET, "trace",
             "syscalls", "--backend", backend, "--json", "-n", "obs", *options, "-o",
             f"{directory}/{what}-{backend}{''.join(options)}.lpa", "--", CHURN, what, str(n)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline().strip()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """Its summary, as JSON. (The traced program ends with its standard input.)"""
        out, err = self.process.communicate(timeout=PATIENCE)
        check(self.process.returncode == 0, f"exit {self.process.returncode}: {err}")
        return json.loads(out.splitlines()[-1])


def needs_bpf():
    if os.geteuid() != 0 or "bpf" not in trace_backends():
        raise Skip("the backend bpf does not work here")


def until_few(churn, names, most):
    """Wait until each of the maps has no more than `most` entries."""
    fds = maps_of(churn.pid)
    deadline = time.monotonic() + PATIENCE
    while True:
        counts = {name: entries(fds[name]) for name in names}
        if all(n <= most for n in counts.values()):
            break
        check(time.monotonic() < deadline, f"entries are left in the kernel: {counts}")
        time.sleep(0.2)
    for fd in fds.values():
        os.close(fd)


def test_processes(directory):
    """a hundred thousand processes, in summaries and records"""
    needs_bpf()
    for mode, n in (("--summary", N), ("--records", N // 5)):
        with Churn(directory, "processes", n, mode) as churn:
            check(churn.line == "done", churn.line)
            until_few(churn, ["processes", "slots", "errors", "kept", "asyncs"], 100)
            check(peak_kib(churn.pid) < CEILING_KIB, f"{mode}: {peak_kib(churn.pid)} KiB")
            seen = churn.end()
            check(seen["traced"] + seen["lost"] > n, f"{mode}: {seen}")


def test_ptrace(directory):
    """processes that come and go, with ptrace, which takes longer"""
    if "ptrace" not in trace_backends() or os.geteuid() != 0:
        raise Skip("ptrace does not work here, or no namespace can be made")
    with Churn(directory, "processes", N // 10, "--summary", backend="ptrace") as churn:
        check(churn.line == "done", churn.line)
        check(peak_kib(churn.pid) < CEILING_KIB, f"{peak_kib(churn.pid)} KiB")
        check(churn.end()["traced"] > N // 10, "processes were missed")


def test_connections(directory):
    """a hundred thousand connections of processes that end without closing them"""
    needs_bpf()
    for mode, n in (("--summary", N), ("--records", N // 5)):
        with Churn(directory, "connections", n, mode) as churn:
            check(churn.line == "done", churn.line)
            until_few(churn, ["conns", "processes"], 100)
            check(peak_kib(churn.pid) < CEILING_KIB, f"{mode}: {peak_kib(churn.pid)} KiB")
            churn.end()


def test_aio(directory):
    """I/O that is never reaped"""
    needs_bpf()
    with Churn(directory, "aio", 500) as churn:
        if churn.line == "no AIO":
            raise Skip("this kernel has no AIO")
        check(churn.line == "done", churn.line)
        until_few(churn, ["asyncs"], 0)
        churn.end()


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    run_tests(tests_of(__name__))
