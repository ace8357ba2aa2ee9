#!/usr/bin/env python3
"""The cost of `limpet stack run`: a worst case, and the I/O of FLASH.

    bench/stack_cost.py [--limpet PROGRAM] [--calls N] [--rounds N] [--flash PROGRAM] [--others]

Worst case: 4 kB writes into a file in memory. The program measures the CPU time of its own loop, so neither starting
nor writing the archive counts. FLASH: the FLASH I/O benchmark of PnetCDF (--flash, see docs/stack-flash.md) and the
same I/O over HDF5 (bench/stack/flash_hdf5.c), two ranks on a disk or memory in $TMPDIR; there the CPU time of mpirun,
ranks and limpet counts, and the time until mpirun ends, which other work on the machine disturbs more.

Runs alternate: the program alone, with the libraries loaded and nothing recorded (a region that never begins), with
every call recorded, with sums only, and (root) with its disks watched in the kernel; with --others also under strace
-f, ltrace and uftrace if they are installed (with fewer calls, because they take long). Prints ratios of CPU times: of
the medians, and of the smallest (of FLASH also of the times until the end). Bytes per call are those of the archive.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
int main(int argc, char **argv)
{
    static char data[4096];
    long n = atol(argv[2]);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    double begin;
    for (long i = 0; i < 1000; i++) /* the file's pages, and ours */
        if (pwrite(fd, data, sizeof(data), i % 256 * 4096) < 0) return 1;
    begin = cpu();
    for (long i = 0; i < n; i++)
        if (pwrite(fd, data, sizeof(data), i % 256 * 4096) < 0) return 1;
    fprintf(stderr, "%f\n", (cpu() - begin) / n * 1e9);
    return argc == 3 ? 0 : 1;
}
"""


def stack_run(options, directory, *more):
    """Run under limpet."""
    return [options.limpet, "stack", "run", "-q", "-o", os.path.join(directory, "data"), *more, "--"]


def others(options, directory):
    """Other tracers that are installed."""
    known = {"strace -f": ["strace", "-f", "-o", os.path.join(directory, "strace")],
             "ltrace": ["ltrace", "-f", "-e", "pwrite+pwrite64", "-o", os.path.join(directory, "ltrace")],
             "uftrace": ["uftrace", "record", "--force", "--no-libcall", "-d", os.path.join(directory, "uftrace")]}
    return {name: command for name, command in known.items() if options.others and shutil.which(command[0])}


def table(title, figures, unit):
    """Medians relative to the first way, and the smallest values, which other processes affect least."""
    alone = next(iter(figures.values()))
    print(f"{title:26} {unit + ', median':>24}   more {'smallest':>14}   more")
    for way, values in figures.items():
        middle, least = statistics.median(values), min(values)
        print(f"{way:26} {middle:8.4g} ({least:.4g} to {max(values):.4g})  {100 * (middle / statistics.median(alone) - 1):+6.1f}% "
              f"{least:12.4g} {100 * (least / min(alone) - 1):+6.1f}%")
    print()


def archive_bytes(options, directory):
    """Bytes per recorded call in the last recording."""
    data = os.path.join(directory, "data")
    size = sum(os.path.getsize(os.path.join(data, f)) for f in os.listdir(data) if f.endswith(".lpa"))
    text = subprocess.run([options.limpet, "stack", "show", "--json", "--slowest", "1", data], check=True, capture_output=True).stdout
    return size / max(1, sum(layer["calls"] for layer in json.loads(text)["layers"]))


def worst_case(options, directory):
    """Small writes into memory."""
    program, target = os.path.join(directory, "program"), os.path.join(directory, "file")
    subprocess.run(["gcc", "-O2", "-x", "c", "-o", program, "-"], input=PROGRAM.encode(), check=True)
    never = os.path.join(directory, "never.yaml")
    with open(never, "w", encoding="utf-8") as f:
        f.write("layers: [posix]\nregions: [never]\n")
    slow = others(options, directory)
    ways = {"alone": [], "no region active": stack_run(options, directory, "-c", never),
            "recorded": stack_run(options, directory, "-c", "posix"),
            "summed up (--summary)": stack_run(options, directory, "-c", "posix", "--summary"), **slow}
    if os.geteuid() == 0:  # the cost of the kernel programs per system call of a watched program
        ways["recorded, and its disks"] = stack_run(options, directory, "-c", "local")
    figures = {way: [] for way in ways}
    per_call = 0
    for _ in range(options.rounds):
        for way, prefix in ways.items():
            calls = options.calls // (50 if way in slow else 1)
            done = subprocess.run([*prefix, program, target, str(calls)], check=True, capture_output=True, text=True)
            figures[way].append(float(done.stderr.split()[-1]))
            if way == "recorded":
                per_call = archive_bytes(options, directory)
            shutil.rmtree(os.path.join(directory, "data"), ignore_errors=True)
    table("4 kB writes on tmpfs", figures, "ns per call")
    print(f"{per_call:.1f} bytes per call in the archive, 128 in memory until it is read\n")


def job(command):
    """CPU time of a command and all its children, and the time until it ends."""
    begin = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begin


def flash(options, directory, title, config, program):
    """A parallel program."""
    # Waiting ranks yield, so that CPU time is work and not waiting.
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "2", *program]
    ways = {"alone": [], "recorded": stack_run(options, directory, "-c", config),
            "summed up (--summary)": stack_run(options, directory, "-c", config, "--summary")}
    cpu, wall = {way: [] for way in ways}, {way: [] for way in ways}
    per_call = 0
    for _ in range(options.rounds):
        for way, prefix in ways.items():
            used, lasted = job([*prefix, *command])
            cpu[way].append(used)
            wall[way].append(lasted)
            if way == "recorded":
                per_call = archive_bytes(options, directory)
            shutil.rmtree(os.path.join(directory, "data"), ignore_errors=True)
    table(title, cpu, "s of CPU")
    table(title, wall, "s")
    print(f"{per_call:.1f} bytes per call in the archive\n")


def main():
    """Both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limpet", default=os.path.join(HERE, "../build/src/cli/limpet"))
    parser.add_argument("--calls", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--flash")
    parser.add_argument("--others", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        worst_case(options, directory)
    with tempfile.TemporaryDirectory() as directory:
        if options.flash:
            flash(options, directory, "FLASH I/O over PnetCDF", "pnetcdf", [options.flash, os.path.join(directory, "p_")])
        if shutil.which("h5pcc"):
            program = os.path.join(directory, "flash_hdf5")
            subprocess.run(["h5pcc", "-O2", "-shlib", "-o", program, os.path.join(HERE, "stack/flash_hdf5.c")], check=True,
                           stdout=subprocess.DEVNULL)
            flash(options, directory, "the I/O of FLASH over HDF5", "hdf5", [program, os.path.join(directory, "h_"), "800"])


if __name__ == "__main__":
    main()
