#!/usr/bin/env python3
"""tidy.py [-j JOBS] [--deep] [FILE...]: clang-tidy on the C files that build/ compiles [all of them].

A clean file is checked again only if the input of clang-tidy has changed: the preprocessed file with
its comments, its flags, the checks, or clang-tidy itself. Clean files are remembered in
build/tidy-cache. Prints the findings; then exits with 1.

Nearly all of the time is spent on following paths through functions. --deep follows them as far as
clang-tidy does by default; see budget().
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CACHE = BUILD / "tidy-cache"
# It prints these for every file.
CHATTER = re.compile(r"^\d* ?warnings? (generated|treated)|^Suppressed |^Use -header-filter")


def units():
    """{path: its entry in compile_commands.json} of what this build compiles; optional parts may be
    missing. A file that is compiled twice counts once."""
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in entries:
        path = pathlib.Path(os.path.normpath(os.path.join(entry["directory"], entry["file"])))
        if path.suffix == ".c" and path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
            found.setdefault(str(path.relative_to(ROOT)), entry)
    return found


def overlay(path):
    """Compiler flags that precede the file's own. err.c defines the functions that clang-tidy.h replaces."""
    if path == "src/base/err.c":
        return []
    return ["-include", f"{ROOT}/scripts/clang-tidy.h", f"-I{ROOT}/include"]


def budget(path, deep):
    """Compiler flags that limit how far the analyser follows the paths through a function: by default 225000 steps. For
    files of the program a third of that takes a quarter of the time; tests get even less, because they run under the
    sanitizers. (The mode "shallow" does not follow calls, so it does not know what clang-tidy.h says.)"""
    if deep:
        return []
    steps = 75000 if path.startswith("src/") else 15000
    return ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={steps}"]


def preprocessed(path, entry):
    """The preprocessed text of a file, with its comments, which may have NOLINT."""
    words = entry["command"].split()
    while words and not words[0].startswith("-"):
        words.pop(0)  # the compiler, under any name
    flags = [w for w in words if re.match(r"-[IDUf]|-std|-isystem|-pthread|-include", w)]
    ran = subprocess.run(["clang", "-E", "-CC", "-w", *overlay(path), *flags, str(ROOT / path)],
                         cwd=entry["directory"], capture_output=True, check=False)
    return ran.stdout if ran.returncode == 0 else None


def stamp(path, entry, basis, deep):
    """The name of the file that marks this one as clean, or None if that is unknown."""
    text = preprocessed(path, entry)
    if text is None:
        return None
    digest = hashlib.sha256(basis)
    for part in (path, entry["command"], *overlay(path), *budget(path, deep)):
        digest.update(part.encode() + b"\0")
    digest.update(text)
    return CACHE / digest.hexdigest()


def tidy(path, deep):
    """The findings of clang-tidy in a file, and whether it is clean. One process per file: with several, clang-tidy 14
    considers every va_list after the first file as uninitialised."""
    argv = ["clang-tidy", "-p", str(BUILD), "--quiet"]
    argv += [f"--extra-arg-before={flag}" for flag in overlay(path)]
    argv += [f"--extra-arg={flag}" for flag in budget(path, deep)]
    ran = subprocess.run([*argv, path], cwd=ROOT, text=True, check=False, errors="replace",
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [line for line in ran.stdout.splitlines() if not CHATTER.match(line)]
    return "\n".join(said), ran.returncode == 0


def check(path, entry, basis, deep):
    """(its stamp, whether it was known, complaints, whether it is clean)"""
    mark = stamp(path, entry, basis, deep)
    if mark and mark.exists():
        return mark, True, "", True
    said, clean = tidy(path, deep)
    if mark and clean:
        mark.touch()
    return mark, False, said, clean


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def main():
    """Check, remember clean files, and forget those that are no longer clean."""
    args = arguments()
    known = units() if (BUILD / "compile_commands.json").exists() else {}
    if not known:
        print("build/compile_commands.json knows none of the sources: run 'make' first")
        return 1
    chosen = {p: e for p, e in known.items() if not args.files or p in args.files}
    CACHE.mkdir(exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    basis = version + (ROOT / ".clang-tidy").read_bytes()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        done = list(pool.map(lambda p: check(p, chosen[p], basis, args.deep), chosen))
    for _, _, said, _ in done:
        if said:
            print(said)
    if not args.files:
        current = {mark for mark, _, _, _ in done}
        for old in set(CACHE.iterdir()) - current:
            old.unlink()
    unknown = sum(not was for _, was, _, _ in done)
    print(f"{len(done)} files, {len(done) - unknown} of them as they were when they were clean")
    return 0 if all(clean for _, _, _, clean in done) else 1


if __name__ == "__main__":
    sys.exit(main())
