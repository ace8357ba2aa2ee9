#!/usr/bin/env python3
"""Traces of the lab that are kept in the repository are diagnosed as docs/syscalls-accuracy.md describes."""
import json
import os
import pathlib
import subprocess

import tap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDINGS = SOURCE / "recordings-syscalls"
LIMPET = os.environ["LIMPET"]


def accounts():
    """The description of each experiment."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(RECORDINGS.glob("*.json"))]


def incidents(paths):
    """(server, cause) of each incident."""
    done = subprocess.run([LIMPET, "diagnose", "--json", "--quiet", *map(str, paths)], text=True, check=False,
                          stdout=subprocess.PIPE, env={**os.environ, "LIMPET_STATE": "/dev/null"})
    tap.check(done.returncode in (0, 1), f"{paths[0]}: exit {done.returncode}")
    return [(incident["part"].removeprefix("observer:").split("/")[0], incident["cause"])
            for incident in json.loads(done.stdout)["incidents"]]


def beside_records():
    """Where the servers were recorded as well, a fault is one incident, with the cause that devices show."""
    for account in accounts():
        found = incidents([RECORDINGS / account["name"]])
        wanted = [(fault["server"], fault["diagnosis"]) for fault in account["faults"]]
        tap.check(found == wanted, f"{account['name']}: {found}, not {wanted}")


def alone():
    """From traces alone no healthy server is accused, disks are named, and of both storage comes first."""
    for account in accounts():
        found = incidents(sorted((RECORDINGS / account["name"]).glob("*-syscalls-*.lpa")))
        faults = {fault["server"]: fault["fault"] for fault in account["faults"]}
        tap.check({server for server, _ in found} <= set(faults), f"{account['name']}: {found}")
        for server, fault in faults.items():
            if fault.startswith("disk-"):
                tap.check((server, "disk-busy") in found, f"{account['name']}: {found}")


def table():
    """The table can be produced, and controls accuse no server."""
    done = subprocess.run([SOURCE / "bench/syscalls_accuracy.py", RECORDINGS, "--limpet", LIMPET], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.check(done.returncode == 0, done.stdout)
    tap.check("any of them" in done.stdout, done.stdout)


tap.main([("a fault is one incident, with the cause that devices show", beside_records),
          ("traces alone", alone), ("the table", table)])
