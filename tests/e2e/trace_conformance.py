#!/usr/bin/env python3
"""The events that both backends deliver for a program that makes every kind of call, compared with what it did."""
import json
import os
import signal
import subprocess
import sys

import conformance
import program
import tap

BUILD = os.environ.get("BUILD", "build")
CONFORM = os.path.join(BUILD, "tests/trace/conform")
DUMP = os.path.join(BUILD, "tests/trace/dump_events")
DUMP_LOG = os.path.join(BUILD, "tests/trace/dump_log")
ENDS_WITH = 7


def usable(backend):
    """Skip what this machine does not permit."""
    if os.geteuid() != 0:
        raise tap.Skip("needs root")
    ran = subprocess.run([DUMP, backend, "--", "true"], capture_output=True, text=True, check=False,
                         timeout=60)
    if ran.returncode:
        raise tap.Skip(f"{backend}: {ran.stderr.strip()}")


def events_of(text):
    """Events that dump_events printed, and its last line."""
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows[:-1]:
        row["text"] = bytes.fromhex(row["text"])
    return [conformance.Event(**row) for row in rows[:-1]], rows[-1]


def judge(notes, events, end, backend):
    tap.check(end["lost"] == 0, f"{end['lost']} events were lost")
    wrong = conformance.compare(notes, events, want_uring=backend == "bpf")
    tap.check(not wrong, "\n".join(wrong[:10]))


def trace_command(directory, backend):
    """Trace the program from its start; its notes and the events."""
    notes = os.path.join(directory, f"notes-{backend}")
    with open(os.path.join(directory, "events"), "w+b") as out:
        ran = subprocess.run([DUMP, backend, "--", CONFORM, notes], stdout=out, check=False,
                             stderr=subprocess.PIPE, text=True, timeout=120)
        tap.check(ran.returncode == 0, ran.stderr)
        out.seek(0)
        events, end = events_of(out.read().decode())
    return conformance.notes_of(notes), events, end


def check_command(directory, backend):
    usable(backend)
    notes, events, end = trace_command(directory, backend)
    tap.check(end["status"] == ENDS_WITH << 8, f"the command ended with {end['status']}")
    first = [e.what if e.what != "call" else e.name for e in events[:2]]
    tap.check(sorted(first) == ["exec", "execve"], f"it begins with {first}")
    judge(notes, events, end, backend)


def check_attached(directory, backend):
    usable(backend)
    notes = os.path.join(directory, "notes")
    with subprocess.Popen([CONFORM, notes, "wait"], stdin=subprocess.PIPE) as traced:
        with subprocess.Popen([DUMP, backend, "-p", str(traced.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as tracer:
            said = tracer.stderr.readline()
            if said != "attached\n":
                traced.kill()
            tap.check(said == "attached\n", said)
            traced.stdin.write(b"x")
            traced.stdin.flush()
            out, err = tracer.communicate(timeout=120)
            tap.check(tracer.returncode == 0, err)
        tap.check(traced.wait(10) == ENDS_WITH, f"it ended with {traced.returncode}")
    events, end = events_of(out)
    judge(conformance.notes_of(notes), events, end, backend)


def archive_of(directory, backend):
    """Have limpet write an archive of the program; its notes, the events and the descriptors."""
    usable(backend)
    notes, archive = (os.path.join(directory, f"{backend}{end}") for end in (".notes", ".lpa"))
    ran = program.limpet("trace", "syscalls", "--backend", backend, "--records", "--json", "-o",
                         archive, "--", CONFORM, notes)
    tap.check(ran.code == 0, ran.err)
    rows = [json.loads(line) for line in tap.run(DUMP_LOG, archive).splitlines()]
    changes = [row for row in rows if row["what"] == "descriptor"]
    for row in rows:
        row["text"] = bytes.fromhex(row.get("text", ""))
    events = [conformance.Event(**row) for row in rows if row["what"] not in ("descriptor", "end")]
    return conformance.notes_of(notes), events, changes, json.loads(ran.out.splitlines()[-1])


def check_archive(directory, backend):
    notes, events, changes, said = archive_of(directory, backend)
    judge(notes, events, said, backend)
    tap.check(said["command_status"] == ENDS_WITH << 8, f"status {said['command_status']}")
    wrong = conformance.compare_descriptors(notes, events, changes)
    tap.check(not wrong, "\n".join(wrong[:10]))


def test_ptrace_archive(directory):
    """ptrace: the logs in an archive"""
    check_archive(directory, "ptrace")


def test_bpf_archive(directory):
    """bpf: the logs in an archive"""
    check_archive(directory, "bpf")


def test_ptrace_command(directory):
    """ptrace: a command"""
    check_command(directory, "ptrace")


def test_ptrace_attached(directory):
    """ptrace: a process that runs"""
    check_attached(directory, "ptrace")


def test_bpf_command(directory):
    """bpf: a command"""
    check_command(directory, "bpf")


def test_bpf_attached(directory):
    """bpf: a process that runs"""
    check_attached(directory, "bpf")


def test_agreement(directory):
    """both backends deliver the same"""
    usable("bpf")
    usable("ptrace")
    told = []
    for backend in ("bpf", "ptrace"):
        notes, events, _ = trace_command(directory, backend)
        told.append(conformance.outline(notes, events))
    for bpf, ptrace in zip(*told):
        tap.check(bpf == ptrace, f"bpf: {bpf}\nptrace: {ptrace}")
    tap.check(len(told[0]) == len(told[1]), "one has more")


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program.run_tests(program.tests_of("__main__"))


if __name__ == "__main__":
    sys.exit(main())
