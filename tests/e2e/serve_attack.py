#!/usr/bin/env python3
"""Malicious clients: whatever they do, the collector keeps receiving from an honest server,
its memory stays within limits, and each kind is counted."""
import http.client
import os
import resource
import socket
import sys
import threading
import time

from serve_rig import Collector, Place, Server, check_same, wait_for
import tap
from tap import check

# Bodies may take 256 MiB together, and grow by doubling.
MEMORY_MAX = 1500 << 20 if "asan" in os.environ.get("BUILD", "") else 600 << 20
IDLE = 10000
collector = server = token = None


def goes_on(what):
    """Samples of the honest server continue to arrive, and memory is within its limit."""
    before = collector.totals()["samples"]
    wait_for(f"samples during {what}", lambda: collector.totals()["samples"] > before + 10)
    used = collector.memory()
    check(used < MEMORY_MAX, f"{what}: the collector takes {used >> 20} MiB")


def grew(kind, before, n=1):
    wait_for(f"{kind} to be counted",
             lambda: collector.totals()["refused"][kind] >= before["refused"][kind] + n)


def connections(n):
    made = []
    for _ in range(n):
        s = socket.socket()
        s.settimeout(20)
        s.connect(("127.0.0.1", collector.port))
        made.append(s)
    return made


def close(sockets):
    for s in sockets:
        s.close()


def test_idle():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n = min(IDLE, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, n + 400)), hard))
    before = collector.totals()
    made = connections(min(n, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 300))
    try:
        goes_on(f"{len(made)} idle connections")
        grew("slow", before, len(made) // 2)  # they are disconnected
        goes_on("their end")
    finally:
        close(made)


def test_slow():
    """Headers that never end, one byte at a time; and a body of a known server that hardly progresses."""
    before = collector.totals()
    made = connections(200)
    ended = 0
    try:
        for s in made[:100]:
            s.sendall(b"PUT /api/v1/ingest/a/x?from=0&sum=0 HTTP/1.1\r\nHost: x\r\n")
        for _ in range(150):  # until all of them are disconnected
            for s in made:
                try:
                    s.send(b"X")
                except OSError:
                    ended += 1
            if ended >= len(made):
                break
            time.sleep(0.1)
        goes_on("slow requests")
        grew("slow", before, len(made))
    finally:
        close(made)


def test_bad_frames():
    """A flood of frames with wrong checksums, by a client that has a token."""
    before = collector.totals()
    evil = collector.enroll("evil")
    file = "evil-20261117T065509Z.lpa"
    ends = time.monotonic() + 3

    def flood(body):
        connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=60)
        while time.monotonic() < ends:
            connection.request("PUT", f"/api/v1/ingest/evil/{file}?from=0&sum=0", body=body,
                               headers={"Authorization": f"Bearer {evil}"})
            answer = connection.getresponse()
            check(answer.status == 400, "garbage was taken")
            answer.read()
        connection.close()

    threads = [threading.Thread(target=flood, args=(os.urandom(size),)) for size in (100, 100000, 3000000)]
    for t in threads:
        t.start()
    goes_on("floods of bad frames")
    for t in threads:
        t.join()
    grew("bad-frame", before, 10)


def test_tokens():
    before = collector.totals()
    for _ in range(300):
        status, _ = collector.request("PUT", "/api/v1/ingest/a/x?from=0&sum=0", body=b"x" * 10000, token="guess")
        check(status == 401, "a guess was right")
    goes_on("guesses")
    grew("token", before, 300)


def test_large():
    """Bodies that are too large, announced or without an end."""
    before = collector.totals()
    status, answer = collector.request("PUT", "/api/v1/ingest/a/x?from=0&sum=0", token=token,
                                       headers={"Content-Length": str(1 << 40)})
    check(status == 413 and "too large" in str(answer), (status, answer))
    status, answer = collector.request("PUT", "/api/v1/ingest/a/x?from=0&sum=0", token=token,
                                       headers={"Transfer-Encoding": "chunked"})
    check(status == 411, (status, answer))
    grew("body-too-large", before)
    # The maximum allowed, many times at the same time, and none of it ends.
    evil = collector.enroll("evil")
    made = connections(12)
    head = (f"PUT /api/v1/ingest/evil/evil-20261117T065509Z.lpa?from=0&sum=0 HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {evil}\r\nContent-Length: {32 << 20}\r\n\r\n").encode()
    threads = [threading.Thread(target=s.sendall, args=(head + bytes(24 << 20),)) for s in made]
    try:
        for t in threads:
            t.start()
        goes_on("bodies that do not end")
        for t in threads:
            t.join()
    finally:
        close(made)
    grew("aborted", before, 1)


def test_truncated():
    """Connections that break off in the middle of a body."""
    before = collector.totals()
    for _ in range(50):
        s = connections(1)[0]
        s.sendall((f"PUT /api/v1/ingest/a/a-20261117T065509Z.lpa?from=0&sum=0 HTTP/1.1\r\nHost: x\r\n"
                   f"Authorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\nabc").encode())
        s.close()
    goes_on("broken connections")
    grew("aborted", before, 50)


def test_noise():
    """Data that is not HTTP."""
    for body in (os.urandom(5000), b"\x16\x03\x01" + bytes(300), b"GET / HTTP/9\r\n\r\n", b"A" * 100000,
                 b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b"\r\n" * 5000):
        for s in connections(20):
            try:
                s.sendall(body)
            except OSError:
                pass
            s.close()
    for path in ("/", "/api/v1/ingest/..%2f..%2fetc%2fpasswd/x", "/api/v1/ingest/%00/x", "/%2e%2e/etc/passwd",
                 "/api/v1/ingest/" + "a" * 900):
        status, _ = collector.request("GET", path, token=token)
        check(status in (200, 400, 403, 404), f"{path}: {status}")
    goes_on("noise")


def test_rebinding():
    """A foreign page, in a browser on this machine, gets no data."""
    status, _ = collector.request("GET", "/api/v1/ingest", headers={"Host": "evil.example"})
    check(status == 401, "a name that a stranger's name server gave us is taken for ours")
    status, _ = collector.request("GET", "/api/v1/ingest", headers={"Origin": "http://evil.example"})
    check(status == 403, "requests of a stranger's page are answered")


def test_same():
    server.stop()
    wait_for("the copy", lambda: all(f["complete"] for f in collector.has("a", token).values()))
    check_same(server, collector.data)


def main():
    global collector, server, token
    with Place() as place, Collector(place.sub("data")) as collector:
        token = collector.enroll("a")
        with Server(place.sub("a"), "a", collector.url, "--token", place.file("token", token)) as server:
            wait_for("samples", lambda: collector.totals()["samples"] > 5)
            tap.main([case for case in (
                ("idle connections, ten thousand", test_idle),
                ("requests that never end", test_slow),
                ("floods of bad frames", test_bad_frames),
                ("guessed tokens", test_tokens),
                ("bodies that are too large", test_large),
                ("connections that break", test_truncated),
                ("what is no HTTP", test_noise),
                ("pages of strangers", test_rebinding),
                ("after all that, the copy is the same", test_same),
            ) if len(sys.argv) < 2 or sys.argv[1] in case[1].__name__])


main()
