#!/usr/bin/env python3
"""mpirun -n N limpet diagnose: whatever N is, the verdict is that of one process, to the byte."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import fleet
from program import LIMPET, Ran, limpet, run_tests, tests_of
from tap import Skip, check

SOURCE = os.environ.get("SOURCE", ".")
BUILD = os.environ.get("BUILD", "build")
# As root, and with more processes than CPUs; mpirun itself says nothing about exit codes.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--quiet"]
# One thread each; components that were acknowledged on this machine do not count.
ENV = {**os.environ, "OMP_NUM_THREADS": "1", "LIMPET_STATE": os.devnull}
RANKS = (1, 2, 3, 4)


def need_mpi():
    """There must be Open MPI, in the build and here."""
    if not shutil.which("mpirun") or not glob.glob(os.path.join(BUILD, "runtime", "liblimpet-team-mpi.so")):
        raise Skip("there is no mpirun, or limpet was built without MPI")
    if "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout:
        raise Skip("mpirun is not that of Open MPI")


def together(n, *args, **options):
    """Run limpet diagnose with n processes."""
    command = [*MPIRUN, "-n", str(n), LIMPET, "diagnose", "-q", *map(str, args)]
    return Ran(subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=ENV, **options))


def said(ran):
    """The errors and warnings of limpet, line by line, without mpirun's own messages."""
    return [line for line in ran.err.splitlines() if line.startswith("limpet")]


def check_same(*args, ranks=RANKS):
    """All numbers of processes give the same output, messages and exit code as limpet alone; returns the run."""
    need_mpi()
    alone = limpet("diagnose", "-q", *args, env=ENV)
    for n in ranks:
        ran = together(n, *args)
        check(ran.code == alone.code, f"{n} processes of {args}: {ran}\nalone: {alone}")
        check(ran.out == alone.out, f"{n} processes say something else about {args}: {ran}\nalone: {alone}")
        check(said(ran) == said(alone), f"{n} processes complain of something else in {args}: {ran}\nalone: {alone}")
    return alone


def intrepid(directory, *options):
    """Archives of 16 servers with 1152 disks, one sample per minute of a day, with faults."""
    out = os.path.join(directory, "intrepid")
    plan = os.path.join(directory, "plan")
    with open(plan, "w", encoding="utf-8") as f:
        f.write("server-down@2h+3h:fs3\ncontroller-failed@6h+3h:ddn7b\nslow-lun@12h+8h:6.10\n")
    subprocess.run([os.path.join(BUILD, "bench/gen_intrepid"), "-o", out, "-s", "1m", "-a", "2", "--events", plan,
                    *options], check=True, stdout=subprocess.DEVNULL)
    return out


def test_recordings(_):
    """Recordings of real faults: servers and clients, several kinds of components"""
    check_same("--json", os.path.join(SOURCE, "recordings/ddr-disk-busy-1"))
    for name in ("mixed-send-pktloss-1", "ddw-write-network-hog-1"):
        check_same("--json", os.path.join(SOURCE, "recordings", name), ranks=(3,))


def test_system_calls(_):
    """Logs of system calls, which one process judges"""
    check_same("--json", os.path.join(SOURCE, "recordings/errors/ddw-err-files-3"), ranks=(2, 3))


def test_text(_):
    """All other output"""
    recording = os.path.join(SOURCE, "recordings/ddr-disk-busy-1")
    check_same("--verbose", recording, ranks=(1, 2))
    for options in (["--hourly"], ["--format", "nagios"]):
        check_same(*options, recording, ranks=(2,))


def test_topology(directory):
    """Peer groups of a topology, over many windows and epochs of the slow horizon"""
    data = intrepid(directory)
    alone = check_same("--json", "--topology", os.path.join(data, "topology.yaml"), os.path.join(data, "archives"))
    verdict = json.loads(alone.out)
    check(len(verdict["groups"]) > 4 and verdict["suspects"], f"{len(verdict['groups'])} groups, {verdict['suspects']}")
    check_same("--json", "--topology", os.path.join(data, "topology.yaml"), "-m", "await", "--since",
               "2011-04-17T10:00Z", "--until", "2011-04-17T20:00Z", os.path.join(data, "archives"), ranks=(3,))


def test_discovered(directory):
    """Peer groups that the data shows, and faults that one horizon shows each"""
    made = fleet.Fleet(servers=7, disks=4, minutes=100, seed=3, os_disk=True)
    made.slow("s2/disk:sdb", at_min=40, minutes=10, factor=9)
    made.slow("s5/disk:sdd", at_min=85, minutes=15, factor=6)
    made.end_early("s4", 400)
    made.write_each(directory)
    alone = check_same("--json", directory)
    verdict = json.loads(alone.out)
    check("s2/disk:sdb" in [s["component"] for s in verdict["suspects"]], verdict["suspects"])
    check_same("--json", "--last", "40m", directory, ranks=(2,))
    check_same("--json", "--method", "kl", directory, ranks=(2,))


def test_fewer_files(directory):
    """Processes that have nothing to read, and one file with all of the data"""
    made = fleet.striped(seed=4, slow="s3/disk:sda")
    check_same("--json", made.write(directory), ranks=(4,))


