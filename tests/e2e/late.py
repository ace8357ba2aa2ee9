#!/usr/bin/env python3
"""Files that were collected one after the other end at different times; no server is down because of that."""
import fleet
from program import run_tests, tests_of
from verdicts import check_nobody, check_only


def collected(spread_s, step_s, minutes):
    """A test case: a healthy fleet with files that end up to this many seconds apart."""
    def test(directory):
        made = fleet.collected_late(spread_s=spread_s, step_s=step_s, minutes=minutes)
        check_nobody(f"{spread_s} s apart", *made.write_each(directory))
    test.__doc__ = f"{minutes} minutes of {step_s} s data, files that end up to {spread_s} s apart: nobody is accused"
    return test


CASES = [collected(spread_s, step_s, minutes) for step_s, minutes in ((1, 2), (1, 10), (5, 30), (15, 90))
         for spread_s in (60, 90)]


def test_a_minute_apart(directory):
    """a quarter of an hour of 1 s data, collected from six servers a minute apart: no server is accused"""
    made = fleet.Fleet(6, 4, minutes=15, step_s=1, seed=4)
    for i, observer in enumerate(reversed(made.observers)):
        made.end_early(observer, 60 * i)
    check_nobody("a minute apart", *made.write_each(directory))


def test_archives(directory):
    """the same in archives"""
    check_nobody("archives", fleet.collected_late(seed=2, step_s=1, minutes=10).archives(directory))


def test_one_early(directory):
    """the same if one file ends 90 s before all others"""
    made = fleet.Fleet(6, 4, minutes=10, step_s=1, seed=4)
    made.end_early("s3", 90)
    check_nobody("one early", *made.write_each(directory))


def test_slow_all_the_same(directory):
    """a slow disk is named all the same"""
    made = fleet.collected_late(seed=3)
    made.slow("s1/disk:sdb", at_min=10, minutes=20)
    check_only("late and slow", "s1/disk:sdb", *made.write_each(directory))


if __name__ == "__main__":
    run_tests(CASES + tests_of(__name__))
