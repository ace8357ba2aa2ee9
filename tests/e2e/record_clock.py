#!/usr/bin/env python3
"""A clock that jumps while limpet records: no file is removed because of it."""
import os
import shutil
import sys
import tempfile
import time

from fakeclock import FakeClock
from recording import Recorder, archives, check, check_sound, limpet, run_tests, samples

DAY = 86400
NOW = 1709294400  # 2024-03-01T12:00:00Z
TO_2038 = 2147483000 - NOW  # shortly before it ends for 32 bits
root = None


def archive_of_day(directory, start):
    """An archive with samples from `start` on, for most of a day."""
    path = os.path.join(root, "day.csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for hour in range(20):
            f.write(f"{start + hour * 3600},h/disk:sda,await,1\n")
    code, _, err = limpet("import", "csv", path, "-o", directory, "--name", "h", "-q")
    check(code == 0, err)


def wait_newest(recorder, directory, part):
    """Wait for an archive with samples and this part in its name."""
    for _ in range(1200):
        found = [p for p in archives(directory) if part in p]
        if found and samples(found[-1]):
            return
        check(recorder.process.poll() is None, f"the recorder ended: {recorder.log()}")
        time.sleep(0.05)
    raise AssertionError(f"no archive like {part}: {archives(directory)} {recorder.log()}")


def year_2038():
    """some seconds of the year 2038 remove nothing, and are reported"""
    directory = os.path.join(root, "leap")
    clock = FakeClock(os.path.join(root, "clock"), wall=NOW)
    for day in range(5, 0, -1):
        archive_of_day(directory, NOW - day * DAY)
    before = set(archives(directory))
    check(len(before) == 5, before)
    with Recorder(directory, "--interval", "100ms", "--flush", "100ms", "--name", "h", "--keep",
                  "30d", "--collect", "host", "-q", env=clock.env) as recorder:
        wait_newest(recorder, directory, "h-20240301T12")
        clock.leap(TO_2038)
        wait_newest(recorder, directory, "h-2038")
        recorder.wait_log("until the clock has been right for a day")
        recorder.wait_log("the clock leapt by")
        clock.leap(3)
        # It is an earlier day again, which has its own file.
        for _ in range(1200):
            if len(archives(directory)) == 8 and samples(archives(directory)[6]):
                break
            time.sleep(0.05)
        code, _ = recorder.stop()
        check(code == 0, recorder.log())
    check(before <= set(archives(directory)), f"removed: {before - set(archives(directory))}")
    check(len(check_sound(directory)) == 8, archives(directory))


def main():
    global root
    root = tempfile.mkdtemp(prefix="limpet-clock-")
    try:
        return run_tests([year_2038])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
