#!/usr/bin/env python3
"""After start-up the recorder neither allocates memory nor opens a file: watched from within (a
preloaded library counts allocations) and from outside (strace)."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from recording import BUILD, Recorder, Skip, check, run_tests

# Nobody uses this port, and others make no interfaces with this name: their sockets and interfaces would be hot-plug.
# Every sample is flushed, so that the less frequent parts of the file are written, too.
OPTIONS = ("--interval", "100ms", "--flush", "100ms", "--name", "steady", "--nets", "lo",
           "--ports", "1", "--json")
SETTLED = 10  # flushes until all buffers have their size
MEMORY_SECONDS, STRACE_SECONDS = 45, 12


def devices():
    """The names that a collector would take for hot-plug if they changed."""
    with open("/proc/diskstats", encoding="ascii") as f:
        return {line.split()[2] for line in f}


def counted():
    """One recording: allocations before each flush by (the sampling thread, the writing one)."""
    root = tempfile.mkdtemp(prefix="limpet-steady-")
    witness = root + "/witness"
    env = {"LD_PRELOAD": BUILD + "/tests/e2e/libwitness.so", "WITNESS": witness}
    try:
        with Recorder(root + "/out", *OPTIONS, "--duration", f"{MEMORY_SECONDS}s", env=env) as r:
            seen = devices()
            while r.process.poll() is None:
                time.sleep(0.1)
                if devices() != seen:
                    return None
            check(r.process.returncode == 0, r.log())
        with open(witness, "rb") as f:
            data = f.read()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    _, flushes = struct.unpack_from("<QQ", data)
    check(flushes > MEMORY_SECONDS * 8, f"only {flushes} flushes")
    flushes = min(flushes, MEMORY_SECONDS * 10) - 5  # the last ones are those of sealing
    numbers = struct.unpack_from(f"<{2 * flushes}Q", data, 16)
    return numbers[2 * SETTLED::2], numbers[2 * SETTLED + 1::2]


def allocations():
    """no allocation in the sampling loop, nearly none in the writing thread"""
    for _ in range(3):
        counts = counted()
        if counts:
            break
        print("# a device came or went: once more")
    else:
        raise Skip("devices come and go on this machine")
    grown = [[(SETTLED + i, b - a) for i, (a, b) in enumerate(zip(c, c[1:])) if a != b]
             for c in counts]
    print(f"# {len(counts[0])} flushes; allocations (after flush, how many): {grown}")
    check(not grown[0], f"the sampling thread allocated: {grown[0]}")
    # Every 360th flush writes the whole catalogue again, and makes room for the next 360.
    check(len(grown[1]) <= 1 + len(counts[1]) // 360, f"the writing thread allocated: {grown[1]}")


def system_calls():
    """no file opened, no memory mapped after the first flushes"""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        raise Skip("strace may not trace here")
    root = tempfile.mkdtemp(prefix="limpet-steady-")
    trace = root + "/trace"
    calls = "open,openat,creat,mmap,munmap,mremap,brk,socket,fdatasync,rename"
    try:
        with Recorder(root + "/out", *OPTIONS, "--duration", f"{STRACE_SECONDS}s",
                      prefix=("strace", "-f", "-qq", "-e", "trace=" + calls, "-o", trace)) as r:
            r.process.wait(timeout=STRACE_SECONDS + 60)
            check(r.process.returncode == 0, r.log())
        with open(trace, encoding="utf-8") as f:
            lines = f.readlines()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    flushes = [i for i, line in enumerate(lines) if re.search(r" fdatasync\(", line)]
    check(len(flushes) > STRACE_SECONDS * 8, f"only {len(flushes)} flushes")
    # From flush to flush; sealing begins after the last one (at the end of --duration).
    between = lines[flushes[SETTLED] + 1:flushes[STRACE_SECONDS * 10 - 5]]
    others = [line.strip() for line in between if not re.search(r"fdatasync|resumed", line)]
    print(f"# {len(flushes)} flushes, other calls between them: {len(others)}")
    check(not others, "\n".join(others[:20]))


if __name__ == "__main__":
    sys.exit(run_tests([allocations, system_calls]))
