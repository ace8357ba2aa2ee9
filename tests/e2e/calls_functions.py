#!/usr/bin/env python3
"""The functions that are counted: listed, chosen from recordings, and switched on and off when a program is built, when
it starts and while it runs."""
import json
import os
import subprocess
import time

from behaviour import FUNCTIONS, SERVERS
from program import LIMPET, bad, limpet, run_tests, tests_of
from tap import Skip, check, run
from trace_calls import Server, Traced, build, tables_directory

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120


def root():
    if os.geteuid() != 0:
        raise Skip("tables of programs that run already are found by root alone")


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def functions(tables, *args):
    """limpet functions about running programs."""
    return limpet("functions", *args, env={**os.environ, "LIMPET_CALLS_DIR": tables})


def listed(tables, pid):
    """{function: its data} of a process."""
    ran = functions(tables, "-p", str(pid), "-d", "100ms", "--all", "--json")
    check(ran.code == 0, ran)
    return {f["function"]: f for f in json.loads(ran.out)["top"]}


def test_apply(directory):
    """functions of a running program are switched off and on again"""
    root()
    program = build(directory)
    off = write(directory, "off", "# the dearest\noff serves:serves:wor?\n")
    on = write(directory, "on", "on *\n")
    with tables_directory() as tables:
        server = Server(program, tables)
        server.ask("10")
        pid = str(server.process.pid)
        idle = listed(tables, pid)
        check(not any(f["off"] for f in idle.values()), "something is off")
        check({"serves:serves:serve", "serves:serves:work"} <= set(idle), f"not called meanwhile, and not listed: {idle}")
        ran = functions(tables, "--apply", off, "-p", pid)
        check(ran.code == 0 and "1 process: 1 function switched off, 0 switched on" in ran.out, ran)
        check([n for n, f in listed(tables, pid).items() if f["off"]] == ["serves:serves:work"], "what is off")
        with Traced(directory, tables) as traced:
            server.ask("7")
            server.ask("fork 8")
        check(traced.counts.get("serves:serves:serve") == 2, f"{traced.counts}")
        check(not traced.counts.get("serves:serves:work"), f"{traced.counts}")
        check(traced.json["off"] == 1, f"{traced.json}")
        bad(2, "'limpet functions DATA' lists", "show", "--functions", traced.archive)
        shown = limpet("show", traced.archive)
        check(shown.code == 0 and " functions: limpet functions\n" in shown.out, shown)
        os.unlink(traced.archive)
        ran = functions(tables, "--apply", on)
        check(ran.code == 0 and "0 functions switched off, 1 switched on" in ran.out, ran)
        with Traced(directory, tables) as traced:
            server.ask("7")
        check(traced.counts.get("serves:serves:work") == 7, f"{traced.counts}")
        server.end()


def test_start(directory):
    """a list that the environment names counts from the first call on, in C and C++, with gcc and clang"""
    for compiler, source, often in (("gcc", "serves.c", "work"), ("clang", "serves.c", "work"),
                                    ("g++", "switches.cc", "ns::often(int, char const*)"),
                                    ("clang++", "switches.cc", "ns::often(int, char const*)")):
        program = os.path.join(directory, "serves")
        run(LIMPET, "cc", compiler, "-O2", "-o", program, os.path.join(HERE, "calls", source))
        name = "serves:serves:" + often.replace(", ", ",").replace(" ", "_")
        chosen = write(directory, "list", f"off {name}\n")
        with tables_directory() as tables:
            with Traced(directory, tables) as traced:
                os.environ["LIMPET_CALLS_FUNCTIONS"] = chosen
                try:
                    server = Server(program, tables)
                finally:
                    del os.environ["LIMPET_CALLS_FUNCTIONS"]
                server.ask("5")
                server.end()
            check(not traced.counts.get(name), f"{compiler}: {traced.counts}")
            check(traced.counts.get("serves:serves:main") == 1, f"{compiler}: {traced.counts}")
            os.unlink(traced.archive)
            with Traced(directory, tables) as traced:
                server = Server(program, tables)
                server.ask("5")
                server.end()
            check(traced.counts.get(name) == 5, f"{compiler}: {traced.counts}")
            os.unlink(traced.archive)


def test_build(directory):
    """a list with which a program was built"""
    for compiler in ("gcc", "clang"):
        program = os.path.join(directory, "serves")
        chosen = write(directory, "a list", "on serves:serves:serve\noff serves:serves:work\noff serves:serves:in_child\n")
        command = [LIMPET, "cc", "--functions", chosen, compiler, "-O2", "-o", program,
                   os.path.join(HERE, "calls", "serves.c")]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        check(built.returncode == 0 and built.stderr == "", built)
        with tables_directory() as tables:
            with Traced(directory, tables) as traced:
                server = Server(program, tables)
                server.ask("5")
                server.end()
        check(traced.counts.get("serves:serves:serve") == 1, f"{compiler}: {traced.counts}")
        check(not traced.counts.get("serves:serves:work"), f"{compiler}: {traced.counts}")
        os.unlink(traced.archive)
    printed = run(LIMPET, "cc", "--print", "--functions", chosen, "gcc", "-c", "x.c").splitlines()
    # "work" is too short for gcc, which would exclude every name that contains it.
    check("-finstrument-functions-exclude-function-list=in_child" in printed, f"{printed}")
    bad(2, "expected 'on NAME', 'off NAME' or a comment", "cc", "--functions", write(directory, "bad", "x\n"), "gcc", "x.c")


