#!/usr/bin/env python3
"""Files made by a real sadc, read by limpet and by sadf: every printed value must be the same.

usage: BUILD=DIR sysstat_vs_sadf.py [FILE...]

Without files it records some itself, with disk and network traffic of its own. Prints TAP.
Twice: the raw columns as the importer delivers them, and the metrics as `limpet show` prints them,
straight from the file and out of an archive that it was imported into.
"""
import calendar
import csv
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SADC_PLACES = ["/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc", "/usr/lib/sa/sadc"]
FRESH = 2


class Row:
    """One component in one sample, and how to compute differences from the previous sample."""

    def __init__(self, values, state):
        self.values, self.state = values, state
        self.before, self.centis, self.instant = None, 0, False

    def diff(self, *columns):
        """The sum of the columns' differences in the unsigned arithmetic of sysstat."""
        bits = 32 if columns[0].endswith("ticks") else 64
        total = 0
        for column in columns:
            before = self.before.values[column] if self.before else 0
            total += self.values[column] - before
        return total % 2**bits

    def rate(self, column):
        return self.diff(column) / self.centis * 100

    def per_io(self, *columns):
        ios = self.diff("ios")
        return self.diff(*columns) / ios if ios else 0.0


def interface_utilisation(row):
    """In percent; for the busier direction if each has its own channel."""
    rx, tx, speed = row.rate("rx_bytes"), row.rate("tx_bytes"), row.values["speed"]
    if not speed:
        return 0.0
    return (max(rx, tx) if row.values["duplex"] == 2 else rx + tx) * 800 / (speed * 10**6)


DISK = {
    "tps": lambda r: r.rate("ios"),
    "rkB/s": lambda r: r.rate("rd_sec") / 2,
    "wkB/s": lambda r: r.rate("wr_sec") / 2,
    "dkB/s": lambda r: r.rate("dc_sec") / 2,
    "areq-sz": lambda r: r.per_io("rd_sec", "wr_sec", "dc_sec") / 2,
    "aqu-sz": lambda r: r.rate("rq_ticks") / 1000,
    "await": lambda r: r.per_io("rd_ticks", "wr_ticks", "dc_ticks"),
    "%util": lambda r: r.rate("tot_ticks") / 10,
}
NET = {
    "rxpck/s": lambda r: r.rate("rx_packets"),
    "txpck/s": lambda r: r.rate("tx_packets"),
    "rxkB/s": lambda r: r.rate("rx_bytes") / 1024,
    "txkB/s": lambda r: r.rate("tx_bytes") / 1024,
    "rxcmp/s": lambda r: r.rate("rx_compressed"),
    "txcmp/s": lambda r: r.rate("tx_compressed"),
    "rxmcst/s": lambda r: r.rate("rx_multicast"),
    "%ifutil": interface_utilisation,
}
NET_ERRORS = {
    "rxerr/s": lambda r: r.rate("rx_errs"),
    "txerr/s": lambda r: r.rate("tx_errs"),
    "coll/s": lambda r: r.rate("tx_colls"),
    "rxdrop/s": lambda r: r.rate("rx_drop"),
    "txdrop/s": lambda r: r.rate("tx_drop"),
    "txcarr/s": lambda r: r.rate("tx_carrier"),
    "rxfram/s": lambda r: r.rate("rx_frame"),
    "rxfifo/s": lambda r: r.rate("rx_fifo"),
    "txfifo/s": lambda r: r.rate("tx_fifo"),
}
# limpet's names of sadf's metrics, and the ratio of their units.
SHOWN = {
    "tps": ("tps", 1), "rkB/s": ("rd_sec", 2), "wkB/s": ("wr_sec", 2), "dkB/s": ("dc_sec", 2),
    "areq-sz": ("avgrq-sz", 2), "aqu-sz": ("avgqu-sz", 1), "await": ("await", 1),
    "%util": ("%util", 1), "rxpck/s": ("rxpck", 1), "txpck/s": ("txpck", 1),
    "rxkB/s": ("rxbyt", 1024), "txkB/s": ("txbyt", 1024), "rxcmp/s": ("rxcmp", 1),
    "txcmp/s": ("txcmp", 1), "rxmcst/s": ("rxmcst", 1), "rxerr/s": ("rxerr", 1),
    "txerr/s": ("txerr", 1), "coll/s": ("coll", 1), "rxdrop/s": ("rxdrop", 1),
    "txdrop/s": ("txdrop", 1), "txcarr/s": ("txcarr", 1), "rxfram/s": ("rxfram", 1),
    "rxfifo/s": ("rxfifo", 1), "txfifo/s": ("txfifo", 1),
}
REPORTS = [("disk", ["-d"], DISK), ("net", ["-n", "DEV"], NET), ("net", ["-n", "EDEV"], NET_ERRORS)]


