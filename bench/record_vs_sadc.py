#!/usr/bin/env python3
"""The cost of a sample for `limpet record` and `sadc`, on the same devices in the same run.

usage: BUILD=build-bench bench/record_vs_sadc.py [--seconds N] [--devices N]
                                                  [--modes idle,busy,udev]

Needs root: it creates loop devices on sparse files (and always removes them), starts both recorders with 1 s
samples, and reads their CPU time (all threads, nanoseconds) from /proc/PID/task/*/schedstat twice, so that
start-up does not count. "busy" writes to a quarter of the devices at the same time; "udev" is idle with the
links in /dev/disk/by-id that udev creates for real disks (and this machine may lack). Bytes per sample are
the growth of a file per sample; "sealed" and "xz" apply to the whole file minus a file of two samples,
because both begin with a catalogue.
"""
import argparse
import glob
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "..", "build"))
LIMPET = os.path.join(BUILD, "src/cli/limpet")
SADC = "/usr/lib/sysstat/sadc"
CPU_LIMIT, BYTES_LIMIT = 1 / 8, 1 / 20
WARM_UP = 12  # seconds: after the first flush of limpet


def loop_devices(n, directory):
    """Create loop devices that have done some work: sadc leaves out those without any."""
    devices = []
    for i in range(n):
        image = os.path.join(directory, f"disk{i}")
        with open(image, "wb") as f:
            f.truncate(64 << 20)
        done = subprocess.run(["losetup", "-f", "--show", image], check=True, capture_output=True,
                              text=True)
        device = done.stdout.strip()
        devices.append(device)
        yield device
        with open(device, "r+b", buffering=0) as f:
            f.write(b"x" * 65536)
            os.fsync(f)
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            f.seek(0)
            f.read(65536)


class Links:
    """/dev/disk/by-id as udev makes it where disks have World Wide Names. sadc searches it for every disk in
    every sample. Created only if it does not exist, and removed again."""

    DIRECTORY = "/dev/disk/by-id"

    def __init__(self, devices):
        self.made = []
        if os.path.exists(self.DIRECTORY):
            return
        for path in (os.path.dirname(self.DIRECTORY), self.DIRECTORY):
            if not os.path.isdir(path):
                os.mkdir(path)
                self.made.append(path)
        for i, device in enumerate(devices):
            link = f"{self.DIRECTORY}/wwn-0x5000c500a0{i:06x}"
            os.symlink("../../" + os.path.basename(device), link)
            self.made.append(link)

    def stop(self):
        for path in reversed(self.made):
            os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


