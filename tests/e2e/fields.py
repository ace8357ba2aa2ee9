#!/usr/bin/env python3
"""From the files of a server to a verdict: OSTs, disks and related facts, recorded from trees that this test
creates. One OST is slow, its disk has a link with one lane, and a job loads its server."""
import json
import os
import random
import shutil
import tempfile

import tap
from program import LIMPET, good, limpet

SERVERS, SAMPLES, STEP = 4, 150, 5  # seconds between moments
SLOW, BEGIN = 2, 60                 # which server, from which sample on


def put(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="ascii") as f:
        f.write(text)


def moment_name(i):
    minutes, seconds = divmod(i * STEP, 60)
    return f"20240301T12{minutes:02d}{seconds:02d}Z"


class Disk:
    """Counters of a disk and of the OST on it."""

    def __init__(self, rng):
        self.rng, self.ops, self.sectors, self.ms = rng, 0, 0, 0

    def work(self, wait_ms):
        n = self.rng.randint(450, 550)
        self.ops += n
        self.sectors += n * 2048
        self.ms += int(n * wait_ms * self.rng.uniform(0.9, 1.1))

    def diskstats(self, name, minor):
        return (f"   8 {minor:7d} {name} 0 0 0 0 {self.ops} 0 {self.sectors} {self.ms} 1 {self.ms} "
                f"{self.ms} 0 0 0 0 0 0\n")

    def ost_stats(self):
        return (f"snapshot_time 1.0 secs.nsecs\nwrite_bytes {self.ops} samples [bytes] 1 1048576 "
                f"{self.sectors * 512} 0\nwrite {self.ops} samples [usecs] 1 9 {self.ms * 1000} 0\n")


def tree(root, server):
    """The tree of one server with two OSTs."""
    rng = random.Random(server)
    disks = [Disk(rng), Disk(rng)]
    for i in range(SAMPLES):
        here = os.path.join(root, moment_name(i))
        lines = ""
        for d, disk in enumerate(disks):
            slow = server == SLOW and d == 1 and i >= BEGIN
            disk.work(40 if slow else 4)
            lines += disk.diskstats(f"nvme{d}n1", d)
            put(here, f"sys/kernel/debug/lustre/obdfilter/work-OST000{server * 2 + d}/stats", disk.ost_stats())
            put(here, f"sys/block/nvme{d}n1/size", "1000000\n")
            device = f"sys/block/nvme{d}n1/device/device/"
            put(here, device + "current_link_width", "1\n" if slow else "4\n")
            put(here, device + "max_link_width", "4\n")
        put(here, "proc/diskstats", lines)
        put(here, f"sys/kernel/debug/lustre/obdfilter/work-OST000{server * 2}/job_stats",
            "job_stats:\n- job_id: flash.42\n  write_bytes: { samples: 1, unit: bytes, min: 1, max: 1, sum: "
            f"{(i + 1) * 90000000} }}\n- job_id: other.7\n  write_bytes: {{ samples: 1, unit: bytes, min: 1, "
            f"max: 1, sum: {(i + 1) * 10000000} }}\n")


def fleet(root):
    """Archives of all servers, as `limpet record` makes them."""
    for server in range(SERVERS):
        there = f"{root}/tree{server}"
        tree(there, server)
        ran = limpet("record", "--root", there, "--name", f"oss{server}", "-o", f"{root}/data", "--quiet",
                     "--collect", "diskstats,drive,lustre_ost,lustre_jobs")
        tap.check(ran.code == 0, str(ran))
    return f"{root}/data"


def verdict():
    """the slow OST and its disk are named, with the link, and with the job that loads the server"""
    with tempfile.TemporaryDirectory(prefix="limpet-fields-") as root:
        data = fleet(root)
        ran = limpet("diagnose", data, "--json")
        tap.check(ran.code == 1, str(ran))
        found = json.loads(ran.out)
        suspects = {s["component"]: s for s in found["suspects"]}
        ost, disk = f"oss{SLOW}/ost:work-OST000{SLOW * 2 + 1}", f"oss{SLOW}/disk:nvme1n1"
        tap.check(set(suspects) == {ost, disk}, f"suspects: {sorted(suspects)}")
        tap.check("link down-trained to x1 (of x4)" in suspects[disk].get("context", []), str(suspects[disk]))
        tap.check("link down-trained to x1 (of x4)" in suspects[disk]["evidence"], str(suspects[disk]["evidence"]))
        context = suspects[ost].get("context", [])
        tap.check("drive nvme1n1: link down-trained to x1 (of x4)" in context, str(context))
        tap.check("job flash.42 does 90% of the reading and writing on its server" in context, str(context))
        tap.check("ost_await" in suspects[ost]["metrics"], str(suspects[ost]["metrics"]))
        text = limpet("diagnose", data).out
        tap.check("down-trained to x1" in text, text)


def healthy():
    """without the fault no server is accused, in any context"""
    global BEGIN
    BEGIN = SAMPLES + 1
    with tempfile.TemporaryDirectory(prefix="limpet-fields-") as root:
        data = fleet(root)
        found = json.loads(good("diagnose", data, "--json"))
        tap.check(found["suspects"] == [], str(found["suspects"]))


def adapters():
    """the statistics of a real interface, by the kernel's own interface for ethtool"""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
        raise tap.Skip("makes a network namespace: needs root, ip and unshare")
    with tempfile.TemporaryDirectory(prefix="limpet-fields-") as root:
        script = ("ip link add fieldv0 type veth peer name fieldv1 && ip link set fieldv0 up && ip link set fieldv1 up "
                  f"&& exec {LIMPET} record --collect ethtool --nets 'fieldv*' --name h --interval 100ms "
                  f"--duration 400ms -o {root}/data --quiet")
        tap.run("unshare", "-n", "sh", "-c", script)
        rows = good("show", "--raw", "--values", "--json", "-m", "queue_drops", f"{root}/data")
        tap.check("h/link:fieldv0" in rows and "h/link:fieldv1" in rows, rows)
        ran = limpet("record", "--collect", "ethtool", "--nets", "nosuchinterface", "-o", f"{root}/none", "--duration", "1s")
        tap.check(ran.code == 2 and "without ethtool: no network adapter here" in ran.err, str(ran))


if __name__ == "__main__":
    tap.main([(f.__doc__, f) for f in (verdict, healthy, adapters)])
