#!/usr/bin/env python3
"""limpet trace syscalls: a real program, server and client, traced by both backends: the counts match what they did."""
import atexit
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from program import LIMPET, bad, good, limpet, run_tests, tests_of, trace_backends
from tap import Skip, check

WORK = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/trace_work")
PIECES, REQUESTS, BRIEF = 50, 40, 30
BACKENDS = trace_backends()
MODES = [(b, m) for b in BACKENDS for m in ("--records", "--summary")]


def until(condition, seconds=60):
    """Wait until the condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"it is not so after {seconds} s")
        time.sleep(0.02)


def state_of(pid):
    """R, S, T ... as the kernel reports it."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()[0]


class Work:
    """A program with known calls that waits at its gates."""

    def __init__(self, *args, program=WORK):
        self.process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # left by a failed test
        self.ready = self.process.stdout.readline().split()
        assert self.ready[0] == "ready", self.ready
        self.pid = self.process.pid
        self.at_gate()

    def at_gate(self):
        """It has printed something and waits, so the call that printed it has ended."""
        until(lambda: state_of(self.pid) == "S")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def done(self):
        check(self.process.stdout.readline() == "done\n", "the program did not do it")
        self.at_gate()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=20)


class Trace:
    """limpet trace syscalls in the background, from when it is attached."""

    def __init__(self, path, *args):
        self.path = path
        self.process = subprocess.Popen(
            [LIMPET, "trace", "syscalls", "--json", "-n", "obs", "-o", path, *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        line = self.first_line()
        check(line.startswith("tracing "), line + self.process.stderr.read()
              if self.process.poll() is not None else line)

    def first_line(self):
        """Lines of its output; the rest is left for communicate(), which does not know about buffers."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stderr.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode(errors="replace")

    def stop(self, number=signal.SIGINT):
        time.sleep(0.2)
        self.process.send_signal(number)
        return self.finish()

    def finish(self):
        out, err = self.process.communicate(timeout=60)
        check(self.process.returncode == 0, f"exit {self.process.returncode}: {err}")
        check("Sanitizer" not in err, err)
        self.said = err
        return json.loads(out.splitlines()[-1])


def raw(path):
    """{(component, column): last value}"""
    text = good("show", "--raw", "--values", "--csv", path)
    return {(row["component"], row["metric"]): float(row["value"])
            for row in csv.DictReader(io.StringIO(text)) if row["value"]}


def rows(path, component):
    return {column: value for (name, column), value in raw(path).items() if name == component}


def trace_files(directory, name, *args):
    """The rows of a run of files."""
    path = os.path.join(directory, name + ".lpa")
    work = Work("files", directory, PIECES)
    trace = Trace(path, "-p", work.pid, *args)
    work.go()
    work.done()
    told = trace.stop()
    check(work.end() == 0, "the program was harmed")
    return path, told


def test_files(directory):
    """reads, writes and failures of files are counted, whichever side counts"""
    check(MODES, "no backend works here")
    calls = set()
    for backend, mode in MODES:
        path, told = trace_files(directory, backend + mode, "--backend", backend, mode)
        where = f"{backend} {mode}: "
        got = rows(path, "obs/sys:trace_work")
        check(got["dwrite_n"] == PIECES + 1, where + str(got))  # one of them failed
        check(got["dwrite_bytes"] == PIECES * 4096, where + str(got))
        check(got["dread_n"] == PIECES + 1, where + str(got))  # one was at the end
        check(got["dread_bytes"] == PIECES * 4096, where + str(got))
        check(got["dread_ns"] > 0 and got["dwrite_ns"] > 0, where + str(got))
        check(got["errors"] == 4, where + str(got))
        check(got["lost"] == 0 and told["lost"] == 0, where + str(got))
        counts = raw(path)
        # The program is in a read when it is attached to. Whether ptrace sees the end of that read depends on whether
        # the thread could be stopped before.
        gate = sum(value for (name, column), value in counts.items()
                   if name.endswith(":pipe-read") and column == "n")
        check(gate == 1 or (gate == 0 and backend == "ptrace"), where + str(counts))
        calls.add(got["calls"] - gate)
        check(counts[("obs/errno:trace_work:openat:ENOENT", "n")] == 3, where + str(counts))
        check(counts[("obs/errno:trace_work:write:EBADF", "n")] == 1, where + str(counts))
        cell = {column: value for (name, column), value in counts.items()
                if name.startswith("obs/call:trace_work.") and name.endswith(":storage-read")}
        check(cell["n"] == PIECES + 1 and cell["errors"] == 0, where + str(cell))
        check(sum(cell[f"h{b}"] for b in range(40)) == cell["n"], where + str(cell))
        check(told["backend"] == backend and told["calls"] == got["calls"], where + str(told))
        check(told["processes"] == [{"name": "trace_work", "calls": got["calls"], "errors": 4}],
              where + str(told))
        check(good("check", path), "unsound")
    check(len(calls) == 1, f"they count differently: {calls}")


def test_connections(directory):
    """whole requests and responses are found on both ends of a connection"""
    for backend, mode in MODES:
        where = f"{backend} {mode}: "
        server = Work("serve", REQUESTS)
        port = server.ready[1]
        client = Work("ask", port, REQUESTS)
        path = os.path.join(directory, f"net-{backend}{mode}.lpa")
        trace = Trace(path, "-p", f"{server.pid},{client.pid}", "--backend", backend, mode)
        server.go()
        client.go()
        client.done()
        server.done()
        time.sleep(1.2)
        trace.stop()
        check(client.end() == 0 and server.end() == 0, "they were harmed")
        got = raw(path)
        sys_row = rows(path, "obs/sys:trace_work")
        check(sys_row["nsread_n"] == REQUESTS, where + str(sys_row))
        # No request follows the last answer: whether it was complete is unknown.
        check(sys_row["ncread_n"] == REQUESTS - 1, where + str(sys_row))
        check(sys_row["nsread_ns"] > 0, where + str(sys_row))
        peer = {c: v for (name, c), v in got.items() if name == f"obs/peer:127.0.0.1:{port}"}
        check(peer["requests"] == REQUESTS and peer["responses"] == REQUESTS, where + str(peer))
        check(peer["read_n"] == REQUESTS - 1 and peer["waiting_us"] == 0, where + str(peer))
        check(len({name for name, _ in got if "/peer:" in name}) == 1, where + str(got))


def test_command(directory):
    """a command is traced from beginning to end, and its status is reported"""
    for backend, mode in MODES:
        path = os.path.join(directory, f"cmd-{backend}{mode}.lpa")
        ran = limpet("trace", "syscalls", "--backend", backend, mode, "-n", "obs", "-o", path,
                     "--", "/bin/sh", "-c", "cat /etc/passwd >/dev/null; exit 7")
        check(ran.code == 0 and "ended with status 7" in ran.err, str(ran))
        check("limpet show --calls" in ran.err and path in ran.err, str(ran))
        size = os.path.getsize("/etc/passwd")
        check(rows(path, "obs/sys:cat")["dread_bytes"] >= size, str(rows(path, "obs/sys:cat")))
        ran = limpet("trace", "syscalls", "--backend", backend, mode, "-q", "-o", path + ".2.lpa",
                     "--exit-status", "--", "/bin/sh", "-c", "exit 7")
        check(ran.code == 7 and not ran.err, str(ran))


def test_short_is_exact(directory):
    """calls that end before the first second are counted, too"""
    for backend, mode in MODES:
        path = os.path.join(directory, f"short-{backend}{mode}.lpa")
        ran = limpet("trace", "syscalls", "--json", "--backend", backend, mode, "-n", "obs", "-o",
                     path, "--", WORK, "files", directory, PIECES, input="\n\n")
        told = json.loads(ran.out.splitlines()[-1])
        got = rows(path, "obs/sys:trace_work")
        check(got["dwrite_bytes"] == PIECES * 4096 and got["calls"] == told["calls"],
              f"{backend} {mode}: {got} {told}")


def tracer_of(pid):
    """The process that traces it with ptrace; 0: none."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("TracerPid:"))


def test_targets(directory):
    """by name: existing processes and later ones"""
    name = f"lpw{os.getpid()}"  # a name that no other process has
    program = os.path.join(directory, name)
    os.symlink(os.path.realpath(WORK), program)
    for backend in BACKENDS:
        path = os.path.join(directory, f"comm-{backend}.lpa")
        first = Work("files", directory, PIECES, program=program)
        trace = Trace(path, "--comm", name, "--backend", backend, "--records")
        second = Work("files", directory, PIECES, program=program)
        if backend == "ptrace":  # which looks for names only from time to time
            until(lambda pid=second.pid: tracer_of(pid))
            time.sleep(0.5)  # attached; a moment later its calls are seen
        for work in (first, second):
            work.go()
            work.done()
        told = trace.stop()
        check(first.end() == 0 and second.end() == 0, "they were harmed")
        got = rows(path, "obs/sys:" + name)
        check(got["dwrite_bytes"] == 2 * PIECES * 4096, f"{backend}: {got}")
        check(told["traced"] == 2, str(told))


# Takes the given name, if any, and then makes a call from time to time.
BUSY = """
import ctypes, os, sys, time
if len(sys.argv) > 1:
    ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
print("ready", flush=True)
while True:
    os.getppid()
    time.sleep(0.01)
"""


class Busy:
    """A process that exists until it is ended."""

    def __init__(self, program, *args, **options):
        self.process = subprocess.Popen([program, "-c", BUSY, *args], stdout=subprocess.PIPE,
                                        text=True, **options)
        atexit.register(self.process.kill)
        check(self.process.stdout.readline() == "ready\n", "it did not begin")
        self.pid = self.process.pid

    def end(self):
        self.process.kill()
        self.process.communicate()


def test_disguise(directory):
    """by name: processes that only call themselves so are reported, and not traced"""
    name = f"lpd{os.getpid()}"
    program = os.path.join(directory, name)
    os.symlink(os.path.realpath(sys.executable), program)
    for backend in BACKENDS:
        real, early = Busy(program), Busy(sys.executable, name)
        trace = Trace(os.path.join(directory, f"liar-{backend}.lpa"), "--comm", name, "--backend",
                      backend, "--summary")
        late = Busy(sys.executable, name)
        time.sleep(1.5)  # longer than ptrace takes to look again, so errors have time to appear
        told = trace.stop()
        for process in (real, early, late):
            process.end()
        check(told["traced"] == 1, f"{backend}: {told}")
        found = [(p["name"], p["executable"], p["processes"]) for p in told["programs"]]
        check(found == [(name, os.path.realpath(program), 1)], f"{backend}: {found}")
        words = f"process {early.pid} calls itself '{name}' but runs "
        check(words in trace.said, f"'{words}' is not in {trace.said}")
        check("is not traced" in trace.said, trace.said)


class Shell:
    """A user's shell that makes calls on request."""

    def __init__(self, program, user):
        self.process = subprocess.Popen([program, "-c", "echo ready; while read x; do cd /; echo; done"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        user=user, cwd="/")
        atexit.register(self.process.kill)
        check(self.process.stdout.readline() == "ready\n", "it did not begin")
        self.pid = self.process.pid

    def call(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        check(self.process.stdout.readline() == "\n", "it did nothing")

    def end(self):
        self.process.kill()
        self.process.communicate()


def test_users(directory):
    """by name and user: existing processes and later ones"""
    if os.geteuid() != 0:
        raise Skip("root alone can have processes of others")
    name = f"lpu{os.getpid()}"
    program = os.path.join(directory, name)
    os.chmod(directory, 0o755)
    os.symlink("/bin/sh", program)
    for backend in BACKENDS:
        started = [Shell(program, user) for user in (0, 65534)]
        trace = Trace(os.path.join(directory, f"user-{backend}.lpa"), "--comm", name, "--user",
                      "65534", "--backend", backend, "--summary")
        started += [Shell(program, user) for user in (0, 65534)]
        if backend == "ptrace":  # attached; a moment later its calls are seen
            until(lambda pid=started[3].pid: tracer_of(pid))
            time.sleep(0.5)
            check(not tracer_of(started[2].pid), "root's is traced")
        for shell in started:
            shell.call()
        told = trace.stop()
        for process in started:
            process.end()
        check(told["traced"] == 2, f"{backend}: {told}")
        check([p["processes"] for p in told["programs"]] == [2], f"{backend}: {told['programs']}")


def run_briefly(program, source, targets):
    """For each target, a process that copies the source there and ends immediately; their ids."""
    pids = []
    for target in targets:
        work = subprocess.Popen([program, "if=" + source, "of=" + target, "bs=64K", "status=none"],
                                env={"LC_ALL": "C"})
        check(work.wait(timeout=60) == 0, "it was harmed")
        pids.append(work.pid)
    return pids


def check_brief(path, name, told, pids):
    """Every process has its name, in the rows and in the summary at the end."""
    components = {component for component, _ in raw(path)}
    named = {int(c.split(":")[1].rpartition(".")[2]) for c in components
             if c.startswith(f"obs/call:{name}.")}
    check(named == set(pids), f"of {sorted(pids)} there are {sorted(named)}: {sorted(components)}")
    strange = [c for c in components if c.split(":")[1].split(".")[0] != name]
    check(not strange, f"processes called otherwise: {strange}")
    check([p["name"] for p in told["processes"]] == [name], str(told))
    check(told["traced"] == len(pids) and told["lost"] == 0, str(told))
    calls = good("show", "--calls", path)
    for pid in pids:
        check(f'{pid}/{pid} +++ now runs "' in calls, f"{pid} is not in\n{calls}")


def test_brief(directory):
    """processes that end before /proc can be read have their name and their descriptors"""
    if "bpf" not in BACKENDS:
        raise Skip("ptrace looks for names now and then only")
    name, source = f"lpb{os.getpid()}", os.path.join(directory, "source")
    program = shutil.copy(shutil.which("dd"), os.path.join(directory, name))
    with open(source, "wb") as data:
        data.write(bytes(10000))
    for mode in ("--records", "--summary"):
        path = os.path.join(directory, f"brief{mode}.lpa")
        targets = [os.path.join(directory, f"target{mode}{i}") for i in range(BRIEF)]
        trace = Trace(path, "--comm", name, "--backend", "bpf", mode)
        pids = run_briefly(program, source, targets[:BRIEF // 2])
        # The others have certainly ended when limpet gets their events.
        trace.process.send_signal(signal.SIGSTOP)
        until(lambda pid=trace.process.pid: state_of(pid) == "T")
        pids += run_briefly(program, source, targets[BRIEF // 2:])
        trace.process.send_signal(signal.SIGCONT)
        told = trace.stop()
        check_brief(path, name, told, pids)
        got = rows(path, "obs/sys:" + name)
        check(got["dwrite_bytes"] == BRIEF * 10000 and got["dwrite_n"] == BRIEF, f"{mode}: {got}")
        check(got["dread_bytes"] >= BRIEF * 10000, f"{mode}: {got}")
        if mode == "--summary":
            continue
        calls, changes = good("show", "--calls", path), good("show", "--descriptors", path)
        for pid, target in zip(pids, targets):
            check(f" {pid} open 3 storage {source}\n" in changes and
                  f" {pid} open 3 storage {target}\n" in changes, f"{pid} {target}:\n{changes}")
            check(f"{pid}/{pid} read(0<{source}>, " in calls and
                  f"{pid}/{pid} write(1<{target}>, " in calls, f"{pid} {target}:\n{calls}")


def test_control_group(directory):
    """by control group: those in it, and in those below"""
    roots = [r for r in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup") if os.access(r, os.W_OK) and
             os.path.exists(os.path.join(r, "cgroup.procs"))]
    if os.geteuid() != 0 or not roots:
        raise Skip("control groups cannot be made here")
    group = os.path.join(roots[0], f"limpet-test-{os.getpid()}")
    below = os.path.join(group, "below")
    os.makedirs(below)
    try:
        for backend in BACKENDS:
            path = os.path.join(directory, f"group-{backend}.lpa")
            inside, outside = (Work("files", directory, PIECES) for _ in range(2))
            with open(os.path.join(below, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write(str(inside.pid))
            trace = Trace(path, "--cgroup", group, "--backend", backend, "--records")
            for work in (inside, outside):
                work.go()
                work.done()
            trace.stop()
            check(inside.end() == 0 and outside.end() == 0, "they were harmed")
            got = rows(path, "obs/sys:trace_work")
            check(got["dwrite_bytes"] == PIECES * 4096, f"{backend}: {got}")
    finally:
        for path in (below, group):
            os.rmdir(path)


def test_ends(directory):
    """it ends with what it traces, after --duration, and by SIGTERM"""
    for backend in BACKENDS:
        work = Work("files", directory, PIECES)
        trace = Trace(os.path.join(directory, f"e1-{backend}.lpa"), "-p", work.pid, "--backend",
                      backend)
        work.go()
        work.done()
        check(work.end() == 0, "harmed")
        check(trace.finish()["calls"] > 2 * PIECES, "it did not end by itself")
        work = Work("files", directory, PIECES)
        trace = Trace(os.path.join(directory, f"e2-{backend}.lpa"), "-p", work.pid, "--backend",
                      backend, "-d", "2s")
        check(1.9 < trace.finish()["seconds"] < 10, "not two seconds")
        trace = Trace(os.path.join(directory, f"e3-{backend}.lpa"), "-p", work.pid, "--backend",
                      backend)
        trace.stop(signal.SIGTERM)
        work.go()
        work.done()
        check(work.end() == 0, "harmed")


def test_kill(directory):
    """limpet killed by SIGKILL: the traced process continues, the written data can be read"""
    for backend in BACKENDS:
        path = os.path.join(directory, f"kill-{backend}.lpa")
        work = Work("files", directory, PIECES)
        trace = Trace(path, "-p", work.pid, "--backend", backend, "--records", "--flush", "1s")
        time.sleep(2)
        trace.process.kill()
        trace.process.communicate()
        work.go()
        work.done()
        check(work.end() == 0, "it was harmed")
        good("check", path)


def test_death(directory):
    """a process that dies by a signal is in the log"""
    for backend, mode in MODES:
        path = os.path.join(directory, f"die-{backend}{mode}.lpa")
        work = Work("die")
        trace = Trace(path, "-p", work.pid, "--backend", backend, mode)
        work.go()
        trace.finish()
        check(work.end() == -signal.SIGABRT, "it did not die")
        text = good("show", "--calls", path)
        check("SIGABRT" in text and "ENOENT" in text, f"{backend} {mode}:\n{text}")


def test_stuck(directory):
    """a call that does not return is reported while it lasts, and at the end"""
    for backend, mode in MODES:
        path = os.path.join(directory, f"stuck-{backend}{mode}.lpa")
        work = Work("stuck", 60)
        trace = Trace(path, "-p", work.pid, "--backend", backend, mode, "--stuck", "1s")
        work.go()
        time.sleep(4)
        told = trace.stop()
        work.process.kill()
        work.end()
        text = good("show", "-m", "stuck", "--csv", path)
        check(any(line.endswith(",stuck,1") for line in text.splitlines()),
              f"{backend} {mode}:\n{text}")
        check(told["slowest"][0]["call"] == "write" and not told["slowest"][0]["returned"],
              f"{backend} {mode}: {told}")
        check("write" in good("show", "--calls", path), "not in the log")


def test_meta(directory):
    """the archive says how it was made; diagnose and show take it"""
    for backend, mode in MODES:
        path, _ = trace_files(directory, "meta" + backend + mode, "--backend", backend, mode)
        text = good("show", path)
        check("obs/sys:trace_work" in text, text)
        ran = limpet("diagnose", path)
        check(ran.code in (0, 4), str(ran))


def test_directory(directory):
    """files in a directory are named by observer and time"""
    ran = limpet("trace", "syscalls", "-q", "-n", "obs", "-o", directory, "--", "/bin/true")
    check(ran.code == 0, str(ran))
    names = [n for n in os.listdir(directory) if n.endswith(".lpa")]
    check(len(names) == 1 and names[0].startswith("obs-syscalls-20"), str(names))
    ran = limpet("trace", "syscalls", "-q", "-n", "obs", "-o", directory, "--", "/bin/true")
    names = [n for n in os.listdir(directory) if n.endswith(".lpa")]
    check(len(names) == 2, f"a second run is another file: {names}")


def test_modes(directory):
    """archives are readable by their owner only, and the command does not notice"""
    os.umask(0o022)
    for backend in BACKENDS:
        out = os.path.join(directory, f"new-{backend}/traces")
        ran = limpet("trace", "syscalls", "-q", "--backend", backend, "-o", out, "--", "sh", "-c",
                     f"umask > {directory}/umask-{backend}")
        check(ran.code == 0, ran)
        with open(f"{directory}/umask-{backend}", encoding="ascii") as f:
            check(int(f.read(), 8) == 0o022, "the command has another umask")
        for path in (os.path.dirname(out), out):
            check(os.stat(path).st_mode & 0o777 == 0o700, f"{path}: {os.stat(path)}")
        check(os.listdir(out), "nothing was written")
        for name in os.listdir(out):
            mode = os.stat(os.path.join(out, name)).st_mode & 0o777
            check(mode & 0o077 == 0, f"{name}: {mode:o}")


def test_errors(directory):
    """invalid requests are refused with one sentence"""
    trace = ("trace", "syscalls")
    bad(2, "nothing to trace", *trace)
    bad(2, "not the id of a process", *trace, "-p", "abc")
    bad(2, "there is no process", *trace, "-p", "4194304")
    bad(2, "no backend 'strace'", *trace, "--backend", "strace", "--", "true")
    bad(2, "exclude each other", *trace, "--summary", "--records", "--", "true")
    bad(2, "--interval", *trace, "-i", "1ms", "--", "true")
    bad(2, "--ring", *trace, "--ring", "1", "--", "true")
    bad(2, "there is no user 'nobody at all'", *trace, "--comm", "x", "--user", "nobody at all")
    bad(2, "--user goes with --comm", *trace, "--user", "0", "--", "true")
    bad(2, "not a port", *trace, "--ports", "0", "--", "true")
    bad(2, "--cgroup", *trace, "--cgroup", "/nonexistent", "-d", "1s")
    bad(2, "cannot be a name", *trace, "-n", "a/b", "--", "true")
    path = os.path.join(directory, "there.lpa")
    open(path, "w", encoding="ascii").close()
    bad(2, "exists already", *trace, "-o", path, "--", "true")
    for backend in BACKENDS:
        bad(2, "nonexistent-program", *trace, "--backend", backend, "-q", "-o", directory, "--",
            "nonexistent-program")


def test_full_disk(directory):
    """a full disk harms nothing but the archive"""
    if os.geteuid() != 0:
        raise Skip("needs root to mount a small file system")
    small = os.path.join(directory, "small")
    os.mkdir(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], check=True)
    try:
        ran = limpet("trace", "syscalls", "--records", "-n", "obs", "-o", small, "--", "/bin/sh",
                     "-c", "for i in 1 2 3 4 5 6 7 8; do ls -lR /etc >/dev/null 2>&1; done; true")
        check(ran.code == 3 and "could not be written" in ran.err, str(ran))
        check("status 0" in ran.err, str(ran))
    finally:
        subprocess.run(["umount", small], check=True)


if not BACKENDS:
    print("1..0 # SKIP no backend works here (neither bpf nor ptrace is permitted)")
    sys.exit(77)
run_tests(tests_of(__name__))
