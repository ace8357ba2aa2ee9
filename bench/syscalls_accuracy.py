#!/usr/bin/env python3
"""syscalls_accuracy.py [RECORDINGS]: how well the service times of system calls show faults.

RECORDINGS is a directory that `limpet lab run` filled with `trace summary` in its plan [recordings-syscalls]. Diagnoses
every recording by each service time alone (dread, dwrite, nsread, ncread), and by all of them, with the time-series
method and with cdf, with thresholds from the peers' own spread and with trained ones, and prints tables like Table 1 of
the paper (HotDep'09): per fault, metric and workload the share of the experiments in which the faulty server was named
(TP) and in which a healthy one was (FP). Exits 1 if a run without a fault was accused by the default method without
training; 2 if something could not be read.

  --limpet PROGRAM   [build/src/cli/limpet]     --jobs N   [all CPUs]
  --markdown         tables to paste            --wrong    name each experiment that went wrong, and how
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

METRICS = ["dread", "dwrite", "nsread", "ncread"]
ALL = ",".join(METRICS)
# Recordings are short: windows of half a minute, which limpet also chooses without training.
WINDOWS = ["--win-size", "28", "--win-shift", "14", "--smooth", "7"]
# By its name: method for service times, trained?
MODES = {
    "series": ("series", False), "series, trained": ("series", True),
    "cdf": ("cdf", False), "cdf, trained": ("cdf", True),
}
FAULTS = ["none", "disk-hog", "disk-busy", "write-network-hog", "read-network-hog", "receive-pktloss",
          "send-pktloss"]
DEFAULT_MODE = "series"

# The paper's Table 1 (PVFS, 10 servers and 10 clients): TP and FP, where either is not 0.
PAPER = {
    ("disk-hog", "dread", "ddr"): (1, 0), ("disk-hog", "dread", "postmark"): (1, 0.1),
    ("disk-hog", "dwrite", "ddw"): (0.4, 0), ("disk-hog", "dwrite", "postmark"): (1, 0.1),
    ("disk-busy", "dread", "ddr"): (1, 0), ("disk-busy", "dread", "postmark"): (0.9, 0.1),
    ("disk-busy", "dwrite", "ddw"): (0.4, 0), ("disk-busy", "dwrite", "postmark"): (1, 0.1),
    ("write-network-hog", "nsread", "postmark"): (0.9, 0),
    ("read-network-hog", "ncread", "postmark"): (1, 0), ("read-network-hog", "nsread", "postmark"): (1, 0),
    ("read-network-hog", "dwrite", "ddw"): (0.2, 0), ("read-network-hog", "dwrite", "postmark"): (1, 0),
    ("receive-pktloss", "ncread", "postmark"): (0.8, 0), ("receive-pktloss", "nsread", "postmark"): (0.9, 0),
    ("send-pktloss", "ncread", "postmark"): (1, 0),
}


class Experiment:
    """One recording, and what was done in it."""

    def __init__(self, path):
        facts = json.loads(path.read_text(encoding="utf-8"))
        self.name = path.stem
        self.dir = path.with_suffix("")
        self.workload = facts["workload"]
        self.train = facts.get("train", False)
        self.fault = facts["faults"][0]["fault"] if facts["faults"] else "none"
        self.servers = {fault["server"] for fault in facts["faults"]}
        self.start_s = facts["faults"][0]["start_us"] / 1e6 if facts["faults"] else None


def run(limpet, *args, ok=(0, 1, 4)):
    """Run limpet and return its output; None if the data does not have the metric."""
    environment = {**os.environ, "LIMPET_STATE": "/dev/null", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([limpet, *map(str, args)], env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 4 and "no component has a metric" in done.stdout:
        return None
    if done.returncode not in ok:
        sys.exit(f"limpet {' '.join(map(str, args[:8]))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def train(limpet, experiments, method, path):
    """Learn thresholds from the training runs."""
    runs = [e.dir for e in experiments if e.train]
    if not runs:
        sys.exit("there is no recording to train with")
    run(limpet, "train", "-m", ALL, "--service-method", method, *WINDOWS, "-o", path, *runs)


def accused(limpet, experiment, metrics, mode, thresholds):
    """The suspected observers, with their causes and the times of indictment."""
    method, trained = MODES[mode]
    extra = ["--thresholds", thresholds[method]] if trained else ["--service-method", method]
    text = run(limpet, "diagnose", "--json", "--quiet", "-m", metrics, *extra, experiment.dir)
    if text is None:
        return {}
    found = {}
    for suspect in json.loads(text)["suspects"]:
        indicted = datetime.datetime.fromisoformat(suspect["indicted"].replace("Z", "+00:00")).timestamp()
        observer = suspect["component"].split("/")[0]
        if observer not in found or indicted < found[observer][1]:
            found[observer] = (suspect["cause"], indicted)
    return found


def score(limpet, experiments, jobs):
    """{(mode, fault, metrics, workload): [(experiment, {observer: (cause, indicted)}), ...]}"""
    results = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        thresholds = {method: pathlib.Path(work) / method for method in ("series", "cdf")}
        for method, path in thresholds.items():
            train(limpet, experiments, method, path)
        cases = [(e, metrics, mode) for e in experiments if not e.train
                 for metrics in [*METRICS, ALL] for mode in MODES]
        found = pool.map(lambda case: accused(limpet, *case, thresholds), cases)
        for (e, metrics, mode), who in zip(cases, found):
            results[mode, e.fault, metrics, e.workload].append((e, who))
    return results


def rates(cases):
    """TP (None without a fault) and FP of some experiments."""
    tp = [e.servers <= set(who) for e, who in cases if e.servers]
    fp = [bool(set(who) - e.servers) for e, who in cases]
    return (sum(tp) / len(tp) if tp else None), (sum(fp) / len(fp) if fp else None)


def number(x):
    """0, 1, 0.5 or a dash."""
    return "-" if x is None else f"{x:.2g}"


def print_table(head, rows, markdown):
    """Print columns of words; the first two are left-aligned."""
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for row in [head, *rows]:
            print("  ".join(w.ljust(n) if i < 2 else w.rjust(n) for i, (w, n) in enumerate(zip(row, widths))))
    print()


def print_mode(results, mode, workloads, markdown):
    """One table per mode, next to the paper's figures."""
    head = ["fault", "metric"]
    for workload in workloads:
        head += [f"{workload}: paper", "TP", "FP"]
    rows = []
    for fault in FAULTS:
        for metrics in [*METRICS, ALL]:
            row = [fault, metrics if metrics != ALL else "any of them"]
            told = metrics == ALL
            for workload in workloads:
                tp, fp = rates(results.get((mode, fault, metrics, workload), []))
                paper = PAPER.get((fault, metrics, workload))
                row += [f"{paper[0]:g} {paper[1]:g}" if paper else "", number(tp), number(fp)]
                told = told or tp or fp or paper
            if told:
                rows.append(row)
    print(f"#### {mode}" if markdown else mode)
    print()
    print_table(head, rows, markdown)


