"""Shared by tests of labs: whether a lab is possible here, which parts of one exist, and that nothing is
left."""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from program import limpet
import tap

ROOT = pathlib.Path(os.environ.get("LIMPET_LAB_DIR", "/run/limpet/lab"))
PATIENCE = 60  # seconds: machines that run tests are slow at times


def why_not():
    """Why no lab can be here, or None."""
    if os.geteuid() != 0:
        return "a lab needs root"
    for program in ("glusterfsd", "mkfs.ext4", "nft", "ethtool"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"there is no {program}"
    for path in ("/dev/fuse", "/dev/loop-control"):
        if not os.access(path, os.W_OK):
            return f"there is no {path}"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        return "there are no network namespaces"
    return None


def skip_unless_possible():
    """End the whole test where no lab can be."""
    reason = why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        sys.exit(0)


def why_no_cpu_group():
    """Why no control group can limit the CPU of servers here, or None."""
    reason = "there are no control groups"
    for root, quota in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")):
        if not os.path.exists(f"{root}/cgroup.procs"):
            continue
        group = f"{root}/limpet-try-{os.getpid()}"
        try:
            os.mkdir(group)
        except OSError as e:
            reason = f"no control group can be made: {e}"
            continue
        limits = os.path.exists(f"{group}/{quota}")
        os.rmdir(group)
        if limits:
            return None
        reason = f"control groups in {root} have no {quota}"
    return reason


def cpu_groups(name):
    """{server: its CPU control group} of a lab that is up. Skips the test case where the machine has
    none to give."""
    reason = why_no_cpu_group()
    if reason:
        raise tap.Skip(reason)
    nodes = json.loads(limpet("lab", "status", "--name", name, "--json").out)["labs"][0]["nodes"]
    groups = {n["name"]: n["cgroup"] for n in nodes if n["role"] == "server"}
    assert groups and all(groups.values()), groups
    return groups


def until(what, holds, seconds=PATIENCE):
    """Wait until `holds()` is true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def mounts(directory):
    """Mount points at or in a directory."""
    with open("/proc/self/mounts", encoding="utf-8") as f:
        points = [line.split()[1] for line in f]
    return [p for p in points if p == str(directory) or p.startswith(f"{directory}/")]


def loops(directory):
    """Loop devices on files in a directory."""
    found = []
    for path in glob.glob("/sys/block/loop*/loop/backing_file"):
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except OSError:
            continue  # gone meanwhile
        if text.startswith(f"{directory}/"):
            found.append(path.split("/")[3])
    return found


def processes(part, file="cmdline"):
    """Processes that have this in their arguments (or environment)."""
    found = []
    for path in glob.glob(f"/proc/[0-9]*/{file}"):
        try:
            text = pathlib.Path(path).read_bytes()
        except OSError:
            continue
        if part.encode() in text:
            found.append(path.split("/")[2])
    return found


def traces(name):
    """Everything that exists of a lab."""
    found = mounts(ROOT / name) + loops(ROOT / name)
    found += [m for m in mounts("/run/netns") if re.match(rf"/run/netns/limpet-{name}-", m)]
    for pattern in (f"/run/netns/limpet-{name}-*", f"/sys/fs/cgroup/*/limpet-{name}-*",
                    f"/sys/fs/cgroup/limpet-{name}-*", f"{ROOT}/{name}", f"{ROOT}/{name}.lock"):
        found += glob.glob(pattern)
    return found + [f"process {pid}" for pid in processes(f"{ROOT}/{name}/")]


def abandoned_partitions(devices):
    """Partitions of loop devices without a file."""
    return [p for d in devices if not os.path.exists(f"/sys/block/{d}/loop/backing_file")
            for p in glob.glob(f"/sys/block/{d}/{d}p*")]


def gone(name, devices=()):
    """Nothing is left. (The kernel ends processes and namespaces when it has time.)"""
    end = time.monotonic() + PATIENCE
    while (traces(name) or abandoned_partitions(devices)) and time.monotonic() < end:
        time.sleep(0.05)
    left = traces(name) + abandoned_partitions(devices)
    assert not left, "left over: " + "\n".join(left)


def in_labs(*names):
    """Decorates test cases that make labs of these names: they are removed in any case."""
    def decorate(test):
        def case(directory):
            reason = why_not()
            if reason:
                raise tap.Skip(reason)
            try:
                test(directory)
            finally:
                for name in names:
                    ran = limpet("lab", "down", "--name", name)
                    if ran.code:  # later steps fail because of it
                        print("#", *ran.err.splitlines(), sep="\n# ", flush=True)
        case.__doc__ = test.__doc__
        return case
    return decorate
