"""Shared by tests of the collector: one that runs, servers that send to it, and raw requests."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse

from program import LIMPET
from tap import check, run

FAST = ("--interval", "100ms", "--flush", "100ms", "--collect", "host,netdev", "--quiet")


def wait_for(what, condition, seconds=60):
    """Wait until a condition is true; returns its result."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for: {what}")


class Place:
    """A directory for everything, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="limpet-serve-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def sub(self, name):
        path = os.path.join(self.path, name)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, name, text, mode=0o600):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path, mode)
        return path


class Collector:
    """`limpet serve`, which keeps its port when it is killed and started again."""

    def __init__(self, data, *options, scheme="http"):
        self.data, self.options, self.scheme = data, options, scheme
        self.port, self.process = 0, None
        self.log = data.rstrip("/") + ".log"
        self.start()

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            seen = log.tell()
            self.process = subprocess.Popen(
                [LIMPET, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
                 *self.options], stderr=log, stdin=subprocess.DEVNULL)
        match = wait_for("the collector", lambda: self._url(seen))
        self.port = int(match)
        return self

    def _url(self, seen):
        check(self.process.poll() is None, f"the collector ended: {self.said()}")
        with open(self.log, encoding="utf-8") as f:
            f.seek(seen)
            match = re.search(r"serving https?://[0-9.]+:(\d+)", f.read())
        return match and match[1]

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def said(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            check(self.process.wait(timeout=60) == 0, f"the collector failed: {self.said()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def request(self, method, path, body=None, token=None, headers=None):
        """(status, parsed answer) of one request on a separate connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text.strip()[:1] in (b"{", b"[") else text

    def totals(self):
        return self.request("GET", "/api/v1/ingest")[1]

    def has(self, observer, token=None):
        """{file: entry} of the files of a server."""
        status, answer = self.request("GET", f"/api/v1/ingest/{observer}", token=token)
        check(status == 200, answer)
        return {f["file"]: f for f in answer["files"]}

    def put(self, observer, file, body, token=None, start=0, total="0", last=False):
        query = f"from={start}&sum={total}" + ("&last=1" if last else "")
        return self.request("PUT", f"/api/v1/ingest/{observer}/{urllib.parse.quote(file)}?{query}",
                            body=body, token=token)

    def enroll(self, name, *options):
        return run(LIMPET, "serve", "enroll", "--data", self.data, *options, name).strip()

    def memory(self):
        """Bytes of memory in use."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1]) * 1024


class Server:
    """`limpet record --send`."""

    def __init__(self, directory, name, url, *options, fast=FAST, env=None):
        self.directory, self.name, self.url, self.options = directory, name, url, (*fast, *options)
        self.env = {**os.environ, **(env or {})}
        self.log = directory.rstrip("/") + ".log"
        self.start()

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [LIMPET, "record", "-o", self.directory, "-n", self.name, "--send", self.url,
                 *self.options], stderr=log, stdin=subprocess.DEVNULL, env=self.env)

    def said(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=90)
        check(code == 0, f"the recorder ended with {code}: {self.said()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def archives(directory):
    return sorted(f for f in os.listdir(directory) if f.endswith(".lpa"))


def csv(directory, name=None):
    """All samples of a directory's archives (of one server)."""
    files = [os.path.join(directory, f) for f in archives(directory)
             if not name or f.startswith(name + "-")]
    return run(LIMPET, "show", "--csv", *files)


def check_same(server, collector_dir):
    """The collector has the same data as the server, file by file and sample by sample."""
    mine = archives(server.directory)
    theirs = [f for f in archives(collector_dir) if f.startswith(server.name + "-")]
    check(mine == theirs, f"the server has {mine}, the collector {theirs}")
    for file in mine:
        for directory in (server.directory, collector_dir):
            run(LIMPET, "check", os.path.join(directory, file))
    ours, copy = csv(server.directory), csv(collector_dir, server.name)
    check(ours.count("\n") > 10, "the server has next to no samples")
    check(ours == copy, "the samples differ")
    return ours.count("\n")


def complete(collector, name):
    """Does the collector have all of a server's files, to their ends?"""
    files = collector.has(name)
    return files and all(f["complete"] for f in files.values())


def away(place, clock, record, absent):
    """A collector is away while `absent(server)` waits, and the recorder begins new files meanwhile. In the end both
    have the same data. Returns the numbers of files and samples."""
    with Collector(place.sub("data")) as collector:
        with Server(place.sub("a"), "a", collector.url, *record, fast=(), env=clock.env) as server:
            wait_for("samples", lambda: collector.totals()["samples"] > 5)
            collector.kill()
            before = len(archives(server.directory))
            absent(server)
            check(server.process.poll() is None, f"the recorder has ended: {server.said()}")
            check(len(archives(server.directory)) > before, "the recorder began no file meanwhile")
            collector.start()
            wait_for("the files of the absence", lambda: len(collector.has("a")) >= len(archives(server.directory)), 120)
            server.stop()
            wait_for("the copies", lambda: complete(collector, "a"))
            check(collector.totals()["refused"]["replay"] == 0, "something was sent twice")
            return len(archives(server.directory)), check_same(server, collector.data)


def frames_of(path):
    """(file header, [frame bytes]) of an archive; an index at its end is left out."""
    with open(path, "rb") as f:
        data = f.read()
    at, frames = 16, []
    while at + 44 <= len(data) and data[at:at + 4] == b"\xf5LPF":
        size = 44 + int.from_bytes(data[at + 8:at + 12], "little")
        if data[at + 4] != 4:
            frames.append(data[at:at + size])
        at += size
    return data[:16], frames


CRC = []


def crc32c(data, crc=0):
    """Castagnoli's, continued from `crc`."""
    if not CRC:
        for i in range(256):
            for _ in range(8):
                i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
            CRC.append(i)
    crc ^= 0xffffffff
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def sum_of(frames):
    """The sum of frames in the protocol: a checksum over their headers."""
    total = 0
    for frame in frames:
        total = crc32c(frame[:44], total)
    return f"{total:08x}"
