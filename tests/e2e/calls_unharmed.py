#!/usr/bin/env python3
"""Programs that count their calls, and do unusual things, behave as they would otherwise, and are still counted."""
import os
import resource
import signal
import subprocess
import sysconfig

from calls_runtime import SOURCES, Tables, build, counts_of, expect
from program import LIMPET, run_tests, tests_of
from tap import Skip, check, run

# mode -> how often each function ends
HARD = {
    "closes": {"leaf": 5, "middle": 1, "main": 1},
    "vforks": {"leaf": 2, "child_of_vfork": 1, "main": 1},
    "spawns": {"leaf": 1, "main": 1},
    "ends": {"destructor": 3 * 700, "leaf": 3 * 700},
    "small": {"middle": 1, "leaf": 4},
    "confined": {"leaf": 6, "middle": 1},
}


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_unusual(directory):
    """programs that close all files, spawn, vfork, end many threads, have tiny stacks, or are confined"""
    for options in ([], ["-static"], ["-flto"], ["-fvisibility=hidden", "-O0"]):
        program = build(directory, "hard.c", "-fno-inline", "-pthread", *options)
        for mode, wanted in HARD.items():
            with Tables() as tables:
                expect(tables.counts(program, mode), **wanted)


def test_clone(directory):
    """a child that libc does not know does not end the table of its parent"""
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    for mode in ("clones", "clones_stack"):
        with Tables() as tables:
            expect(tables.counts(program, mode), leaf=2, main=1)


