#!/usr/bin/env python3
"""make-recording.py OUT: make the recording that `make demo` diagnoses, with a real fault in it.

Six loop devices are the disks of six servers. Three clients read and write stripes across all of them with direct I/O
and wait for the slowest, as clients of a parallel file system do. After a third of the time the kernel throttles the
requests of the fourth disk to the disk below it (blkio), like a drive that retries or rebuilds, until the end. Six
recorders write what each server saw. Needs root and cgroup v1; leaves only OUT behind.
"""
import mmap
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

LIMPET = os.environ.get("LIMPET", "build/src/cli/limpet")
CGROUP = "/sys/fs/cgroup/blkio/limpet-recording"
SERVERS, SLOW, CLIENTS = 6, 4, 3
DISK_BYTES, REQUEST_BYTES = 64 << 20, 64 << 10
SECONDS = int(os.environ.get("SECONDS_IN_ALL", "480"))
THINK_S, REQUESTS_PER_S, WRITES = 0.035, 90, 0.3


def worker(server, device, barrier, stop):
    """One client's requests to one server, a stripe at a time."""
    if server == SLOW:
        with open(f"{CGROUP}/tasks", "w") as f:
            f.write(str(threading.get_native_id()))
    fd, buffer = os.open(device, os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, REQUEST_BYTES)
    try:
        while not stop.is_set():
            barrier.wait()
            at = random.randrange(DISK_BYTES // REQUEST_BYTES) * REQUEST_BYTES
            if random.random() < WRITES:
                os.pwritev(fd, [buffer], at)
            else:
                os.preadv(fd, [buffer], at)
    except threading.BrokenBarrierError:
        pass
    finally:
        os.close(fd)


def client(devices, barrier, stop):
    threads = [threading.Thread(target=worker, args=(i + 1, d, barrier, stop), daemon=True)
               for i, d in enumerate(devices)]
    for t in threads:
        t.start()
    try:
        while not stop.is_set():
            time.sleep(THINK_S * random.uniform(0.5, 1.5))
            barrier.wait()
    except threading.BrokenBarrierError:
        pass
    for t in threads:
        t.join()


def throttle(path):
    below = os.stat(path).st_dev
    for what, share in ("read", 1 - WRITES), ("write", WRITES):
        with open(f"{CGROUP}/blkio.throttle.{what}_iops_device", "w") as f:
            f.write(f"{os.major(below)}:{os.minor(below)} {round(REQUESTS_PER_S * share)}")


def record(out, devices):
    return [subprocess.Popen([
        LIMPET, "record", "--quiet", "--name", f"oss{i + 1}", "--collect", "diskstats",
        "--interval", "1s", "--duration", f"{SECONDS}s", "--disks", os.path.basename(d), "-o", out])
        for i, d in enumerate(devices)]


def run(out, directory, devices):
    stop = threading.Event()
    barriers = [threading.Barrier(SERVERS + 1) for _ in range(CLIENTS)]
    clients = [threading.Thread(target=client, args=(devices, b, stop)) for b in barriers]
    for c in clients:
        c.start()
    try:
        recorders = record(out, devices)
        time.sleep(SECONDS / 3)
        throttle(directory)
        for r in recorders:
            r.wait()
    finally:
        stop.set()
        for b in barriers:
            b.abort()
        for c in clients:
            c.join()


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    os.makedirs(CGROUP, exist_ok=True)
    devices = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            for i in range(SERVERS):
                path = os.path.join(directory, f"disk{i + 1}")
                with open(path, "wb") as f:
                    f.write(os.urandom(DISK_BYTES))
                devices.append(subprocess.run(
                    ["losetup", "--show", "-f", "--direct-io=on", path],
                    check=True, capture_output=True, text=True).stdout.strip())
            run(out, directory, devices)
        finally:
            for d in devices:
                subprocess.run(["losetup", "-d", d], check=False)
            time.sleep(0.5)
            os.rmdir(CGROUP)


if __name__ == "__main__":
    main()
