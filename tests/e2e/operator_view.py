#!/usr/bin/env python3
"""What an operator sees: the verdict in its forms, colours and zones; times, slips of the keyboard, doctor, watch."""
import json
import os
import pty
import random
import shutil
import time

from program import LIMPET, bad, good, limpet, run_tests, tests_of
from tap import check

SOURCE = os.environ.get("SOURCE", ".")
SLOW = os.path.join(SOURCE, "tests/fixtures/recordings/slow-disk")
SLOW_DISK = "oss4: disk loop3 is slow, 25x its peers"
PLAIN = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "LIMPET_STATE": "/dev/null"}
PLAIN.pop("NO_COLOR", None)
WELL = ("--until", "2026-11-15T09:04:30Z")


def on_terminal(*args, env=None):
    """What limpet prints to a terminal."""
    pid, fd = pty.fork()
    if not pid:
        os.execve(LIMPET, [LIMPET, *args], {**PLAIN, "TERM": "xterm", **(env or {})})
    out = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.waitpid(pid, 0)
    os.close(fd)
    return out.decode()


def test_first_line(directory):
    """the first line says what is wrong and since when; the last line lists what was checked"""
    lines = limpet("diagnose", SLOW, env=PLAIN).out.splitlines()
    check(lines[0].startswith(f"CRITICAL  {SLOW_DISK}, since 2026-11-15 09:05:05"), lines[0])
    check(lines[-1].startswith("Checked 6 servers, 6 components, 2026-11-15 09:02:27 to 09:10:14 UTC."), lines[-1])
    check("method" not in "".join(lines), lines)
    check("method cdf" in limpet("diagnose", "-v", SLOW, env=PLAIN).out, "-v says how")
    check(all(len(line) <= 80 for line in lines), lines)


def test_evidence_once(directory):
    """connections that both ends count are one row, and a number stays with its unit"""
    ran = limpet("diagnose", os.path.join(SOURCE, "recordings/ddw-receive-pktloss-1"), env=PLAIN)
    rows = [line for line in ran.out.splitlines() if line.startswith("  retrans ")]
    check(ran.code == 1 and len(rows) == 1 and rows[0].endswith("TCP at both ends"), ran)
    check("12:27:49 to\n12:29:19 UTC." in ran.out, ran)
    ran = limpet("diagnose", os.path.join(SOURCE, "recordings/ddr-send-pktloss-1"), env=PLAIN)
    check("s1: TCP as clients see it (cwnd differs)" in ran.out, ran)


def test_empty_time(directory):
    """a time range without data: the error names that range, and the range of the data"""
    ran = limpet("diagnose", os.path.join(SOURCE, "recordings/ddr-none-1"), "--since", "2026-11-18 07:00", env={**PLAIN, "TZ": "CET-1"})
    text = " ".join(ran.out.split())
    check(ran.code == 4 and "in that time (from 2026-11-18 07:00:00 on); the data is from 2026-11-15 13:3" in text, ran)
    check(text.endswith(" Times are in CET."), ran)


def test_hung_program(directory):
    """the advice about a program that hangs: on its server, about its threads"""
    ran = limpet("diagnose", os.path.join(SOURCE, "recordings/errors/ddw-pause-1"), env=PLAIN)
    check("  DO    on s3:\n        ps -L -o pid,lwp,stat,wchan:24,etime,comm -C glusterfsd\n" in ran.out, ran)


def test_no_space(directory):
    """the advice about a failed call: its process and its directory, on its server"""
    ran = limpet("diagnose", os.path.join(SOURCE, "recordings/errors/ddnew-err-space-1"), env={**PLAIN, "TZ": "CET-1"})
    check("  DO    on s4:\n        df -h /run/limpet/lab/err1/s4/brick/c2\n        df -i " in ran.out, ran)
    check("16:25:54 UTC" not in ran.out and "17:25:54.265" in ran.out, ran)


def test_warned_once(directory):
    """a warning about a file is printed once, and not again as an error"""
    path = os.path.join(directory, "x.csv")
    with open(path, "w") as f:
        f.write("time,component,metric,value\n2026-01-01T00:00:00Z,a/disk:x,await,many\n")
    ran = limpet("diagnose", path, env=PLAIN)
    check(ran.code == 4 and ran.err.count("'many' is not a number") == 1, ran)
    check("1 bad row or value was left out" in " ".join(ran.out.split()), ran)


