#!/usr/bin/env python3
"""The worst-case cost of reading: bytes, seconds (of all processors) and MB for inputs that are as expensive as
possible.

usage: BUILD=DIR worst_cases.py [--small] [--check]

Each kind of input is generated in two sizes, the second four times the first, and diagnosed. --small makes them small;
--check fails if memory grows faster than the input, or exceeds a stated multiple of it.
"""
import argparse
import os
import random
import sys
import tempfile

LIMPET = os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
LIMPET = os.environ.get("LIMPET", LIMPET)
START = 1772438400
DAY = 86400
HEAD = "time,component,metric,value\n"
# The memory of limpet without input, with tables of 64 MiB that may be empty, and the limit per input: twice its
# samples on pages (560 bytes each).
BASE_MB = 256
BYTES_PER_BYTE = 64


def steady(n, rng):
    """n seconds of eight disks"""
    for s in range(n):
        for d in range(8):
            yield START + s, f"s{d}/disk:sda", f"{rng.lognormvariate(2, 0.2):.2f}"


def one_ahead(n, rng):
    """the same, and one row a year ahead"""
    yield from steady(n, rng)
    yield START + 365 * DAY, "s0/disk:sda", "5"


def decade(n, rng):
    """half of the samples, ten years later the other half"""
    for s in range(n):
        for d in range(8):
            yield START + s + (3652 * DAY if s > n // 2 else 0), f"s{d}/disk:sda", f"{rng.lognormvariate(2, 0.2):.2f}"


def days(n, rng):
    """eight disks, a quarter of an hour per day, every 15 s"""
    for s in range(n):
        for d in range(8):
            yield START + s // 60 * DAY + s % 60 * 15, f"s{d}/disk:sda", f"{rng.lognormvariate(2, 0.2):.2f}"


def singles(n, rng):
    """8 n components with one sample each, at different seconds"""
    for s in range(8 * n):
        yield START + s, f"s{s}/disk:sda", f"{rng.lognormvariate(2, 0.2):.2f}"


def islands(n, rng):
    """single samples of eight disks, a day apart"""
    for s in range(n):
        for d in range(8):
            yield START + s * DAY, f"s{d}/disk:sda", f"{rng.lognormvariate(2, 0.2):.2f}"


KINDS = (steady, one_ahead, decade, days, singles, islands)


def write(path, kind, n):
    """Write an input; returns its size in bytes."""
    rng = random.Random(1)
    with open(path, "w", encoding="ascii") as f:
        f.write(HEAD)
        f.writelines(f"{at},{component},await,{value}\n" for at, component, value in kind(n, rng))
    return os.path.getsize(path)


def cost(path):
    """Seconds of all processors, and MB, to diagnose it."""
    pid = os.fork()
    if not pid:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            os.execv(LIMPET, [LIMPET, "diagnose", "--quiet", path])
        finally:
            os._exit(99)
    _, status, usage = os.wait4(pid, 0)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in (0, 1, 2, 4):
        sys.exit(f"{path}: ended with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--check", action="store_true")
    opt = parser.parse_args()
    size, bad = 500 if opt.small else 10000, []
    print("| input | bytes | seconds | MB | bytes | seconds | MB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="limpet-worst-") as directory:
        for kind in KINDS:
            line = f"| {kind.__doc__} "
            for n in (size, 4 * size):
                path = os.path.join(directory, f"{kind.__name__}-{n}.csv")
                n_bytes = write(path, kind, n)
                seconds, mb = cost(path)
                line += f"| {n_bytes} | {seconds:.2f} | {mb:.0f} "
                if mb > BASE_MB + n_bytes * BYTES_PER_BYTE / 2**20:
                    bad.append(f"{kind.__name__}: {n_bytes} bytes took {mb:.0f} MB")
            print(line + "|")
    if opt.check and bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
