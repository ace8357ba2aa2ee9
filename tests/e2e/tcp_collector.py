#!/usr/bin/env python3
"""The tcp collector and real sockets: its data must match what the test did, and what getsockopt(TCP_INFO) returns for
the test's own sockets."""
import ctypes
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import tap
from tap import Skip, check

DUMP = os.environ["BUILD"] + "/tests/e2e/dump_collector"
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


class Collector:
    """One dump_collector, driven sample by sample."""

    def __init__(self, *options, netns=None, prefix=()):
        enter = (lambda: libc.setns(netns, 0)) if netns is not None else None
        self.process = subprocess.Popen(
            [*prefix, DUMP, "tcp", "--step", *options, "1000000", "0"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=enter)

    def sample(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seen = {}
        for line in self.process.stdout:
            _, component, column, value = line.rstrip("\n").split(",")
            if value == "end":
                return seen
            name = component.removeprefix("here/tcp:")
            seen.setdefault(name, {})[column] = int(value) if value else None
        raise AssertionError("the collector ended")

    def until(self, condition, text):
        """Sample until the condition holds: acknowledgements take some time."""
        for _ in range(200):
            seen = self.sample()
            if condition(seen):
                return seen
            time.sleep(0.02)
        raise AssertionError(f"{text}; last seen: {seen}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Pairs:
    """Connections to one listening port: clients[i] is connected to served[i]."""

    def __init__(self, family=socket.AF_INET, bind="127.0.0.1"):
        self.listener = socket.create_server((bind, 0), family=family, backlog=64,
                                             dualstack_ipv6=bind == "::")
        self.port = self.listener.getsockname()[1]
        self.clients, self.served = [], []

    def connect(self, to="127.0.0.1", source=None, n=1):
        for _ in range(n):
            bind = (source, 0) if source else None
            self.clients.append(socket.create_connection((to, self.port), 20, bind))
            self.served.append(self.listener.accept()[0])
        return self

    def send(self, size):
        """Send `size` bytes over each connection and read them at its other end."""
        for client, server in zip(self.clients, self.served):
            client.settimeout(60)
            server.settimeout(60)
            left = size
            while left > 0:
                piece = min(left, 16384)
                client.sendall(bytes(piece))
                got = 0
                while got < piece:
                    got += len(server.recv(piece - got))
                left -= piece

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in [*self.clients, *self.served, self.listener]:
            s.close()


def tcp_info(sockets):
    """Sums over sockets of the values that the kernel reports to their owner."""
    sums = {"cwnd_sum": 0, "retrans": 0, "bytes_acked": 0, "bytes_received": 0}
    for s in sockets:
        info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512)
        sums["cwnd_sum"] += struct.unpack_from("=I", info, 80)[0]
        sums["retrans"] += struct.unpack_from("=I", info, 100)[0]
        acked, received = struct.unpack_from("=QQ", info, 120)
        sums["bytes_acked"] += acked
        sums["bytes_received"] += received
    return sums


def test_counts_sockets_and_bytes():
    with Pairs() as pairs, Collector("--ports", str(pairs.connect(n=5).port)) as collector:
        first = collector.sample()
        check(set(first) == {"127.0.0.1:in", "127.0.0.1:out"}, f"components {set(first)}")
        for row in first.values():
            check(row["sockets"] == 5, f"sockets {row['sockets']}")
            check(row["fresh"] == 1, "the first sample is fresh")
            check(0 < row["cwnd_min"] * 5 <= row["cwnd_sum"], f"cwnd {row}")
            check(row["rtt_max_us"] * 5 >= row["rtt_sum_us"], f"rtt {row}")
            check(row["bytes_sent"] == 0 and row["bytes_received"] == 0, f"bytes {row}")
            check(row["folded"] == 0 and row["untracked"] == 0, f"folded {row}")
        pairs.send(100000)
        seen = collector.until(lambda s: s["127.0.0.1:out"]["bytes_acked"] == 500000,
                               "acknowledged bytes")
        out, into = seen["127.0.0.1:out"], seen["127.0.0.1:in"]
        check(out["bytes_sent"] == 500000, f"sent {out}")
        check(into["bytes_received"] == 500000, f"received {into}")
        check(into["bytes_sent"] == 0 and out["bytes_received"] == 0, f"{out} {into}")
        check(out["segs_out"] >= 35 and into["segs_in"] >= 35, f"segments {out} {into}")
        check(out["delivered"] >= 35, f"delivered {out}")
        check(out["cwnd_sum"] == tcp_info(pairs.clients)["cwnd_sum"], f"cwnd {out}")


def test_sockets_come_and_go():
    with Pairs() as pairs, Collector("--ports", str(pairs.connect().port)) as collector:
        pairs.send(50000)  # before the first sample: not counted
        collector.sample()
        pairs.connect()
        pairs.send(1000)
        out = collector.until(lambda s: s["127.0.0.1:out"]["sockets"] == 2, "two sockets")
        check(out["127.0.0.1:in"]["bytes_received"] == 2000, f"received {out}")
        for s in pairs.clients + pairs.served:
            s.close()
        gone = collector.until(lambda s: s["127.0.0.1:in"]["sockets"] == 0, "no sockets")
        check(gone["127.0.0.1:in"]["bytes_received"] == 2000, f"kept {gone}")
        check(gone["127.0.0.1:in"]["cwnd_min"] is None, f"no window {gone}")
        check(gone["127.0.0.1:in"]["fresh"] == 0, f"goes on {gone}")
        pairs.clients, pairs.served = [], []
        pairs.connect().send(300)
        again = collector.sample()
        check(again["127.0.0.1:in"]["bytes_received"] == 2300, f"goes on {again}")


def test_only_the_ports_asked_for():
    with Pairs() as wanted, Pairs() as unwanted:
        wanted.connect(n=2)
        unwanted.connect(n=3)
        with Collector("--ports", str(wanted.port)) as collector:
            check(collector.sample()["127.0.0.1:in"]["sockets"] == 2, "one port")
        with Collector("--ports", f"{wanted.port},1-3,{unwanted.port}") as collector:
            check(collector.sample()["127.0.0.1:in"]["sockets"] == 5, "two ports and a range")
        # More ranges than the kernel filters: the collector filters alone.
        odd = ",".join(str(p) for p in range(1, 400, 2))
        with Collector("--ports", f"{odd},{wanted.port}") as collector:
            check(collector.sample()["127.0.0.1:in"]["sockets"] == 2, "many ports")
        with Collector() as collector:
            loopback = [n for n in collector.sample() if n.startswith("127.")]
            check(not loopback, f"without ports there is no loopback, but {loopback}")


def test_ipv6_and_mapped_addresses():
    try:
        pairs = Pairs(socket.AF_INET6, "::")
    except OSError as e:
        raise Skip(f"no IPv6: {e}")
    with pairs, Collector("--ports", str(pairs.port)) as collector:
        pairs.connect("127.0.0.1")
        try:
            pairs.connect("::1", n=2)
        except OSError as e:
            raise Skip(f"no ::1: {e}")
        seen = {name: row["sockets"] for name, row in collector.sample().items()}
        check(seen == {"127.0.0.1:in": 1, "127.0.0.1:out": 1, "[::1]:in": 2, "[::1]:out": 2},
              f"seen {seen}")


def test_folds_what_is_too_much():
    with Pairs() as pairs:
        for i in range(2, 10):
            pairs.connect(source=f"127.0.0.{i}", n=2)
        with Collector("--ports", str(pairs.port), "--tcp-max", "3") as collector:
            collector.sample()
            pairs.send(1000)
            seen = collector.sample()
    rows = [name for name in seen if name.endswith(":in")]
    check(len(rows) == 4 and "other:in" in rows, f"rows {rows}")
    other = seen["other:in"]
    check(other["folded"] == 5 and other["sockets"] == 10, f"folded {other}")
    check(other["bytes_received"] == 10000, f"folded bytes {other}")
    check(sum(seen[name]["bytes_received"] for name in rows) == 16000, f"all bytes {seen}")
    check(seen["127.0.0.1:out"]["sockets"] == 16 and "other:out" not in seen, f"out {seen}")


def test_needs_no_privilege():
    if os.geteuid() != 0:
        raise Skip("the other tests already run without privileges")
    drop = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
    with Pairs() as pairs, \
            Collector("--ports", str(pairs.connect(n=2).port), prefix=drop) as collector:
        row = collector.sample()["127.0.0.1:in"]
        check(row["sockets"] == 2 and row["cwnd_sum"] > 0, f"seen {row}")


def test_recorded_tree_is_refused():
    with tempfile.TemporaryDirectory() as tree:
        run = subprocess.run([DUMP, "tcp", "--root", tree, "1", "0"], capture_output=True,
                             text=True)
    check(run.returncode == 1 and "cannot be replayed" in run.stderr, run.stderr)


def test_too_many_remotes_are_refused():
    run = subprocess.run([DUMP, "tcp", "--tcp-max", "70000", "1", "0"], capture_output=True,
                         text=True)
    check(run.returncode == 1 and "70000 remote addresses" in run.stderr, run.stderr)


class Link:
    """Two network namespaces, 10.77.0.1 and 10.77.0.2, connected by a cable. They have no names: they disappear with
    this process, however it ends."""

    def __init__(self):
        if not shutil.which("ip") or not shutil.which("nft"):
            raise Skip("needs iproute2 and nftables")
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.ends = []
        for _ in range(2):
            if libc.unshare(CLONE_NEWNET) < 0:
                raise Skip(f"no network namespaces: {os.strerror(ctypes.get_errno())}")
            self.ends.append(os.open("/proc/self/ns/net", os.O_RDONLY))
        self.run(1, f"ip link add end1 type veth peer name end0 netns "
                    f"/proc/{os.getpid()}/fd/{self.ends[0]}")
        for i in range(2):
            self.run(i, f"ip addr add 10.77.0.{i + 1}/24 dev end{i}")
            self.run(i, f"ip link set end{i} up")
        self.enter(None)

    def enter(self, i):
        """Sockets are created in the namespace of their thread; None is the initial one."""
        check(libc.setns(self.home if i is None else self.ends[i], 0) == 0, "setns")

    def run(self, i, command):
        self.enter(i)
        run = subprocess.run(command.split(), capture_output=True, text=True)
        if run.returncode != 0:
            raise Skip(f"'{command}' failed: {run.stderr.strip()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.enter(None)
        for fd in [*self.ends, self.home]:
            os.close(fd)


def linked_pairs(link, n):
    link.enter(0)
    pairs = Pairs(bind="10.77.0.1")
    link.enter(1)
    pairs.listener.settimeout(60)
    pairs.connect("10.77.0.1", n=n)
    link.enter(None)
    return pairs


def test_directions_without_ports():
    with Link() as link, linked_pairs(link, 4) as pairs, \
            Collector(netns=link.ends[0]) as server, Collector(netns=link.ends[1]) as client:
        check(server.sample()["10.77.0.2:in"]["sockets"] == 4, "the server's side")
        check(set(client.sample()) == {"10.77.0.1:out"}, "the client's side")
        pairs.listener.close()  # accepted connections stay open
        check(set(server.sample()) == {"10.77.0.2:in"}, "after the listener closed")


def test_loss_is_seen_as_retransmits():
    with Link() as link, linked_pairs(link, 4) as pairs, \
            Collector("--ports", str(pairs.port), netns=link.ends[1]) as collector:
        pairs.send(20000)
        before = collector.sample()["10.77.0.1:out"]
        check(before["retrans"] == 0, f"no loss yet {before}")
        for command in ("add table inet lossy",
                        "add chain inet lossy in { type filter hook input priority 0 ; }",
                        "add rule inet lossy in tcp dport != 0 numgen inc mod 8 0 drop"):
            link.run(0, f"nft {command}")
        link.enter(None)
        pairs.send(400000)
        link.run(0, "nft delete table inet lossy")
        link.enter(None)
        after = collector.until(lambda s: s["10.77.0.1:out"]["bytes_acked"] ==
                                before["bytes_acked"] + 1600000, "all acknowledged")
        row, own = after["10.77.0.1:out"], tcp_info(pairs.clients)
        check(row["retrans"] >= 5, f"retransmits {row}")
        check(row["retrans"] == own["retrans"], f"retransmits {row['retrans']}, {own}")
        check(row["bytes_sent"] > row["bytes_acked"], f"sent again {row}")
        check(row["cwnd_sum"] == own["cwnd_sum"], f"cwnd {row['cwnd_sum']}, {own}")


tap.main([(name, f) for name, f in globals().items() if name.startswith("test_")])
