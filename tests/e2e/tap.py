"""Shared by the end-to-end tests in Python: run functions as test cases, in TAP."""
import signal
import subprocess
import sys
import traceback


class Skip(Exception):
    """Raised by a test case that cannot run here; says why."""


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def run(*command, status=0, **options):
    """Run a command that must exit with `status`; returns its output (its messages are in the error)."""
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, **options)
    check(done.returncode == status, f"{command} ended with {done.returncode}, not {status}:\n"
          f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def main(cases):
    """Run [(title, function)] and exit."""
    failed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that "finally" cleans up
    # Whoever starts the tests may ignore signals (nohup, a shell's "&"), which programs inherit.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"1..{len(cases)}", flush=True)
    for number, (title, function) in enumerate(cases, 1):
        try:
            function()
            print(f"ok {number} - {title}")
        except Skip as e:
            print(f"ok {number} - {title} # SKIP {e}")
        except Exception as e:  # one failed case must not hide the others
            failed += 1
            print(f"not ok {number} - {title}")
            text = str(e) if isinstance(e, AssertionError) else traceback.format_exc()
            print("".join(f"# {line}\n" for line in text.splitlines()), end="")
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
