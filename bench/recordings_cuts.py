#!/usr/bin/env python3
"""recordings_cuts.py [RECORDINGS] [NAME=LIMPET...]: the recordings of the lab, shorter and with fewer
servers.

Every experiment is diagnosed, without training, as it is; cut at random to between 60 and 89 s; and with a
random choice of 5 and of 4 of its 6 servers, the faulty ones among them. Prints ITP, IFP, DTP and DFP
(docs/scoring.md) for each named program [now=$BUILD/src/cli/limpet]; all get the same data.

  --seed N   [1]     --jobs N   [1]     --wrong   name each experiment that went wrong, and how
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import sys
import tempfile

from accuracy import Experiment, rates, run, score, text

VARIANTS = {"whole": None, "60 to 89 s": None, "5 servers": 5, "4 servers": 4}


def faulty(e):
    facts = json.loads(e.dir.with_suffix(".json").read_text(encoding="utf-8"))
    return {fault["server"] for fault in facts["faults"]}


def choose(e, variant, chance):
    """Options and files of a diagnosis."""
    files = sorted(e.dir.glob("*.lpa"))
    if variant == "60 to 89 s":
        start = datetime.datetime.strptime(re.search(r"\d{8}T\d{6}", files[0].name).group(0),
                                           "%Y%m%dT%H%M%S")
        end = start + datetime.timedelta(seconds=chance.uniform(60, 89))
        return ["--until", end.strftime("%Y-%m-%dT%H:%M:%SZ"), *files]
    if VARIANTS[variant]:
        servers = sorted({f.name.split("-")[0] for f in files if f.name.startswith("s")})
        kept = faulty(e)
        others = [s for s in servers if s not in kept]
        kept |= set(chance.sample(others, VARIANTS[variant] - len(kept)))
        files = [f for f in files if f.name.startswith("c") or f.name.split("-")[0] in kept]
    return files


def wrong(folder, e):
    verdict = json.loads((folder / f"{e.name}.json").read_text(encoding="utf-8"))
    said = sorted({f"{s['component'].split('/')[0]} {s['cause']}" for s in verdict["suspects"]})
    if {s.split()[0] for s in said} != faulty(e):
        print(f"- {folder.parent.name}, {folder.name}, {e.name}: said {', '.join(said) or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="?", default="recordings", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", metavar="NAME=LIMPET")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--wrong", action="store_true")
    args = parser.parse_args()
    default = "now=" + os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
    programs = [p.split("=", 1) for p in args.programs or [default]]
    experiments = [Experiment(p) for p in sorted(args.recordings.glob("*.json"))]
    experiments = [e for e in experiments if not e.train]
    columns = " | ".join(f"{name}: ITP | IFP | DTP | DFP" for name, _ in programs)
    print(f"| recordings | {columns} |\n" + "|---" * (4 * len(programs) + 1) + "|")
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for variant in VARIANTS:
            chance = random.Random(f"{args.seed} {variant}")
            chosen = [choose(e, variant, chance) for e in experiments]
            cells = []
            for name, limpet in programs:
                folder = pathlib.Path(work) / name / variant
                folder.mkdir(parents=True)
                list(pool.map(lambda c: run(limpet, "diagnose", "--json", "--quiet", *c[1],
                                            out=folder / f"{c[0].name}.json"),
                              zip(experiments, chosen)))
                cells += [text(r) for r in
                          rates(score(programs[-1][1], args.recordings, experiments, folder)["all"])]
                if args.wrong:
                    for e in experiments:
                        wrong(folder, e)
            print(f"| {variant} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
