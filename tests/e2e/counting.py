#!/usr/bin/env python3
"""scripts/tally.py counts every test once, in however many parts they were run, and misses those that were not."""
import os
import pathlib

from program import run_tests, tests_of
from tap import check, run

TALLY = pathlib.Path(os.environ["SOURCE"]) / "scripts/tally.py"
# A test that passes, one with two cases of which one is skipped, one that fails.
PROJECT = """project('limpet')
sh = find_program('sh')
test('plain', sh, args: ['-c', 'true'], suite: ['unit', 'threads'])
test('cases', sh, args: ['-c', 'echo 1..2; echo ok 1; echo "ok 2 # SKIP no root"'], suite: 'e2e', protocol: 'tap')
test('broken', sh, args: ['-c', 'false'], suite: 'broken')
"""


def configured(directory):
    """A build directory of that project."""
    pathlib.Path(directory, "meson.build").write_text(PROJECT, encoding="utf-8")
    build = os.path.join(directory, "build")
    run("meson", "setup", build, directory)
    return build


def tests(build, log, *suites, status=0):
    """Run some of its tests into a log of their own."""
    run("meson", "test", "-C", build, "--no-rebuild", "--logbase", f"testlog-{log}", *suites, status=status)


def tally(*arguments, status):
    """The last line, and all of them."""
    text = run(TALLY, *arguments, status=status)
    return text.splitlines()[-1], text


def test_parts(directory):
    """tests that were run in two parts are counted together"""
    build = configured(directory)
    tests(build, "a", "--suite", "unit")
    tests(build, "b", "--no-suite", "unit", status=1)
    last, text = tally(f"gcc={build}", status=1)
    check(last == "2 passed, 1 failed, 1 skipped", text)
    check("gcc: broken: FAIL" in text and "no root" in text, text)


def test_missing(directory):
    """a test that is in no log has failed; so has one whose line was not written to its end"""
    build = configured(directory)
    tests(build, "a", "--suite", "unit", "--suite", "e2e")
    last, text = tally(f"gcc={build}", status=1)
    check(last == "2 passed, 1 failed, 1 skipped" and "broken: was not run" in text, text)
    log = pathlib.Path(build, "meson-logs/testlog-a.json")
    log.write_text(log.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    last, text = tally(f"gcc={build}", status=1)
    check(text.count("was not run") == 2, text)


def test_suite(directory):
    """of a build of which one suite was to run the others are not missed"""
    build = configured(directory)
    tests(build, "a", "--suite", "threads")
    check(tally(f"tsan={build}:threads", status=0)[0] == "1 passed, 0 failed", "the suite that ran")


def test_builds(directory):
    """a build that failed, and lints that were not run, are failures"""
    missing = os.path.join(directory, "lint.tap")
    last, text = tally("gcc=failed", f"lint={missing}", status=1)
    check(last == "0 passed, 2 failed", text)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
