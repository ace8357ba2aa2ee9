#!/usr/bin/env python3
"""check-includes.py: check that dependencies between the folders of src/ point one way.

A file in src/X, or in a room of it (src/X/ROOM), may include "Y/..." only if Y is X or precedes X in ORDER. Public
headers include only each other and libc. Every header compiles alone. Prints violations; then exits with 1.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ORDER = ["base", "model", "archive", "collect", "import", "detect", "explain", "engine", "report", "trace",
         "serve", "cli", "lab"]
LIBC = {"assert.h", "errno.h", "inttypes.h", "limits.h", "math.h", "stdarg.h", "stdbool.h",
        "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/types.h", "time.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
# Code that is linked into other programs. It needs nothing from src, but src may use its tables.
RUNTIME = "runtime"
ROOT = pathlib.Path(__file__).resolve().parent.parent


def includes(path):
    """(line number, '<' or '"', name) of each #include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1], match[2]


def owner_of_public(name):
    """The folder that implements <limpet/NAME.h>, or None if no file has its name."""
    for folder in ORDER:
        if any((ROOT / "src" / folder).rglob(pathlib.Path(name).stem + ".c")):
            return folder
    return None


def check_source(path):
    """Violations in the includes of a file of src/."""
    folder = path.relative_to(ROOT / "src").parts[0]
    if folder not in ORDER:
        yield f"{path.relative_to(ROOT)}: folder {folder} has no place in the order: {ORDER}"
        return
    for number, mark, name in includes(path):
        where = f"{path.relative_to(ROOT)}:{number}"
        if name.startswith("limpet/"):
            target = owner_of_public(name)
            if mark == '"':
                yield f'{where}: public headers are included as <{name}>'
        elif mark == "<":
            continue
        elif "/" not in name:
            yield f'{where}: "{name}" should name its folder'
            continue
        else:
            target = name.split("/")[0]
            if target == RUNTIME:
                continue
            if target not in ORDER:
                yield f'{where}: "{name}" is in no folder of src'
                continue
        if target and ORDER.index(target) > ORDER.index(folder):
            yield f"{where}: {folder} must not depend on {target} ({name})"


def check_public(path):
    """Violations in the includes of an installed header."""
    for number, mark, name in includes(path):
        if mark == '"' or (not name.startswith("limpet/") and name not in LIBC):
            yield f"{path.relative_to(ROOT)}:{number}: a public header may not need {name}"


def compile_alone(path):
    """The compiler's errors about a header that is compiled alone."""
    dirs = ["include"] if "include" in path.relative_to(ROOT).parts else ["include", "src", "."]
    flags = [f"-I{ROOT / d}" for d in dirs] + ["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"]
    run = subprocess.run(
        [os.environ.get("CC", "gcc"), "-std=gnu17", "-Wall", "-Wextra", "-Werror",
         "-Wno-unused-function", "-fsyntax-only", *flags, "-x", "c", "-include", str(path),
         "/dev/null"], capture_output=True, text=True, check=False)
    return [run.stderr.strip()] if run.returncode else []


def main():
    sources = sorted((ROOT / "src").rglob("*.[ch]"))
    public = sorted((ROOT / "include").rglob("*.h"))
    headers = public + [p for p in sources if p.suffix == ".h"]
    wrong = [w for p in sources for w in check_source(p)]
    wrong += [w for p in public for w in check_public(p)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong += [w for found in pool.map(compile_alone, headers) for w in found]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
