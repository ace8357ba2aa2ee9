#!/usr/bin/env python3
"""Every fault on a real, small cluster: it has its effect, verified by independent means, and
leaves nothing behind. Needs root."""
import errno
import glob
import json
import os
import re
import signal
import socket
import subprocess

from lab import ROOT, cpu_groups, gone, processes, skip_unless_possible, until
from program import bad, good, limpet
import tap

NAME = f"faults{os.getpid()}"
DIR = f"{ROOT}/{NAME}"
NODES = ["s1", "s2", "c1", "x1"]
FAULTS = ["disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss",
          "send-pktloss", "slow-disk", "stall-disk", "slow-link", "cpu-hog", "pause", "err-inodes",
          "err-files", "err-remount", "err-space", "err-fsize", "err-vmsize"]


def inside(node, *command):
    return tap.run("nsenter", f"--net=/run/netns/limpet-{NAME}-{node}", *command)


def lab(verb, *args):
    return good("lab", verb, "--name", NAME, *args)


def pids_marked():
    """Processes that faults of this lab have started."""
    return processes(f"LIMPET_FAULT={NAME}/", "environ")


def disk(server):
    """The state that the disk reports, without its counters."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10)
        s.connect(f"{DIR}/{server}/disk.ctl")
        s.sendall(b"show\n")
        return s.makefile().readline().split(" requests")[0]


def rates(server):
    """The speed of both ends of its link, in bytes per second."""
    ends = [inside(server, "tc", "-j", "qdisc", "show", "dev", "eth0"),
            inside("sw", "tc", "-j", "qdisc", "show", "dev", server)]
    return [q["options"].get("rate") for text in ends for q in json.loads(text)
            if q["kind"] == "tbf"]


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rpartition(")")[2].split()[0]


def fs_pid(server):
    with open(f"{DIR}/run/{server}-fs.pid", encoding="utf-8") as f:
        return int(f.read().split()[0])


def limits(server):
    with open(f"/proc/{fs_pid(server)}/limits", encoding="utf-8") as f:
        return f.read()


def brick(server):
    return f"{DIR}/{server}/brick"


def options(server):
    """How its brick is mounted."""
    with open("/proc/self/mounts", encoding="utf-8") as f:
        return next(words[3].split(",") for words in map(str.split, f) if words[1] == brick(server))


def everything():
    """All that faults could change, to be the same afterwards."""
    return {
        "nft": {n: inside(n, "nft", "list", "ruleset") for n in NODES},
        "rates": {n: rates(n) for n in NODES},
        "disks": {n: disk(n) for n in ("s1", "s2")},
        "stopped": {n: state(fs_pid(n)) == "T" for n in ("s1", "s2")},
        "limits": {n: limits(n) for n in ("s1", "s2")},
        "mounts": {n: options(n) for n in ("s1", "s2")},
        "ballast": glob.glob(f"{DIR}/*/brick/lost+found/*"),
        "processes": pids_marked(),
        "files": [f for f in sorted(os.listdir(f"{DIR}/run"))
                  if any(fault in f for fault in FAULTS)],
    }


def sectors(partition):
    with open("/proc/diskstats", encoding="utf-8") as f:
        return next(int(words[5]) for words in map(str.split, f) if words[2] == partition)


def moved(node, sent):
    """Bytes through a node's interface."""
    text = inside(node, "cat", "/proc/net/dev")
    return int(re.search(r"eth0:\s*(.*)", text).group(1).split()[8 if sent else 0])


def dropped(node):
    counters = re.findall(r"counter packets (\d+) bytes \d+ drop", inside(node, "nft", "list",
                                                                        "ruleset"))
    return sum(map(int, counters))


def loop_of(server):
    """The loop device on the server's disk."""
    text = tap.run("losetup", "--noheadings", "--output", "NAME", "--associated",
                   f"{DIR}/{server}/disk/disk.img")
    return os.path.basename(text.split()[0])


def grows(what, read, by=1):
    first = read()
    until(what, lambda: read() >= first + by)


