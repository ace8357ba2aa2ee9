#!/usr/bin/env python3
"""Calls of programs, followed through the layers of the I/O stack: the recording contains their operations, and they
behave as without it."""
import collections
import csv
import io
import json
import os
import shutil
import signal
import subprocess

from program import bad, good, limpet, run_tests, tests_of
from tap import Skip, check, run

SOURCE = os.environ.get("SOURCE", ".")
PROGRAMS = os.path.join(SOURCE, "tests/e2e/stack")
# As root, and with more ranks than CPUs.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
# MPI libraries and the suffixes of their compilers, if both are installed; how ranks are started.
MPIS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "romio": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "io", "romio321"],
    "mpich": ["mpiexec.mpich"],
}


class Place:
    """A directory with a compiled program, for recordings and files."""

    def __init__(self, directory, source, *options, compiler="gcc"):
        self.directory = directory
        self.program = self.path("program")
        run(compiler, "-O2", "-pthread", "-I", os.path.join(SOURCE, "include"), "-o", self.program,
            os.path.join(PROGRAMS, source), *options)

    def path(self, name):
        """A path in the directory."""
        return os.path.join(self.directory, name)

    def record(self, *options, command=(), code=0):
        """Run the program with its file and record it; the summary."""
        shutil.rmtree(self.path("data"), ignore_errors=True)
        command = command or [self.program, self.path("file")]
        ran = limpet("stack", "run", "--json", "-n", "host", "-o", self.path("data"), *options, "--", *command)
        check(ran.code == code, str(ran))
        return json.loads(ran.out.splitlines()[-1])

    def calls(self, *options):
        """The calls that were recorded, in the order of time."""
        return json.loads(good("stack", "show", "--json", *options, self.path("data")))["calls"]


def of_file(calls, name="file"):
    """Those about the test's file."""
    return [c for c in calls if c["object"].endswith("/" + name)]


def test_pattern(directory):
    """Every call is recorded once, with its size, offset and result."""
    place = Place(directory, "pattern.c")
    summary = place.record()
    check(summary["lost"] == 0 and summary["damaged"] == 0 and summary["killed"] == 0, summary)
    check(summary["called"] == ["posix"] and summary["processes"] == 1, summary)
    calls = of_file(place.calls())
    got = [(c["function"].removesuffix("64"), c["offset"], c["size"], c["result"]) for c in calls]
    want = [("open", -1, 0, 0)] + [("write", 4096 * i, 4096, 4096) for i in range(10)] + [
        ("pwrite", 100000, 1000, 1000), ("writev", 40960, 300, 300), ("pread", 90000, 65536, 11000),
        ("pread", -1, 10, -22), ("fsync", -1, 0, 0), ("close", -1, 0, 0), ("open", -1, 0, 0),
        ("write", 101000, 5, 5), ("close", -1, 0, 0), ("fopen", -1, 0, 0), ("fread", -1, 3000, 3000),
        ("fclose", -1, 0, 0), ("open", -1, 0, 0), ("close", -1, 0, 0), ("close", -1, 0, 0)]
    check(got == want, f"{got}")
    check([c.get("region") for c in calls[1:13]] == ["writing"] * 12, calls[1:13])
    check("region" not in calls[0] and "region" not in calls[13], calls[13])
    failed = [c for c in place.calls() if c["result"] == -2]
    check(len(failed) == 1 and failed[0]["operation"] == "open", failed)
    check(all(c["ns"] >= 0 for c in calls), calls)


def test_unchanged(directory):
    """A program prints the same and exits in the same way, watched or not."""
    place = Place(directory, "pattern.c")
    alone = run(place.program, place.path("file"))
    ran = limpet("stack", "run", "-q", "-o", place.path("data"), "--", place.program, place.path("file"))
    check(ran.code == 0 and ran.err == "", str(ran))
    check(ran.out == alone, f"{ran.out}\n--- alone\n{alone}")
    limpet_run = limpet("stack", "run", "-q", "--exit-status", "-o", place.path("data"), "--", "sh", "-c", "exit 3")
    check(limpet_run.code == 3, str(limpet_run))
    limpet_run = limpet("stack", "run", "-q", "--exit-status", "-o", place.path("data"), "--", "sh", "-c",
                        "kill -9 $$")
    check(limpet_run.code == 137, str(limpet_run))


def ways(place, way, code=0):
    """Record one of the ways."""
    return place.record(command=[place.program, way, place.path("file")], code=code)


