#!/usr/bin/env python3
"""Prometheus and VictoriaMetrics servers as data: real ones, and one that misbehaves."""
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
import urllib.parse
import urllib.request

import tap

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
LIMPET = os.environ["LIMPET"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """A program that runs while the block does, once it answers."""

    def __init__(self, command, url):
        self.command, self.url = command, url

    def __enter__(self):
        if not shutil.which(self.command[0]):
            raise tap.Skip(f"{self.command[0]} is not installed")
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)
        for _ in range(300):
            try:
                with urllib.request.urlopen(self.url, timeout=1):
                    return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        self.__exit__()
        raise AssertionError(f"{self.command[0]} does not answer at {self.url}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def prometheus(directory, scrape=None):
    port = free_port()
    config = pathlib.Path(directory) / "prometheus.yml"
    jobs = [{"job_name": "node", "static_configs": [{"targets": [scrape]}]}] if scrape else []
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}),
                      encoding="utf-8")
    daemon = Daemon(["prometheus", f"--config.file={config}",
                     f"--storage.tsdb.path={directory}/tsdb", "--storage.tsdb.retention.time=10y",
                     f"--web.listen-address=127.0.0.1:{port}"], f"http://127.0.0.1:{port}/-/ready")
    return daemon, f"prometheus+http://127.0.0.1:{port}"


def values(*arguments):
    """{(time, component, metric): value} of limpet show --csv."""
    text = tap.run(LIMPET, "show", "--csv", *arguments)
    return {(r["time"], r["component"].split("/", 1)[1], r["metric"]): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["value"]}


def seconds(text):
    return time.mktime(time.strptime(text[:19] + " UTC", "%Y-%m-%dT%H:%M:%S %Z"))


def growth(data, component, column):
    found = sorted((k[0], v) for k, v in data.items() if k[1:] == (component, column))
    return found[-1][1] - found[0][1]


def same_disk():
    """The data that limpet records and Prometheus scrapes from the same disks at the same time."""
    columns = ("rd_ios", "rd_sec", "rd_ticks", "wr_ios", "wr_sec", "wr_ticks", "tot_ticks", "rq_ticks",
               "rx_bytes", "tx_packets", "cpu_user", "psi_io_some_us")
    with tempfile.TemporaryDirectory() as d:
        port = free_port()
        exporter = Daemon(["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}"],
                          f"http://127.0.0.1:{port}/")
        server, address = prometheus(d, f"127.0.0.1:{port}")
        with exporter, server:
            record = subprocess.Popen([LIMPET, "record", "--name", "me", "-o", d + "/data", "--duration", "9s",
                                       "--interval", "1s"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            end = time.monotonic() + 7
            while time.monotonic() < end:
                tap.run("dd", "if=/dev/zero", f"of={d}/junk", "bs=64k", "count=8", "conv=fsync")
                time.sleep(0.05)
            record.wait()
            ours = values("--raw", "-m", ",".join(columns), d + "/data")
            theirs = values("--raw", "-m", ",".join(columns), address)
            awaits = [values("-m", "await", where) for where in (d + "/data", address)]
    compared = 0
    for (when, component, column), value in theirs.items():
        around = [ours.get((time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds(when) - time.timezone + k)),
                            component, column)) for k in (-2, 2)]
        if None in around:
            continue
        compared += 1
        # Two clocks tick in the kernel's own units: a hundredth of a second.
        slack = 1 if column.startswith("cpu_") else 0
        tap.check(around[0] - slack <= value <= around[1] + slack,
                  f"{when} {component} {column}: scraped {value}, recorded {around}")
    tap.check(compared >= 20, f"only {compared} values of both could be compared: "
              f"{list(ours)[:3]} {list(theirs)[:3]}")
    # The same formula: await over the whole time lies between the values of its seconds.
    disk = max((k[1] for k in theirs if k[2] == "wr_ios"), key=lambda c: growth(theirs, c, "wr_ios"))
    whole_ms = ((growth(theirs, disk, "rd_ticks") + growth(theirs, disk, "wr_ticks")) /
                (growth(theirs, disk, "rd_ios") + growth(theirs, disk, "wr_ios")))
    for data in awaits:
        found = [v for k, v in data.items() if k[1:] == (disk, "await") and v > 0]
        tap.check(found and min(found) * 0.9 <= whole_ms <= max(found) * 1.1 + 1,
                  f"await of {disk}: {whole_ms} on the whole, {found} in seconds")


