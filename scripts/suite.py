#!/usr/bin/env python3
"""suite.py DIR SUITE: print the programs that the tests of a suite need, by their names for ninja in DIR."""
import json
import os
import subprocess
import sys


def main():
    build, suite = sys.argv[1:]
    text = subprocess.run(["meson", "introspect", "--tests", build], check=True, stdout=subprocess.PIPE).stdout
    programs = {test["cmd"][0] for test in json.loads(text) if f"limpet:{suite}" in test["suite"]}
    print(*sorted(os.path.relpath(program, build) for program in programs))


main()
