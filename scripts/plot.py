#!/usr/bin/env python3
"""plot.py RECORDING -o FILE.svg PANEL...: plot metrics of a recording of the lab, with the fault shaded.

A PANEL is METRIC[:GLOB][:OPTION...], e.g. 'await:s*/disk:*' or 'retrans:s*/tcp:*:sum:log': the components
whose names match, one line each; those of the faulty server are drawn in red, others in grey. Options:
  sum, mean   one line per observer: the sum or the mean over its components
  remote      one line per remote address of TCP connections (with sum or mean), named by its server
  log         a logarithmic scale
  smooth=N    a moving average over N samples
RECORDING is a directory that `limpet lab run` made; RECORDING.json next to it describes the experiment.
"""
import argparse
import csv
import datetime
import html
import io
import json
import math
import pathlib
import subprocess
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 190, 64, 12, 26, 24
GREY = ["#8a8f98", "#9aa0a8", "#7c828b", "#a7acb3", "#6f757e", "#b2b7bd"]


def seconds(text):
    """ISO 8601 to seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def read(limpet, recording, metric, glob):
    """{component: {time: value}} of a metric."""
    done = subprocess.run([limpet, "show", "--csv", "-m", metric, "-c", glob, recording],
                          stdout=subprocess.PIPE, text=True, check=True)
    series = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if row["value"] not in ("", "NaN"):
            series.setdefault(row["component"], {})[seconds(row["time"])] = float(row["value"])
    return series


def owner(component, by_remote, names):
    """The owner of a line: the observer, or the server behind a remote address."""
    observer, rest = component.split("/", 1)
    if by_remote:
        remote = rest.split(":")[1]
        return names.get(remote, remote)
    return observer


def pool(series, how, by_remote, names):
    """One series per owner."""
    values = {}
    for component, points in series.items():
        into = values.setdefault(owner(component, by_remote, names), {})
        for t, v in points.items():
            into.setdefault(t, []).append(v)
    join = sum if how == "sum" else lambda v: sum(v) / len(v)
    return {name: {t: join(v) for t, v in points.items()} for name, points in values.items()}


def smooth(points, n):
    """The mean of the last n values."""
    times = sorted(points)
    out = {}
    for i, t in enumerate(times):
        last = [points[u] for u in times[max(0, i - n + 1):i + 1]]
        out[t] = sum(last) / len(last)
    return out


class Panel:
    """A PANEL argument and its values."""

    def __init__(self, text, limpet, recording, names):
        self.metric, *rest = text.split(":")
        options = {"sum", "mean", "remote", "log"}
        glob = [r for r in rest if r not in options and not r.startswith("smooth=")]
        chosen = set(rest) & options
        self.glob = ":".join(glob) or "*"
        self.log = "log" in chosen
        series = read(limpet, recording, self.metric, self.glob)
        how = "sum" if "sum" in chosen else "mean" if "mean" in chosen else None
        if how:
            series = pool(series, how, "remote" in chosen, names)
        for option in rest:
            if option.startswith("smooth="):
                series = {k: smooth(v, int(option[7:])) for k, v in series.items()}
        self.series = series
        self.title = self.metric + (f", {how} by {'server' if 'remote' in chosen else 'observer'}"
                                    if how else "")

    def scale(self):
        """(function from value to 0..1, ticks)."""
        values = [v for points in self.series.values() for v in points.values() if math.isfinite(v)]
        top = max(values, default=1) or 1
        if self.log:
            low = min((v for v in values if v > 0), default=0.1)
            low, high = math.floor(math.log10(low)), math.ceil(math.log10(top) + 1e-9)
            high = max(high, low + 1)
            return (lambda v: (math.log10(max(v, 10 ** low)) - low) / (high - low),
                    [10 ** e for e in range(low, high + 1)])
        step = 10 ** math.floor(math.log10(top))
        step = next(s for s in (step / 5, step / 2, step, 2 * step, 5 * step) if top / s <= 5)
        ticks = [i * step for i in range(math.ceil(top / step) + 1)]
        return lambda v: v / ticks[-1], ticks


def number(value):
    """A tick's label."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def draw(panel, top, span, facts, out):
    """Append the SVG of a panel that begins at `top`."""
    begin, end = span
    culprits = {f["server"] for f in facts["faults"]}
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    unit, ticks = panel.scale()

    def x(t):
        return LEFT + inner_w * (t - begin) / max(end - begin, 1)

    def y(v):
        return top + TOP + inner_h * (1 - min(max(unit(v), 0), 1))

    out.append(f'<text x="{LEFT}" y="{top + 16}" class="t">{html.escape(panel.title)}</text>')
    if facts["faults"]:
        a, b = (min(max(seconds(facts["faults"][0][k]), begin), end) for k in ("start", "end"))
        out.append(f'<rect x="{x(a):.1f}" y="{top + TOP}" width="{x(b) - x(a):.1f}" '
                   f'height="{inner_h}" fill="#f5d7a8" opacity=".5"/>')
    for tick in ticks:
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{number(tick)}</text>')
    for s in range(0, int(end - begin) + 1, 30):
        out.append(f'<text x="{x(begin + s):.1f}" y="{top + HEIGHT - 8}" text-anchor="middle">{s} s</text>')
    order = sorted(panel.series, key=lambda c: (c.split("/")[0] in culprits, c))
    for i, name in enumerate(order):
        points = panel.series[name]
        guilty = name.split("/")[0] in culprits
        path = " ".join(f"{x(t):.1f},{y(points[t]):.1f}" for t in sorted(points))
        colour = "#c0392b" if guilty else GREY[i % len(GREY)]
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="{1.8 if guilty else 1}"><title>{html.escape(name)}</title></polyline>')


def render(panels, facts, heading):
    """The whole picture."""
    times = [t for p in panels for points in p.series.values() for t in points]
    if not times:
        sys.exit("plot.py: there are no such values in the recording")
    height = 30 + HEIGHT * len(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11" fill="#333">',
           "<style>.t{font-weight:bold}</style>",
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="{LEFT}" y="18" font-size="13">{html.escape(heading)}</text>']
    for i, panel in enumerate(panels):
        draw(panel, 24 + i * HEIGHT, (min(times), max(times)), facts, out)
    return "\n".join([*out, "</svg>", ""])


def main():
    """Read, pool, draw."""
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("recording", type=pathlib.Path)
    p.add_argument("panels", nargs="+")
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    p.add_argument("--limpet", default="build/src/cli/limpet")
    p.add_argument("--heading")
    args = p.parse_args()
    facts = json.loads(args.recording.with_suffix(".json").read_text(encoding="utf-8"))
    names = {f"10.91.1.{i}": f"s{i}" for i in range(1, facts["lab"]["servers"] + 1)}
    panels = [Panel(text, args.limpet, args.recording, names) for text in args.panels]
    faults = ", ".join(f"{f['fault']} on {f['server']}" for f in facts["faults"]) or "no fault"
    heading = args.heading or f"{facts['workload']}: {faults} (red; shaded while it is there)"
    args.output.write_text(render(panels, facts, heading), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
