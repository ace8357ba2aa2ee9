#!/usr/bin/env python3
"""serve_vs_victoria.py: a collector compared with the simple alternative.

    bench/serve_vs_victoria.py [-n SERVERS] [-t SECONDS]

Sends the counters of SERVERS servers with 50 disks each, one sample per second for SECONDS, to `limpet serve`
(bench/serve_load.c) and at the same time as many counters of the same names to Debian's victoria-metrics, as text
through /api/v1/import/prometheus, one request per server and second. Prints the CPU time of each server process, and
the size of its files at the end, per value. limpet judges the data as it arrives; victoria-metrics only stores it.
Needs $BUILD (default: build).
"""
import argparse
import http.client
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
DISKS, COLUMNS = 50, ("rd_ios", "rd_sec", "rd_ticks", "wr_ios", "wr_sec", "wr_ticks")
TICK = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def size(path):
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def wait_for(log, pattern):
    while True:
        time.sleep(0.2)
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[1]


def feed(port, servers, seconds):
    """Act as all servers of victoria-metrics, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    counters = {}
    began = time.time()
    for t in range(seconds):
        for server in range(servers):
            lines = []
            for disk in range(DISKS):
                ios = int(100 * random.uniform(0.9, 1.1))
                row = counters.setdefault((server, disk), [0] * 6)
                for i, more in enumerate((ios, ios * 256, ios * 8, ios, ios * 256, ios * 8)):
                    row[i] += more
                    lines.append(f'{COLUMNS[i]}{{host="n{server}",disk="d{disk}"}} {row[i]}')
            connection.request("POST", f"/api/v1/import/prometheus?timestamp={int((began + t) * 1000)}", "\n".join(lines))
            connection.getresponse().read()
        time.sleep(max(0, began + t + 1 - time.time()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--servers", type=int, default=100)
    parser.add_argument("-t", "--seconds", type=int, default=60)
    args = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="limpet-serve-vs-"))
    log, vlog = place / "log", place / "vlog"
    running = []
    try:
        limpet = subprocess.Popen([BUILD / "src/cli/limpet", "serve", "--data", place / "limpet", "--listen", "127.0.0.1:0"],
                                  stderr=open(log, "w", encoding="utf-8"))
        running.append(limpet)
        victoria = subprocess.Popen(["victoria-metrics", "-storageDataPath", place / "victoria", "-httpListenAddr",
                                     "127.0.0.1:18428", "-retentionPeriod", "1d"], stderr=open(vlog, "w", encoding="utf-8"))
        running.append(victoria)
        port = wait_for(log, r"127.0.0.1:(\d+), archives")
        wait_for(vlog, r"(started VictoriaMetrics|http server)")
        time.sleep(1)
        before = cpu(limpet.pid), cpu(victoria.pid)
        load = subprocess.Popen([BUILD / "bench/serve_load", "-n", str(args.servers), "-c", str(DISKS), "-t", str(args.seconds),
                                 "127.0.0.1", port], stdout=subprocess.DEVNULL)
        feed(18428, args.servers, args.seconds)
        load.wait()
        used = cpu(limpet.pid) - before[0], cpu(victoria.pid) - before[1]
        for process in running:
            process.terminate()
            process.wait()
        values = args.servers * args.seconds * DISKS * len(COLUMNS)
        print(f"{values} values, {args.servers} servers, {args.seconds} s")
        for name, spent, path in (("limpet serve", used[0], place / "limpet"), ("victoria-metrics", used[1], place / "victoria")):
            print(f"{name:17} {spent / values * 1e6:6.2f} us CPU per value   {size(path) / values:6.2f} bytes per value on disk")
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(place, ignore_errors=True)


main()
