#!/usr/bin/env python3
"""The cost of `mpirun -n N limpet diagnose` per process, with 1 to 4 processes.

    bench/diagnose_team.py DATA [--limpet PROGRAM] [--rounds N] [-- OPTION...]

DATA is a directory that gen_intrepid has made (bench/intrepid_day.py --data DATA), or any other data. Runs `limpet
diagnose --json` on it alone and with mpirun -n 1 to 4, one thread per process, and prints the wall time, and the CPU
time and the largest memory of each process: the median of N rounds, of processes in the order of their ranks. On a
machine with fewer processors than processes, or with other work, only the CPU time shows the gain from more machines:
the longest CPU time of a process is the total time if each process has its own processor. The output must be identical.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--quiet"]
CODES = (0, 1, 4)  # there is a verdict


def as_rank(path, command):
    """Run one process of several, and note its cost."""
    rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(os.path.join(path, rank), "w", encoding="utf-8") as f:
        json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024], f)
    sys.exit(process.returncode)


def run(n, command):
    """(wall time, [(CPU time, memory) of each process], output); n 0: without mpirun."""
    with tempfile.TemporaryDirectory() as path:
        ranked = [sys.executable, os.path.abspath(__file__), "--rank", path, *command]
        begin = time.monotonic()
        done = subprocess.run([*MPIRUN, "-n", str(n), *ranked] if n else ranked, stdout=subprocess.PIPE, check=False,
                              env=dict(os.environ, OMP_NUM_THREADS="1", LIMPET_STATE=os.devnull))
        wall = time.monotonic() - begin
        if done.returncode not in CODES:
            sys.exit(f"{n} processes ended with {done.returncode}")
        costs = []
        for rank in range(max(n, 1)):
            with open(os.path.join(path, str(rank)), encoding="utf-8") as f:
                costs.append(json.load(f))
    return wall, costs, done.stdout


def main():
    """Run and print."""
    if sys.argv[1:2] == ["--rank"]:
        as_rank(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--limpet", default=os.path.join(HERE, "../build/src/cli/limpet"))
    parser.add_argument("--rounds", type=int, default=3)
    own = sys.argv[1:]
    more = own[own.index("--") + 1:] if "--" in own else []
    options = parser.parse_args(own[:own.index("--")] if "--" in own else own)
    archives = os.path.join(options.data, "archives")
    topology = os.path.join(options.data, "topology.yaml")
    command = [options.limpet, "diagnose", "-q", "--json", archives if os.path.isdir(archives) else options.data,
               *(["--topology", topology] if os.path.exists(topology) else []), *more]
    print("processes  wall      CPU of each                    memory of each")
    expected = None
    for n in range(5):
        rounds = [run(n, command) for _ in range(options.rounds)]
        expected = expected or rounds[0][2]
        same = all(out == expected for _, _, out in rounds)
        each = [[statistics.median(costs[rank][what] for _, costs, _ in rounds) for rank in range(max(n, 1))]
                for what in (0, 1)]
        print(f"{n or 'alone':>9}  {statistics.median(wall for wall, _, _ in rounds):5.2f} s   "
              f"{' '.join(f'{cpu:.2f}' for cpu in each[0]) + ' s':<30} {' '.join(f'{rss:.0f}' for rss in each[1])} MiB"
              f"{'' if same else '  ANOTHER OUTPUT'}", flush=True)


if __name__ == "__main__":
    main()
