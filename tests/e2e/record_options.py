#!/usr/bin/env python3
"""limpet record as users call it: every option, an unprivileged user, signals."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from recording import (LIMPET, Recorder, Skip, archives, check, check_sound, limpet, run_tests, samples)

NOBODY = 65534
FAST = ("--interval", "100ms", "--flush", "500ms")
root = None


def place(name):
    return os.path.join(root, name)


def record(name, *options, seconds="0.3"):
    """Record for a moment: (exit code, stdout, stderr, directory)."""
    directory = place(name)
    code, out, err = limpet("record", "-o", directory, *FAST, "--duration", seconds + "s",
                            "--name", "me", *options)
    return code, out, err, directory


def components(directory, kind=None):
    """The names of the recorded components."""
    code, out, err = limpet("show", "--json", directory)
    check(code == 0, err)
    found = [c["component"] for c in json.loads(out)["components"]]
    return {c.split(":", 1)[1] for c in found if not kind or c.startswith(f"me/{kind}:")}


def kinds(directory):
    code, out, err = limpet("show", "--json", directory)
    check(code == 0, err)
    return {c["kind"] for c in json.loads(out)["components"]}


class Loops:
    """Loop devices of this test's own."""

    def __init__(self, n):
        self.devices = []
        if os.geteuid() != 0 or not shutil.which("losetup"):
            raise Skip("loop devices need root and losetup")
        try:
            for i in range(n):
                image = place(f"loop{i}.img")
                with open(image, "wb") as f:
                    f.truncate(1 << 20)
                done = subprocess.run(["losetup", "-f", "--show", image], capture_output=True,
                                      text=True)
                if done.returncode:
                    raise Skip(f"no loop device: {done.stderr.strip()}")
                self.devices.append(done.stdout.strip())
        except BaseException:
            self.__exit__()
            raise

    def names(self):
        return {os.path.basename(d) for d in self.devices}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for device in self.devices:
            subprocess.run(["losetup", "-d", device], capture_output=True)


def summaries():
    """--json and --quiet: the output, and where it goes"""
    code, out, err, directory = record("json", "--json")
    check(code == 0, err)
    summary = json.loads(out)
    check(summary["samples"] == summary["samples_written"] == 4, summary)
    check(summary["samples_lost"] == 0 and summary["files"] == 1, summary)
    check([summary["last_file"]] == archives(directory), summary)
    check("recording me every 100ms" in err, err)
    code, out, err, directory = record("quiet", "--quiet")
    check((code, out, err) == (0, "", ""), (code, out, err))
    code, out, err, directory = record("plain")
    check(out == "" and f"recorded 4 samples of" in err and archives(directory)[0] in err, err)


