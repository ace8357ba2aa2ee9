#!/usr/bin/env python3
"""Errors, crashes and hangs in real traces: a small server and its client, each in a separate network namespace, are
traced while something goes wrong, and limpet names the server."""
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from program import LIMPET, good, limpet, run_tests, tests_of
from tap import Skip, check, run

# Answers each line with "0", or with the errno of the operation that it tried for it.
SERVER = r"""
import mmap, os, resource, signal, socket, sys
address, mode, directory = sys.argv[1:]
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((address, 7777))
s.listen(8)
print("ready", flush=True)
sys.stdin.readline()
c = s.accept()[0].makefile("rw")
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
data = open(directory + "/data", "ab", buffering=0)
kept = []
def limit(what, value):
    resource.setrlimit(what, (value, resource.getrlimit(what)[1]))
for n, line in enumerate(c):
    try:
        if n == 10 and mode == "files":
            limit(resource.RLIMIT_NOFILE, 12)
        if n == 10 and mode == "fsize":
            limit(resource.RLIMIT_FSIZE, 1 << 20)
        if n == 10 and mode == "memory":
            limit(resource.RLIMIT_AS, 1 << 20)
        if n >= 10 and mode == "files":
            kept.append(open(directory + "/data", "rb"))
        if n >= 10 and mode in ("space", "fsize"):
            data.write(bytes(1 << 18))
        if n >= 10 and mode == "memory":
            try:
                mmap.mmap(-1, 1 << 30)
            except OSError:
                os.abort()
        try:
            os.stat(directory + "/nothing")
        except FileNotFoundError:
            pass
        error = 0
    except OSError as e:
        error = e.errno
    c.write(f"{error}\n")
    c.flush()
"""

# Sends requests all the time, and reports when it has sent many or when nobody answers any more. Its own calls fail
# with the errors that the server returns, as those of a program on a mounted file system would.
CLIENT = r"""
import errno, os, resource, socket, sys, time
address = sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
s = socket.create_connection((address, 7777))
end = time.monotonic() + 120
asked = 0
def fail(error):
    if error == errno.ENOSPC:
        full = os.open("/dev/full", os.O_WRONLY)
        try:
            os.write(full, b"x")
        except OSError:
            pass
        os.close(full)
    if error == errno.EMFILE:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            os.open("/dev/null", os.O_RDONLY)
        except OSError:
            pass
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
while time.monotonic() < end:
    try:
        s.sendall(b"do\n")
        answer = s.recv(100)
    except OSError:
        answer = b""
    if not answer:
        # A server that is dying still accepts until its listening socket is closed, too.
        tries = refused = 0
        while refused < 3 and tries < 100:
            time.sleep(0.2)
            tries += 1
            try:
                s = socket.create_connection((address, 7777))
            except OSError:
                refused += 1
        print("asked", flush=True)
        break
    asked += 1
    if asked == 50:
        print("asked", flush=True)
    fail(int(answer))
    try:
        os.stat("/nothing/there")
    except OSError:
        pass
    time.sleep(0.05)
"""

PREFIX = f"lps{os.getpid() % 100000}"
HOSTS = {"srv": "10.197.41.1", "cli": "10.197.41.2"}
MODES = ("--records", "--summary")


def netns(host):
    return f"{PREFIX}{host}"


@contextlib.contextmanager
def network():
    """Two namespaces, connected by a cable."""
    try:
        for host in HOSTS:
            run("ip", "netns", "add", netns(host))
        run("ip", "link", "add", "eth0", "netns", netns("srv"), "type", "veth", "peer", "name",
            "eth0", "netns", netns("cli"))
        for host, address in HOSTS.items():
            run("ip", "-n", netns(host), "addr", "add", address + "/24", "dev", "eth0")
            run("ip", "-n", netns(host), "link", "set", "eth0", "up")
            run("ip", "-n", netns(host), "link", "set", "lo", "up")
        yield
    finally:
        for host in HOSTS:
            subprocess.run(["ip", "netns", "del", netns(host)], capture_output=True, check=False)