def test_ways(directory):
    """Threads, children, signals and sudden ends."""
    place = Place(directory, "ways.c")
    ways(place, "threads")
    calls = of_file(place.calls())
    by_thread = collections.Counter(c["tid"] for c in calls if c["function"].startswith("pwrite"))
    check(len(by_thread) == 20 and set(by_thread.values()) == {1000}, by_thread)

    summary = ways(place, "forks")
    calls = of_file(place.calls())
    by_process = collections.Counter(c["pid"] for c in calls if c["operation"] == "write")
    check(len(by_process) == 5 and set(by_process.values()) == {1000}, by_process)
    check(summary["killed"] == 0, summary)

    summary = ways(place, "killed")
    check(summary["killed"] == 1 and summary["status"] == 9, summary)
    check(sum(c["operation"] == "write" for c in of_file(place.calls())) == 1000, "calls before kill -9 are lost")

    for way in "handler", "jumps":
        ways(place, way)
        calls = of_file(place.calls())
        check(sum(c["operation"] == "write" for c in calls) == 1000, f"{way}: {len(calls)}")

    summary = ways(place, "_exit")
    check(summary["killed"] == 0 and summary["status"] == 7 << 8, summary)
    summary = ways(place, "exec")
    check(summary["killed"] == 0 and summary["processes"] == 2, summary)


def program_in(directory, source, *options):
    """A program in a directory of its own."""
    own = os.path.join(directory, "-".join([source, *(o.strip("-") for o in options)]).replace("/", "").replace(":", ""))
    os.mkdir(own)
    return Place(own, source, *options)


