#!/usr/bin/env python3
"""observations.py [RECORDINGS]: the papers' seven observations (FAST'10, section 6.1) in numbers, from the lab.

For each observation: its recordings, and for every server the mean of a metric before and during the fault,
next to those of the other servers. --plots DIR also draws them. Prints Markdown; docs/observations.md contains
it with an interpretation.

  --limpet PROGRAM   [build/src/cli/limpet]      --plots DIR   write NAME.svg there
"""
import argparse
import csv
import datetime
import io
import json
import pathlib
import statistics
import subprocess
import sys

SETTLE_S = 5  # after a change, before means are computed

# (number, workload-fault, metric, what is pooled, plot panels)
CASES = [
    (1, "ddw-none-1", [("wr_sec", "s*/disk:*", "observer"), ("await", "s*/disk:*", "observer"),
                       ("rxbyt", "s*/net:*", "observer")]),
    (1, "ddr-none-1", [("rd_sec", "s*/disk:*", "observer"), ("await", "s*/disk:*", "observer"),
                       ("txbyt", "s*/net:*", "observer")]),
    (1, "postmark-none-1", [("wr_sec", "s*/disk:*", "observer"), ("await", "s*/disk:*", "observer")]),
    (2, "ddw-disk-busy-1", [("wr_sec", "s*/disk:*", "observer")]),
    (2, "ddr-disk-busy-1", [("rd_sec", "s*/disk:*", "observer")]),
    (3, "ddw-disk-busy-1", [("await", "s*/disk:*", "observer")]),
    (3, "ddr-disk-busy-1", [("await", "s*/disk:*", "observer")]),
    (4, "ddw-disk-hog-1", [("rd_sec", "s*/disk:*", "observer"), ("wr_sec", "s*/disk:*", "observer")]),
    (4, "ddr-write-network-hog-1", [("rxbyt", "s*/net:*", "observer"),
                                    ("txbyt", "s*/net:*", "observer")]),
    (5, "ddr-disk-busy-1", [("rd_sec", "s*/disk:*", "observer")]),
    (5, "ddr-send-pktloss-1", [("txbyt", "s*/net:*", "observer")]),
    (6, "ddr-disk-hog-1", [("await", "s*/disk:*", "observer"), ("%util", "s*/disk:*", "observer")]),
    (6, "ddr-disk-busy-1", [("await", "s*/disk:*", "observer"), ("%util", "s*/disk:*", "observer")]),
    (7, "ddr-send-pktloss-1", [("cwnd", "s*/tcp:*", "observer"), ("retrans", "s*/tcp:*", "observer")]),
    (7, "ddw-receive-pktloss-1", [("cwnd", "c*/tcp:*", "remote"), ("retrans", "c*/tcp:*", "remote")]),
    (7, "ddr-read-network-hog-1", [("cwnd", "s*/tcp:*", "observer"), ("retrans", "s*/tcp:*", "observer")]),
]
SUMS = {"retrans"}  # pooled by sum; others by mean


def seconds(text):
    """ISO 8601 to seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def read(limpet, recording, metric, glob, by):
    """{server: {time: [values]}}"""
    done = subprocess.run([limpet, "show", "--csv", "-m", metric, "-c", glob, recording],
                          stdout=subprocess.PIPE, text=True, check=True)
    servers = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if row["value"] in ("", "NaN"):
            continue
        observer, rest = row["component"].split("/", 1)
        name = observer if by == "observer" else "s" + rest.split(":")[1].rsplit(".", 1)[1]
        servers.setdefault(name, {}).setdefault(seconds(row["time"]), []).append(float(row["value"]))
    return servers


def mean(points, span, metric):
    """The mean over a span of the sum (or mean) over connections."""
    join = sum if metric in SUMS else statistics.mean
    values = [join(v) for t, v in points.items() if span[0] <= t < span[1]]
    return statistics.mean(values) if values else float("nan")


def spans(facts):
    """The clean time, and the time of the fault (both without their first seconds)."""
    at = {p["phase"]: (seconds(p["start"]), seconds(p["end"])) for p in facts["phases"]}
    clean = (at["clean"][0] + 1, at["clean"][1])
    return clean, (at["fault"][0] + SETTLE_S, at["fault"][1])


def line(name, values):
    """A row of a table."""
    return "| " + " | ".join([name, *(f"{v:.0f}" if v >= 1000 else f"{v:.3g}" for v in values)]) + " |"


def show(args, number, name, metrics):
    """The table for one recording."""
    recording = args.recordings / name
    facts = json.loads(recording.with_suffix(".json").read_text(encoding="utf-8"))
    culprits = [f["server"] for f in facts["faults"]]
    clean, broken = spans(facts)
    print(f"\n**{name}**" + (f" (fault on {', '.join(culprits)})" if culprits else ""))
    for metric, glob, by in metrics:
        servers = read(args.limpet, recording, metric, glob, by)
        order = sorted(servers)
        print(f"\n| {metric} | " + " | ".join(f"**{s}**" if s in culprits else s for s in order) + " |")
        print("|---" * (len(order) + 1) + "|")
        if culprits:
            print(line("before", [mean(servers[s], clean, metric) for s in order]))
            print(line("with the fault", [mean(servers[s], broken, metric) for s in order]))
        else:
            print(line("mean", [mean(servers[s], (clean[0], broken[1]), metric) for s in order]))
    if args.plots:
        draw(args, number, name, metrics)


def draw(args, number, name, metrics):
    """The same as a picture."""
    panels = []
    for metric, glob, by in metrics:
        how = "sum" if metric in SUMS else "mean"
        panels.append(f"{metric}:{glob}:{how}{':remote' if by == 'remote' else ''}:smooth=5"
                      f"{':log' if metric == 'cwnd' else ''}")
    out = args.plots / f"observation-{number}-{name}.svg"
    plot = pathlib.Path(__file__).resolve().parent.parent / "scripts/plot.py"
    subprocess.run([plot, args.recordings / name, "-o", out, "--limpet", args.limpet, *panels],
                   check=True)


def main():
    """All cases with existing recordings."""
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("recordings", nargs="?", default="recordings", type=pathlib.Path)
    p.add_argument("--limpet", default="build/src/cli/limpet")
    p.add_argument("--plots", type=pathlib.Path)
    args = p.parse_args()
    last = None
    missing = [name for _, name, _ in CASES if not (args.recordings / f"{name}.json").exists()]
    for number, name, metrics in CASES:
        if name in missing:
            continue
        if number != last:
            print(f"\n## Observation {number}")
        last = number
        show(args, number, name, metrics)
    for name in sorted(set(missing)):
        print(f"observations.py: {args.recordings}/{name}.json is not there", file=sys.stderr)
    return 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
