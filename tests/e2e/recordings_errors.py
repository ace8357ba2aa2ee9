#!/usr/bin/env python3
"""The kept recordings of faults that give clients errors (docs/errors.md): the server is named, with a correct cause,
and no other; without a fault, none is."""
import csv
import json
import os
import pathlib

from program import limpet
import tap

RECORDINGS = pathlib.Path(os.environ.get(
    "SOURCE", pathlib.Path(__file__).resolve().parent.parent.parent)) / "recordings/errors"
FAULTS = ("err-inodes", "err-files", "err-remount", "err-space", "err-fsize", "err-vmsize", "pause")
RUNS = 5  # of each fault, at least


def truth():
    """{experiment: row of truth.csv}"""
    with open(RECORDINGS / "truth.csv", encoding="utf-8") as f:
        return {row["verdict"]: row for row in csv.DictReader(f)}


def judge(name, row):
    """One recording."""
    ran = limpet("diagnose", "--json", RECORDINGS / name)
    tap.check(ran.code in (0, 1), ran)
    verdict = json.loads(ran.out)
    found = {(s["component"].split("/")[0], s["cause"]) for s in verdict["suspects"]}
    if not row["component"]:
        tap.check(not found, f"nothing was wrong, and accused are {found}")
        return
    right = {(row["component"], cause) for cause in row["diagnosis"].split("|")}
    tap.check(found and found <= right,
              f"{row['component']} had {row['cause']}, and accused are {found or 'nobody'}")


def all_is_there():
    """Each fault often enough, controls, and every recording."""
    rows = truth()
    for fault in FAULTS:
        n = sum(row["cause"] == fault for row in rows.values())
        tap.check(n >= RUNS, f"{fault}: {n} recordings")
    tap.check(sum(not row["component"] for row in rows.values()) >= 2, "too few controls")
    missing = [name for name in rows if not (RECORDINGS / name).is_dir()]
    tap.check(not missing, f"missing: {missing}")


tap.main([("all is there", all_is_there)] +
         [(name, lambda name=name, row=row: judge(name, row)) for name, row in truth().items()])
