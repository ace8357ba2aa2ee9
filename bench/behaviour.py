#!/usr/bin/env python3
"""Table 1 of the paper about behaviour (SLAML'10) next to the results of limpet, from recordings of 'limpet lab run
--plan behaviour'.

    bench/behaviour.py [--limpet PROGRAM] [--distances] [--runs] DIR

Each experiment of DIR except training runs is diagnosed by samples, call counts and call times of functions, one
metric at a time. TP is the percentage of experiments in which every server with a fault was indicted, FP of those in
which another one was. "combined" is defined as in the paper: the better TP, and the worse FP, of samples, and of
counts and times together. First with the defaults of limpet, without training. Then with thresholds that were learnt
from the training runs (those of postmark only for the columns with postmark), as in section 5 of the paper; with
weights learnt from the training runs (section 7); and with weights learnt from the experiments with faults on all
other workloads (train --labelled).

Below that: what behaviour adds to the metrics of disks and networks when limpet uses both. --distances compares the
paper's four distances, computed here in Python by the same rules. --runs lists the indicted servers of each run.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

METRICS = {"samples": "samples", "count": "fcalls", "time": "ftime"}
FAULTS = ["none", "disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss",
          "send-pktloss"]
# samples, count, time, combined: TP and FP; without and with postmark.
PAPER = {
    "none": "0 0 0 0 0 0 0 0 / 0 2 0 2 0 0 0 2",
    "disk-hog": "12.5 2.5 77.5 0 75 0 92.5 2.5 / 0 0 0 4 70 0 70 4",
    "disk-busy": "20 0 42.5 0 65 2.5 77.5 2.5 / 0 0 0 0 62 2 62 2",
    "write-network-hog": "100 0 7.5 0 0 0 100 0 / 100 0 0 0 0 0 100 0",
    "read-network-hog": "100 0 27.5 2.5 0 10 100 10 / 100 4 0 2 0 8 100 10",
    "receive-pktloss": "30 2.5 50 0 0 2.5 50 2.5 / 0 4 8 2 0 2 8 4",
    "send-pktloss": "2.5 0 25 0 0 0 25 0 / 0 0 0 6 0 0 0 6",
    "all": "44.2 0.7 38.3 0.4 23.3 2.1 74.2 2.9 / 33.3 1.4 1.3 2.3 22 1.7 56.7 4",
}
DISTANCES = {
    "manhattan": lambda p, q: abs(p - q),
    "relative": lambda p, q: abs(p - q) / max(p, q),
    "scaled": lambda p, q: (p - q) ** 2 / max(p, q),
    # Smoothed by one half: the logarithm of 0 does not exist.
    "kl": lambda p, q: ((p + .5) * math.log((p + .5) / (q + .5)) + (q + .5) * math.log((q + .5) / (p + .5))) / 2,
}
# Groups of components that are compared: all but functions, functions only, and both.
PARTS = {"metrics": ["--group", "[!f]*"], "behaviour": ["--group", "functions*"], "both": []}
LEAST = {"samples": 100, "ftime": 1000}  # a function counts if it reaches this in a window: 100 samples, 1 s
SHIFT_S = 30
K = 3


class Bench:
    """The recordings, and limpet on them."""

    def __init__(self, limpet, directory):
        self.limpet, self.directory = limpet, directory
        self.runs = []
        for name in sorted(os.listdir(directory)):
            if name.endswith(".json") and not name.endswith(".disturbed.json"):
                with open(os.path.join(directory, name), encoding="utf-8") as f:
                    self.runs.append(json.load(f))
        self.vectors = {}

    def path(self, run):
        return os.path.join(self.directory, run["name"])

    def training(self, postmark):
        return [r for r in self.runs if r["train"] and (postmark or r["workload"] != "postmark")]

    def tests(self, postmark):
        return [r for r in self.runs if not r["train"] and (postmark or r["workload"] != "postmark")]

    def run(self, *args):
        done = subprocess.run([self.limpet, *args], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(f"{' '.join(args)}: {done.stderr}")
        return done.stdout

    def learn(self, runs, out, *options):
        self.run("train", *map(self.path, runs), "-m", ",".join(METRICS.values()), "--method", "manhattan", *options,
                 "-o", out)
        return ["--thresholds", out]

    def indicted(self, run, options):
        out = self.run("diagnose", self.path(run), "--json", *options)
        return {s["component"].split("/")[0] for s in json.loads(out)["suspects"]}

    def each(self, what):
        """{key: indicted servers} of [(key, run, options)], two at a time."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip([key for key, _, _ in what],
                            pool.map(lambda w: self.indicted(w[1], w[2]), what)))

    def windows(self, run, metric):
        """[window][server][function]: the counts of a minute."""
        key = (run["name"], metric)
        if key not in self.vectors:
            out = self.run("show", self.path(run), "--csv", "-m", metric, "-c", "s*/function:*", "--interval",
                           f"{SHIFT_S}s")
            slots = collections.defaultdict(lambda: collections.defaultdict(dict))
            for row in csv.DictReader(io.StringIO(out)):
                server, function = row["component"].split("/function:", 1)
                if row["value"]:
                    slots[row["time"]][server][function] = float(row["value"]) * SHIFT_S
            parts = [slots[t] for t in sorted(slots)[1:-1]]  # the first and the last are incomplete
            self.vectors[key] = [joined(a, b) for a, b in zip(parts, parts[1:])]
        return self.vectors[key]


