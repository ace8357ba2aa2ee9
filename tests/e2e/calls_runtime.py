#!/usr/bin/env python3
"""Programs that are built with `limpet cc` count their calls in every situation, and nothing else changes."""
import os
import platform
import signal
import subprocess
import tempfile

from program import LIMPET, limpet, run_tests, tests_of
from tap import Skip, check, run

HERE = os.path.dirname(os.path.abspath(__file__))
DUMP = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/dump_calls")
SOURCES = os.path.join(HERE, "calls")


def build(directory, source, *options, compiler="gcc", out="program"):
    """Compile a source of the tests with limpet cc; the program."""
    program = os.path.join(directory, out)
    run(LIMPET, "cc", compiler, "-O2", "-o", program, os.path.join(SOURCES, source), *options)
    return program


class Tables:
    """A directory in memory for the tables of programs, as if limpet read them."""

    def __init__(self):
        self.directory = None

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="limpet-test-", dir="/dev/shm")
        with open(os.path.join(self.directory.name, "limpet-calls.reader"), "w", encoding="utf-8"):
            pass
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def run(self, *command, status=0):
        """Run a program that counts."""
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, timeout=120,
                              env={**os.environ, "LIMPET_CALLS_DIR": self.directory.name})
        check(done.returncode == status, f"{command} ended with {done.returncode}")

    def names(self):
        """The existing tables."""
        return sorted(n for n in os.listdir(self.directory.name) if n != "limpet-calls.reader")

    def read(self):
        """[{function: (count, ns)}] of each table, with "" for lost calls."""
        return [counts_of(os.path.join(self.directory.name, name)) for name in self.names()]

    def counts(self, *command, status=0):
        """The counts of the only table of a program."""
        self.run(*command, status=status)
        tables = self.read()
        check(len(tables) == 1, f"{len(tables)} tables: {self.names()}")
        return tables[0]


def symbols_of(path):
    """{address: name} of a file's functions."""
    lines = run("nm", path).splitlines()
    return {int(w[0], 16): w[2] for w in map(str.split, lines) if len(w) == 3 and w[1] in "tTwW"}


def counts_of(path):
    """{function: (count, ns)} of a table."""
    counts, symbols = {}, {}
    for line in run(DUMP, path).splitlines():
        if line.startswith("lost "):
            counts[""] = tuple(map(int, line.split()[1:]))
            continue
        _, _, module, address, count, ns = line.split()
        if module not in symbols:
            symbols[module] = symbols_of(module)
        name = symbols[module].get(int(address, 16), address)
        before = counts.get(name, (0, 0))
        counts[name] = (before[0] + int(count), before[1] + int(ns))
    return counts


def expect(counts, **wanted):
    """Check the numbers of calls."""
    got = {name: counts.get(name, (0, 0))[0] for name in wanted}
    check(got == wanted, f"counted {got}, not {wanted}")
    check(counts[""] == (0, 0), f"something was lost: {counts['']}")


# mode -> how often each function ends
EXACT = {
    "plain": {"middle": 3, "leaf": 30, "main": 1, "plain": 1},
    "recursion": {"deep": 101 + 30001, "leaf": 1, "recursion": 1},
    "threads": {"worker": 200, "middle": 200, "leaf": 2000},
    "jumping": {"outer": 5, "jumps": 5, "leaf": 10, "jumping": 1},
    "signals": {"handler": 100, "leaf": 200, "signals": 1},
    "coroutines": {"leaf": 20, "coroutines": 1, "main": 1},
    "errors": {"leaf": 1000, "errors": 1},
}


def test_counts(directory):
    """calls are counted exactly: recursion, 200 threads, longjmp, signals, coroutines, gcc and clang"""
    for compiler, option in (("gcc", "-O2"), ("gcc", "-O0"), ("clang", "-O2"), ("gcc", "-static")):
        program = build(directory, "exact.c", option, "-fno-inline", compiler=compiler)
        for mode, wanted in EXACT.items():
            with Tables() as tables:
                expect(tables.counts(program, mode), **wanted)


def test_fork(directory):
    """the child of a fork() has its own table, and does not change that of its parent"""
    program = build(directory, "exact.c", "-fno-inline")
    with Tables() as tables:
        tables.run(program, "forking")
        both = sorted((t.get("middle", (0,))[0], t["leaf"][0]) for t in tables.read())
        check(both == [(0, 1), (1, 7)], f"{both}")


