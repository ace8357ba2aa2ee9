#!/usr/bin/env python3
"""limpet trace functions: calls of programs without a rebuild, by probes; and calls in the kernel."""
import json
import os
import signal
import subprocess
import threading
import time

from program import LIMPET, bad, limpet, run_tests, tests_of
from tap import Skip, check, run
from trace_calls import Server

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 120


def root():
    if os.geteuid() != 0:
        raise Skip("probes need root")


def build(directory, compiler="gcc", *options, source="probed.c"):
    program = os.path.join(directory, "probed")
    run(compiler, "-O1", *options, "-o", program, os.path.join(HERE, "calls", source), "-lpthread")
    return program


class Probed:
    """limpet trace functions on a server; `counts` and `seconds` are set when it has ended."""

    def __init__(self, directory, server, *options):
        self.archive = os.path.join(directory, "functions.lpa")
        self.lines, self.counts, self.seconds, self.json = [], {}, {}, None
        self.begun = threading.Event()
        self.process = subprocess.Popen(
            [LIMPET, "trace", "functions", "-p", str(server.process.pid), "-o", self.archive, "-n", "me", "--json",
             "--top", "1000", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """Its messages, as they are printed."""
        for line in self.process.stderr:
            self.lines.append(line)
            if "counting" in line:
                self.begun.set()
        self.begun.set()

    def __enter__(self):
        check(self.begun.wait(PATIENCE) and any("counting" in line for line in self.lines), f"{self.lines}")
        return self

    def says(self, what):
        return any(what in line for line in self.lines)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        out = self.process.stdout.read()
        code = self.process.wait(PATIENCE)
        self.reader.join()
        self.process.stderr.close()
        self.process.stdout.close()
        check(code == 0, f"it ended with {code}: {self.lines}")
        self.json = json.loads(out)
        self.counts = {f["function"].split(":")[2]: f["calls"] for f in self.json["top"]}
        self.seconds = {f["function"].split(":")[2]: f["seconds"] for f in self.json["top"]}


def test_counts(directory):
    """calls are counted exactly: threads, deep recursion, longjmp; with and without endbr64"""
    root()
    for compiler, option in (("gcc", "-fcf-protection=none"), ("gcc", "-fcf-protection=full"), ("clang", "-g")):
        server = Server(build(directory, compiler, option), directory)
        server.ask("1000")
        with Probed(directory, server, "--functions", "probed:*", "--limit", "1000000") as probed:
            server.ask("7")
            server.ask("threads 10")
            server.ask("deep 200")
            server.ask("jump 5")
            server.ask("3")
        server.end()
        wanted = {"work": 7 + 80 + 5 + 3, "deep": 201, "jumps": 5, "lands": 5}
        got = {name: probed.counts.get(name) for name in wanted}
        check(got == wanted, f"{compiler} {option}: counted {got}, not {wanted}")
        check(probed.says("longer"), f"the cost is not said: {probed.lines}")
        shown = limpet("show", "--raw", "--values", probed.archive)
        check(shown.code == 0 and "me/function:probed:probed:work" in shown.out, shown)
        os.unlink(probed.archive)


def test_times(directory):
    """the time of a function is its own, including waiting"""
    root()
    server = Server(build(directory), directory)
    with Probed(directory, server, "--functions", "sleeper", "--functions", "caller") as probed:
        begin = time.monotonic()
        server.ask("sleep")
        elapsed = time.monotonic() - begin
    server.end()
    sleeper, caller = probed.seconds["sleeper"], probed.seconds["caller"]
    check(sleeper >= 0.199, f"slept 0.2 s, of which {sleeper} s were counted")
    check(caller >= 0.099, f"slept 0.1 s, of which {caller} s were counted")
    check(caller + sleeper <= elapsed, f"{caller} and {sleeper} of {elapsed} s")


def test_parts(directory):
    """parts of functions that the compiler keeps elsewhere are not taken for functions, and nothing is overwritten"""
    root()
    program = build(directory, "gcc", "-O2")
    if "chilly.cold" not in run("nm", program):
        raise Skip("this compiler does not divide functions")
    server = Server(program, directory)
    with Probed(directory, server, "--functions", "probed:*", "--limit", "1000000") as probed:
        server.ask("cold 50")
        server.ask("7")
    server.end()
    check(server.process.returncode == 0, f"it ended with {server.process.returncode}")
    got = {name: probed.counts.get(name) for name in ("chilly", "freezing", "work")}
    check(got == {"chilly": 50, "freezing": 100, "work": 107}, f"{probed.counts}")
    check(not any("cold" in name for name in probed.counts), f"{probed.counts}")


def test_exceptions(directory):
    """a program whose functions are left by exceptions survives, and its calls are counted"""
    root()
    for option in ("-O2", "-static"):
        server = Server(build(directory, "g++", option, source="probed.cc"), directory)
        with Probed(directory, server, "--functions", "probed:*thrower*", "--functions", "probed:*passes*",
                    "--functions", "probed:*catches*") as probed:
            server.ask("10")
        server.ask("3")
        server.end()
        check(server.process.returncode == 0, f"{option}: it ended with {server.process.returncode}")
        check(probed.counts == {"thrower(int)": 10, "passes(int)": 10, "catches(int)": 10}, f"{option}: {probed.counts}")
        check(probed.says("3 functions are only counted, without times"), f"{option}: {probed.lines}")
        os.unlink(probed.archive)


def test_replaced(directory):
    """functions of a program whose file was replaced since it started, and of one whose file was deleted"""
    root()
    for change in ("replace", "delete"):
        program = build(directory)
        server = Server(program, directory)
        os.unlink(program)
        if change == "replace":
            build(directory, "gcc", "-DAPART=", "-O3")
        with Probed(directory, server, "--functions", "probed:work") as probed:
            server.ask("7")
        server.end()
        check(probed.counts == {"work": 7}, f"{change}: {probed.counts}")
        os.unlink(probed.archive)


def test_limit(directory):
    """the probe of a function that is called too often is removed and reported; the program continues"""
    root()
    server = Server(build(directory), directory)
    with Probed(directory, server, "--functions", "work", "--functions", "deep", "--limit", "1") as probed:
        until = time.monotonic() + PATIENCE
        while not probed.says("probed:probed:work is called"):
            check(time.monotonic() < until, f"its probe was not removed: {probed.lines}")
            server.ask("1000")
        server.ask("1000")
    server.end()
    check(probed.json["let_go"] == 1, f"{probed.json}")
    check(not probed.says("deep is called"), f"{probed.lines}")
    shown = limpet("show", "--raw", "-m", "off", "--values", probed.archive)
    check(any(line.split()[-1] == "1" for line in shown.out.splitlines() if "work" in line), shown)


def test_tracepoints(directory):
    """the kernel's functions are counted together with other collectors"""
    root()
    recorder = subprocess.Popen([LIMPET, "record", "--collect", "host,kernel", "-n", "me", "-o", directory, "--flush", "1s"],
                                stderr=subprocess.PIPE, text=True)
    line = recorder.stderr.readline()
    check("recording" in line, line)
    for _ in range(20):
        run("true")
    until = time.monotonic() + PATIENCE
    while True:
        shown = limpet("show", "-m", "fcalls", "--values", directory)
        if "me/function:kernel:tracepoints:sched_process_exec" in shown.out:
            break
        check(time.monotonic() < until, shown)
        run("true")
    recorder.send_signal(signal.SIGTERM)
    _, err = recorder.communicate(timeout=PATIENCE)
    check(recorder.returncode == 0, err)
    shown = limpet("show", "--raw", directory)
    check("function:kernel:tracepoints:sched_switch" in shown.out and "me/host" in shown.out, shown)


SENDER = """
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("there", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        sender.sendto(b"x", receiver.getsockname())
"""


def packets(directory):
    """{observer: packets that were queued} in archives that may be growing."""
    ran = limpet("show", directory, "--raw", "-m", "n", "-c", "*/function:kernel:tracepoints:net_dev_queue", "--csv")
    rows = [line.split(",") for line in ran.out.splitlines()[1:]]
    return {row[1].split("/")[0]: float(row[3]) for row in rows if row[3]}


def test_own_network(directory):
    """calls in the kernel for one network namespace are counted separately from all others"""
    root()
    senders, recorders, sent = {}, [], {"s1": 30, "s2": 70}
    try:
        for name in sent:
            sender = senders[name] = subprocess.Popen(
                ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec python3 -c "$0"', SENDER],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if sender.stdout.readline() != "there\n":
                raise Skip("no network namespaces here")
            recorders.append(subprocess.Popen(
                ["nsenter", "-t", str(sender.pid), "-n", LIMPET, "record", "--collect", "kernel", "--own-network", "-i", "100ms",
                 "--flush", "100ms", "-n", name, "-o", directory], stderr=subprocess.PIPE, text=True))
            line = recorders[-1].stderr.readline()  # printed when probes are in place
            check(line.startswith("recording "), line)
        for name, n in sent.items():
            senders[name].stdin.write(f"{n}\n")
            senders[name].stdin.flush()
        until = time.monotonic() + PATIENCE
        while packets(directory) != sent and time.monotonic() < until and all(r.poll() is None for r in recorders):
            time.sleep(0.1)
    finally:
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for recorder in recorders:
            recorder.communicate(timeout=PATIENCE)
        for sender in senders.values():
            sender.communicate(timeout=PATIENCE)
    check(all(r.returncode == 0 for r in recorders), [r.returncode for r in recorders])
    check(packets(directory) == sent, f"{packets(directory)}")


def test_usage(directory):
    """an impossible request is refused in one line"""
    path = os.path.join(directory, "x.lpa")
    bad(2, "name a process and its functions", "trace", "functions", "-p", "1", "-o", path)
    bad(2, "name a process and its functions", "trace", "functions", "--functions", "x", "-o", path)
    bad(2, "'x' is not a process", "trace", "functions", "-p", "x", "--functions", "x", "-o", path)
    bad(2, "unexpected argument 'y'", "trace", "functions", "y")
    bad(2, "--interval must be", "trace", "functions", "-p", "1", "--functions", "x", "-i", "1ms")
    bad(2, "cannot inspect process", "trace", "functions", "-p", "2147483647", "--functions", "x", "-o", path)
    bad(2, "no function matches 'no such'", "trace", "functions", "-p", str(os.getpid()), "--functions", "no such", "-o", path)
    bad(2, "a recorded tree has no kernel", "record", "--collect", "kernel", "--root", "/", "-o", directory)
    root()
    # If the kernel permits it, its functions are counted; otherwise a message says so.
    ran = limpet("trace", "functions", "--kernel", "vfs_read", "-d", "1s", "-o", path)
    check((ran.code == 0 and "kernel:kernel:vfs_read" in ran.err) or
          (ran.code == 2 and "does not allow probes on its own functions" in ran.err), ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
