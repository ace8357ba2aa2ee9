#!/usr/bin/env python3
"""Calls of a program on a client of GlusterFS, followed to the disks of its servers. Disk requests are joined to the
calls that wrote their data; the test checks this with the data itself."""
import contextlib
import json
import os
import shutil
import subprocess

import lab
from program import good, run_tests, tests_of
from stack_cluster import CLIENT_LAYERS, Cluster, check_joined, skip_unless_watched
from stack_joins import SOURCE, Joins, compile_numbered, judge
from tap import check, run

NAME = f"stk{os.getpid() % 10000}"
SERVERS = ("s1", "s2")
CLUSTER = Cluster(NAME, SERVERS)
# Ranks that need only the network of the node.
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "--mca",
          "oob_tcp_if_include", "lo", "-n", 2)
# Programs of two ranks: the layer, the source, how it is compiled, and the bytes that they write.
LIBRARIES = (("hdf5", "dataset.c", ("h5pcc", "-shlib"), 160000),
             ("pnetcdf", "variable.c", ("mpicc", "-lpnetcdf"), 160000))

with_lab = lab.in_labs(NAME)


@contextlib.contextmanager
def caching_mount(directory):
    """A second mount of the client, which keeps written data in the kernel's page cache; its path."""
    mount = os.path.join(directory, "mnt")
    os.mkdir(mount)
    command = [*CLUSTER.in_node("c1"), "glusterfs", "--no-daemon", "-f", lab.ROOT / NAME / "client.vol",
               "-l", os.path.join(directory, "log"), "--direct-io-mode=disable", "--kernel-writeback-cache=yes", mount]
    with subprocess.Popen(command) as process:
        try:
            lab.until("the file system is mounted", lambda: os.path.ismount(mount))
            yield mount
        finally:
            subprocess.run(["umount", "-l", mount], check=False)
            process.terminate()
    os.rmdir(mount)


def check_libraries(directory, mount):
    """Bytes of programs that use HDF5 and PnetCDF belong to calls of these libraries, on all layers of the servers."""
    for layer, source, compiler, size in LIBRARIES:
        program = os.path.join(directory, layer)
        if not shutil.which("mpirun") or not shutil.which(compiler[0]) or (
                layer == "pnetcdf" and not os.path.exists("/usr/include/pnetcdf.h")):
            continue
        run(compiler[0], "-O2", "-o", program, os.path.join(SOURCE, "tests/e2e/stack", source), *compiler[1:])
        joins = CLUSTER.record(f"{program}.data", *MPIRUN, program, mount / layer,
                               layers=f"{layer},mpi-io,{CLIENT_LAYERS}")
        for below in "fuse", "network", "server", "storage", "block":
            writes = joins.of(below, operation="write")
            total = sum(int(s["result"]) for s in writes)
            joined = sum(int(s["result"]) for s in writes if joins.calls_above(s, layer))
            check(joined >= size, (layer, below, total, joined))
            check(below == "block" or joined >= 0.99 * total, (layer, below, total, joined))
        shown = json.loads(good("stack", "show", "--json", f"{program}.data"))
        check(shown["layer"] == layer and shown["ranks"] == 2, shown["layer"])
        check({s["name"] for s in shown["servers"]} <= set(SERVERS) and shown["servers"], shown["servers"])


@with_lab
def test_gluster(directory):
    """Bytes on the disks of GlusterFS's servers belong to the calls that they name"""
    skip_unless_watched()
    good("lab", "up", "--name", NAME, "--servers", len(SERVERS), "--clients", 1, "--disk", "64M", "--hog-disk", "16M")
    program, mount = compile_numbered(directory), lab.ROOT / NAME / "c1/mnt"
    # More than one shard, so that both servers have a part; eight threads write at the same time.
    joins = CLUSTER.record(os.path.join(directory, "direct"), program, mount / "direct", 8, 10, 131072, "direct")
    check_joined(joins, 131072, 80 * 131072, 0.99)
    calls = [s for s in joins.of("posix", operation="write") if s["object"].endswith("/direct")]
    check(len(calls) == 80, len(calls))
    reached = {int(s["span"]) for b in joins.of("block") for s in joins.calls_above(b).values()}
    check(all(int(c["span"]) in reached for c in calls), "a call did not reach a disk")
    # One that is not whole pages, through the page caches of the servers.
    joins = CLUSTER.record(os.path.join(directory, "buffered"), program, mount / "buffered", 4, 25, 50000, "buffered")
    check_joined(joins, 50000, 100 * 50000, 0.95)
    check(any(len(joins.calls_above(b)) > 1 for b in joins.of("block")), "no request has data of several calls")
    # Through the page cache of the client, too: whichever process writes it back, it belongs to the writer.
    with caching_mount(directory) as mount:
        joins = CLUSTER.record(os.path.join(directory, "cached"), program, os.path.join(mount, "cached"), 4, 25, 50000,
                               "buffered")
        check_joined(joins, 50000, 100 * 50000, 0.95)
        check(any(len(joins.calls_above(s)) > 1 for s in joins.of("fuse")), "no FUSE request has data of several calls")
    check_libraries(directory, lab.ROOT / NAME / "c1/mnt")
    text = good("stack", "show", os.path.join(directory, "direct"))
    check("the clock of s1 agrees with the others to within" in text, text)
    shown = json.loads(good("stack", "show", "--json", os.path.join(directory, "direct")))
    check({c["observer"] for c in shown["clocks"]} == set(SERVERS), shown["clocks"])
    # Without the recording of a server, calls are still joined as far as possible, and the rest is not invented.
    os.remove(os.path.join(directory, "direct", "s2.lpa"))
    text = good("stack", "show", os.path.join(directory, "direct"))
    check("of network were not seen by a server" in text, text)
    joins = Joins(os.path.join(directory, "direct"))
    check(judge(joins, 131072).wrong == 0, "wrong joins without s2")
    total, joined = joins.share_joined("network")
    check(joined >= 0.99 * total, (total, joined))


if __name__ == "__main__":
    run_tests(tests_of(__name__))
