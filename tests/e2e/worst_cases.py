#!/usr/bin/env python3
"""Inputs that are designed to be expensive are not: memory use follows their size (bench/worst_cases.py, with small
inputs)."""
import os
import subprocess
import sys

from program import LIMPET, run_tests, tests_of
from tap import check

SCRIPT = os.path.join(os.environ.get("SOURCE", "."), "bench/worst_cases.py")


def test_memory(_directory):
    """memory is within a stated multiple of the bytes"""
    ran = subprocess.run([sys.executable, SCRIPT, "--small", "--check"], capture_output=True, text=True,
                         env=dict(os.environ, LIMPET=LIMPET), check=False)
    check(ran.returncode == 0, f"{ran.stdout}{ran.stderr}")
    check(len(ran.stdout.splitlines()) == 8, ran.stdout)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
