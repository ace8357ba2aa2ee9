#!/usr/bin/env python3
"""How sensitive limpet is to a constant: what it finds and what it accuses if the constant changes.

usage: room.py [--fleets N] [--seed N] [--perseus DATA SLOW_DRIVES.csv] FILE:NAME=VALUE...

FILE:NAME=VALUE is a `#define NAME` in a source, `src/detect/crowd.c:SHARE_LEAST=0.1`. Each change is built
separately, from the last commit, in a directory that is removed afterwards, and diagnoses the same random
fleets (fleets.py) and, if given, each day of the Perseus clusters (perseus.py). Prints the rows of a table;
the first one is the unchanged limpet.
"""
import argparse
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import fleets
import perseus

HERE = os.path.dirname(os.path.abspath(__file__))


def unpack(directory):
    """The last commit, ready to be built."""
    tree = subprocess.run(["git", "-C", HERE + "/..", "archive", "HEAD"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tree)) as tar:
        tar.extractall(directory)
    subprocess.run(["meson", "setup", "build", "--buildtype=release"], cwd=directory, check=True, capture_output=True)


def build(directory, name):
    subprocess.run(["ninja", "src/cli/limpet"], cwd=os.path.join(directory, "build"), check=True, capture_output=True)
    program = os.path.join(directory, name)
    shutil.copy(os.path.join(directory, "build/src/cli/limpet"), program)
    return program


def build_changed(directory, change):
    """The program with one constant changed."""
    source, name, value = re.fullmatch(r"([^:]+):(\w+)=(\S+)", change).groups()
    path = os.path.join(directory, source)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    changed, n = re.subn(rf"^(#define {name} )\S+", rf"\g<1>{value}", text, flags=re.M)
    if n != 1:
        raise SystemExit(f"room.py: {source} has no line '#define {name}'")
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(changed)
        return build(directory, f"limpet-{name}-{value}")
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def make_fleets(directory, seed, number):
    """[(files, faulty components)]"""
    made = []
    for n in range(1, number + 1):
        fleet = fleets.Fleet(seed, n)
        path = os.path.join(directory, f"fleet-{n}")
        fleet.write(path)
        made.append((fleets.csv_files(path), {d.component() for d in fleet.disks() if d.fault}))
    return made


def on_fleets(program, made):
    """Found, accused wrongly, found with warnings, warned wrongly."""
    fleets.LIMPET = program
    total = [0, 0, 0, 0]
    for files, faulty in made:
        v = fleets.verdict(files)
        suspects = fleets.named(v, "suspects")
        warned = fleets.named(v, "warnings") - suspects
        for i, n in enumerate([len(suspects & faulty), len(suspects - faulty),
                               len((suspects | warned) & faulty), len(warned - faulty)]):
            total[i] += n
    return total


def on_perseus(program, data, slow_drives):
    """Found and accused wrongly, over single days."""
    perseus.LIMPET = program
    slow, total = perseus.truth(slow_drives), [0, 0, 0]
    for path in sorted(glob.glob(os.path.join(data, "cluster_*"))):
        files = sorted(glob.glob(os.path.join(path, "host_*", "*.csv")))
        for day in sorted({os.path.basename(f) for f in files}):
            found, _ = perseus.suspects([f for f in files if os.path.basename(f) == day], [])
            total = [a + b for a, b in zip(total, perseus.count(found, slow[os.path.basename(path)]))]
    return total[:2]


def print_row(name, program, made, args):
    found, wrong, more, warned = on_fleets(program, made)
    cells = [f"{found} / {wrong}", f"{more} / {warned}"]
    if args.perseus:
        cells.append("{} / {}".format(*on_perseus(program, *args.perseus)))
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fleets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--perseus", nargs=2, metavar=("DATA", "SLOW_DRIVES"))
    parser.add_argument("change", nargs="+", metavar="FILE:NAME=VALUE")
    args = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="limpet-room-")
    try:
        made = make_fleets(os.path.join(directory, "fleets"), args.seed, args.fleets)
        unpack(os.path.join(directory, "tree"))
        columns = ["changed", "fleets", "fleets, with warnings", *(["single days"] if args.perseus else [])]
        print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
        print_row("as shipped", build(os.path.join(directory, "tree"), "limpet-shipped"), made, args)
        for change in args.change:
            print_row(change.rpartition("/")[2], build_changed(os.path.join(directory, "tree"), change), made, args)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
