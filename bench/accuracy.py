#!/usr/bin/env python3
"""accuracy.py [RECORDINGS...]: diagnose every recording of the lab and score the verdicts.

RECORDINGS are directories that `limpet lab run` filled [recordings]: NAME/ with archives, NAME.json with the
events, truth.csv. Prints, in the papers' terms, how often the faulty server and the cause were named: with
training as in the paper (kl), with training and cdf, and with no training at all; for all experiments, and
for those in which the fault had an effect on the clients. Each file system has its own tables; one without
training runs has only those without training. Exits 1 if a run without a fault was accused without training,
or if fewer causes than promised were named among faults with an effect; 2 if something could not be read.

  --limpet PROGRAM   [build/src/cli/limpet]     --jobs N     [all CPUs]
  --markdown         tables to paste            --wrong      name each experiment that went wrong, and how
  --mode NAME        only this one (kl, cdf, untrained); may be repeated
"""
import argparse
import concurrent.futures
import csv
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

# FAST'10, Table 2 (PVFS, 10 clients and 10 servers): ITP, IFP, DTP, DFP.
PAPER = {
    "none": (None, 0.0, None, 0.0), "disk-hog": (100.0, 0.0, 100.0, 0.0),
    "disk-busy": (90.0, 2.0, 90.0, 2.0), "write-network-hog": (92.0, 0.0, 84.0, 8.0),
    "read-network-hog": (100.0, 0.0, 100.0, 0.0), "receive-pktloss": (42.0, 0.0, 42.0, 0.0),
    "send-pktloss": (40.0, 0.0, 40.0, 0.0), "all of the papers'": (77.3, 0.3, 76.0, 1.4),
}
PAPER_EFFECT = {"all of the papers'": (96.3, None, 94.6, None)}
PAPER_FAULTS = [name for name in PAPER if name not in ("none", "all of the papers'")]

# The clients' throughput must fall by more than this, compared with runs without a fault:
# the paper calls a longer run time "significant" from 10% on.
EFFECT = 0.10

# The recordings are shorter than the papers': windows of half a minute instead of one, so that there are
# enough of them; without training limpet chooses the same.
MODES = {
    "kl": ("trained, kl (as in the paper)",
           ["--method", "kl", "--win-size", "32", "--win-shift", "16"]),
    "cdf": ("trained, cdf",
            ["--method", "cdf", "--win-size", "30", "--win-shift", "15", "--smooth", "7"]),
    "untrained": ("no training (the default)", None),
}
# The promise, in percent: DTP if the fault has an effect.
GOAL_DTP = 95.0


class Experiment:
    """One recording, and what was done in it."""

    def __init__(self, path):
        facts = json.loads(path.read_text(encoding="utf-8"))
        self.name = path.stem
        self.dir = path.with_suffix("")
        self.fs = facts["lab"]["fs"]
        self.workload = facts["workload"]
        self.train = facts.get("train", False)
        self.faults = [fault["fault"] for fault in facts["faults"]]
        self.strengths = [fault.get("strength") for fault in facts["faults"]]
        self.throughput = {phase["phase"]: phase["bytes_per_s"] for phase in facts["phases"]}
        self.effect = None

    @property
    def label(self):
        """Its name in the table: the fault, with its strength if the papers do not have that fault."""
        if not self.faults:
            return "none"
        if len(self.faults) > 1:
            return "two at once"
        if self.faults[0] == "slow-disk":
            return f"slow-disk x{self.strengths[0]:g}"
        return self.faults[0]


def decide_effects(experiments):
    """A fault has an effect on a workload if it lowers the clients' throughput by more than EFFECT,
    compared with the same time of the workload's runs without a fault, medians of both."""
    sound = {}
    for e in experiments:
        if not e.faults:
            sound.setdefault(e.workload, []).append(e.throughput["fault"])
    by_case = {}
    for e in experiments:
        if e.faults:
            usual = statistics.median(sound.get(e.workload, [e.throughput["clean"]]))
            by_case.setdefault((e.workload, e.label), []).append((e, e.throughput["fault"] / usual))
    for cases in by_case.values():
        change = statistics.median(ratio for _, ratio in cases)
        for e, _ in cases:
            e.effect = change < 1 - EFFECT
    return by_case


