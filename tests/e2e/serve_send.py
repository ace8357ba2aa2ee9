#!/usr/bin/env python3
"""Servers send their archives to a collector: if either side is killed or away, in the end both have the
same samples; and invalid data is refused, with a reason, and counted."""
import os
import random
import subprocess
import sys
import time

from fakeclock import FakeClock
from program import LIMPET
from serve_rig import (Collector, Place, Server, archives, away, check_same, complete, crc32c, frames_of,
                       sum_of, wait_for)
import tap
from tap import Skip, check, run

KILLS = 50
random.seed(15)


def test_plain():
    """It arrives while it is recorded, and the copy is sealed like the original."""
    with Place() as place, Collector(place.sub("data")) as collector:
        with Server(place.sub("a"), "a", collector.url) as server:
            wait_for("samples", lambda: collector.totals()["samples"] > 10)
            check(not complete(collector, "a"), "it cannot be complete while it is recorded")
            server.stop()
            check("cannot send" not in server.said(), server.said())
            wait_for("the copy", lambda: complete(collector, "a"))
            wait_for("sealing", lambda: collector.totals()["unsealed"] == 0)
            check_same(server, collector.data)
            check(not [f for f in os.listdir(collector.data) if f.endswith(".whole")], "a mark is left")
        check(collector.totals()["refused"]["replay"] == 0, "something was sent twice")


def test_killed():
    """The collector is killed at random moments, and stays away for a while."""
    with Place() as place, Collector(place.sub("data")) as collector:
        with Server(place.sub("a"), "a", collector.url) as server:
            for _ in range(KILLS):
                time.sleep(random.random() * 0.3)
                collector.kill()
                if random.random() < 0.1:
                    time.sleep(random.random())
                collector.start()
            collector.kill()
            time.sleep(3)
            check(server.process.poll() is None, "the recorder has ended")
            collector.start()
            before = collector.totals()["samples"]
            wait_for("samples after an absence", lambda: collector.totals()["samples"] > before + 5, 90)
            server.stop()
            wait_for("the copy", lambda: complete(collector, "a"))
            check_same(server, collector.data)


def test_away():
    """The collector is away for two days of a clock that runs 14,400 times as fast, so that files rotate."""
    with Place() as place:
        clock = FakeClock(os.path.join(place.path, "clock"), wall=1794000000, rate=14400)
        files, _ = away(place, clock, ("--interval", "10m", "--flush", "10m", "--collect", "host,netdev", "--quiet"),
                        lambda server: wait_for("two days", lambda: len(archives(server.directory)) >= 3))
        check(files >= 3, f"{files} files")


def test_recorder_killed():
    """The recorder is killed and continues its file; the data that exists when it starts is sent."""
    with Place() as place, Collector(place.sub("data")) as collector:
        with Server(place.sub("a"), "a", collector.url) as server:
            for _ in range(5):
                before = collector.totals()["samples"]
                wait_for("samples", lambda: collector.totals()["samples"] > before + 3)
                server.kill()
                server.start()
            collector.kill()
            time.sleep(1)
            server.stop()  # while there is no collector
            check("not everything has arrived" in server.said(), server.said())
            collector.start()
            server.start()
            wait_for("what was missing", lambda: "answers again" in server.said() or
                     len(collector.has("a")) >= 2)
            time.sleep(0.5)
            server.stop()
            wait_for("the copies", lambda: complete(collector, "a"))
            check(len(archives(server.directory)) == 2, "a file that is closed is not gone on with")
            check_same(server, collector.data)


def test_data_lost():
    """A collector that lost everything gets everything again."""
    with Place() as place, Collector(place.sub("data")) as collector:
        with Server(place.sub("a"), "a", collector.url) as server:
            wait_for("samples", lambda: collector.totals()["samples"] > 5)
            collector.kill()
            for name in archives(collector.data):
                os.unlink(os.path.join(collector.data, name))
            collector.start()
            wait_for("samples", lambda: collector.totals()["samples"] > 5)
            # Damage at the end of a copy is also cut off, and sent again.
            collector.kill()
            path = os.path.join(collector.data, archives(collector.data)[0])
            size = os.path.getsize(path)
            with open(path, "r+b") as f:
                f.seek(size - 100)
                f.write(b"x" * 50)
            collector.start()
            wait_for("samples", lambda: collector.totals()["samples"] > 5)
            server.stop()
            wait_for("the copy", lambda: complete(collector, "a"))
            check_same(server, collector.data)


def recorded(place, name):
    """A small archive, loose as during recording: (file name, frames)."""
    directory = place.sub("made-" + name)
    process = subprocess.Popen([LIMPET, "record", "-o", directory, "-n", name, "--interval", "100ms",
                                "--flush", "100ms", "--collect", "host", "--quiet"])
    try:
        wait_for("frames", lambda: archives(directory) and
                 len(frames_of(os.path.join(directory, archives(directory)[0]))[1]) > 6)
    finally:
        process.kill()
        process.wait()
    file = archives(directory)[0]
    return file, frames_of(os.path.join(directory, file))[1]