def print_summary(results, markdown):
    """All workloads together: a comparison of the methods, and their delays."""
    head = ["metric", "faults"]
    disks = {"disk-hog", "disk-busy"}
    groups = [("disks", disks), ("network", set(FAULTS) - disks - {"none"}), ("none", {"none"})]
    for mode in MODES:
        head += [f"{mode}: TP", "FP"]
    rows = []
    for metrics in [*METRICS, ALL]:
        for name, faults in groups:
            row = [metrics if metrics != ALL else "any of them", name]
            for mode in MODES:
                cases = [c for (m, fault, metric, _), some in results.items()
                         if m == mode and metric == metrics and fault in faults for c in some]
                row += [number(x) for x in rates(cases)]
            rows.append(row)
    row = ["any of them", "named after"]
    for mode in MODES:
        spans = [who[o][1] - e.start_s for (m, _, metric, _), some in results.items()
                 if m == mode and metric == ALL for e, who in some for o in e.servers & set(who)]
        row += [f"{statistics.median(spans):.0f} s" if spans else "-", ""]
    print("#### All workloads together" if markdown else "all workloads together")
    print()
    print_table(head, [*rows, row], markdown)


def print_wrong(results):
    """Each experiment with a wrong result for all metrics together."""
    for (mode, _, metrics, _), cases in sorted(results.items()):
        for e, who in cases:
            if metrics == ALL and set(who) != e.servers:
                said = ", ".join(f"{o} {c}" for o, (c, _) in sorted(who.items())) or "nothing"
                print(f"- {mode}: {e.name} is {', '.join(e.servers) or 'nothing'}, said {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="?", default="recordings-syscalls", type=pathlib.Path)
    parser.add_argument("--limpet", default="build/src/cli/limpet")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    args = parser.parse_args()
    experiments = [Experiment(path) for path in sorted(args.recordings.glob("*.json"))
                   if path.with_suffix("").is_dir()]
    if not experiments:
        sys.exit(f"{args.recordings}: no recordings")
    results = score(args.limpet, experiments, args.jobs)
    workloads = sorted({e.workload for e in experiments if not e.train})
    for mode in MODES:
        print_mode(results, mode, workloads, args.markdown)
    print_summary(results, args.markdown)
    if args.wrong:
        print_wrong(results)
    sound = [who for (mode, fault, _, _), cases in results.items()
             if mode == DEFAULT_MODE and fault == "none" for _, who in cases]
    return 1 if any(sound) else 0


if __name__ == "__main__":
    sys.exit(main())