def instants():
    """samples are taken at whole multiples of the interval"""
    _, _, err, directory = record("aligned", "--quiet", seconds="1")
    taken = samples(*archives(directory))
    check(len(taken) >= 2, err)
    # A busy machine may delay some, by any time; none is early.
    check(sum(t % 100_000 < 50_000 for t in taken) > len(taken) / 2, taken)
    check(len({t // 100_000 for t in taken}) == len(taken), taken)


def unprivileged():
    """an unprivileged user records with all collectors; SIGTERM flushes"""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("not root, or no setpriv")
    directory = place("nobody")
    os.mkdir(directory)
    os.chown(directory, NOBODY, NOBODY)
    os.chmod(root, 0o755)
    drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all")
    if subprocess.run([*drop, LIMPET, "version"], capture_output=True).returncode:
        raise Skip("nobody cannot run the program where it was built")
    with socket.create_server(("127.0.0.1", 0)) as server, \
            socket.create_connection(server.getsockname()), \
            Recorder(directory, "--interval", "100ms", "--name", "me", "--json", "--ports",
                     str(server.getsockname()[1]), prefix=drop,
                     log=place("nobody.log")) as recorder:
        time.sleep(1.5)  # far from the first flush after ten seconds
        code, summary = recorder.stop_json()
        check(code == 0, recorder.log())
        check("without" not in recorder.log(), recorder.log())
    check(summary["samples"] > 5 and summary["samples_lost"] == 0, summary)
    check(len(samples(*check_sound(directory))) == summary["samples"], summary)
    check({"net", "tcp", "host"} <= kinds(directory), kinds(directory))
    owner = os.stat(archives(directory)[0])
    check(owner.st_uid == NOBODY, owner)


def signals():
    """SIGTERM, SIGINT and SIGHUP end it cleanly; nohup is respected"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        directory = place(f"signal{number}")
        with Recorder(directory, *FAST, "--json") as recorder:
            recorder.wait_file(directory)
            code, out = recorder.stop(number)
            check(code == 0, f"signal {number}: exit {code}, {recorder.log()}")
            check(len(samples(*check_sound(directory))) == json.loads(out)["samples"], out)
    directory = place("nohup")
    with Recorder(directory, *FAST, prefix=("nohup",)) as recorder:
        recorder.wait_file(directory)
        recorder.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        check(recorder.process.poll() is None, "SIGHUP ended it in spite of nohup")
        check(recorder.stop()[0] == 0, recorder.log())


def loops():
    """--loops records loop devices, --disks picks among them"""
    with Loops(3) as mine:
        first, second, third = sorted(mine.names())
        _, _, _, directory = record("noloops", "--collect", "diskstats,host")
        check(not mine.names() & components(directory, "disk"), "loop devices by default")
        _, _, _, directory = record("loops", "--collect", "diskstats", "--loops")
        check(mine.names() <= components(directory, "disk"), components(directory))
        _, _, _, directory = record("pick", "--collect", "diskstats", "--disks", f"{first},{second}")
        check(components(directory) == {first, second}, components(directory))
        _, _, _, directory = record("exclude", "--collect", "diskstats", "--loops", "--disks",
                                    f"loop*,!{third}")
        check({first, second} <= components(directory), components(directory))
        check(third not in components(directory), components(directory))


def hot_plug():
    """a device that appears while it records is recorded, and one that disappears is not"""
    directory = place("plug")
    with Recorder(directory, *FAST, "--name", "me", "--collect", "diskstats,host", "--loops") as r:
        r.wait_file(directory)
        with Loops(1) as mine:
            name = mine.names().pop()
            for _ in range(100):
                # A loop device that had no size when it was first seen is examined again when it has requests.
                with open(mine.devices[0], "wb", buffering=0) as device:
                    device.write(b"x" * 4096)
                    os.fsync(device)
                if name in components(directory, "disk"):
                    break
                time.sleep(0.1)
        time.sleep(0.6)
        check(r.stop()[0] == 0, r.log())
    check(name in components(directory, "disk"), components(directory))
    check_sound(directory)


def collectors():
    """--collect picks collectors, each once"""
    for chosen, expected in (("host", {"host"}), ("netdev,host", {"net", "host"}),
                             ("host,host", {"host"})):
        _, _, err, directory = record(chosen, "--collect", chosen, "--nets", "lo")
        check(kinds(directory) == expected, (chosen, kinds(directory), err))
    _, _, err, directory = record("lists", "--collect", "host", "--collect", "netdev", "--nets",
                                  "lo", "--json")
    check(kinds(directory) == {"net", "host"}, kinds(directory))


def nets():
    """--nets picks interfaces; lo only if it is named"""
    _, _, _, directory = record("lo", "--collect", "netdev,host", "--nets", "lo")
    check(components(directory, "net") == {"lo"}, components(directory))
    _, _, _, directory = record("nolo", "--collect", "netdev,host")
    check("lo" not in components(directory, "net"), components(directory))


def ports():
    """--ports records the connections of those ports only"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(server.getsockname()):
            _, _, _, directory = record("port", "--collect", "tcp,host", "--ports", f"1,{port}")
            check(any("127.0.0.1" in c for c in components(directory, "tcp")),
                  components(directory))
            _, _, _, directory = record("noport", "--collect", "tcp,host", "--ports", "1")
            check(not any("127.0.0.1" in c for c in components(directory, "tcp")),
                  components(directory))


def names():
    """--name is in file and component names; the host's is the default"""
    _, _, _, directory = record("named", "--collect", "host")
    check(os.path.basename(archives(directory)[0]).startswith("me-2"), archives(directory))
    check(components(directory, "host") == {"host"}, components(directory))
    directory = place("default")
    limpet("record", "-o", directory, *FAST, "--duration", "0.2s", "--collect", "host", "-q")
    host = socket.gethostname().split(".")[0]
    check(os.path.basename(archives(directory)[0]).startswith(host + "-2"), archives(directory))


def twice():
    """a second recorder of the same name is refused, with advice"""
    directory = place("twice")
    with Recorder(directory, *FAST, "--name", "me") as recorder:
        recorder.wait_file(directory)
        code, _, err, _ = record("twice")
        check(code == 2 and "another recorder" in err and "--name" in err, err)
        code, _, err = limpet("record", "-o", directory, *FAST, "--duration", "0.2s", "--name",
                              "other", "-q")
        check(code == 0, err)
        check(recorder.stop()[0] == 0, recorder.log())
    check(len(check_sound(directory)) == 2, archives(directory))


def keep():
    """--keep and --keep-bytes remove old archives of this name only"""
    directory = place("keep")
    os.mkdir(directory)
    for name in ("me-20200101T000005Z.lpa", "me-20200102T000005Z.lpa",
                 "other-20200101T000005Z.lpa", "me-notes.lpa"):
        with open(os.path.join(directory, name), "wb") as f:
            f.write(b"old" * 1000)
        os.utime(os.path.join(directory, name), (1577923200, 1577923200))  # 2020-01-02
    # According to the clock they are old, but nothing confirms the clock: it may have jumped.
    code, _, err, _ = record("keep", "--keep", "30d", "--collect", "host", "-q")
    check("until the clock has been right" in err, err)
    check("me-20200101T000005Z.lpa" in os.listdir(directory), os.listdir(directory))
    for path in archives(directory):
        if os.path.basename(path).startswith("me-202") and "me-2020" not in path:
            os.unlink(path)
    # Samples of the days before confirm the clock.
    with open(os.path.join(directory, "week.csv"), "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for hours in (49, 48, 25, 24):
            f.write(f"{int(time.time()) - hours * 3600},me/disk:sda,await,1\n")
    code, _, err = limpet("import", "csv", directory + "/week.csv", "-o", directory, "--name", "me")
    check(code == 0, err)
    code, _, err, _ = record("keep", "--keep", "30d", "--collect", "host", "-q")
    left = sorted(os.listdir(directory))
    # The newest of them ended when this recording began: it is not old yet.
    check("me-20200101T000005Z.lpa" not in left, left)
    check("other-20200101T000005Z.lpa" in left and "me-notes.lpa" in left, left)
    code, _, err, _ = record("keep", "--keep-bytes", "2k", "--collect", "host", "-q")
    left = sorted(os.listdir(directory))
    check(code == 0 and "me-20200102T000005Z.lpa" not in left, (err, left))
    check(len([n for n in left if n.startswith("me-2")]) <= 2, left)


def main():
    global root
    root = tempfile.mkdtemp(prefix="limpet-options-")
    try:
        return run_tests([summaries, instants, unprivileged, signals, loops, hot_plug, collectors,
                          nets, ports, names, twice, keep])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
