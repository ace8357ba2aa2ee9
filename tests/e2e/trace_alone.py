#!/usr/bin/env python3
"""Programs that fail while nothing else is traced: disks that become full, servers without a free descriptor, processes
that abort. limpet names the program, the call and the object that it failed on."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from program import LIMPET, limpet, run_tests, tests_of, trace_backends
from tap import Skip, check, run
from trace_semantic import HOSTS, MODES, Program, Trace, diagnose, network, small_file_system

# Accepts every connection and closes none, so that it soon has no free descriptor.
SERVER = r"""
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], 7777))
s.listen(64)
print("ready", flush=True)
sys.stdin.readline()
kept = []
while True:
    try:
        kept.append(s.accept()[0])
    except OSError:
        time.sleep(0.01)
"""

# Sends a request on each of twenty connections, and gives up when the last one gets no answer.
CLIENT = r"""
import socket, sys
print("ready", flush=True)
sys.stdin.readline()
kept = []
for i in range(20):
    kept.append(socket.create_connection((sys.argv[1], 7777)))
    kept[-1].sendall(b"GET / HTTP/1.0\r\n\r\n")
kept[-1].settimeout(4)
try:
    kept[-1].recv(100)
except TimeoutError:
    print("asked", flush=True)
sys.stdin.readline()
"""

# Writes until nothing fits, and gives up.
ABORTS = r"""
import os, sys, time
out = os.open(sys.argv[1] + "/checkpoint", os.O_CREAT | os.O_WRONLY)
try:
    while True:
        os.write(out, bytes(1 << 16))
except OSError:
    time.sleep(float(sys.argv[2]))
    os.abort()
"""


def needs_root():
    if os.geteuid() != 0:
        raise Skip("file systems and namespaces need root")


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def trace(out, mode, *command):
    """Trace a command to its end."""
    os.mkdir(out)
    ran = limpet("trace", "syscalls", "-q", "-n", "host", mode, "-o", f"{out}/host.lpa", "--",
                 *command, preexec_fn=no_core)
    check(ran.code == 0, ran)
    return out


def expect(out, component, cause, *words):
    """The only suspect has these words in its evidence and advice; returns its confidence."""
    suspects = diagnose(out)
    found = [(s["component"], s["cause"]) for s in suspects]
    check(found == [(component, cause)], f"{found}, not {component} {cause}")
    told = " ".join(suspects[0]["evidence"]) + " " + suspects[0]["advice"]
    for word in words:
        check(word in told, f"'{word}' is not in {told}")
    return suspects[0]["confidence"]


def test_dd(directory):
    """dd onto a file system that becomes full"""
    needs_root()
    for mode in MODES:
        with small_file_system(f"{directory}/small{mode}", "1m") as small:
            out = trace(f"{directory}/dd{mode}", mode, "dd", "if=/dev/zero", f"of={small}/file",
                        "bs=64k")
        expect(out, "host/sys:dd", "resource-exhausted", f"write to {small}/file",
               " failed with ENOSPC (No space left on device)", "ended with status 1", "'df -i'")


def test_abort(directory):
    """a process without room to write to aborts"""
    needs_root()
    for mode in MODES:
        with small_file_system(f"{directory}/small{mode}", "1m") as small:
            out = trace(f"{directory}/abort{mode}", mode, sys.executable, "-c", ABORTS, small, "2")
        expect(out, "host/sys:python3", "crash", "was killed by SIGABRT",
               f"write on {small}/checkpoint with ENOSPC", "'df -i'")


def test_own_signals(directory):
    """a process that sends a fatal signal to itself has crashed, under any backend"""
    abort = (sys.executable, "-c", "import os; os.abort()")
    raised = (sys.executable, "-c", "import signal; signal.raise_signal(signal.SIGBUS)")
    for backend in trace_backends():
        for mode in MODES:
            for name, command, word in (("python3", abort, "SIGABRT"), ("python3", raised, "SIGBUS"),
                                        ("sh", ("sh", "-c", "kill -SEGV $$"), "SIGSEGV")):
                out = f"{directory}/{backend}{mode}{word}"
                os.mkdir(out)
                ran = limpet("trace", "syscalls", "-q", "-n", "host", mode, "--backend", backend, "-o",
                             f"{out}/host.lpa", "--", *command, preexec_fn=no_core)
                check(ran.code == 0, ran)
                expect(out, f"host/sys:{name}", "crash", f"was killed by {word}")


def expect_nobody(out, why):
    """No suspects. One observer has no peers, so it may be well or not."""
    ran = limpet("diagnose", "-q", out, "--json")
    check(ran.code in (0, 4), ran)
    check(json.loads(ran.out)["suspects"] == [], f"{why}: {ran}")


def test_succeeds(directory):
    """the same programs with enough room: no program is accused"""
    for mode in MODES:
        out = trace(f"{directory}/good{mode}", mode, "dd", "if=/dev/zero", f"of={directory}/file",
                    "bs=64k", "count=4")
        expect_nobody(out, "a control")
        out = trace(f"{directory}/bad{mode}", mode, "cat", f"{directory}/nothing")
        expect_nobody(out, "a file that is not there is no shortage")


def server_without_descriptors(directory, mode, traced):
    """A server that may open 12 files; with its client traced, or not."""
    out = f"{directory}/files{mode}{len(traced)}"
    os.mkdir(out)
    with network():
        server = Program("srv", SERVER, HOSTS["srv"])
        client = Program("cli", CLIENT, HOSTS["srv"])
        try:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (12, 12))
            programs = {"srv": server, "cli": client}
            traces = [Trace(out, host, programs[host].process.pid, mode) for host in traced]
            server.go()
            client.go()
            client.asked()
            time.sleep(8)
            for t in traces:
                t.stop()
        finally:
            client.end()
            server.end()
    return out


def test_descriptors(directory):
    """a server without a free descriptor, alone and with a client that waits without an answer"""
    needs_root()
    if not shutil.which("ip"):
        raise Skip("ip (iproute2) is not installed")
    for mode in MODES:
        sure = [expect(server_without_descriptors(directory, mode, traced), "srv/sys:python3",
                       "resource-exhausted",
                       f"accept4 on tcp {HOSTS['srv']}:7777 fails with EMFILE (Too many open files)",
                       " times since ", "prlimit --nofile", *words)
                for traced, words in ((["srv"], []),
                                      (["srv", "cli"], [f"for an answer of {HOSTS['srv']}:7777"]))]
        check(sure[0] < sure[1], f"a client makes it surer: {sure}")


def postgres():
    """The directory of PostgreSQL's programs."""
    for version in sorted(os.listdir("/usr/lib/postgresql")
                          if os.path.isdir("/usr/lib/postgresql") else [], reverse=True):
        where = f"/usr/lib/postgresql/{version}/bin"
        if os.path.exists(f"{where}/initdb"):
            return where
    raise Skip("PostgreSQL is not installed")


