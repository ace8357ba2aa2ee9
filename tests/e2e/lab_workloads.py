#!/usr/bin/env python3
"""Every workload on a small lab: it starts, reaches the disks as it should, and leaves nothing."""
import os
import sys

from lab import skip_unless_possible, until
import program
import tap

NAME = f"e2ework{os.getpid() % 1000}"
WORKLOADS = ["iozonew", "iozoner", "ddw", "ddnew", "ddr", "postmark", "mixed"]  # each may be the first


def brick_devices():
    """The disks' partitions under the bricks, as the kernel calls them."""
    with open("/proc/self/mountinfo") as f:
        fields = [line.split() for line in f]
    return [os.path.basename(row[row.index("-") + 2]) for row in fields
            if f"/{NAME}/" in row[4] and row[4].endswith("/brick")]


def sectors():
    """[(read, written)] of each brick."""
    devices = brick_devices()
    with open("/proc/diskstats") as f:
        rows = {row[2]: (int(row[5]), int(row[9])) for row in map(str.split, f)}
    return [rows[device] for device in devices]


def workers():
    """Processes with a working directory on the mount of a client."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"/{NAME}/c" in os.readlink(f"/proc/{pid}/cwd"):
                found.append(pid)
        except OSError:
            pass
    return found


def await_workers():
    """A workload that was just started may not be in its directory yet."""
    until("somebody works", workers)


def moves(workload, reads, writes):
    """Let it work for some seconds; returns a complaint if a disk does not do the expected work, or None."""
    before = sectors()
    speed = float(program.good("lab", "work", "--name", NAME, "--for", "4s", workload).split()[0])
    after = sectors()
    moved = [(r1 - r0, w1 - w0) for (r0, w0), (r1, w1) in zip(before, after)]
    if speed > 0 and all((not reads or r > 2000) and (not writes or w > 200) for r, w in moved):
        return None
    return f"{workload}: {speed} MB/s, sectors read and written {moved}"


def runs(workload, reads, writes):
    """It transfers bytes, and every disk does the expected work."""
    # The preparation makes the files; it is not examined here.
    program.good("lab", "work", "--name", NAME, workload)
    await_workers()
    complaint = moves(workload, reads, writes)
    for _ in range(2):  # a busy machine may need more time
        complaint = complaint and moves(workload, reads, writes)
    tap.check(not complaint, complaint)
    tap.check(not workers(), f"{workload}: left {workers()}")


def case(workload):
    reads, writes = workload in ("ddr", "iozoner"), workload in (
        "ddw", "ddnew", "iozonew", "postmark")
    return f"{workload} works, and ends", lambda: runs(workload, reads, writes)


def stops():
    """Stopping twice works, and so does stopping a workload that never ran."""
    program.good("lab", "work", "--name", NAME, "ddw")
    await_workers()
    program.good("lab", "work", "--name", NAME, "--stop")
    tap.check(not workers(), "somebody still works")
    program.good("lab", "work", "--name", NAME, "--stop")
    program.bad(2, "there is no workload 'ddx'", "lab", "work", "--name", NAME, "ddx")


def main():
    skip_unless_possible()
    up = program.limpet("lab", "up", "--name", NAME, "--servers", 2, "--clients", 2)
    if up.code != 0:
        program.limpet("lab", "down", "--name", NAME)
        print(f"Bail out! {up}")
        sys.exit(1)
    try:
        tap.main([case(w) for w in WORKLOADS] + [("workloads can be stopped", stops)])
    finally:
        program.good("lab", "down", "--name", NAME)


if __name__ == "__main__":
    main()