class Load:
    """Writers with varying pace and size, one process per few devices."""

    def __init__(self, devices):
        self.children = []
        for i in range(4):
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                self.write(devices[i::4], random.Random(i))
            self.children.append(pid)

    @staticmethod
    def write(devices, rnd):
        files = [os.open(d, os.O_WRONLY | os.O_DSYNC) for d in devices]
        data = os.urandom(1 << 18)
        while True:
            size = 4096 * rnd.randint(1, 64)
            os.pwrite(rnd.choice(files), data[:size], 4096 * rnd.randint(0, 16000))
            time.sleep(rnd.uniform(0, 0.02))

    def stop(self):
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def cpu_ns(pid):
    """Time on the CPU of all threads."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def size(pattern):
    return sum(os.path.getsize(p) for p in glob.glob(pattern))


class Growth:
    """The size of a file that grows in steps, and the time of each step."""

    def __init__(self, pattern):
        self.pattern, self.steps = pattern, []

    def look(self):
        now = size(self.pattern)
        if now and (not self.steps or now != self.steps[-1][1]):
            self.steps.append((time.monotonic(), now))

    def per_second(self, since):
        """Between the first and the last step after `since`."""
        steps = [s for s in self.steps if s[0] >= since]
        if len(steps) < 2:
            return float("nan")
        return (steps[-1][1] - steps[0][1]) / round(steps[-1][0] - steps[0][0])


def limpet_args(directory):
    return [LIMPET, "record", "--loops", "--interval", "1s", "--name", "bench", "-q", "-o", directory]


def measure(directory, seconds):
    """Both at the same time: a dict of figures."""
    sa, out = os.path.join(directory, "sa"), os.path.join(directory, "limpet")
    sadc = subprocess.Popen([SADC, "-S", "DISK", "1", str(WARM_UP + seconds + 60), sa],
                            stdout=subprocess.DEVNULL)
    ours = subprocess.Popen(limpet_args(out))
    growth = {"sadc": Growth(sa), "limpet": Growth(out + "/*.lpa")}
    try:
        begin = time.monotonic()
        cpu = {}
        while time.monotonic() < begin + WARM_UP + seconds:
            time.sleep(0.1)
            for g in growth.values():
                g.look()
            if not cpu and time.monotonic() >= begin + WARM_UP + 0.5:
                cpu = {"since": time.monotonic(), "sadc": cpu_ns(sadc.pid), "limpet": cpu_ns(ours.pid)}
        samples = time.monotonic() - cpu["since"]
        result = {"sadc_ms": (cpu_ns(sadc.pid) - cpu["sadc"]) / samples / 1e6,
                  "limpet_ms": (cpu_ns(ours.pid) - cpu["limpet"]) / samples / 1e6,
                  "sadc_raw": growth["sadc"].per_second(cpu["since"]),
                  "limpet_live": growth["limpet"].per_second(begin)}
    finally:
        for process in (sadc, ours):
            process.send_signal(signal.SIGTERM)
            process.wait()
    result["samples"] = WARM_UP + seconds
    result["sadc_xz_total"] = len(lzma.compress(open(sa, "rb").read(), preset=6))
    result["limpet_sealed_total"] = size(out + "/*.lpa")
    shutil.rmtree(out)
    os.unlink(sa)
    return result


def base_sizes(directory):
    """The sizes of files of two samples: (sadc after xz, limpet sealed)."""
    sa, out = os.path.join(directory, "sa0"), os.path.join(directory, "limpet0")
    subprocess.run([SADC, "-S", "DISK", "1", "2", sa], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*limpet_args(out), "--duration", "1s"], check=True)
    result = len(lzma.compress(open(sa, "rb").read(), preset=6)), size(out + "/*.lpa")
    shutil.rmtree(out)
    os.unlink(sa)
    return result


def report(mode, r, base):
    n = r["samples"] - 2
    xz = (r["sadc_xz_total"] - base[0]) / n
    sealed = (r["limpet_sealed_total"] - base[1]) / n
    cpu = r["limpet_ms"] / r["sadc_ms"]
    print(f"\n{mode}: {r['samples']} samples")
    print(f"  {'':24}{'sadc':>10}{'limpet':>10}{'ratio':>10}{'limit':>10}")

    def row(title, a, b, limit, digits):
        ratio = b / a if a else float("nan")
        verdict = "" if limit is None else f"1/{1 / limit:.0f} " + ("ok" if ratio <= limit else "NO")
        print(f"  {title:24}{a:10.{digits}f}{b:10.{digits}f}{'1/%.1f' % (1 / ratio) if ratio > 0 else '-':>10}"
              f"{verdict:>10}")

    row("CPU ms a sample", r["sadc_ms"], r["limpet_ms"], CPU_LIMIT, 3)
    row("bytes: raw, live", r["sadc_raw"], r["limpet_live"], BYTES_LIMIT, 1)
    row("bytes: raw, sealed", r["sadc_raw"], sealed, BYTES_LIMIT, 1)
    row("bytes: xz -6, live", xz, r["limpet_live"], None, 1)
    row("bytes: xz -6, sealed", xz, sealed, None, 1)
    return cpu <= CPU_LIMIT and r["limpet_live"] <= r["sadc_raw"] * BYTES_LIMIT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--devices", type=int, default=64)
    parser.add_argument("--modes", default="idle,busy,udev")
    args = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists(SADC):
        sys.exit("needs root (loop devices) and sysstat's sadc")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    directory = tempfile.mkdtemp(prefix="limpet-bench-")
    devices, load, good = [], None, True
    try:
        for device in loop_devices(args.devices, directory):
            devices.append(device)
        print(f"{len(devices)} loop devices, {args.seconds} s, "
              + subprocess.run([SADC, "-V"], capture_output=True, text=True).stdout.split("\n")[0])
        base = base_sizes(directory)
        for mode in args.modes.split(","):
            load = {"busy": Load, "udev": Links}.get(mode, lambda _: None)(
                devices[::4] if mode == "busy" else devices)
            result = measure(directory, args.seconds)
            if load:
                load.stop()
                load = None
            good &= report(mode, result, base)
    finally:
        if load:
            load.stop()
        for device in devices:
            subprocess.run(["losetup", "-d", device], capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
