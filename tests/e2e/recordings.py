#!/usr/bin/env python3
"""The recordings of the lab that are kept in the repository are diagnosed as docs/accuracy.md says."""
import json
import os
import pathlib
import subprocess

import tap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDINGS = SOURCE / "recordings"
LIMPET = os.environ["LIMPET"]


def accounts():
    """What was done in each experiment."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(RECORDINGS.glob("*.json"))]


def campaign_is_whole():
    """Every workload has a control and every fault of the papers."""
    done = {(a["workload"], tuple(f["fault"] for f in a["faults"])) for a in accounts()}
    workloads = ("ddw", "ddr", "iozonew", "iozoner", "postmark", "mixed")
    faults = ("disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss",
              "send-pktloss")
    missing = [(w, f) for w in workloads for f in [(), *((x,) for x in faults)] if (w, f) not in done]
    tap.check(not missing, f"not recorded: {missing}")


def none_was_disturbed():
    """What this machine itself disturbed is not kept."""
    disturbed = [a["name"] for a in accounts() if a["disturbed"]]
    tap.check(not disturbed, f"disturbed: {disturbed}")


def promises_hold():
    """No run without a fault accuses anybody, and causes are named where faults have an effect."""
    done = subprocess.run([SOURCE / "bench/accuracy.py", RECORDINGS, "--limpet", LIMPET, "--mode",
                           "untrained", "--wrong"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    tap.check(done.returncode == 0, done.stdout)
    tap.check("no training" in done.stdout, done.stdout)


tap.main([("the campaign is whole", campaign_is_whole),
          ("no recording was disturbed", none_was_disturbed),
          ("verdicts are as good as promised", promises_hold)])
