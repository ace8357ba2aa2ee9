#!/usr/bin/env python3
"""sysstat's activity files of old formats: limpet reads what was written, and the same as from the file that `sadf -c`
makes of it; `limpet show` prints what sadf prints of that.

usage: BUILD=DIR import_sysstat_old.py [FILE...]    # FILE: of an old sadc, compared with `sadf -c` as well
"""
import csv
import os
import shutil
import subprocess
import sys
import tempfile

import old_sa
import sysstat_vs_sadf
import tap

BUILD = os.environ["BUILD"]
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/cli/limpet"))
DUMP = os.path.join(BUILD, "tests/e2e/dump_source")


def make(directory, version, machine):
    w = old_sa.example(version, machine)
    path = os.path.join(directory, f"sa-{version}-{machine}")
    with open(path, "wb") as f:
        f.write(w.data)
    return w, path


def convert(path):
    """The file as the sadf of this machine converts it."""
    if not shutil.which("sadf"):
        raise tap.Skip("sysstat (sadf) is not installed")
    with open(path + ".new", "wb") as out:
        done = subprocess.run(["sadf", "-c", path], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    tap.check(done.returncode == 0, f"sadf -c {path}: {done.stderr}")
    return path + ".new"


def check_written(directory, version, machine):
    """Every value of every sample, and nothing else."""
    w, path = make(directory, version, machine)
    found = {}
    for row in csv.DictReader(tap.run(DUMP, "sysstat", path).splitlines()):
        host, component = row["component"].split("/", 1)
        tap.check(host == old_sa.HOST, row["component"])
        sample = found.setdefault(int(row["sample"]), (int(row["time_us"]) // 10**6, {}))
        sample[1].setdefault(tuple(component.split(":", 1)), {})[row["column"]] = int(row["value"])
    tap.check(len(found) == len(w.expected), f"{len(found)} samples")
    for (seconds, rows), (expected_seconds, _, expected_rows) in zip(found.values(), w.expected):
        tap.check(seconds == expected_seconds, f"a sample at {seconds}, not {expected_seconds}")
        tap.check(rows == expected_rows, f"at {seconds}: {rows}, not {expected_rows}")


def check_converted(path):
    """The same columns, times and states as from the converted file."""
    ours, theirs = tap.run(DUMP, "sysstat", path), tap.run(DUMP, "sysstat", convert(path))
    pairs = list(zip(ours.splitlines(), theirs.splitlines()))
    differences = [f"{a}\n{b}" for a, b in pairs if a != b]
    tap.check(len(pairs) > 1 and ours == theirs, "\n".join(differences[:5]) or "one has more lines")


def check_printed(path):
    """limpet show for the old file and for an archive of it, sadf for the converted one."""
    new = convert(path)
    rows = sysstat_vs_sadf.read_limpet(DUMP, path)
    results = list(sysstat_vs_sadf.check_file(DUMP, new, rows))
    results += sysstat_vs_sadf.check_shown(LIMPET, path, new, rows)
    archives = path + ".imported"
    tap.run(LIMPET, "import", "sysstat", path, "-o", archives, "-q")
    results += sysstat_vs_sadf.check_shown(LIMPET, archives, new, rows)
    wrong = [text for ok, text in results if not ok]
    tap.check(not wrong and len(results) == 12, "\n".join(wrong))


def check_refused(directory):
    """Earlier formats are refused, in a sentence that names the format."""
    w, path = make(directory, "9.1.6", "le64")
    w.data[2:4] = (0x2170).to_bytes(2, "little")
    with open(path, "wb") as f:
        f.write(w.data)
    done = subprocess.run([LIMPET, "show", path], capture_output=True, text=True, check=False)
    tap.check(done.returncode == 2 and "0x2170 of sysstat 9.1.6" in done.stderr, done.stderr)


def cases_of(directory, version, machine):
    path = make(directory, version, machine)[1]
    name = f"{version} on {machine}"
    yield f"{name}: the values that were written", lambda: check_written(directory, version, machine)
    if machine.startswith("le"):  # sadf -c does not swap the time of a record where it is
        yield f"{name}: the same as from sadf -c", lambda: check_converted(path)
        yield f"{name}: limpet show prints what sadf prints", lambda: check_printed(path)


def main():
    with tempfile.TemporaryDirectory() as directory:
        cases = []
        for path in sys.argv[1:]:
            cases.append((f"{path}: the same as from sadf -c", lambda path=path: check_converted(path)))
        for version in old_sa.VERSIONS if not cases else []:
            for machine in old_sa.MACHINES:
                cases += cases_of(directory, version, machine)
        cases.append(("an older format is refused", lambda: check_refused(directory)))
        tap.main(cases)


if __name__ == "__main__":
    main()