def joined(a, b):
    window = {}
    for server in set(a) | set(b):
        window[server] = collections.Counter(a.get(server, {}))
        window[server].update(b.get(server, {}))
    return window


def selected(bench, run, metric):
    """Functions that reach the least in some window; calls count for functions that take time."""
    by = "ftime" if metric == "fcalls" else metric
    return {f for w in bench.windows(run, by) for v in w.values() for f, n in v.items() if n >= LEAST[by]}


def medians(bench, run, metric, distance):
    """[window][server]: the distance that more than half of its peers exceed."""
    functions = selected(bench, run, metric)
    votes = []
    for window in bench.windows(run, metric):
        vote = {}
        for server, own in window.items():
            apart = sorted((sum(distance(own[f], peer[f]) for f in functions if own[f] != peer[f])
                            for name, peer in window.items() if name != server), reverse=True)
            vote[server] = apart[len(apart) // 2] if apart else 0
        votes.append(vote)
    return votes


def by_distance(bench, name, postmark):
    """{(metric, run): indicted servers}, by thresholds of the same training."""
    found = {}
    for metric in METRICS.values():
        limits = collections.Counter()
        for run in bench.training(postmark):
            for window in medians(bench, run, metric, DISTANCES[name]):
                for server, vote in window.items():
                    limits[server] = max(limits[server], math.ceil(vote), 1)
        for run in bench.tests(postmark):
            flags = collections.defaultdict(list)
            for window in medians(bench, run, metric, DISTANCES[name]):
                for server, vote in window.items():
                    flags[server].append(vote > 2 * limits[server])
            found[metric, run["name"]] = {s for s, f in flags.items()
                                          if any(sum(f[i:i + 2 * K - 1]) >= K for i in range(len(f)))}
    return found


def judge(run, indicted):
    faulty = {f["server"] for f in run["faults"]}
    return bool(faulty) and faulty <= indicted, bool(indicted - faulty)


def rows_of(bench, found, postmark):
    """{fault: [(TP, FP) of samples, count, time, combined]} in percent, and "all" of those with faults."""
    table = collections.defaultdict(list)
    for run in bench.tests(postmark):
        cells = [judge(run, found[m, run["name"]]) for m in METRICS.values()]
        calls = judge(run, found["fcalls", run["name"]] | found["ftime", run["name"]])
        cells.append((cells[0][0] or calls[0], cells[0][1] or calls[1]))
        table[fault_of(run)].append(cells)
        if run["faults"]:
            table["all"].append(cells)
    return table


def percent(cells, column, kind):
    return 100 * sum(c[column][kind] for c in cells) / len(cells)


def fault_of(run):
    return run["faults"][0]["fault"] if run["faults"] else "none"


def heading(columns):
    return f"{'':24}" + "".join(f"{c:>14}" for c in columns)


def print_paper(postmark):
    print("\nthe paper, " + ("with" if postmark else "without") + " postmark")
    print(heading([*METRICS, "combined"]))
    for fault in FAULTS + ["all"]:
        cells = [float(c) for c in PAPER[fault].split("/")[postmark].split()]
        print(f"{fault:24}" + "".join(f"{tp:8.1f}{fp:6.1f}" for tp, fp in zip(cells[::2], cells[1::2])))


def print_table(title, bench, found, postmark):
    print(f"\n{title}, {'with' if postmark else 'without'} postmark\n{heading([*METRICS, 'combined'])}")
    table = rows_of(bench, found, postmark)
    for fault in FAULTS + ["all"]:
        if fault not in table:
            continue
        line = f"{fault + ' (' + str(len(table[fault])) + ')':24}"
        for column in range(4):
            line += f"{percent(table[fault], column, 0):8.1f}{percent(table[fault], column, 1):6.1f}"
        print(line)


def print_runs(bench, found, keys):
    for run in bench.tests(True):
        faulty = {f["server"] for f in run["faults"]}
        cells = []
        for key in keys:
            names = sorted(found[key, run["name"]])
            cells.append(" ".join(n + ("" if n in faulty else "!") for n in names) or "-")
        print(f"  {run['name']:28}{' '.join(sorted(faulty)) or '-':6}" + "".join(f"{c:14}" for c in cells))


def print_parts(bench, found):
    print(f"\nwhat behaviour adds, without training\n{heading(PARTS)}")
    table = collections.defaultdict(list)
    for run in bench.tests(True):
        cells = [judge(run, found[part, run["name"]]) for part in PARTS]
        table[fault_of(run)].append(cells)
        if run["faults"]:
            table["all"].append(cells)
    for fault in FAULTS + ["all"]:
        if fault in table:
            print(f"{fault + ' (' + str(len(table[fault])) + ')':24}" + "".join(
                f"{percent(table[fault], c, 0):8.1f}{percent(table[fault], c, 1):6.1f}" for c in range(len(PARTS))))


def by_limpet(bench, postmark, options_of):
    return bench.each([((m, run["name"]), run, ["-m", m, *options_of(run)])
                       for run in bench.tests(postmark) for m in METRICS.values()])


def labelled(bench, postmark, directory):
    """Thresholds for each run, with weights from all runs on other workloads."""
    truth = os.path.join(bench.directory, "truth.csv")
    learnt = {}
    for workload in {r["workload"] for r in bench.tests(postmark)}:
        others = [r for r in bench.tests(postmark) if r["workload"] != workload and r["faults"]]
        learnt[workload] = bench.learn(bench.training(postmark) + others, os.path.join(directory, f"{workload}.thr"),
                                       "--labelled", truth)
    return lambda run: learnt[run["workload"]]


def print_trained(bench, postmark):
    if not bench.training(postmark):
        print("\nthere are no training runs")
        return
    with tempfile.TemporaryDirectory() as directory:
        plain = bench.learn(bench.training(postmark), os.path.join(directory, "plain.thr"))
        weighed = bench.learn(bench.training(postmark), os.path.join(directory, "weighed.thr"), "--weights")
        print_table("trained, as in section 5", bench, by_limpet(bench, postmark, lambda run: plain), postmark)
        print_table("and functions weighed by their variance", bench,
                    by_limpet(bench, postmark, lambda run: weighed), postmark)
        if len({r["workload"] for r in bench.tests(postmark) if r["faults"]}) > 1:
            print_table("and by which functions told faults on other workloads", bench,
                        by_limpet(bench, postmark, labelled(bench, postmark, directory)), postmark)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--limpet", default="build/src/cli/limpet")
    parser.add_argument("--distances", action="store_true")
    parser.add_argument("--runs", action="store_true")
    args = parser.parse_args()
    bench = Bench(args.limpet, args.directory)
    disturbed = [r["name"] for r in bench.runs if r["disturbed"]]
    print(f"{len(bench.runs)} experiments, {len([r for r in bench.runs if r['train']])} of them training; "
          f"{len(disturbed)} were disturbed by a busy machine. TP and FP in percent.")
    default = by_limpet(bench, True, lambda run: [])
    for postmark in (False, True):
        if postmark and not any(r["workload"] == "postmark" for r in bench.runs):
            break
        print_paper(postmark)
        print_table("without training", bench, default, postmark)
        if args.runs and not postmark:
            print_runs(bench, default, list(METRICS.values()))
        sys.stdout.flush()
        print_trained(bench, postmark)
        for name in DISTANCES if args.distances else ():
            print_table(f"trained, distance {name} (Python)", bench, by_distance(bench, name, postmark), postmark)
        sys.stdout.flush()
    parts = bench.each([((part, run["name"]), run, options) for run in bench.tests(True)
                        for part, options in PARTS.items()])
    print_parts(bench, parts)
    if args.runs:
        print_runs(bench, parts, list(PARTS))


if __name__ == "__main__":
    main()