def test_group_meant(directory):
    """a group that does not exist: the error suggests one with the same beginning or a similar spelling"""
    data = os.path.join(SOURCE, "recordings/ddr-none-1")
    for typed, meant in (("disk", "disk of servers"), ("net eth0 of clints", "net eth0 of clients")):
        bad(2, f"no peer group is called '{typed}'; did you mean '{meant}'?", "diagnose", "--group", typed, data)


def test_oneline(directory):
    """one line per incident, of fields; one line if there is none"""
    ran = limpet("diagnose", "--format", "oneline", SLOW, env=PLAIN)
    fields = ran.out.rstrip("\n").split("\t")
    check(ran.code == 1 and ran.out.count("\n") == 1, ran)
    check(fields[:3] == ["CRITICAL", "oss4/disk:loop3", "disk-busy"] and fields[-1] == SLOW_DISK, fields)
    check(fields[3] == "2026-11-15T09:05:05Z" and fields[4] == "-" and 50 < int(fields[5]) <= 100, fields)
    ran = limpet("diagnose", "--format", "oneline", *WELL, SLOW, env=PLAIN)
    check(ran.code == 0 and ran.out.startswith("OK\t-\t"), ran)


def test_nagios(directory):
    """a plugin's first line, numbers and exit status"""
    for args, code, state in (((), 2, "CRITICAL"), (WELL, 0, "OK"), (("--since", "2026-11-16"), 3, "UNKNOWN")):
        ran = limpet("diagnose", "--format", "nagios", *args, SLOW, env=PLAIN)
        check(ran.code == code and ran.out.startswith(f"LIMPET {state} - "), ran)
        text, numbers = ran.out.splitlines()[0].split(" | ")
        check("incidents=" in numbers and "|" not in text, ran)
    ran = limpet("diagnose", "--format", "nagios", os.path.join(directory, "nothing"), env=PLAIN)
    check(ran.code == 3, ran)
    bad(2, "--format", "diagnose", "--format", "xml", SLOW)


def test_json(directory):
    """JSON has the same sentence and the same advice"""
    verdict = json.loads(limpet("diagnose", "--json", SLOW, env=PLAIN).out)
    incident, = verdict["incidents"]
    check(verdict["state"] == "CRITICAL" and verdict["headline"] == SLOW_DISK + ".", verdict["headline"])
    check(incident["what"] == SLOW_DISK and incident["do"]["host"] == "oss4", incident)
    check(incident["do"]["commands"] and all("loop3" in c for c in incident["do"]["commands"]), incident["do"])


def test_colour(directory):
    """colours on a terminal only, unless they are requested or refused"""
    red = "\033[1;31mCRITICAL\033[0m"
    check("\033" not in limpet("diagnose", SLOW, env=PLAIN).out, "no colours in pipes")
    check(red in limpet("diagnose", "--color", "always", SLOW, env=PLAIN).out, "always")
    check(red in on_terminal("diagnose", SLOW), "on a terminal")
    check("\033" not in on_terminal("diagnose", "--color", "never", SLOW), "never")
    check("\033[" not in on_terminal("diagnose", "-q", SLOW, env={"NO_COLOR": "1"}), "NO_COLOR")
    bad(2, "--color", "diagnose", "--color", "sometimes", SLOW)


def test_characters(directory):
    """ASCII where the locale is not UTF-8"""
    check(limpet("diagnose", SLOW, env=PLAIN).out.isascii(), "C")
    out = limpet("diagnose", SLOW, env={**PLAIN, "LC_ALL": "C.UTF-8"}).out
    check("±" in out and "▁" in out, out)


