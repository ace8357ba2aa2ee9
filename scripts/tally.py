#!/usr/bin/env python3
"""tally.py NAME=WHAT...: count test cases and print "N passed, N failed[, N skipped]" last.

WHAT is a meson build directory in which tests were run, a file of TAP, or the word "failed" if the build failed.
DIR:SUITE is a build in which only the tests of one suite had to run. Tests may be run in several parts, each with a
separate log, DIR/meson-logs/testlog*.json; a test that is in none of them has failed. A test that failed first and
passed in testlog-second.json has passed, and is listed as unsteady. In a test that prints TAP each numbered line is a
case; any other test is one case. Exits with 1 if anything failed, or if nothing was run.

tally.py --failed DIR SUITE...: print the names of the tests of these suites that failed.
"""
import collections
import glob
import itertools
import json
import os
import re
import subprocess
import sys

CASE = re.compile(r"^(not )?ok\b(?:\s+(\d+))?\s*-?\s*([^#]*)(?:#\s*(SKIP|TODO)\S*\s*(.*))?", re.I)
# This many lines of a failed case's output are repeated at the end, where readers look first; the last lines of a
# traceback are the most useful.
WORDS_FIRST, WORDS_LAST = 3, 3
SECOND = "testlog-second.json"
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?", re.I)


def said(lines):
    """The remarks that these lines begin with, shortened and indented."""
    remarks = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    if len(remarks) > WORDS_FIRST + WORDS_LAST:
        remarks[WORDS_FIRST:-WORDS_LAST] = ["# ..."]
    return "".join(f"\n    {line[:200]}" for line in remarks)


class Tally:
    """Cases of one suite in one build."""

    def __init__(self):
        self.passed, self.failures, self.skips, self.unsteady = 0, [], [], []

    def add_tap(self, test, text):
        """Count the cases of a TAP stream; an unfulfilled plan is a failure."""
        planned, seen, lines = None, 0, text.splitlines()
        for at, line in enumerate(lines):
            plan, case = PLAN.match(line), CASE.match(line)
            if plan:
                planned = int(plan[1])
                if planned == 0:
                    self.skips.append((test, plan[2] or "no reason given"))
            elif case:
                seen += 1
                title = f"{test}: {case[3].strip() or case[2]}"
                if case[1]:
                    self.failures.append(title + said(lines[at + 1:]))
                elif case[4] and case[4].upper() == "SKIP":
                    self.skips.append((title, case[5] or "no reason given"))
                else:
                    self.passed += 1
        if planned is None or planned != seen:
            self.failures.append(f"{test}: {seen} of {planned} planned cases ran")

    def add_plain(self, test, run):
        if run["result"] in ("OK", "EXPECTEDFAIL"):
            self.passed += 1
        elif run["result"] == "SKIP":
            output = (run.get("stdout", "") + run.get("stderr", "")).strip()
            self.skips.append((test, output.splitlines()[-1] if output else "no reason given"))
        else:
            self.failures.append(f"{test}: {run['result']}")

    def add_run(self, test, protocol, run):
        """Count one test of meson's log."""
        if protocol != "tap":
            self.add_plain(test, run)
            return
        if "1.." not in run.get("stdout", ""):
            self.failures.append(f"{test}: {run['result']}, without a plan of its cases")
            return
        failed = len(self.failures)
        self.add_tap(test, run["stdout"])
        if run["result"] not in ("OK", "SKIP") and len(self.failures) == failed:
            # All its cases passed, but it failed: a sanitizer, a crash at exit, a timeout.
            self.failures.append(f"{test}: {run['result']} (exit status {run['returncode']})")


    def add_runs(self, test, protocol, first, second):
        """Count a test that may have been run a second time."""
        if second and second["result"] == "OK":
            probe = Tally()
            probe.add_run(test, protocol, first)
            self.unsteady += probe.failures
            first = second
        self.add_run(test, protocol, first)