@contextlib.contextmanager
def small_file_system(directory, size):
    os.mkdir(directory)
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "limpet-test", directory)
    try:
        yield directory
    finally:
        run("umount", "-l", directory)


PLACES = {}  # hosts that are on the machine of another host


@contextlib.contextmanager
def one_machine():
    """Server and client on one machine, connected through its loopback interface."""
    PLACES["cli"] = "srv"
    try:
        yield "127.0.0.1"
    finally:
        PLACES.clear()


def inside(host, *command, **options):
    return subprocess.Popen(["ip", "netns", "exec", netns(PLACES.get(host, host)), *command],
                            text=True, **options)


class Program:
    """The server or the client, which waits at its gate until it is traced."""

    def __init__(self, host, text, *args):
        self.process = inside(host, sys.executable, "-c", text, *args, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        check(self.process.stdout.readline() == "ready\n", f"the program on {host} did not begin")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def asked(self):
        """Wait until a client has seen enough of its server; it ends by itself after two minutes."""
        check(self.process.stdout.readline() == "asked\n", "the client did not ask")

    def end(self):
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=20)


class Trace:
    """limpet trace syscalls of one program, from when it is attached."""

    def __init__(self, out, host, pid, mode):
        self.path = f"{out}/{host}.lpa"
        self.process = inside(host, LIMPET, "trace", "syscalls", "-q", "-n", host, "-p", str(pid),
                              mode, "--stuck", "1s", "--flush", "1s", "-o", self.path,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # First the file is created, then the tracer is attached, then there is a sample every second.
        sizes, deadline = set(), time.monotonic() + 60
        while len(sizes) < 3:
            if self.process.poll() is not None:
                raise AssertionError(f"tracing ended: {self.process.stderr.read()}")
            check(time.monotonic() < deadline, f"tracing of {host} does not begin")
            if os.path.exists(self.path):
                sizes.add(os.path.getsize(self.path))
            time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=60)
        check(self.process.returncode == 0, f"tracing ended with {self.process.returncode}: {err}")


def experiment(directory, mode, fault, seconds, storage=None, then=None, address=HOSTS["srv"]):
    """Trace both during the fault; the directory with both archives."""
    if os.geteuid() != 0:
        raise Skip("namespaces need root")
    if not shutil.which("ip"):
        raise Skip("ip (iproute2) is not installed")
    out = f"{directory}/{fault}{mode}"
    os.mkdir(out)
    with network(), contextlib.ExitStack() as ends:
        server = Program("srv", SERVER, address, fault, storage or directory)
        ends.callback(server.end)
        client = Program("cli", CLIENT, address)
        ends.callback(client.end)
        traces = [Trace(out, host, p.process.pid, mode)
                  for host, p in (("srv", server), ("cli", client))]
        server.go()
        client.go()
        client.asked()
        if then:
            then(server)
        time.sleep(seconds)
        for trace in traces:
            trace.stop()
        server.process.send_signal(signal.SIGCONT)
    return out


def diagnose(out, *options):
    """The suspects, each of which is in the text and in the HTML report, too."""
    ran = limpet("diagnose", "-q", out, "--json", *options)
    verdict = json.loads(ran.out)
    suspects = verdict["suspects"]
    check(ran.code == (1 if suspects else 0), ran)
    check(verdict["traced"] == len([f for f in os.listdir(out) if f.endswith(".lpa")]), ran)
    page = f"{out}/report.html"
    text = limpet("diagnose", "-q", out, "--html", page, *options)
    with open(page, encoding="utf-8") as f:
        html = f.read()
    for s in suspects:
        check(s["component"] in text.out and s["component"] in html, text)
        check(s["first"] <= s["last"] and 0 < s["confidence"] <= 1 and s["evidence"], ran.out)
    return suspects


