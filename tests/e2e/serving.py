"""Shared by the end-to-end tests of the collector: start it, query it, and stop it."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from tap import check

SOURCE = pathlib.Path(os.environ["SOURCE"])
LIMPET = os.environ["LIMPET"]
RECORDINGS = SOURCE / "recordings"


class Collector:
    """`limpet serve` on a free port of this machine; ends with the block."""

    def __init__(self, *options, log):
        self.options, self.log, self.process, self.url = options, pathlib.Path(log), None, None

    def start(self, listen="127.0.0.1:0"):
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([LIMPET, "serve", "--listen", listen, *map(str, self.options)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(200):
            found = re.search(r"serving (\S+),", self.log.read_text(encoding="utf-8"))
            if found:
                self.url = found.group(1)
                return self
            check(self.process.poll() is None, f"limpet serve ended: {self.log.read_text()}")
            time.sleep(0.05)
        raise AssertionError(f"limpet serve does not begin: {self.log.read_text()}")

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        return self.process.returncode

    def ask(self, path, method="GET", body=None, raw=False, **query):
        """(status, answer) of a request; the answer is JSON unless `raw`."""
        query = {k: v for k, v in query.items() if v is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, got = answer.status, answer.read()
        except urllib.error.HTTPError as e:
            status, got = e.code, e.read()
        return status, got if raw else json.loads(got)

    def get(self, path, **query):
        status, answer = self.ask(path, **query)
        check(status == 200, f"{path} {query}: {status} {answer}")
        return answer

    def wait(self, what, condition, seconds=40):
        """Wait until condition() is true; returns its result."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got = condition()
            if got:
                return got
            time.sleep(0.1)
        raise AssertionError(f"{what} did not happen within {seconds} s: {self.log.read_text()[-2000:]}")

    def wait_incident(self, **query):
        return self.wait("an incident", lambda: self.get("/api/v1/incidents", **query)["incidents"])[0]
