#!/usr/bin/env python3
"""The simulated storage system of the benchmarks: its archives are valid, and the planted events are visible."""
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import tap  # noqa: E402
from program import good  # noqa: E402

GEN = os.path.join(os.environ["BUILD"], "bench/gen_intrepid")
EVENTS = """
# All in the two arrays ddn6 (fs1 to fs8) and ddn7 (fs9 to fs16); a is behind servers 1, 2, 5, 6
server-down@2h+3h:fs3
controller-failed@2h+3h:ddn7b
server-bad-state@6h+3h:fs1+fs5
lost-coherency@10h+3h:ddn7a
missing-on-servers@14h+3h:ddn6b:luns=20,servers=2
drawer-errors@14h+3h:ddn7:luns=11
slow-lun@18h+4h:6.10
slow-lun-load@18h+4h:7.20
slow-lun-idle@18h+4h:6.50
"""


def hours(text):
    return int(text[11:13]) + int(text[14:16]) / 60


class System:
    """Two arrays, one day, a sample a minute; read on a grid of 30 minutes."""

    def __init__(self, directory):
        self.dir = directory
        events = os.path.join(directory, "plan")
        with open(events, "w", encoding="utf-8") as f:
            f.write(EVENTS)
        self.out = os.path.join(directory, "system")
        generate(self.out, "--events", events)
        shown = good("show", "--csv", "-m", "await,tps", "--interval", "30m", self.archives())
        self.values = {}
        for row in csv.DictReader(io.StringIO(shown)):
            key = (row["component"], row["metric"])
            self.values.setdefault(key, {})[row["time"]] = float(row["value"] or "nan")
        self.rows = {}
        for row in self.table("attachments.csv"):
            self.rows[row["component"]] = row

    def archives(self):
        return os.path.join(self.out, "archives")

    def table(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def between(self, component, metric, first, last):
        """The values between these hours, where there are any."""
        values = self.values.get((component, metric), {})
        return [v for t, v in values.items() if first < hours(t) < last and v == v]

    def mean(self, component, metric, first, last):
        values = self.between(component, metric, first, last)
        tap.check(values, f"{component} has no {metric} from {first} to {last} h")
        return sum(values) / len(values)

    def attachment(self, lun, priority):
        for name, row in self.rows.items():
            if row["lun"] == lun and row["priority"] == str(priority):
                return name
        raise AssertionError(f"{lun} has no priority {priority}")


def generate(out, *options):
    tap.run(GEN, "-o", out, "-a", "2", "-s", "60s", "--quiet", "--columns", "await-only", *options)


def gone(s, component, first, last):
    tap.check(not s.between(component, "tps", first + 0.5, last),
              f"{component} has values from {first} to {last} h")


def idle(s, component, first, last):
    values = s.between(component, "tps", first + 0.5, last)
    tap.check(values and not any(values), f"{component} is not idle from {first} h on: {values}")


def busy(s, component, first, last):
    tap.check(s.mean(component, "tps", first + 0.5, last) > 0.3, f"{component} has no work")


def check_topology(s):
    """8 priorities, 48 old and 24 new LUNs, two controllers per array."""
    tap.check(len(s.rows) == 2 * 72 * 8, f"{len(s.rows)} attachments")
    for part, n in (("lun", 144), ("server", 16), ("controller", 4), ("array", 2)):
        tap.check(len({r[part] for r in s.rows.values()}) == n, part)
    old = [r for r in s.rows.values() if r["set"] == "old" and r["priority"] == "1"]
    tap.check(len(old) == 96, f"{len(old)} old LUNs")
    row = s.rows["fs9/disk:7.00"]
    tap.check(row["priority"] == "1" and row["controller"] == "ddn7a", str(row))


def check_usual(s):
    """Before all events the first priorities work equally, and the others are idle."""
    for name, row in s.rows.items():
        if row["priority"] == "1":
            tap.check(1 < s.mean(name, "await", 0.5, 2) < 30, name)
        else:
            idle(s, name, 0, 2)


def check_lost(s):
    """A lost component has no data, an unused one is idle, and its work goes elsewhere."""
    gone(s, "fs3/disk:6.02", 2, 5)
    busy(s, s.attachment("6.02", 2), 2, 5)
    busy(s, "fs3/disk:6.02", 5, 9)
    for name, row in s.rows.items():
        if row["controller"] == "ddn7b":
            gone(s, name, 2, 5)
    busy(s, s.attachment("7.02", 3), 2, 5)  # the first behind controller a
    for name, row in s.rows.items():
        if row["server"] in ("fs1", "fs5"):
            idle(s, name, 6, 9)
    for lun in ("7.00", "7.04", "7.08"):
        idle(s, s.attachment(lun, 1), 10, 13)
        idle(s, s.attachment(lun, 2), 10, 13)
        busy(s, s.attachment(lun, 3), 10, 13)
    busy(s, s.attachment("7.01", 1), 10, 13)


def check_truth(s):
    """The files of truth name every attachment that lost its data, and no other quiet component."""
    events = s.table("events.csv")
    tap.check(len(events) == 9, str(events))
    tap.check(events[1]["parts"] == "controller:ddn7b", str(events[1]))
    tap.check(events[2]["parts"] == "controller:ddn6a|server:fs1|server:fs5", str(events[2]))
    tap.check(events[1]["latest_s"] == "79560" and events[1]["soonest_s"] == "3600", str(events))
    truth = s.table("truth.csv")
    missing = [r for r in truth if r["event"] == "5" and r["role"] == "lost"]
    tap.check(len(missing) == 40, f"{len(missing)} attachments are missing")
    for row in missing:
        gone(s, row["component"], 14, 17)
    for row in (r for r in truth if r["event"] == "5" and r["role"] == "instead"):
        busy(s, row["component"], 14, 17)
    for event, name in (("7", s.attachment("6.10", 1)), ("9", s.attachment("6.50", 2))):
        lines = [r for r in truth if r["event"] == event]
        tap.check(len(lines) == 1 and lines[0]["component"] == name, str(lines))


def check_slow(s):
    """Slow LUNs are slow, with their load, with more load, and with nearly none."""
    def against_peers(name, metric, first, last):
        peers = [n for n, r in s.rows.items()
                 if r["priority"] == s.rows[name]["priority"] and r["set"] == s.rows[name]["set"]]
        others = sorted(s.mean(n, metric, first, last) for n in peers
                        if s.between(n, metric, first, last))
        return s.mean(name, metric, first, last) / max(others[len(others) // 2], 0.01)

    for row in (r for r in s.table("truth.csv") if r["event"] == "6"):
        tap.check(against_peers(row["component"], "await", 14.5, 17) > 3, str(row))
    slow = s.attachment("6.10", 1)
    tap.check(3 < against_peers(slow, "await", 18.5, 22) < 5.5, slow)
    tap.check(0.8 < against_peers(slow, "tps", 18.5, 22) < 1.25, slow)
    loaded = s.attachment("7.20", 1)
    tap.check(against_peers(loaded, "tps", 18.5, 22) > 4, loaded)
    stray = s.attachment("6.50", 2)
    tap.check(s.mean(stray, "await", 18.5, 22) > 20, stray)
    tap.check(s.mean(stray, "tps", 18.5, 22) < 1, stray)


def check_sound(s):
    """The archives pass a check, are sealed, and are the same if they are generated again."""
    files = sorted(os.listdir(s.archives()))
    tap.check(len(files) == 16, str(files))
    paths = [os.path.join(s.archives(), f) for f in files]
    out = good("check", *paths)
    tap.check(out.count(": sound,") == 16, out)
    again = os.path.join(s.dir, "again")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    subprocess.run([GEN, "-o", again, "-a", "2", "-s", "60s", "--quiet", "--columns", "await-only",
                    "--events", os.path.join(s.dir, "plan")], check=True, env=environment)
    for name, path in zip(files, paths):
        with open(path, "rb") as a, open(os.path.join(again, "archives", name), "rb") as b:
            tap.check(a.read() == b.read(), f"{name} differs")


def check_nature(s):
    """Without --quiet there are lost samples, clocks that are set, and work of servers."""
    out = os.path.join(s.dir, "wild")
    tap.run(GEN, "-o", out, "-a", "2", "-d", "3", "-s", "60s", "--seed", "7")
    shown = good("show", os.path.join(out, "archives"))
    tap.check("gap: nothing between" in shown, "no sample is lost")
    paths = [os.path.join(out, "archives", f) for f in os.listdir(os.path.join(out, "archives"))]
    tap.check(len(paths) == 48, str(len(paths)))
    good("check", *paths)


def check_refused(s):
    """Impossible events are refused."""
    for event, words in (("server-down@1h+1h:ddn6", "is no part for server-down"),
                         ("server-down@1h+1h:fs17", "is no part for server-down"),
                         ("controller-failed@1h+1h:ddn9a", "arrays are ddn6 to ddn7"),
                         ("earthquake@1h+1h:ddn6a", "no kind of event 'earthquake'"),
                         ("slow-lun@1h:6.10", "is not KIND@START+DURATION:PART"),
                         ("slow-lun@1h+1h:6.72", "is no part for slow-lun"),
                         ("slow-lun@1h+1h:6.10:colour=red", "options are luns=, servers= and")):
        done = subprocess.run([GEN, "-o", os.path.join(s.dir, "bad"), "-a", "2", "-p", event],
                              capture_output=True, text=True, check=False)
        tap.check(done.returncode == 2 and words in done.stderr, f"{event}: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="limpet-e2e-") as directory:
        system = System(directory)
        tap.main([(check.__doc__, lambda check=check: check(system))
                  for check in (check_topology, check_usual, check_lost, check_truth, check_slow,
                                check_sound, check_nature, check_refused)])


main()
