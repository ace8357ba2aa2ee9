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

from recording import BUILD, Recorder, Skip, check, run_tests, sanitized

# Nobody's port and no interface that others make: their sockets and interfaces are hot-plug. Every
# sample is flushed, so that the file's less frequent parts come along, too.
OPTIONS = ("--interval", "100ms", "--flush", "100ms", "--name", "steady", "--nets", "lo",
           "--ports", "1", "--json")
SETTLED = 10  # flushes until all buffers have their size
MEMORY_SECONDS, STRACE_SECONDS = 45, 12


def allocations():
    """no allocation in the sampling loop and in the writing thread"""
    if sanitized():
        raise Skip("a sanitizer's build has its own allocator")
    root = tempfile.mkdtemp(prefix="limpet-steady-")
    witness = root + "/witness"
    env = {"LD_PRELOAD": BUILD + "/tests/e2e/libwitness.so", "WITNESS": witness}
    try:
        with Recorder(root + "/out", *OPTIONS, "--duration", f"{MEMORY_SECONDS}s", env=env) as r:
            r.process.wait(timeout=MEMORY_SECONDS + 60)
            check(r.process.returncode == 0, r.log())
        with open(witness, "rb") as f:
            data = f.read()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    _, flushes = struct.unpack_from("<QQ", data)
    counts = struct.unpack_from(f"<{flushes}Q", data, 16)
    check(flushes > MEMORY_SECONDS * 8, f"only {flushes} flushes")
    # The last flushes are those of sealing.
    counts = counts[SETTLED:MEMORY_SECONDS * 10 - 5]
    grown = [(SETTLED + i, b - a) for i, (a, b) in enumerate(zip(counts, counts[1:])) if a != b]
    print(f"# {len(counts)} flushes, allocations between them: {grown or 'none'}")
    check(not grown, f"allocated (after flush, how often): {grown}")


def system_calls():
    """no file opened, no memory mapped after the first flushes"""
    if sanitized():
        raise Skip("a sanitizer's build maps memory of its own")
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
    # From flush to flush; behind the last of them (with --duration's end) sealing begins.
    between = lines[flushes[SETTLED] + 1:flushes[STRACE_SECONDS * 10 - 5]]
    others = [line.strip() for line in between if not re.search(r"fdatasync|resumed", line)]
    print(f"# {len(flushes)} flushes, other calls between them: {len(others)}")
    check(not others, "\n".join(others[:20]))


if __name__ == "__main__":
    sys.exit(run_tests([allocations, system_calls]))
