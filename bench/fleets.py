#!/usr/bin/env python3
"""Random fleets of disks with faults, and how well limpet finds them.

usage: BUILD=DIR fleets.py [--fleets N] [--seed N] [--jobs N]     the table of docs/accuracy.md
       fleets.py --write DIR [--fleets N] [--seed N]              only write them, with DIR/truth.csv for limpet score

A fleet has hosts of one to three hardware classes with data disks, spares and disks that systems boot from, some hosts
in an idle pool, a load with a daily cycle, and one to three days of data, a sample per minute, one file per host and
day: FLEET/HOST/DATE.csv with the columns ts, disk_id, throughput and latency. These events are not faults: a host
rebuilds, a firmware changes a whole class overnight, a file is missing, clocks are off, disks are slow for some minutes
now and then. Faults: up to 40% of the data disks (in each host) are 1.15 to 30 times as slow, from some time on, until
some time. Everything depends only on the seed and on the number of the fleet.

Three methods examine the same fleets: limpet with its defaults; exactly the method of the thesis (cdf, trained on a day
of the same fleet without faults); and a simple threshold: an alarm if the mean latency of a quarter of an hour is more
than twice the 99th percentile of the whole fleet on the day without faults.
"""
import argparse
import collections
import csv
import datetime
import json
import math
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile

LIMPET = os.path.join(os.environ.get("BUILD", "build"), "src/cli/limpet")
FORMAT = ["--time", "ts", "--component", "{dir}/disk:{disk_id}", "--value", "throughput,latency"]
STEP_S, DAY_S = 60, 86400
PER_DAY = DAY_S // STEP_S
START = datetime.datetime(2026, 3, 2, tzinfo=datetime.timezone.utc)
NOISE = 1 << 14
SEVERITIES = [(1.15, 1.25), (1.25, 1.5), (1.5, 2), (2, 4), (4, 10), (10, 30)]
METHODS = ["limpet", "with warnings", "cdf, trained", "threshold"]


class Class:
    """A sort of hardware."""

    def __init__(self, rng, days):
        self.latency_ms = math.exp(rng.uniform(math.log(0.5), math.log(12)))
        self.queue = rng.uniform(0.2, 1.0)  # how much a full load adds
        self.spread = rng.uniform(0.01, 0.05)  # of healthy disks
        self.noise = [math.exp(rng.gauss(0, rng.uniform(0.1, 0.3))) for _ in range(NOISE)]
        self.update_s, self.update = math.inf, 1.0
        if days > 1 and rng.random() < 0.3:  # at 2 in the morning
            self.update_s = DAY_S * rng.randrange(1, days) + 7200
            self.update = rng.choice([rng.uniform(0.6, 0.85), rng.uniform(1.2, 1.7)])


class Disk:
    """A disk and its events."""

    def __init__(self, host, name, role, rng, days):
        self.host, self.name, self.role, self.rng = host, name, role, rng
        self.pace = math.exp(rng.gauss(0, host.hardware.spread))
        self.share = math.exp(rng.gauss(0, 0.04))
        self.fault = None  # (from, to, factor), seconds
        self.bursts = [(at, at + 60 * rng.uniform(5, 40), rng.uniform(1.2, 2.0))
                       for at in (rng.uniform(0, days * DAY_S) for _ in range(rng.randrange(0, 2 * days + 1)))]

    def component(self):
        return f"{self.host.name}/disk:{self.name}"

    def factors(self, n, days_from):
        """The factor of slowness, by sample."""
        out = [1.0] * n
        for begin, end, factor in [*self.bursts, *([self.fault] if self.fault else [])]:
            first = max(0, math.ceil((begin - days_from) / STEP_S))
            last = min(n, math.ceil((end - days_from) / STEP_S))
            for i in range(first, last):
                out[i] *= factor
        return out


class Host:
    """A host with its disks."""

    def __init__(self, name, hardware, rng, days):
        self.name, self.hardware = name, hardware
        self.skew_s = rng.choice([0, 0, rng.randint(-30, 30)])
        self.load = math.exp(rng.gauss(0, 0.1))
        self.rebuild = None  # (from, to, how many times the work)
        self.missing = set()  # days
        n = rng.randint(6, 12)
        roles = ["data"] * n + ["spare"] * (rng.random() < 0.4) + ["boot"] * (rng.random() < 0.4)
        self.disks = [Disk(self, f"d{i}", role, rng, days) for i, role in enumerate(roles, 1)]