COLUMNS = {"rd_ios": ("node_disk_reads_completed_total", 1), "rd_merges": ("node_disk_reads_merged_total", 1),
           "rd_sec": ("node_disk_read_bytes_total", 512), "rd_ticks": ("node_disk_read_time_seconds_total", 1e-3),
           "wr_ios": ("node_disk_writes_completed_total", 1), "wr_merges": ("node_disk_writes_merged_total", 1),
           "wr_sec": ("node_disk_written_bytes_total", 512),
           "wr_ticks": ("node_disk_write_time_seconds_total", 1e-3),
           "tot_ticks": ("node_disk_io_time_seconds_total", 1e-3),
           "rq_ticks": ("node_disk_io_time_weighted_seconds_total", 1e-3),
           "rx_bytes": ("node_network_receive_bytes_total", 1),
           "rx_packets": ("node_network_receive_packets_total", 1),
           "rx_errs": ("node_network_receive_errs_total", 1), "rx_drop": ("node_network_receive_drop_total", 1),
           "tx_bytes": ("node_network_transmit_bytes_total", 1),
           "tx_packets": ("node_network_transmit_packets_total", 1),
           "tx_errs": ("node_network_transmit_errs_total", 1), "tx_drop": ("node_network_transmit_drop_total", 1)}


def export(recording, out, milliseconds):
    """Write the disks and interfaces of a recording as node_exporter would have shown them. A lab's disks are loop
    devices, which are not disks elsewhere: they are called vdb."""
    text = tap.run(LIMPET, "show", "--raw", "--values", "--csv", recording)
    lines = {}
    for r in csv.DictReader(io.StringIO(text)):
        name = re.fullmatch(r"(\w+)/(disk|net):(\w+)", r["component"])
        if not name or r["metric"] not in COLUMNS or not r["value"]:
            continue
        metric, scale = COLUMNS[r["metric"]]
        device = re.sub(r"loop\d+", "vdb", name[3])
        at = seconds(r["time"]) - time.timezone
        stamp = f"{at * 1000:.0f}" if milliseconds else f"{at:.3f}"
        lines.setdefault(metric, []).append(
            f'{metric}{{instance="{name[1]}:9100",job="node",device="{device}"}} '
            f'{float(r["value"]) * scale!r} {stamp}')
    with open(out, "w", encoding="utf-8") as f:
        for metric, found in sorted(lines.items()):
            if not milliseconds:
                f.write(f"# TYPE {metric.removesuffix('_total')} counter\n")
            f.write("\n".join(found) + "\n")
        if not milliseconds:
            f.write("# EOF\n")


