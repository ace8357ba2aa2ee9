#!/usr/bin/env python3
"""Calls of a program on a local file system, joined to the requests to its disk: every request belongs to the calls
that wrote its data. Also the plans and errors of tracing in the kernel."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

from program import LIMPET, bad, good, limpet, run_tests, tests_of
from stack_joins import Joins, compile_numbered, judge
from tap import Skip, check, run

LAYERS = ("--layers", "posix,block")


def skip_unless_possible():
    """Without rights or BPF nothing in the kernel can be watched."""
    if os.geteuid() != 0:
        raise Skip("watching the kernel needs root")
    if not os.access("/dev/loop-control", os.W_OK):
        raise Skip("there is no /dev/loop-control")
    ran = limpet("stack", "attach", "-d", "100ms", "-q", "-o", "/dev/null/x.lpa")
    if "BPF" in ran.err:
        raise Skip(ran.err.strip())


@contextlib.contextmanager
def disk(directory, kind):
    """A file system on a loop device; its mount point."""
    image, mount = os.path.join(directory, "image"), os.path.join(directory, "mnt")
    if not shutil.which(f"mkfs.{kind}", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        raise Skip(f"there is no mkfs.{kind}")
    with open(image, "wb") as f:
        f.truncate(400 << 20)
    run(f"mkfs.{kind}", "-q", image)
    os.mkdir(mount)
    # The loop device is removed with the mount, however that ends.
    run("mount", "-o", "loop", image, mount)
    try:
        yield mount
    finally:
        run("umount", mount)


def record(directory, mount, program, mode, threads, calls, size, *options):
    """Run the program with its disk watched; the summary."""
    data = os.path.join(directory, "data-" + mode)
    ran = limpet("stack", "run", "--json", *LAYERS, *options, "-o", data, "--",
                 program, os.path.join(mount, "file"), threads, calls, size, mode)
    check(ran.code == 0, str(ran))
    summary = json.loads(ran.out.splitlines()[-1])
    check(summary["kernel"]["lost"] == 0, summary)
    check(summary["kernel"]["called"] == ["block"], summary)
    return data


def check_writes(directory, kind):
    """Direct and buffered writes, and reads, on one file system."""
    program = compile_numbered(directory)
    with disk(directory, kind) as mount:
        joins = Joins(record(directory, mount, program, "direct", 4, 10, 65536))
        os.sync()
        got = judge(joins, 65536)
        check(got.written >= 40 * 65536 and got.wrong == 0, got)
        check(got.joined >= 0.99 * 40 * 65536, got)
        # Whole calls are on the disk: each has all of its bytes, once.
        of_call = {}
        for request in joins.of("block", operation="write"):
            for call in joins.calls_above(request):
                of_call[call] = of_call.get(call, 0) + int(request["result"])
        writes = [s for s in joins.of("posix", operation="write") if s["object"].endswith("/file")]
        check(len(writes) == 40 and all(of_call.get(int(w["span"])) == 65536 for w in writes), of_call)
        # Sizes that are not whole pages: requests belong to several calls.
        joins = Joins(record(directory, mount, program, "buffered", 3, 20, 50000))
        os.sync()
        got = judge(joins, 50000)
        check(got.written >= 60 * 50000 and got.wrong == 0, got)
        check(got.joined >= 0.95 * 60 * 50000, got)
        many = [s for s in joins.of("block") if len(joins.calls_above(s)) > 1]
        check(many, "no request has data of several calls")
        waits = [s for s in joins.spans.values() if s["operation"] == "sync" and s["layer"] == "posix"]
        check(any(parent == int(w["span"]) for w in waits for s in joins.of("block") for parent, _ in s["parents"]),
              "the fsync waited for no disk")
        # From the disk, and not from memory.
        run("sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches")
        joins = Joins(record(directory, mount, program, "read", 1, 10, 50000))
        total, joined = joins.share_joined("block", "loop")  # others have the program itself
        check(total > 0 and joined >= 0.95 * total, (total, joined))


def test_ext4(directory):
    """Requests to an ext4 are joined to the calls that wrote their bytes"""
    skip_unless_possible()
    check_writes(directory, "ext4")


def test_xfs(directory):
    """The same on XFS"""
    skip_unless_possible()
    check_writes(directory, "xfs")


def test_plan(_):
    """The plan names the tracepoints that the layers need, and no others"""
    plan = json.loads(good("stack", "run", "--dry-run", "--json", "--layers", "posix,block"))["kernel"]
    check("block_bio_queue" in plan["tracepoints"] and "fuse_request_send" not in plan["tracepoints"], plan)
    plan = json.loads(good("stack", "run", "--dry-run", "--json", "--layers", "posix"))["kernel"]
    check(plan["tracepoints"] == [], plan)
    text = good("stack", "attach", "--dry-run", "--layers", "fuse")
    check("fuse_request_end" in text and "block" not in text and "us longer" in text, text)


def test_complaints(_):
    """An impossible recording is refused in one sentence"""
    bad(2, "limpet stack run", "stack", "attach", "--layers", "posix")
    bad(2, "there is no layer 'disk'", "stack", "attach", "--layers", "disk")
    bad(2, "--port: '0' is not a number", "stack", "attach", "--port", "0")
    bad(2, "--pid: 'x' is not a number", "stack", "attach", "--pid", "x")
    bad(2, "runs no program", "stack", "attach", "true")


def test_other_rights(directory):
    """A user who may not use BPF gets an error that says so"""
    if os.geteuid() != 0:
        raise Skip("only root can become somebody else")
    os.chmod(directory, 0o777)
    # Nobody may look into the directory of the build.
    program = shutil.copy(LIMPET, os.path.join(directory, "limpet"))
    done = subprocess.run([program, "stack", "attach", "-d", "100ms", "-o", os.path.join(directory, "x.lpa")],
                          capture_output=True, text=True, check=False, user=65534, group=65534)
    check(done.returncode == 2 and "root" in done.stderr, done)
    check(not os.path.exists(os.path.join(directory, "x.lpa")), "a file was written")


WORK = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
print("ready", flush=True)
sys.stdin.readline()
os.write(fd, b"x" * 100)
os.write(fd, b"y" * 50)
for i in range(int(sys.argv[2])):
    os.pwrite(fd, b"z" * 512, 4096 * i)
os.preadv(fd, [bytearray(10), bytearray(20)], 4096)
os.fsync(fd)
print("done", flush=True)
sys.stdin.readline()
"""


