#!/usr/bin/env python3
"""The cost and use of warnings about mild slowness: recall against false warnings, over the whole range of thresholds.

usage: BUILD=DIR perseus_warnings.py DATA SLOW_DRIVES.csv [--factors 1.2,1.25,...] [--seed N] [-o PLOT.svg]

DATA and SLOW_DRIVES.csv are those of bench/perseus.py. Every day of every cluster is diagnosed by itself. False
warnings are those of drives that the operators did not confirm as slow, in the original data. For recall, the latency
of one such drive per host, chosen at random, is multiplied by each factor for the whole day: real noise, known
slowness. A drive that becomes a suspect counts as found at any threshold; a drive that is wrongly a suspect is left
out, because bench/perseus.py counts those.
"""
import argparse
import collections
import csv
import glob
import os
import random
import sys
import tempfile

import perseus

BARS = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 130, 20, 44
COLOURS = ["#b2182b", "#ef8a62", "#998ec3", "#2166ac", "#1b7837", "#762a83"]


def certainties(files, sick):
    """({drive: certainty} of the warnings, suspects, number of drives that were compared) of a day."""
    found, verdict = perseus.suspects(files, ["--warn-at", "0.01"])
    compared = {c for g in verdict["groups"] for c in g["components"]}
    return ({w["component"]: w["certainty"] for w in verdict["warnings"] if w["component"] not in sick},
            found - sick, len(compared - sick))


def component(path, disk):
    """The name according to perseus.FORMAT."""
    parts = path.split(os.sep)
    return f"{parts[-3]}.{parts[-2]}/disk:{disk}"


def slowed(files, sick, factor, rng, directory):
    """Copies of a day's files in which one healthy drive per host is slower; their paths, and those drives."""
    paths, chosen = [], set()
    for path in files:
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        disks = sorted({r[1] for r in rows[1:]} - {d for d in {r[1] for r in rows[1:]} if component(path, d) in sick})
        disk = rng.choice(disks) if disks else None
        out = os.path.join(directory, *path.split(os.sep)[-3:])
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out, "w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(rows[0])
            for row in rows[1:]:
                if row[1] == disk and row[3][:1].isdigit():
                    row = [*row[:3], f"{float(row[3]) * factor:.2f}"]
                writer.writerow(row)
        paths.append(out)
        if disk:
            chosen.add(component(path, disk))
    return paths, chosen


def days_of(data):
    """(cluster, day, its files)"""
    for path in sorted(glob.glob(os.path.join(data, "cluster_*"))):
        files = sorted(glob.glob(os.path.join(path, "host_*", "*.csv")))
        for day in sorted({os.path.basename(f) for f in files}):
            yield os.path.basename(path), day[:-4], [f for f in files if os.path.basename(f) == day]


def measure(args):
    """False warnings by cluster [(certainty)], component-days by cluster, {(cluster, factor): [certainty or None]}."""
    slow, rng = perseus.truth(args.slow_drives), random.Random(args.seed)
    wrong, sound, found = collections.defaultdict(list), collections.Counter(), collections.defaultdict(list)
    for cluster, day, files in days_of(args.data):
        warned, _, n = certainties(files, slow[cluster])
        wrong[cluster] += warned.values()
        sound[cluster] += n
        for factor in args.factors:
            with tempfile.TemporaryDirectory() as directory:
                paths, chosen = slowed(files, slow[cluster], factor, rng, directory)
                warned, suspects, _ = certainties(paths, slow[cluster])
            found[cluster, factor] += [99 if c in suspects else warned.get(c, 0) for c in sorted(chosen)]
        print(f"{cluster} {day}: done", file=sys.stderr)
    return wrong, sound, found


def share(values, bar):
    return sum(v >= bar for v in values) / len(values) if values else 0.0


def print_table(wrong, sound, found, factors):
    clusters = sorted(sound)
    print("| bar | " + " | ".join(f"false in {c[-1]}" for c in clusters) + " | per 1,000 component-days | " +
          " | ".join(f"{f} in {c[-1]}" for f in factors for c in clusters) + " |")
    print("|---" * (2 + len(clusters) + len(factors) * len(clusters)) + "|")
    for bar in BARS:
        n = [sum(v >= bar for v in wrong[c]) for c in clusters]
        print(f"| {bar} | " + " | ".join(map(str, n)) + f" | {1000 * sum(n) / sum(sound.values()):.2f} | " +
              " | ".join(f"{100 * share(found[c, f], bar):.0f}%" for f in factors for c in clusters) + " |")
    print(f"\n{sum(sound.values())} component-days of sound drives; "
          f"{sum(len(v) for v in found.values()) // len(factors)} drive-days made slow per factor")


def plot(path, wrong, sound, found, factors):
    """Recall of each factor, in clusters as they are mixed, against false warnings."""
    all_wrong, total = [v for w in wrong.values() for v in w], sum(sound.values())
    rates = [1000 * sum(v >= b for v in all_wrong) / total for b in BARS]
    most = max(rates + [2])

    def x(rate):
        return LEFT + (WIDTH - LEFT - RIGHT) * (rate / most) ** 0.5

    def y(recall):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - recall)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for r in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<path d="M{LEFT} {y(r):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(r) + 4:.1f}" text-anchor="end">{100 * r:.0f}%</text>')
    for rate in (0, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if rate <= most:
            out.append(f'<path d="M{x(rate):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{"#888" if rate == 1 else "#eee"}"/>'
                       f'<text x="{x(rate):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{rate}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               "false warnings per 1,000 component-days</text>")
    series = [(f"{f}x in {c[-1]}", found[c, f]) for f in factors for c in sorted(sound)]
    for i, (name, values) in enumerate(series):
        colour, dash = COLOURS[i // len(sound) % len(COLOURS)], "" if i % len(sound) == 0 else ' stroke-dasharray="5 3"'
        points = [(x(r), y(share(values, b))) for r, b in zip(rates, BARS)]
        out.append('<polyline fill="none" stroke-width="2" stroke="%s"%s points="%s"/>' %
                   (colour, dash, " ".join(f"{px:.1f},{py:.1f}" for px, py in points)))
        at = BARS.index(1.0)
        out.append(f'<circle cx="{points[at][0]:.1f}" cy="{points[at][1]:.1f}" r="4" fill="{colour}"/>')
        ly = TOP + 14 + 18 * i
        out.append(f'<path d="M{WIDTH - RIGHT + 10} {ly - 4}h24" stroke-width="2" stroke="{colour}"{dash}/>'
                   f'<text x="{WIDTH - RIGHT + 40}" y="{ly}">{name}</text>')
    out.append("</svg>\n")
    with open(path, "w") as f:
        f.write("\n".join(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("slow_drives")
    parser.add_argument("--factors", type=lambda t: [float(f) for f in t.split(",")], default=[1.2, 1.25, 1.3, 1.35])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", help="plot it")
    args = parser.parse_args()
    wrong, sound, found = measure(args)
    print_table(wrong, sound, found, args.factors)
    if args.output:
        plot(args.output, wrong, sound, found, args.factors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
