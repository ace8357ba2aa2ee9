#!/usr/bin/env python3
"""Are planted events found, as which incident, and how late? And what else is in the list?

usage: BUILD=build bench/intrepid_events.py [--days N] [--every H] [--data DIR] [--groups GLOB] [--metric NAME,...]

Generates a week (or N days) of an Intrepid-like system, a sample every 15 s, with one or more events of every kind
of the thesis' Tables 5.3 to 5.6 (unless DIR has it already), and runs `limpet diagnose` every three hours on the
last two days, as an operator would. For each event it prints which incident was about it first, whether its part
was the right one, how long after the onset a run named it, and the maximum delay in the thesis for events of that
kind. Incidents without an event are listed if they were first in the list in any run, or lasted for more than a
day.
"""
import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "..", "build"))
HOUR = datetime.timedelta(hours=1)
BACK_H = 48

# Onset and duration in hours. In longer data they are planted again in each week.
WEEK = [
    ("controller-failed", 12, 60, "ddn19a"),
    ("server-down", 20, 48, "fs16"),
    ("slow-lun", 26, 130, "15.37"),
    ("server-bad-state", 30, 40, "fs56"),
    ("drawer-errors", 40, 27, "ddn10", "luns=37"),
    ("slow-lun-load", 45, 79, "20.12"),
    ("lost-coherency", 50, 22, "ddn14a"),
    ("slow-lun-idle", 55, 100, "21.34"),
    ("missing-on-servers", 60, 90, "ddn16b", "servers=2"),
    ("server-bad-state", 75, 60, "fs49+fs50+fs53"),
    ("slow-lun", 80, 80, "9.04", "factor=3"),
    ("missing-on-servers", 100, 60, "ddn11a", "servers=3"),
    ("drawer-errors", 110, 24, "ddn17", "luns=11"),
    ("controller-failed", 120, 40, "ddn8b"),
    ("server-down", 130, 30, "fs97"),
]


def generate(data, days):
    argv = [os.path.join(BUILD, "bench/gen_intrepid"), "-o", data, "-s", "15s", "-d", str(days),
            "--columns", "await-only"]
    for week in range(0, days, 7):
        for kind, start, length, part, *more in WEEK:
            if week * 24 + start < days * 24 - 12:
                argv += ["-p", f"{kind}@{week * 24 + start}h+{length}h:{part}" +
                         "".join(":" + m for m in more)]
    subprocess.run(argv, check=True)


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z"))


class Event:
    def __init__(self, row, components):
        self.number, self.kind = row["event"], row["kind"]
        self.parts = row["parts"].split("|")
        self.start, self.end = moment(row["start"]), moment(row["end"])
        self.latest = datetime.timedelta(seconds=float(row["latest_s"]))
        self.soonest = datetime.timedelta(seconds=float(row["soonest_s"]))
        self.components = components
        self.found = None  # (latency, part, right, rank, when the run was)
        self.missed_runs = 0

    def is_about(self, incident):
        """Is the incident about this event: at its time, and mostly of its attachments?"""
        if incident["first"] > self.end + 2 * HOUR or incident["last"] < self.start:
            return False
        own = sum(c in self.components for c in incident["components"])
        return incident["right"] & set(self.parts) or own * 2 >= len(incident["components"])

    def note(self, incident, rank, until):
        latency = until - self.start
        right = bool(incident["right"] & set(self.parts))
        if self.found is None or (right and not self.found[2]):
            self.found = (latency, incident["part"], right, rank, until)


def names_of(part, rows):
    """The name of a part in the list of events: servers are observers, and the disk of a LUN is a LUN."""
    names = {part, part.replace("observer:", "server:")}
    if part in rows:
        names.add("lun:" + rows[part]["lun"])
    return names