def watch_worker(directory, n, stopped=False):
    """Watch the system calls of a process on a file; the summary and the joins. `stopped`: limpet is stopped during
    that time."""
    path, data = os.path.join(directory, "file"), os.path.join(directory, "x.lpa")
    with subprocess.Popen([sys.executable, "-c", WORK, path, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as worker:
        check(worker.stdout.readline() == "ready\n", "the worker")
        command = [LIMPET, "stack", "attach", "--json", "--pid", worker.pid, "--layers", "storage", "--ring", "64K",
                   "-n", "host", "-o", data]
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            check("watching" in process.stderr.readline(), "it does not watch")
            if stopped:
                process.send_signal(signal.SIGSTOP)
            worker.stdin.write("go\n")
            worker.stdin.flush()
            check(worker.stdout.readline() == "done\n", "the worker")
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
        worker.communicate("end\n")
    check(process.returncode == 0, out + err)
    return json.loads(out.splitlines()[-1]), data


def test_calls(directory):
    """A daemon's calls on a file are recorded with offset, size, result and path, and nothing else"""
    skip_unless_possible()
    summary, data = watch_worker(directory, 20)
    check(summary["lost"] == 0 and summary["spans"] == 24, summary)
    got = [(s["function"], int(s["offset"]), int(s["size"]), int(s["result"])) for s in Joins(data).of("storage")]
    want = [("write", 0, 100, 100), ("write", 100, 50, 50)] + [("pwrite64", 4096 * i, 512, 512) for i in range(20)]
    read = got.pop(-2)
    check(read[0].startswith("preadv") and read[1:] == (4096, 30, 30), read)
    check(got == want + [("fsync", -1, 0, 0)], got)
    check({s["object"] for s in Joins(data).of("storage")} == {os.path.join(directory, "file")}, "another path")


def test_lost(directory):
    """Events for which there is no room are counted, and the recording says so"""
    skip_unless_possible()
    summary, data = watch_worker(directory, 3000, stopped=True)
    check(summary["lost"] > 1000 and summary["lost"] + summary["spans"] == 3004, summary)
    shown = limpet("stack", "show", data)
    check(shown.code == 0 and str(summary["lost"]) in shown.out + shown.err, str(shown))


def test_nobody(directory):
    """If there is no daemon, an empty recording says so, and a signal ends it"""
    skip_unless_possible()
    path = os.path.join(directory, "x.lpa")
    with subprocess.Popen([LIMPET, "stack", "attach", "--comm", "limpet-no-such", "-o", path],
                          stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    check(process.returncode == 0 and "watching" in line, line + rest)
    check("there was no daemon to watch" in rest, rest)
    check("no calls were recorded" in limpet("stack", "show", path).err, "show")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
