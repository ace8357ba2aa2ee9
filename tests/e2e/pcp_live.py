#!/usr/bin/env python3
"""A live pmcd: the real one, with an agent that reads a tree of this test instead of /proc, so that its values
are known.

pmcd runs in a separate directory and needs no systemd. Where the package pcp is not installed, its files may be
unpacked (dpkg-deb -x) where scripts/deps.sh unpacks them, or anywhere, and $PCP_PREFIX names that place.
"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import tap

LIMPET = os.environ["LIMPET"]
PLACES = (os.environ.get("PCP_PREFIX", ""), "", "/opt/limpet-tests/pcp")
PREFIX = next((p for p in PLACES if os.access(p + "/usr/lib/pcp/bin/pmcd", os.X_OK)), None)
DISKS = ("sda", "sdb", "sdc", "sdd", "sde")
SLOW = "sdc"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def diskstats(t, disks=DISKS):
    """After t seconds: each disk has done 100 writes of 8 sectors per second at 2 ms, the slow one at 40 ms."""
    n = int(t * 100)
    return "".join(f"   8      {16 * i} {disk} 10 0 80 5 {n} 0 {8 * n} {n * (40 if disk == SLOW else 2)} 0 {n} {n}\n"
                   for i, disk in enumerate(disks))


def put(path, text):
    """Atomically, so that no reader gets a half-written file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="ascii")
    new.rename(path)


class Pmcd:
    """pmcd with its agent for Linux, in a temporary directory."""

    def __init__(self, directory, host=None):
        self.host = ["-H", host] if host else []
        self.dir = pathlib.Path(directory)
        self.proc = self.dir / "root" / "proc"
        self.port = free_port()
        if PREFIX is None:
            raise tap.Skip("pmcd is not there: install pcp, or unpack it and set PCP_PREFIX")
        self.environment = {**os.environ, "PCP_CONF": str(self.dir / "pcp.conf"), "PMCD_PORT": str(self.port),
                            "LD_LIBRARY_PATH": PREFIX + "/usr/lib", "LINUX_STATSPATH": str(self.dir / "root")}

    def configure(self):
        own = {"PCP_RUN_DIR": self.dir, "PCP_LOG_DIR": self.dir, "PCP_TMP_DIR": self.dir, "PCP_TMPFILE_DIR": self.dir,
               "PCP_USER": "root", "PCP_GROUP": "root", "PCP_SYSCONF_DIR": self.dir,
               "PCP_BINADM_DIR": PREFIX + "/usr/lib/pcp/bin", "PCP_BIN_DIR": PREFIX + "/usr/bin"}
        text = pathlib.Path("/etc/pcp.conf").read_text(encoding="utf-8")
        for key, value in own.items():
            text = re.sub(f"(?m)^{key}=.*$", f"{key}={value}", text)
        (self.dir / "pcp.conf").write_text(text, encoding="utf-8")
        agents = PREFIX + "/usr/lib/pcp/pmdas"
        (self.dir / "pmcd.conf").write_text(f"pmcd 2 dso pmcd_init {agents}/pmcd/pmda_pmcd.so\n"
                                            f"linux 60 dso linux_init {agents}/linux/pmda_linux.so\n", encoding="utf-8")
        names = PREFIX + "/usr/lib/pcp/pmns"
        tap.run(PREFIX + "/usr/lib/pcp/bin/pmnsmerge", "root_linux", "root_pmcd", self.dir / "names", cwd=names,
                env=self.environment)
        self.proc.mkdir(parents=True)
        for name in ("stat", "meminfo", "loadavg", "version", "cpuinfo"):
            shutil.copy("/proc/" + name, self.proc / name)
        put(self.proc / "diskstats", diskstats(0))

    def __enter__(self):
        self.configure()
        self.log = open(self.dir / "log", "w+b")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [PREFIX + "/usr/lib/pcp/bin/pmcd", "-f", "-p", str(self.port), "-i", "127.0.0.1", "-U", "root",
             "-c", self.dir / "pmcd.conf", "-l", self.dir / "pmcd.log", "-n", self.dir / "names",
             "-s", self.dir / "socket", *self.host],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment, cwd=self.dir)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise AssertionError("pmcd does not answer: " + (self.dir / "pmcd.log").read_text(errors="replace")[-1000:])

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()

    def limpet(self, *arguments, status=0):
        return tap.run(LIMPET, *arguments, status=status, env={**os.environ, "PMCD_PORT": str(self.port)})

    def values(self, *arguments):
        return {(r["time"], r["component"], r["metric"]): float(r["value"])
                for r in csv.DictReader(io.StringIO(self.limpet("show", "--csv", *arguments))) if r["value"]}

    def pmval(self, metric, instance):
        text = tap.run(PREFIX + "/usr/bin/pmval", "-h", "127.0.0.1", "-r", "-s", "1", "-f", "0", "-i", instance, metric,
                       env=self.environment)
        return float(text.split()[-1])


