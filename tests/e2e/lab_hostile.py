#!/usr/bin/env python3
"""limpet lab run refuses malicious or careless plans, with file and line, before anything is created."""
import os
import subprocess
import time

import lab
from program import LIMPET, limpet, run_tests, tests_of
from tap import check

NAME = "hostile"
MIB = 1 << 20

# A line, and its error.
LINES = (
    ("servers 99999999999999999999", "is not a number up to"),
    ("servers 1000000", "is not a number up to"),
    ("servers 0", "at least one server"),
    ("servers 62", "at most 63 of both"),
    ("servers 2;reboot", "is not a number"),
    ("clients -1", "is not a number"),
    ("clients 0x10", "is not a number"),
    ("repeat 4294967297", "is not a number up to"),
    ("repeat 0", "would run nothing"),
    ("disk 99999999999999999T", "is not a number of bytes"),
    ("disk 16777216T", "is not a number of bytes"),
    ("disk 2T", "a lab's disk has 64 MiB to 1 TiB"),
    ("disk -5", "-5"),
    ("disk 0", "a lab's disk has 64 MiB to 1 TiB"),
    ("disk 4K", "a lab's disk has 64 MiB to 1 TiB"),
    ("seed 99999999999999999999999", "is not a number up to"),
    ("phases 1s 999999999999d 1s 1s", "999999999999d"),
    ("phases 1s 2d 1s 1s", "at most a day"),
    ("phases 1s -3s 1s 1s", "-3s"),
    ("phases 0s 0s 0s 0s", "at least a second"),
    ("phases nan inf 1s 1s", "nan"),
    ("trace $(reboot)", "want none, summary or records"),
    ("fs ../../etc", "there is no file system '../../etc'"),
    ("fs $(reboot)", "there is no file system '$(reboot)'"),
    ("run ../../bin/sh none", "there is no workload '../../bin/sh'"),
    ("run ddw;reboot none", "there is no workload 'ddw;reboot'"),
    ("run `reboot` none", "there is no workload '`reboot`'"),
    ("run ddw slow-disk:$(reboot)@s1", "slow-disk"),
    ("run ddw slow-disk:1e999@s1", "slow-disk"),
    ("run ddw slow-disk:nan@s1", "slow-disk"),
    ("run ddw slow-disk:-1@s1", "slow-disk"),
    ("run ddw slow-disk@../../x", "x"),
    ("run ddw slow-disk@s1;reboot", "s1;reb"),
    ("run ddw slow-disk@s7", "there is no server 's7'"),
    ("run ddw slow-disk@s01", "not 's01'"),
    ("run ddw slow-disk@c1", "not 'c1'"),
    ("run ddw slow-disk@s1+slow-disk@s1", "the same fault twice on s1"),
    ("run ddw " + "+".join(["slow-disk"] * 64), "at most"),
    ("run ddw ../slow-disk", "there is no fault '../slow-disk'"),
    ("run ddw " + "x" * 900, "there is no fault"),
    ("train ../x", "there is no workload '../x'"),
    ("include /etc/passwd", "unknown word 'include'"),
    ("run ddw", "want 'run WORKLOAD none|FAULT'"),
    ("run ddw none more", "want 'run WORKLOAD none|FAULT'"),
    ("x" * 2000, "a line may have at most 1023 bytes"),
    ("run \x1b[31mddw none", "is not allowed in a plan"),
    ("run ddw \u202enone", "is not allowed in a plan"),
    ("run ddw\x7f none", "is not allowed in a plan"),
)


def refused(plan, words, where=""):
    """The plan is refused in a sentence with these words, and nothing is created. If a line is wrong, `where` is its
    number."""
    out = f"{os.path.dirname(plan)}/out"
    ran = limpet("lab", "run", "--plan", plan, "-o", out, "--name", NAME, timeout=lab.PATIENCE)
    check(ran.code == 2, f"{words}: {ran}")
    check(words in ran.err and plan in ran.err, f"'{words}' is not in {ran}")
    check(f"{plan}:{where}: " in ran.err if where else True, f"line {where} is not named: {ran}")
    check(ran.err.count("\n") == 1 and len(ran.err) < 1000, f"more than a sentence: {ran}")
    check(not any(ord(c) < 32 for c in ran.err[:-1]), f"control characters: {ran}")
    check(not os.path.exists(out), f"{words}: {out} was made")
    check(not lab.traces(NAME), f"{words}: {lab.traces(NAME)}")


def write(directory, text):
    path = f"{directory}/hostile.plan"
    mode = "wb" if isinstance(text, bytes) else "w"
    with open(path, mode, **({} if mode == "wb" else {"encoding": "utf-8"})) as f:
        f.write(text)
    return path


def test_lines(directory):
    """impossible counts, names, times and references"""
    for line, words in LINES:
        refused(write(directory, f"# a plan\nservers 6\n{line}\nrun ddw none\n"), words, "3")


def test_files(directory):
    """files that are not plans"""
    refused(write(directory, ""), "no experiment in this plan")
    refused(write(directory, "repeat 1000\n" + "run ddw none\n" * 1000), "may have at most", "12")
    refused(write(directory, b"run ddw none\n\0\n"), "not a text file")
    refused(write(directory, b"\xff\xfe\x00run"), "not a text file")
    refused(write(directory, "run ddw none\n" * (MIB // 13 + 1)), "too large")
    path = write(directory, "")
    os.truncate(path, 100 * MIB)
    refused(path, "too large")
    os.unlink(path)
    os.symlink(path, path)
    refused(path, "symbolic links")
    os.unlink(path)
    os.mkdir(path)
    refused(path, "directory")


def test_devices(directory):
    """files that never end, or never begin"""
    path = f"{directory}/hostile.plan"
    os.symlink("/dev/zero", path)
    refused(path, "too large")
    os.unlink(path)
    os.mkfifo(path)
    refused(path, "not a regular file")


def test_names(directory):
    """names of labs that would lead elsewhere"""
    plan = write(directory, "run ddw none\n")
    for name in ("../x", "a/b", "a;b", "$(id)", "a b", "", ".", "x" * 100, "-x"):
        ran = limpet("lab", "run", "--plan", plan, "-o", f"{directory}/out", f"--name={name}")
        check(ran.code == 2 and ran.err.count("\n") == 1, f"'{name}': {ran}")
        check(not os.path.exists(f"{directory}/out"), name)


def test_piped(directory):
    """a plan from a pipe works like any other"""
    with subprocess.Popen([LIMPET, "lab", "run", "--plan", "/dev/stdin", "--list"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as listing:
        time.sleep(0.1)  # by now it is probably waiting
        out, _ = listing.communicate("servers 2\nrun ddw slow-disk@s2\n", timeout=lab.PATIENCE)
        check(listing.returncode == 0 and "slow-disk@s2" in out, out)


if __name__ == "__main__":
    lab.skip_unless_possible()
    run_tests(tests_of(__name__))
