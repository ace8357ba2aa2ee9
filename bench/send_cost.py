#!/usr/bin/env python3
"""send_cost.py: how much sending adds to the cost of recording.

    bench/send_cost.py [-t SECONDS] [-r ROUNDS]

Runs four recorders at the same time for SECONDS, ROUNDS times: with the defaults, with --flush 1s, and with --send to a
collector on this machine, over HTTP and over HTTPS with a token. Prints CPU (user and system, of all threads) per
sample, of one sample per second, and the ratio to the recorder that flushes as often but does not send; the first
seconds are printed separately. Ratios hold on a busy machine, too, because all of them run at the same time; the
figures themselves do not. Needs $BUILD (default: build).
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
LIMPET = BUILD / "src/cli/limpet"
START = 5  # seconds until everything is connected, which are reported separately


def collector(place, name, *options):
    """(process, port) of a collector."""
    log = place / f"{name}.log"
    process = subprocess.Popen([LIMPET, "serve", "--data", place / name, "--listen", "127.0.0.1:0", *options],
                               stderr=open(log, "w", encoding="utf-8"))
    while True:
        time.sleep(0.1)
        port = re.search(r"127.0.0.1:(\d+), archives", log.read_text(encoding="utf-8"))
        if port:
            return process, port[1]
        if process.poll() is not None:
            raise SystemExit(log.read_text(encoding="utf-8"))


def record(place, name, options, seconds):
    return subprocess.Popen([LIMPET, "record", "-q", "--json", "-o", place / f"{name}-own", "-n", name, "-d", f"{seconds}s",
                             *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def cpu(process):
    """CPU time of all its threads, in nanoseconds."""
    total = 0
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total


def finish(process):
    """Peak memory in MB."""
    process.stdout.read()
    return os.wait4(process.pid, 0)[2].ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--seconds", type=int, default=60)
    parser.add_argument("-r", "--rounds", type=int, default=3)
    args = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="limpet-send-cost-"))
    started = []
    try:
        cert, key = place / "cert.pem", place / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=collector", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", cert], check=True, capture_output=True)
        plain, port = collector(place, "plain")
        started.append(plain)
        tls, tls_port = collector(place, "tls", "--tls-cert", cert, "--tls-key", key)
        started.append(tls)
        token = place / "token"
        token.write_text(subprocess.run([LIMPET, "serve", "enroll", "--data", place / "tls", "https"], check=True,
                                        capture_output=True, text=True).stdout)
        token.chmod(0o600)
        kinds = {"default": [], "flush": ["--flush", "1s"], "http": ["--send", f"http://127.0.0.1:{port}"],
                 "https": ["--send", f"https://127.0.0.1:{tls_port}", "--send-ca", cert, "--token", token]}
        figures = {kind: [] for kind in kinds}
        for _ in range(args.rounds):
            running = {kind: record(place, kind, options, args.seconds + START + 2)
                       for kind, options in kinds.items()}
            time.sleep(START)
            before = {kind: cpu(process) for kind, process in running.items()}
            time.sleep(args.seconds)
            after = {kind: cpu(process) for kind, process in running.items()}
            for kind, process in running.items():
                figures[kind].append(((after[kind] - before[kind]) / args.seconds / 1000, before[kind] / 1e6,
                                      finish(process)))
        base = statistics.median(f[0] for f in figures["flush"])
        print(f"{'':8} {'us/sample':>10} {'ratio':>6} {'start ms':>9} {'peak MB':>8}   ({args.rounds} rounds of "
              f"{args.seconds} s)")
        for kind, rows in figures.items():
            cost = statistics.median(r[0] for r in rows)
            start = statistics.median(r[1] for r in rows)
            print(f"{kind:8} {cost:10.0f} {cost / base:6.2f} {start:9.0f} {max(r[2] for r in rows):8.1f}")
    finally:
        for process in started:
            process.terminate()
            process.wait()
        shutil.rmtree(place)


main()