def test_zones(directory):
    """times are local, or UTC on request, in input and output"""
    tokyo = {**PLAIN, "TZ": "Asia/Tokyo"}
    check("since 2026-11-15 18:05:05" in limpet("diagnose", SLOW, env=tokyo).out, "local")
    check("since 2026-11-15 09:05:05" in limpet("diagnose", "--utc", SLOW, env=tokyo).out, "UTC")
    for args in (("--since", "2026-11-15 18:08"), ("--utc", "--since", "2026-11-15 09:08"),
                 ("--since", "2026-11-15 09:08", "--utc"), ("--since", "2026-11-15T09:08Z"), ("--last", "147s")):
        out = json.loads(limpet("show", "--json", *args, SLOW, env=tokyo).out)
        check(out["observers"][0]["first"].startswith("2026-11-15T09:08:0"), (args, out["observers"][0]))
    check(limpet("diagnose", "--since", "10 years", SLOW).code == 2, "no such unit")
    check(limpet("diagnose", "--since", "5000d", SLOW, env=PLAIN).code == 1, "a span leads back from now")
    bad(2, "exclude each other", "show", "--last", "1h", "--since", "1h", SLOW)
    bad(2, "not a time", "show", "--since", "soon", SLOW)


def test_slips(directory):
    """a mistyped word gets a suggestion"""
    for meant, args in (("diagnose", ("diagnos",)), ("--json", ("diagnose", "--jsno", SLOW)),
                        ("await", ("diagnose", "-m", "awiat", SLOW)), ("disk", ("diagnose", "-g", "dsik", SLOW)),
                        ("oss4/disk:loop3", ("show", "-c", "oss4/dsk:loop3", SLOW)),
                        ("up", ("lab", "upp")), ("disk-hog", ("lab", "inject", "disk-hgo", "--on", "s1")),
                        ("behaviour", ("lab", "run", "--plan", "behavior", "-o", directory + "/x", "--list"))):
        bad(2, f"did you mean '{meant}'?", *args)
    ran = limpet("diagnose", "-c", "oss4/disk:lop3", SLOW, env=PLAIN)
    check(ran.code == 4 and "did you mean 'oss4/disk:loop3'?" in ran.out and not ran.err, ran)
    ran = limpet("diagnose", "-c", "oss4/disk:nvme7n1", SLOW, env=PLAIN)
    check("there are oss4/disk:loop3, " in " ".join(ran.out.split()), ran)
    bad(2, "no format and no file 'csvv'; did you mean 'csv'?", "import", "csvv", "x", "-o", directory)
    bad(2, "options stand after the command", "--jsno")
    bad(2, "there are oss1/disk:loop0, ", "show", "-c", "something/else", SLOW)


def test_not_data(directory):
    """files that are not data are skipped among others, and are an error alone"""
    data, note = os.path.join(directory, "data"), os.path.join(directory, "note.json")
    shutil.copytree(SLOW, data)
    for path in (note, data + "/a.json", data + "/b.txt"):
        with open(path, "w", encoding="ascii") as f:
            f.write("{}\n")
    with open(data + "/truth.csv", "w", encoding="ascii") as f:
        f.write("verdict,component,cause,diagnosis,start,end,workload\nslow-1,s2,slow-disk,,,,ddr\n")
    ran = limpet("diagnose", data, note, env=PLAIN)
    check(ran.code == 1 and ran.out.startswith(f"CRITICAL  {SLOW_DISK}"), ran)
    check("skipped 4 files that are not data (a.json and others)" in ran.out, ran.out)
    bad(2, "neither an archive", "diagnose", note)
    bad(2, "none of these is data", "diagnose", note, note)
    bad(2, "cannot open", "diagnose", data, note + "x")


def one_host(path, minutes, step, slow_min):
    """Two disks of one server, the second slow at the end."""
    rng, n = random.Random(4), minutes * 60 // step
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for i in range(n):
            t = 1794268800 + i * step
            for disk in ("sda", "sdb"):
                slow = 5 if disk == "sdb" and i >= n - slow_min * 60 // step else 1
                day = 1 + t % 86400 / 172800  # busier in the evening, every day
                f.write(f"{t},web1/disk:{disk},await,{5 * day * rng.lognormvariate(0, .15) * slow:.3f}\n")
                f.write(f"{t},web1/disk:{disk},wr_sec,{8000 * day * rng.lognormvariate(0, .1):.1f}\n")
    return path