def run(limpet, *args, out=None, ok=(0, 1, 4)):
    """Run limpet; its output goes to the file `out` or is returned."""
    environment = {**os.environ, "LIMPET_STATE": "/dev/null", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([limpet, *map(str, args)], env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in ok:
        sys.exit(f"limpet {' '.join(map(str, args[:6]))}: exit {done.returncode}\n{done.stderr}")
    if out:
        out.write_text(done.stdout, encoding="utf-8")
    return done.stdout


def join_disks(path):
    """One threshold for the disk of a server, for any loop device of the lab: the largest."""
    lines, disks = [], {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) == 3 and "/disk:" in words[1]:
            key = (words[0], words[1].split(":")[0] + ":*")
            disks[key] = max(disks.get(key, 0.0), float(words[2]))
        elif words[:1] != ["end"]:
            lines.append(line)
    lines += [f"{metric} {glob} {value:g}" for (metric, glob), value in sorted(disks.items())]
    path.write_text("\n".join([*lines, "end", ""]), encoding="utf-8")


def diagnose_all(limpet, experiments, mode, work, jobs):
    """The verdict of each experiment in `work`/MODE/NAME.json."""
    options = MODES[mode][1]
    folder = work / mode
    folder.mkdir()
    extra = []
    if options:
        extra = ["--thresholds", folder / "thresholds"]
        training = [e.dir for e in experiments if e.train]
        run(limpet, "train", *options, "-o", folder / "thresholds", *training, ok=(0, 1, 2))
        join_disks(folder / "thresholds")

    def one(e):
        run(limpet, "diagnose", "--json", "--quiet", *extra, e.dir, out=folder / f"{e.name}.json")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, experiments))
    return folder


def truth_of(experiments):
    """The rows of truth.csv about these experiments: (experiment, row)."""
    for directory in sorted({e.dir.parent for e in experiments}):
        wanted = {e.name: e for e in experiments if e.dir.parent == directory}
        with open(directory / "truth.csv", encoding="utf-8") as f:
            for row in csv.DictReader(f):
                if row["verdict"] in wanted:
                    yield wanted[row["verdict"]], row


def write_truth(experiments, path):
    """Write the truth of these experiments, with the names of faults in the table."""
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, ["verdict", "component", "cause", "diagnosis", "start", "end"],
                                extrasaction="ignore")
        writer.writeheader()
        for e, row in truth_of(experiments):
            if row["component"]:
                row["cause"] = e.label
            writer.writerow(row)


def score(limpet, experiments, folder):
    """Rows of `limpet score`: {fault: row}, and "all"."""
    if not experiments:
        return {}
    truth = folder / "truth.csv"
    write_truth(experiments, truth)
    board = json.loads(run(limpet, "score", "--by", "observer", "--json", "--truth", truth,
                           *[folder / f"{e.name}.json" for e in experiments]))
    rows = {row["fault"]: row for row in board["rows"]}
    rows["all"] = board["total"]
    return rows


def rates(row):
    """ITP, IFP, DTP, DFP of a row; None if there is none."""
    if not row:
        return (None,) * 4
    return tuple(row[key] for key in ("itp_percent", "ifp_percent", "dtp_percent", "dfp_percent"))


def text(value):
    """A rate for people."""
    return "-" if value is None else f"{value:.1f}"


def print_table(heading, columns, rows, markdown):
    """`rows` of texts; the first cell of each is a name."""
    print(f"\n{'### ' if markdown else ''}{heading}\n")
    if markdown:
        print("| " + " | ".join(columns) + " |")
        print("|" + "---|" * len(columns))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(r[i]) for r in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, *rows]:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def labels_of(experiments):
    """Rows of a table: the papers' faults first, then others."""
    present = {e.label for e in experiments}
    return [n for n in ["none", *PAPER_FAULTS] if n in present] + \
        sorted(present - set(PAPER_FAULTS) - {"none"})


def table(limpet, experiments, folder, paper):
    """Rows of one table: the rates of the papers next to those of limpet."""
    rows = []
    whole = score(limpet, experiments, folder)

    def add(label, row):
        n = row["runs"] if row else 0
        delay = row["detection_s"].get("median") if row else None
        rows.append([label, str(n), *map(text, paper.get(label, (None,) * 4)), *map(text, rates(row)),
                     "-" if delay is None else f"{delay:.0f} s"])

    for label in labels_of(experiments):
        add(label, whole.get(label))
    papers = [e for e in experiments if e.label in PAPER]
    others = [e for e in experiments if e.label not in PAPER]
    add("all of the papers'", score(limpet, papers, folder).get("all"))
    if others:
        add("all others", score(limpet, others, folder).get("all"))
    add("all", whole.get("all"))
    return rows


