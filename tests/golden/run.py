#!/usr/bin/env python3
"""Golden tests: command lines and their exact output.

A case is cases/NAME.cmd (one command per line, run in an empty directory in which `fixtures` and
`trees` lead to tests/fixtures and its trees) and cases/NAME.out: for each command "$ COMMAND", what it printed, its stderr
after "! ", and "[exit N]". `--update [NAME...]` writes the .out files again: read the
difference before you commit it, a golden file with a wrong value is a defect.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
LIMPET = os.path.abspath(os.environ.get("LIMPET", SOURCE / "build/src/cli/limpet"))

# What may differ between machines and versions without being wrong.
LOOSE = (
    (re.compile(r"\b\d+ files?, [\d.]+ [kM]?B,"), "N files, SIZE,"),
    (re.compile(r'"bytes":\d+'), '"bytes":SIZE'),
    (re.compile(r"\b\d+ bytes, \d+ blocks?"), "SIZE bytes, N blocks"),
    (re.compile(r'"limpet": ?"[\d.]+"'), '"limpet":VERSION'),
    (re.compile(r"^limpet [\d.]+$", re.M), "limpet VERSION"),
)


def loosen(text):
    for pattern, replacement in LOOSE:
        text = pattern.sub(replacement, text)
    return text


def transcript(case):
    """Run the commands of a case and return what happened."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="limpet-golden-") as directory:
        os.symlink(SOURCE / "tests/fixtures/trees", directory + "/trees")
        os.symlink(SOURCE / "tests/fixtures", directory + "/fixtures")
        for command in case.read_text(encoding="utf-8").splitlines():
            if not command.strip() or command.startswith("#"):
                continue
            words = shlex.split(command)
            if words[0] == "limpet":
                words[0] = LIMPET
            done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120,
                                  env={**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "TZ": "UTC"})
            lines.append(f"$ {command}")
            lines += done.stdout.decode().splitlines()
            lines += ["! " + line for line in done.stderr.decode().splitlines()]
            lines.append(f"[exit {done.returncode}]")
    return loosen("\n".join(lines) + "\n")


def main():
    update = sys.argv[1:2] == ["--update"]
    names = sys.argv[2:] if update else sys.argv[1:]
    cases = [c for c in sorted(HERE.glob("cases/*.cmd")) if not names or c.stem in names]
    failed = 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        expected = case.with_suffix(".out")
        got = transcript(case)
        if update:
            expected.write_text(got, encoding="utf-8")
        want = expected.read_text(encoding="utf-8") if expected.exists() else ""
        failed += got != want
        print(f"{'ok' if got == want else 'not ok'} {number} - {case.stem}")
        for line in difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got",
                                         lineterm="", n=2):
            print(f"# {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