class Fleet:
    """See the top of this file."""

    def __init__(self, seed, number):
        rng = random.Random(f"fleet {seed} {number}")
        self.number, self.days, self.what = number, rng.randint(1, 3), "fleet"
        classes = [Class(rng, self.days) for _ in range(rng.randint(1, 3))]
        self.hosts = [Host(f"h{i}", rng.choice(classes), rng, self.days) for i in range(1, rng.randint(4, 8) + 1)]
        self.peak_hour, self.swing = rng.uniform(0, 24), rng.uniform(0.1, 0.8)
        self.wave_seed = rng.random()
        if rng.random() < 0.25:  # an idle pool
            for host in rng.sample(self.hosts, max(1, len(self.hosts) // 4)):
                host.load *= 0.02
        if rng.random() < 0.3:
            begin = rng.uniform(0, 0.7) * self.days * DAY_S
            rng.choice(self.hosts).rebuild = (begin, begin + 3600 * rng.uniform(2, 6), rng.uniform(1.4, 2.2))
        if self.days > 1 and rng.random() < 0.25:
            rng.choice(self.hosts).missing.add(rng.randrange(self.days))
        share = rng.choice([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4])
        self._break(rng, share)

    def _break(self, rng, share):
        for host in self.hosts:
            data = [d for d in host.disks if d.role == "data"]
            most = int(0.4 * len(data))
            for disk in rng.sample(data, min(most, sum(rng.random() < share for _ in data))):
                span = self.days * DAY_S
                begin = 0 if rng.random() < 0.3 else rng.uniform(0, 0.8) * span
                end = span if rng.random() < 0.5 else min(span, begin + rng.uniform(3600, span))
                disk.fault = (begin, end, math.exp(rng.uniform(math.log(1.15), math.log(30))))

    def make_sound(self):
        """A day without faults, for training."""
        self.days, self.what = 1, "sound"
        for host in self.hosts:
            host.missing, host.rebuild, host.hardware.update_s = set(), None, math.inf
            for disk in host.disks:
                disk.fault = None
        return self

    def disks(self):
        return [d for h in self.hosts for d in h.disks]

    def loads(self):
        """Requests of all clients, with a mean of 1, by sample."""
        rng, wave, out = random.Random(f"load {self.wave_seed} {self.what}"), 0.0, []
        for i in range(self.days * PER_DAY):
            wave = 0.95 * wave + rng.gauss(0, 0.05)
            hour = i * STEP_S / 3600
            out.append((1 + self.swing * math.cos((hour - self.peak_hour) * math.pi / 12)) * math.exp(wave))
        return out

    def samples(self, disk, loads):
        """(throughput, latency or None) of a disk by sample."""
        rng, hardware, host = random.Random(f"{self.wave_seed} {disk.component()} {self.what}"), disk.host.hardware, disk.host
        noise, at, stride, drift = hardware.noise, rng.randrange(NOISE), 2 * rng.randrange(NOISE // 2) + 1, 0.0
        factors = disk.factors(len(loads), 0)
        for i, load in enumerate(loads):
            at = (at + stride) % NOISE
            if disk.role == "spare":
                yield 0, None
                continue
            if disk.role == "boot":
                busy = rng.random() < 0.1
                yield (4096 * rng.randrange(1, 9), hardware.latency_ms * noise[at]) if busy else (0, None)
                continue
            now = i * STEP_S
            drift = 0.97 * drift + rng.gauss(0, 0.01)
            work = load * host.load * disk.share * noise[(at * 7) % NOISE] ** 0.5
            wait = hardware.latency_ms * disk.pace * noise[at] * math.exp(drift) * factors[i]
            if host.rebuild and host.rebuild[0] <= now < host.rebuild[1]:
                work *= host.rebuild[2]
                wait *= host.rebuild[2]
            if now >= hardware.update_s:
                wait *= hardware.update
            yield 2e7 * work, wait * (1 + hardware.queue * min(2, work))

    def write(self, directory):
        """One file per host and day. Returns {component: [mean latency of each quarter of an hour]}."""
        loads, means = self.loads(), {}
        for host in self.hosts:
            os.makedirs(os.path.join(directory, host.name), exist_ok=True)
            files = []
            for day in range(self.days):
                name = (START + datetime.timedelta(days=day)).strftime("%Y-%m-%d.csv")
                files.append(None if day in host.missing else open(os.path.join(directory, host.name, name), "w"))
                if files[-1]:
                    files[-1].write("ts,disk_id,throughput,latency\n")
            start = int(START.timestamp()) + host.skew_s
            for disk in host.disks:
                quarter, own = [], []
                for i, (work, wait) in enumerate(self.samples(disk, loads)):
                    f = files[i // PER_DAY]
                    if f:
                        f.write(f"{start + (i + 1) * STEP_S},{disk.name},{work:.0f},{'' if wait is None else f'{wait:.3f}'}\n")
                    if wait is not None:
                        quarter.append(wait)
                    if i % 15 == 14:
                        own.append(sum(quarter) / len(quarter) if quarter else math.nan)
                        quarter = []
                means[disk.component()] = own
            for f in files:
                if f:
                    f.close()
        return means


def run(*argv):
    ran = subprocess.run([LIMPET, *argv], capture_output=True, text=True)
    if ran.returncode not in (0, 1, 4):
        raise RuntimeError(f"{argv[0]}: {ran.stderr.strip()[-400:]}")
    return ran.stdout


def csv_files(directory):
    return [os.path.join(d, f) for d, _, files in sorted(os.walk(directory)) for f in sorted(files) if f.endswith(".csv")]


def verdict(files, *options):
    return json.loads(run("diagnose", "--json", "--quiet", *FORMAT, *options, *files))


def named(v, *lists):
    return {s["component"] for name in lists for s in v.get(name, [])}


def one_fleet(job):
    """All methods on one fleet: the components that each of them names, and the truth."""
    seed, number = job
    directory = tempfile.mkdtemp(prefix="fleet")
    try:
        fleet, sound = Fleet(seed, number), Fleet(seed, number).make_sound()
        usual = sorted(m for own in sound.write(os.path.join(directory, "sound")).values() for m in own if m == m)
        means = fleet.write(os.path.join(directory, "fleet"))
        files, trained = csv_files(os.path.join(directory, "fleet")), os.path.join(directory, "trained")
        v = verdict(files)
        run("train", "--method", "cdf", *FORMAT, *csv_files(os.path.join(directory, "sound")), "-o", trained)
        plain = verdict(files, "--thresholds", trained)
        alarm = 2 * usual[int(0.99 * len(usual))]
        return {
            "faults": {d.component(): d.fault[2] for d in fleet.disks() if d.fault},
            "hours": {d.component(): (d.fault[1] - d.fault[0]) / 3600 for d in fleet.disks() if d.fault},
            "sound_days": fleet.days * sum(not d.fault for d in fleet.disks()),
            "absent": len(v.get("absent", [])),
            "limpet": named(v, "suspects"),
            "with warnings": named(v, "suspects", "warnings"),
            "cdf, trained": named(plain, "suspects"),
            "threshold": {c for c, own in means.items() if any(m > alarm for m in own)},
        }
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def print_table(fleets, note):
    print(note)
    print("| slowness | faults | " + " | ".join(METHODS) + " |")
    print("|---|---:|" + "---:|" * len(METHODS))
    for low, high in [*SEVERITIES, (1.0, 1e9)]:
        faults = [(f, c) for f in fleets for c, factor in f["faults"].items() if low <= factor < high]
        cells = [f"{100 * sum(c in f[m] for f, c in faults) / len(faults):.1f}%" if faults else "-" for m in METHODS]
        print(f"| {'all' if high > 1e3 else f'{low} to {high}'} | {len(faults)} | " + " | ".join(cells) + " |")
    days = sum(f["sound_days"] for f in fleets)
    wrong = [1000 * sum(len(f[m] - set(f["faults"])) for f in fleets) / days for m in METHODS]
    wrong[1] -= wrong[0]
    print("| false accusations per 1,000 component-days | | " +
          " | ".join(f"{w:.2f}{' more' if m == METHODS[1] else ''}" for m, w in zip(METHODS, wrong)) + " |")
    hit = [sum(bool(f[m] - set(f["faults"])) for f in fleets) for m in METHODS]
    print("| fleets with a false accusation | | " + " | ".join(map(str, hit)) + " |")
    print(f"\n{len(fleets)} fleets, {days} component-days of sound disks, {sum(f['absent'] for f in fleets)} listed as absent.")


def write_all(args):
    """Fleets as data, and the truth for limpet score."""
    os.makedirs(args.write, exist_ok=True)
    with open(os.path.join(args.write, "truth.csv"), "w", newline="") as f:
        truth = csv.writer(f)
        truth.writerow(["verdict", "component", "cause", "start", "end", "factor"])
        for number in range(1, args.fleets + 1):
            fleet, name = Fleet(args.seed, number), f"fleet-{number}"
            fleet.write(os.path.join(args.write, name))
            truth.writerow([name, "", "", "", "", ""])
            for disk in fleet.disks():
                if disk.fault:
                    begin, end = (START + datetime.timedelta(seconds=s) for s in disk.fault[:2])
                    truth.writerow([name, disk.component(), "disk-busy", begin.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                    end.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{disk.fault[2]:.3f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fleets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", metavar="DIR", help="write the fleets, and run nothing")
    parser.add_argument("--wrong", action="store_true", help="name what limpet accused wrongly, and what it missed")
    args = parser.parse_args()
    if args.write:
        write_all(args)
        return 0
    fleets = []
    with multiprocessing.Pool(args.jobs) as pool:
        for number, fleet in enumerate(pool.imap(one_fleet, [(args.seed, n) for n in range(1, args.fleets + 1)]), 1):
            fleets.append(fleet)
            if args.wrong:
                missed = {c: f"{x:.2f}x {fleet['hours'][c]:.1f}h" for c, x in fleet["faults"].items()
                          if c not in fleet["with warnings"]}
                wrong, more = fleet["limpet"] - set(fleet["faults"]), fleet["with warnings"] - fleet["limpet"] - set(fleet["faults"])
                print(f"fleet {number}: wrong {sorted(wrong)}, warned wrongly {sorted(more)}, missed {missed}", flush=True)
    print_table(fleets, f"Seed {args.seed}:\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