def same_as_pmval():
    """A constant value is exactly the one that pmval prints."""
    with tempfile.TemporaryDirectory() as d, Pmcd(d) as pmcd:
        put(pmcd.proc / "diskstats", diskstats(1234.5))
        columns = {"rd_ios": "disk.dev.read", "rd_ticks": "disk.dev.read_rawactive", "wr_ios": "disk.dev.write",
                   "wr_ticks": "disk.dev.write_rawactive", "tot_ticks": "disk.dev.avactive"}
        found = pmcd.values("--raw", "-m", ",".join(columns), "pcp://127.0.0.1?for=3s")
        host = {c.split("/")[0] for _, c, _ in found}
        tap.check(len(host) == 1 and len(found) == 3 * len(DISKS) * len(columns), f"{len(found)} values of {host}")
        want = {(disk, column): pmcd.pmval(metric, disk) for disk in DISKS for column, metric in columns.items()}
        for (_, component, column), value in found.items():
            printed = want[component.split(":")[1], column]
            tap.check(value == printed, f"{component} {column}: {value}, not {printed}")
        tap.check(pmcd.pmval("disk.dev.write_rawactive", SLOW) == 123450 * 40, "the agent does not read our tree")


class Work(threading.Thread):
    """Disks that work; for some seconds one of them is away."""

    def __init__(self, proc, away=()):
        super().__init__(daemon=True)
        self.proc, self.away, self.ended, self.begin = proc, away, threading.Event(), time.monotonic()

    def run(self):
        while not self.ended.wait(0.1):
            t = time.monotonic() - self.begin
            gone = self.away and self.away[0] <= t < self.away[1]
            put(self.proc / "diskstats", diskstats(t, DISKS[:-1] if gone else DISKS))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def comes_and_goes():
    with tempfile.TemporaryDirectory() as d, Pmcd(d) as pmcd, Work(pmcd.proc, away=(4, 8)):
        found = pmcd.values("--raw", "-m", "wr_ios", "pcp://127.0.0.1?for=12s")
        seen = {disk: sum(c.endswith(":" + disk) for _, c, _ in found) for disk in DISKS}
        always = seen[DISKS[0]]  # 12, or fewer on a busy machine
        tap.check(6 <= always <= 12 and all(seen[disk] == always for disk in DISKS[:-1]), f"{seen}")
        tap.check(2 <= seen[DISKS[-1]] <= always - 2, f"{seen}")
        times = sorted(t for t, c, _ in found if c.endswith(":" + DISKS[-1]))
        tap.check(times[0] == min(found)[0] and times[-1] == max(found)[0], f"it did not come back: {times}")


def judged():
    """limpet diagnose finds the slow disk."""
    with tempfile.TemporaryDirectory() as d, Pmcd(d) as pmcd, Work(pmcd.proc):
        told = json.loads(pmcd.limpet("diagnose", "--json", "pcp://127.0.0.1?for=75s", status=1))
        tap.check([s["component"].split("/")[1] for s in told["suspects"]] == ["disk:" + SLOW], f"{told['suspects']}")
        await_ms = pmcd.values("-m", "w_await", "pcp://127.0.0.1?for=4s")
        tap.check(await_ms, "no values")
        for (_, component, _), value in await_ms.items():
            want = 40 if component.endswith(SLOW) else 2
            tap.check(abs(value - want) < 0.01, f"{component}: {value} ms, not {want}")


def at_once():
    """Several servers are queried at the same time, not one after the other."""
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b, tempfile.TemporaryDirectory() as c, \
            Pmcd(a, "oss1") as first, Pmcd(b, "oss2") as second, Pmcd(c, "oss3") as third:
        found = first.values("--raw", "-m", "wr_ios", *(f"pcp://127.0.0.1:{p.port}?for=6s" for p in (first, second, third)))
        times = {}
        for when, component, _ in found:
            times.setdefault(component.split("/")[0], set()).add(when)
        tap.check(set(times) == {"oss1", "oss2", "oss3"}, f"{sorted(times)}")
        tap.check(min(map(max, times.values())) > max(map(min, times.values())), f"one after the other: {times}")


def gone():
    """pmcd ends during a query; and a pmcd that does not exist."""
    with tempfile.TemporaryDirectory() as d, Pmcd(d) as pmcd:
        asking = subprocess.Popen([LIMPET, "show", "pcp://127.0.0.1?for=30s"], text=True, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env={**os.environ, "PMCD_PORT": str(pmcd.port)})
        time.sleep(3)
        pmcd.process.send_signal(signal.SIGTERM)
        pmcd.process.wait()
        said = asking.communicate(timeout=60)[1]
        tap.check(asking.returncode == 2 and "pmcd" in said, f"{asking.returncode}: {said}")


tap.main([("the same values as pmval", same_as_pmval), ("a disk that goes and comes", comes_and_goes),
          ("a verdict", judged), ("several at once", at_once), ("pmcd ends", gone)])
