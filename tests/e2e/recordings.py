#!/usr/bin/env python3
"""The recordings of the lab that are kept in the repository are diagnosed as docs/accuracy.md describes."""
import json
import os
import pathlib
import subprocess
import tempfile

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


def diagnose(*args):
    """The verdict as JSON, and the exit status."""
    done = subprocess.run([LIMPET, "diagnose", "--json", *map(str, args)], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout), done.returncode


def nobody_alone_is_accused():
    """The healthy servers and clients of the controls, each alone: its own past accuses none of them."""
    files = [f for a in accounts() if not a["faults"] for f in sorted((RECORDINGS / a["name"]).glob("*.lpa"))]
    tap.check(len(files) > 200, files)
    for path in files:
        verdict, code = diagnose("-c", "*/disk:*", "-c", "*/net:*", path)
        tap.check(code == 0 and any("of its data are compared with" in n for n in verdict["notes"]), (path, verdict["notes"]))
        tap.check(not verdict["suspects"] and not verdict["absent"], (path, verdict["headline"]))


def with_its_past(name, host, path):
    """The archives of a server: those of controls as its past, then the one with the fault, without a gap."""
    workload = name.split("-")[0]
    past = [a["name"] for a in accounts() if not a["faults"] and a["workload"] == workload][:3]
    with open(path, "w", encoding="ascii") as f:
        print("time,component,metric,value", file=f)
        for part, recording in enumerate([*past, name]):
            archive, = (RECORDINGS / recording).glob(f"{host}-*.lpa")
            shown = subprocess.run([LIMPET, "show", "--csv", "-i", "1s", "-c", "*/disk:*", "-m", "await,rd_sec,wr_sec", archive],
                                   stdout=subprocess.PIPE, text=True, check=True)
            rows = [row.split(",") for row in shown.stdout.splitlines()[1:]]
            times = {time: i for i, time in enumerate(sorted({row[0] for row in rows}))}
            for time, _, metric, value in rows:
                if 6 <= times[time] < 78:
                    print(1300000000 + 72 * part + times[time] - 6, f"{host}/disk:sda", metric, value, sep=",", file=f)
    return path


def slow_alone_is_accused():
    """A lone server's disk that has become slow is named by its own past."""
    for name in ("ddr-disk-busy-1", "ddw-disk-busy-2", "ddr-slow-disk-1", "ddw-slow-disk-2"):
        account, = (a for a in accounts() if a["name"] == name)
        host = account["faults"][0]["server"]
        with tempfile.TemporaryDirectory() as directory:
            verdict, code = diagnose(with_its_past(name, host, os.path.join(directory, "alone.csv")))
        tap.check(code == 1 and [s["component"] for s in verdict["suspects"]] == [f"{host}/disk:sda"], (name, verdict["headline"]))


def both_are_named():
    """Two recordings more than half an hour apart in one command: what is wrong in each of them is named."""
    verdict, code = diagnose(RECORDINGS / "ddr-send-pktloss-1", RECORDINGS / "postmark-disk-hog-1")
    tap.check(code == 1, verdict["headline"])
    tap.check({s["component"].split("/")[0] for s in verdict["suspects"]} == {"s3", "s5"}, verdict["suspects"])


tap.main([("the campaign is whole", campaign_is_whole),
          ("so is that on MooseFS", other_file_system_is_whole),
          ("no recording was disturbed", none_was_disturbed),
          ("nobody is accused alone in the controls", nobody_alone_is_accused),
          ("a lone server's slow disk is named", slow_alone_is_accused),
          ("two recordings apart keep their faults", both_are_named),
          ("verdicts are as good as promised", promises_hold)])
