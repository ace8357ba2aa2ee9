#!/usr/bin/env python3
"""Prometheus pushes to the collector by remote write: the real one, and invalid requests."""
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
import time
import urllib.error
import urllib.request

import tap
import wire

LIMPET = os.environ["LIMPET"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Program:
    def __init__(self, *command):
        self.command = [str(c) for c in command]

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_for(self, url):
        for _ in range(200):
            try:
                with urllib.request.urlopen(url, timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        self.log.seek(0)
        raise AssertionError(f"{self.command[0]} does not answer: {self.log.read()[-1000:]}")


def values(*arguments):
    text = tap.run(LIMPET, "show", "--csv", *arguments)
    return {(r["time"], r["component"], r["metric"]): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["value"]}


def post(url, body, token=None, **headers):
    request = urllib.request.Request(url, body, {"Content-Encoding": "snappy", **headers,
                                                 **({"Authorization": "Bearer " + token} if token else {})})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def collector(data):
    port = free_port()
    return Program(LIMPET, "serve", "--data", data, "--listen", f"127.0.0.1:{port}"), f"http://127.0.0.1:{port}"


def pushed():
    """Prometheus pushes the same data that it returns for the same time."""
    for tool in ("prometheus", "prometheus-node-exporter"):
        if not shutil.which(tool):
            raise tap.Skip(f"{tool} is not installed")
    with tempfile.TemporaryDirectory() as d:
        data = pathlib.Path(d) / "data"
        data.mkdir()
        token = tap.run(LIMPET, "serve", "enroll", "--data", data, "remote-write").split()[-1]
        serve, url = collector(data)
        exporter, own = free_port(), free_port()
        config = pathlib.Path(d) / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}],
            "remote_write": [{"url": url + "/api/v1/write", "authorization": {"credentials": token},
                              "queue_config": {"min_shards": 4, "batch_send_deadline": "1s"}}]}), encoding="utf-8")
        node = Program("prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporter}")
        server = Program("prometheus", f"--config.file={config}", f"--storage.tsdb.path={d}/tsdb",
                         f"--web.listen-address=127.0.0.1:{own}")
        with serve as s, node, server as p:
            s.wait_for(url + "/healthz")
            p.wait_for(f"http://127.0.0.1:{own}/-/ready")
            for _ in range(150):
                time.sleep(0.2)
                if list(data.glob("remote-write-*.lpa")):
                    break
            for _ in range(30):  # a busy machine scrapes less than once per second
                time.sleep(4)
                asked = values("--raw", "-m", "rd_ios,wr_ios,wr_ticks,ctxt", f"prometheus+http://127.0.0.1:{own}")
                if len(asked) >= 15:
                    break
            time.sleep(2)
        got = values("--raw", "-m", "rd_ios,wr_ios,wr_ticks,ctxt", data)
        same = [k for k in asked if k in got]
        tap.check(len(same) >= 15, f"{len(asked)} were asked for, {len(got)} came, {len(same)} of them the same")
        wrong = [(k, asked[k], got[k]) for k in same if asked[k] != got[k]]
        tap.check(not wrong, f"{wrong[:5]}")
        listed = tap.run(LIMPET, "show", data)
        tap.check("no gaps" in listed and "127.0.0.1/host:host" in listed, listed)


def refused():
    """Invalid bodies, bodies that are too large, and tokens of others."""
    with tempfile.TemporaryDirectory() as d:
        other = tap.run(LIMPET, "serve", "enroll", "--data", d, "oss3").split()[-1]
        token = tap.run(LIMPET, "serve", "enroll", "--data", d, "remote-write").split()[-1]
        serve, url = collector(d)
        with serve as s:
            s.wait_for(url + "/healthz")
            write = url + "/api/v1/write"
            status, text = post(write, b"hello", token)
            tap.check(status == 400 and "error" in json.loads(text), f"{status} {text}")
            tap.check(post(write, b"\x05\x10hello", token)[0] == 400, "no protocol buffer")
            tap.check(post(write, b"\xff\xff\xff\xff\x0f" + b"x" * 100, token)[0] in (400, 413), "a bomb")
            status, text = post(write, b"\x00", other)
            tap.check(status == 403 and "remote-write" in text, f"{status} {text}")
            tap.check(post(write, b"\x00", "nonsense")[0] in (401, 403), "a token that is none")
            status, text = post(write, b"\x00", token)
            tap.check(status == 204, f"an empty message: {status} {text}")
            version = {"X-Prometheus-Remote-Write-Version": "2.0.0"}
            tap.check(post(write, b"\x00", token, **version)[0] == 415, "version 2")
        tap.check(not list(pathlib.Path(d).glob("*.lpa")), "an archive of nothing")


def full_disk():
    """While the disk is full, requests are refused so that they are sent again; nothing is lost or duplicated."""
    n, begin, size = 60, 1790000000, 4 << 20
    with tempfile.TemporaryDirectory() as d:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "limpet-test", d], capture_output=True,
                          check=False).returncode:
            raise tap.Skip("cannot mount a small file system")
        try:
            serve, url = collector(d)
            with serve as s:
                s.wait_for(url + "/healthz")
                ballast = pathlib.Path(d) / "ballast"
                with open(ballast, "wb", buffering=0) as f:
                    try:
                        while True:
                            f.write(bytes(4096))
                    except OSError:
                        pass
                statuses = []
                for t in range(n):
                    labels = {"job": "node", "instance": "oss3:9100"}
                    ms = (begin + t) * 1000
                    body = wire.request(
                        [({**labels, "__name__": "node_disk_reads_completed_total", "device": "sda"}, [(ms, 7.0 * t)])]
                        + [({**labels, "__name__": "node_cpu_seconds_total", "mode": "user", "cpu": cpu}, [(ms, 1.0 * t)])
                           for cpu in "01"])
                    while (status := post(url + "/api/v1/write", body)[0]) != 204:
                        statuses.append(status)
                        tap.check(len(statuses) < 10, f"it is refused for ever: {statuses}")
                        if len(statuses) == 3:
                            ballast.unlink()
            tap.check(statuses == [507] * 3, f"answers: {statuses}")
            got = values("--raw", "-m", "rd_ios,cpu_user", d)
            for t in range(n):
                when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin + t))
                for component, metric, want in (("oss3/disk:sda", "rd_ios", 7 * t), ("oss3/host:host", "cpu_user", 200 * t)):
                    value = got.get((when, component, metric))
                    tap.check(value == want, f"{component} {metric} at {t} s: {value}, not {want}")
        finally:
            subprocess.run(["umount", "-l", d], check=True)


tap.main([("Prometheus pushes", pushed), ("what is refused", refused), ("a full disk", full_disk)])
