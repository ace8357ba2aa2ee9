#!/usr/bin/env python3
"""check-house.py: check the house rules that a script can check.

Files have fewer than 800 lines, functions at most 80. There are no notes to oneself in src and include. For every
src/FOLDER/NAME.c, also src/FOLDER/ROOM/NAME.c, there is tests/unit/test_FOLDER_NAME.c, or a line in
tests/unit/elsewhere.txt that names the test that covers it. Prints violations (exit 1) and the spread of function
lengths.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

FILE_LINES, FUNCTION_LINES = 800, 80
NOTE = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX")) + r")\b")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def functions(lines):
    """(name, first line, length) of each function, from its "{" to its "}" in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            head = " ".join(lines[max(0, start - 6):start - 1])
            names = re.findall(r"(\w+)\(", re.split(r"[;}]", head)[-1])
            yield names[0] if names else "?", start, number - start + 1
            start = None


def check_file(path, lines):
    name = path.relative_to(ROOT)
    if len(lines) >= FILE_LINES:
        yield f"{name}: {len(lines)} lines, the house allows fewer than {FILE_LINES}"
    for function, start, length in functions(lines):
        if length > FUNCTION_LINES:
            yield f"{name}:{start}: {function}() has {length} lines, at most {FUNCTION_LINES}"
    if name.parts[0] in ("src", "include"):
        for number, line in enumerate(lines, 1):
            if NOTE.search(line):
                yield f"{name}:{number}: do it or file an issue: {line.strip()}"


def covered_elsewhere():
    """[(glob, reason)] of the files that are tested by other means than a unit test."""
    rows = (ROOT / "tests/unit/elsewhere.txt").read_text(encoding="utf-8").splitlines()
    return [row.split(None, 1) for row in rows if row and not row.startswith("#")]


def check_coverage(sources):
    elsewhere = covered_elsewhere()
    for row in elsewhere:
        if len(row) != 2:
            yield f"tests/unit/elsewhere.txt: {row[0]}: says no reason"
        if not any(fnmatch.fnmatch(s, row[0]) for s in sources):
            yield f"tests/unit/elsewhere.txt: {row[0]}: there is no such file"
    seen = {}
    for source in sources:
        folder, name = source.split("/")[1], pathlib.Path(source).stem
        test = ROOT / f"tests/unit/test_{folder}_{name}.c"
        if seen.setdefault((folder, name), source) != source:
            yield f"{source}: another room of src/{folder} has a file of that name"
        if not test.exists() and not any(fnmatch.fnmatch(source, row[0]) for row in elsewhere):
            yield f"{source}: no {test.relative_to(ROOT)}, nor a line in tests/unit/elsewhere.txt"


def main():
    listed = subprocess.run([ROOT / "scripts/sources.sh"], check=True, capture_output=True,
                            text=True).stdout.split()
    wrong, lengths = [], []
    for name in listed:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        wrong += check_file(ROOT / name, lines)
        if name.startswith("src/"):
            lengths += [length for _, _, length in functions(lines)]
    wrong += check_coverage([n for n in listed if n.startswith("src/") and n.endswith(".c")])
    for line in wrong:
        print(line)
    lengths.sort()
    if lengths:
        print(f"{len(lengths)} functions in src: median {lengths[len(lengths) // 2]} lines, "
              f"90th percentile {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
