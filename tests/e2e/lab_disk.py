#!/usr/bin/env python3
"""The disks of a lab: a real FUSE mount and real loop devices, used, slowed down and killed."""
import mmap
import os
import random
import signal
import socket
import subprocess
import time

from lab import PATIENCE, loops, mounts, skip_unless_possible, until
from program import LIMPET, bad, run_tests, tests_of
from recording import sanitized
from tap import check, run

MAKE_DISK = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/make_disk")
MIB = 1 << 20
CHURN = 100000
CEILING_KIB = 32 << 10  # as docs/reliability.md has it; an eighth of it was seen


def ask(directory, line, name="s1/disk.ctl"):
    """Send a line to a disk; its answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(os.path.join(directory, name))
        s.sendall(line.encode() + b"\n")
        return s.makefile().readline().strip()


def partitions(device):
    """Partitions of a block device."""
    name = os.path.basename(device)
    return sorted(p for p in os.listdir(f"/sys/block/{name}") if p.startswith(name))


def pid_of(directory):
    """The process of the disk."""
    with open(f"{directory}/run/s1-disk.pid", encoding="utf-8") as f:
        return int(f.read().split()[0])


def direct(path, flags, size, data=None, at=0):
    """Read or write with O_DIRECT, which needs aligned memory."""
    fd = os.open(path, flags | os.O_DIRECT)
    try:
        with mmap.mmap(-1, size) as memory:
            if data is not None:
                memory[:] = data
                check(os.pwritev(fd, [memory], at) == size, "a short write")
                return None
            check(os.preadv(fd, [memory], at) == size, "a short read")
            return bytes(memory)
    finally:
        os.close(fd)


class Served:
    """`limpet lab disk` in a directory."""

    def __init__(self, directory, *options):
        self.directory, self.mount = directory, os.path.join(directory, "disk")
        os.mkdir(self.mount)
        self.process = subprocess.Popen(
            [LIMPET, "lab", "disk", "--image", f"{directory}/image", "--mount", self.mount,
             "--control", f"{directory}/ctl", "--size", "16M", *options])
        self.file = f"{self.mount}/disk.img"

    def __enter__(self):
        until("the disk's socket", lambda: os.path.exists(f"{self.directory}/ctl") or
              self.process.poll() is not None)
        check(self.ask("show").startswith("slow 1 busy 0 stall 0 0 "), "a new disk is as new")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        subprocess.run(["umount", "-l", self.mount], check=False, stderr=subprocess.DEVNULL)

    def ask(self, line):
        """Its answer to a line."""
        return ask(self.directory, line, "ctl")


class Made:
    """A server's whole disk in a directory, by disk_up()."""

    def __init__(self, directory):
        self.directory = directory
        for name in ("mem", "log", "run"):
            os.mkdir(f"{directory}/{name}")
        self.device = run(MAKE_DISK, "up", directory).strip()
        self.brick = f"{directory}/s1/brick"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([MAKE_DISK, "down", self.directory], check=False, timeout=120,
                       stderr=subprocess.DEVNULL)

    def down(self):
        """Take it down, which must work, and leave nothing."""
        run(MAKE_DISK, "down", self.directory, timeout=120)
        check(loops(self.directory) == [], "a loop device is left")
        check(mounts(self.directory) == [], f"mounts are left: {mounts(self.directory)}")
        check(partitions(self.device) == [] or
              os.path.exists(f"/sys/block/{os.path.basename(self.device)}/loop/backing_file"),
              "partitions are left")  # (unless another process already has the device)
        check(not os.path.exists(f"{self.directory}/run/s1-disk.pid"), "the program is left")
        check(not os.path.exists(f"{self.directory}/mem/s1.img"), "the image is left")


def test_file(directory):
    """data that is written to disk.img can be read again, and is in the image"""
    with Served(directory) as disk:
        check(os.listdir(disk.mount) == ["disk.img"], "one file")
        check(os.stat(disk.file).st_size == 16 * MIB, "as large as was asked for")
        data = random.Random(1).randbytes(3 * MIB)
        direct(disk.file, os.O_RDWR, len(data), data, 5 * MIB)
        check(direct(disk.file, os.O_RDONLY, len(data), at=5 * MIB) == data, "the same bytes")
        fd = os.open(disk.file, os.O_RDWR)
        check(os.pwrite(fd, b"odd", 1001) == 3, "an odd place")
        os.fsync(fd)
        check(os.pread(fd, 5, 1000) == b"\0odd\0", "odd bytes")
        check(os.pread(fd, 10, 16 * MIB - 4) == b"\0" * 4, "the end")
        check(os.pread(fd, 10, 17 * MIB) == b"", "behind the end")
        try:
            os.pwrite(fd, b"x", 16 * MIB)
            check(False, "a disk does not grow")
        except OSError:
            pass
        os.close(fd)
        with open(f"{directory}/image", "rb") as f:
            f.seek(5 * MIB)
            check(f.read(len(data)) == data, "in the image")
        words = disk.ask("show").split()
        check(int(words[words.index("bytes") + 1]) >= 6 * MIB, "bytes are counted")
        disk.process.send_signal(signal.SIGTERM)
        check(disk.process.wait(PATIENCE) == 0, "ends in peace")
        check(mounts(directory) == [] and not os.path.exists(f"{directory}/ctl"), "left nothing")