def refused(answer, status, words):
    check(answer[0] == status and words in str(answer[1]), f"expected {status} '{words}': {answer}")


def test_refused():
    with Place() as place, Collector(place.sub("data")) as collector:
        token = collector.enroll("a")
        other = collector.enroll("b")
        file, frames = recorded(place, "a")
        body = b"".join(frames[:3])
        put = lambda *args, **options: collector.put(*args, **{"token": token, **options})  # noqa: E731
        refused(put("a", file, body, token="lps_wrong"), 401, "token")
        refused(put("a", file, body, token=None), 401, "token")
        refused(put("a", file, body, token=other), 403, "cannot write as")
        refused(put("b", file.replace("a-", "b-", 1), body), 403, "cannot write as")
        refused(put("a", "../../etc/passwd", body), 400, "not OBSERVER/FILE")
        refused(put("a", "passwd", body), 400, "not the name of an archive")
        refused(put("a", file, body, start=3), 409, "there is no data of")
        refused(put("b", file.replace("a-", "b-", 1), body, token=other), 403, "of 'a', not of 'b'")
        check(put("a", file, body)[0] == 200, "a good one is refused")
        refused(put("a", file, body), 409, "exists already")
        refused(put("a", file, frames[5], start=5, total=sum_of(frames[:5])), 409, "missing")
        refused(put("a", file, frames[3], start=3, total="12345678"), 409, "another file")
        place3 = {"start": 3, "total": sum_of(frames[:3])}
        bad = bytearray(frames[3])
        bad[50] ^= 1
        refused(put("a", file, bytes(bad), **place3), 400, "bad-frame")
        refused(put("a", file, frames[3][:-1], **place3), 400, "truncated")
        refused(put("a", file, frames[3] + b"tail", **place3), 400, "truncated")
        # A frame of a few bytes that unpacks to 256 MiB, with correct checksums.
        head = bytes([1, 0, 0x80, 0x80, 0x80, 0x80, 1, 0, 0, 0, 0])
        header = (b"\xf5LPF" + bytes([2, 2, 0, 0]) + len(head).to_bytes(4, "little") * 2 +
                  crc32c(head).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(16))
        bomb = header + crc32c(header).to_bytes(4, "little") + head
        refused(put("a", file, bomb, **place3), 413, "bomb")
        refused(put("a", file, b"x", start="x", total="1"), 400, "it should be")
        check(put("a", file, frames[3], **place3)[0] == 200, "what follows is refused")
        check(frames_of(os.path.join(collector.data, file))[1] == frames[:4], "something else was kept")
        counts = collector.totals()["refused"]
        for kind, n in {"token": 2, "wrong-name": 3, "bad-request": 3, "gap": 2, "replay": 1,
                        "other-file": 1, "bad-frame": 1, "truncated": 2, "bomb": 1}.items():
            check(counts[kind] == n, f"{kind} was counted {counts[kind]} times, not {n}: {counts}")


def test_told():
    """The server prints why it is refused, and continues recording."""
    with Place() as place, Collector(place.sub("data")) as collector:
        collector.enroll("a")
        token = place.file("token", "lps_nobody\n")
        with Server(place.sub("a"), "a", collector.url, "--token", token) as server:
            wait_for("a refusal", lambda: "token is not one" in server.said())
            before = os.path.getsize(os.path.join(server.directory, archives(server.directory)[0]))
            wait_for("samples", lambda: os.path.getsize(os.path.join(
                server.directory, archives(server.directory)[0])) > before)
            server.stop()
            check(server.said().count("token is not one") == 1, server.said())


def test_urls():
    with Place() as place:
        for url, words in {"http://collector.example:9700": "unencrypted",
                           "http://127.0.0.1.example.com/": "unencrypted",
                           "collector:9700": "not a URL", "ftp://localhost/": "neither",
                           "https://u:secret@localhost/": "visible to every user"}.items():
            done = subprocess.run([LIMPET, "record", "-o", place.sub("x"), "--send", url, "-d", "1s"],
                                  capture_output=True, text=True, check=False, timeout=60)
            check(done.returncode == 2 and words in done.stderr, f"{url}: {done}")