def test_signals(directory):
    """signal handlers on a separate stack, at any moment, while threads begin and end"""
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    with Tables() as tables:
        done = subprocess.run([program, "storm"], check=True, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        rung = int(done.stdout)
        expect(tables.read()[0], middle=2000, brief=2000, ring=rung, leaf=6000 + rung)


def test_forks(directory):
    """children of fork() do not wait for threads that only their parent has"""
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    with Tables() as tables:
        tables.run(program, "forks")
        counts = [t for t in tables.read() if "calls_many" in t]
        check(counts and all(t[""] == (0, 0) for t in counts), f"{counts}")


def test_root_directory(directory):
    """a program that changes its root directory, and its child there"""
    if os.geteuid() != 0:
        raise Skip("needs root")
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    with Tables() as tables:
        # The child has no directory for its table, which therefore has no name.
        expect(tables.counts(program, "rooted"), leaf=2, middle=1, main=1)


def test_file_limit(directory):
    """a limit on the size of files does not kill a program that counts"""
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    for limits, counted in (((4096, resource.RLIM_INFINITY), 1), ((4096, 4096), 0)):
        with Tables() as tables:
            done = subprocess.run([program, "small"], check=False, timeout=120,
                                  preexec_fn=lambda l=limits: resource.setrlimit(resource.RLIMIT_FSIZE, l),
                                  env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
            check(done.returncode == 0, f"{limits}: it ended with {done.returncode}")
            found = tables.read()
            check(len(found) == counted, f"{limits}: {found}")
            if counted:
                expect(found[0], middle=1, leaf=4)


def test_limit_stays(directory):
    """and the limit still holds for the program itself"""
    source = write(directory, "limit.c", """#include <sys/resource.h>
int main(void) { struct rlimit r; return getrlimit(RLIMIT_FSIZE, &r) || r.rlim_cur != 4096; }
""")
    program = build(directory, source)
    with Tables() as tables:
        done = subprocess.run([program], check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)),
                              env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        check(done.returncode == 0, f"it ended with {done.returncode}")


def test_core_dump(directory):
    """the table is not part of core dumps"""
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    with Tables() as tables:
        process = subprocess.Popen([program, "reads"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        process.stdout.readline()
        with open(f"/proc/{process.pid}/smaps", encoding="ascii") as f:
            parts = f.read().split("\nVmFlags: ")
        process.communicate()
    flags = [parts[i + 1].split("\n")[0] for i in range(len(parts) - 1) if "limpet-calls." in parts[i].rsplit("\nVmFlags", 1)[-1]
             and "rw-s" in parts[i]]
    check(flags and all(" dd" in " " + f for f in flags), f"{flags}")


def test_setuid(directory):
    """a program that runs as another user ignores the environment of whoever started it"""
    if os.geteuid() != 0:
        raise Skip("needs root")
    program = build(directory, "hard.c", "-fno-inline", "-pthread")
    os.chmod(directory, 0o755)
    os.chmod(program, 0o4755)
    with Tables() as tables:
        os.chmod(tables.directory.name, 0o777)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", program, "small"], check=False, text=True,
                              capture_output=True, env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        if "failed to execute" in done.stderr:
            raise Skip("others may not look into this directory")
        check(done.returncode == 0 and tables.names() == [], f"{done} {tables.names()}")


CONSTRUCTS = """
#include <cstdlib>
#include <thread>
volatile int sink;
struct whole {
	__attribute__((noinline)) whole() { sink = sink + 1; }
	__attribute__((noinline)) ~whole() { sink = sink - 1; }
};
static whole early, other;
thread_local whole own;
__attribute__((noinline)) void touches() { (void)&own; sink = sink + 0; }
__attribute__((noinline)) void at_end() { sink = sink + 0; }
int main()
{
	std::atexit(at_end);
	std::thread(touches).join();
	std::thread(touches).join();
	return sink == 2 ? 0 : 1;
}
"""


def test_constructors(directory):
    """constructors and destructors of globals and of threads, and functions of atexit()"""
    for compiler in ("g++", "clang++"):
        for option in ("-O2", "-static"):
            program = build(directory, write(directory, "whole.cc", CONSTRUCTS), "-fno-inline", "-pthread", option,
                            compiler=compiler)
            with Tables() as tables:
                counts = tables.counts(program)
                got = {name: n for name, (n, _) in counts.items() if "whole" in name}
                check(counts["_Z7touchesv"][0] == 2 and counts["_Z6at_endv"][0] == 1, f"{compiler} {option}: {counts}")
                # Two globals, and one in each thread that touches it.
                check(sorted(got.values()) == [4, 4], f"{compiler} {option}: {got}")


PYTHON_MODULE = """
#include <Python.h>
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
static PyObject *work(PyObject *self, PyObject *args) {
	(void)self; (void)args;
	for (int i = 0; i < 9; i++) leaf();
	Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"work", work, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "counted", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_counted(void) { return PyModule_Create(&module); }
"""


def test_loaded(directory):
    """a library that counts, in programs that do not: one in C, and Python with threads and a fork"""
    library = build(directory, "plugin.c", "-DFUNCTION=first", "-shared", "-fPIC", out="plugin.so")
    program = os.path.join(directory, "loads")
    run("gcc", "-o", program, os.path.join(SOURCES, "loads.c"), "-ldl")
    with Tables() as tables:
        expect(tables.counts(program, library, "first", "3"), first=3)
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise Skip("no headers of Python here")
    build(directory, write(directory, "counted.c", PYTHON_MODULE), "-shared", "-fPIC", f"-I{include}", out="counted.so")
    script = """import counted, os, threading
threads = [threading.Thread(target=counted.work) for _ in range(10)]
[t.start() for t in threads]
[t.join() for t in threads]
if os.fork() == 0:
    counted.work()
    os._exit(0)
os.wait()
"""
    with Tables() as tables:
        subprocess.run(["python3", "-c", script], check=True, cwd=directory, timeout=120,
                       env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        leaves = sorted(t["leaf"][0] for t in tables.read())
        check(leaves == [9, 90], f"{leaves}")


def test_ways_to_link(directory):
    """position-independent or not, static, with other linkers, without optimisation, with sanitizers, and in parts"""
    ways = [["-no-pie"], ["-static-pie"], ["-Wl,--gc-sections", "-ffunction-sections"], ["-Wl,-z,now"], ["-Wl,--as-needed"],
            ["-flto", "-fuse-linker-plugin"], ["-fsanitize=address"], ["-fsanitize=undefined"], ["-Wl,-z,defs"], ["-std=c99"]]
    for way in ways:
        program = build(directory, "exact.c", "-fno-inline", "-D_GNU_SOURCE", "-pthread", *way)
        with Tables() as tables:
            expect(tables.counts(program, "threads"), worker=200, middle=200, leaf=2000)


def test_resolver(directory):
    """functions that choose another one while the program is loaded, before anything can be counted"""
    source = write(directory, "chooses.c", """__attribute__((noinline)) static int chosen(int x) { return x + 1; }
static int (*choose(void))(int) { return chosen; }
int f(int) __attribute__((ifunc("choose")));
int main(void) { return f(1) == 2 && f(2) == 3 ? 0 : 1; }
""")
    for option in ("-O2", "-Wl,-z,now", "-no-pie"):
        program = build(directory, source, "-fno-inline", option)
        with Tables() as tables:
            expect(tables.counts(program), chosen=2, main=1)


def test_by_parts(directory):
    """objects that are linked later, headers that are compiled, and libraries that name their C library"""
    part, joined, program = (os.path.join(directory, name) for name in ("exact.o", "joined.o", "program"))
    run(LIMPET, "cc", "gcc", "-O2", "-fno-inline", "-c", "-o", part, os.path.join(SOURCES, "exact.c"))
    run(LIMPET, "cc", "gcc", "-r", "-nostdlib", "-o", joined, part)
    run(LIMPET, "cc", "gcc", "-o", program, joined, "-pthread")
    with Tables() as tables:
        expect(tables.counts(program, "plain"), middle=3, leaf=30)
    header = write(directory, "all.h", "#include <stdio.h>\nint f(int);\n")
    for options in ([header], ["-x", "c-header", header]):
        run(LIMPET, "cc", "gcc", *options, "-o", header + ".gch")
        check(os.path.getsize(header + ".gch") > 10000, "it is not compiled")
    # As libtool links libraries of C++.
    library, source = os.path.join(directory, "libwhole.so"), write(
        directory, "lib.cc", "volatile int sink;\n__attribute__((noinline)) void leaf() { sink = 1; }\n"
        "extern \"C\" void first() { leaf(); }\n")
    run(LIMPET, "cc", "g++", "-fPIC", "-c", "-o", part, source)
    run(LIMPET, "cc", "g++", "-shared", "-nostdlib", "-o", library, part, "-lstdc++", "-lm", "-lc", "-lgcc_s")
    loads = os.path.join(directory, "loads")
    run("gcc", "-o", loads, os.path.join(SOURCES, "loads.c"), "-ldl")
    with Tables() as tables:
        expect(tables.counts(loads, library, "first", "3"), _Z4leafv=3)


def test_killed_in_threads(directory):
    """a program that is killed while 200 threads per second begin and end"""
    source = write(directory, "churn.c", """#include <pthread.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) void leaf(void) { sink = 1; }
static void *work(void *arg) { leaf(); return arg; }
int main(void) { for (;;) { pthread_t id; pthread_create(&id, 0, work, 0); pthread_join(id, 0); write(1, "x", 1); } }
""")
    program = build(directory, source, "-pthread", "-fno-inline")
    with Tables() as tables:
        process = subprocess.Popen([program], stdout=subprocess.PIPE, env={**os.environ, "LIMPET_CALLS_DIR": tables.directory.name})
        seen = len(process.stdout.read(2000))
        # Meanwhile its table is read.
        for _ in range(5):
            counts = counts_of(os.path.join(tables.directory.name, tables.names()[0]))
            check(counts["leaf"][0] >= seen, f"{counts['leaf']} of {seen}")
        process.send_signal(signal.SIGKILL)
        seen += len(process.stdout.read())
        process.wait()
        counts = tables.read()[0]
        check(0 <= counts["leaf"][0] - seen <= 1 and counts[""] == (0, 0), f"{counts['leaf']} of {seen}, {counts['']}")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