def wrongs(experiments, folder):
    """Sentences about the experiments with a wrong verdict."""
    rows = {}
    for e, row in truth_of(experiments):
        rows.setdefault(e.name, []).append(row)
    for e in experiments:
        verdict = json.loads((folder / f"{e.name}.json").read_text(encoding="utf-8"))
        want = {(r["component"], r.get("diagnosis") or r["cause"]) for r in rows.get(e.name, [])
                if r["component"]}
        seen = {(s.get("observer") or s["component"].split("/")[0], s["cause"])
                for s in verdict["suspects"]}
        right = all(any(w[0] == s[0] and s[1] in w[1].split("|") for s in seen) for w in want)
        extra = {s for s in seen if s[0] not in {w[0] for w in want}}
        if not right or extra:
            yield (f"{e.name}{'' if e.effect or not e.faults else ' (no effect)'}: "
                   f"is {sorted(want) or 'nothing'}, said {sorted(seen) or 'nothing'}")


def print_effects(by_case, markdown):
    """The effect of each fault on the clients."""
    workloads = sorted({w for w, _ in by_case})
    rows = []
    for label in dict.fromkeys(l for _, l in sorted(by_case, key=lambda c: (
            PAPER_FAULTS.index(c[1]) if c[1] in PAPER_FAULTS else 99, c[1]))):
        row = [label]
        for workload in workloads:
            cases = by_case.get((workload, label))
            row.append("" if not cases else
                       f"{statistics.median(r for _, r in cases):.2f}"
                       f"{'' if cases[0][0].effect else ' (none)'}")
        rows.append(row)
    print_table("Clients' throughput with the fault, by that without: the effect",
                ["fault", *workloads], rows, markdown)


def arguments():
    """The command line."""
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("recordings", nargs="*", default=[pathlib.Path("recordings")], type=pathlib.Path)
    p.add_argument("--limpet", default="build/src/cli/limpet")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--markdown", action="store_true")
    p.add_argument("--wrong", action="store_true")
    p.add_argument("--only", default="*", help="only experiments of this name (a glob)")
    p.add_argument("--mode", action="append", choices=sorted(MODES))
    return p.parse_args()


def read_all(args):
    """The experiments of all given directories: {file system: [Experiment]}."""
    systems = {}
    for directory in args.recordings:
        found = [Experiment(p) for p in sorted(directory.glob("*.json")) if not p.stem.endswith(".disturbed")]
        found = [e for e in found if e.train or fnmatch.fnmatch(e.name, args.only)]
        if not found:
            print(f"{directory}: there is no experiment (NAME.json) in it", file=sys.stderr)
            sys.exit(2)
        for e in found:
            systems.setdefault(e.fs, []).append(e)
    return systems


def judge(args, system, experiments, work):
    """Diagnose, score and print the experiments of one file system; returns its broken promises."""
    by_case = decide_effects(experiments)
    tested = [e for e in experiments if not e.train]
    seen = [e for e in tested if e.effect or not e.faults]
    columns = ["fault", "runs", "ITP", "IFP", "DTP", "DFP", "ITP", "IFP", "DTP", "DFP", "indicted after"]
    print(f"{system}: {len(tested)} experiments, {len(experiments) - len(tested)} training runs. "
          "Percentages: the paper's (PVFS, 10/10), then limpet's.")
    print_effects(by_case, args.markdown)
    failures = []
    for mode in args.mode or MODES:
        if MODES[mode][1] and len(tested) == len(experiments):
            continue
        folder = diagnose_all(args.limpet, experiments, mode, work, args.jobs)
        for title, subset, paper in (("all experiments", tested, PAPER),
                                     ("where the fault has an effect", seen, PAPER_EFFECT)):
            print_table(f"{system}, {MODES[mode][0]}: {title}", columns,
                        table(args.limpet, subset, folder, paper), args.markdown)
        if args.wrong:
            print()
            for sentence in wrongs(tested, folder):
                print(sentence)
        if mode == "untrained":
            failures += broken_promises(args, experiments, seen, folder)
    return [f"{system}: {failure}" for failure in failures]


def main():
    """One file system after the other."""
    args = arguments()
    failures = []
    for i, (system, experiments) in enumerate(sorted(read_all(args).items())):
        if i:
            print()
        with tempfile.TemporaryDirectory() as work:
            failures += judge(args, system, experiments, pathlib.Path(work))
    for failure in failures:
        print(f"accuracy.py: {failure}", file=sys.stderr)
    return 1 if failures else 0


def broken_promises(args, experiments, seen, folder):
    """Promises about diagnosis without training that do not hold."""
    sound = score(args.limpet, [e for e in experiments if not e.faults], folder)
    effect = score(args.limpet, seen, folder)
    if sound and sound["all"]["ifp_percent"]:
        yield f"{sound['all']['ifp_percent']:.1f}% of the runs without a fault were accused"
    named = effect["all"]["dtp_percent"] if effect else None
    if named is not None and named < GOAL_DTP:
        yield f"DTP is {named:.1f}% where the fault has an effect"


if __name__ == "__main__":
    sys.exit(main())
