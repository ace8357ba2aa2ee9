#!/usr/bin/env python3
"""limpet lab up, status and down: a real cluster starts, works, and always leaves nothing behind."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import lab
from lab import ROOT, cpu_groups, gone
import tap
from program import LIMPET, LIMPET_LAB, bad, good, limpet, run_tests, tests_of

NAME = f"e2e{os.getpid()}"
SMALL = ("--servers", "2", "--clients", "2", "--disk", "64M", "--hog-disk", "16M")


def up(name, *args):
    return limpet("lab", "up", "--name", name, *SMALL, *args)


def bring_up(name, *args):
    """The same, but it must start; otherwise the test reports why not."""
    good("lab", "up", "--name", name, *SMALL, *args)


with_lab = lab.in_labs(NAME, NAME + "b")


def status(name):
    labs = json.loads(good("lab", "status", "--name", name, "--json"))["labs"]
    assert len(labs) == 1, labs
    return labs[0]


@with_lab
def test_life(_):
    """a cluster starts, clients exchange files, and it is removed without a trace"""
    interfaces = set(os.listdir("/sys/class/net"))
    ran = up(NAME)
    assert ran.code == 0 and not ran.err, ran
    shown = status(NAME)
    assert shown["well"] and shown["complete"] and shown["fs"] == "gluster", shown
    assert [n["name"] for n in shown["nodes"]] == ["s1", "s2", "c1", "c2", "x1"], shown
    assert [n["address"] for n in shown["nodes"]] == [
        "10.91.1.1", "10.91.1.2", "10.91.2.1", "10.91.2.2", "10.91.3.1"], shown
    assert set(os.listdir("/sys/class/net")) <= interfaces, "an interface on the host"
    text = good("lab", "status", "--name", NAME)
    assert re.search(r"^s2 +10\.91\.1\.2 +up +up +up +up ", text, re.M), text
    content = os.urandom(9 << 20)
    (ROOT / NAME / "c1/mnt/file").write_bytes(content)
    assert (ROOT / NAME / "c2/mnt/file").read_bytes() == content, "other bytes"
    bad(2, "there is a lab", "lab", "up", "--name", NAME, *SMALL)
    assert (ROOT / NAME / "c2/mnt/file").read_bytes() == content, "a second 'up' broke it"
    devices = [n["loop"].removeprefix("/dev/") for n in shown["nodes"] if n["role"] == "server"]
    assert all(re.fullmatch(r"loop\d+", d) for d in devices), devices
    good("lab", "down", "--name", NAME)
    gone(NAME, devices)
    good("lab", "down", "--name", NAME)
    gone(NAME, devices)
    bad(2, "there is no lab", "lab", "status", "--name", NAME)


@with_lab
def test_links(_):
    """links have their speed at both ends"""
    bring_up(NAME, "--link", "40000")
    for netns, device in ((f"limpet-{NAME}-s1", "eth0"), (f"limpet-{NAME}-sw", "s1"),
                          (f"limpet-{NAME}-x1", "eth0"), (f"limpet-{NAME}-sw", "x1")):
        text = tap.run("tc", "-n", netns, "qdisc", "show", "dev", device)
        assert "tbf" in text and "rate 40Mbit" in text, f"{netns} {device}: {text}"
    tap.run("nsenter", f"--net=/run/netns/limpet-{NAME}-x1", "ip", "route", "get", "10.91.1.1")


@with_lab
def test_cpu_share(_):
    """servers have their share of the CPU"""
    bring_up(NAME, "--cpu-limit", "20")
    for server, path in cpu_groups(NAME).items():
        group = pathlib.Path(path)
        pid = (ROOT / NAME / f"run/{server}-fs.pid").read_text(encoding="utf-8").split()[0]
        assert pid in (group / "cgroup.procs").read_text(encoding="utf-8").split(), "not in it"
        if (group / "cpu.max").exists():
            quota, period = map(int, (group / "cpu.max").read_text(encoding="utf-8").split())
        else:
            quota, period = (int((group / f"cpu.cfs_{n}_us").read_text(encoding="utf-8"))
                             for n in ("quota", "period"))
        assert quota * 5 == period, (quota, period)


def begin_up(name):
    return subprocess.Popen([LIMPET, "lab", "up", "--name", name, *SMALL],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@with_lab
def test_killed(_):
    """after 'lab up' was killed at any moment, 'lab down' leaves nothing"""
    began = time.monotonic()
    bring_up(NAME)
    duration = time.monotonic() - began
    good("lab", "down", "--name", NAME)
    for part in (0.05, 0.25, 0.45, 0.65, 0.85):
        with begin_up(NAME) as process:
            time.sleep(duration * part)
            process.kill()
        good("lab", "down", "--name", NAME)
        gone(NAME)


@with_lab
def test_interrupted(_):
    """'lab up' removes everything that it has created if it is interrupted"""
    for number, wait in ((signal.SIGINT, 0.15), (signal.SIGTERM, 0.3)):
        with begin_up(NAME) as process:
            time.sleep(wait)
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
        assert process.returncode in (-number, 0), f"{process.returncode}: {said}"
        if process.returncode == 0:  # it was done before
            good("lab", "down", "--name", NAME)
        gone(NAME)


@with_lab
def test_broken(_):
    """a lab that has lost its files, its processes or its mounts can be removed"""
    bring_up(NAME)
    (ROOT / NAME / "lab.json").write_text('{"name": "x', encoding="utf-8")
    bad(2, "damaged", "lab", "status", "--name", NAME)
    good("lab", "down", "--name", NAME)
    gone(NAME)
    bring_up(NAME)
    for pid_file in ("s1-fs", "s2-disk", "c1-fs"):
        text = (ROOT / NAME / f"run/{pid_file}.pid").read_text(encoding="utf-8")
        os.kill(int(text.split()[0]), signal.SIGKILL)
    def downs():
        return len(re.findall(r"\bdown\b", limpet("lab", "status", "--name", NAME).out))
    lab.until("three parts are down", lambda: downs() == 3)
    assert limpet("lab", "status", "--name", NAME).code == 1
    (ROOT / NAME / "lab.json").unlink()
    good("lab", "down", "--name", NAME)
    gone(NAME)


@with_lab
def test_foreign(_):
    """namespaces of others survive, also with a lab's name"""
    other, same = f"limpet-{NAME}-other", f"limpet-{NAME}b-s1"
    try:
        tap.run("ip", "netns", "add", other)
        tap.run("ip", "netns", "add", same)
        bring_up(NAME)
        ran = limpet("lab", "down", "--name", NAME)
        assert ran.code == 0 and other in ran.err, ran
        assert os.path.exists(f"/run/netns/{other}"), "it is gone"
        bad(2, same, "lab", "up", "--name", NAME + "b", *SMALL)
        limpet("lab", "down", "--name", NAME + "b")
        assert os.path.exists(f"/run/netns/{same}"), "it is gone"
    finally:
        for netns in (other, same):
            subprocess.run(["ip", "netns", "del", netns], check=False)
    gone(NAME)
    gone(NAME + "b")


