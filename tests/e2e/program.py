"""Shared by tests of the whole program: running it, and judging its output."""
import os
import subprocess
import sys
import tempfile

import tap

LIMPET = os.environ.get("LIMPET", "build/src/cli/limpet")
LIMPET_LAB = os.path.join(os.path.dirname(LIMPET), "../lab/limpet-lab")
TREES = os.path.join(os.environ.get("SOURCE", "."), "tests/fixtures/trees")


class Ran:
    """A finished run: exit code and output."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out[-2000:]}\n--- stderr\n{self.err[-2000:]}"


# Commands that only read may be run again.
READS = ("diagnose", "show", "score", "help", "version")
# LeakSanitizer uses its own tracer to stop the threads of a process that ends. If that crashes, which sometimes happens
# on a busy machine, this does not concern the program.
ITS_OWN_FAULT = "LeakSanitizer has encountered a fatal error"


def leave_leaks(options):
    """Have a program run without LeakSanitizer."""
    env = options.get("env") or os.environ
    asan = env.get("ASAN_OPTIONS", "")
    options["env"] = {**env, "ASAN_OPTIONS": f"{asan}:detect_leaks=0"}


def limpet(*args, timeout=120, **options):
    """Run limpet; an exit by a signal, and output of sanitizers, fail the test immediately."""
    argv = [LIMPET, *map(str, args)]
    for attempt in range(4):
        if attempt == 3:  # then without it: everything else is checked
            leave_leaks(options)
        ran = Ran(subprocess.run(argv, capture_output=True, text=True, errors="replace",
                                 timeout=timeout, **options))
        if ITS_OWN_FAULT not in ran.err or args[0] not in READS:
            break
    if ran.code < 0 or "Sanitizer" in ran.err or "runtime error" in ran.err:
        raise AssertionError(f"{' '.join(argv)}\n{ran}")
    return ran


def good(*args, **options):
    """Run limpet, which must succeed without complaint; its output."""
    ran = limpet(*args, **options)
    assert ran.code == 0, ran
    return ran.out


def bad(code, words, *args, **options):
    """Run limpet, which must fail with this code and print these words, in one line per error."""
    ran = limpet(*args, **options)
    assert ran.code == code, ran
    for word in [words] if isinstance(words, str) else words:
        assert word in ran.err, f"'{word}' is not in\n{ran}"
    assert all(line.startswith("limpet") for line in ran.err.splitlines()), ran
    return ran


def trace_backends():
    """The backends of 'limpet trace' that work here. ptrace always works for one's own processes."""
    names = []
    for name in ("bpf", "ptrace"):
        ran = limpet("trace", "syscalls", "--backend", name, "-q", "-o", "/dev/null/x.lpa", "--",
                     "/bin/true")
        if "/dev/null/x.lpa" in ran.err:  # it got as far as the impossible file
            names.append(name)
    return names


def run_tests(tests):
    """Run functions that take a temporary directory as test cases, and exit."""
    def case(test):
        def run():
            with tempfile.TemporaryDirectory(prefix="limpet-e2e-") as directory:
                test(directory)
        return (test.__doc__ or test.__name__).strip().splitlines()[0], run
    tap.main([case(test) for test in tests])


def tests_of(module):
    """All test_* functions of a module, in the order of the file."""
    return [f for name, f in vars(sys.modules[module]).items() if name.startswith("test_")]
