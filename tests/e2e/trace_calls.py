#!/usr/bin/env python3
"""limpet trace calls: programs that count their calls are found and read, whenever they begin and end."""
import json
import os
import signal
import subprocess
import tempfile
import time

from program import LIMPET, bad, limpet, run_tests, tests_of
from tap import Skip, check, run

HERE = os.path.dirname(os.path.abspath(__file__))


class Server:
    """calls/serves.c at work."""

    def __init__(self, program, tables, *inside):
        self.process = subprocess.Popen([*inside, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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
    """limpet trace calls; `counts` is set when it has ended."""

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


def recorded(directory):
    """{observer: calls of serves:work} in archives that may be growing."""
    ran = limpet("show", directory, "--raw", "-m", "n", "-c", "*/function:serves:serves:work", "--csv")
    rows = [line.split(",") for line in ran.out.splitlines()[1:]]
    return {row[1].split("/")[0]: float(row[3]) for row in rows if row[3]}


# Asks a server for work: ADDRESS PORT LINE...
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as s, s.makefile("rw") as f:
    for line in sys.argv[3:]:
        f.write(line + "\\n")
        f.flush()
        assert f.readline() == "done\\n"
"""


class Clients:
    """A network namespace that connects those of the servers. It disappears with its process."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo ready; exec cat"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        check(self.process.stdout.readline() == "ready\n", "no network namespace")

    def inside(self, pid, *command):
        """Run a command in the network namespace of a process."""
        return run("nsenter", "-t", str(pid), "-n", *command)

    def connect(self, number, server):
        """A link to a server; returns its address."""
        link, own = f"s{number}", self.process.pid
        try:
            self.inside(own, "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(server.process.pid))
        except (AssertionError, FileNotFoundError) as e:
            raise Skip("no virtual links here") from e
        for pid, name, last in ((own, link, 1), (server.process.pid, "eth0", 2)):
            self.inside(pid, "ip", "address", "add", f"10.77.{number}.{last}/24", "dev", name)
            self.inside(pid, "ip", "link", "set", name, "up")
        return f"10.77.{number}.2"

    def ask(self, number, server, *lines):
        """Have a server work for a client."""
        address = self.connect(number, server)
        server.ask("listen 7777")
        self.inside(self.process.pid, "python3", "-c", CLIENT, address, "7777", *lines)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def test_own_network(directory):
    """servers in separate network namespaces are recorded separately, while clients query them over the network"""
    if os.geteuid() != 0:
        raise Skip("needs root")
    program, out = build(directory), os.path.join(directory, "out")
    os.mkdir(out)
    with tables_directory() as tables:
        try:
            servers = {name: Server(program, tables, "unshare", "-n") for name in ("s1", "s2")}
        except (AssertionError, FileNotFoundError) as e:
            raise Skip("no network namespaces here") from e
        recorders, clients = [], Clients()
        try:
            for name, server in servers.items():
                recorder = subprocess.Popen(
                    ["nsenter", "-t", str(server.process.pid), "-n", LIMPET, "record", "--collect", "calls",
                     "--own-network", "-i", "100ms", "--flush", "100ms", "-n", name, "-o", out],
                    stderr=subprocess.PIPE, text=True, env={**os.environ, "LIMPET_CALLS_DIR": tables})
                recorders.append(recorder)
                line = recorder.stderr.readline()  # printed when the existing programs are known
                check(line.startswith("recording "), line)
            clients.ask(1, servers["s1"], "3", "4")
            clients.ask(2, servers["s2"], "20")
            for _ in range(1200):
                if recorded(out) == {"s1": 7, "s2": 20} or any(r.poll() is not None for r in recorders):
                    break
                time.sleep(0.1)
        finally:
            for recorder in recorders:
                recorder.send_signal(signal.SIGINT)
            for recorder in recorders:
                recorder.communicate(timeout=120)
            for server in servers.values():
                server.end()
            clients.end()
        check(all(r.returncode == 0 for r in recorders), [r.returncode for r in recorders])
        check(recorded(out) == {"s1": 7, "s2": 20}, f"{recorded(out)}")


def test_containers(directory):
    """programs with process ids of their own, and programs that do not see the directory of the tables"""
    if os.geteuid() != 0:
        raise Skip("needs root")
    program = build(directory)
    ids = ["unshare", "-p", "-f", "--mount-proc"]
    with tables_directory() as tables:
        hidden = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {tables} && exec \"$0\""]
        servers = []
        with Traced(directory, tables, "--flush", "1s") as traced:
            try:
                servers += [Server(program, tables, *inside) for inside in (ids, hidden)]
            except (AssertionError, FileNotFoundError) as e:
                raise Skip("no namespaces here") from e
            servers[0].ask("20")
            servers[0].ask("fork 7")
            servers[1].ask("300")
            for _ in range(1200):
                if recorded(traced.archive) == {"me": 20 + 7 + 300}:
                    break
                time.sleep(0.1)
        for server in servers:
            server.end()
        counts = {name: n for name, n in traced.counts.items() if name.endswith(":work")}
        check(counts == {"serves:serves:work": 20 + 7 + 300}, f"{counts}")


def test_hostile(directory):
    """files that are not tables are neither followed nor trusted, and are reported"""
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
        check("not a table of calls" in traced.err, traced.err)
        check(os.path.getsize(secret) == 100, "somebody wrote to what a link points to")


def test_usage(directory):
    """an impossible request is refused in one line"""
    bad(2, "unexpected argument 'x'", "trace", "calls", "x")
    bad(2, "--interval must be", "trace", "calls", "-i", "1ms", "-o", f"{directory}/x.lpa")
    ran = limpet("trace", "calls", "-o", f"{directory}/x.lpa", env={**os.environ, "LIMPET_CALLS_DIR": "/nowhere"})
    check(ran.code == 2 and "/nowhere" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
