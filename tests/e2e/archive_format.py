#!/usr/bin/env python3
"""The document, an independent reader and the library agree on what is in an archive."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from read_archive import Archive  # noqa: E402

MAKE = os.path.join(os.environ["BUILD"], "tests/e2e/make_archive")
DOCUMENT = os.path.join(os.environ["SOURCE"], "docs/archive-format.md")
TINY = [
    "1304899205000000 7000000 oss3/disk:sda 1 rd_ios=1000",
    "1304899206000000 8000000 oss3/disk:sda 1 rd_ios=1003",
    "1304899207000000 9000000 oss3/disk:sda 1 rd_ios=1003",
]
count = failed = 0


def check(good, what):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def library_lines(path):
    out = subprocess.run([MAKE, "dump", path], stdout=subprocess.PIPE, check=True, text=True)
    return sorted(out.stdout.splitlines())


def example_bytes():
    """The bytes of the worked example: lines `offset  hex bytes  what they are` in the document."""
    data = b""
    with open(DOCUMENT, encoding="utf-8") as f:
        example = f.read().split("## A file, byte by byte")[1]
    for line in re.findall(r"^    ([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)", example, re.M):
        assert int(line[0], 16) == len(data), line
        data += bytes.fromhex(line[1])
    return data


def main():
    if not shutil.which("zstd"):
        print("1..0 # SKIP there is no zstd command")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for form in ("loose", "closed", "dense", "sealed"):
            for seed in range(3):
                path = os.path.join(folder, f"{form}{seed}")
                subprocess.run([MAKE, "write", form, str(seed), path], check=True)
                want = library_lines(path)
                check(len(want) > 700, f"the library reads a {form} file ({len(want)} lines)")
                check(sorted(Archive(read(path), True).lines()) == want, f"so does a walk, {form}")
                if form != "loose":
                    same = sorted(Archive(read(path)).lines()) == want
                    check(same, f"and a read by the index, {form}")
        path = os.path.join(folder, "tiny")
        subprocess.run([MAKE, "tiny", path], check=True)
        check(library_lines(path) == TINY, "the library reads the tiny file")
        check(list(Archive(read(path)).lines()) == TINY, "the independent reader does")
        with open(os.path.join(folder, "example"), "wb") as f:
            f.write(example_bytes())
        check(library_lines(f.name) == TINY, "the library reads the document's example")
        check(list(Archive(read(f.name)).lines()) == TINY, "the independent reader does")
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
