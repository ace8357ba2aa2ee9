#!/usr/bin/env python3
"""Alerts of the collector: to Debian's Alertmanager, to a webhook that is away at first, and to a command; each is
delivered, and an incident that is over is resolved. Debian's Prometheus scrapes the metrics, and one of its rules fires."""
import contextlib
import http.server
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
import urllib.parse
import urllib.request

from serving import LIMPET, RECORDINGS, SOURCE, Collector
from tap import Skip, check, main, run

DIR = tempfile.TemporaryDirectory(prefix="limpet-alerts-")
ROOT = pathlib.Path(DIR.name)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def program(*command, ready):
    """A server that runs until the block ends; the block begins when `ready` is answered."""
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed (scripts/deps.sh installs it)")
    with open(ROOT / (command[0] + ".log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT)
    try:
        for _ in range(300):
            check(process.poll() is None, (ROOT / (command[0] + ".log")).read_text()[-2000:])
            try:
                with urllib.request.urlopen(ready, timeout=2):
                    break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError(f"{command[0]} does not answer")
        yield process
    finally:
        process.terminate()
        process.wait(20)


@contextlib.contextmanager
def alertmanager():
    port = free_port()
    (ROOT / "am.yml").write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    with program("prometheus-alertmanager", "--config.file=am.yml", f"--storage.path={ROOT / 'am'}",
                 f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=",
                 ready=f"http://127.0.0.1:{port}/-/ready"):
        yield f"http://127.0.0.1:{port}"


class Hook(http.server.BaseHTTPRequestHandler):
    """Receives JSON; refuses it as long as the server's `refuse` is above 0."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        self.server.refuse -= 1
        self.send_response(503 if self.server.refuse >= 0 else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def webhook(refuse=0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.seen, server.refuse = [], refuse
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/hook/secret"
    finally:
        server.shutdown()
        server.server_close()


def script(name, text):
    path = ROOT / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def slow_disk(path):
    """40 minutes of six disks, one of which is slow from the 10th to the 14th minute."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("time,component,metric,value\n")
        for second in range(2400):
            for disk in range(6):
                value = 5 + (second * 7 + disk * 3) % 5 * 0.1
                value *= 8 if disk == 2 and 600 <= second < 840 else 1
                out.write(f"{1300000000 + second},oss{disk}/disk:sda,await,{value:.1f}\n")


def alerts_of(url):
    with urllib.request.urlopen(url + "/api/v2/alerts?active=true", timeout=10) as answer:
        return json.load(answer)


def test_everywhere():
    data = ROOT / "slow.csv"
    slow_disk(data)
    took = ROOT / "took"
    command = script("page", f'cat >> {took}; echo >> {took}; echo "$LIMPET_CHANGE $LIMPET_LEVEL $LIMPET_WHAT" >> {took}.env\n')
    (ROOT / "token").write_text("s3cret\n")
    with alertmanager() as manager, webhook(refuse=1) as (hook, hook_url):
        config = ROOT / "alerts.yaml"
        config.write_text(f"page: http://collector.example:9700/\ntargets:\n  - name: ops\n    alertmanager: {manager}\n"
                          f"  - name: chat\n    webhook: {hook_url}\n    token_file: {ROOT / 'token'}\n"
                          f"  - name: pager\n    command: [{command}]\n    level: critical\n")
        with Collector("--replay", data, "--speed", "100", "--alerts", config, log=ROOT / "serve.log") as serve:
            fired = serve.wait("an alert at Alertmanager", lambda: alerts_of(manager))
            labels, notes = fired[0]["labels"], fired[0]["annotations"]
            check(labels["alertname"] == "LimpetIncident" and labels["severity"] == "critical" and
                  labels["instance"] == "oss2" and labels["part"] == "oss2/disk:sda", f"{labels}")
            check("oss2: disk sda is slow" in notes["summary"] and "its peers" in notes["description"], f"{notes}")
            check(fired[0]["generatorURL"] == f"http://collector.example:9700/?incident={labels['incident']}", f"{fired}")
            serve.wait("the end of the incident", lambda: serve.get("/api/v1/incidents", state="ended")["incidents"])
            serve.wait("the alert to be resolved", lambda: not alerts_of(manager))
            serve.wait("the webhook to hear of the end", lambda: [b for _, _, b in hook.seen if b["change"] == "ended"])
            metrics = serve.ask("/metrics", raw=True)[1].decode()
            check('limpet_alerts_total{target="chat",result="failed"} 1' in metrics, "the failure is not counted")
        changes = [body["change"] for _, _, body in hook.seen]
        check(changes[:2] == ["opened", "opened"] and changes[-1] == "ended", f"not tried again: {changes}")
        path, token, body = hook.seen[0]
        check(path == "/hook/secret" and token == "Bearer s3cret", f"{path} {token}")
        check(body["link"].endswith(f"/?incident={body['incident']['id']}") and body["incident"]["evidence"], f"{body}")
        lines = [json.loads(line) for line in took.read_text().splitlines() if line]
        check([x["change"] for x in lines][0] == "opened" and lines[-1]["change"] == "ended", f"{lines}")
        check((ROOT / "took.env").read_text().startswith("opened critical oss2: disk sda is slow"), "the environment is another one")
        log = (ROOT / "serve.log").read_text()
        check("alerts to 'chat' fail" in log and "go through again" in log, log)
        check("s3cret" not in log and "/hook/secret" not in log, "a secret is in the log")


def test_queue_survives():
    """Waiting alerts are not lost when the collector is killed, and neither are comments."""
    data = ROOT / "data"
    shutil.copytree(RECORDINGS / "ddr-disk-busy-1", data)
    port = free_port()
    config = ROOT / "away.yaml"
    config.write_text(f"targets:\n  - name: chat\n    webhook: http://127.0.0.1:{port}/x\n")
    serve = Collector("--data", data, "--alerts", config, "--look-back", "9000d", log=ROOT / "killed.log")
    with serve:
        number = serve.wait_incident()["id"]
        serve.ask(f"/api/v1/incidents/{number}/ack", "POST", {"by": "ann", "comment": "mine"})
        serve.stop(signal.SIGKILL)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Hook)
        server.seen, server.refuse = [], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            serve.start()
            kept = serve.get(f"/api/v1/incidents/{number}")
            check(kept["acknowledged"]["by"] == "ann" and kept["openings"] == 1, f"{kept}")
            serve.wait("the alert that waited", lambda: server.seen)
            check([b["change"] for _, _, b in server.seen] == ["opened"], f"{server.seen}")
            check(len(serve.get("/api/v1/incidents", state="all")["incidents"]) == 1, "the incident was opened again")
        finally:
            server.shutdown()
            server.server_close()


def test_try():
    with webhook() as (hook, url):
        good, bad = script("good", "grep -q '\"change\":\"test\"'\n"), script("bad", "exit 3\n")
        config = ROOT / "try.yaml"
        config.write_text(f"targets:\n  - name: chat\n    webhook: {url}\n  - name: good\n    command: [{good}]\n"
                          f"  - name: bad\n    command: [{bad}]\n")
        out = run(LIMPET, "serve", "test-alert", "--alerts", config, status=1)
        check("chat: delivered\n" in out and "good: delivered\n" in out and "bad: failed: " in out and "ended with 3" in out, out)
        check(hook.seen[0][2]["change"] == "test", f"{hook.seen}")
        check(run(LIMPET, "serve", "test-alert", "--alerts", config, "good") == "good: delivered\n", "more than one was sent")
    config.write_text("targets:\n  - name: chat\n    webhok: http://x\n")
    done = subprocess.run([LIMPET, "serve", "test-alert", "--alerts", config], capture_output=True, text=True, check=False)
    check(done.returncode == 2 and f"{config}:3: " in done.stderr and "did you mean 'webhook'?" in done.stderr, done.stderr)


def dashboard_check(port, metrics):
    """Prometheus understands every query of the dashboard, and all of its metrics exist."""
    board = json.loads((SOURCE / "data/grafana-limpet.json").read_text(encoding="utf-8"))
    known = set(re.findall(r"^# TYPE (\S+)", metrics, re.M)) | {"limpet_alerts_waiting"}
    empty = 0
    for target in (t for panel in board["panels"] for t in panel["targets"]):
        names = set(re.findall(r"\b(?:limpet|process)_\w+", target["expr"]))
        check(names <= known, f"{target['expr']}: there is no {names - known}")
        query = urllib.parse.urlencode({"query": target["expr"].replace("$job", ".*")})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
            empty += not json.load(answer)["data"]["result"]
    check(empty <= 2, f"{empty} queries of the dashboard find nothing")


def test_prometheus():
    """Prometheus scrapes, its rule fires, and its own Alertmanager gets the alert."""
    with alertmanager() as manager, Collector("--replay", RECORDINGS / "ddr-disk-busy-1", "--speed", "60",
                                              log=ROOT / "scraped.log") as serve:
        port = free_port()
        (ROOT / "rules.yml").write_text(
            "groups:\n- name: limpet\n  rules:\n  - alert: ComponentLimps\n"
            "    expr: sum by (cause) (limpet_incidents{level=\"critical\", muted=\"false\"}) > 0\n"
            "    labels: {severity: critical}\n    annotations: {summary: 'limpet: {{ $labels.cause }}'}\n")
        (ROOT / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\n"
            f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{manager[7:]}']}}]}}]}}\n"
            f"scrape_configs: [{{job_name: limpet, static_configs: [{{targets: ['{serve.url[7:]}']}}]}}]\n")
        with program("prometheus", "--config.file=prometheus.yml", f"--storage.tsdb.path={ROOT / 'tsdb'}",
                     f"--web.listen-address=127.0.0.1:{port}", ready=f"http://127.0.0.1:{port}/-/ready"):
            def firing():
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=10) as answer:
                    return [a for a in json.load(answer)["data"]["alerts"] if a["state"] == "firing"]

            fired = serve.wait("the rule to fire", firing)
            check(fired[0]["labels"]["cause"] == "disk-busy", f"{fired}")
            serve.wait("Prometheus' alert at Alertmanager", lambda: alerts_of(manager))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/targets", timeout=10) as answer:
                target = json.load(answer)["data"]["activeTargets"][0]
            check(target["health"] == "up" and not target["lastError"], f"{target}")
            dashboard_check(port, serve.ask("/metrics", raw=True)[1].decode())


if __name__ == "__main__":
    os.environ.pop("http_proxy", None)
    main([("Alertmanager, webhook and command", test_everywhere), ("the queue survives kill -9", test_queue_survives),
          ("test-alert", test_try), ("Prometheus", test_prometheus)])
