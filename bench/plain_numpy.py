#!/usr/bin/python3
"""The analysis of `limpet diagnose -m await --method cdf`, written plainly in NumPy.

usage: bench/plain_numpy.py DIR ATTACHMENTS.csv THRESHOLD [OUT.json]

DIR has the raw counters of all disks, a sample per second (rd_ios.npy, wr_ios.npy, rd_ticks.npy,
wr_ticks.npy, each with a .names file; bench/intrepid_day.py makes them with table_bench). It performs the
steps 1 to 6 and 9 of detection, one after the other, each with the obvious NumPy calls: put the samples on a
grid of 15 s, moving average of 15, windows of 60 by 30, cdf distances of all pairs of a peer group, a vote of
more than half, 3 of the last 5 windows, persistence. It prints the time of each step.
"""
import csv
import json
import sys
import time
import warnings

import numpy as np

STEP, SMOOTH, WIN_SIZE, WIN_SHIFT, K, BINS_MAX = 15, 15, 60, 30, 3, 1000


def load(directory):
    """Raw counters [disk, second], and the names and the grid."""
    raw = {c: np.load(f"{directory}/{c}.npy")
           for c in ("rd_ios", "wr_ios", "rd_ticks", "wr_ticks")}
    with open(f"{directory}/rd_ios.npy.names", encoding="utf-8") as f:
        lines = f.read().split("\n")
    start_us, step_us = map(int, lines[0].split())
    return raw, lines[1:-1], start_us // step_us


def growth(counter, first):
    """Growth in each slot of the grid, between neighbours that both exist."""
    step = np.diff(counter, axis=1, prepend=np.nan)
    step[step < 0] = np.nan
    before = (first - 1) % STEP  # the slot that ends at second 15 n begins with second 15 n - 14
    after = -(before + step.shape[1]) % STEP
    step = np.pad(step, ((0, 0), (before, after)), constant_values=np.nan)
    slots = step.reshape(len(step), -1, STEP)
    total = np.nansum(slots, axis=2)
    total[np.isnan(slots).all(axis=2)] = np.nan
    return total


def await_of(raw, first):
    ios = growth(raw["rd_ios"], first) + growth(raw["wr_ios"], first)
    ticks = growth(raw["rd_ticks"], first) + growth(raw["wr_ticks"], first)
    return np.where(ios > 0, ticks / np.maximum(ios, 1), np.where(ios == 0, 0.0, np.nan))


def smooth(x):
    """The mean of the values among the last SMOOTH samples."""
    out = np.empty_like(x)
    for i in range(x.shape[1]):
        out[:, i] = np.nanmean(x[:, max(0, i - SMOOTH + 1):i + 1], axis=1)
    return out


def cumulative(x):
    """Cumulative fractions [disk, bin] of a window's values [disk, sample]."""
    values = x[~np.isnan(x)]
    low, high = values.min(), values.max()
    q1, q3 = np.percentile(values, [25, 75])
    size = 2 * (q3 - q1) * WIN_SIZE ** (-1 / 3)
    if high == low:
        return np.ones((len(x), 1))
    bins = int(np.ceil((high - low) / size)) if size > 0 else BINS_MAX + 1
    if bins > BINS_MAX:
        bins, size = BINS_MAX, (high - low) / BINS_MAX
    out = np.zeros((len(x), bins))
    for i, row in enumerate(x):
        row = row[~np.isnan(row)]
        at = np.minimum(np.floor((row - low) / size).astype(int), bins - 1)
        out[i] = np.cumsum(np.bincount(at, minlength=bins)) / max(len(row), 1)
    return out


def vote(x, threshold):
    """The anomalous members of a peer group in a window."""
    there = (~np.isnan(x)).sum(axis=1) >= WIN_SIZE // 2
    odd = ~there & (there.sum() > (len(x) - 1) / 2)
    index = np.flatnonzero(there)
    if len(index) < 3:
        return odd
    p = cumulative(x[index])
    for i, own in zip(index, p):
        distances = np.abs(p - own).sum(axis=1)
        odd[i] = (distances > threshold).sum() > (len(index) - 1) / 2
    return odd


def windows_of(n):
    return range(0, n - WIN_SIZE + 1, WIN_SHIFT)


def persistence(odd):
    """odd [disk, window] -> (was it ever a suspect?, the accumulator at the end)."""
    suspect = np.zeros(len(odd), bool)
    total = np.zeros(len(odd), int)
    for w in range(odd.shape[1]):
        suspect |= odd[:, max(0, w - 2 * K + 2):w + 1].sum(axis=1) >= K
        total = np.maximum(total + np.where(odd[:, w], 1, -1), 0)
    return suspect, total


def groups_of(names, path):
    with open(path, encoding="utf-8") as f:
        rows = {r["component"]: (r["priority"], r["set"]) for r in csv.DictReader(f)}
    groups = {}
    for i, name in enumerate(names):
        groups.setdefault(rows[name], []).append(i)
    return groups


def main():
    directory, attachments, threshold = sys.argv[1], sys.argv[2], float(sys.argv[3])
    took, cpu = {}, {}
    began = time.monotonic(), time.process_time()

    def lap(name):
        nonlocal began
        now = time.monotonic(), time.process_time()
        took[name], cpu[name] = now[0] - began[0], now[1] - began[1]
        began = now

    warnings.simplefilter("ignore")  # means of nothing are NaN, which is intended
    raw, names, first = load(directory)
    lap("load")
    x = await_of(raw, first)
    lap("downsample")
    x = smooth(x)
    lap("smooth")
    odd = np.zeros((len(x), len(windows_of(x.shape[1]))), bool)
    for members in groups_of(names, attachments).values():
        for w, at in enumerate(windows_of(x.shape[1])):
            odd[members, w] = vote(x[members, at:at + WIN_SIZE], threshold)
    lap("distances and votes")
    suspect, total = persistence(odd)
    ranked = sorted((i for i in range(len(x)) if suspect[i]), key=lambda i: (-total[i], names[i]))
    lap("persistence")
    report = {"took": took, "cpu": cpu, "windows": odd.shape[1], "disks": len(x), "anomalies": int(odd.sum()),
              "ranked": [names[i] for i in ranked],
              "anomalous": [[w, names[i]] for i, w in zip(*np.nonzero(odd))]}
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w", encoding="utf-8") as f:
            json.dump(report, f, default=int)
    for name, t in took.items():
        print(f"{name:20} {t:8.2f} s  {cpu[name]:8.2f} s of CPU")
    print(f"{len(x)} disks, {odd.shape[1]} windows, {int(odd.sum())} anomalies, "
          f"{len(ranked)} suspects")


if __name__ == "__main__":
    main()
