#!/usr/bin/env python3
"""The recordings of the lab that are kept in the repository are diagnosed as docs/accuracy.md describes."""
import json
import os
import pathlib
import subprocess

import tap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDINGS = SOURCE / "recordings"
MOOSEFS = SOURCE / "recordings-moosefs"
LIMPET = os.environ["LIMPET"]


def accounts(directory=RECORDINGS):
    """The description of each experiment."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(directory.glob("*.json"))]


PAPERS = ("disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss",
          "send-pktloss")
EXTRA = ("slow-disk", "stall-disk", "slow-link", "cpu-hog", "pause", "disk-busy+receive-pktloss",
         "disk-hog+send-pktloss")


def campaign_is_whole():
    """Every workload has a control and every fault of the papers, `ddw` and `ddr` also the others, each
    at least twice, and the papers' faults not on the same server."""
    servers = {}
    for account in accounts():
        fault = "+".join(f["fault"] for f in account["faults"])
        servers.setdefault((account["workload"], fault), []).append(
            [f["server"] for f in account["faults"]])
    wanted = [(w, f) for w in ("ddw", "ddr", "iozonew", "iozoner", "postmark", "mixed")
              for f in ("", *PAPERS)]
    wanted += [(w, f) for w in ("ddw", "ddr") for f in EXTRA]
    missing = [w for w in wanted if len(servers.get(w, [])) < 2]
    tap.check(not missing, f"not recorded twice: {missing}")
    same = [w for w in wanted if w[1] in PAPERS and servers[w][0] == servers[w][1]]
    tap.check(not same, f"twice on the same server: {same}")


def other_file_system_is_whole():
    """MooseFS has a control and every fault of the papers on `ddw` and `ddr`."""
    there = {(a["workload"], *(f["fault"] for f in a["faults"])) for a in accounts(MOOSEFS)
             if a["lab"]["fs"] == "moosefs"}
    wanted = {(w, *f) for w in ("ddw", "ddr") for f in [(), *((name,) for name in PAPERS)]}
    tap.check(there == wanted, f"{there ^ wanted}")


def none_was_disturbed():
    """Recordings that this machine itself disturbed are not kept."""
    disturbed = [a["name"] for a in accounts() + accounts(MOOSEFS) if a["disturbed"]]
    tap.check(not disturbed, f"disturbed: {disturbed}")


def promises_hold():
    """No run without a fault accuses a server, and causes are named if faults have an effect."""
    done = subprocess.run([SOURCE / "bench/accuracy.py", RECORDINGS, MOOSEFS, "--limpet", LIMPET,
                           "--mode", "untrained", "--wrong"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    tap.check(done.returncode == 0, done.stdout)
    for system in ("gluster", "moosefs"):
        tap.check(f"{system}, no training" in done.stdout, done.stdout)


tap.main([("the campaign is whole", campaign_is_whole),
          ("so is that on MooseFS", other_file_system_is_whole),
          ("no recording was disturbed", none_was_disturbed),
          ("verdicts are as good as promised", promises_hold)])