def test_one_host(directory):
    """one server without peers is compared with its own past, by days or by the time just before"""
    for minutes, step, slow_min, what in ((4 * 1440, 60, 30, "the same time of 3 days"), (60, 5, 10, "the 3 stretches")):
        ran = limpet("diagnose", one_host(directory + "/slow.csv", minutes, step, slow_min), env=PLAIN)
        check(ran.code == 1 and ran.out.startswith("CRITICAL  web1: disk sdb is slow, "), ran)
        text = " ".join(ran.out.split())
        check("x its own past, since" in text and "before " in text and what in text, ran)
        check("Checked 1 server, 2 components compared with their own past, " in text, ran)
        ran = limpet("diagnose", one_host(directory + "/well.csv", minutes, step, 0), env=PLAIN)
        check(ran.code == 0 and ran.out.startswith("OK "), ran)
    ran = limpet("diagnose", one_host(directory + "/short.csv", 2, 5, 0), env=PLAIN)
    check(ran.code == 4 and "3 components" in ran.out, ran)


def host_alone(path, change):
    """A host that changes after three quarters of the time: {metric: factor, or the new value where it was 0}."""
    rng = random.Random(6)
    usual = {"disk:sda await": 5, "disk:sda wr_sec": 8000, "net:eth0 rxbyt": 4e6, "net:eth0 rxerr": 0}
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for i in range(400):
            for name, value in usual.items():
                by = change.get(name.split()[1], 1) if i >= 300 else 1
                value = value * by * rng.lognormvariate(0, .1) if value else by - 1
                f.write(f"{1794268800 + i},web1/{name.replace(' ', ',')},{value:.3f}\n")
    return path


def test_one_host_with_more_work(directory):
    """the past accuses a host of slowness that its load does not explain and of errors, never of more or less work"""
    def status(**change):
        return limpet("diagnose", "--json", host_alone(directory + "/host.csv", change), env=PLAIN)
    for well in ({}, {"rxbyt": 20}, {"rxbyt": .05}, {"wr_sec": 6}, {"wr_sec": 0, "await": 0}, {"wr_sec": 6, "rxbyt": 6, "await": 5},
                 {"rxbyt": 6, "rxerr": 30}):
        ran = status(**well)
        verdict = json.loads(ran.out)
        check(ran.code == 0 and not verdict["incidents"], (well, verdict["headline"]))
        check("more or less work counts as none" in verdict["notes"][0], verdict["notes"])
    for bad_, what in (({"await": 4}, "web1/disk:sda"), ({"rxerr": 30}, "web1/net:eth0")):
        ran = status(**bad_)
        check(ran.code == 1 and [s["component"] for s in json.loads(ran.out)["suspects"]] == [what], (bad_, ran))


def test_doctor(directory):
    """doctor reports what works here, and what to do about the rest"""
    out = good("doctor", env=PLAIN)
    check(all(f"To {area}:" in out for area in ("record", "trace", "compare")), out)
    checks = {c["check"]: c for c in json.loads(good("doctor", "--json"))["checks"]}
    check(checks["diskstats"]["rating"] == "OK", checks["diskstats"])
    check({"clock", "ptrace", "bpf", "pressure", "disks", "file systems"} <= checks.keys(), checks.keys())
    check(all(c["remedy"] for c in checks.values() if c["rating"] == "MISSING"), checks)
    bad(2, "no arguments", "doctor", "x")


def test_watch(directory):
    """a directory that grows: first the verdict is well, then the disk is named"""
    data = os.path.join(directory, "data")
    os.mkdir(data)
    bad(2, "cannot read", "watch", data + "x")
    bad(2, "is not a directory: 'limpet watch' follows", "watch", __file__)
    ran = limpet("watch", "--for", "1s", "--past", "40000d", data, env=PLAIN)
    check(ran.code == 4 and ran.out == "", ran)
    for name in sorted(os.listdir(SLOW)):
        shutil.copy(os.path.join(SLOW, name), data)
    ran = limpet("watch", "--for", "1s", "--past", "40000d", data, env=PLAIN)
    check(ran.code == 1 and f"CRITICAL  {SLOW_DISK}" in ran.out, ran)
    began = time.monotonic()
    screen = on_terminal("watch", "--for", "1s", "--past", "40000d", data)
    check("\033[H\033[J" in screen and SLOW_DISK in screen.replace("\r\n          ", " "), screen)
    check(time.monotonic() - began < 60, "it ends")


if __name__ == "__main__":
    run_tests(tests_of(__name__))