def test_killed(directory):
    """the counts of a program up to the moment it was killed are kept"""
    program = build(directory, "exact.c", "-fno-inline")
    with Tables() as tables:
        expect(tables.counts(program, "killed", status=-signal.SIGKILL), middle=1, leaf=12)


def test_exceptions(directory):
    """functions that an exception leaves are counted and end there: time passes for the one that catches it"""
    for compiler, option in (("g++", "-O2"), ("clang++", "-O2"), ("clang++", "-O0"), ("g++", "-static")):
        program = build(directory, "throws.cc", option, compiler=compiler)
        with Tables() as tables:
            counts = tables.counts(program)
            expect(counts, _Z7throweri=10, _Z6passesi=10, _Z7catchesi=10)
            check(counts["_Z7catchesi"][1] >= 199e6, f"{compiler} {option}: {counts}")


def test_leaving(directory):
    """functions that longjmp() leaves end there: from the same depth, from far below, from a signal's own stack"""
    for compiler, *options in (("gcc",), ("gcc", "-D_FORTIFY_SOURCE=2"), ("gcc", "-static"), ("gcc", "-flto"), ("clang",)):
        program = build(directory, "exact.c", "-fno-inline", *options, compiler=compiler)
        with Tables() as tables:
            counts = tables.counts(program, "leaving")
            expect(counts, jumps=2, falls=2002, rescued=2, goes_on=2, climbs=2, survives=2)
            if platform.machine() == "x86_64":
                own = {name: counts[name][1] for name in ("goes_on", "climbs", "survives")}
                check(min(own.values()) >= 199e6, f"{compiler} {options}: {own}")


def test_times(directory):
    """the time of a function is its own: not more than elapsed, and without that of functions it calls"""
    program = build(directory, "exact.c", "-fno-inline")
    with Tables() as tables:
        counts = tables.counts(program, "times")
        sleeper, caller = counts["sleeper"][1], counts["caller"][1]
        check(sleeper >= 199e6, f"slept 0.2 s, of which {sleeper / 1e9} s were counted")
        check(caller >= 99e6, f"slept 0.1 s, of which {caller / 1e9} s were counted")
        check(counts["main"][1] < sleeper, "main() itself does nothing")


def test_unload(directory):
    """libraries that are loaded one after the other, at the same place, are distinguished"""
    program = build(directory, "loads.c", "-ldl")
    libraries = []
    for name in ("first", "second"):
        libraries.append(build(directory, "plugin.c", f"-DFUNCTION={name}", "-shared", "-fPIC",
                               out=f"{name}.so"))
    with Tables() as tables:
        expect(tables.counts(program, libraries[0], "first", "3", libraries[1], "second", "5",
                             libraries[0], "first", "4"), second=5, main=1)
        name = os.path.join(tables.directory.name, tables.names()[0])
        lines = [line.split() for line in run(DUMP, name).splitlines()]
        first = [int(w[4]) for w in lines if len(w) == 6 and w[2] == libraries[0]]
        check(sorted(first) == [3, 4], f"{first}")


def test_links(directory):
    """a library that is loaded by a link has the name of the file behind it, as in samples"""
    program = build(directory, "loads.c", "-ldl")
    library = build(directory, "plugin.c", "-DFUNCTION=first", "-shared", "-fPIC", out="libp.so.1.2")
    link = os.path.join(directory, "libp.so.1")
    os.symlink("libp.so.1.2", link)
    with Tables() as tables:
        tables.run(program, link, "first", "3")
        table = os.path.join(tables.directory.name, tables.names()[0])
        modules = {line.split()[2] for line in run(DUMP, table).splitlines() if len(line.split()) == 6}
        check(os.path.realpath(library) in modules and link not in modules, f"{modules}")


def test_prelinked(directory):
    """functions of a library that was linked for one address and is loaded at another"""
    program = build(directory, "loads.c", "-ldl")
    library = build(directory, "plugin.c", "-DFUNCTION=first", "-shared", "-fPIC",
                    "-Wl,-Ttext-segment=0x3000000000", out="prelinked.so")
    check(min(symbols_of(library)) >= 0x3000000000, "it is not for a place of its own")
    with Tables() as tables:
        expect(tables.counts(program, library, "first", "3"), first=3, main=1)


def test_nobody_reads(directory):
    """a program whose table is not read leaves nothing behind"""
    program = build(directory, "exact.c", "-fno-inline")
    with Tables() as tables:
        os.unlink(os.path.join(tables.directory.name, "limpet-calls.reader"))
        for mode, status in (("plain", 0), ("killed", -signal.SIGKILL), ("forking", 0)):
            tables.run(program, mode, status=status)
        check(tables.names() == [], f"left {tables.names()}")


