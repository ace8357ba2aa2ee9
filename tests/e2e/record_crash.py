#!/usr/bin/env python3
"""kill -9 at 200 random moments: every file reads, only the promised tail is missing, the next recorder continues the
same file, and in the end everything is there, in order."""
import concurrent.futures
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time

from recording import (BUILD, Recorder, archives, check, check_sound, limpet, run_tests, samples,
                       sanitized)

KILLS = 40 if sanitized() else 200
WORKERS = 4
INTERVAL_US, FLUSH = 100_000, 5  # samples
OPTIONS = ("--interval", "100ms", "--flush", "500ms", "--name", "crash", "--collect",
           "diskstats,netdev,host", "--quiet")
# Enough disks for frames of a realistic size.
DISKS = ("--loops", "--partitions")


def witnessed(path):
    """The number of samples that the last recorder began. None: unknown."""
    if sanitized() or not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return struct.unpack("<Q", f.read(8))[0]


class Victim:
    """One directory and the recorders that die in it."""

    def __init__(self, directory, seed):
        self.directory, self.seen, self.missing = directory, [], []
        self.random = random.Random(seed)
        self.witness = directory + ".witness"

    def start(self):
        env = {}
        if not sanitized():
            if os.path.exists(self.witness):
                os.unlink(self.witness)
            env = {"LD_PRELOAD": BUILD + "/tests/e2e/libwitness.so", "WITNESS": self.witness}
        return Recorder(self.directory, *OPTIONS, *DISKS, env=env)

    def kill_once(self, gently):
        """Kill a recorder somewhere in its life; gently: first SIGTERM, so that it is sealing."""
        with self.start() as recorder:
            time.sleep(self.random.uniform(0.02, 1.3))
            if gently:
                recorder.process.send_signal(signal.SIGTERM)
                time.sleep(self.random.uniform(0, 0.006))
            recorder.process.kill()
            recorder.process.wait()
            check(not recorder.log(), recorder.log())
        self.look(gently)

    def look(self, gently):
        """The old samples are still there, the new ones follow; how many are missing?"""
        if not os.path.isdir(self.directory):
            return
        files = check_sound(self.directory)
        check(len(files) <= 2, f"restarts did not go on with the same file: {files}")
        now = samples(*files)
        check(now[:len(self.seen)] == self.seen, "samples that were there are gone")
        check(all(a < b for a, b in zip(now, now[1:])), "samples are out of order")
        taken = witnessed(self.witness)
        if taken is not None and not gently:
            self.missing.append(taken - (len(now) - len(self.seen)))
        self.seen = now


def fate(number, root):
    victim = Victim(os.path.join(root, str(number)), 4711 + number)
    for i in range(KILLS // WORKERS):
        victim.kill_once(gently=i % 4 == 3)
    return victim


def crash(root, victims):
    """killed at random moments, every file can be read, and no flushed sample is lost"""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for victim in pool.map(fate, range(WORKERS), [root] * WORKERS):
            victims.append(victim)
    total = sum(len(v.seen) for v in victims)
    print(f"# {KILLS} kills, {total} samples kept")
    check(total > KILLS, f"only {total} samples: the test tests nothing")


def tail(victims):
    """no more than the promised tail is missing: the flush span and one interval"""
    missing = sorted(m for v in victims for m in v.missing)
    check(missing, "nobody counted samples")
    print(f"# missing samples: median {missing[len(missing) // 2]}, most {missing[-1]}")
    check(min(missing) >= 0, "more samples in the file than were taken")
    # A batch may be on its way to the disk when a busy machine stops the writing thread.
    over = [m for m in missing if m > FLUSH + 1]
    check(len(over) * 20 <= len(missing), f"missing in {len(over)} cases: {over}")
    check(missing[-1] <= 2 * FLUSH + 1, f"{missing[-1]} samples are missing")


def finale(victims):
    """a last recorder continues, seals, and leaves only the archive"""
    for victim in victims:
        with victim.start() as recorder:
            recorder.wait_file(victim.directory)
            time.sleep(0.7)
            code, _ = recorder.stop()
            check(code == 0, f"exit {code}: {recorder.log()}")
        victim.look(gently=False)
        taken = witnessed(victim.witness)
        check(taken is None or victim.missing[-1] == 0, "SIGTERM did not flush everything")
        names = sorted(os.listdir(victim.directory))
        check(names[0] == ".crash.lock" and all(n.endswith(".lpa") for n in names[1:]),
              f"left behind: {names}")
        code, out, _ = limpet("check", "--json", *archives(victim.directory))
        check(code == 0, out)


def main():
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    root = tempfile.mkdtemp(prefix="limpet-crash-", dir=base)
    victims = []
    try:
        tests = []
        cases = [(crash, (root, victims)), (tail, (victims,)), (finale, (victims,))]
        if sanitized():
            del cases[1]  # the code that counts samples interferes with a sanitizer
        for test, args in cases:
            def bound(test=test, args=args):
                test(*args)
            bound.__doc__ = test.__doc__
            tests.append(bound)
        return run_tests(tests)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
