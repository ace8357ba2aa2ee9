#!/usr/bin/env python3
"""The document, an independent reader and the library agree on the contents of an archive."""
import json
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
LOG = [
    "log syscalls 5 seq=7 name=" + b"read".hex(),
    "log syscalls 6 seq=8 name=" + b"close".hex(),
    "log syscalls 7 seq=7 name=" + b"read".hex(),
]
LIMPET = os.environ["LIMPET"]
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


def example_bytes(heading):
    """The bytes of a worked example: lines `offset  hex bytes  what they are` in the document."""
    data = b""
    with open(DOCUMENT, encoding="utf-8") as f:
        example = f.read().split(heading + "\n")[1].split("\n#")[0]
    for line in re.findall(r"^    ([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)", example, re.M):
        assert int(line[0], 16) == len(data), line
        data += bytes.fromhex(line[1])
    return data


def limpet(*args):
    out = subprocess.run([LIMPET, *args], stdout=subprocess.PIPE, check=True, text=True)
    return out.stdout


def only_logs(folder):
    """A file without a single sample."""
    path = os.path.join(folder, "only.lpa")
    subprocess.run([MAKE, "write", "logs", "1", path], check=True)
    want = library_lines(path)
    check(len(want) == 294, "the library reads a file of logs alone")
    check(sorted(Archive(read(path)).lines()) == want, "the independent reader does")
    check("0 samples, 293 records of logs (" in limpet("check", path), "limpet check counts records")
    report = json.loads(limpet("check", "--json", path))[0]
    check(report["sound"] and report["records"] == 293 and 0 < report["log_bytes"] <
          report["bytes"], "in JSON too")
    check("host: no samples" in limpet("show", path), "limpet show lists it")
    check(json.loads(limpet("show", "--json", path))["components"] == [], "in JSON too")


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
            f.write(example_bytes("## A file, byte by byte"))
        check(library_lines(f.name) == TINY, "the library reads the document's example")
        check(list(Archive(read(f.name)).lines()) == TINY, "the independent reader does")
        with open(os.path.join(folder, "log"), "wb") as f:
            f.write(read(path)[:16] + example_bytes("### A log frame, byte by byte"))
        check(library_lines(f.name) == LOG, "the library reads the document's log")
        check(list(Archive(read(f.name), True).lines()) == LOG, "the independent reader does")
        only_logs(folder)
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