def check_nested(place):
    """In the events for trace viewers, those of a thread are nested or follow each other."""
    good("stack", "show", "--trace", place.path("trace"), place.path("data"))
    with open(place.path("trace"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    ends = collections.defaultdict(list)
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        lane = ends[e["pid"], e["tid"]]
        while lane and lane[-1] <= e["ts"] + 1e-4:
            lane.pop()
        check(not lane or e["ts"] + e["dur"] <= lane[-1] + 1e-4, e)
        lane.append(e["ts"] + e["dur"])
    check(any(t >= 1 << 30 for _, t in ends), "calls at the same time have lanes")


def check_later(place, want):
    """An asynchronous program prints the same, and its calls are recorded once."""
    alone = run(place.program, place.path("file"))
    ran = limpet("stack", "run", "-q", "-o", place.path("data"), "--", place.program, place.path("file"))
    check(ran.code == 0 and ran.out == alone, f"{ran}\n--- alone\n{alone}")
    summary = place.record()
    check(summary["open"] == summary["lost"] == summary["damaged"] == 0, summary)
    calls = [c for c in of_file(place.calls()) if c["operation"] not in ("open", "close")]
    got = [(c["function"].removesuffix("64"), c["offset"], c["size"], c["result"]) for c in calls]
    check(sorted(got) == sorted(want), f"{got}")
    check_nested(place)
    place.record("--summary")
    sums = {s["operation"]: s for s in json.loads(good("stack", "show", "--json", place.path("data")))["sums"]}
    writes = [w[3] for w in want if w[0] in ("aio_write", "lio_listio", "io_submit") and w[1] % 4096 == 0]
    check((sums["write"]["calls"], sums["write"]["errors"], sums["write"]["bytes"]) ==
          (len(writes), sum(n < 0 for n in writes), sum(n for n in writes if n > 0)), sums)


def test_later(directory):
    """Asynchronous calls end when the program learns that they have ended."""
    check_later(program_in(directory, "later.c"), [("aio_write", i * 4096, 4096, 4096) for i in range(8)] + [
        ("aio_read", 8 * 4096 - 100, 4096, 100), ("aio_read", -1, 4096, -22), ("aio_fsync", -1, 0, 0),
        ("lio_listio", 8 * 4096, 4096, 4096), ("lio_listio", 10 * 4096, 4096, 4096)])


def test_libaio(directory):
    """The same by libaio; one of several calls is refused."""
    if subprocess.run(["gcc", "-shared", "-o", os.path.join(directory, "x.so"), "-l:libaio.so.1"],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("there is no libaio")
    check_later(program_in(directory, "later.c", "-DLIBAIO", "-l:libaio.so.1"),
                [("io_submit", i * 4096, 4096, 4096) for i in range(7)] + [
                    ("io_submit", 7 * 4096 - 100, 4096, 100), ("io_submit", 7 * 4096, 4096, -22)])


def bounds(place, way, *options, command=()):
    """Record a program that gives up rights; the writes to both files, and the missing data."""
    os.makedirs(place.path("room"), exist_ok=True)
    os.chmod(place.path("room"), 0o777)
    os.chmod(place.directory, 0o755)
    summary = place.record(*options, command=[*command, place.program, way, place.path("room")])
    check(summary["status"] == 0, summary)
    shown = json.loads(good("stack", "show", "--json", place.path("data")))
    # Under another root there is no /proc from which to get the name of the second file.
    writes = [c["object"].endswith("/file") for c in shown["calls"] if c["operation"] == "write" and c["size"] == 4]
    for name in "file", "later":
        os.unlink(place.path(f"room/{name}"))
    return [writes.count(True), writes.count(False)], shown["gaps"]


def test_bounds(directory):
    """A program that gives up rights behaves the same, and missing data is reported."""
    place = Place(directory, "bounds.c")
    check(bounds(place, "none")[0] == [600, 600], "none")
    writes, gaps = bounds(place, "calls")
    check(writes == [600, 0] and gaps["confined"] == 1, f"{writes} {gaps}")
    check("recorded only until it restricted its system calls" in good("stack", "show", place.path("data")), "text")
    limits = ["sh", "-c", 'ulimit -f 2000; exec "$@"', "sh"]
    check(bounds(place, "none", command=limits)[0] == [600, 600], "a limit of the size of files")
    limits[2] = 'ulimit -f 100; exec "$@"'
    writes, gaps = bounds(place, "none", command=limits)
    check(writes == [0, 0] and gaps["unable"] == 1 and gaps["damaged"] == 0, f"{writes} {gaps}")
    check("1 process was not recorded: the limits" in good("stack", "show", place.path("data")), "text")
    limits[2] = 'ulimit -v 4000000; exec "$@"'
    check(bounds(place, "none", command=limits)[0] == [600, 600], "a limit of the address space")
    if os.geteuid():
        raise Skip("changing the root and the user takes root")
    check(bounds(place, "root")[0] == [600, 600], "another root")
    check(bounds(place, "user")[0] == [600, 600], "another user")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # Who cannot read the library cannot load it, for instance in a clone in a directory of mktemp.
    library = os.path.join(os.environ["BUILD"], "runtime/liblimpet-stack.so")
    if subprocess.run([*nobody, "test", "-r", library], check=False).returncode == 0:
        check(bounds(place, "none", command=nobody)[0] == [600, 600], "all of the program as another user")
    else:
        print(f"# {library} is not readable for other users: not tried")


def test_limits(directory):
    """A configuration limits what is recorded: regions, operations, programs, layers."""
    place = Place(directory, "pattern.c")
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\nregions: [writing]\noperations: [write]\n")
    place.record("-c", place.path("stack.yaml"))
    got = collections.Counter(c["function"].removesuffix("64") for c in place.calls())
    check(got == {"write": 10, "pwrite": 1, "writev": 1}, got)
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\napplication: program\n")
    summary = place.record("-c", place.path("stack.yaml"),
                           command=["sh", "-c", f"cat /etc/passwd; {place.program} {place.path('file')}"])
    check(summary["processes"] == 1, summary)
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\noperation: [write]\n")
    bad(2, "stack.yaml:2: there is no key 'operation'; did you mean 'operations'?", "stack", "run", "-c",
        place.path("stack.yaml"), "--", "true")


def places(directory):
    """The program that writes from several functions and through a library."""
    library = os.path.join(directory, "libdeposit.so")
    run("gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, os.path.join(PROGRAMS, "deposit.c"))
    return Place(directory, "places.c", "-g", library, "-Wl,-rpath," + directory)


def limited(place, text, code=0):
    """Record with a configuration; the writes to the file: size and region."""
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write(text)
    place.record("-c", place.path("stack.yaml"), code=code)
    return [(c["size"], c.get("region")) for c in of_file(place.calls()) if c["operation"] == "write"]


def test_places(directory):
    """Regions that are functions or lines of the program."""
    place = places(directory)
    with open(os.path.join(PROGRAMS, "places.c"), encoding="utf-8") as f:
        line = 1 + next(i for i, text in enumerate(f) if "the line" in text)
    got = limited(place, "layers: [posix]\nregions: [checkpoint()]\n")
    check(got == [(1000 + i, "checkpoint()") for i in range(3)], got)
    got = limited(place, "layers: [posix]\nregions: ['places.c:" + f"{line}']\n")
    check(got == [(3000, f"places.c:{line}")], got)
    lines = f"places.c:{line - 2}-{line + 1}"
    got = limited(place, f"layers: [posix]\nregions: ['{lines}', checkpoint()]\napplication: program\n")
    check(got == [(1000 + i, "checkpoint()") for i in range(3)] + [(2000, lines), (3000, lines)], got)
    text = good("stack", "show", place.path("data"))
    check("region checkpoint(): 3 times" in text, text)
    text = good("stack", "run", "--dry-run", "-c", place.path("stack.yaml"), "--", place.program)
    check("checkpoint()" in text and "while these lines are on the stack" in text, text)
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\nregions:\n  - nowhere()\n")
    bad(2, "stack.yaml:3: there is no function 'nowhere' in", "stack", "run", "-c", place.path("stack.yaml"), "--",
        place.program)
    bad(2, "stack.yaml:3: there is no function", "stack", "run", "--dry-run", "-c", place.path("stack.yaml"), "--",
        place.program)


def test_library(directory):
    """Functions of a library that a configuration names are a layer, and work as before."""
    place = places(directory)
    alone = run(place.program, place.path("file"))
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [library, posix]\nfunctions:\n"
                "  - {name: deposit_put, operation: write, object: 1, offset: 2, size: 4, returns: bytes}\n")
    ran = limpet("stack", "run", "-q", "-c", place.path("stack.yaml"), "-n", "host", "-o", place.path("data"), "--",
                 place.program, place.path("file"))
    check(ran.code == 0 and ran.out == alone, f"{ran}\n{alone}")
    calls = place.calls()
    check(len(calls) == 1, calls)
    put = calls[0]
    check((put["layer"], put["function"], put["offset"], put["size"], put["result"]) ==
          ("library", "deposit_put", 100, 4096, 4096) and put["object"] == place.path("file"), put)
    tree = json.loads(good("stack", "show", "--json", "--call", "0:0", place.path("data")))
    check([p["function"].removesuffix("64") for p in tree["below"]] == ["open", "pwrite", "close"], tree)


def test_show(directory):
    """Text, one call, CSV and events for trace viewers."""
    place = Place(directory, "pattern.c")
    place.record()
    text = good("stack", "show", place.path("data"))
    for words in "calls of posix by 1 process", "region writing: 1 time", "12 calls", "the slowest calls":
        check(words in text, text)
    call = of_file(place.calls())[3]
    text = good("stack", "show", "--call", f"{call['rank']}:{call['number']}", place.path("data"))
    check("posix write 4.1 kB at 8192 of" in text and "|####" in text, text)
    call = next(c for c in of_file(place.calls()) if c["size"] == 65536)
    text = good("stack", "show", "--call", f"{call['rank']}:{call['number']}", place.path("data"))
    check(" 11.0 kB at 90000 of" in text, f"a short read: {text}")
    rows = list(csv.DictReader(io.StringIO(good("stack", "show", "--csv", place.path("data")))))
    check(len(rows) == len(place.calls()), f"{len(rows)} rows")
    check(sum(int(r["result"]) for r in rows if r["function"] == "write") == 10 * 4096 + 5, rows)
    good("stack", "show", "--trace", place.path("trace.json"), place.path("data"))
    with open(place.path("trace.json"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    names = [e["args"]["name"] for e in events if e["ph"] == "M"]
    check(len(names) == 1 and names[0].startswith("host ("), names)
    events = [e for e in events if e["ph"] == "X"]
    check(len(events) == len(rows) + 1, f"{len(events)} events")  # and the mark
    check(all(e["dur"] >= 0 and e["ts"] >= 0 for e in events), events[0])
    bad(2, "there is no call 5:5", "stack", "show", "--call", "5:5", place.path("data"))
    bad(2, "'x' is not a call", "stack", "show", "--call", "x", place.path("data"))
    bad(2, "there is no layer 'x'", "stack", "show", "--layer", "x", place.path("data"))


def test_page(directory):
    """The page is one file that has all calls."""
    place = Place(directory, "pattern.c")
    place.record()
    good("stack", "show", "--html", place.path("calls.html"), place.path("data"))
    with open(place.path("calls.html"), encoding="utf-8") as f:
        page = f.read()
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    check(len(data["calls"]) == len(place.calls()), f"{len(data['calls'])} calls")
    check(all(c["parts"] for c in data["calls"]), "a call without its waterfall")
    check("http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", ""), "an address")
    check("ultrastar-36z15" in good("stack", "show", "--drive", "list"), "--drive list")
    bad(2, "there is no drive 'x'", "stack", "show", "--drive", "x", place.path("data"))
    with open(place.path("drives.yaml"), "w", encoding="utf-8") as f:
        f.write("drives:\n  - name: x\n    activ: 3\n")
    bad(2, "drives.yaml:3: there is no key 'activ'; did you mean 'active'?", "stack", "show", "--drive", "x",
        "--drives", place.path("drives.yaml"), place.path("data"))


def test_diagnose(directory):
    """Layers of servers are peers; for a program without peers, the slowest call is quoted."""
    path = os.path.join(directory, "served.csv")
    start = 1304899200
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for t in range(240):
            for server in range(1, 5):
                for number, layer in enumerate(("server", "storage", "block")):
                    jitter = 1 + (t * 7 + server * 13 + number * 5) % 11 / 40
                    slow = 4 if server == 3 and t > 60 else 1
                    f.write(f"{start + t},s{server}/layer:{layer},served,{(9 - number) * jitter * slow:.3f}\n")
    ran = limpet("diagnose", "-q", "--json", path)
    check(ran.code == 1, str(ran))
    suspects = {s["component"] for s in json.loads(ran.out)["suspects"]}
    check(suspects == {"s3/layer:server", "s3/layer:storage", "s3/layer:block"}, suspects)
    path = os.path.join(directory, "answer.csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for t in range(240):
            for server in range(1, 5):
                slow = 4 if server == 3 and t > 60 else 1
                jitter = 1 + (t * 7 + server * 13) % 11 / 40
                f.write(f"{start + t},s{server}/layer:server,served,{5 * jitter:.3f}\n")
                f.write(f"{start + t},c1/peer:10.0.0.{server}:3334,answer,{12 * jitter * slow:.3f}\n")
    ran = limpet("diagnose", "-q", path)
    check(ran.code == 1 and "10.0.0.3: requests are slow to cross the network" in ran.out, str(ran))
    place = Place(directory, "pattern.c")
    place.record()
    ran = limpet("diagnose", "-q", place.path("data"))
    check(ran.code == 4 and "the slowest call: call " in ran.out, str(ran))


def test_mistakes(directory):
    """Errors say what is wrong and what to do."""
    bad(2, "name the program", "stack", "run")
    bad(2, "cannot run /nowhere/at/all", "stack", "run", "-o", "/tmp", "--", "/nowhere/at/all")
    bad(2, "there is no layer 'x'", "stack", "run", "--layers", "x", "--", "true")
    bad(2, "neither a file nor a built-in configuration 'nosuch'", "stack", "run", "-c", "nosuch", "--", "true")
    bad(2, "cannot make a directory for spans", "stack", "run", "--scratch", directory + "/nowhere", "--", "true")
    ran = limpet("stack", "run", "-o", directory, "--layers", "posix,mpi-io", "--", "true")
    if "not installed" not in ran.err:
        check("the layer mpi-io was never called" in ran.err, str(ran))
    scratch = os.path.join(directory, "scratch")
    os.mkdir(scratch)
    good("stack", "run", "-q", "-o", directory, "--scratch", scratch, "--", "cat", "/etc/passwd")
    check(not os.listdir(scratch), "something is left in the scratch directory")
    text = good("stack", "run", "--dry-run", "-c", "posix")
    check("posix" in text and "128 bytes" in text, text)
    check("mpi-io" in good("stack", "layers"), "stack layers")
    check(json.loads(good("stack", "layers", "--json"))["layers"][-1]["name"] == "block", "stack layers --json")


def test_mpi(directory):
    """Collective calls of an MPI job, rank by rank, with the operations that they cause below."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise Skip("there is no mpicc or mpirun")
    place = Place(directory, "collective.c", compiler="mpicc")
    command = [*MPIRUN, "-n", "3", place.program, place.path("file")]
    alone = sorted(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    os.unlink(place.path("file"))
    ran = limpet("stack", "run", "-c", "mpi-io", "-q", "-n", "host", "-o", place.path("data"), "--", *command)
    check(ran.code == 0 and sorted(ran.out.splitlines()) == alone, f"{ran}\n{alone}")
    calls = place.calls()
    writes = [c for c in calls if c["function"] == "MPI_File_write_at_all"]
    check(sorted((c["rank"], c["offset"]) for c in writes) ==
          sorted((r, (i * 3 + r) * 65536) for r in range(3) for i in range(3)), writes)
    check(all(c["size"] == c["result"] == 65536 and c["collective"] for c in writes), writes)
    reads = [c for c in calls if c["function"] == "MPI_File_read_at"]
    check(sorted((c["rank"], c["offset"], c["result"]) for c in reads) == [(r, 8 * r, 100) for r in range(3)], reads)
    check(sum(c["result"] == -2 for c in calls) == 3, calls)
    # Every byte of the job is written below one of its calls.
    tree = [json.loads(good("stack", "show", "--json", "--call", f"{c['rank']}:{c['number']}", place.path("data")))
            for c in writes]
    ranges = sorted((p["offset"], p["result"]) for c in tree for p in c["below"] if p["operation"] == "write")
    check(sum(n for _, n in ranges) == 9 * 65536, ranges)
    check(all(c["layer"] == "mpi-io" for c in calls), "calls of the uppermost layer only")
    summary = json.loads(good("stack", "show", "--json", place.path("data")))
    check(summary["ranks"] == 3, summary)


def test_nonblocking(directory):
    """Calls of MPI-IO that return before their I/O has ended: the I/O belongs to them."""
    built = 0
    for mpi, start in MPIS.items():
        compiler = "mpicc.mpich" if mpi == "mpich" else "mpicc.openmpi"
        if not shutil.which(compiler) or not shutil.which(start[0]):
            continue
        built += 1
        own = os.path.join(directory, mpi)
        os.mkdir(own)
        place = Place(own, "nonblocking.c", compiler=compiler)
        place.record("-c", "mpi-io", command=[*start, "-n", "2", place.program, place.path("file")])
        writes = [c for c in place.calls() if c["function"] == "MPI_File_iwrite_at"]
        check(len(writes) == 6, f"{mpi}: {writes}")
        for c in writes:
            tree = json.loads(good("stack", "show", "--json", "--call", f"{c['rank']}:{c['number']}",
                                   place.path("data")))
            below = [(p["offset"], p["result"]) for p in tree["below"] if p["operation"] == "write"]
            check(below == [(c["offset"], 65536)], f"{mpi}: {tree}")
    if not built:
        raise Skip("there is no MPI")


def mpi_programs(directory):
    """The same program in C and in Fortran's three ways, with each installed MPI library."""
    built = 0
    for mpi, mpirun in MPIS.items():
        suffix = "openmpi" if mpi == "romio" else mpi
        if not shutil.which("mpicc." + suffix) or not shutil.which(mpirun[0]):
            continue
        if not os.path.exists(os.path.join(os.environ["BUILD"], f"runtime/liblimpet-stack-{suffix}.so")):
            continue
        built += 1
        yield mpi, mpirun, "C", Place(directory, "collective.c", compiler="mpicc." + suffix)
        for way in ("MPIF_H", "MPI", "MPI_F08") if shutil.which("mpifort." + suffix) else ():
            # ROMIO does not see Fortran's names, in which the ways differ, so one way is enough for it.
            if mpi != "romio" or way == "MPI_F08":
                yield mpi, mpirun, way, Place(directory, "collective.f90", "-cpp", "-DUSE_" + way,
                                              compiler="mpifort." + suffix)
    if not built:
        raise Skip("there are no mpicc.openmpi and mpicc.mpich that limpet was built for")


def test_mpi_libraries(directory):
    """A call is recorded once, the same for every MPI library and language, and the program behaves the same."""
    want = sorted([("MPI_File_open", r, -1, 0, 0, True) for r in range(2)] +
                  [("MPI_File_open", r, -1, 0, -2, False) for r in range(2)] +
                  [("MPI_File_write_at_all", r, (i * 2 + r) * 65536, 65536, 65536, True)
                   for r in range(2) for i in range(3)] +
                  [("MPI_File_read_at", r, 8 * r, 100, 100, True) for r in range(2)] +
                  [("MPI_File_sync", r, -1, 0, 0, True) for r in range(2)] +
                  [("MPI_File_close", r, -1, 0, 0, True) for r in range(2)])
    for mpi, mpirun, way, place in mpi_programs(directory):
        command = [*mpirun, "-n", "2", place.program, place.path("file")]
        alone = sorted(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
        os.unlink(place.path("file"))
        shutil.rmtree(place.path("data"), ignore_errors=True)
        ran = limpet("stack", "run", "-c", "mpi-io", "-q", "-n", "host", "-o", place.path("data"), "--", *command)
        check(ran.code == 0 and sorted(ran.out.splitlines()) == alone, f"{mpi} {way}: {ran}\n{alone}")
        calls = place.calls()
        got = sorted((c["function"], c["rank"], c["offset"], c["size"], c["result"], c["object"] == place.path("file"))
                     for c in calls)
        check(got == want, f"{mpi} {way}: {got}")
        written = 0
        for c in calls:
            if c["function"] == "MPI_File_write_at_all":
                tree = json.loads(good("stack", "show", "--json", "--call", f"{c['rank']}:{c['number']}", place.path("data")))
                written += sum(p["result"] for p in tree["below"] if p["layer"] == "posix" and p["operation"] == "write")
        check(written == 6 * 65536, f"{mpi} {way}: {written} bytes were written below the calls")


def killed(directory, scratch):
    """Kill limpet while its program waits; then let the program write, and check what it recorded."""
    def fifo(name, mode):
        with open(os.path.join(directory, name), mode, encoding="utf-8"):
            pass

    fifo("ready", "r")
    yield "kill"
    fifo("go", "w")
    with open(os.path.join(directory, "look"), "w", encoding="utf-8"):
        # It has written, and kept at most the calls of one chunk of memory: 5000 calls would be ten. Which
        # ones it kept depends on how many limpet had read before. python3 may be started by a script, and its
        # processes leave their own files.
        (left,) = os.listdir(scratch)
        found = []
        for name in os.listdir(os.path.join(scratch, left)):
            used = os.stat(os.path.join(scratch, left, name)).st_blocks * 512
            check(used <= 4096 + 2 * 65536, f"{name} has {used} bytes")
            with open(os.path.join(scratch, left, name), "rb") as f:
                kept = f.read(4096 + 2 * 65536)
            check(b"secret" not in kept, "data of the program is kept")
            found.append(b"python3" in kept)
        check(any(found), "nothing of the program is left")
    fifo("end", "r")


def test_killed(directory):
    """A program continues when limpet is killed, and stops recording; the next run removes what is left."""
    scratch = os.path.join(directory, "scratch")
    os.mkdir(scratch)
    for name in "ready", "go", "look", "end":
        os.mkfifo(os.path.join(directory, name))
    code = ("import os, sys\nos.chdir(sys.argv[1])\nopen('ready', 'w').close()\nopen('go').close()\n"
            "f = os.open('file', os.O_CREAT | os.O_WRONLY)\n"
            "for i in range(5000): os.pwrite(f, b'secret', i)\n"
            "open('look').close()\nos.rename('file', 'done')\nopen('end', 'w').close()\n")
    with subprocess.Popen([os.environ["LIMPET"], "stack", "run", "-q", "--scratch", scratch, "-o", directory, "--",
                           "python3", "-c", code, directory], start_new_session=True) as process:
        try:
            for _ in killed(directory, scratch):
                process.kill()
                process.wait()
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    check(os.path.getsize(os.path.join(directory, "done")) == 5005, "the program did not go on")
    good("stack", "run", "-q", "--scratch", scratch, "-o", directory, "--", "true")
    check(not os.listdir(scratch), f"{os.listdir(scratch)} is left")


def test_rank_dies(directory):
    """A rank is killed: the calls of all ranks until then are recorded, and what is missing is reported, then and
    later."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise Skip("there is no mpicc or mpirun")
    place = Place(directory, "dies.c", compiler="mpicc")
    summary = place.record("-c", "mpi-io", command=[*MPIRUN, "-n", "2", place.program, place.path("file")])
    check(summary["status"] != 0 and summary["killed"] >= 1, summary)
    writes = [c for c in of_file(place.calls()) if c["function"] == "MPI_File_write_at"]
    check(collections.Counter(c["rank"] for c in writes) == {0: 5, 1: 5}, writes)
    text = good("stack", "show", place.path("data"))
    check("without a normal exit" in text, text)
    gaps = json.loads(good("stack", "show", "--json", place.path("data")))["gaps"]
    check(gaps["killed"] == summary["killed"], gaps)


def test_summary(directory):
    """Sums of a job, which its ranks add up at its end, are those of its calls."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise Skip("there is no mpicc or mpirun")
    place = Place(directory, "collective.c", compiler="mpicc")
    command = [*MPIRUN, "-n", "3", place.program, place.path("file")]
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [mpi-io, posix]\napplication: program\n")
    summary = place.record("-c", place.path("stack.yaml"), "--summary", command=command)
    check(summary["spans"] == 0, summary)
    got = json.loads(good("stack", "show", "--json", place.path("data")))
    check(got["ranks"] == 3, got)
    write = next(s for s in got["sums"] if s["layer"] == "mpi-io" and s["operation"] == "write")
    check((write["calls"], write["bytes"], write["errors"]) == (9, 9 * 65536, 0), write)
    check(0 < write["exclusive_ns"] <= write["inclusive_ns"] and write["longest_ns"] <= write["inclusive_ns"], write)
    check("sums of a job of 3 ranks" in good("stack", "show", place.path("data")), "the table")
    sums = {(s["layer"], s["operation"]): s["calls"] for s in got["sums"]}
    place.record("-c", place.path("stack.yaml"), command=command)
    calls = collections.Counter((c["layer"], c["operation"]) for layer in ("mpi-io", "posix")
                                for c in place.calls("--layer", layer))
    check({k: n for k, n in sums.items() if k[0] == "mpi-io"} ==
          {k: n for k, n in calls.items() if k[0] == "mpi-io"}, f"{sums} {calls}")


def test_together(directory):
    """Several processes read many files together, and print the same as one process."""
    if not shutil.which("mpirun"):
        raise Skip("there is no mpirun")
    place = Place(directory, "pattern.c")
    for i in range(5):
        good("stack", "run", "-q", "-n", f"host{i}", "-o", place.path("many"), "--", place.program, place.path("file"))
    # Memory that Open MPI keeps until the process ends is not a leak of limpet.
    env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    for options in ("--json",), ("--csv",), ():
        alone = good("stack", "show", *options, place.path("many"))
        for n in 2, 3:
            ran = subprocess.run([*MPIRUN, "-n", str(n), os.environ["LIMPET"], "stack", "show", *options, place.path("many")],
                                 capture_output=True, text=True, check=False, env=env)
            if "liblimpet-team-mpi.so" in ran.stderr:
                raise Skip("limpet was built without MPI")
            check(ran.returncode == 0 and ran.stdout == alone, f"{ran.stderr}{ran.stdout[:500]}\n--- alone\n{alone[:500]}")
    ran = subprocess.run([*MPIRUN, "-n", "2", os.environ["LIMPET"], "stack", "show", place.path("nowhere")],
                         capture_output=True, text=True, check=False, env=env)
    check(ran.returncode == 2 and "nowhere" in ran.stderr, str(ran))


def test_gaps(directory):
    """A layer that was named and never called is reported, also when the recording is shown."""
    place = Place(directory, "pattern.c")
    place.record("--layers", "posix,hdf5")
    text = good("stack", "show", place.path("data"))
    check("the layer hdf5 was never called" in text, text)
    ran = limpet("stack", "show", "--layer", "hdf5", place.path("data"))
    check(ran.code == 2 and "there are no calls of hdf5 in this recording" in ran.err, str(ran))


def test_nothing(directory):
    """A recording without calls says why, and entering a region is not a call."""
    place = Place(directory, "pattern.c")
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\nregions: [nosuch]\n")
    for options in [], ["--summary"]:
        summary = place.record("-c", place.path("stack.yaml"), *options)
        check(summary["spans"] == 0 and summary["called"] == [], summary)
        text = good("stack", "show", place.path("data"))
        check("the program never entered a region" in text and "never called" not in text, text)
        check(json.loads(good("stack", "show", "--json", place.path("data")))["gaps"]["unentered"] is True, text)
    ran = limpet("stack", "show", "--csv", place.path("data"))
    check(ran.code == 2 and "no calls were recorded" in ran.err, str(ran))
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [posix]\nregions: [writing]\ndrive: nosuch\n")
    summary = place.record("-c", place.path("stack.yaml"))
    ran = limpet("stack", "show", "--json", place.path("data"))
    check("names the drive 'nosuch'" in ran.err and ran.code == 0, str(ran))
    check(summary["spans"] == json.loads(ran.out)["n_calls"] > 0, summary)


def test_collective_only(directory):
    """Only collective operations, with the operations that they cause."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise Skip("there is no mpicc or mpirun")
    place = Place(directory, "collective.c", compiler="mpicc")
    with open(place.path("stack.yaml"), "w", encoding="utf-8") as f:
        f.write("layers: [mpi-io, posix]\noperations: collective\napplication: program\n")
    place.record("-c", place.path("stack.yaml"), command=[*MPIRUN, "-n", "2", place.program, place.path("file")])
    calls = place.calls()
    check(calls and all(c["collective"] for c in calls), calls)
    below = json.loads(good("stack", "show", "--json", "--layer", "posix", place.path("data")))
    written = sum(c["result"] for c in of_file(below["calls"]) if c["operation"] == "write")
    check(written == 2 * 3 * 65536, f"{written} bytes")
    whole = json.loads(good("stack", "show", "--json", place.path("data")))
    writes = [c for c in whole["collectives"] if c["function"] == "MPI_File_write_at_all"]
    check(len(writes) == 3 and all(c["ranks"] == 2 for c in writes), whole["collectives"])


def test_hdf5(directory):
    """Datasets of HDF5, with the MPI-IO and the writes that they become."""
    if not shutil.which("h5pcc") or not shutil.which("mpirun"):
        raise Skip("there is no h5pcc or mpirun")
    place = Place(directory, "dataset.c", "-shlib", compiler="h5pcc")
    command = [*MPIRUN, "-n", "2", place.program, place.path("file")]
    alone = sorted(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    os.unlink(place.path("file"))
    ran = limpet("stack", "run", "-c", "hdf5", "-q", "-n", "host", "-o", place.path("data"), "--", *command)
    check(ran.code == 0 and sorted(ran.out.splitlines()) == alone, f"{ran}\n{alone}")
    calls = of_file(place.calls())
    writes = [c for c in calls if c["function"] == "H5Dwrite"]
    check(sorted(c["rank"] for c in writes) == [0, 1] and all(c["result"] == 80000 for c in writes), writes)
    for c in writes:
        tree = json.loads(good("stack", "show", "--json", "--call", f"{c['rank']}:{c['number']}", place.path("data")))
        below = [p for p in tree["below"] if p["layer"] == "mpi-io" and p["operation"] == "write"]
        check(below and sum(p["result"] for p in below) == 80000, tree)
        check(c["layers_ns"].get("mpi-io", 0) > 0, c)


def test_pnetcdf(directory):
    """Variables of PnetCDF, with the MPI-IO and the writes that they become."""
    if not shutil.which("mpicc") or not os.path.exists("/usr/include/pnetcdf.h"):
        raise Skip("there is no mpicc or PnetCDF")
    place = Place(directory, "variable.c", "-lpnetcdf", compiler="mpicc")
    command = [*MPIRUN, "-n", "2", place.program, place.path("file")]
    alone = sorted(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    os.unlink(place.path("file"))
    ran = limpet("stack", "run", "-c", "pnetcdf", "-q", "-n", "host", "-o", place.path("data"), "--", *command)
    check(ran.code == 0 and sorted(ran.out.splitlines()) == alone, f"{ran}\n{alone}")
    calls = of_file(place.calls())
    got = collections.Counter((c["function"], c["size"]) for c in calls if c["size"])
    check(got == {("ncmpi_put_vara_float_all", 40000): 2, ("ncmpi_iput_vara_float", 40000): 2,
                  ("ncmpi_get_var_float_all", 80000): 2}, got)
    writes = [c for c in calls if c["function"] in ("ncmpi_put_vara_float_all", "ncmpi_wait_all")]
    below = 0
    for c in writes:
        tree = json.loads(good("stack", "show", "--json", "--call", f"{c['rank']}:{c['number']}", place.path("data")))
        below += sum(p["result"] for p in tree["below"] if p["layer"] == "mpi-io" and p["operation"] == "write")
    check(below == 160000, f"{below} bytes were written below them")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
