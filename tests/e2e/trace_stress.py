#!/usr/bin/env python3
"""200 threads and 100,000 descriptors under both backends: nothing is lost silently."""
import json
import os
import sys

import program
import tap

BUILD = os.environ.get("BUILD", "build")
STRESS = os.path.join(BUILD, "tests/trace/stress")
DUMP = os.path.join(BUILD, "tests/trace/dump_log")
THREADS, DESCRIPTORS = 200, 100000
# The kernel side keeps the states of threads in an array of 8192 places, indexed by the addresses of their stacks: with
# so many threads, some find their place taken, and are kept elsewhere.
MANY_THREADS = 9000
KINDS = ("openat", "dup", "eventfd2", "socket", "pwrite64", "close")


def trace(directory, backend, *options, threads=THREADS):
    """Trace the program; what it did, limpet's summary, and the contents of the log."""
    if os.geteuid() != 0:
        raise tap.Skip("needs root")
    archive = os.path.join(directory, f"{backend}.lpa")
    out = os.path.join(directory, "made")
    ran = program.limpet("trace", "syscalls", "--backend", backend, "--records", "--json", "-o",
                         archive, *options, "--", "sh", "-c",
                         f"{STRESS} {threads} {DESCRIPTORS} > {out}; echo $? >> {out}",
                         timeout=300)
    if ran.code:
        raise tap.Skip(ran.err.strip())
    with open(out, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if lines[-1] == "77":
        raise tap.Skip("so many descriptors are not permitted here")
    tap.check(lines[-1] == "0", f"the program ended with {lines}")
    logged = json.loads(tap.run(DUMP, archive, "-n"))
    return json.loads(lines[0]), json.loads(ran.out.splitlines()[-1]), logged


def check_complete(made, said, logged):
    """Every call is in the log or counted as lost, and the log agrees with the summary."""
    missing = 0
    for kind in KINDS:
        have = logged.get(f"sys-{kind}", 0)
        missing += max(0, made[kind] - have)
    tap.check(missing <= said["lost"], f"{missing} calls are missing, {said['lost']} are told lost")
    tap.check(logged["lost"] == said["lost"], f"{said['lost']} lost, the log says {logged['lost']}")
    tap.check(logged["calls"] == said["calls"], f"{said['calls']} calls, logged {logged['calls']}")
    tap.check(said["records_lost"] == 0, f"{said['records_lost']} records were not written")
    tap.check(made["failed"] == 0, f"{made['failed']} calls of the program failed")
    return missing


def check_descriptors(made, logged):
    """Each was opened, or copied, and closed, in the log."""
    opened, copied = logged["fd-open"], logged["fd-dup"]
    tap.check(opened >= made["openat"] + made["eventfd2"] + made["socket"], f"opened: {opened}")
    tap.check(copied >= made["dup"], f"copied: {copied}")
    tap.check(logged["fd-close"] >= made["close"], f"closed: {logged['fd-close']}")


def test_ptrace(directory):
    """ptrace: every call is in the log"""
    made, said, logged = trace(directory, "ptrace")
    tap.check(check_complete(made, said, logged) == 0, "some are missing")
    tap.check(said["lost"] == 0, f"{said['lost']} lost")
    check_descriptors(made, logged)


def test_bpf(directory):
    """bpf with much room: every call is in the log"""
    made, said, logged = trace(directory, "bpf", "--ring", "512M")
    if said["lost"]:
        raise tap.Skip(f"this machine is too busy: {said['lost']} events are told lost")
    tap.check(check_complete(made, said, logged) == 0, "some are missing")
    check_descriptors(made, logged)


def test_bpf_crowded(directory):
    """bpf and more threads than have a place of their own: every call is in the log"""
    made, said, logged = trace(directory, "bpf", "--ring", "512M", threads=MANY_THREADS)
    if said["lost"]:
        raise tap.Skip(f"this machine is too busy: {said['lost']} events are told lost")
    tap.check(check_complete(made, said, logged) == 0, "some are missing")
    check_descriptors(made, logged)


def test_bpf_overflow(directory):
    """bpf with little room: missing events are counted"""
    made, said, logged = trace(directory, "bpf", "--ring", "64K")
    check_complete(made, said, logged)


if __name__ == "__main__":
    sys.exit(program.run_tests(program.tests_of("__main__")))
