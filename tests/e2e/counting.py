#!/usr/bin/env python3
"""scripts/tally.py counts every test once, however many parts they were run in, and counts tests that were not run as
failures; scripts/test.sh runs all tests, whatever fails, and leaves nothing when it is interrupted."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from program import LIMPET, run_tests, tests_of
from tap import check, run

SCRIPTS = pathlib.Path(os.environ["SOURCE"]) / "scripts"
TALLY = SCRIPTS / "tally.py"
# A test that passes, one with two cases of which one is skipped, one that fails.
PROJECT = """project('limpet')
sh = find_program('sh')
test('plain', sh, args: ['-c', 'true'], suite: ['unit', 'threads'])
test('cases', sh, args: ['-c', 'echo 1..2; echo ok 1; echo "ok 2 # SKIP no root"'], suite: 'e2e', protocol: 'tap')
test('broken', sh, args: ['-c', 'false'], suite: 'broken')
"""

# A tree with a test of each suite, for scripts/test.sh.
TREE = """project('limpet')
sh = find_program('sh')
test('threaded', sh, args: ['-c', 'echo threaded'], suite: ['unit', 'threads'])
test('watches', sh, args: ['-c', 'echo $$ > watches.pid; exec sleep 0' + get_option('seconds')], suite: ['e2e', 'machine'])
test('cluster', sh, args: ['-c', 'echo $$ > cluster.pid; exec sleep 0' + get_option('seconds')], suite: ['e2e', 'lab'])
test('solo', sh, args: ['-c', 'echo solo'], suite: ['e2e', 'lab', 'alone'], is_parallel: false)
"""
# Replaces scripts/build.sh: configures, and fails to build the target that BROKEN names.
BUILD = """#!/bin/sh
meson setup "$1" -Dseconds=${SECONDS_OF_LAB:-} >/dev/null && mkdir -p "$1/src/cli" && ln -sf "$LIMPET" "$1/src/cli/limpet"
[ "$1" != "${BROKEN:-}" ]
"""
LINT = "#!/bin/sh\necho 1..1\necho ok 1 - all is tidy\n"


def configured(directory):
    """A build directory of that project."""
    pathlib.Path(directory, "meson.build").write_text(PROJECT, encoding="utf-8")
    build = os.path.join(directory, "build")
    run("meson", "setup", build, directory)
    return build


def tests(build, log, *suites, status=0):
    """Run some of its tests, with a separate log."""
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
    """a test that is in no log has failed, and so has a test with an incomplete line"""
    build = configured(directory)
    tests(build, "a", "--suite", "unit", "--suite", "e2e")
    last, text = tally(f"gcc={build}", status=1)
    check(last == "2 passed, 1 failed, 1 skipped" and "broken: was not run" in text, text)
    log = pathlib.Path(build, "meson-logs/testlog-a.json")
    log.write_text(log.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    last, text = tally(f"gcc={build}", status=1)
    check(text.count("was not run") == 2, text)


def test_suite(directory):
    """if only one suite of a build was to run, the other suites are not missed"""
    build = configured(directory)
    tests(build, "a", "--suite", "threads")
    check(tally(f"tsan={build}:threads", status=0)[0] == "1 passed, 0 failed", "the suite that ran")


def test_builds(directory):
    """a build that failed, and lints that were not run, are failures"""
    missing = os.path.join(directory, "lint.tap")
    last, text = tally("gcc=failed", f"lint={missing}", status=1)
    check(last == "0 passed, 2 failed", text)


def tree(directory):
    """A project that scripts/test.sh can be run in."""
    top = pathlib.Path(directory)
    scripts = top / "scripts"
    scripts.mkdir()
    for name in ("test.sh", "tally.py"):
        shutil.copy(SCRIPTS / name, scripts)
    for path, text in (("build.sh", BUILD), ("lint.sh", LINT)):
        (scripts / path).write_text(text, encoding="utf-8")
        (scripts / path).chmod(0o755)
    (top / "meson.build").write_text(TREE, encoding="utf-8")
    (top / "meson_options.txt").write_text("option('seconds', type: 'string', value: '')\n", encoding="utf-8")
    return scripts / "test.sh"


def environment(**more):
    """The environment of a separate run."""
    return {**os.environ, "LIMPET": os.path.abspath(LIMPET), "JOBS": "2", **more}


def test_whole(directory):
    """every test of each build is run, and the count is the last line"""
    text = run(tree(directory), env=environment())
    # Four in each of two builds, the threaded one again, and the lint.
    check(text.splitlines()[-1] == "10 passed, 0 failed", text)


def test_broken_build(directory):
    """a build that fails is reported, and the others are tested"""
    text = run(tree(directory), env=environment(BROKEN="build-asan"), status=1)
    check(text.splitlines()[-1] == "6 passed, 1 failed" and "asan: the build failed" in text, text)


def is_alive(pid):
    """Is there a process that has not ended? (A zombie has ended.)"""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_ended(directory):
    """a run that is interrupted ends its tests, and leaves no directory of labs"""
    script = tree(directory)
    notes = [pathlib.Path(directory, "build", name) for name in ("watches.pid", "cluster.pid")]
    with subprocess.Popen([script], env=environment(SECONDS_OF_LAB="600"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not all(note.exists() and note.read_text(encoding="utf-8").strip() for note in notes):
            check(time.monotonic() < end and process.poll() is None, "no test was begun")
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        check(process.wait(60) == 143, f"exit {process.returncode}")
    for note in notes:
        pid = note.read_text(encoding="utf-8").strip()
        end = time.monotonic() + 20  # a killed process may need a moment to end
        while is_alive(pid) and time.monotonic() < end:
            time.sleep(0.05)
        check(not is_alive(pid), f"{note.stem} goes on")
    check(not os.path.exists(f"/run/limpet/test-{process.pid}"), "its directory is left")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