def known_tests(build, only):
    """(command) -> (suite, name, protocol) of every test of the build, or of one suite."""
    out = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                         capture_output=True, text=True).stdout
    return {tuple(t["cmd"]): (t["suite"][0].split(":")[-1], t["name"], t["protocol"])
            for t in json.loads(out) if not only or f"limpet:{only}" in t["suite"]}


def read_logs(build, second=False):
    """Every run in the logs of a build; incomplete lines are ignored."""
    for log in sorted(glob.glob(os.path.join(glob.escape(build), "meson-logs", "testlog*.json"))):
        if (os.path.basename(log) == SECOND) != second:
            continue
        with open(log, encoding="utf-8", errors="replace") as lines:
            yield from (json.loads(line) for line in lines if line.endswith("}\n"))


def read_build(label, what, tallies):
    """Count the tests of a build directory, or of DIR:SUITE."""
    build, _, only = what.partition(":")
    tests = known_tests(build, only)
    missing = dict(tests)
    second = {tuple(run["command"]): run for run in read_logs(build, second=True)}
    for run in read_logs(build):
        command = tuple(run["command"])
        suite, name, protocol = tests.get(command, ("-", run["name"], "exitcode"))
        tallies[label, suite].add_runs(name, protocol, run, second.get(command))
        missing.pop(command, None)
    for suite, name, _ in missing.values():
        tallies[label, suite].failures.append(f"{name}: was not run")


def print_failed(build, suites):
    """The names of the tests of some suites that failed."""
    out = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                         capture_output=True, text=True).stdout
    names = {tuple(t["cmd"]): t["name"] for t in json.loads(out)
             if any(f"limpet:{suite}" in t["suite"] for suite in suites)}
    for run in read_logs(build):
        if run["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and tuple(run["command"]) in names:
            print(names[tuple(run["command"])])


def report(tallies):
    print(f"\n{'build':<14} {'suite':<12} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for (label, suite), t in tallies.items():
        print(f"{label:<14} {suite:<12} {t.passed:>7} {len(t.failures):>7} {len(t.skips):>8}")
    skips = [(label, test, why) for (label, _), t in tallies.items() for test, why in t.skips]
    if skips:
        print("\n" + ("!!! SKIPPED IN CI: these tests proved nothing in this run !!!"
                      if os.environ.get("CI") else "Skipped:"))
    for label, test, why in skips:
        print(f"  {label}: {test}: {why}")
    unsteady = [(label, title) for (label, _), t in tallies.items() for title in t.unsteady]
    if unsteady:
        print("\n!!! UNSTEADY: these failed among the others and passed when they were run again alone !!!")
    for label, title in unsteady:
        print(f"  {label}: {title}")
    failures = [(label, title) for (label, _), t in tallies.items() for title in t.failures]
    if failures:
        print("\nFailed:")
    for label, title in failures:
        print(f"  {label}: {title}")
    passed = sum(t.passed for t in tallies.values())
    print(f"\n{passed} passed, {len(failures)} failed" +
          (f", {len(skips)} skipped" if skips else ""))
    return 1 if failures or not passed else 0


def main():
    if sys.argv[1:2] == ["--failed"]:
        return print_failed(sys.argv[2], sys.argv[3:])
    tallies = collections.defaultdict(Tally)
    for arg in sys.argv[1:]:
        label, what = arg.split("=", 1)
        if what == "failed":
            tallies[label, "build"].failures.append("the build failed")
        elif os.path.isdir(what.partition(":")[0]):
            read_build(label, what, tallies)
        elif not os.path.exists(what):
            tallies[label, "-"].failures.append(f"{label}: was not run")
        else:
            with open(what, encoding="utf-8", errors="replace") as tap:
                tallies[label, "-"].add_tap(label, tap.read())
    return report(tallies)


if __name__ == "__main__":
    sys.exit(main())