def expect(out, cause, *words, **how):
    suspects = diagnose(out, *how.get("options", ()))
    found = [(s["component"], s["cause"]) for s in suspects]
    check(found == [(how.get("component", "srv/sys:python3"), cause)], f"{found}, not {cause}\n"
          + json.dumps(suspects, indent=1))
    told = " ".join(suspects[0]["evidence"]) + " " + suspects[0]["advice"]
    for word in words:
        check(word in told, f"'{word}' is not in {told}")


def test_files(directory):
    """the server has too many files open: EMFILE reaches the client"""
    for mode in MODES:
        expect(experiment(directory, mode, "files", 1), "propagated-error",
               "openat on", "failed with EMFILE", "on cli: openat on /dev/null", "prlimit")


def test_space(directory):
    """the server's file system is full: ENOSPC reaches the client"""
    for mode in MODES:
        with small_file_system(f"{directory}/small{mode}", "2m") as small:
            expect(experiment(directory, mode, "space", 1, small), "propagated-error",
                   f"write on {small}/data failed with ENOSPC", "on cli: write on", "df -i")


def test_loopback(directory):
    """server and client are two observers on one machine: ENOSPC reaches the client over 127.0.0.1"""
    for mode in MODES:
        with small_file_system(f"{directory}/small{mode}", "2m") as small, one_machine() as address:
            expect(experiment(directory, mode, "space", 1, small, address=address),
                   "propagated-error", f"write on {small}/data failed with ENOSPC", "on cli: write on")


def test_file_size(directory):
    """a file of the server may not become larger: EFBIG, SIGXFSZ, a crash"""
    for mode in MODES:
        out = experiment(directory, mode, "fsize", 1)
        expect(out, "crash", "was killed by SIGXFSZ", " with EFBIG", "ulimit -f")
        if mode == "--records":
            only_client(out)


def only_client(out):
    """The same without the server's archive."""
    os.remove(f"{out}/srv.lpa")
    expect(out, "crash", "ECONNREFUSED", "no trace of the server itself",
           component=f"{HOSTS['srv']}/sys:7777")


def test_memory(directory):
    """the server gets no more memory: ENOMEM, SIGABRT, a crash"""
    for mode in MODES:
        expect(experiment(directory, mode, "memory", 1), "crash", "was killed by SIGABRT",
               "mmap with ENOMEM", "ulimit -v")


def test_hang(directory):
    """the server is stopped: the client waits for its answer"""
    def stop(server):
        server.process.send_signal(signal.SIGSTOP)

    for mode in MODES:
        out = experiment(directory, mode, "none", 7, then=stop)
        check(diagnose(out) == [], "thirty seconds are not over")
        expect(out, "server-hung", "7777 did not answer the last request of cli",
               "python3 (pid ", "in recvfrom on tcp ", options=("--hang-after", "4s"))


def test_no_fault(directory):
    """nothing is wrong, and the server ends cleanly: it is not accused"""
    for mode in MODES:
        check(diagnose(experiment(directory, mode, "none", 1)) == [], "a control")
    out = experiment(directory, "--summary", "ended", 1,
                     then=lambda server: server.process.terminate())
    check(diagnose(out) == [], "an orderly end")


def test_train(directory):
    """failures that happen in training are normal: they accuse no server afterwards"""
    out = experiment(directory, "--summary", "files", 1)
    thresholds = f"{directory}/t.thr"
    ran = limpet("train", out, "-o", thresholds)
    check(ran.code == 0, ran)
    with open(thresholds, encoding="utf-8") as f:
        text = f.read()
    check("limpet thresholds 2\n" in text, text)
    check("\nnormal  server  openat  EMFILE\n" in text, text)
    check(diagnose(out, "--thresholds", thresholds) == [], "it is normal")
    check(len(diagnose(out)) == 1, "without training it is not")
    good("help", "train")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
