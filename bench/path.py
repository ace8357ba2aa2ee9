#!/usr/bin/env python3
"""path.py [BUILD]: the number of files of src that process a sample on its way from an archive to a suspect.

Simulates 12 disks, one of which is slow (archive_bench), twice: the second recording is the longer one.
`limpet diagnose --metric await` runs on both under callgrind, which counts instructions by the file that they
were compiled from, also where functions were inlined. A file is on the path if it executes at least one more
instruction for ten more samples. With less than one per sample it handles larger units: a frame, a window, an
epoch, a verdict. Headers, the helpers in src/base, the command line and the report are not counted.

Counts of instructions do not depend on how busy the machine is. Needs valgrind and a build with debug
information (the default).
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DISKS, SHORT, LONG = 12, 900, 1800
LEAST = 0.1  # instructions per sample
ROOMS = ("archive", "import", "model", "engine", "detect", "explain")


def instructions(profile):
    """{file of src: instructions executed in its lines}"""
    counts, name, is_call = collections.Counter(), None, False
    for line in profile.read_text(encoding="utf-8").splitlines():
        if line.startswith(("fl=", "fi=", "fe=")):
            found = re.search(r"(?:^|/)src/(.*)", line[3:])
            name = found.group(1) if found else None
        elif line.startswith("calls="):
            is_call = True  # the cost of the callee follows
        elif line[:1].isdigit():
            if name and not is_call:
                counts[name] += int(line.split()[-1])
            is_call = False
    return counts


def run(build, samples, folder):
    """Diagnose a recording of this many samples: {file: instructions}"""
    data, out = folder / f"{samples}.lpa", folder / f"{samples}.callgrind"
    subprocess.run([build / "bench/archive_bench", "make", data, str(DISKS), str(samples), "100", "8"],
                   check=True, stdout=subprocess.DEVNULL)
    got = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--compress-strings=no",
         "--compress-pos=no", f"--callgrind-out-file={out}", build / "src/cli/limpet", "diagnose",
         "--metric", "await", data],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)
    if "bench: disk d0 is slow" not in got.stdout:
        sys.exit(f"path.py: the slow disk was not found\n{got.stdout}{got.stderr}")
    return instructions(out)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    with tempfile.TemporaryDirectory() as folder:
        few = run(build, SHORT, pathlib.Path(folder))
        many = run(build, LONG, pathlib.Path(folder))
    rates = {f: (many[f] - few[f]) / (DISKS * (LONG - SHORT)) for f in many}
    path = {f: rate for f, rate in rates.items()
            if rate >= LEAST and f.endswith(".c") and f.split("/")[0] in ROOMS}
    for room in ROOMS:
        here = sorted((f for f in path if f.split("/")[0] == room), key=lambda f: -path[f])
        print(f"{room}: {len(here)}")
        for f in here:
            print(f"  {path[f]:8.1f} instructions per sample  {f}")
    each = sum(rate >= 1 for rate in path.values())
    print(f"{len(path)} files, {each} of them with an instruction or more per sample")


if __name__ == "__main__":
    main()
