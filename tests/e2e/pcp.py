#!/usr/bin/env python3
"""Archives of Performance Co-Pilot, made by its own library, and live pmcd."""
import csv
import io
import os
import re
import subprocess
import tempfile

import tap

LIMPET = os.environ["LIMPET"]
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's modules

# Three disks for five minutes; sdb is away for ten seconds, and slower than sda.
MAKE = """
import sys
from pcp import pmi
import cpmapi as c
log = pmi.pmiLogImport(sys.argv[1])
log.pmiSetHostname("oss3")
log.pmiSetTimezone("UTC")
disks = log.pmiInDom(60, 1)
count, ms = log.pmiUnits(0, 0, 1, 0, 0, c.PM_COUNT_ONE), log.pmiUnits(0, 1, 0, 0, c.PM_TIME_MSEC, 0)
log.pmiAddMetric("disk.dev.read", log.pmiID(60, 0, 4), c.PM_TYPE_U64, disks, c.PM_SEM_COUNTER, count)
log.pmiAddMetric("disk.dev.read_rawactive", log.pmiID(60, 0, 72), c.PM_TYPE_U32, disks, c.PM_SEM_COUNTER, ms)
log.pmiAddMetric("kernel.all.blocked", log.pmiID(60, 0, 16), c.PM_TYPE_U32, c.PM_INDOM_NULL, c.PM_SEM_INSTANT, count)
for i, name in enumerate(("sda", "sdb", "loop0")):
    log.pmiAddInstance(disks, name, i)
for t in range(300):
    for disk, slow in (("sda", 1), ("sdb", 3), ("loop0", 1)):
        if disk != "sdb" or not 100 <= t < 110:
            log.pmiPutValue("disk.dev.read", disk, str(t * 10 + t % 7))
            log.pmiPutValue("disk.dev.read_rawactive", disk, str(t * 50 * slow))
    log.pmiPutValue("kernel.all.blocked", "", str(t % 5))
    log.pmiWrite(1000000000 + t, 0)
"""


def make(path):
    if subprocess.run([PYTHON, "-c", "import pcp.pmi"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise tap.Skip("python3-pcp is not installed")
    tap.run(PYTHON, "-c", MAKE, path)
    done = subprocess.run([LIMPET, "show", path], capture_output=True, text=True, check=False)
    if "cannot open" in done.stderr:
        raise tap.Skip("limpet was built without libpcp")


def values(*arguments):
    text = tap.run(LIMPET, "show", "--csv", *arguments)
    return {(r["time"], r["component"], r["metric"]): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["value"]}


def archive():
    """By the common name of its files, by one of them, or in a directory; instances that come and go."""
    with tempfile.TemporaryDirectory() as d:
        make(d + "/20010909")
        found = values("--raw", "-m", "rd_ios,rd_ticks,procs_blocked", d + "/20010909")
        for other in (d + "/20010909.meta", d):
            tap.check(values("--raw", "-m", "rd_ios,rd_ticks,procs_blocked", other) == found, other)
        tap.check({k[1] for k in found} == {"oss3/disk:sda", "oss3/disk:sdb", "oss3/host:host"}, "other components")
        for (when, component, column), value in found.items():
            t = int(when[14:16]) * 60 + int(when[17:19]) - 46 * 60 - 40
            want = {"rd_ios": t * 10 + t % 7, "procs_blocked": t % 5,
                    "rd_ticks": t * 50 * (3 if component.endswith("sdb") else 1)}[column]
            tap.check(value == want, f"{when} {component} {column}: {value}, not {want}")
        tap.check(len([k for k in found if k[1:] == ("oss3/disk:sdb", "rd_ios")]) == 290, "sdb was not away")
        await_ms = values("-m", "r_await", d + "/20010909")
        tap.check(all(4 < v < 13 for k, v in await_ms.items() if k[1].endswith("sda")), "await of sda")
        late = values("--raw", "-m", "rd_ios", "--since", "@1000000200", d + "/20010909")
        tap.check(min(k[0] for k in late) == "2001-09-09T01:50:00Z", f"{min(late)}")


def pmval():
    """The same values as pmval prints."""
    places = (os.environ.get("PCP_PREFIX", ""), "", "/opt/limpet-tests/pcp")  # as pcp_live.py looks for it
    program = next((p + "/usr/bin/pmval" for p in places if os.access(p + "/usr/bin/pmval", os.X_OK)), None)
    if not program:
        raise tap.Skip("pmval is not there: install pcp, or unpack it and set PCP_PREFIX")
    with tempfile.TemporaryDirectory() as d:
        make(d + "/a")
        found = values("--raw", "-m", "rd_ticks", d + "/a")
        text = tap.run(program, "-z", "-r", "-a", d + "/a", "-f", "0", "-t", "1", "-i", "sdb", "disk.dev.read_rawactive")
        compared = 0
        for line in re.findall(r"^(\d\d:\d\d:\d\d)\.000 +(\d+) *$", text, re.M):
            ours = found.get((f"2001-09-09T{line[0]}Z", "oss3/disk:sdb", "rd_ticks"))
            if ours is not None:
                compared += 1
                tap.check(ours == float(line[1]), f"{line}: {ours}")
        tap.check(compared > 280, f"{compared} values")


def trouble():
    with tempfile.TemporaryDirectory() as d:
        make(d + "/a")
        with open(d + "/a.0", "r+b") as f:
            f.truncate(5000)
        done = subprocess.run([LIMPET, "show", d + "/a"], capture_output=True, text=True, check=False)
        tap.check(done.returncode in (0, 2), f"{done}")
        os.unlink(d + "/a.0")
        done = subprocess.run([LIMPET, "show", d + "/a"], capture_output=True, text=True, check=False)
        tap.check(done.returncode == 2 and "cannot open the archive" in done.stderr, done.stderr)
        done = subprocess.run([LIMPET, "show", "pcp://127.0.0.1"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PMCD_PORT": "1"})
        tap.check(done.returncode == 2 and "cannot connect to pmcd" in done.stderr, done.stderr)


tap.main([("an archive", archive), ("the same values as pmval", pmval), ("damage, and no server", trouble)])
