#!/usr/bin/env python3
"""The collector sends by remote write: to the real Prometheus and VictoriaMetrics, and to a receiver that refuses."""
import base64
import csv
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.request

import serve_rig
import tap
import wire

LIMPET = os.environ["LIMPET"]
RECORDING = pathlib.Path(os.environ["SOURCE"]) / "recordings" / "ddr-disk-busy-1"
FROM, UNTIL = "2026-11-15T12:30:00Z", "2026-11-15T12:40:00Z"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def values(*arguments):
    """Raw values by millisecond, component and column."""
    text = tap.run(LIMPET, "show", "--csv", "--raw", *arguments)
    return {(r["time"][:23], r["component"], r["metric"]): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["value"]}


def counted(collector, result):
    text = collector.request("GET", "/metrics")[1].decode()
    return int(float(re.search(rf'limpet_remote_write_samples_total{{result="{result}"}} (\S+)', text)[1]))


def collector(data, url, *options):
    return serve_rig.Collector(data, "--remote-write", url, "--remote-write-backlog", "7000d", *options)


class Receiver:
    """Prometheus or VictoriaMetrics, which keeps its port and its data when it is started again."""

    def __init__(self, directory, program):
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        config = pathlib.Path(directory) / "prometheus.yml"
        config.write_text("{}", encoding="ascii")
        self.command = {
            "prometheus": ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/prometheus",
                           "--web.enable-remote-write-receiver", "--storage.tsdb.retention.time=20y",
                           f"--web.listen-address=127.0.0.1:{self.port}"],
            "victoria-metrics": ["victoria-metrics", f"-storageDataPath={directory}/vm", "-retentionPeriod=20y",
                                 f"-httpListenAddr=127.0.0.1:{self.port}"]}[program]
        self.ready = self.url + ("/-/ready" if program == "prometheus" else "/health")
        self.log = pathlib.Path(directory) / (program + ".log")
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        serve_rig.wait_for(self.command[0], self.answers)

    def answers(self):
        tap.check(self.process.poll() is None, self.log.read_text(errors="replace")[-1000:])
        try:
            with urllib.request.urlopen(self.ready, timeout=1):
                return True
        except OSError:
            return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def verdict(data, *options):
    told = json.loads(subprocess.run([LIMPET, "diagnose", "--json", *options, data], stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True, check=False).stdout)
    return (told["state"], [(s["component"], s["cause"], s["persistence"]) for s in told["suspects"]],
            [(i["part"], i["cause"]) for i in told["incidents"]])


def kept_by(program):
    """All samples arrive with their values and times, also those of a time when the receiver was away."""
    with serve_rig.Place() as place, Receiver(place.path, program) as receiver:
        data = place.sub("data")
        files = sorted(RECORDING.glob("*.lpa"))
        with collector(data, receiver.url + "/api/v1/write") as c:
            for file in files[:6]:
                shutil.copy(file, data)
            serve_rig.wait_for("the first samples", lambda: counted(c, "sent"))
            receiver.stop()
            for file in files[6:]:
                shutil.copy(file, data)
            time.sleep(2)
            receiver.start()
            want = values(data)
            serve_rig.wait_for(f"all samples ({len(want)})", lambda: counted(c, "sent") >= len(want), seconds=240)
            tap.check(counted(c, "sent") == len(want) and not counted(c, "refused"),
                      f"{counted(c, 'sent')} sent, {counted(c, 'refused')} refused, of {len(want)}")
        receiver.stop()
        receiver.start()
        address = "prometheus+" + receiver.url
        got = values("--since", FROM, "--until", UNTIL, address)
        wrong = [(k, want.get(k), got.get(k)) for k in want.keys() | got.keys() if want.get(k) != got.get(k)]
        tap.check(not wrong, f"{len(wrong)} of {len(want)} are different: {sorted(wrong, key=str)[:5]}")
        ours, theirs = verdict(data), verdict(address, "--since", FROM, "--until", UNTIL)
        tap.check(ours[1] and ours == theirs, f"the archives say {ours}, {program} says {theirs}")


