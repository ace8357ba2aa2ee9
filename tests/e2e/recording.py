"""Shared by tests of the recorder: a recorder to start, watch and stop."""
import json
import os
import signal
import subprocess
import time

import tap
from tap import Skip, check  # noqa: F401  (for the tests that import this)

BUILD = os.environ["BUILD"]
LIMPET = os.environ.get("LIMPET", BUILD + "/src/cli/limpet")
DUMP_SAMPLES = BUILD + "/tests/e2e/dump_samples"


def run_tests(tests):
    """Run functions as test cases, the first line of their docstrings as titles, and exit."""
    tap.main([(test.__doc__.splitlines()[0].rstrip("."), test) for test in tests])


def sanitized():
    """Was the program built with a sanitizer, which has its own memory and system calls?"""
    with open(LIMPET, "rb") as f:
        data = f.read()
    return b"__asan_init" in data or b"__tsan_init" in data


def limpet(*args):
    """Run limpet to its end: (exit code, stdout, stderr)."""
    done = subprocess.run([LIMPET, *args], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def archives(directory):
    return sorted(os.path.join(directory, f) for f in os.listdir(directory) if f.endswith(".lpa"))


def check_sound(directory):
    """Every archive passes 'limpet check'."""
    files = archives(directory)
    if files:
        code, out, err = limpet("check", *files)
        check(code == 0, f"limpet check says {code}: {out}{err}")
    return files


def samples(*paths):
    """The wall-clock times (us) of all samples, in the order of the files."""
    if not paths:
        return []
    out = subprocess.run([DUMP_SAMPLES, *paths], capture_output=True, text=True, check=True,
                         timeout=300).stdout
    return [int(line) for line in out.split()]


def has_samples(directory):
    """Is there an archive with samples? One that is just being created cannot be read yet."""
    try:
        return os.path.isdir(directory) and bool(samples(*archives(directory)))
    except subprocess.CalledProcessError:
        return False


class Recorder:
    """A running 'limpet record'; its messages go to a file."""

    def __init__(self, directory, *options, prefix=(), env=None, log=None):
        self.log_path = log or directory.rstrip("/") + ".log"
        with open(self.log_path, "w", encoding="utf-8") as log_file:
            self.process = subprocess.Popen(
                [*prefix, LIMPET, "record", "-o", directory, *options], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log_file, text=True, env={**os.environ, **(env or {})})

    def log(self):
        with open(self.log_path, encoding="utf-8") as f:
            # LeakSanitizer prints this about threads that end while it examines them.
            return "".join(line for line in f if "Unable to get registers from thread" not in line)

    def wait_log(self, text, seconds=60):
        """Wait until it has printed something."""
        for _ in range(int(seconds * 20)):
            if text in self.log():
                return
            check(self.process.poll() is None, f"the recorder ended: {self.log()}")
            time.sleep(0.05)
        raise AssertionError(f"the recorder never said '{text}', only: {self.log()}")

    def wait_file(self, directory, seconds=60):
        """Wait until there is an archive with samples."""
        for _ in range(int(seconds * 20)):
            if has_samples(directory):
                return
            check(self.process.poll() is None, f"the recorder ended: {self.log()}")
            time.sleep(0.05)
        raise AssertionError(f"no samples in {directory}: {self.log()}")

    def stop(self, number=signal.SIGTERM):
        """End it: (exit code, stdout)."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=120)
        return self.process.returncode, out

    def stop_json(self):
        code, out = self.stop()
        return code, json.loads(out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