def throttled(server):
    with open(f"{cpu_groups(NAME)[server]}/cpu.stat", encoding="utf-8") as f:
        return int(re.search(r"nr_throttled (\d+)", f.read()).group(1))


def see_disk_hog(server):
    partition = loop_of(server) + "p2"
    grows("reads of the unused partition", lambda: sectors(partition), 2048)


def see_disk(words):
    def see(server):
        tap.check(words in disk(server), f"{server} says: {disk(server)}")
        other = "s2" if server == "s1" else "s1"
        tap.check(words not in disk(other), f"{other}, too, says: {disk(other)}")
    return see


def see_traffic(node, sent):
    return lambda server: grows("traffic", lambda: moved(node, sent), 1 << 20)


def see_loss(where):
    def see(server):
        grows("packets lost", lambda: dropped(where or server), 10)
        others = [n for n in NODES if n != (where or server)]
        tap.check(not any(map(dropped, others)), "packets are lost elsewhere, too")
    return see


def see_link(server):
    tap.check(rates(server) == [1250000, 1250000], f"rates are {rates(server)}")


def see_cpu(server):
    grows("times that it was held back", lambda: throttled(server), 2)


def see_pause(server):
    tap.check(state(fs_pid(server)) == "T", f"its server is {state(fs_pid(server))}")


def client_error(server, size):
    """The errors of a client that makes files, some of which are on this server."""
    tried = [f"{DIR}/c1/mnt/try.{i}" for i in range(64)]
    try:
        for path in tried:
            with open(path, "wb") as f:
                f.write(bytes(size))
        return 0
    except OSError as e:
        return e.errno
    finally:
        for path in tried:
            try:
                os.unlink(path)
            except OSError:
                pass  # it was not created, or cannot be removed before the fault


def see_error(code, size=1):
    def see(server):
        got = client_error(server, size)
        tap.check(got == code, f"a client gets {errno.errorcode.get(got, got)}")
    return see


def see_vmsize(server):
    now = int(re.search(r"Max address space +(\d+)", limits(server)).group(1))
    other = "s2" if server == "s1" else "s1"
    tap.check(now < 1 << 40 and f"{now} " not in limits(other), limits(server))


SEEN = {
    "disk-hog": see_disk_hog,
    "disk-busy": see_disk("busy 65"),
    "write-network-hog": see_traffic("x1", True),
    "read-network-hog": see_traffic("x1", False),
    "receive-pktloss:20": see_loss(None),
    "send-pktloss:20": see_loss("c1"),
    "slow-disk:2": see_disk("slow 2"),
    "stall-disk": see_disk("stall 8000 1000"),
    "slow-link": see_link,
    "cpu-hog": see_cpu,
    "pause": see_pause,
    "err-inodes": see_error(errno.ENOSPC),
    "err-files": see_error(errno.EMFILE),
    "err-remount": see_error(errno.EROFS),
    "err-space": see_error(errno.ENOSPC, 1 << 20),
    "err-fsize": see_error(errno.EFBIG, 2 << 20),
    "err-vmsize": see_vmsize,
}


def active():
    return {(a["fault"], a["on"]) for a in
            json.loads(lab("heal", "--json", "pause", "--on", "s2"))["active"]}


def try_fault(spec, server):
    """Inject, look, heal; all is as before."""
    name = spec.split(":", maxsplit=1)[0]
    if name == "cpu-hog":
        cpu_groups(NAME)  # or skip
    before = everything()
    out = lab("inject", spec, "--on", server)
    tap.check(out.startswith(f"{server}: {name}"), out)
    tap.check(os.path.exists(f"{DIR}/run/{server}-{name}.fault"), "no note of it")
    SEEN[spec](server)
    out = lab("heal", name, "--on", server)
    tap.check(out == f"{server}: {name} is healed\n", out)
    after = everything()
    tap.check(after == before, f"before: {before}\nafter: {after}")
    if name.startswith("err-"):
        until("clients can work again", lambda: client_error(server, 1) == 0)