def test_one_server(directory):
    """A server without peers is compared with its own past"""
    made = fleet.Fleet(servers=1, disks=1, minutes=600, step_s=60, seed=5)
    check_same("--json", made.write(directory), ranks=(3,))


def test_damaged(directory):
    """Damaged files are reported once, whichever process reads them, and the rest is judged"""
    recording = os.path.join(directory, "data")
    shutil.copytree(os.path.join(SOURCE, "recordings/ddr-disk-busy-1"), recording)
    archives = sorted(glob.glob(os.path.join(recording, "s*.lpa")))
    for place in (1, 2, 4):
        with open(archives[place], "r+b") as f:
            f.truncate(os.path.getsize(archives[place]) // 2)
            f.seek(os.path.getsize(archives[place]) // 3)
            f.write(b"\xff" * 64)
    alone = check_same("--json", recording)
    check(alone.code == 4 or json.loads(alone.out)["notes"], alone)
    with open(archives[3], "wb") as f:
        f.write(b"\x89LPA")
    check_same(recording)


def test_unreadable(directory):
    """If nothing can be read or exists: one error message, and the exit code of a single process"""
    check_same("--json", os.path.join(directory, "nowhere"), ranks=(2, 3))
    check_same("--metric", "nonsense", os.path.join(SOURCE, "recordings/ddr-disk-busy-1"), ranks=(2,))
    check_same("--topology", os.path.join(directory, "nowhere"), os.path.join(SOURCE, "recordings/ddr-disk-busy-1"),
               ranks=(2,))
    empty = os.path.join(directory, "bad.lpa")
    with open(empty, "wb") as f:
        f.write(b"\x89LPA and no more")
    alone = check_same(empty, ranks=(2, 3))
    check(alone.code == 2, alone)


def test_wrong_options(_):
    """mistakes in options are printed once, by the first process"""
    check_same("--jsno", ranks=(2, 4))
    check_same("--since", "nonsense", "/nonexistent", ranks=(3,))
    ran = check_same("--json", "--horizon", "1", ranks=(3,))
    check(ran.code == 2 and json.loads(ran.out)["exit"] == 2, str(ran))


def test_expect(directory):
    """The first process reads standard input"""
    need_mpi()
    recording = os.path.join(SOURCE, "recordings/ddr-disk-busy-1")
    expected = os.path.join(directory, "expected")
    with open(expected, "w", encoding="utf-8") as f:
        f.write("s1\ns77\n")
    with open(expected, encoding="utf-8") as f:
        alone = limpet("diagnose", "-q", "--expect", "-", recording, env=ENV, stdin=f)
    with open(expected, encoding="utf-8") as f:
        ran = together(3, "--expect", "-", recording, stdin=f)
    check("s77" in alone.out and ran.out == alone.out and ran.code == alone.code, f"{ran}\nalone: {alone}")


def test_other_files(directory):
    """Processes that see other files than the first one give up, and say so once"""
    need_mpi()
    for i in range(2):
        shutil.copytree(os.path.join(SOURCE, "recordings/ddr-disk-busy-1"), os.path.join(directory, str(i)))
    os.remove(glob.glob(os.path.join(directory, "1", "s*.lpa"))[0])
    script = f'cd {directory}/$OMPI_COMM_WORLD_RANK && exec {os.path.abspath(LIMPET)} diagnose -q .'
    ran = Ran(subprocess.run([*MPIRUN, "-n", "2", "sh", "-c", script], capture_output=True, text=True, timeout=120,
                             check=False, env=ENV))
    check(ran.code == 2 and not ran.out and len(said(ran)) == 1 and "other files" in said(ran)[0], ran)


def rank_of(parent, rank):
    """The process with this rank that descends from `parent`; None: it is not there yet."""
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                environ = f.read().split(b"\0")
            with open(os.path.join(os.path.dirname(path), "stat"), encoding="utf-8") as f:
                father = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if father == parent and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environ:
            return int(path.split("/")[2])
    return None


def test_killed(directory):
    """A process is killed while the others wait for it: all end, and there is no verdict"""
    need_mpi()
    data = os.path.join(intrepid(directory), "archives")
    with subprocess.Popen([*MPIRUN, "-n", "3", LIMPET, "diagnose", "-q", "--json", data], env=ENV, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as mpirun:
        victim, until = None, time.monotonic() + 60
        while victim is None and mpirun.poll() is None and time.monotonic() < until:
            victim = rank_of(mpirun.pid, 1)
        check(victim, "process 1 never came")
        os.kill(victim, signal.SIGSTOP)
        time.sleep(2)
        check(mpirun.poll() is None, "the others did not wait for process 1")
        os.kill(victim, signal.SIGKILL)
        out, err = mpirun.communicate(timeout=60)
    check(mpirun.returncode not in (0, 1, 4) and not out, f"exit {mpirun.returncode}\n{out}\n{err}")


def test_plain_binary(_):
    """limpet itself does not need MPI"""
    needed = subprocess.run(["ldd", LIMPET], capture_output=True, text=True, check=True).stdout
    check("libmpi" not in needed and "open-rte" not in needed, needed)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
