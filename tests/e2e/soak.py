#!/usr/bin/env python3
"""scripts/soak.sh for a short time: all its parts run, and nothing fails."""
import os
import shutil
import subprocess
import sys
import tempfile

from recording import BUILD, Skip, archives, check, run_tests


def moment():
    """everything at the same time for twenty seconds"""
    if os.geteuid() != 0:
        raise Skip("tracing and network namespaces need root")
    work = tempfile.mkdtemp(prefix="limpet-soak-")
    try:
        done = subprocess.run([os.environ["SOURCE"] + "/scripts/soak.sh", "-t", "20", "-e", "5", "-r",
                               "8640", "-o", work, BUILD], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=500)
        with open(work + "/errors", encoding="utf-8") as f:
            check(done.returncode == 0, f"exit {done.returncode}: {f.read()}{done.stdout}{done.stderr}")
        check(done.stdout.splitlines()[-1] == "0 errors", done.stdout)
        check(archives(work + "/rec"), "nothing was recorded")
        for what in ("diagnoses", "repairs", "traces"):
            check(os.path.exists(f"{work}/{what}.count"), f"no {what}: {done.stdout}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(run_tests([moment]))
