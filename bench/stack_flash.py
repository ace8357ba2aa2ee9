#!/usr/bin/env python3
"""Runs parallel programs on a lab of GlusterFS, and follows each of their calls to the disks of three servers.

    bench/stack_flash.py [--limpet PROGRAM] [--flash PROGRAM] [--slow SERVER] [--out DIR] [--only NAME...]

Builds a lab with three servers and one client, and runs on the client with 4 ranks: the FLASH I/O benchmark of PnetCDF
(if --flash names it: see docs/stack-flash.md), the same I/O over HDF5 (bench/stack/flash_hdf5.c), and the patterns of
IOR (bench/stack/patterns.c). All nodes are recorded; each recording is kept in OUT/NAME, with a page OUT/NAME.html.
With --slow the disk of a server is slow. Needs root.
"""
import argparse
import os
import subprocess
import sys

from stack_lab import HERE, StackLab, run

SERVERS = ("s1", "s2", "s3")
LAB = f"flash{os.getpid() % 10000}"


def record(options, name, config, command):
    """One program, with all nodes recorded."""
    directory = os.path.join(options.out, name)
    StackLab(options.limpet, LAB, SERVERS).record(directory, config, 4, command)
    run(options.limpet, "stack", "show", "--slowest", "5", "--drive", "ultrastar-36z15", directory)
    run(options.limpet, "stack", "show", "--html", directory + ".html", "--drive", "ultrastar-36z15", directory)


def programs(options, mount):
    """Name, layers, command."""
    below = "posix,fuse,client,network"
    if options.flash:
        yield "pnetcdf", "pnetcdf,mpi-io," + below, [options.flash, f"{mount}/p_"]
    run("h5pcc", "-O2", "-shlib", "-o", options.out + "/flash_hdf5", HERE + "/stack/flash_hdf5.c", stdout=subprocess.DEVNULL)
    run("mpicc", "-O2", "-o", options.out + "/patterns", HERE + "/stack/patterns.c")
    yield "hdf5", "hdf5,mpi-io," + below, [options.out + "/flash_hdf5", f"{mount}/h_"]
    for pattern in "segmented", "strided", "files", "collective":
        yield pattern, "mpi-io," + below, [options.out + "/patterns", pattern, f"{mount}/{pattern}", "8", "262144"]


def main():
    """Build the lab, run everything, remove it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limpet", default=os.path.join(HERE, "../build/src/cli/limpet"))
    parser.add_argument("--flash")
    parser.add_argument("--slow")
    parser.add_argument("--out", default="flash-out")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    sys.stdout.reconfigure(line_buffering=True)
    run(options.limpet, "lab", "up", "--name", LAB, "--servers", len(SERVERS), "--clients", 1, "--disk", "256M", "--hog-disk", "16M")
    try:
        if options.slow:
            run(options.limpet, "lab", "inject", "--name", LAB, f"slow-disk@{options.slow}")
        for name, layers, command in programs(options, f"/run/limpet/lab/{LAB}/c1/mnt"):
            if not options.only or name in options.only:
                print(f"\n== {name}")
                record(options, name, layers, command)
    finally:
        run(options.limpet, "lab", "down", "--name", LAB)


if __name__ == "__main__":
    main()
