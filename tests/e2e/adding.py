#!/usr/bin/env python3
"""docs/adding.md keeps its promise: one file and one line.

Follows the document in a copy of the tree: writes the files that it contains as "```c PATH", adds the lines
("add `'NAME',` to the list `LIST` in `FILE`"), builds without optimisation and looks for the new things."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tap
from tap import check, run

SOURCE = pathlib.Path(os.environ["SOURCE"])
TEXT = (SOURCE / "docs/adding.md").read_text(encoding="utf-8")
TEMP = tempfile.TemporaryDirectory()
TOP = pathlib.Path(TEMP.name)
TREE, BUILD = TOP / "limpet", TOP / "build"
LIMPET = BUILD / "src/cli/limpet"


def sections():
    """{heading: its text}"""
    parts = re.split(r"^## (.*)$", TEXT, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def files_in(text):
    return re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.M | re.S)


def lines_in(text):
    return re.findall(r"add\s+`'(\w+)',?`\s+to\s+the\s+list\s+`(\w+)`\s+in\s+`([\w/.]+)`", text)


def add_line(name, list_name, path):
    """Add a name to a list of a meson.build, at its start."""
    file = TREE / path
    text, n = re.subn(rf"(^{list_name} = \[)", rf"\1'{name}', ", file.read_text(), flags=re.M)
    check(n == 1, f"{path} has no list {list_name}")
    file.write_text(text)


def follow(heading, n_files, n_lines=1):
    text = sections()[heading]
    files, lines = files_in(text), lines_in(text)
    check(len(files) == n_files and len(lines) == n_lines,
          f"{heading}: {len(files)} files, {len(lines)} lines")
    for path, content in files:
        check(not (TREE / path).exists(), f"{path} is there already")
        (TREE / path).parent.mkdir(parents=True, exist_ok=True)
        (TREE / path).write_text(content)
    for line in lines:
        add_line(*line)


def copy():
    """The tree without build results and recordings."""
    def ignore(folder, names):
        top = pathlib.Path(folder) == SOURCE
        return [n for n in names if n in (".git", "fixtures", "__pycache__") or
                (top and n.startswith(("build", "recordings")))]
    shutil.copytree(SOURCE, TREE, symlinks=True, ignore=ignore)


def all_sections():
    copy()
    for heading, n_files in (("A sub-command", 1), ("A collector", 1), ("A metric", 1),
                             ("An importer", 1), ("A measure", 1), ("A fault of the lab", 1),
                             ("A workload of the lab", 1), ("A verb of the lab", 1),
                             ("A backend of trace", 1),
                             ("A unit test", 1), ("A fuzz target", 2)):
        follow(heading, n_files)
    follow("A plan", 1, n_lines=0)


def build():
    """Compile with the usual warnings, as errors. Builds only what is necessary."""
    run("meson", "setup", BUILD, TREE, "-Doptimization=0", "-Ddebug=false")
    run("ninja", "-C", BUILD, "src/cli/limpet", "src/lab/limpet-lab", "docs/man/limpet-hello.1",
        "tests/unit/test_collect_uptime", "tests/fuzz/replay_twocol")


def formatted():
    if not shutil.which("clang-format"):
        raise tap.Skip("clang-format is not installed")
    run("clang-format", "--dry-run", "-Werror",
        *(TREE / path for path, _ in files_in(TEXT) if path.endswith(".c")))


def sub_command():
    check(run(LIMPET, "hello", "-t", "2", "oss3") == "hello oss3\nhello oss3\n", "it does not run")
    check(re.search(r"^  hello +greet someone$", run(LIMPET, "help"), re.M), "not in the help")
    page = (BUILD / "docs/man/limpet-hello.1").read_text()
    check("say hello N times" in page, "its option is not in its manual page")
    check(r"limpet\-hello" in run(LIMPET, "help", "--man"), "not in the manual")
    check("hello:--times" in run(LIMPET, "help", "--complete"), "not in the completion")


def collector():
    tree = TOP / "host"
    (tree / "proc").mkdir(parents=True)
    (tree / "proc/uptime").write_text("350735.47 234388.90\n")
    check(re.search(r"^  uptime +how long", run(LIMPET, "help", "record"), re.M), "not in the help")
    check("two times of /proc/uptime" in run(LIMPET, "help", "--man", "record"), "no manual")
    run(LIMPET, "record", "--collect", "uptime", "--root", tree, "--name", "oss3", "--duration",
        "300ms", "--interval", "100ms", "-o", TOP / "up", "-q")
    text = run(LIMPET, "show", "--raw", "--csv", "-m", "up_ms", TOP / "up")
    values = re.findall(r"oss3/uptime:up,up_ms,(\S+)$", text, re.M)
    check(values and all(float(v) == 350735470 for v in values), text)


def metric():
    text = run(LIMPET, "show", "--csv", "-m", "up", TOP / "up")
    check(re.search(r"oss3/uptime:up,up,350735\.47\b", text), text)
    text = run(LIMPET, "show", "--csv", "-m", "idle", TOP / "up")
    check(re.search(r"oss3/uptime:up,idle,0$", text, re.M), text)
    check("uptime metrics (host)" in run(LIMPET, "help", "metrics"), "not in the list")


def importer():
    file = TOP / "values"
    file.write_text("# twocol oss3/disk:sdb await\n1304899205 12.5\n1304899206 11.25\n")
    text = run(LIMPET, "show", "--csv", "-m", "await", file)
    check("2011-05-09T00:00:05Z,oss3/disk:sdb,await,12.5\n" in text, text)
    run(LIMPET, "import", "twocol", file, "-o", TOP / "imported", "-q")
    check(run(LIMPET, "show", "--csv", "-m", "await", TOP / "imported") == text, "archive differs")
    file.write_text("# twocol oss3/disk:sdb await\n1304899205 12.5\nrubbish\n")
    check(",12.5\n" in run(LIMPET, "show", "--csv", "-m", "await", file, status=2), "good line")
    check("TWOCOL FILES" in run(LIMPET, "help", "--man", "show"), "not in the manual")
    check(re.search(r"^  twocol ", run(LIMPET, "help", "import"), re.M), "not in the help")


def lab():
    """A fault, a workload, a verb and a plan; nothing is brought up."""
    check(re.search(r"^link-down .* its cable is pulled$", run(LIMPET, "lab", "inject", "--list"),
                    re.M), "the fault is not listed")
    check("print the directory of a lab" in run(LIMPET, "help", "lab"), "not in the help")
    check("limpet lab where" in run(LIMPET, "help", "--man", "lab").replace("\\", ""), "no manual")
    check(re.search(r"^  touch +many empty files", run(LIMPET, "help", "lab", "work"), re.M),
          "the workload is not in the help")
    run(LIMPET, "lab", "where", "--name", "nosuch", status=2)
    text = run(LIMPET, "lab", "run", "--list", "--plan", TREE / "cable.plan")
    check(len(re.findall(r"^(?:ddw|touch)-link-down-[123] .* link-down@s\d", text, re.M)) == 6 and
          "7 experiments" in text, text)


def backend():
    """A tracer that reports when a process ends."""
    sleep = subprocess.Popen(["sleep", "1"])
    out = run(LIMPET, "trace", "syscalls", "--backend", "ends", "-p", str(sleep.pid), "--json", "-o",
              TOP / "ends.lpa")
    sleep.wait()
    check('"backend": "ends"' in out and '"events": 1,' in out, out)


def excerpts():
    """Code that is quoted from a file is in that file."""
    found = re.findall(r"From `(\S+)`:\n\n```c\n(.*?)^```$", TEXT, re.M | re.S)
    check(found, "no excerpt")
    for path, text in found:
        check(text in (SOURCE / path).read_text(encoding="utf-8"), f"{path} does not have it")


def unit_test():
    run(BUILD / "tests/unit/test_collect_uptime")


def fuzz_target():
    run(BUILD / "tests/fuzz/replay_twocol", TREE / "tests/fuzz/corpus/twocol")


try:
    tap.main([
        ("follow every section", all_sections),
        ("it builds without warnings", build),
        ("the examples are in the house's format", formatted),
        ("a sub-command", sub_command),
        ("a collector", collector),
        ("a metric", metric),
        ("an importer", importer),
        ("what the lab has", lab),
        ("a backend of trace", backend),
        ("excerpts are in their files", excerpts),
        ("a unit test", unit_test),
        ("a fuzz target", fuzz_target),
    ])
finally:
    TEMP.cleanup()
