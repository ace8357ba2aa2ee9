#!/usr/bin/env python3
"""Which server made a parallel program slow, and what of it: the papers' faults, judged by recordings of `limpet stack` alone.

    bench/stack_faults.py [--limpet PROGRAM] [--fs NAME] [--seconds N] [--on SERVER] [--out DIR] [FAULT...]

Builds a lab with three servers and one client. For each fault (default: none, and the papers' six) a program of three ranks
writes and reads a file by collective calls of MPI-IO while the server has the fault; the recordings are kept in OUT/FAULT.
Prints what `limpet diagnose` says of them. Needs root, and for --fs orangefs (the default) OrangeFS.
"""
import argparse
import json
import os
import subprocess
import sys

from stack_lab import HERE, StackLab, run

SERVERS = ("s1", "s2", "s3")
LAB = f"faults{os.getpid() % 10000}"
LABS = os.environ.get("LIMPET_LAB_DIR", "/run/limpet/lab")
FAULTS = ["none", "disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss", "send-pktloss"]
LAYERS = "mpi-io,posix,fuse,client,network"


def judge(options, directory):
    """What is said of a recording, one line per suspect."""
    done = subprocess.run([options.limpet, "diagnose", "-q", "--json", directory], stdout=subprocess.PIPE, text=True, check=False)
    verdict = json.loads(done.stdout)
    for s in verdict["suspects"]:
        print(f"  {s['component']}: {s['cause']}, confidence {s['confidence']:.2f}")
        for line in s["evidence"]:
            print(f"    {line}")
    print(f"  {verdict['status']}: {len(verdict['incidents'])} incidents")


def main():
    """Build the lab, run the program with every fault, remove it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limpet", default=os.path.join(HERE, "../build/src/cli/limpet"))
    parser.add_argument("--fs", default="orangefs")
    parser.add_argument("--seconds", type=int, default=75)
    parser.add_argument("--on", default="s2")
    parser.add_argument("--out", default="faults-out")
    parser.add_argument("faults", nargs="*", default=FAULTS, metavar="FAULT")
    options = parser.parse_args()
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    sys.stdout.reconfigure(line_buffering=True)
    program = options.out + "/patterns"
    run("mpicc", "-O2", "-o", program, HERE + "/stack/patterns.c")
    run(options.limpet, "lab", "up", "--name", LAB, "--fs", options.fs, "--servers", len(SERVERS), "--clients", 1, "--disk", "256M",
        "--hog-disk", "64M")
    try:
        for fault in options.faults:
            print(f"== {fault}")
            if fault != "none":
                run(options.limpet, "lab", "inject", "--name", LAB, f"{fault}@{options.on}", stdout=subprocess.DEVNULL)
            directory = os.path.join(options.out, fault)
            StackLab(options.limpet, LAB, SERVERS).record(directory, LAYERS, 3, [
                program, "collective", f"{LABS}/{LAB}/c1/mnt/{fault}", 8, 262144, options.seconds])
            run(options.limpet, "lab", "heal", "--name", LAB, stdout=subprocess.DEVNULL)
            judge(options, directory)
    finally:
        run(options.limpet, "lab", "down", "--name", LAB)


if __name__ == "__main__":
    main()
