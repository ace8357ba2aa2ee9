"""Simulated servers with disks, for tests of the diagnosis that no recording covers.

A Fleet has servers s1, s2, ... with data disks that share one load, as those of a parallel file system do, and, on
request, an OS disk and a spare each. Things can happen to disks, and files can end early. It is written as CSV in the
long form (docs/importing.md), one file in all or one per server; archives() has limpet import it. The same seed gives
the same numbers.

    fleet = Fleet(servers=6, disks=4, minutes=150, seed=1)
    fleet.slow("s2/disk:sdb", at_min=70, minutes=10, factor=8)
    path = fleet.write(directory)
"""
import datetime
import math
import os
import random
import string

from program import good

# 2026-03-02, a Monday, at 08:00 UTC.
START = 1772438400
METRICS = ("tps", "rd_sec", "wr_sec", "await", "%util")


def iso(seconds):
    """An instant as limpet prints it."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Disk:
    """One disk: its own noise, and its events."""

    def __init__(self, observer, name, role, rng):
        self.observer, self.role = observer, role
        self.component = f"{observer}/disk:{name}"
        self.rng = rng
        self.pace = rng.lognormvariate(0, 0.05)  # disks of one model differ by some percent
        self.share = rng.lognormvariate(0, 0.03)  # and files are not spread quite evenly
        self.drift = 0.0
        self.slow = []  # (from, to, factor), in seconds since the beginning
        self.stopped_s = math.inf

    def factor(self, at_s):
        """How many times slower than it should be."""
        return math.prod([f for begin, end, f in self.slow if begin <= at_s < end])

    def sample(self, at_s, load, step_s):
        """(requests per second, await, share that are reads) of the step that ends at `at_s`."""
        rng = self.rng
        if self.role == "spare" or at_s >= self.stopped_s:
            return 0.0, 0.0, 0.0
        if self.role == "os":
            # A log line from time to time: in most steps there is no request at all.
            tps = (1 + rng.randrange(8)) / step_s if rng.random() < 0.08 else 0.0
            return tps, (rng.lognormvariate(math.log(1.5), 0.5) if tps else 0.0), 0.1
        self.drift = 0.95 * self.drift + rng.gauss(0, 0.03)
        tps = load * self.share * math.exp(self.drift) * rng.lognormvariate(0, 0.12)
        queue = 1 + load / 150
        wait = 4.0 * self.pace * queue * rng.lognormvariate(0, 0.18)
        if rng.random() < 0.01:
            wait *= rng.uniform(2, 4)  # a firmware's housekeeping
        return tps, wait * self.factor(at_s), 0.6


class Fleet:
    """Servers and the activity of their disks; see the top of this file."""

    def __init__(self, servers=6, disks=4, minutes=150, step_s=5, seed=1, os_disk=False, spare=False,
                 start=START):
        self.minutes, self.step_s, self.seed, self.start = minutes, step_s, seed, start
        self.observers = [f"s{i + 1}" for i in range(servers)]
        self.disks = {}
        self.ends_early_s = {}
        self.idle_await = "0.00"
        for observer in self.observers:
            roles = ["os"] * os_disk + ["data"] * disks + ["spare"] * spare
            for letter, role in zip(string.ascii_lowercase, roles):
                rng = random.Random(f"{seed} {observer} {letter}")
                disk = Disk(observer, f"sd{letter}", role, rng)
                self.disks[disk.component] = disk

    def components(self, role="data"):
        """The names of all disks of a role: data, os, spare."""
        return [name for name, disk in self.disks.items() if disk.role == role]

    def slow(self, component, at_min, minutes, factor=8.0):
        """From then on, for this long, its requests take `factor` times as long."""
        self.disks[component].slow.append((60 * at_min, 60 * (at_min + minutes), factor))

    def stop(self, component, at_min):
        """From then on it gets no request, while its peers continue: a path is lost."""
        self.disks[component].stopped_s = 60 * at_min

    def end_early(self, observer, seconds):
        """Its file was collected before those of the others."""
        self.ends_early_s[observer] = seconds

    def idle_is_a_gap(self):
        """A step without a request has no await, instead of 0.00 as iostat prints it."""
        self.idle_await = ""

    def _loads(self):
        """[requests per second that each data disk gets], by step: jobs come and go, and each has its bursts."""
        rng = random.Random(f"{self.seed} load")
        level, wave, loads, left = 120.0, 0.0, [], 0
        for _ in range(60 * self.minutes // self.step_s):
            if left == 0:
                level, left = rng.uniform(80, 220), rng.randrange(60, 240)
            left -= 1
            wave = 0.9 * wave + rng.gauss(0, 0.06)
            loads.append(level * math.exp(wave))
        return loads

    def rows(self):
        """(time, component, metric, text of the value), in order of time."""
        for i, load in enumerate(self._loads()):
            at_s = (i + 1) * self.step_s
            for disk in self.disks.values():
                tps, wait, reads = disk.sample(at_s, load, self.step_s)
                if at_s > 60 * self.minutes - self.ends_early_s.get(disk.observer, 0):
                    continue
                sectors = tps * 256
                values = (f"{tps:.2f}", f"{sectors * reads:.2f}", f"{sectors * (1 - reads):.2f}",
                          f"{wait:.2f}" if tps else self.idle_await,
                          f"{min(100, tps * min(wait, 7) / 10):.2f}")
                for metric, value in zip(METRICS, values):
                    yield self.start + at_s, disk.component, metric, value

    def write(self, directory, name="fleet.csv"):
        """One file with everything; its path."""
        path = os.path.join(directory, name)
        with open(path, "w", encoding="ascii") as f:
            f.write("time,component,metric,value\n")
            f.writelines(f"{at},{component},{metric},{value}\n"
                         for at, component, metric, value in self.rows())
        return path

    def write_each(self, directory):
        """One file per server, as if collected from them; the paths."""
        paths = {o: os.path.join(directory, f"{o}.csv") for o in self.observers}
        files = {o: open(path, "w", encoding="ascii") for o, path in paths.items()}
        try:
            for f in files.values():
                f.write("time,component,metric,value\n")
            for at, component, metric, value in self.rows():
                files[component.split("/")[0]].write(f"{at},{component},{metric},{value}\n")
        finally:
            for f in files.values():
                f.close()
        return list(paths.values())

    def archives(self, directory):
        """One archive per server in a new directory `archives`; its path."""
        out = os.path.join(directory, "archives")
        good("import", "csv", *self.write_each(directory), "-o", out)
        return out


def striped(servers=6, disks=4, seed=1, slow=None, at_min=70, minutes=10, factor=8.0):
    """2.5 hours of 5 s data of data disks, of which one may be slow for some minutes."""
    fleet = Fleet(servers, disks, 150, 5, seed)
    if slow:
        fleet.slow(slow, at_min, minutes, factor)
    return fleet


def with_idle_disks(data_disks=8, seed=1, slow=None, at_min=20, minutes=40, factor=8.0):
    """An hour of six servers with data disks, an OS disk that is nearly idle and a spare that is entirely idle each."""
    fleet = Fleet(6, data_disks, 60, 5, seed, os_disk=True, spare=True)
    if slow:
        fleet.slow(slow, at_min, minutes, factor)
    return fleet


def collected_late(servers=6, disks=4, seed=1, spread_s=90, minutes=30, step_s=5):
    """A healthy fleet, one file per server, each of which ends at a different time: the first `spread_s` before the
    last. The pauses between them grow, so that most files end late and some much earlier."""
    fleet = Fleet(servers, disks, minutes, step_s, seed)
    for i, observer in enumerate(fleet.observers):
        left = (servers - 1 - i) / (servers - 1)
        fleet.end_early(observer, round(spread_s * left ** 2))
    return fleet