def test_control(directory):
    """the control socket sets, shows, resets and refuses"""
    with Served(directory) as disk:
        for line in ("slow 2", "busy 50", "stall 5000 1000"):
            check(disk.ask(line) == "ok", line)
        check(disk.ask("show").startswith("slow 2 busy 50 stall 5000 1000 requests "), "all of it")
        check(disk.ask("busy 99") == "error: busy: the percentage must be 0, or 0.01 to 95", "too busy")
        check(disk.ask("hello").startswith("error: 'hello' is not"), "no such word")
        check(disk.ask("reset") == "ok", "reset")
        check(disk.ask("show").startswith("slow 1 busy 0 stall 0 0 requests "), "as new")


def peak_kib(pid):
    """The most memory that a process has had so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1])


def test_churn(directory):
    """a hundred thousand names and connections leave nothing in its memory"""
    with Served(directory) as disk:
        for i in range(CHURN):
            check(not os.path.exists(f"{disk.mount}/{i}"), "a file that is not there")
        for _ in range(CHURN):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(f"{directory}/ctl")
        check(disk.ask("show").startswith("slow 1 "), "it answers")
        if not sanitized():
            check(peak_kib(disk.process.pid) < CEILING_KIB, f"{peak_kib(disk.process.pid)} KiB")


def test_time(directory):
    """requests take no less than the model says"""
    with Served(directory, "--bandwidth", "8M", "--seek-min", "5ms", "--seek-max", "9ms") as disk:
        begin = time.monotonic()
        direct(disk.file, os.O_RDONLY, 4 * MIB)
        check(time.monotonic() - begin >= 0.5, "4 MiB at 8 MiB/s")
        check(disk.ask("slow 4") == "ok", "slow")
        begin = time.monotonic()
        for i in range(10):
            direct(disk.file, os.O_RDONLY, 4096, at=(i * 7 % 11) * MIB)
        check(time.monotonic() - begin >= 10 * 0.02, "ten seeks of 20 ms")


def test_usage(directory):
    """requests that cannot be served are refused in one line"""
    bad(2, "needs --image", "lab", "disk")
    common = ("lab", "disk", "--image", f"{directory}/i", "--control", f"{directory}/c", "--mount")
    bad(2, "multiple of 4096", *common, directory, "--size", "1000")
    bad(2, "shortest seek", *common, directory, "--size", "1M", "--seek-min", "9ms",
        "--seek-max", "1ms")
    ran = bad(2, "nowhere", *common, f"{directory}/nowhere", "--size", "1M")
    check(not os.path.exists(f"{directory}/c"), f"a socket is left: {ran}")


def test_up_down(directory):
    """a whole disk: two partitions, direct I/O, a file system; then nothing, twice"""
    with Made(directory) as disk:
        name = os.path.basename(disk.device)
        check(loops(directory) == [name], "one device")
        with open(f"/sys/block/{name}/loop/dio", encoding="utf-8") as f:
            check(f.read() == "1\n", "direct I/O")
        check(partitions(name) == [f"{name}p1", f"{name}p2"], "two partitions")
        check(f"{directory}/s1/brick" in mounts(directory), "a file system")
        check(ask(directory, "show").startswith("slow 1 "), "as fast as it should be")
        data = random.Random(2).randbytes(4 * MIB)
        direct(f"{disk.brick}/file", os.O_RDWR | os.O_CREAT, len(data), data)
        check(direct(f"{disk.brick}/file", os.O_RDONLY, len(data)) == data, "the same bytes")
        hog = f"{disk.device}p2"
        direct(hog, os.O_RDWR, MIB, data[:MIB], 3 * MIB)
        check(direct(hog, os.O_RDONLY, MIB, at=3 * MIB) == data[:MIB], "the other partition")
        disk.down()
        disk.down()


def fill(disk):
    """Leave something that must still be written."""
    with open(f"{disk.brick}/dirty", "wb") as f:
        f.write(os.urandom(8 * MIB))


def hurt(how):
    """A test case that does `how` to the program of a disk in use, and then takes it down."""
    def case(directory):
        with Made(directory) as disk:
            fill(disk)
            os.kill(pid_of(directory), how)
            disk.down()
    case.__doc__ = f"a disk whose program got {how.name} is removed"
    return case


test_killed = hurt(signal.SIGKILL)
test_stopped = hurt(signal.SIGSTOP)
test_ended = hurt(signal.SIGTERM)


def test_half_removed(directory):
    """a disk that was partly removed"""
    with Made(directory) as disk:
        run("umount", disk.brick)
        os.unlink(f"{directory}/s1/disk.ctl")
        disk.down()


def test_busy(directory):
    """while a process holds a file of the disk open, it says so; it is removed afterwards"""
    with Made(directory) as disk:
        with open(f"{disk.brick}/open", "wb") as f:
            f.write(b"x")
            f.flush()
            said = subprocess.run([MAKE_DISK, "down", directory], check=False, timeout=120,
                                  capture_output=True, text=True)
            check(said.returncode == 1 and disk.device in said.stderr, said.stderr)
        disk.down()


def test_up_fails(directory):
    """if it cannot be created, the error says why, and nothing is left"""
    for name in ("log", "run"):
        os.mkdir(f"{directory}/{name}")
    said = subprocess.run([MAKE_DISK, "up", directory], check=False, capture_output=True, text=True,
                          timeout=120)
    check(said.returncode == 1 and "mem/s1.img" in said.stderr, said.stderr)
    check(loops(directory) == [] and mounts(directory) == [], "something is left")


if __name__ == "__main__":
    skip_unless_possible()
    run_tests(tests_of(__name__))
