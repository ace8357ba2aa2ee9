#!/usr/bin/env python3
"""The recorder's memory has a ceiling, however many names come and go (docs/reliability.md)."""
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from recording import LIMPET, Skip, archives, check, check_sound, run_tests, samples

START = 1709294400  # 2024-03-01T12:00:00Z
SAMPLES, NEW = 500, 200
CEILING_MB = 192  # the promise of docs/reliability.md; the limit of the unit is 256 MB
NETDEV = ("Inter-|   Receive                                                |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
          "drop fifo colls carrier compressed\n")
AT_ONCE = 2000  # connections, if that many may be open
TCP_MAX = 256  # of these, the number that get their own row, by default
root = None


def moments(name, path, line, head, n_lines=NEW, n_samples=SAMPLES):
    """A tree of this many moments, each with NEW lines that no other has; its directory."""
    number = 0
    for second in range(n_samples):
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(START + second))
        file = os.path.join(root, name, stamp, path)
        os.makedirs(os.path.dirname(file))
        with open(file, "w", encoding="ascii") as f:
            f.write(head)
            for _ in range(n_lines):
                number += 1
                f.write(line(number))
    return os.path.join(root, name)


def most_memory(process):
    """Wait for its end: the most memory that it took, MB."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == 0, f"exit {process.returncode}")
    return usage.ru_maxrss / 1024


def record(tree, *options):
    """Record a tree: the directory, and the most memory that it took."""
    out = tree + "-out"
    with subprocess.Popen([LIMPET, "record", "--root", tree, "-o", out, "--name", "h", "-q",
                           *options], stdin=subprocess.DEVNULL) as process:
        most = most_memory(process)
    print(f"# {len(archives(out))} archives, at most {most:.0f} MB")
    return out, most


def interfaces():
    """100,000 interfaces, each there for one sample"""
    tree = moments("net", "proc/net/dev",
                   lambda n: f"  veth{n:x}: {n} 10 0 0 0 0 0 0 {n} 10 0 0 0 0 0 0\n", NETDEV)
    out, most = record(tree, "--collect", "netdev")
    check(most < CEILING_MB, f"{most:.0f} MB")
    check(len(samples(*check_sound(out))) == SAMPLES, "samples are missing")


def many():
    """10,000 interfaces that stay: the data that waits for the disk is also limited by its size"""
    number = iter(range(SAMPLES * 10000))
    tree = moments("many", "proc/net/dev",
                   lambda n: f"  veth{next(number) % 10000:x}: {n} 10 0 0 0 0 0 0 {n} 10 0 0 0 0 0 0\n", NETDEV,
                   10000, 60)
    out, most = record(tree, "--collect", "netdev")
    check(most < CEILING_MB, f"{most:.0f} MB")
    check(len(samples(*check_sound(out))) == 60, "samples are missing")


def disks():
    """100,000 disks, each there for one sample"""
    tree = moments("disk", "proc/diskstats",
                   lambda n: f" 253 {n} dm-{n} 1 2 3 4 5 6 7 8 0 9 10\n", "")
    out, most = record(tree, "--collect", "diskstats")
    check(most < CEILING_MB, f"{most:.0f} MB")
    check(len(samples(*check_sound(out))) == SAMPLES, "samples are missing")


def connect(listener, first, n):
    """Connections to the listener from this many addresses, both ends."""
    ends = []
    for i in range(first, first + n):
        client = socket.socket()
        client.bind((f"10.{1 + (i >> 16)}.{i >> 8 & 255}.{i & 255}", 0))
        client.connect(listener.getsockname())
        ends += [client, listener.accept()[0]]
    return ends


def wait_writes(out, n):
    """Wait until the recorder has written this many times."""
    seen = None
    for _ in range(6000):
        now = {p: os.stat(p).st_size for p in archives(out)} if os.path.isdir(out) else None
        n -= now != seen
        if n < 0:
            return
        seen = now
        time.sleep(0.02)
    raise AssertionError("the recorder does not write")


def connections():
    """100,000 connections, each from another address"""
    if os.environ.get("LIMPET_MEMORY_APART") != "1":
        raise Skip("no network namespace (not root?)")
    out = os.path.join(root, "tcp-out")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    at_once = AT_ONCE if hard < 0 else min(AT_ONCE, (hard - 100) // 2)
    with socket.create_server(("10.0.0.1", 0), backlog=1000) as listener, \
            subprocess.Popen([LIMPET, "record", "-o", out, "--name", "h", "-q", "--interval", "100ms",
                              "--flush", "100ms", "--collect", "tcp"],
                             stdin=subprocess.DEVNULL) as process:
        try:
            for first in range(0, SAMPLES * NEW, at_once):
                ends = connect(listener, first, at_once)
                wait_writes(out, 2)  # so that they have been seen
                for end in ends:
                    end.close()
            process.terminate()
            most = most_memory(process)
        except BaseException:
            process.kill()
            raise
    print(f"# {len(archives(out))} archives, at most {most:.0f} MB")
    check(most < CEILING_MB, f"{most:.0f} MB")
    names = subprocess.run([LIMPET, "show", "--json", *check_sound(out)], capture_output=True,
                           check=True, timeout=300).stdout.count(b"/tcp:10.")
    check(names >= TCP_MAX, f"only {names} addresses were seen")


def main():
    global root
    if os.environ.get("LIMPET_MEMORY_APART") != "1" and os.geteuid() == 0 and \
            subprocess.run(["unshare", "-n", "true"], check=False).returncode == 0:
        os.environ["LIMPET_MEMORY_APART"] = "1"
        os.execvp("unshare", ["unshare", "-n", "sh", "-c", 'ip link set lo up && ip route add local 10.0.0.0/8 dev lo && exec "$@"', "sh",
                              sys.executable, os.path.abspath(__file__)])
    root = tempfile.mkdtemp(prefix="limpet-memory-")
    try:
        return run_tests([interfaces, disks, many, connections])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