def read_system(data):
    def table(name):
        with open(os.path.join(data, name), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    components = {}
    for row in table("truth.csv"):
        components.setdefault(row["event"], set()).add(row["component"])
    events = [Event(row, components[row["event"]]) for row in table("events.csv")]
    return events, {row["component"]: row for row in table("attachments.csv")}


def diagnose(data, args, state, since, until, rows):
    argv = [os.path.join(BUILD, "src/cli/limpet"), "diagnose", "-q",
            os.path.join(data, "archives"), "--topology", os.path.join(data, "topology.yaml"),
            "--metric", args.metric, "--group", args.groups, "--state", state, "--json", "--since",
            since.isoformat() + "Z", "--until", until.isoformat() + "Z"]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 4):  # 4: too little data, in the first hours
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}")
    incidents = json.loads(done.stdout)["incidents"]
    for i in incidents:
        i["first"], i["last"] = moment(i["first"]), moment(i["last"])
        i["indicted"] = moment(i["indicted"]) if i.get("indicted") else i["first"]
        i["right"] = names_of(i["part"], rows)
    return incidents


class Stranger:
    """An incident without a planted event."""

    def __init__(self):
        self.best_rank, self.longest, self.runs, self.cause = 10 ** 6, 0 * HOUR, 0, ""

    def note(self, incident, rank):
        self.best_rank = min(self.best_rank, rank)
        self.longest = max(self.longest, incident["last"] - incident["first"])
        self.runs += 1
        self.cause = incident["cause"]


def hours(delta):
    return f"{delta / HOUR:.1f} h"


def print_events(events):
    late = 0
    print("event                 onset             found as                    right  after"
          "     thesis       rank")
    for e in events:
        if e.found is None:
            late += 1
            print(f"{e.kind:20}  {e.start:%m-%d %H:%M}  {'|'.join(e.parts):16} NOT FOUND")
            continue
        latency, part, right, rank, until = e.found
        bad = not right or latency > e.latest
        late += bad
        print(f"{e.kind:20}  {e.start:%m-%d %H:%M}  {part:32} {'yes' if right else 'NO':>6} "
              f"{hours(latency):>8} {hours(e.soonest):>7} to {hours(e.latest):>7} {rank:4}"
              f"{'   <- ' + '|'.join(e.parts) if bad else ''}")
    print(f"{len(events) - late} of {len(events)} events found as the right part in time")
    return late


def print_strangers(strangers):
    shown = {p: s for p, s in strangers.items() if s.best_rank == 1 or s.longest > 24 * HOUR}
    print(f"{len(strangers)} parts were named that nothing was planted in; first in the list, or "
          f"for more than a day: {len(shown)}")
    for part, s in sorted(shown.items(), key=lambda item: -item[1].longest):
        print(f"  {part:32} {s.cause:12} best rank {s.best_rank}, {hours(s.longest)}, in {s.runs} "
              f"runs")
    return sum(s.best_rank <= 3 and s.longest > 24 * HOUR for s in shown.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--every", type=int, default=3, help="hours from run to run")
    parser.add_argument("--data")
    parser.add_argument("--groups", default="luns priority=[12] *")
    parser.add_argument("--metric", default="await")
    args = parser.parse_args()
    strangers = {}
    with tempfile.TemporaryDirectory(prefix="limpet-bench-") as work:
        data = args.data or os.path.join(work, "week")
        if not os.path.exists(os.path.join(data, "events.csv")):
            generate(data, args.days)
        events, rows = read_system(data)
        start = datetime.datetime(2011, 4, 17)
        for h in range(args.every, args.days * 24 + 1, args.every):
            until = start + h * HOUR
            since = max(start, until - BACK_H * HOUR)
            found = diagnose(data, args, os.path.join(work, "state"), since, until, rows)
            for rank, incident in enumerate(found, 1):
                about = [e for e in events if e.is_about(incident)]
                for e in about:
                    e.note(incident, rank, until)
                if not about:
                    strangers.setdefault(incident["part"], Stranger()).note(incident, rank)
            print(f"{until:%m-%d %H:%M}: {len(found)} incidents: " +
                  ", ".join(i["part"] for i in found[:4]), flush=True)
    bad = print_events(events) + print_strangers(strangers)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