def verdict(data, *options):
    done = subprocess.run([LIMPET, "diagnose", "--json", "-q", "-c", "*/disk:*", "-c", "*/net:*", *options, data],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    tap.check(done.returncode in (0, 1), f"{data}: {done.returncode} {done.stderr}")
    found = json.loads(done.stdout)
    return [(re.sub(r"loop\d+", "vdb", s["component"]), s["cause"]["name"] if isinstance(s["cause"], dict)
             else s["cause"]) for s in found["suspects"]], found


FAULTS = ("ddw-disk-hog-1", "ddr-disk-busy-2", "ddw-slow-disk-1", "ddw-none-1")


def span(found):
    """Options for the time of a verdict."""
    return "--since", found["start"], "--until", re.sub(r":\d\d(\.\d+)?Z$", ":59Z", found["end"])


def replayed_fault():
    """The same verdict on recorded faults, whether read from the archive or through Prometheus."""
    suspects = 0
    for name in FAULTS:
        recording = SOURCE / "recordings" / name
        if not recording.is_dir():
            continue
        with tempfile.TemporaryDirectory() as d:
            export(recording, d + "/om.txt", False)
            if not shutil.which("promtool"):
                raise tap.Skip("promtool is not installed")
            tap.run("promtool", "tsdb", "create-blocks-from", "openmetrics", d + "/om.txt", d + "/tsdb")
            server, address = prometheus(d)
            with server:
                there, found = verdict(str(recording))
                here, _ = verdict(address, *span(found))
        tap.check(there == here, f"{name}: the archive says {there}, Prometheus {here}")
        suspects += len(there)
    tap.check(suspects >= 2, "no fault was found at all")


def replayed_victoria():
    """The same through VictoriaMetrics."""
    port = free_port()
    recording = SOURCE / "recordings" / FAULTS[0]
    with tempfile.TemporaryDirectory() as d:
        with Daemon(["victoria-metrics", f"-storageDataPath={d}/vm", "-retentionPeriod=100y",
                     f"-httpListenAddr=127.0.0.1:{port}"], f"http://127.0.0.1:{port}/health"):
            export(recording, d + "/text", True)
            with open(d + "/text", "rb") as f:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/import/prometheus", f.read()).close()
            urllib.request.urlopen(f"http://127.0.0.1:{port}/internal/force_flush").close()
            there, found = verdict(str(recording))
            here, _ = verdict(f"prometheus+http://127.0.0.1:{port}", *span(found))
    tap.check(there and there == here, f"the archive says {there}, VictoriaMetrics {here}")


class Odd(http.server.BaseHTTPRequestHandler):
    """A server with a behaviour that the first word of the path selects."""
    asked = []

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for key, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def good(self, form):
        if "/label/__name__/" in self.path:
            data = ["node_disk_reads_completed_total", "node_disk_read_time_seconds_total", "my_latency"]
        elif "/label/instance/" in self.path:
            data = ["a:9100", "b:9100"]
        else:
            query = form["query"][0]
            host = re.search(r'instance="(\w*)', query)[1]
            end = round(float(form["time"][0]) * 1000)
            first = max(-(-(end - int(re.search(r"\[(\d+)ms\]", query)[1])) // 1000), 1000000000)
            data = {"resultType": "matrix", "result": [
                {"metric": {"__name__": name, "instance": f"{host}:9100", "job": "x", "device": "sda"},
                 "values": [[t, str((t - 999999990) * grows)] for t in range(first, end // 1000 + 1)]}
                for name, grows in (("node_disk_reads_completed_total", 10),
                                    ("node_disk_read_time_seconds_total", 0.05), ("my_latency", 1))
                if host and re.search(rf'[|"]{name}[|"]', query)]}
        return json.dumps({"status": "success", "data": data}).encode()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.handle_one(urllib.parse.parse_qs(body))

    def do_GET(self):
        self.handle_one(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query))

    def handle_one(self, form):
        how = self.path.split("/")[1]
        Odd.asked.append((how, form))
        is_query = self.path.endswith("/query")
        if how == "good":
            self.answer(200, self.good(form))
        elif how == "basic":
            want = "Basic " + base64.b64encode(b"u:s3cret").decode()
            if self.headers.get("Authorization") == want:
                self.answer(200, self.good(form))
            else:
                self.answer(401, b"no")
        elif how == "bearer":
            if self.headers.get("Authorization") == "Bearer t0ken":
                self.answer(200, self.good(form))
            else:
                self.answer(401, b"no")
        elif how == "redirect":
            self.answer(307, b"", [("Location", self.path.replace("/redirect/", "/good/"))])
        elif how == "many" and is_query and int(re.search(r"\[(\d+)ms", form["query"][0])[1]) > 100000:
            self.answer(422, b'{"status":"error","errorType":"execution","error":"query processing would '
                        b'load too many samples into memory in query execution"}')
        elif how == "large" and is_query and int(re.search(r"\[(\d+)ms", form["query"][0])[1]) > 100000:
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(70):
                    self.wfile.write(b" " * (1 << 20))
            except OSError:
                pass
        elif how in ("many", "large"):
            self.answer(200, self.good(form))
        elif how == "hopeless":
            self.answer(422, b'{"status":"error","error":"too many samples"}')
        elif how == "busy":
            if len([a for a in Odd.asked if a[0] == "busy"]) < 3:
                self.answer(503, b"busy")
            else:
                self.answer(200, self.good(form))
        elif how == "cut" and is_query:
            whole = self.good(form)
            self.answer(200, whole[:len(whole) // 2])
        elif how == "torn" and is_query:
            whole = self.good(form)
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[:len(whole) // 2])
        elif how == "vector" and is_query:
            self.answer(200, b'{"status":"success","data":{"resultType":"vector","result":[]}}')
        elif how == "junk" and is_query:
            self.answer(200, b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":'
                        b'{"__name__":"node_disk_reads_completed_total","instance":"a:1","device":"x"},'
                        b'"values":[[1,"many"]]}]}}')
        elif how == "empty" and is_query:
            self.answer(200, b'{"status":"success","data":{"resultType":"matrix","result":[]}}')
        elif how == "html":
            self.answer(200, b"<html>hello</html>")
        else:
            self.answer(200, self.good(form))


class Server:
    def __init__(self, context=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "prometheus+https" if context else "prometheus+http"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def address(self, how, query=""):
        return f"{self.scheme}://127.0.0.1:{self.server.server_address[1]}/{how}{query}"


TIME = ("--since", "@1000000000", "--until", "@1000000300")


def show(address, *options, status=0):
    done = subprocess.run([LIMPET, "show", "-m", "r_await", "--csv", *TIME, *options, address],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    tap.check(done.returncode == status, f"{address}: {done.returncode} {done.stdout[:500]} {done.stderr}")
    return done.stdout, done.stderr


def whole(text):
    """299 differences of each of two disks: 50 ms of reading per 10 reads are 5 ms."""
    rows = list(csv.DictReader(io.StringIO(text)))
    tap.check(len(rows) == 2 * 299 and {r["component"] for r in rows} == {"a/disk:sda", "b/disk:sda"},
              f"{len(rows)} rows")
    tap.check(all(r["value"] == "5" for r in rows), f"not all 5 ms: {rows[:5]}")


def pieces():
    """A query that the server refuses as too large is repeated in smaller pieces, and nothing is lost between them."""
    with Server() as s:
        for how in ("good", "many", "large", "busy", "redirect"):
            whole(show(s.address(how))[0])


def credentials():
    with Server() as s, tempfile.TemporaryDirectory() as d:
        file = pathlib.Path(d) / "http.yml"
        (pathlib.Path(d) / "secret").write_text("s3cret\n", encoding="utf-8")
        complaint = show(s.address("basic"), status=2)[1]
        tap.check("--http-config" in complaint and "401" in complaint, complaint)
        file.write_text("basic_auth: {username: u, password_file: secret}\n", encoding="utf-8")
        whole(show(s.address("basic"), "--http-config", file)[0])
        file.write_text("authorization:\n  credentials: t0ken\n", encoding="utf-8")
        whole(show(s.address("bearer"), "--http-config", file)[0])
        os.environ["LIMPET_HTTP_CONFIG"] = str(file)
        whole(show(s.address("bearer"))[0])
        del os.environ["LIMPET_HTTP_CONFIG"]
        file.write_text("follow_redirects: false\n", encoding="utf-8")
        complaint = show(s.address("redirect"), "--http-config", file, status=2)[1]
        tap.check("redirect" in complaint, complaint)
        file.write_text("basic_auth:\n  user: u\n", encoding="utf-8")
        complaint = show(s.address("basic"), "--http-config", file, status=2)[1]
        tap.check("http.yml:2: there is no 'user'" in complaint, complaint)
        complaint = show("prometheus+http://u:s3cret@127.0.0.1:1", status=2)[1]
        tap.check("must not hold a password" in complaint and "s3cret" not in complaint, complaint)


def encrypted():
    with tempfile.TemporaryDirectory() as d:
        tap.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", d + "/key", "-out", d + "/cert")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(d + "/cert", d + "/key")
        with Server(context) as s:
            complaint = show(s.address("good"), status=2)[1]
            tap.check("certificate" in complaint.lower() and "'ca_file'" in complaint, complaint)
            file = pathlib.Path(d) / "http.yml"
            file.write_text("tls_config:\n  ca_file: nosuch\n", encoding="utf-8")
            complaint = show(s.address("good"), "--http-config", file, status=2)[1]
            tap.check(f"'ca_file': cannot open {d}/nosuch: No such file" in complaint, complaint)
            file.write_text("tls_config:\n  ca_file: cert\n", encoding="utf-8")
            whole(show(s.address("good"), "--http-config", file)[0])
            file.write_text("tls_config: {insecure_skip_verify: true}\n", encoding="utf-8")
            whole(show(s.address("good"), "--http-config", file)[0])


def trouble():
    """Failures are reported in helpful words."""
    with Server() as s:
        for how, words in (("hopeless", "refuses the query (422): too many samples"),
                           ("cut", "the answer breaks off after"), ("torn", "cannot read"),
                           ("vector", "not Prometheus'"), ("junk", "sample 0 of a series"),
                           ("html", "not Prometheus'"), ("empty", "no samples in that time")):
            complaint = show(s.address(how), status=2)[1]
            tap.check(words in complaint, f"{how}: {complaint}")
            tap.check(complaint.count("\n") == 1, f"{how}: {complaint}")
        complaint = show(s.address("good", "?match=nonsense"), status=2)[1]
        tap.check("match must be like" in complaint, complaint)
    complaint = show(f"prometheus+http://127.0.0.1:{free_port()}", status=2)[1]
    tap.check("onnect" in complaint, complaint)
    complaint = show("nosuch://host", status=2)[1]
    tap.check("prometheus+http://" in complaint, complaint)


def own_table():
    """A site's own exporter, by a table in YAML; its mistakes have lines."""
    with Server() as s, tempfile.TemporaryDirectory() as d:
        table = pathlib.Path(d) / "site.yaml"
        table.write_text('version: 1\ngroups:\n  - kind: thing\n    name: "{device}"\n    metrics:\n'
                         "      - {metric: my_latency, column: answer, unit: ms, type: gauge, role: latency}\n",
                         encoding="utf-8")
        text = tap.run(LIMPET, "show", "-m", "answer", "--csv", *TIME, "--mapping", table, s.address("good"))
        rows = list(csv.DictReader(io.StringIO(text)))
        tap.check(len(rows) == 600 and rows[0]["component"] == "a/thing:sda", f"{rows[:3]}")
        # The role is stored with the data.
        tap.run(LIMPET, "import", "--since", TIME[1], "--until", TIME[3], "--mapping", table, s.address("good"),
                "-o", d + "/archive")
        again = tap.run(LIMPET, "show", "-m", "answer", "--csv", d + "/archive")
        tap.check(again == text, "the archive has other values")
        table.write_text(table.read_text(encoding="utf-8").replace("role: latency", "role: slow"),
                         encoding="utf-8")
        complaint = show(s.address("good"), "--mapping", table, status=2)[1]
        tap.check("site.yaml:6: 'role' must be" in complaint, complaint)


tap.main([("a misbehaving server is asked in smaller pieces, and again", pieces),
          ("passwords and tokens come from files", credentials),
          ("TLS", encrypted),
          ("trouble is told in words", trouble),
          ("a table for a site's own exporter", own_table),
          ("the same verdict through Prometheus", replayed_fault),
          ("the same verdict through VictoriaMetrics", replayed_victoria),
          ("the same disk by record and through node_exporter", same_disk)])
