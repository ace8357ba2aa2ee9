#!/usr/bin/env python3
"""What `limpet stack run` costs a program with many small writes: 4 kB each into a file in memory, the worst case.

    bench/stack_cost.py [--limpet PROGRAM] [--calls N] [--rounds N] [--strace]

Runs alternate: the program alone, with the library loaded and nothing recorded (a region that never begins), with every
call recorded; with --strace also under 'strace -f' (with fewer calls: it takes long). The program measures itself, so
neither starting nor writing the archive counts. Medians, with the smallest and the largest.
"""
import argparse
import os
import statistics
import subprocess
import tempfile

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
    fprintf(stderr, "%.1f\n", (cpu() - begin) / n * 1e9);
    return 0;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--limpet", default="build/src/cli/limpet")
    parser.add_argument("--calls", type=int, default=300000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--strace", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        source, program, target = (os.path.join(directory, n) for n in ("p.c", "program", "file"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
        region = os.path.join(directory, "region.yaml")
        with open(region, "w", encoding="utf-8") as f:
            f.write("layers: [posix]\nregions: [never]\n")
        record = [options.limpet, "stack", "run", "-q", "-o", os.path.join(directory, "data")]
        ways = {"alone": [], "loaded, nothing recorded": [*record, "-c", region, "--"], "recorded": [*record, "--"]}
        if options.strace:
            ways["strace -f"] = ["strace", "-f", "-o", "/dev/null"]
        figures = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, prefix in ways.items():
                calls = options.calls // (20 if way.startswith("strace") else 1)
                done = subprocess.run([*prefix, program, target, str(calls)], check=True, capture_output=True, text=True)
                figures[way].append(float(done.stderr.split()[-1]))
                subprocess.run(["rm", "-rf", os.path.join(directory, "data")], check=True)
        alone = statistics.median(figures["alone"])
        print(f"{'':26} ns of CPU per call    more")
        for way, ns in figures.items():
            middle = statistics.median(ns)
            print(f"{way:26} {middle:7.0f} ({min(ns):.0f} to {max(ns):.0f})  {middle - alone:+6.0f} ns  {100 * (middle / alone - 1):+5.0f}%")


if __name__ == "__main__":
    main()
