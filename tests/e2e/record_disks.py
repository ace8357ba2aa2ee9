#!/usr/bin/env python3
"""Disks that fail in every way that a special file system can simulate (trouble.c): samples that count as
written exist, all others are counted as lost and reported; and a lock that cannot be lost.

Runs in a separate mount namespace: its mounts disappear with it.
"""
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from recording import BUILD, Recorder, Skip, archives, check, check_sound, run_tests, samples

OPTIONS = ("--interval", "100ms", "--name", "d", "--json", "--quiet", "--collect", "host")
FAST = (*OPTIONS, "--flush", "100ms")
# The queue is long enough that a busy machine loses no samples.
SLOW = (*OPTIONS, "--flush", "2s")
FAILS, WORKS = "sampling continues", "writing works again"
APART = "LIMPET_DISKS_APART"
root = None


class Trouble:
    """The file system, mounted; `say` changes how it fails."""

    def __init__(self, name):
        if os.environ.get(APART) != "1":
            raise Skip("no mount namespace (not root?)")
        program = BUILD + "/tests/e2e/trouble"
        if not os.path.exists(program) or not os.access("/dev/fuse", os.W_OK):
            raise Skip("no FUSE here")
        self.target = os.path.join(root, name)
        self.control = self.target + ".control"
        os.makedirs(self.target + ".backing")
        os.makedirs(self.target)
        self.say("")
        self.process = subprocess.Popen([program, self.target + ".backing", self.target, self.control])
        for _ in range(1200):
            if os.path.ismount(self.target):
                return
            check(self.process.poll() is None, "the file system did not start")
            time.sleep(0.05)
        raise AssertionError("the file system was not mounted")

    def say(self, text):
        with open(self.control + ".new", "w", encoding="ascii") as f:
            f.write(text)
        os.rename(self.control + ".new", self.control)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.target], check=False)
        self.process.terminate()
        self.process.wait(timeout=60)


def settle(recorder, directory):
    """The end: the sums are right, and all samples that count as written are in the files."""
    code, summary = recorder.stop_json()
    check(summary["samples"] == summary["samples_written"] + summary["samples_lost"], summary)
    check(code == (2 if summary["samples_lost"] else 0), f"exit {code}, {summary}")
    now = samples(*check_sound(directory))
    check(len(now) == summary["samples_written"], f"{len(now)} samples in the files, {summary}")
    check(all(a < b for a, b in zip(now, now[1:])), "samples are out of order")
    print(f"# {summary['samples']} samples, {summary['samples_lost']} lost")
    return summary


def fails_with(name, text, some_lost):
    """Writing fails for some time."""
    with Trouble(name) as disk:
        directory = os.path.join(disk.target, "data")
        with Recorder(directory, *FAST, log=os.path.join(root, name + ".log")) as recorder:
            recorder.wait_file(directory)
            disk.say(text)
            recorder.wait_log(FAILS)
            if some_lost:
                time.sleep(2.5)  # more than waits in the queue
            disk.say("")
            recorder.wait_log(WORKS)
            time.sleep(0.3)
            summary = settle(recorder, directory)
            check(bool(summary["samples_lost"]) or not some_lost, "nothing was lost")
            check(recorder.log().count(FAILS) == 1, recorder.log())
            if summary["samples_lost"]:
                check("samples were lost" in recorder.log(), recorder.log())
                told = f"{summary['samples_lost']} samples could not be written"
                check(told in recorder.log(), f"not told: {told}: {recorder.log()}")


def short_writes():
    """writes of seven bytes at a time: nothing is lost, nothing is reported"""
    with Trouble("short") as disk:
        directory = os.path.join(disk.target, "data")
        disk.say("short\n")
        with Recorder(directory, *SLOW, log=os.path.join(root, "short.log")) as recorder:
            recorder.wait_file(directory)
            for _ in range(1200):
                if len(samples(*archives(directory))) > 25:  # two flushes
                    break
                time.sleep(0.05)
            summary = settle(recorder, directory)
            check(not summary["samples_lost"] and not recorder.log(), (summary, recorder.log()))


def no_space():
    """ENOSPC"""
    fails_with("enospc", f"write {errno.ENOSPC}\n", True)


def no_quota():
    """EDQUOT: a quota that is used up"""
    fails_with("edquot", f"write {errno.EDQUOT}\n", False)


def input_output():
    """EIO when writing"""
    fails_with("eio", f"write {errno.EIO}\n", True)


def read_only():
    """EROFS: remounted read-only, and writable again"""
    fails_with("erofs", f"write {errno.EROFS}\n", False)


def lost_flush():
    """EIO when flushing, and data that was considered written is gone: it is written once more"""
    fails_with("flush", f"flush {errno.EIO}\n", True)


def second(directory, log):
    """Another recorder of the same name."""
    return Recorder(directory, *SLOW, log=os.path.join(root, log))


def refused(directory, log):
    """Is another recorder of the same name refused?"""
    with second(directory, log) as other:
        code = other.process.wait(timeout=120)
        check(code == 2 and "another recorder" in other.log(), f"exit {code}: {other.log()}")


def directory_recreated():
    """removing a directory does not release the lock: a second recorder is refused"""
    directory = os.path.join(root, "again")
    with Recorder(directory, *SLOW) as recorder:
        recorder.wait_file(directory)
        refused(directory, "again-1.log")
        os.rename(directory, directory + ".old")
        recorder.wait_file(directory)
        refused(directory, "again-2.log")
        os.unlink(os.path.join(directory, ".d.lock"))
        for _ in range(1200):
            if os.path.exists(os.path.join(directory, ".d.lock")):
                break
            time.sleep(0.05)
        refused(directory, "again-3.log")
        code, summary = recorder.stop_json()
        check(code == 0 and not summary["samples_lost"], (code, summary, recorder.log()))
    check_sound(directory)


def lock_taken():
    """a recorder that returns while another one has the directory waits until that one has ended"""
    directory = os.path.join(root, "taken")
    with Recorder(directory, *SLOW) as first:
        first.wait_file(directory)
        first.process.send_signal(signal.SIGSTOP)
        shutil.rmtree(directory)
        with second(directory, "taken-2.log") as other:
            other.wait_file(directory)
            first.process.send_signal(signal.SIGCONT)
            first.wait_log("another recorder")
            check(len(archives(directory)) == 1, archives(directory))
            code, summary = other.stop_json()
            check(code == 0 and not summary["samples_lost"], (code, summary))
        first.wait_log(WORKS)
        code, summary = first.stop_json()
        check(code in (0, 2), (code, first.log()))
    check_sound(directory)


def main():
    global root
    if os.environ.get(APART) != "1" and os.geteuid() == 0 and \
            subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0:
        os.environ[APART] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "slave", sys.executable,
                              os.path.abspath(__file__)])
    root = tempfile.mkdtemp(prefix="limpet-disks-")
    try:
        return run_tests([short_writes, no_space, no_quota, input_output, read_only, lost_flush,
                          directory_recreated, lock_taken])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