@with_lab
def test_two(_):
    """two labs do not disturb each other"""
    a, b = NAME, NAME + "b"
    bring_up(a)
    bring_up(b)
    (ROOT / a / "c1/mnt/file").write_bytes(b"a" * 100000)
    (ROOT / b / "c1/mnt/file").write_bytes(b"b" * 100000)
    assert {a, b} <= {one["name"] for one in json.loads(limpet(
        "lab", "status", "--json").out)["labs"]}
    good("lab", "down", "--name", a)
    gone(a)
    assert (ROOT / b / "c2/mnt/file").read_bytes() == b"b" * 100000
    assert status(b)["well"]
    good("lab", "down", "--name", b)
    gone(b)


def test_not_root(directory):
    """without root one sentence says that root is needed"""
    program, user = LIMPET, {}
    if os.geteuid() == 0:
        os.chmod(directory, 0o755)
        program = shutil.copy(LIMPET, directory)
        shutil.copy(LIMPET_LAB, directory)
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    for verb in ("up", "down"):
        done = subprocess.run([program, "lab", verb, "--name", NAME], capture_output=True,
                              text=True, check=False, cwd="/", **user)
        assert done.returncode == 2 and "root" in done.stderr, (done.returncode, done.stderr)
        assert done.stderr.count("\n") == 1 and not done.stdout, done.stderr


# Everything of this machine except the root directory itself, in a directory that is not a mount point.
CHROOT = r"""
for path in /*; do
    name=${path#/}
    if [ -L "$path" ]; then ln -s "$(readlink "$path")" "$1/$name"
    elif [ -d "$path" ] && [ "$name" != tmp ]; then
        mkdir "$1/$name" && mount --rbind "$path" "$1/$name" || exit 9
    fi
done
exec chroot "$1" /limpet lab up --name "$2" --servers 1 --clients 1
"""


@lab.in_labs(NAME)
def test_no_mount_point(directory):
    """if the root directory is not a mount point, one sentence says so before anything is made"""
    for program in (LIMPET, LIMPET_LAB):
        shutil.copy(program, directory)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", CHROOT, "sh", directory, NAME],
                          capture_output=True, text=True, check=False, cwd="/", timeout=lab.PATIENCE)
    if done.returncode == 9:
        raise tap.Skip(f"no such place can be made: {done.stderr}")
    assert done.returncode == 2 and "mount point" in done.stderr, (done.returncode, done.stderr)
    assert done.stderr.count("\n") == 1 and not done.stdout, done.stderr
    lab.gone(NAME)


def test_usage(_):
    """impossible requests are refused before anything is created"""
    for args, words in (
            (("--name", "a b"), "letters and digits"), (("--name", "x-y"), "letters and digits"),
            (("--name", "a" * 24), "too long"), (("--fs", "nosuchfs"), "gluster"),
            (("--servers", "64"), "at most"), (("--clients", "99999999999"), "too large"),
            (("--disk", "1M"), "64 MiB"), (("--seek-min", "7ms"), "seek"),
            (("--link", "1"), "kbit"), (("extra",), "extra")):
        bad(2, words, "lab", "up", *args)
    bad(2, "letters and digits", "lab", "down", "--name", "../x")
    bad(2, "letters and digits", "lab", "status", "--name", "..")
    bad(2, "not both", "lab", "down", "--all", "--name", "x")
    for value in ("relative", "/with blank", "/" + "x" * 100):
        bad(2, "LIMPET_LAB_DIR", "lab", "status", env={**os.environ, "LIMPET_LAB_DIR": value})
    bad(2, "lab nosuch", "lab", "nosuch")
    assert "lab up" in limpet("lab").err and limpet("lab").code == 2


if __name__ == "__main__":
    run_tests(tests_of(__name__))
