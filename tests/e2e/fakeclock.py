"""A wall clock for the recorder that a test can set: see fakeclock.c."""
import os
import struct
import time

LIBRARY = os.environ["BUILD"] + "/tests/e2e/libfakeclock.so"


class FakeClock:
    """The file of the clock, and the environment of a program that uses it."""

    def __init__(self, path, wall=None, rate=1):
        self.path, self.rate = path, rate
        self.real_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.wall_ns = time.time_ns() if wall is None else int(wall * 1e9)
        with open(path, "wb") as f:
            f.write(struct.pack("<4q", self.real_ns, self.wall_ns, rate, 0))
        self.env = {"LD_PRELOAD": LIBRARY, "FAKECLOCK": path}

    def leap(self, seconds):
        """Set it this far ahead from now on."""
        with open(self.path, "r+b") as f:
            f.seek(24)
            f.write(struct.pack("<q", int(seconds * 1e9)))
