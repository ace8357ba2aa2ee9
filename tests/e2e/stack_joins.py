"""Shared by tests of joins: a program that writes the number of the call into its bytes, and a check that disk
requests are joined to the calls in their bytes."""
import collections
import csv
import io
import mmap
import os
import struct

from program import good
from tap import check, run

SOURCE = os.environ.get("SOURCE", ".")
ALIGN = 4096

Judged = collections.namedtuple("Judged", "written joined wrong requests")


def compile_numbered(directory):
    """The program; its source describes what it writes."""
    program = os.path.join(directory, "numbered")
    run("gcc", "-O2", "-pthread", "-o", program, os.path.join(SOURCE, "tests/e2e/stack/numbered.c"))
    return program


class Joins:
    """All spans of a recording, and which belong to which."""

    def __init__(self, *data):
        text = good("stack", "show", "--spans", *data)
        self.spans = {int(row["span"]): row for row in csv.DictReader(io.StringIO(text))}
        for row in self.spans.values():
            row["parents"] = [tuple(map(int, p.split(":"))) for p in row["parents"].split()]

    def of(self, layer, **want):
        """Those of a layer that have these values."""
        return [s for s in self.spans.values() if s["layer"] == layer and
                all(s[k] == str(v) for k, v in want.items())]

    def calls_above(self, span, layer="posix"):
        """The calls of the application in a layer that wrote the bytes of a span: {span: row}."""
        found, todo = {}, [span]
        while todo:
            row = todo.pop()
            if row["layer"] == layer:
                found[int(row["span"])] = row
            todo += [self.spans[parent] for parent, n in row["parents"] if n > 0]
        return found

    def share_joined(self, layer, of=""):
        """Bytes of a layer's reads and writes of objects whose names begin like this, and how many are joined up to a
        call."""
        total = joined = 0
        for s in self.of(layer):
            if s["operation"] not in ("read", "write") or not s["object"].startswith(of):
                continue
            total += max(int(s["result"]), 0)
            joined += sum(n for parent, n in s["parents"] if n > 0 and
                          (self.spans[parent]["layer"] == "posix" or self.calls_above(self.spans[parent])))
        return total, joined


def whole_disk(name):
    """The device of the disk of a partition: requests name the partition, and the place on the disk."""
    path = os.path.realpath(f"/sys/class/block/{name}")
    return "/dev/" + os.path.basename(os.path.dirname(path) if os.path.exists(f"{path}/partition") else path)


def disk_bytes(device, offset, size):
    """The data on a disk, not in its page cache."""
    with mmap.mmap(-1, size) as memory:
        fd = os.open(device, os.O_RDONLY | os.O_DIRECT)
        try:
            n = os.preadv(fd, [memory], offset)
        finally:
            os.close(fd)
        check(n == size, f"{device}: {n} of {size} bytes at {offset}")
        return memory[:]


def numbers_in(data):
    """The calls that bytes of the numbered program name."""
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    return {word >> 32 for word in words}


def judge(joins, size, operation="write"):
    """Compare the contents of disks with the calls to which their requests are joined. `size` is that of the
    calls."""
    written = joined = wrong = requests = 0
    for request in joins.of("block", operation=operation):
        n = int(request["result"])
        if n <= 0:
            continue
        requests += 1
        written += n
        joined += min(n, sum(b for parent, b in request["parents"] if
                             joins.spans[parent]["layer"] == "posix" or joins.calls_above(joins.spans[parent])))
        calls = {int(row["offset"]) // size + 1 for row in joins.calls_above(request).values()}
        if calls:
            there = numbers_in(disk_bytes(whole_disk(request["object"]), int(request["offset"]), n))
            wrong += len(calls - there)
    return Judged(written, joined, wrong, requests)
