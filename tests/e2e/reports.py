#!/usr/bin/env python3
"""Reports of other tools as data: real iostat and collectl, compressed files, wide CSV."""
import csv
import gzip
import io
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

import tap

LIMPET = os.environ["LIMPET"]


def values(*arguments):
    text = tap.run(LIMPET, "show", "--csv", *arguments)
    return {(r["time"], r["component"].split("/", 1)[1], r["metric"]): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["value"]}


def busy(directory, seconds):
    """Write to a disk for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tap.run("dd", "if=/dev/zero", f"of={directory}/junk", "bs=64k", "count=4", "conv=fsync")
        time.sleep(0.05)


def need(tool):
    if not shutil.which(tool):
        raise tap.Skip(f"{tool} is not installed")


def iostat():
    """Text and JSON give the same values, compressed or not, and limpet shows the values of iostat."""
    need("iostat")
    with tempfile.TemporaryDirectory() as d:
        environment = {**os.environ, "S_TIME_FORMAT": "ISO", "LC_ALL": "C"}
        with open(d + "/text", "w", encoding="utf-8") as text, open(d + "/json", "w", encoding="utf-8") as js:
            both = [subprocess.Popen(["iostat", "-xt", *more, "1", "5"], stdout=out, env=environment)
                    for more, out in (((), text), (("-o", "JSON"), js))]
            busy(d, 3)
            for p in both:
                tap.check(p.wait() == 0, "iostat failed")
        found = values("--values", d + "/text")
        tap.check({k[2] for k in found} >= {"await", "tps", "rd_sec", "wr_sec", "%util", "avgqu-sz"}, f"{found}")
        # The last report, line by line.
        report = pathlib.Path(d + "/text").read_text(encoding="utf-8").rstrip().split("\n\n")[-1].splitlines()
        names = report[0].split()
        last = max(k[0] for k in found)
        for line in report[1:]:
            line = dict(zip(names, line.split()))
            disk = "disk:" + line["Device"]
            for column, metric, scale in (("rkB/s", "rd_sec", 2), ("wkB/s", "wr_sec", 2), ("%util", "%util", 1),
                                          ("w_await", "w_await", 1), ("aqu-sz", "avgqu-sz", 1)):
                tap.check(abs(found[last, disk, metric] - float(line[column]) * scale) < 0.01,
                          f"{disk} {metric}: {found[last, disk, metric]}, {line}")
        tap.check(len({k[0] for k in values("--values", d + "/json")}) == 4, "JSON has not four reports")
        plain = tap.run(LIMPET, "show", "--csv", "--values", d + "/text")
        data = pathlib.Path(d + "/text").read_bytes()
        pathlib.Path(d + "/a.gz").write_bytes(gzip.compress(data))
        pathlib.Path(d + "/b.xz").write_bytes(lzma.compress(data))
        tap.run("zstd", "-q", d + "/text", "-o", d + "/c.zst")
        for name in ("a.gz", "b.xz", "c.zst"):
            tap.check(tap.run(LIMPET, "show", "--csv", "--values", f"{d}/{name}") == plain, f"{name} says other things")
        tap.run("iostat", "-x", "1", "1")
        done = subprocess.run(f"iostat -x 1 2 > {d}/notime; {LIMPET} show {d}/notime", shell=True, text=True,
                              capture_output=True, check=False)
        tap.check(done.returncode == 2 and "run it with -t" in done.stderr, done.stderr)


def collectl():
    """Raw files have the counters that limpet records at the same time, and files for plotting their rates."""
    need("collectl")
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + "/raw")
        record = subprocess.Popen([LIMPET, "record", "--name", "me", "-o", d + "/data", "--duration", "7s", "--interval",
                                   "1s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        writer = threading.Thread(target=busy, args=(d, 4))
        writer.start()
        tap.run("collectl", "-sDN", "-i1", "-c5", "-f", d + "/raw")
        writer.join()
        record.wait()
        raw, = pathlib.Path(d + "/raw").iterdir()
        ours = values("--raw", "-m", "wr_ios,wr_sec,wr_ticks,rx_packets", d + "/data")
        theirs = values("--raw", "-m", "wr_ios,wr_sec,wr_ticks,rx_packets", raw)
        compared = 0
        for (when, component, column), value in theirs.items():
            at = time.mktime(time.strptime(when[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
            around = [ours.get((time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at + k)), component, column))
                      for k in (-2, 2)]
            if None not in around:
                compared += 1
                tap.check(around[0] <= value <= around[1], f"{when} {component} {column}: {value} {around}")
        tap.check(compared >= 3, f"only {compared} values of both: {list(ours)[:2]} {list(theirs)[:2]}")
        # The output of collectl itself for the same file.
        tap.run("collectl", "-p", raw, "-P", "-sD", "-f", d + "/plot", "-oz")
        plot, = pathlib.Path(d).glob("plot*.dsk")
        mine, its = values("-m", "tps,wr_sec", raw), values("-m", "tps,wr_sec", plot)
        same = [(k, mine[k], v) for k, v in its.items() if k in mine]
        tap.check(len(same) >= 2, f"{list(mine)[:4]} {list(its)[:4]}")
        for key, here, there in same:
            # Discards are requests to limpet, and collectl rounds to whole numbers of kB.
            if key[2] == "wr_sec":
                tap.check(abs(here - there) <= 4 + here * 0.05, f"{key}: limpet {here}, collectl {there}")


def wide():
    """Grafana's format, with a time zone, gives the same values as the long form."""
    with tempfile.TemporaryDirectory() as d:
        lines, long_lines = ["Time,oss1/disk:a,oss2/disk:a"], ["time,component,metric,value"]
        for i in range(60):
            lines.append(f"2026-07-01 12:{i:02}:00,{i},{2 * i}")
            long_lines += [f"2026-07-01T10:{i:02}:00Z,oss{k}/disk:a,await,{k * i}" for k in (1, 2)]
        (pathlib.Path(d) / "wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (pathlib.Path(d) / "long.csv").write_text("\n".join(long_lines) + "\n", encoding="utf-8")
        first = tap.run(LIMPET, "show", "--csv", "-m", "await", d + "/long.csv")
        second = tap.run(LIMPET, "show", "--csv", "-m", "await", "--wide", "await", "--zone", "Europe/Berlin",
                         d + "/wide.csv")
        tap.check(first == second, f"{first[:300]}\n{second[:300]}")


def bomb():
    """A file that unpacks to an implausible size is refused, and leaves nothing behind."""
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + "/tmp")
        with gzip.open(d + "/bomb.csv.gz", "wb") as f:
            f.write(b"time,component,metric,value\n")
            for _ in range(80):
                f.write(b"\n" * (1 << 20))
        done = subprocess.run([LIMPET, "show", d + "/bomb.csv.gz"], env={**os.environ, "TMPDIR": d + "/tmp"}, text=True,
                              capture_output=True, check=False)
        tap.check(done.returncode == 2 and "unpacks to more than" in done.stderr, done.stderr)
        tap.check(not os.listdir(d + "/tmp"), "temporary files are left")


tap.main([("iostat, as text and JSON, compressed or not", iostat),
          ("collectl, raw and for plotting", collectl),
          ("one column per component", wide),
          ("a decompression bomb", bomb)])