def test_no_room(directory):
    """if there is no memory for a table, the program runs as usual"""
    if os.geteuid() != 0:
        raise Skip("only root can mount a file system that is full")
    program = build(directory, "exact.c", "-fno-inline")
    mount = os.path.join(directory, "full")
    os.mkdir(mount)
    script = f"""mount -t tmpfs -o size=16k limpet-test {mount} && : >{mount}/limpet-calls.reader &&
        LIMPET_CALLS_DIR={mount} {program} threads; status=$?; umount {mount}; exit $status"""
    run("unshare", "-m", "--propagation", "slave", "sh", "-c", script)


def test_little_room(directory):
    """functions for which there is no memory left are not counted, and nothing waits for them"""
    if os.geteuid() != 0:
        raise Skip("only root can mount a file system that is full")
    source = os.path.join(directory, "many.c")
    with open(source, "w", encoding="utf-8") as f:
        for i in range(600):
            f.write(f"__attribute__((noinline)) void f{i}(void) {{ __asm__ volatile(\"\"); }}\n")
        f.write("int main(void) { for (int i = 0; i < 1000; i++) {\n")
        f.write("".join(f"f{i}();\n" for i in range(600)) + "} return 0; }\n")
    program = build(directory, source)
    mount = os.path.join(directory, "little")
    os.mkdir(mount)
    # Room for the table and the first page of functions, 256 of them, and of counters.
    script = f"""mount -t tmpfs -o size=32k limpet-test {mount} && : >{mount}/limpet-calls.reader &&
        LIMPET_CALLS_DIR={mount} timeout 60 {program} && {DUMP} {mount}/limpet-calls.[0-9]*
        status=$?; umount {mount}; exit $status"""
    lost = [line for line in run("unshare", "-m", "--propagation", "slave", "sh", "-c", script).splitlines()
            if line.startswith("lost")]
    check(lost and lost[0].split()[1] != "0", f"{lost}")


def test_own_hooks(directory):
    """a program with its own hooks keeps them"""
    source = os.path.join(directory, "own.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write("""#define PLAIN __attribute__((no_instrument_function))
static int begun, ended;
PLAIN void __cyg_profile_func_enter(void *f, void *s) { begun++; (void)f; (void)s; }
PLAIN void __cyg_profile_func_exit(void *f, void *s) { ended++; (void)f; (void)s; }
__attribute__((noinline)) static void twice(void) { __asm__ volatile(""); }
PLAIN int main(void) { twice(); twice(); return begun == 2 && ended == 2 ? 0 : 1; }
""")
    for option in ("-O2", "-static"):
        with Tables() as tables:
            tables.run(build(directory, source, option))


def test_linked_otherwise(directory):
    """a program that was compiled by limpet cc and linked without it counts nevertheless"""
    runtime = os.path.join(os.environ.get("BUILD", "build"), "runtime")
    compiled = os.path.join(directory, "exact.o")
    run(LIMPET, "cc", "gcc", "-O2", "-fno-inline", "-c", "-o", compiled,
        os.path.join(SOURCES, "exact.c"))
    program = os.path.join(directory, "linked")
    run("gcc", "-o", program, compiled, f"-L{runtime}", f"-Wl,-rpath,{os.path.abspath(runtime)}",
        "-llimpet-calls", "-lpthread")
    with Tables() as tables:
        counts = tables.counts(program, "plain")
        expect(counts, **EXACT["plain"])


def test_others(directory):
    """a command that compiles nothing, or has no C library, runs unchanged"""
    check("gcc" in run(LIMPET, "cc", "gcc", "--version").lower(), "the compiler's own answer")
    bare = run(LIMPET, "cc", "--print", "gcc", "-ffreestanding", "-c", "x.c").split()
    check(bare == ["gcc", "-ffreestanding", "-c", "x.c"], f"{bare}")
    compiled = run(LIMPET, "cc", "--print", "gcc", "-c", "x.c").split()
    check("-finstrument-functions" in compiled and "-llimpet-calls" not in compiled, f"{compiled}")
    ran = limpet("cc")
    check(ran.code == 2 and "name the compiler" in ran.err, ran)
    ran = limpet("cc", "no-such-compiler", "x.c")
    check(ran.code == 2 and "cannot run no-such-compiler" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
