#!/usr/bin/env python3
"""Peer groups: a sample more or less changes none of them, and hosts with different hardware are a class."""
import glob
import os
import random
import re
from datetime import datetime, timedelta, timezone

from program import run_tests, tests_of
from verdicts import accused, diagnose

START = 1300000000
SOURCE = os.environ["SOURCE"]


def iso(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def groups(*args):
    _, verdict = diagnose(*args)
    return sorted(tuple(sorted(g["components"])) for g in verdict["groups"])


def fleet(directory, name, seed, hosts=9, disks=6, samples=200, slow_hosts=(), slow=None):
    """Disks of hosts, each with its own varying load; `slow_hosts` take twice as long."""
    rng, path = random.Random(seed), os.path.join(directory, name)
    with open(path, "w") as f:
        f.write("time,component,metric,value\n")
        for i in range(samples):
            for h in range(hosts):
                burst = rng.uniform(0.8, 1.25)
                for d in range(disks):
                    wait = 20 * burst * rng.uniform(0.7, 1.3) * (2 if h in slow_hosts else 1)
                    wait *= 3 if (h, d) == slow else 1
                    work = 2e7 * burst * rng.uniform(0.7, 1.3)
                    f.write(f"{START + 15 * i},h{h}/disk:d{d},latency,{wait:.3f}\n")
                    f.write(f"{START + 15 * i},h{h}/disk:d{d},throughput,{work:.0f}\n")
    return path


def test_class_of_hosts(directory):
    """Three hosts of nine take twice as long, and always did: no disk of theirs is accused."""
    path = fleet(directory, "class.csv", 1, slow_hosts=(2, 5, 8), slow=(1, 3))
    _, verdict = diagnose(path)
    assert list(accused(verdict)) == ["h1/disk:d3"], accused(verdict)
    assert len(verdict["groups"]) == 9, len(verdict["groups"])
    note = next(n for n in verdict["notes"] if "own observer" in n)
    assert "3 of 9 observers differ from the others as a whole" in note, note
    assert "(h2, h5, h8)" in note, note


def test_sample_more_or_less(directory):
    """Cut one sample earlier or later, the data has the same groups."""
    for seed in range(3):
        path = fleet(directory, f"cut{seed}.csv", 10 + seed, slow_hosts=(3,) if seed else ())
        for cut in (125, 150, 181):
            seen = [groups("--until", iso(START + 15 * (cut + by)), path)
                    for by in (-1, 0, 1)]
            assert seen[0] == seen[1] == seen[2], (seed, cut, [len(s) for s in seen])


def test_recordings(directory):
    """The same of recordings of the lab."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "recordings", "*-1")))[::8]:
        start = re.search(r"\d{8}T\d{6}", os.listdir(path)[0]).group(0)
        at = datetime.strptime(start, "%Y%m%dT%H%M%S") + timedelta(seconds=71)
        seen = [groups("--until", (at + timedelta(seconds=by)).isoformat() + "Z", path)
                for by in (-1, 0, 1)]
        assert seen[0] == seen[1] == seen[2], path


if __name__ == "__main__":
    run_tests(tests_of(__name__))
