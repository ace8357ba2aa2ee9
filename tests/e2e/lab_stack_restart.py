#!/usr/bin/env python3
"""A server of GlusterFS is killed and started again while a program is recorded: the recording is partial, and says
what is missing."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import lab
from program import good, run_tests, tests_of
from stack_cluster import Cluster, skip_unless_watched
from stack_joins import Joins, compile_numbered, judge
from tap import check

NAME = f"str{os.getpid() % 10000}"
SERVERS = ("s1", "s2")
CLUSTER = Cluster(NAME, SERVERS)
SIZE = 65536

with_lab = lab.in_labs(NAME)


def daemon_of(server):
    """The process and the arguments of a server's daemon."""
    (pid,) = [p for p in lab.processes(f"{lab.ROOT}/{NAME}/") if
              pathlib.Path(f"/proc/{p}/comm").read_text(encoding="utf-8").strip() == "glusterfsd" and
              os.stat(f"/proc/{p}/ns/net").st_ino == os.stat(f"/run/netns/limpet-{NAME}-{server}").st_ino]
    return int(pid), pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]


def ends(pid):
    """Has a process ended, or is it about to?"""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@contextlib.contextmanager
def restarted(server, seconds):
    """Kill a server's daemon, and start it again after this time."""
    pid, arguments = daemon_of(server)
    os.kill(pid, signal.SIGKILL)
    lab.until("the daemon is gone", lambda: ends(pid))
    time.sleep(seconds)
    with subprocess.Popen([*CLUSTER.in_node(server), *arguments]) as process:
        yield
        process.terminate()


def rounds(program, mount):
    """A command that writes the same files repeatedly, ignoring errors, until it is stopped."""
    loop = (f"while [ ! -e {mount.parent}/enough ]; do for f in a b c d e f; do {program} {mount}/$f 2 8 {SIZE} direct;"
            " done; sleep 0.1; done; true")
    return "sh", "-c", loop


@with_lab
def test_restart(directory):
    """Missing data of a server that is killed and started again is reported"""
    skip_unless_watched()
    good("lab", "up", "--name", NAME, "--servers", len(SERVERS), "--clients", 1, "--disk", "64M", "--hog-disk", "16M")
    mount = lab.ROOT / NAME / "c1/mnt"
    program, data = compile_numbered(directory), os.path.join(directory, "data")
    os.makedirs(data)
    with contextlib.ExitStack() as after, contextlib.ExitStack() as recording:
        summaries = {node: recording.enter_context(CLUSTER.attached(data, node)) for node in SERVERS}
        with subprocess.Popen(CLUSTER.command(data, *rounds(program, mount)), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as run:
            time.sleep(4)
            after.enter_context(restarted("s2", 3))  # it continues until all recordings have ended
            time.sleep(15)
            (mount.parent / "enough").touch()
            out, err = run.communicate(timeout=60)
        os.sync()
    check(run.returncode == 0, out + err)
    # The recording of that server reports it; the others report nothing.
    check(summaries["s2"][0]["daemons_ended"] == 1 and summaries["s2"][0]["daemons_late"] == 1, summaries["s2"])
    check(summaries["s1"][0]["daemons_ended"] == 0 and summaries["s1"][0]["daemons_late"] == 0, summaries["s1"])
    shown = json.loads(good("stack", "show", "--json", data))
    check(shown["gaps"]["daemons_ended"] == 1 and shown["gaps"]["daemons_late"] == 1, shown["gaps"])
    text = good("stack", "show", data)
    for part in ("1 daemon ended while watched", "1 daemon started while recording"):
        check(part in text, text)
    # The recorded data is right, before and after the restart, and on both servers.
    joins = Joins(data)
    check(judge(joins, SIZE).wrong == 0, judge(joins, SIZE))
    times = sorted(int(s["start_ns"]) for s in joins.of("server", observer="s2", operation="write") if s["parents"])
    gap = max(b - a for a, b in zip(times, times[1:]))
    check(gap >= 3e9, f"no gap of 3 s in what s2 did: {gap / 1e9:.1f} s")
    check(times[-1] - times[0] >= gap + 2e9, f"nothing of s2 after the gap of {gap / 1e9:.1f} s")
    total, joined = joins.share_joined("server")
    check(joined >= 0.99 * total, (total, joined))
    check(joins.of("server", observer="s1", operation="write"), "nothing of s1")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