def test_disk_full():
    """The collector's disk is full: both sides report it, nothing is lost, others continue."""
    with Place() as place:
        data = place.sub("data")
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "limpet-serve",
                                                data], check=False).returncode:
            raise Skip("cannot mount a small file system (not root?)")
        try:
            ballast = os.path.join(data, "ballast")
            with Collector(data) as collector, Server(place.sub("a"), "a", collector.url) as server:
                wait_for("samples", lambda: collector.totals()["samples"] > 5)
                with open(ballast, "wb") as f:
                    try:
                        f.write(bytes(1 << 20))
                        f.flush()
                    except OSError:
                        pass
                wait_for("a full disk", lambda: collector.totals()["disk_failing"], 60)
                check("servers keep it and send it later" in collector.said(), collector.said())
                wait_for("the server's word", lambda: "disk: cannot write" in server.said())
                wait_for("a few attempts", lambda: collector.totals()["refused"]["disk"] >= 4)
                status = collector.request("GET", "/api/v1/status")[1]
                check("cannot write to its disk" in status["trouble"], status)
                check(server.said().count("disk: cannot write") == 1 and "answers again" not in server.said(),
                      f"it is reported more than once: {server.said()}")
                check(collector.totals()["refused"]["disk"] < 50, "the server does not wait longer and longer")
                os.unlink(ballast)
                wait_for("room", lambda: not collector.totals()["disk_failing"], 90)
                server.stop()
                wait_for("the copy", lambda: complete(collector, "a"))
                check_same(server, data)
                check("works again" in collector.said(), collector.said())
                check(server.said().count("answers again") == 1, server.said())
                check(collector.request("GET", "/api/v1/status")[1]["trouble"] is None, "there is trouble still")
        finally:
            subprocess.run(["umount", "-l", data], check=False)


def test_kept():
    """Old archives are removed at the collector, and not sent again."""
    with Place() as place, Collector(place.sub("data"), "--keep-bytes", "1") as collector:
        with Server(place.sub("a"), "a", collector.url) as server:
            for _ in range(3):
                before = collector.totals()["samples"]
                wait_for("samples", lambda: collector.totals()["samples"] > before + 3)
                server.stop()
                time.sleep(1.1)  # the next file has another second in its name
                server.start()
            wait_for("the newest only", lambda: len(archives(collector.data)) == 1)
            before = collector.totals()["samples"]
            wait_for("samples", lambda: collector.totals()["samples"] > before + 3)
            check(len(archives(collector.data)) == 1, "an old file was sent again")
            check(len(archives(server.directory)) == 4, "the server has its own limits")
            server.stop()


def test_trace():
    """Traces are sent in the same way."""
    with Place() as place, Collector(place.sub("data")) as collector:
        directory = place.sub("traces")
        process = subprocess.run([LIMPET, "trace", "syscalls", "--backend", "ptrace", "--records", "-n", "a",
                                  "-o", directory, "--send", collector.url, "--", "sh", "-c",
                                  "for i in 1 2 3; do cat /etc/passwd >/dev/null; sleep 0.7; done"],
                                 capture_output=True, text=True, check=False, timeout=120)
        check(process.returncode == 0, process)
        file, = archives(directory)
        check(file.startswith("a-syscalls-") and "sent" in process.stderr, f"{file}: {process}")
        wait_for("the copy", lambda: complete(collector, "a"))
        calls = [run(LIMPET, "show", "--calls", os.path.join(d, file)) for d in (directory, collector.data)]
        check("/etc/passwd" in calls[0] and calls[0] == calls[1], "the calls differ")
        done = subprocess.run([LIMPET, "trace", "syscalls", "-o", place.path + "/x.lpa", "--send", collector.url,
                               "--", "true"], capture_output=True, text=True, check=False, timeout=60)
        check(done.returncode == 2 and "needs a directory" in done.stderr, done)


def test_enroll():
    with Place() as place:
        data = place.sub("data")
        token = run(LIMPET, "serve", "enroll", "--data", data, "oss3").strip()
        check(token.startswith("lps_") and len(token) == 47, token)
        with open(os.path.join(data, ".tokens"), encoding="ascii") as f:
            check(token not in f.read(), "the token itself is kept")
        again = run(LIMPET, "serve", "enroll", "--data", data, "oss3").strip()
        check(again != token, "a new token is the old one")
        for name in ("a/b", "-x", "", "a b", "x-syscalls"):
            run(LIMPET, "serve", "enroll", "--data", data, "--", name, status=2)
        run(LIMPET, "serve", "enroll", "--data", data, "--revoke", "nobody", status=2)
        run(LIMPET, "serve", "enroll", "--data", data, "--revoke", "oss3")


CASES = [
    ("what is recorded arrives, and is sealed on both sides", test_plain),
    (f"a collector that is killed {KILLS} times and goes away has everything in the end", test_killed),
    ("a collector that is away while the recorder begins new files", test_away),
    ("a recorder that is killed, and stopped while nobody is there", test_recorder_killed),
    ("a collector that lost or damaged its copy", test_data_lost),
    ("what is wrong is refused, with a reason, and counted", test_refused),
    ("the server says why it is refused", test_told),
    ("URLs that would give something away", test_urls),
    ("a full disk at the collector", test_disk_full),
    ("old archives", test_kept),
    ("traces", test_trace),
    ("tokens", test_enroll),
]
tap.main([c for c in CASES if len(sys.argv) < 2 or sys.argv[1] in c[1].__name__])
