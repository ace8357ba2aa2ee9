#!/usr/bin/env python3
"""serve_scale.py: the cost of a collector that receives, keeps and judges a fleet.

    bench/serve_scale.py [-n SERVERS] [-c DISKS] [-t SECONDS] [-f FAULT_SECOND] [--tls] [--json]

Starts `limpet serve` and bench/serve_load.c, which speaks the protocol of `limpet record --send` for all servers
from one process, on this machine. CPU is the time of the collector's process (user and system), regardless of
other processes; that of the generator is separate. Lag is the age of the newest data that the engine has judged
(status.data_age_s), checked every few seconds. With -f one disk of one server becomes 8 times as slow, and the
time until the incident is printed. Needs $BUILD (default: build).
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
TICK = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    """Seconds of CPU of a process, and of each of its threads by name."""
    threads = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        threads[int(task.name)] = (int(fields[11]) + int(fields[12])) / TICK
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK, threads


def memory(pid, what):
    return int(re.search(rf"{what}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


class Watch(threading.Thread):
    """Checks the collector every few seconds."""

    def __init__(self, url, pid, every=5):
        super().__init__(daemon=True)
        self.url, self.pid, self.every = url, pid, every
        self.began, self.rows, self.incident, self.stopped = time.time(), [], None, False

    def look(self):
        row = {"t": round(time.time() - self.began, 1), "rss": memory(self.pid, "VmRSS"),
               "cpu": cpu(self.pid)[0]}
        try:
            status = get(self.url + "/api/v1/status")
            row["lag"] = status.get("data_age_s")
            if self.incident is None:
                for i in get(self.url + "/api/v1/incidents?state=open")["incidents"]:
                    if "d3" in json.dumps(i) and "n7" in json.dumps(i):
                        self.incident = (time.time(), i["what"])
        except (OSError, ValueError, KeyError) as e:
            row["failed"] = str(e)
        self.rows.append(row)

    def run(self):
        while not self.stopped:
            self.look()
            time.sleep(self.every)


def certificates(directory):
    """A certificate for 127.0.0.1 that signs itself."""
    cert, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=collector", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--servers", type=int, default=2000)
    parser.add_argument("-c", "--disks", type=int, default=50)
    parser.add_argument("-t", "--seconds", type=int, default=60)
    parser.add_argument("-f", "--fault", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="limpet-serve-scale-"))
    more, scheme, load_more = [], "http", []
    if options.tls:
        cert, key = certificates(place)
        more, scheme, load_more = ["--tls-cert", cert, "--tls-key", key], "https", ["-a", str(cert)]
    data = place / "data"
    log = open(place / "log", "w+", encoding="utf-8")
    collector = subprocess.Popen([BUILD / "src/cli/limpet", "serve", "--data", data, "--listen", "127.0.0.1:0",
                                  *more], stderr=log)
    try:
        port = None
        while not port:
            time.sleep(0.2)
            port = re.search(r"serving https?://127.0.0.1:(\d+)", (place / "log").read_text())
            if collector.poll() is not None:
                sys.exit((place / "log").read_text())
        watch = Watch(f"{scheme}://127.0.0.1:{port[1]}", collector.pid)
        if options.tls:  # the request for the page needs no trust
            import ssl
            ssl._create_default_https_context = ssl._create_unverified_context
        before = cpu(collector.pid)[0]
        watch.start()
        done = subprocess.run([BUILD / "bench/serve_load", "-n", str(options.servers), "-c", str(options.disks),
                               "-t", str(options.seconds), "-f", str(options.fault), *load_more, "127.0.0.1",
                               port[1]], capture_output=True, text=True, check=False)
        ended = time.time()
        watch.stopped = True
        watch.join()
        used, threads = cpu(collector.pid)
        load = json.loads(done.stdout)
        samples = load["requests"] * options.disks
        result = {"load": load, "cpu_s": round(used - before, 2), "cores": round((used - before) / options.seconds, 3),
                  "us_per_component_sample": round((used - before) / samples * 1e6, 2),
                  "rss_mb": memory(collector.pid, "VmRSS") >> 20, "peak_mb": memory(collector.pid, "VmHWM") >> 20,
                  "disk_mb": round(sum(f.stat().st_size for f in data.iterdir() if f.is_file()) / 1e6, 1),
                  "threads_cpu_s": sorted((round(t, 1) for t in threads.values()), reverse=True)[:5],
                  "rss_mb_seen": [r["rss"] >> 20 for r in watch.rows][:: max(1, len(watch.rows) // 20)],
                  "lag_s": [r.get("lag") for r in watch.rows][:: max(1, len(watch.rows) // 20)]}
        if options.fault:
            began = ended - options.seconds + options.fault
            result["incident_after_s"] = watch.incident and round(watch.incident[0] - began, 1)
            result["incident"] = watch.incident and watch.incident[1]
        print(json.dumps(result, indent=None if options.json else 1))
    finally:
        collector.terminate()
        collector.wait()
        shutil.rmtree(place)


main()
