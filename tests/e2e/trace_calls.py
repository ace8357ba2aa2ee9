#!/usr/bin/env python3
"""limpet trace calls: programs that count their calls are found and read, whenever they begin and end."""
import json
import os
import signal
import subprocess
import tempfile

from program import LIMPET, bad, limpet, run_tests, tests_of
from tap import check, run

HERE = os.path.dirname(os.path.abspath(__file__))


class Server:
    """calls/serves.c at work."""

    def __init__(self, program, tables):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "LIMPET_CALLS_DIR": tables})
        self.answer("ready")

    def answer(self, wanted):
        """Wait for a line."""
        line = self.process.stdout.readline().strip()
        check(line == wanted, f"the server said '{line}'")

    def ask(self, line, wanted="done"):
        """Give it work."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.answer(wanted)

    def end(self):
        """Let it end."""
        self.process.stdin.close()
        self.process.wait(60)


class Traced:
    """limpet trace calls; `counts` are there when it has ended."""

    def __init__(self, directory, tables, *options):
        self.archive = os.path.join(directory, "calls.lpa")
        self.counts, self.json, self.err = {}, None, ""
        self.process = subprocess.Popen(
            [LIMPET, "trace", "calls", "-o", self.archive, "-n", "me", "--json", "--top", "1000", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "LIMPET_CALLS_DIR": tables})

    def __enter__(self):
        while True:
            line = self.process.stderr.readline()
            check(line, f"it ended: {self.err}")
            self.err += line
            if "reading" in line:
                return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=120)
        self.err += err
        check(self.process.returncode == 0, f"it ended with {self.process.returncode}: {err}")
        self.json = json.loads(out)
        self.counts = {f["function"]: f["calls"] for f in self.json["top"]}


def build(directory, source="serves.c"):
    program = os.path.join(directory, "serves")
    run(LIMPET, "cc", "gcc", "-O2", "-o", program, os.path.join(HERE, "calls", source))
    return program


def tables_directory():
    return tempfile.TemporaryDirectory(prefix="limpet-test-", dir="/dev/shm")


def test_before_and_after(directory):
    """programs that were there before, that begin later, their children, and those that are killed"""
    program = build(directory)
    with tables_directory() as tables:
        before = Server(program, tables)
        before.ask("1000")
        with Traced(directory, tables) as traced:
            before.ask("7")
            later = Server(program, tables)
            later.ask("20")
            later.ask("fork 300")
            killed = Server(program, tables)
            killed.ask("die 4000", wanted="")
            killed.process.wait(60)
            later.end()
        check(traced.counts.get("serves:serves:work") == 7 + 20 + 300 + 4000, f"{traced.counts}")
        check(traced.counts.get("serves:serves:serve") == 1 + 1 + 1 + 1, f"{traced.counts}")
        # Others on this machine may count, too.
        check(traced.json["programs"] >= 4, f"{traced.json}")
        before.end()
        check(os.listdir(tables) == [], f"left {os.listdir(tables)}")
        shown = limpet("show", "--raw", "--values", traced.archive)
        check(shown.code == 0 and "me/function:serves:serves:work" in shown.out, shown)


def test_hostile(directory):
    """files that are no tables are neither followed nor believed, and told of"""
    program = build(directory)
    secret = os.path.join(directory, "secret")
    with open(secret, "wb") as f:
        f.write(b"x" * 100)
    with tables_directory() as tables:
        os.symlink(secret, f"{tables}/limpet-calls.1.1")
        os.mkfifo(f"{tables}/limpet-calls.1.2")
        os.mkdir(f"{tables}/limpet-calls.1.3")
        with open(f"{tables}/limpet-calls.{os.getpid()}.4", "wb") as f:
            f.write(b"\xff" * 5000)
        with Traced(directory, tables) as traced:
            server = Server(program, tables)
            server.ask("5")
            server.end()
        check(traced.counts.get("serves:serves:work") == 5, f"{traced.counts}")
        check("no table of calls" in traced.err, traced.err)
        check(os.path.getsize(secret) == 100, "somebody wrote to what a link points to")


def test_usage(directory):
    """what cannot be done is said in one line"""
    bad(2, "'x' is not understood", "trace", "calls", "x")
    bad(2, "--interval must be", "trace", "calls", "-i", "1ms", "-o", f"{directory}/x.lpa")
    ran = limpet("trace", "calls", "-o", f"{directory}/x.lpa", env={**os.environ, "LIMPET_CALLS_DIR": "/nowhere"})
    check(ran.code == 2 and "/nowhere" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