class Double(http.server.ThreadingHTTPServer):
    """A receiver with a chosen behaviour: `behave(series)` returns a status."""

    def __init__(self, behave=lambda series: 204, context=None):
        self.behave, self.seen, self.heads, self.statuses = behave, {}, [], []
        self.mutex = threading.Lock()
        super().__init__(("127.0.0.1", 0), Answer)
        self.scheme = "https" if context else "http"
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{self.scheme}://127.0.0.1:{self.server_port}/api/v1/write"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, headers, body):
        series = wire.series(body)
        with self.mutex:
            status = self.behave(series)
            self.heads.append(headers)
            self.statuses.append(status)
            for labels, samples in series if status == 204 else ():
                for ms, value in samples:
                    key = (ms, tuple(sorted(labels.items())))
                    self.seen.setdefault(key, []).append(value)
        return status

    def handle_error(self, request, client_address):
        """A client disconnected, which tests do."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        status = self.server.take(dict(self.headers), self.rfile.read(int(self.headers["Content-Length"])))
        text = b"" if status == 204 else b"out of order sample"
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def recorded(place, n=3):
    data = place.sub("data")
    for file in sorted(RECORDING.glob("s*.lpa"))[:n]:
        shutil.copy(file, data)
    return data


def check_complete(receiver, want):
    tap.check(len(receiver.seen) == len(want), f"{len(receiver.seen)} samples, not {len(want)}")
    twice = [k for k, v in receiver.seen.items() if len(v) > 1]
    tap.check(not twice, f"{len(twice)} samples were sent twice: {twice[:3]}")


def names():
    """The names and values of series."""
    with serve_rig.Place() as place, Double() as receiver:
        data = recorded(place, 1)
        want = values(data)
        with collector(data, receiver.url) as c:
            serve_rig.wait_for("all samples", lambda: counted(c, "sent") >= len(want), seconds=240)
        check_complete(receiver, want)
        head = receiver.heads[0]
        tap.check(head["Content-Type"] == "application/x-protobuf" and head["Content-Encoding"] == "snappy" and
                  head["X-Prometheus-Remote-Write-Version"] == "0.1.0" and head["User-Agent"].startswith("limpet/"),
                  f"{head}")
        by_labels = {}
        for (_, labels), value in receiver.seen.items():
            by_labels.setdefault(labels, value)
        tap.check(all(dict(k)["job"] == "limpet" and dict(k)["instance"] == "s1" for k in by_labels), "other labels")
        found = {dict(k)["__name__"]: dict(k) for k in by_labels}
        for name, more in (("limpet_disk_read_bytes_total", {"kind": "disk"}), ("limpet_host_n_cpus", {"kind": "host"}),
                           ("limpet_network_receive_bytes_total", {"kind": "net", "name": "eth0"}),
                           ("limpet_cpu_seconds_total", {"kind": "host", "name": "cgroup"})):
            tap.check(name in found and more.items() <= found[name].items(), f"{name}: {found.get(name)} of {sorted(found)}")
        tap.check("mode" in found["limpet_cpu_seconds_total"], f"{found['limpet_cpu_seconds_total']}")
        first = min(want)
        sectors = want[(first[0], next(c for t, c, m in want if m == "rd_sec"), "rd_sec")]
        sent = [v[0] for (_, k), v in sorted(receiver.seen.items()) if dict(k)["__name__"] == "limpet_disk_read_bytes_total"]
        tap.check(sent[0] == 512 * sectors, f"{sent[0]} bytes, {sectors} sectors")


def tried_again():
    """5xx, 429 and no answer at all: each sample arrives once, and receiving does not wait."""
    answers = [503, 429, 500, 502, 204, 503]
    with serve_rig.Place() as place, Double(lambda _: answers.pop(0) if answers else 204) as receiver:
        data = recorded(place)
        want = values(data)
        with collector(data, receiver.url) as c:
            serve_rig.wait_for("all samples", lambda: counted(c, "sent") >= len(want), seconds=240)
            tap.check(counted(c, "refused") == 0 and counted(c, "sent") == len(want), c.request("GET", "/metrics")[1])
            said = c.said()
        check_complete(receiver, want)
        tap.check(said.count("trying again") == 2 and said.count("works again") == 2 and "503" in said, said)


def hangs():
    """A receiver that does not answer: the collector continues receiving, and ends on request."""
    release = threading.Event()
    with serve_rig.Place() as place, Double(lambda _: 204 if release.wait(60) else 500) as receiver:
        data = recorded(place)
        with collector(data, receiver.url) as c:
            body = wire.request([({"__name__": "node_load1", "instance": "x:1", "job": "n"}, [(1790000000000, 1.0)])])
            time.sleep(2)
            tap.check(c.request("POST", "/api/v1/write", body=body)[0] == 204, "it does not receive")
            c.stop()
        release.set()


def refused():
    """If a receiver refuses data, only that data is lost; a wrong password loses everything, and is reported."""
    def behave(series):
        return 400 if any(labels["__name__"] == "limpet_pressure_cpu_waiting_seconds_total" for labels, _ in series) else 204

    with serve_rig.Place() as place, Double(behave) as receiver:
        data = recorded(place)
        want = values(data)
        bad = sum(k[2] == "psi_cpu_some_us" for k in want)
        with collector(data, receiver.url) as c:
            serve_rig.wait_for("all samples", lambda: counted(c, "sent") + counted(c, "refused") >= len(want),
                               seconds=240)
            lost, said = counted(c, "refused"), c.said()
        tap.check(bad and bad <= lost < len(want) / 4, f"{lost} of {len(want)} were lost, {bad} are bad")
        tap.check(len(receiver.seen) == len(want) - lost, f"{len(receiver.seen)} arrived")
        tap.check("were refused and are not sent" in said and "out of order sample" in said, said)
    with serve_rig.Place() as place, Double(lambda _: 401) as receiver:
        data = recorded(place, 1)
        want = values(data)
        with collector(data, receiver.url) as c:
            serve_rig.wait_for("a refusal", lambda: counted(c, "refused") >= len(want))
            said = c.said()
        tap.check("401" in said and "--remote-write-config" in said, said)


def restarted():
    """Data that was sent is not sent again by a restarted collector, even after it was killed."""
    with serve_rig.Place() as place, Double() as receiver:
        data = recorded(place, 1)
        with collector(data, receiver.url) as c:
            n = len(values(data))
            serve_rig.wait_for("the first", lambda: counted(c, "sent") >= n)
            time.sleep(1.5)  # it notes its position once per second
            c.kill()
        recorded(place, 3)
        want = values(data)
        with collector(data, receiver.url) as c:
            serve_rig.wait_for("the others", lambda: len(receiver.seen) >= len(want))
            c.stop()
        check_complete(receiver, want)
        place_file = pathlib.Path(data) / "remote-write.json"
        tap.check(set(json.loads(place_file.read_text(encoding="utf-8"))["sent_us"]) == set(serve_rig.archives(data)), "the file")
        place_file.write_text("{", encoding="ascii")
        said = subprocess.run([LIMPET, "serve", "--data", data, "--listen", "127.0.0.1:0", "--remote-write", receiver.url],
                              capture_output=True, text=True, check=False)
        tap.check(said.returncode == 2 and "remote-write.json is damaged" in said.stderr, f"{said}")


def not_old():
    """Without a backlog, no old data is sent at the first start; data that is too old is counted."""
    with serve_rig.Place() as place, Double() as receiver:
        data = recorded(place, 1)
        with serve_rig.Collector(data, "--remote-write", receiver.url) as c, \
                serve_rig.Server(place.sub("server"), "new", c.url):
            serve_rig.wait_for("samples of now", lambda: counted(c, "sent") > 100)
        tap.check({dict(k)["instance"] for _, k in receiver.seen} == {"new"}, "old samples were sent")
    with serve_rig.Place() as place, Double() as receiver:
        data = recorded(place, 1)
        want = values(data)
        with serve_rig.Collector(data, "--remote-write", receiver.url, "--remote-write-backlog", "10m") as c:
            # Old frames are skipped; frames that follow are examined.
            time.sleep(3)
            tap.check(not counted(c, "sent") and not receiver.seen, f"{len(receiver.seen)} of {len(want)}")


def secrets():
    """Passwords, tokens and certificates, from a file."""
    with serve_rig.Place() as place:
        key, cert = place.path + "/key.pem", place.path + "/cert.pem"
        tap.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        tls = "tls_config: {ca_file: cert.pem}\n"
        for name, text, want in (
                ("basic.yml", "basic_auth: {username: limpet, password: s3cret}\n",
                 "Basic " + base64.b64encode(b"limpet:s3cret").decode()),
                ("token.yml", "authorization: {credentials: t0ken}\n", "Bearer t0ken")):
            with Double(context=context) as receiver:
                data = recorded(place, 1)
                place_file = pathlib.Path(data) / "remote-write.json"
                with collector(data, receiver.url, "--remote-write-config", place.file(name, text + tls)) as c:
                    serve_rig.wait_for("samples", lambda: counted(c, "sent"))
                    tap.check("s3cret" not in c.said() and "t0ken" not in c.said(), c.said())
                tap.check(receiver.heads[0].get("Authorization") == want, f"{receiver.heads[0]}")
                place_file.unlink()
        with Double(context=context) as receiver:  # an unknown authority
            with collector(data, receiver.url) as c:
                serve_rig.wait_for("a complaint", lambda: "remote write: " in c.said())
                tap.check(not receiver.seen, "it sends to anybody")


def usage():
    for options, word in ((("--remote-write", "ftp://x/"), "is not the address"),
                          (("--remote-write", "http://me:secret@x/"), "--remote-write-config"),
                          (("--remote-write-config", "x"), "is for --remote-write")):
        with tempfile.TemporaryDirectory() as d:
            done = subprocess.run([LIMPET, "serve", "--data", d, "--listen", "127.0.0.1:0", *options],
                                  capture_output=True, text=True, check=False)
            tap.check(done.returncode == 2 and word in done.stderr and "secret" not in done.stderr, f"{done}")


tap.main([("names", names), ("Prometheus", lambda: kept_by("prometheus")),
          ("VictoriaMetrics", lambda: kept_by("victoria-metrics")), ("it is tried again", tried_again),
          ("a receiver that hangs", hangs), ("what is refused", refused), ("after a restart", restarted),
          ("nothing old", not_old), ("passwords, tokens and TLS", secrets), ("usage", usage)])
