#!/usr/bin/env python3
"""The time of `mpirun -n N limpet stack show` for many files, with 1 to 4 processes.

    bench/stack_team.py [--limpet PROGRAM] [--files N] [--calls N] [--rounds N]

Records a program with many small writes once per file, then reads all files with each number of processes in turn.
Prints the median wall time, and the CPU time of all processes together; the output is compared with that of one
process.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char data[512] = {0};
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    for (long i = 0; i < atol(argv[2]); i++)
        if (pwrite(fd, data, sizeof(data), i % 1000 * 512) < 0) return 1;
    return argc != 3;
}
"""


def timed(command):
    """Wall and CPU time of a command, and its output."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    out = subprocess.run(command, check=True, capture_output=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main():
    """Record, then read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limpet", default=os.path.join(HERE, "../build/src/cli/limpet"))
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--calls", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        program, data = os.path.join(directory, "program"), os.path.join(directory, "data")
        subprocess.run(["gcc", "-O2", "-x", "c", "-o", program, "-"], input=PROGRAM.encode(), check=True)
        for i in range(options.files):
            subprocess.run([options.limpet, "stack", "run", "-q", "-n", f"h{i}", "-o", data, "--", program,
                            os.path.join(directory, "file"), str(options.calls)], check=True)
        show = [options.limpet, "stack", "show", "--slowest", "3", data]
        ways = {n: show if n == 1 else ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
                                        "-n", str(n), *show] for n in range(1, 5)}
        figures = {n: [] for n in ways}
        for _ in range(options.rounds):
            for n, command in ways.items():
                figures[n].append(timed(command))
        for n, all_of_n in figures.items():
            same = all(out == figures[1][0][2] for _, _, out in all_of_n)
            print(f"{n} processes: {statistics.median(w for w, _, _ in all_of_n):5.2f} s, CPU "
                  f"{statistics.median(c for _, c, _ in all_of_n):5.2f} s, {'the same output' if same else 'ANOTHER OUTPUT'}")


if __name__ == "__main__":
    main()
