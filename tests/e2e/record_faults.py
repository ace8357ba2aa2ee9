#!/usr/bin/env python3
"""A full disk, a directory that vanishes, a file system that turns read-only: the recorder keeps sampling,
says so once, counts lost samples, and continues writing when it can.

Runs in a separate mount namespace: its mounts and their loop devices disappear with it.
"""
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from recording import Recorder, Skip, archives, check, check_sound, run_tests, samples

OPTIONS = ("--interval", "100ms", "--flush", "100ms", "--name", "f", "--json", "--quiet")
FAILS, WORKS = "sampling continues", "writing works again"
root = None


def sh(*args):
    return subprocess.run(args, capture_output=True, text=True)


def need(done, what):
    if done.returncode:
        raise Skip(f"{what}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")


def isolated():
    return os.environ.get("LIMPET_FAULTS_ISOLATED") == "1"


def ext4(name, megabytes=8):
    """An image with a small ext4 file system that turns read-only on errors."""
    if not isolated():
        raise Skip("no mount namespace (not root?)")
    if not shutil.which("mkfs.ext4"):
        raise Skip("mkfs.ext4 is not installed")
    image = os.path.join(root, name + ".img")
    with open(image, "wb") as f:
        f.truncate(megabytes << 20)
    need(sh("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", image), "mkfs.ext4")
    return image


def mount(image, target):
    os.makedirs(target, exist_ok=True)
    need(sh("mount", "-o", "loop,errors=remount-ro", image, target), "mount -o loop")


def mount_small(target):
    """A small file system: ext4 on a loop device, else a tmpfs."""
    try:
        mount(ext4(os.path.basename(target)), target)
    except Skip as why:
        if not isolated():
            raise
        print(f"# tmpfs instead of ext4: {why}")
        os.makedirs(target, exist_ok=True)
        need(sh("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", target), "mount tmpfs")


def fill(path):
    """Write until nothing fits, down to the last byte."""
    with open(path, "wb", buffering=0) as f:
        size = 1 << 16
        while size:
            try:
                f.write(b"x" * size)
            except OSError as e:
                check(e.errno == errno.ENOSPC, str(e))
                size //= 2


def settle(recorder, directory):
    """Stop the recorder, and check what must be true after any fault: (summary, samples in the files)."""
    code, summary = recorder.stop_json()
    log = recorder.log()
    check(summary["samples"] == summary["samples_written"] + summary["samples_lost"], summary)
    check(code == (2 if summary["samples_lost"] else 0), f"exit {code}, {summary}")
    check(log.count(FAILS) == 1, f"said {log.count(FAILS)} times: {log}")
    check(log.count(WORKS) == 1, f"said {log.count(WORKS)} times: {log}")
    now = samples(*check_sound(directory))
    check(all(a < b for a, b in zip(now, now[1:])), "samples are out of order")
    print(f"# {summary['samples']} samples, {summary['samples_lost']} lost")
    return summary, now


def full_disk():
    """a full disk: continues sampling, counts, writes again when there is room"""
    target = os.path.join(root, "full")
    mount_small(target)
    directory = os.path.join(target, "data")
    with Recorder(directory, *OPTIONS, log=root + "/full.log") as recorder:
        recorder.wait_file(directory)
        fill(target + "/filler")
        recorder.wait_log(FAILS)
        time.sleep(2.5)  # more than waits in the queue
        check(samples(*check_sound(directory)), "the file does not read while the disk is full")
        os.unlink(target + "/filler")
        recorder.wait_log(WORKS)
        time.sleep(0.5)
        summary, now = settle(recorder, directory)
        check(summary["samples_lost"] > 0, "nothing was lost: the test tests nothing")
        check(len(now) == summary["samples_written"], f"{len(now)} samples in the file, {summary}")
        check(f"{summary['samples_lost']} samples were lost" in recorder.log(), recorder.log())
        check(len(archives(directory)) == 1, "the file was not continued")


