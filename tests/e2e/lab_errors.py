#!/usr/bin/env python3
"""A real experiment with traced system calls: the file system on one server's disk becomes read-only, so that every
write that reaches it fails, and the diagnosis names that server and the error. The result does not depend on the
speed of this machine."""
import json
import os
import tempfile

import lab
from program import limpet
import tap

NAME = f"err{os.getpid()}"
PLAN = """servers 3
clients 2
disk 256M
phases 2s 5s 15s 1s
trace summary
run ddw err-remount@s2
"""
EXPERIMENT = "ddw-err-remount-1"


class Errors:
    """The experiment, and its result."""

    def __init__(self, directory):
        self.plan = f"{directory}/errors.plan"
        self.out = f"{directory}/runs"
        with open(self.plan, "w", encoding="utf-8") as f:
            f.write(PLAN)

    def run(self):
        """It is recorded although clients get errors."""
        ran = limpet("lab", "run", "--plan", self.plan, "--accept-disturbed", "-o", self.out, "--name",
                     NAME, timeout=600)
        tap.check(ran.code == 0 and "1 recorded" in ran.err, ran)
        with open(f"{self.out}/{EXPERIMENT}.json", encoding="utf-8") as f:
            account = json.load(f)
        tap.check(account["trace"] == "summary", account)
        with open(f"{self.out}/truth.csv", encoding="utf-8") as f:
            tap.check(f"{EXPERIMENT},s2,err-remount,propagated-error|" in f.read(), "truth.csv")

    def diagnose(self):
        """The server is named, with the error, and no other."""
        ran = limpet("diagnose", "--json", f"{self.out}/{EXPERIMENT}")
        tap.check(ran.code == 1, ran)
        found = {(s["component"].split("/")[0], s["cause"]) for s in json.loads(ran.out)["suspects"]}
        tap.check(found == {("s2", "propagated-error")}, f"accused are {found}")
        tap.check("EROFS" in ran.out, ran)

    def end(self):
        """Nothing is left of the lab."""
        lab.gone(NAME)


def main():
    lab.skip_unless_possible()
    with tempfile.TemporaryDirectory(prefix="limpet-e2e-") as directory:
        errors = Errors(directory)
        try:
            tap.main([(case.__doc__, case) for case in (errors.run, errors.diagnose, errors.end)])
        finally:
            limpet("lab", "down", "--name", NAME)


if __name__ == "__main__":
    main()
