#!/usr/bin/env python3
"""A disk that is 8 times slower for some minutes of 2.5 hours of 5 s data is named, wherever they lie, and nobody else."""
import datetime

import fleet
import tap
from program import run_tests
from verdicts import check_nobody, check_only

MINUTES = (3, 5, 10, 15, 18, 22)
# When it begins, in minutes, and the disk: at the beginning, in the middle, up to the end.
PLACES = (("early", lambda minutes: 8, "s2/disk:sda"),
          ("midway", lambda minutes: 71, "s5/disk:sdc"),
          ("last", lambda minutes: 150 - minutes, "s3/disk:sdd"))


# Two steps of the horizon that sees it.
WITHIN_S = 30


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check_times(suspect, begin, span, still):
    """It is told since when, and until when."""
    first, last = seconds(suspect["first"]), seconds(suspect["last"])
    tap.check(abs(first - begin) <= WITHIN_S and suspect["first_error_s"] <= WITHIN_S, suspect)
    tap.check(abs(last - begin - span) <= WITHIN_S and suspect["ended"] == (not still), suspect)


def slow_for(minutes, place, begin, disk):
    """A test case: slow for so long, there."""
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


if __name__ == "__main__":
    run_tests([slow_for(m, *place) for m in MINUTES for place in PLACES] + [sound(s) for s in (1, 2, 3)])