def test_budget(directory):
    """functions that are too expensive are switched off, reported, and noted in the archive"""
    program = build(directory)
    with tables_directory() as tables:
        with Traced(directory, tables, "--budget", "0.001%") as traced:
            server = Server(program, tables)
            until = time.monotonic() + PATIENCE
            # It is recorded while it is on: too rare for the budget.
            for _ in range(4):
                server.ask("1")
                time.sleep(1)
            while not listed(tables, server.process.pid).get("serves:serves:work", {}).get("off"):
                check(time.monotonic() < until, "nothing was switched off")
                server.ask("100000")
            # Other processes of the same program no longer count it, either.
            other = Server(program, tables)
            other.ask("1")
            while not listed(tables, other.process.pid).get("serves:serves:work", {}).get("off"):
                check(time.monotonic() < until, "only one was switched off")
            other.end()
            server.end()
        check("over the budget" in traced.err and "serves:serves:work" in traced.err, traced.err)
        check("serves:serves:serve " not in traced.err, traced.err)
        shown = limpet("show", "--raw", "-m", "off", "--values", traced.archive)
        check(shown.code == 0 and "serves:serves:work" in shown.out, shown)
        seen = [line.split()[-1] for line in shown.out.splitlines() if "serves:work" in line]
        check("1" in seen or "2" in seen, shown)
        if seen.count("0") < 3:
            return  # the machine was too busy to look before it was off
        shown = limpet("show", "-m", "fcalls", "--values", traced.archive)
        check(shown.code == 0 and "serves:work" in shown.out and "inf" not in shown.out, shown)
        # Its earlier rate of calls is still known, so that it is not mistaken for a rare function.
        top = json.loads(limpet("functions", "--json", traced.archive).out)["top"]
        work = [f for f in top if f["function"] == "serves:serves:work"]
        check(work and work[0]["off"] and work[0]["calls"] > 0, f"{top}")
        chosen = limpet("functions", "--select", "--budget", "0.000001%", traced.archive)
        check("\noff serves:serves:work\n" in chosen.out, chosen)


def recorded(directory, slow):
    """A quarter of an hour of calls; on one server a function is called three times as often."""
    path = os.path.join(directory, "data.csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for t in range(0, 900, 10):
            when = f"2026-01-01T00:{t // 60:02d}:{t % 60:02d}Z"
            for server in range(SERVERS):
                for i, fn in enumerate(FUNCTIONS):
                    calls = 100000 / (i + 1) + (t * 7 + server * 13 + i) % 10
                    times = 3 if fn == slow and server == 2 and t >= 300 else 1
                    f.write(f"{when},s{server}/function:{fn},fcalls,{times * calls:.1f}\n")
    return path


def test_select(directory):
    """functions that distinguished servers stay on, the most frequent others go"""
    data = recorded(directory, FUNCTIONS[1])
    ran = limpet("functions", data)
    check(ran.code == 0 and FUNCTIONS[0] in ran.out and "20 functions, " in ran.out, ran)
    shown = limpet("show", data)
    check(shown.code == 0 and " functions: limpet functions\n" in shown.out, shown)
    chosen = os.path.join(directory, "chosen")
    ran = limpet("functions", "--select", "--budget", "0.5%", "-o", chosen, data)
    check(ran.code == 0 and "distinguished servers" in ran.err, ran)
    with open(chosen, encoding="utf-8") as f:
        lines = dict(reversed(line.split()) for line in f if not line.startswith("#"))
    check(lines[FUNCTIONS[1]] == "on" and lines[FUNCTIONS[0]] == "off", f"{lines}")
    check(lines[FUNCTIONS[19]] == "on", f"{lines}")
    few = limpet("functions", "--select", "--few", data)
    on = [line.split()[1] for line in few.out.splitlines() if line.startswith("on ")]
    check(FUNCTIONS[1] in on and len(on) <= 10, f"{on}")
    everything = limpet("functions", "--select", "--budget", "100%", data)
    check("\noff " not in everything.out and "\non " in everything.out, everything)


def test_usage(directory):
    """an impossible request is refused in one line"""
    chosen = write(directory, "list", "off x\n")
    bad(2, "name the recordings", "functions", "--select")
    bad(2, "exclude each other", "functions", "--select", "--apply", chosen, chosen)
    bad(2, "belong to --select", "functions", "--few")
    bad(2, "about running programs", "functions", "-p", "1", chosen)
    bad(2, "--budget must be a share", "functions", "--select", "--budget", "2", chosen)
    bad(2, "--budget must be a share", "trace", "calls", "--budget", "0%", "-o", f"{directory}/x.lpa")
    bad(2, "--budget must be a share", "record", "--collect", "calls", "--budget", "x", "-o", directory)
    bad(2, "/nowhere", "functions", "--apply", "/nowhere")
    with tables_directory() as tables:
        ran = functions(tables, "-p", str(os.getpid()))
        check(ran.code == 2 and "does not count its calls" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
