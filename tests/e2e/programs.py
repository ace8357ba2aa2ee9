#!/usr/bin/env python3
"""limpet and limpet-lab: limpet contains nothing of the lab; it finds the other program and executes it."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

from program import LIMPET, LIMPET_LAB, run_tests, tests_of
import tap
from tap import check, run

BUILD = pathlib.Path(os.environ["BUILD"])
SHARED = ("liblimpet-core.a", "trace/liblimpet-trace.a", "cli/liblimpet-program.a")
# Prints its arguments, repeats its input, and exits as requested. The tests use verbs that do not exist, so that no lab
# is started if the real program runs instead.
STAND_IN = """#!/bin/sh
echo "$@"
cat
case $2 in
kill) kill -TERM $$ ;;
*) echo complaint >&2; exit 7 ;;
esac
"""


def symbols(*args):
    """{name} of functions and variables that are defined."""
    lines = run("nm", "--defined-only", *args).splitlines()
    return {line.split()[2] for line in lines if len(line.split()) == 3}


def test_no_lab_in_limpet(_):
    """limpet has no symbol of the lab, and does not need libfuse"""
    # Hidden symbols of the library become local ones of the programs.
    lab = symbols("--extern-only", BUILD / "src/lab/liblimpet-lab-core.a")
    lab -= symbols(*(BUILD / "src" / a for a in SHARED))  # functions of one file may have such names
    check({"lab_up", "fault_inject", "workloads"} <= lab, f"only {sorted(lab)}")
    check("lab_up" in symbols(LIMPET_LAB), "nor has limpet-lab, so this proves nothing")
    both = {s for s in lab & symbols(LIMPET) if not s.startswith("__")}
    check(not both, f"of the lab, in limpet: {sorted(both)}")
    needed = run("readelf", "-d", LIMPET)
    check("NEEDED" in needed and "fuse" not in needed, needed)


def beside(directory, script=STAND_IN):
    """A copy of limpet with a stand-in for the other program in the same directory."""
    limpet = shutil.copy(LIMPET, directory)
    other = pathlib.Path(directory, "limpet-lab")
    other.write_text(script)
    other.chmod(0o755)
    return limpet


def start(*command, text="", **options):
    return subprocess.run([str(c) for c in command], input=text, text=True, capture_output=True,
                          check=False, **options)


def test_arguments_and_files(directory):
    """arguments, standard input, output, errors and the exit code are passed through"""
    limpet = beside(directory)
    done = start(limpet, "lab", "any", "--name", "a b", "--help", text="to its input\n")
    check(done.stdout == "lab any --name a b --help\nto its input\n", done)
    check(done.stderr == "complaint\n" and done.returncode == 7, done)
    done = start(limpet, "demo", "--any")
    check(done.stdout == "demo --any\n" and done.returncode == 7, done)


def test_help_is_asked(directory):
    """the help and the manual of its commands come from it"""
    limpet = beside(directory)
    for words in ("help lab", "help lab up", "help --man demo"):
        done = start(limpet, *words.split())
        check(done.stdout == words + "\n" and done.returncode == 7, done)
    check("_limpet()" in start(limpet, "help", "--complete").stdout, "no completion")


def test_signal(directory):
    """an end by a signal is one of limpet"""
    done = start(beside(directory), "lab", "kill")
    check(done.returncode == -signal.SIGTERM, done)
    limpet = beside(directory, "#!/bin/sh\necho $$\nexec sleep 60\n")
    with subprocess.Popen([limpet, "lab", "any"], stdout=subprocess.PIPE, text=True) as p:
        pid = int(p.stdout.readline())
        p.send_signal(signal.SIGINT)
        check(p.wait() == -signal.SIGINT and pid == p.pid, f"{pid} is not {p.pid}")


def test_path(directory):
    """it is found in $PATH"""
    alone, elsewhere = pathlib.Path(directory, "alone"), pathlib.Path(directory, "elsewhere")
    alone.mkdir()
    elsewhere.mkdir()
    limpet = shutil.copy(LIMPET, alone)
    beside(elsewhere)
    path = f"{elsewhere}:{os.environ['PATH']}"
    if installed_here():
        raise tap.Skip("limpet-lab is installed on this machine")
    done = start(limpet, "lab", "any", env={**os.environ, "PATH": path})
    check(done.stdout == "lab any\n" and done.returncode == 7, done)


def installed_here():
    """Is a limpet-lab where the build would install it?"""
    return any(pathlib.Path(prefix, "libexec/limpet/limpet-lab").exists()
               for prefix in ("/usr/local", "/usr"))


def test_missing(directory):
    """without it one sentence says what to install, and the rest of limpet works"""
    if installed_here() or shutil.which("limpet-lab"):
        raise tap.Skip("limpet-lab is installed on this machine")
    limpet = shutil.copy(LIMPET, directory)
    for words in ("lab any", "demo --any", "help lab", "help --man lab", "lab --help"):
        done = start(limpet, *words.split())
        check(done.returncode == 2 and not done.stdout, f"{words}: {done}")
        check(re.fullmatch(r"limpet \w+: limpet-lab is not installed: .*install.*\n", done.stderr),
              f"{words}: {done}")
    check("  lab " in start(limpet, "help").stdout, "not in the overview")
    done = start(limpet, "help", "--complete")
    check(done.returncode == 0 and not done.stderr, done)


def test_install(directory):
    """installed, limpet finds it in libexec; a package can leave it out"""
    def install(root, *args):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root, *args)
        limpet, = [p for p in pathlib.Path(root).rglob("limpet") if p.parent.name == "bin"]
        return limpet, [p for p in pathlib.Path(root).rglob("limpet-lab*")]

    limpet, found = install(f"{directory}/all")
    check(any(p.parts[-3:] == ("libexec", "limpet", "limpet-lab") for p in found), found)
    check("build a lab" in run(limpet, "help", "lab"), "installed, and not found")
    limpet, found = install(f"{directory}/some", "--tags", "runtime,man")
    check(not found, f"not left out: {found}")


def test_by_itself(_):
    """limpet-lab alone does the same"""
    check(run(LIMPET_LAB, "help", "lab", "up") == run(LIMPET, "help", "lab", "up"), "help")
    check(run(LIMPET_LAB, "--version") == run(LIMPET, "--version"), "version")
    text = run(LIMPET_LAB, "help")
    check("usage: limpet-lab" in text and "  demo " in text and "  record " not in text, text)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