def test_two_at_once():
    """Two faults on two servers at the same time; heal finds them without any notes."""
    before = everything()
    report = json.loads(lab("inject", "--json", "disk-hog@s1", "send-pktloss:20@s2"))
    tap.check(report["lab"] == NAME and {(a["fault"], a["on"], a["strength"]) for a in
              report["active"]} == {("disk-hog", "s1", 2), ("send-pktloss", "s2", 20)}, report)
    see_disk_hog("s1")
    see_loss("c1")("s2")
    lab("inject", "send-pktloss:20@s1", "read-network-hog@s2", "slow-disk@s2")
    tap.check(len(active()) == 5, f"active: {active()}")
    for path in glob.glob(f"{DIR}/run/*.fault") + glob.glob(f"{DIR}/run/*-hog*.pid"):
        os.unlink(path)
    tap.check(lab("heal") == "no such fault was active\n", "notes were not gone")
    after = everything()
    tap.check(after == before, f"before: {before}\nafter: {after}")


def test_all_or_none():
    """Of several faults all are active, or none."""
    before = everything()
    lab("inject", "slow-disk@s2")
    bad(2, "slow-disk is active on s2 already: heal it first", "lab", "inject", "--name", NAME,
        "disk-busy@s1", "slow-disk@s2")
    tap.check(active() == {("slow-disk", "s2")}, f"active: {active()}")
    tap.check(lab("heal", "--on", "s2") == "s2: slow-disk is healed\n", "not healed")
    tap.check(everything() == before, "something is left")


def test_wrong_usage():
    """An impossible request is refused with a sentence."""
    here = ("lab", "inject", "--name", NAME)
    bad(2, ["there is no fault 'disk-hug'", "disk-hog, disk-busy,"], *here, "disk-hug", "--on", "s1")
    bad(2, "has no server 's3': want s1 to s2", *here, "disk-hog", "--on", "s3")
    bad(2, "say on which server (s1 to s2)", *here, "disk-hog")
    bad(2, "want 0.1 to 90 (percent of packets), not 99", *here, "send-pktloss:99", "--on", "s1")
    bad(2, "but --on says s2", *here, "pause@s1", "--on", "s2")
    bad(2, "has no server 'c1'", "lab", "heal", "--name", NAME, "--on", "c1")
    listed = good("lab", "inject")
    tap.check(all(f in listed for f in FAULTS), listed)


def test_down():
    """A lab is removed while it has faults, and nothing is left."""
    lab("inject", "disk-hog@s1", "write-network-hog@s2", "pause@s1", "send-pktloss@s1")
    good("lab", "down", "--name", NAME)
    tap.check(not pids_marked(), f"processes: {pids_marked()}")
    gone(NAME)


class Cluster:
    """The lab, with a client that writes and reads all the time."""

    def __enter__(self):
        self.work = None
        done = limpet("lab", "up", "--name", NAME, "--servers", "2", "--clients", "1", "--disk",
                      "256M")
        tap.check(done.code == 0, str(done))
        script = ('while :; do for i in 1 2 3 4 5 6; do dd if=/dev/zero of=$i bs=4M count=4 '
                  'oflag=direct conv=notrunc; dd if=$i of=/dev/null bs=4M iflag=direct; done; done')
        self.work = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/limpet-{NAME}-c1", "sh", "-c", script],
            cwd=f"{DIR}/c1/mnt", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)

    def __exit__(self, *_):
        if self.work:
            limpet("lab", "heal", "--name", NAME)  # a stopped server would keep its client waiting
            os.killpg(self.work.pid, signal.SIGKILL)
        limpet("lab", "down", "--name", NAME)
        if self.work:
            self.work.wait(timeout=60)


def main():
    skip_unless_possible()
    cases = [(f"{spec} on {server}", lambda spec=spec, server=server: try_fault(spec, server))
             for spec, server in zip(SEEN, ["s1", "s2"] * len(SEEN))]
    cases += [(t.__doc__, t) for t in (test_two_at_once, test_all_or_none, test_wrong_usage,
                                       test_down)]
    with Cluster():
        tap.main(cases)


if __name__ == "__main__":
    main()