def full_disk_start():
    """a disk that is full from the start: the recorder waits for room"""
    target = os.path.join(root, "start")
    mount_small(target)
    directory = os.path.join(target, "data")
    os.mkdir(directory)
    fill(target + "/filler")
    with Recorder(directory, *OPTIONS, log=root + "/start.log") as recorder:
        recorder.wait_log(FAILS)
        time.sleep(1.5)
        os.unlink(target + "/filler")
        recorder.wait_log(WORKS)
        settle(recorder, directory)


def touch(path):
    with open(path, "w", encoding="utf-8"):
        pass


def stopped(recorder, do):
    """Do something while the recorder cannot put anything back."""
    recorder.process.send_signal(signal.SIGSTOP)
    try:
        do()
    finally:
        recorder.process.send_signal(signal.SIGCONT)


def vanished():
    """rm -rf of the directory: it is created again, and only the old file is lost"""
    directory = os.path.join(root, "gone/deep")
    with Recorder(directory, *OPTIONS, log=root + "/gone.log") as recorder:
        recorder.wait_file(directory)
        stopped(recorder, lambda: shutil.rmtree(os.path.join(root, "gone")))
        recorder.wait_file(directory)
        code, summary = recorder.stop_json()
        check(code == 0, f"exit {code}: {recorder.log()}")
        check(summary["samples_lost"] == 0 and summary["files"] == 2, summary)
        check(recorder.log().count("is gone; beginning a new file") == 1, recorder.log())
        check(samples(*check_sound(directory)), "no samples")


def blocked():
    """a file in place of the directory: tried again until it is gone"""
    directory = os.path.join(root, "blocked")
    with Recorder(directory, *OPTIONS, log=root + "/blocked.log") as recorder:
        recorder.wait_file(directory)
        stopped(recorder, lambda: (shutil.rmtree(directory), touch(directory)))
        recorder.wait_log(FAILS)
        time.sleep(2.5)
        os.unlink(directory)
        recorder.wait_log(WORKS)
        summary, now = settle(recorder, directory)
        check(now and summary["samples_lost"] > 0, summary)


def read_only():
    """a file system that turns read-only: continues when another one is mounted in its place"""
    first, second = ext4("ro1"), ext4("ro2")
    target = os.path.join(root, "ro")
    mount(first, target)
    device = os.path.basename(sh("findmnt", "-n", "-o", "SOURCE", target).stdout.strip())
    trigger = f"/sys/fs/ext4/{device}/trigger_fs_error"
    if not device.startswith("loop") or not os.access(trigger, os.W_OK):
        raise Skip("cannot make an ext4 fail here")
    directory = os.path.join(target, "data")
    with Recorder(directory, *OPTIONS, log=root + "/ro.log") as recorder:
        recorder.wait_file(directory)
        with open(trigger, "w", encoding="utf-8") as f:
            f.write("test")
        recorder.wait_log(FAILS)
        time.sleep(2.5)
        check(samples(*check_sound(directory)), "the file does not read while it is read-only")
        need(sh("umount", "-l", target), "umount -l")
        mount(second, target)
        recorder.wait_log(WORKS)
        time.sleep(0.5)
        summary, now = settle(recorder, directory)
        check(now and summary["samples_lost"] > 0, summary)
    # The old file system is free now; its files are intact.
    need(sh("umount", target), "umount")
    sh("fsck.ext4", "-fy", first)
    mount(first, target)
    check(samples(*check_sound(directory)), "the first file system has no samples")


def main():
    global root
    if not isolated() and os.geteuid() == 0 and sh("unshare", "-m", "true").returncode == 0:
        os.environ["LIMPET_FAULTS_ISOLATED"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "slave", sys.executable,
                              os.path.abspath(__file__)])
    root = tempfile.mkdtemp(prefix="limpet-faults-")
    try:
        return run_tests([full_disk, full_disk_start, vanished, blocked, read_only])
    finally:
        for name in ("full", "start", "ro"):
            sh("umount", "-l", os.path.join(root, name))
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
