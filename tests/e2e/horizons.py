#!/usr/bin/env python3
"""In 2.5 hours of 5 s data, a disk that is 8 times as slow for some minutes, at any time, is named, and no other.
Servers that come and go."""
import datetime
import json
import os
import re

import fleet
import tap
from program import limpet, run_tests, tests_of
from tap import check
from verdicts import absent, accused, check_nobody, check_only, diagnose

MINUTES = (3, 5, 10, 15, 18, 22)
# The beginning of the fault, in minutes, and the disk: at the start, in the middle, up to the end.
PLACES = (("early", lambda minutes: 8, "s2/disk:sda"),
          ("midway", lambda minutes: 71, "s5/disk:sdc"),
          ("last", lambda minutes: 150 - minutes, "s3/disk:sdd"))


# Two steps of the horizon that sees it.
WITHIN_S = 30


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check_times(suspect, begin, span, still):
    """The verdict has its beginning and its end."""
    first, last = seconds(suspect["first"]), seconds(suspect["last"])
    tap.check(abs(first - begin) <= WITHIN_S and suspect["first_error_s"] <= WITHIN_S, suspect)
    tap.check(abs(last - begin - span) <= WITHIN_S and suspect["ended"] == (not still), suspect)


def slow_for(minutes, place, begin, disk):
    """A test case: slow for this long, at this time."""
    def test(directory):
        made = fleet.striped(seed=minutes, slow=disk, at_min=begin(minutes), minutes=minutes)
        suspect = check_only(f"{minutes} minutes, {place}", disk, made.write(directory))
        check_times(suspect, fleet.START + begin(minutes) * 60, minutes * 60, place == "last")
    test.__doc__ = f"{minutes} minutes, {place}: {disk} and nobody else"
    return test


def sound(seed):
    """A test case: nothing is wrong."""
    def test(directory):
        check_nobody("a sound fleet", fleet.striped(seed=seed).write(directory))
    test.__doc__ = f"a sound fleet is well (seed {seed})"
    return test


def begin_late(made, observer, minutes):
    """The rows of a fleet in which one server has only its last minutes."""
    begin = made.start + 60 * (made.minutes - minutes)
    for at, component, metric, value in made.rows():
        if component.split("/")[0] != observer or at > begin:
            yield f"{at},{component},{metric},{value}"


def newcomer(minutes):
    """A test case: the fleet has run for this long when a server with a slow disk joins."""
    def test(directory):
        made = fleet.Fleet(6, 1, minutes=minutes, seed=minutes)
        made.slow("s6/disk:sda", at_min=0, minutes=minutes)
        path = os.path.join(directory, "joins.csv")
        with open(path, "w", encoding="ascii") as f:
            print("time,component,metric,value", *begin_late(made, "s6", 10), sep="\n", file=f)
        check_only("a newcomer", "s6/disk:sda", path)
    test.__doc__ = f"a server that has joined 10 minutes before the end, after {minutes - 10} minutes, has a slow disk"
    return test


def uneven(made):
    """Servers that differ by some percent: their disks are compared only with those of the same server."""
    for i, observer in enumerate(made.observers):
        for disk in made.disks.values():
            disk.share = 1 + 0.05 * i if disk.observer == observer else disk.share
    return made


def leaves(step_s, minutes, gone):
    """A test case: a whole server disappears `gone` minutes before the end."""
    def test(directory):
        made = uneven(fleet.Fleet(6, 6, minutes=minutes, step_s=step_s, seed=3))
        made.end_early("s6", 60 * gone)
        _, verdict = diagnose(made.write(directory))
        check(list(accused(verdict)) == [], accused(verdict))
        check({c.split("/")[0] for c in absent(verdict)} == {"s6"}, absent(verdict))
        tap.check(len(verdict["incidents"]) == 1 and verdict["incidents"][0]["cause"] == "server-down", verdict["incidents"])
    test.__doc__ = f"{step_s} s data: a server that has been away for {gone} minutes is down"
    return test


def test_away_for_a_while(directory):
    """15 s data: a server that has been absent for 20 minutes is not yet down, but the verdict is not well either"""
    made = fleet.Fleet(6, 4, minutes=150, step_s=15, seed=5)
    made.end_early("s2", 20 * 60)
    ran = limpet("diagnose", "--json", made.write(directory))
    tap.check(ran.code == 4 and "no data from s2" in json.loads(ran.out)["headline"], ran)


def test_heat_map_of_the_past(directory):
    """a disk that was slow half an hour ago: the heat map shows the others like their peers, not far below them"""
    made = fleet.Fleet(6, 1, minutes=60, step_s=5, seed=4)
    made.slow("s3/disk:sda", at_min=30, minutes=18)
    report = os.path.join(directory, "report.html")
    ran = limpet("diagnose", "--html", report, made.write(directory))
    tap.check(ran.code == 1 and "s3: disk sda was slow" in ran.out, ran)
    with open(report, encoding="utf-8") as f:
        rows = re.findall(r'data-name="(s\d)/disk:sda".*?data-level="([^"]*)"', f.read(), re.S)
    tap.check(len(rows) == 6, rows)
    like = ord("0") + 27  # a character per window, in quarters of a doubling
    for observer, levels in rows:
        furthest = max(abs(ord(c) - like) for c in levels if c != ".")
        tap.check((furthest > 8) == (observer == "s3"), (observer, levels))


if __name__ == "__main__":
    run_tests([newcomer(m) for m in (120, 130, 145)] + [leaves(15, 240, 120), leaves(1, 30, 10)] + tests_of(__name__) +
              [slow_for(m, *place) for m in MINUTES for place in PLACES] + [sound(s) for s in (1, 2, 3)])