def run(*argv):
    env = dict(os.environ, LC_ALL="C", TZ="UTC", S_TIME_FORMAT="")
    return subprocess.run(argv, capture_output=True, text=True, env=env, timeout=60)


def kernel_name(name):
    """sadf gets the names of devices from this machine; limpet does not, because a file may come from another one."""
    m = re.fullmatch(r"dev(\d+)-(\d+)", name)
    if not m:
        return name
    try:
        return os.path.basename(os.readlink(f"/sys/dev/block/{m[1]}:{m[2]}"))
    except OSError:
        return name


def read_limpet(dump, path):
    """{kind: {(seconds, name): [Row]}} of a file, each row linked to the previous one. Two samples may be in the same
    second, hence the lists. The first sample of the file and those after restarts, in which everything is fresh, are
    left out, as in sadf."""
    out = run(dump, "sysstat", path)
    if out.returncode:
        raise RuntimeError(out.stderr.strip())
    rows, last, uptimes = {}, {}, {}
    for line in csv.DictReader(out.stdout.splitlines()):
        kind, name = line["component"].split("/", 1)[1].split(":", 1)
        sample = int(line["sample"])
        uptimes[sample] = int(line["mono_us"])
        key = (int(line["time_us"]) // 10**6, kernel_name(name), sample)
        row = rows.setdefault(kind, {}).setdefault(key, Row({}, int(line["state"])))
        row.values[line["column"]] = int(line["value"])
    for kind, table in rows.items():
        for (_, name, sample), row in table.items():
            if sample - 1 in uptimes:
                row.centis = max(1, (uptimes[sample] - uptimes[sample - 1]) // 10000)
                row.instant = uptimes[sample] == uptimes[sample - 1]
            if not row.state & FRESH:
                row.before = last.get((kind, name))
            last[kind, name] = row
    result = {}
    joined = {key[2] for table in rows.values() for key, row in table.items() if not row.state & FRESH}
    for kind, table in rows.items():
        for (seconds, name, sample), row in table.items():
            if sample in joined:
                result.setdefault(kind, {}).setdefault((seconds, name), []).append(row)
    return result


def read_sadf(path, options):
    """[(seconds, name, {metric: text})] as sadf prints it."""
    result, header = [], []
    for line in run("sadf", "-dU", path, "--", *options).stdout.splitlines():
        fields = line.split(";")
        if line.startswith("#"):
            header = fields
        elif len(fields) == len(header):
            result.append((int(fields[2]), fields[3], dict(zip(header[4:], fields[4:]))))
    return result


def same(text, value):
    """Equal at the printed precision; the last digit may differ by one at a tie."""
    digits = len(text.partition(".")[2])
    return abs(float(text) - value) <= 0.5 * 10**-digits + 1e-9 * abs(value) + 1e-9


def compare(rows, printed, metrics):
    """The number of values compared and the first differences."""
    wrong, n, taken = [], 0, {}
    for seconds, name, texts in printed:
        same_second = rows.get((seconds, name))
        if not same_second:
            wrong.append(f"{name} at {seconds} is missing")
            continue
        position = taken.get((seconds, name), 0)
        taken[seconds, name] = position + 1
        row = same_second[min(position, len(same_second) - 1)]
        for metric, text in texts.items():
            if metric not in metrics:
                continue
            value = metrics[metric](row)
            n += 1
            if not same(text, value):
                wrong.append(f"{name} at {seconds}: {metric} is {value}, sadf prints {text}")
    return n, wrong


def read_shown(limpet, path):
    """{(seconds, kind, name): {metric: value}} as limpet prints it."""
    names = ",".join(metric for metric, _ in SHOWN.values())
    out = run(limpet, "show", "--csv", "-i", "1s", "-m", names, path)
    if out.returncode:
        raise RuntimeError(out.stderr.strip())
    shown = {}
    for line in csv.DictReader(out.stdout.splitlines()):
        seconds = calendar.timegm(time.strptime(line["time"], "%Y-%m-%dT%H:%M:%SZ"))
        kind, name = line["component"].split("/", 1)[1].split(":", 1)
        values = shown.setdefault((seconds, kind, kernel_name(name)), {})
        values[line["metric"]] = float(line["value"])
    return shown


def compare_shown(shown, rows, kind, printed):
    """Like compare(). If a second has two samples, the later one counts. New devices have no rate, and
    neither have samples within the same hundredth of a second (sadf divides by a hundredth there)."""
    wrong, n, taken, last = [], 0, {}, {}
    for seconds, name, texts in printed:
        position = taken.get((seconds, name), 0)
        taken[seconds, name] = position + 1
        if not rows[seconds, name][position].instant:
            last[seconds, name] = texts
    for (seconds, name), texts in last.items():
        values = shown.get((seconds, kind, name))
        if not values:
            if not rows[seconds, name][-1].state & FRESH:
                wrong.append(f"{name} at {seconds} is not shown")
            continue
        for metric, text in texts.items():
            if metric not in SHOWN:
                continue
            ours, units = SHOWN[metric]
            n += 1
            if not same(text, values.get(ours, float("nan")) / units):
                wrong.append(f"{name} at {seconds}: {ours} is {values.get(ours)}, "
                             f"sadf prints {metric} {text}")
    return n, wrong


def disk_traffic(directory, stop):
    path = os.path.join(directory, "traffic")
    while not stop.is_set():
        with open(path, "wb") as f:
            f.write(os.urandom(1 << 20))
            os.fsync(f.fileno())
        stop.wait(0.05)


def net_traffic(stop):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        while not stop.is_set():
            s.sendto(b"x" * 1000, s.getsockname())
            s.recv(2000)
            stop.wait(0.01)


def record(sadc, directory):
    """One plain file, and one with a comment, a restart mark and more runs appended."""
    paths = [os.path.join(directory, name) for name in ("plain", "joined")]
    stop = threading.Event()
    threads = [
        threading.Thread(target=disk_traffic, args=(directory, stop)),
        threading.Thread(target=net_traffic, args=(stop,)),
    ]
    for t in threads:
        t.start()
    try:
        plain = subprocess.Popen([sadc, "-S", "DISK,XDISK", "1", "5", paths[0]])
        run(sadc, "-S", "XALL", "1", "3", paths[1])
        run(sadc, "-S", "XALL", "-C", "a comment", paths[1])
        run(sadc, "-S", "XALL", "1", "2", paths[1])
        run(sadc, "-S", "XALL", paths[1])
        run(sadc, "-S", "XALL", "1", "3", paths[1])
        plain.wait(60)
    finally:
        stop.set()
        for t in threads:
            t.join()
    return paths


def check_shown(limpet, data, path, rows):
    """TAP lines comparing the output of `limpet show DATA` with that of sadf for the file `path`."""
    shown = read_shown(limpet, data)
    for kind, options, _ in REPORTS:
        n, wrong = compare_shown(shown, rows.get(kind, {}), kind, read_sadf(path, options))
        yield n > 0 and not wrong, (f"limpet show {os.path.basename(data)}: sadf "
                                    f"{' '.join(options)}: {n} values are the same")
        for text in wrong[:10]:
            print("# " + text)


def check_binary(limpet, path, rows, directory):
    """Straight from the file, and from an archive of it."""
    yield from check_shown(limpet, path, path, rows)
    archives = os.path.join(directory, os.path.basename(path) + ".imported")
    ran = run(limpet, "import", "sysstat", path, "-o", archives, "-q")
    yield ran.returncode == 0, f"limpet import sysstat {os.path.basename(path)} {ran.stderr}"
    yield from check_shown(limpet, archives, path, rows)


def check_file(dump, path, rows):
    """TAP lines without numbers: (ok, text)."""
    for kind, options, metrics in REPORTS:
        printed = read_sadf(path, options)
        n, wrong = compare(rows.get(kind, {}), printed, metrics)
        label = f"{os.path.basename(path)}: sadf {' '.join(options)}: {n} values are the same"
        yield n > 0 and not wrong, label
        for text in wrong[:10]:
            print("# " + text)
        mine = sum(len(same_second) for same_second in rows.get(kind, {}).values())
        yield mine == len(printed), f"{os.path.basename(path)}: {mine} rows where sadf has {len(printed)}"


def main():
    dump, files = os.path.join(os.environ["BUILD"], "tests/e2e/dump_source"), sys.argv[1:]
    limpet = os.environ.get("LIMPET", os.path.join(os.environ["BUILD"], "src/cli/limpet"))
    sadc = next((p for p in SADC_PLACES if os.access(p, os.X_OK)), None)
    if not shutil.which("sadf") or not (sadc or files):
        print("1..0 # SKIP sysstat (sadc and sadf) is not installed")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        results = []
        for path in files or record(sadc, directory):
            rows = read_limpet(dump, path)
            results += check_file(dump, path, rows)
            results += check_binary(limpet, path, rows, directory)
    for i, (ok, text) in enumerate(results, 1):
        print(f"{'ok' if ok else 'not ok'} {i} - {text}")
    print(f"1..{len(results)}")
    return 0 if all(ok for ok, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