def as_postgres(*command, **options):
    return run("runuser", "-u", "postgres", "--", *command, cwd="/", **options)


def test_postgres(directory):
    """PostgreSQL's checkpointer without room for its checkpoint"""
    needs_root()
    where = postgres()
    out, data, port = f"{directory}/out", f"{directory}/small/data", "15432"
    os.mkdir(out)
    os.chmod(directory, 0o755)
    with small_file_system(f"{directory}/small", "64m") as small:
        os.chmod(small, 0o777)
        as_postgres(f"{where}/initdb", "-D", data, "-A", "trust")
        as_postgres(f"{where}/pg_ctl", "-D", data, "-w", "-l", f"{small}/log", "-o",
                    f"-k {small} -p {port} -c listen_addresses=", "start")
        tracer = None
        try:
            with open(f"{data}/postmaster.pid", encoding="utf-8") as f:
                main = f.readline().strip()
            children = run("pgrep", "-P", main).split()
            tracer = subprocess.Popen([LIMPET, "trace", "syscalls", "-n", "db", "-p",
                                       ",".join([main, *children]), "--records", "-o",
                                       f"{out}/db.lpa"], stderr=subprocess.PIPE, text=True)
            check("tracing" in tracer.stderr.readline(), "tracing does not begin")
            fill = f"\\! dd if=/dev/zero of={small}/ballast bs=4k 2>/dev/null"
            subprocess.run(["runuser", "-u", "postgres", "--", "psql", "-h", small, "-p", port,
                            "postgres"], input=f"create table t(x int);\n{fill}\ncheckpoint;\n",
                           text=True, capture_output=True, check=False, cwd="/", timeout=60)
        finally:
            subprocess.run(["runuser", "-u", "postgres", "--", f"{where}/pg_ctl", "-D", data, "-m",
                            "immediate", "stop"], capture_output=True, check=False, cwd="/")
            if tracer:
                if tracer.poll() is None:
                    tracer.send_signal(signal.SIGINT)
                tracer.communicate(timeout=60)
    expect(out, "db/sys:postgres", "crash", "was killed by SIGABRT", "with ENOSPC", "'df -i'",
           f"{data}/pg_logical/")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
