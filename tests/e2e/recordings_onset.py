#!/usr/bin/env python3
"""The verdicts on the lab's recordings say since when a server limps, and that a fault has ended."""
import datetime
import json
import os
import pathlib
import statistics
import subprocess

import tap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDINGS = SOURCE / "recordings"
LIMPET = os.environ["LIMPET"]

DISK_FAULTS = [f"{workload}-{fault}-{number}" for workload in ("ddr", "ddw", "postmark")
               for fault in ("disk-busy", "disk-hog") for number in (1, 2)]
WITHIN_S = 5


def diagnose(name, *options):
    done = subprocess.run([LIMPET, "diagnose", *options, RECORDINGS / name], stdout=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, "LIMPET_STATE": "/dev/null", "LC_ALL": "C", "TZ": "UTC"})
    tap.check(done.returncode == 1, f"{name}: exit {done.returncode}: {done.stdout}")
    return done.stdout


def fault_of(name):
    return json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))["faults"][0]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def incident_of(name, server):
    """The incident of the server with the fault."""
    for incident in json.loads(diagnose(name, "--json"))["incidents"]:
        if incident["components"][0].startswith(server + "/"):
            return incident
    raise AssertionError(f"{name}: {server} is not named")


def onsets_are_right():
    """'first' is when the fault began: within 5 seconds or the stated error, and mostly within 2."""
    errors = []
    for name in DISK_FAULTS:
        fault = fault_of(name)
        incident = incident_of(name, fault["server"])
        error = abs(seconds(incident["first"]) - fault["start_us"] / 1e6)
        tap.check(not incident["since_before"], f"{name}: {incident}")
        tap.check(error <= max(WITHIN_S, incident["first_error_s"]), f"{name}: off by {error} s")
        errors.append(error)
    tap.check(statistics.median(errors) <= 2, f"errors: {sorted(errors)}")


def text_says_how_sure():
    """The text has the same time, with its uncertainty."""
    name = DISK_FAULTS[0]
    incident = incident_of(name, fault_of(name)["server"])
    text = " ".join(diagnose(name).split())
    first = incident["first"].replace("T", " ").rstrip("Z")
    tap.check(f"since {first} (+-{incident['first_error_s']:g} s), ongoing for" in text, text)


def without_beginning():
    """Data that begins in the middle of the fault has no onset, and says so."""
    name = "ddr-disk-busy-1"
    fault = fault_of(name)
    late = datetime.datetime.fromtimestamp(fault["start_us"] / 1e6 + 10, datetime.timezone.utc)
    since = late.strftime("%Y-%m-%dT%H:%M:%SZ")
    verdict = json.loads(diagnose(name, "--json", "--since", since))
    suspect = next(s for s in verdict["suspects"] if s["component"].startswith(fault["server"] + "/"))
    tap.check(suspect["since_before"] and suspect["first_error_s"] is None, suspect)
    text = diagnose(name, "--since", since)
    tap.check(f"since before {suspect['first'].replace('T', ' ').rstrip('Z')}" in " ".join(text.split()), text)


tap.main([("onsets of disk faults are right", onsets_are_right),
          ("the text says how sure the onset is", text_says_how_sure),
          ("what has no beginning in the data has none", without_beginning)])
