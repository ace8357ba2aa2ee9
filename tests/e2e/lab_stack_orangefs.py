#!/usr/bin/env python3
"""Calls of a program on a client of OrangeFS, followed to the disks of its servers. Disk requests are joined to the
calls that wrote their data; the test checks this with the data itself."""
import json
import os
import pathlib
import shutil

import lab
from program import LIMPET, good, run_tests, tests_of
from stack_cluster import Cluster, check_layers, skip_unless_watched
from stack_joins import compile_numbered, judge
from tap import check, run

NAME = f"ofs{os.getpid() % 10000}"
SERVERS = ("s1", "s2", "s3")
CLUSTER = Cluster(NAME, SERVERS)

with_lab = lab.in_labs(NAME)


def tables():
    """Inodes of the servers' databases, which OrangeFS writes through mmap()."""
    return {str(p.stat().st_ino) for s in SERVERS for p in (lab.ROOT / NAME / s / "brick/meta").rglob("*.mdb")}


def check_data(joins, size, bytes_of_program, share, operation="write"):
    """All data of the program is joined, except for 1%, and nothing to a wrong call. So is this share of the disk
    traffic, without the databases: these are written later, and no call requests that."""
    got = judge(joins, size, operation)
    check(got.wrong == 0, got)
    check(got.joined >= 0.99 * bytes_of_program, got)
    known = tables()
    moved = [s for s in joins.of("block", operation=operation) if s["inode"] not in known]
    total = sum(int(s["result"]) for s in moved)
    check(sum(int(s["result"]) for s in moved if s["parents"]) >= share * total, (got, total))
    check_layers(joins, bytes_of_program, 0.99)


@with_lab
def test_orangefs(directory):
    """Bytes on the disks of OrangeFS's servers belong to the calls that they name"""
    skip_unless_watched()
    good("lab", "up", "--name", NAME, "--fs", "orangefs", "--servers", len(SERVERS), "--clients", 1, "--disk", "96M",
         "--hog-disk", "16M")
    program, mount = compile_numbered(directory), pathlib.Path(lab.ROOT / NAME / "c1/mnt")
    # Large calls, each on several servers; eight threads write at the same time.
    joins = CLUSTER.record(os.path.join(directory, "direct"), program, mount / "direct", 8, 10, 131072, "direct")
    check_data(joins, 131072, 80 * 131072, 0.99)
    check(len({s["observer"] for s in joins.of("server", operation="write")}) == len(SERVERS), "a server has no part")
    calls = [s for s in joins.of("posix", operation="write") if s["object"].endswith("/direct")]
    reached = {int(s["span"]) for b in joins.of("block") for s in joins.calls_above(b).values()}
    check(len(calls) == 80 and all(int(c["span"]) in reached for c in calls), "a call did not reach a disk")
    # They are read from the disks: the servers have no page cache of them.
    joins = CLUSTER.record(os.path.join(directory, "read"), program, mount / "direct", 8, 10, 131072, "read")
    check_data(joins, 131072, 80 * 131072, 0.99, "read")
    # Parts of blocks, for which servers read the blocks first; large, and small enough for a single message.
    joins = CLUSTER.record(os.path.join(directory, "odd"), program, mount / "odd", 4, 25, 50000, "buffered")
    check_data(joins, 50000, 100 * 50000, 0.95)
    joins = CLUSTER.record(os.path.join(directory, "small"), program, mount / "small", 4, 25, 8000, "buffered")
    check_data(joins, 8000, 100 * 8000, 0.95)
    check(joins.of("network", function="SMALL_IO"), "no small message")
    # The configuration that is built in has all layers, those of servers too, and needs nothing else.
    ran = run(*CLUSTER.in_node("c1"), LIMPET, "stack", "run", "-c", "orangefs", "--own-network", "--json", "-n", "c1",
              "-o", os.path.join(directory, "c1.lpa"), "--", program, str(mount / "more"), "2", "5", "131072", "direct")
    check(set(json.loads(ran.splitlines()[-1])["kernel"]["called"]) >= {"fuse", "client", "network"}, ran)
    text = good("stack", "show", os.path.join(directory, "direct"))
    check("the clock of s1 agrees with the others to within" in text, text)


if __name__ == "__main__":
    if not shutil.which("pvfs2-server", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        print("1..0 # SKIP OrangeFS is not installed (there is no pvfs2-server)")
    else:
        run_tests(tests_of(__name__))
