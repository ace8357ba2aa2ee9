#!/usr/bin/env python3
"""The program as a user sees it: record, show, import, check, help, and every kind of bad input."""
import csv
import io
import json
import os
import resource
import subprocess
import sys

from program import LIMPET, TREES, bad, good, limpet, run_tests, tests_of

HEADER = "time,component,metric,value\n"


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def record_tree(directory, tree="kernel-6.1-nvme", name="oss1"):
    """Replay a recorded tree; the path of the archive."""
    out = os.path.join(directory, "archives")
    good("record", "--root", os.path.join(TREES, tree), "-o", out, "-n", name, "-q",
         "--collect", "diskstats,netdev,host")
    return os.path.join(out, sorted(os.listdir(out))[-1])


def long_csv(directory, name="data.csv", samples=400, disks=3):
    """A long CSV file with values that do not compress well."""
    rows = [HEADER]
    for i in range(samples):
        for d in range(disks):
            value = (i * 7919 + d * 104729) % 10007 / 64
            rows.append(f"{1300000000 + i},oss{d % 2}/disk:sd{d},latency,{value}\n")
    return write(directory, name, "".join(rows))


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def values_of(text):
    return {(r["time"], r["component"], r["metric"]): float(r["value"]) for r in rows_of(text)}


def damage(path, fraction=0.5):
    with open(path, "r+b") as f:
        f.seek(int(os.path.getsize(path) * fraction))
        f.write(b"garbage!garbage!")


def test_recorded_tree_has_the_designed_values(d):
    """record --root, show --csv: the round numbers that the tree was made with"""
    archive = record_tree(d)
    values = values_of(good("show", "--csv", "-m", "rd_sec,r_await,w_await,%util", archive))
    times = sorted({t for t, _, _ in values})
    assert times == [f"2024-03-01T12:00:0{i}Z" for i in range(1, 5)], times
    for time in times:
        assert values[time, "oss1/disk:nvme0n1", "rd_sec"] == 12800
        assert values[time, "oss1/disk:sda", "r_await"] == 30
        assert values[time, "oss1/disk:sda", "w_await"] == 50
        assert values[time, "oss1/disk:sda", "%util"] == 100
        assert values[time, "oss1/disk:sdb", "%util"] == 50


def test_columns_that_a_kernel_lacks(d):
    """2.6.32 has no discards: tps is the sum of reads and writes"""
    archive = record_tree(d, "kernel-2.6.32")
    values = values_of(good("show", "--csv", "-m", "tps,await", archive))
    assert values["2024-03-01T12:00:02Z", "oss1/disk:sda", "tps"] == 200
    assert values["2024-03-01T12:00:02Z", "oss1/disk:sdb", "await"] == 40
    bad(2, "no selected component has a metric 'psi_nosuch'", "show", "-m", "psi_nosuch", archive)


def test_wrap_and_replacement(d):
    """a counter that wraps keeps its rate; a replaced disk has none in that second"""
    archive = record_tree(d, "vanish")
    values = values_of(good("show", "--csv", "-m", "r_await", "-c", "*/disk:sd[bc]", archive))
    sdb = [v for (_, c, _), v in sorted(values.items()) if c == "oss1/disk:sdb"]
    sdc = [t for t, c, _ in sorted(values) if c == "oss1/disk:sdc"]
    assert sdb == [3.0] * 4, sdb
    assert sdc == ["2024-03-01T12:00:01Z"], sdc


def test_replay_is_deterministic(d):
    """two replays of a tree give the same values"""
    one = record_tree(os.path.join(d, "1"))
    two = record_tree(os.path.join(d, "2"))
    assert good("show", "--csv", one) == good("show", "--csv", two)


def test_live_recording(d):
    """record this host for a second, and show it"""
    summary = json.loads(good("record", "-o", d, "-n", "me", "-i", "100ms", "-d", "1s", "--json"))
    assert isinstance(summary, dict)
    listing = json.loads(good("show", "--json", d))
    assert [o["name"] for o in listing["observers"]] == ["me"]
    assert 5 <= listing["observers"][0]["samples"] <= 15
    assert any(c["kind"] == "host" for c in listing["components"])


def test_listing_as_text(d):
    """show lists observers, components and metrics, without colours"""
    text = good("show", record_tree(d))
    assert text.startswith("1 file, ") and "\033" not in text
    assert "oss1: 5 samples from 2024-03-01T12:00:00Z to 2024-03-01T12:00:04Z (4s), every 1s" in text
    assert "oss1/disk:nvme0n1" in text and "metrics of disk: tps rd_sec wr_sec" in text


def test_listing_as_json(d):
    """show --json has the documented members"""
    listing = json.loads(good("show", "--json", record_tree(d)))
    assert {"limpet", "files", "bytes", "observers", "components", "metrics"} <= set(listing)
    observer = listing["observers"][0]
    assert {"name", "samples", "first", "last", "interval_s", "gaps", "events"} <= set(observer)
    sda = next(c for c in listing["components"] if c["component"] == "oss1/disk:sda")
    assert sda["kind"] == "disk" and sda["samples"] == 5 and sda["means"]["%util"] == 100
    assert {"kind": "disk", "name": "await"} in listing["metrics"]


def test_values_in_all_forms(d):
    """text, CSV and JSON have the same values"""
    archive = record_tree(d)
    select = ["-m", "await", "-m", "%util,tps", "-c", "*/disk:sd*", archive]
    table = json.loads(good("show", "--json", *select))
    text = good("show", *select)
    flat = values_of(good("show", "--csv", *select))
    assert [t["metric"] for t in table["tables"]] == ["await", "%util", "tps"]
    assert {"metric", "unit", "start", "step_s", "components", "values"} == set(table["tables"][0])
    assert table["tables"][0]["unit"] == "ms" and table["tables"][0]["step_s"] == 1
    n = 0
    for t in table["tables"]:
        for component, row in zip(t["components"], t["values"]):
            for slot, value in enumerate(row):
                key = (f"2024-03-01T12:00:0{slot + 1}Z", component, t["metric"])
                assert flat.get(key) == value, key
                n += value is not None
    assert n == len(flat) == 24
    lines = text.splitlines()
    assert lines[0].split() == ["time", "component", "await", "%util", "tps"], lines[0]
    assert len(lines) == 9 and len({len(line) for line in lines}) == 1, text


def test_time_range_and_interval(d):
    """--since and --until select samples; a longer --interval loses no work"""
    archive = long_csv(d)
    some = values_of(good("show", "--csv", "-m", "latency", "--since", "2011-03-13T07:06:50Z",
                          "--until", "@1300000020", "-c", "*/disk:sd1", archive))
    assert len(some) == 10 and min(some)[0] == "2011-03-13T07:06:50Z"
    tree = record_tree(d)
    raw = values_of(good("show", "--csv", "--raw", "-m", "rd_sec", "-c", "*:sda", tree))
    slow = values_of(good("show", "--csv", "-m", "rd_sec", "-i", "4s", "-c", "*:sda", tree))
    growth = max(raw.values()) - min(raw.values())
    assert list(slow.values()) == [growth / 4], (slow, growth)


def test_csv_reads_back(d):
    """the output of show --csv is valid DATA with the same values"""
    printed = good("show", "--csv", record_tree(d))
    again = good("show", "--csv", write(d, "again.csv", printed))
    assert values_of(again) == values_of(printed)


def test_import_csv(d):
    """import csv, then show: the same as straight from the CSV"""
    path = long_csv(d)
    out = os.path.join(d, "out")
    summary = json.loads(good("import", "csv", path, "-o", out, "--json"))
    assert summary["files"] == 1 and summary["samples"] == 400
    assert summary["first"] == "2011-03-13T07:06:40Z" and os.path.exists(summary["archive"])
    assert good("show", "--csv", path) == good("show", "--csv", out)
    said = good("import", path, "-o", out, "-n", "again")
    assert "1 file, 400 samples" in said and "again-20110313T070640Z.lpa" in said
    assert good("import", path, "-o", out, "-q") == ""
    assert sorted(os.listdir(out)) == ["again-20110313T070640Z.lpa", "import-20110313T070640Z.lpa",
                                       "import-20110313T070641Z.lpa"], os.listdir(out)


def test_import_of_named_columns(d):
    """any CSV by naming its columns, imported or read directly"""
    path = write(d, "odd.csv", "ts;disk_id;throughput\n1300000000;6.00;12.5\n1300000001;6.00;13\n")
    options = ["--time", "ts", "--component", "fs17/disk:{disk_id}", "--value", "throughput=tput"]
    good("import", "csv", *options, path, "-o", os.path.join(d, "out"), "-q")
    values = values_of(good("show", "--csv", os.path.join(d, "out")))
    assert values["2011-03-13T07:06:40Z", "fs17/disk:6.00", "tput"] == 12.5
    assert values == values_of(good("show", "--csv", *options, path))


def test_import_of_odd_observers(d):
    """observers with names that are not valid file names"""
    path = write(d, "x.csv", HEADER + "1300000000,.a\u00e4 b/disk:x,m,1\n1300000001,.a\u00e4 b/disk:x,m,2\n")
    good("import", path, "-o", os.path.join(d, "out"), "-q")
    assert os.listdir(os.path.join(d, "out")) == ["_a\u00e4 b-20110313T070640Z.lpa"]
    bad(2, "cannot be part of a file name", "import", path, "-n", "a/b", "-o", d)
    bad(2, "-o DIR", "import", path)


def test_check_and_repair(d):
    """check finds damage, --repair rescues the rest, show continues after it"""
    path = long_csv(d, samples=3000)
    out = os.path.join(d, "out")
    good("import", path, "-o", out, "-q")
    archive = os.path.join(out, os.listdir(out)[0])
    assert ": sound, " in good("check", archive)
    report = json.loads(good("check", "--json", archive))
    assert report[0]["sound"] and report[0]["sealed"] and report[0]["samples"] == 3000
    whole = values_of(good("show", "--csv", archive))
    damage(archive)
    ran = bad(2, ["damaged"], "check", archive)
    assert "DAMAGED" in ran.out and "samples from" in ran.out, ran
    ran = bad(2, ["damaged"], "check", "--json", archive)
    report = json.loads(ran.out)[0]
    assert not report["sound"] and report["damaged_bytes"] > 0 and report["problems"], report
    assert {"file", "bytes", "blocks", "samples", "unfinished_bytes", "first", "last",
            "repaired"} <= set(report)
    ran = bad(2, ["lost", "damaged"], "show", "--csv", archive)
    left = values_of(ran.out)
    assert 0 < len(left) < len(whole) and left.items() <= whole.items()
    bad(2, "damaged", "check", "--repair", archive)
    assert ": sound, " in good("check", archive + ".repaired")
    assert values_of(good("show", "--csv", archive + ".repaired")) == left
    bad(2, "--repair", "check", "-o", os.path.join(d, "x"), archive)
    bad(2, "one file", "check", "--repair", "-o", os.path.join(d, "x"), archive, archive)


def test_damaged_catalogue(d):
    """with a damaged catalogue the intact data is shown, the file is named, and the exit code is right"""
    archive = record_tree(d)
    with open(archive, "r+b") as f:
        f.seek(16 + 44 + 5)  # after the headers of the file and of its first frame
        byte = f.read(1)[0]
        f.seek(16 + 44 + 5)
        f.write(bytes([byte ^ 0x40]))
    for args in (["show"], ["show", "--csv"], ["show", "--json"]):
        ran = bad(2, ["the catalogue at byte 16 is damaged", archive], *args, archive)
        assert "Traceback" not in ran.err
    bad(2, "damaged", "check", archive)


def test_hostile_names(d):
    """names that control a terminal, reverse text or look like formulas are not printed as they are"""
    names = ["=cmd|x/disk:a", "a/disk:\u202egnp", "a/disk:b\u009b2J", "@x/disk:c", "a/disk:\u200bd"]
    rows = "".join(f"{1300000000 + s},{n},await,{s + 1}\n" for s in range(5) for n in names)
    path = write(d, "names.csv", HEADER + rows)
    for args in (["show"], ["show", "--csv"], ["show", "--json"], ["show", "-m", "await"],
                 ["diagnose", "--state", "/dev/null"], ["topology"],
                 ["diagnose", "--state", "/dev/null", "--json"], ["diagnose", "--hourly"]):
        ran = limpet(*args, path)
        assert ran.code in (0, 2, 4), ran
        assert all(c in "\n" or " " <= c <= "~" for c in ran.out + ran.err), (args, ran)
    shown = good("show", "--csv", path)
    assert not any(c[:1] in "=+-@" for r in rows_of(shown) for c in (r["component"], r["metric"]))
    again = write(d, "again.csv", shown)
    assert good("show", "--csv", again) == shown
    listed = json.loads(good("show", "--json", path))["components"]
    assert {c["component"] for c in listed} == set(names), listed


def test_damage_among_good_files(d):
    """one damaged file of several: the others are shown, and the exit code reports it"""
    good("import", long_csv(d), "-o", os.path.join(d, "out"), "-q", "-n", "a")
    good("import", long_csv(d), "-o", os.path.join(d, "out"), "-q", "-n", "b")
    write(d, "out/c.lpa", "nonsense")
    ran = bad(2, "c.lpa", "show", os.path.join(d, "out"))
    assert "oss1/disk:sd1" in ran.out, ran
    ran = bad(2, ["nosuch", "c.lpa"], "check", os.path.join(d, "nosuch"),
              os.path.join(d, "out/c.lpa"))


def test_check_of_a_directory(d):
    """check takes directories: all archives in them, and nothing else"""
    out = os.path.join(d, "out")
    good("import", long_csv(d), "-o", out, "-q", "-n", "a")
    good("import", long_csv(d), "-o", os.path.join(out, "below"), "-q", "-n", "b")
    write(d, "out/notes.txt", "nothing")
    lines = good("check", out).splitlines()
    assert len(lines) == 2 and all(": sound, " in line for line in lines), lines
    assert [r["sound"] for r in json.loads(good("check", "--json", out))] == [True, True]
    write(d, "out/c.lpa", "nonsense")
    ran = bad(2, "c.lpa", "check", out)
    assert ran.out.count(": sound, ") == 2, ran
    os.mkdir(os.path.join(d, "empty"))
    bad(2, ["there are no archives", "empty"], "check", os.path.join(d, "empty"))
    bad(2, "one file", "check", "--repair", "-o", os.path.join(d, "x"), out)


def test_backtest_of_damage(d):
    """backtest lists the incidents in what is intact, names the damaged file once, and the exit code says it"""
    out = os.path.join(d, "out")
    good("import", long_csv(d, samples=3000), "-o", out, "-q", "-n", "a")
    assert "incidents would have been opened" in good("backtest", "-q", out)
    damage(os.path.join(out, os.listdir(out)[0]))
    ran = bad(2, ["is damaged; its intact part was read"], "backtest", "-q", out)
    assert "incidents would have been opened" in ran.out, ran
    complaints = ran.err.splitlines()
    assert len(complaints) == len(set(complaints)), ran
    assert json.loads(bad(2, "damaged", "backtest", "-q", "--json", out).out)["incidents"] == []


def test_truncated_archives(d):
    """an archive cut off anywhere reads or is refused, and never crashes"""
    archive = record_tree(d)
    with open(archive, "rb") as f:
        data = f.read()
    for size in list(range(0, 64, 3)) + list(range(64, len(data), max(1, len(data) // 40))):
        path = write(d, "cut.lpa", data[:size])
        for args in (["show"], ["show", "--csv"], ["check"]):
            ran = limpet(*args, path)
            assert ran.code in (0, 2), (size, str(ran))
            assert ran.code == 0 or ran.err, (size, str(ran))


def test_future_archive(d):
    """an archive of a later version is refused with a clear sentence"""
    archive = record_tree(d)
    with open(archive, "rb") as f:
        data = bytearray(f.read())
    data[4] = 99  # somewhere in the magic and version
    ran = limpet("show", write(d, "future.lpa", bytes(data)))
    assert ran.code == 2 and "future.lpa" in ran.err, ran


def test_bad_input(d):
    """every kind of bad input: exit 2 and a sentence that says what is wrong"""
    bad(2, "nosuch", "show", os.path.join(d, "nosuch"))
    bad(2, "empty", "show", write(d, "empty", ""))
    bad(2, "has no file", "show", os.path.join(d))
    bad(2, "neither an archive nor", "show", write(d, "text", "hello world\n"))
    bad(2, "bad.csv", "show", write(d, "bad.csv", "this is, no\nCSV, of ours\n"))
    bad(2, "empty.lpa", "show", write(d, "empty.lpa", ""))
    bad(2, "zeros.lpa", "show", write(d, "zeros.lpa", bytes(5000)))
    for name in "hole", "hole.csv", "hole.lpa":  # reading them would take longer than the test allows
        with open(os.path.join(d, name), "wb") as f:
            f.truncate(1 << 40)
        bad(2, name, "show", os.path.join(d, name))
        os.unlink(os.path.join(d, name))
    bad(2, "name the data", "show")
    bad(2, "name the archives", "check")
    bad(2, "text", "check", os.path.join(d, "text"))
    bad(2, "no rows", "import", write(d, "none.csv", HEADER), "-o", os.path.join(d, "o"))
    assert not os.path.exists(os.path.join(d, "o")) or not os.listdir(os.path.join(d, "o"))


def test_errors_as_json(d):
    """with --json an error is an object, too"""
    data = write(d, "text", "hello world\n")
    for args in (("diagnose", data), ("show", data), ("diagnose", "--k", "-4", data), ("import", data, "-o", d), ("topology",),
                 ("train", data), ("score", data, "--truth", data), ("backtest", data), ("incidents", "--url", "nonsense")):
        ran = limpet(*args, "--json")
        error = json.loads(ran.out)
        assert ran.code == error["exit"] == 2 and error["error"] in ran.err.replace("\n", " "), (args, ran)


def test_numbers_of_spreadsheets(d):
    """decimal commas, where fields are separated by semicolons; a comma between fields stays one"""
    path = write(d, "comma.csv", "time;component;metric;value\n1300000000;a/disk:x;await;1,5\n1300000001;a/disk:x;await;0,25\n")
    assert list(values_of(good("show", "--values", "--csv", path)).values()) == [1.5, 0.25]
    bad(2, "1,2,3", "show", write(d, "bad.csv", "time;component;metric;value\n1300000000;a/disk:x;await;1,2,3\n"))


def test_wide_columns(d):
    """two columns of one component are refused, and a wide file gets a hint"""
    path = write(d, "wide.csv", "time,a/disk:x,b/disk:x,a/disk:x\n1300000000,1,2,3\n")
    bad(2, "columns 2 and 4 are both component 'a/disk:x'", "show", "--wide", "await", path)
    bad(2, "--wide METRIC", "show", path)


def test_bad_usage(d):
    """unknown commands, options, metrics and values of options"""
    archive = record_tree(d)
    bad(2, "no command 'nosuch'", "nosuch")
    bad(2, "--nosuch", "show", "--nosuch", archive)
    for args in (["show", "-m", ""], ["diagnose", "-m", ","], ["train", "-m", "", "-o", "/dev/null"]):
        bad(2, "names nothing", *args, archive)
    for args in (["diagnose"], ["train", "-o", "/dev/null"], ["topology"]):
        bad(2, "no component has an attribute 'obsever'; did you mean 'observer'?", *args, "--split-by",
            "obsever", archive)
    for args in (["trace", "samples"], ["record"]):
        for value in "0", "20001", "-1", "x", "1x", "":
            bad(2, "not a whole number from 1 to 20000", *args, "-F", value)
    bad(2, "show", "show", "--interval", "soon", archive)
    bad(2, "show", "show", "--since", "someday", archive)
    bad(2, "no selected component has a metric 'nosuch'", "show", "-m", "nosuch", archive)
    bad(2, "no selected component", "show", "-m", "await", "-c", "nobody", archive)
    bad(2, "no component matches 'nobody'", "show", "-c", "nobody", archive)
    bad(2, "no component matches 'nobody'", "show", "--csv", "-c", "nobody", archive)
    bad(2, "in that time", "show", "-m", "await", "--since", "2050-01-01", archive)
    bad(2, "later than", "show", "--since", "2024-01-02", "--until", "2024-01-01", archive)
    bad(2, "no command 'nosuch'", "help", "nosuch")
    bad(2, "help", "help", "show", "check")
    bad(2, "version", "version", "please")


def test_help(_):
    """limpet, limpet help, limpet help CMD, limpet CMD --help"""
    nothing = limpet()
    assert nothing.code == 2 and "usage: limpet COMMAND" in nothing.err and not nothing.out
    overview = good("help")
    assert overview == nothing.err == good("--help") == good("-h")
    listed = overview.split("\n\n")[2].splitlines()
    commands = [line.split()[0] for line in listed]
    assert {"record", "show", "import", "check", "help", "version"} <= set(commands)
    for command in commands:
        text = good("help", command)
        assert text == good(command, "--help") and f"usage: limpet {command}" in text
        prose = text.split("\nexamples:\n")[0]
        assert max(map(len, prose.splitlines())) <= 100, command
        assert good("help", "--man", command).startswith(".TH LIMPET")
    assert good("version") == good("--version")
    assert json.loads(good("version", "--json"))["limpet"] in good("version")


def test_full_disk(d):
    """output that cannot be written is a failure"""
    archive = record_tree(d)
    for args in (["show", archive], ["show", "--csv", archive], ["show", "--json", archive],
                 ["help"], ["check", archive], ["show", "--values", archive]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ran = subprocess.run([LIMPET, *args], stdout=full, stderr=subprocess.PIPE, text=True,
                                 timeout=60, check=False)
        assert ran.returncode == 3 and "cannot write" in ran.stderr, (args, ran)
    bad(2, "import", "import", long_csv(d), "-o", "/dev/full/x")


def test_closed_pipe(d):
    """| head -1: no hang, no noise"""
    archive = long_csv(d, samples=20000)
    ran = subprocess.run(["sh", "-c", f"'{LIMPET}' show --csv '{archive}' | head -1"],
                         capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout == HEADER and ran.stderr == "", ran


def test_odd_names(d):
    """spaces, commas, quotes and unicode in names"""
    names = ['a b/disk:sd c', 'a/disk:"q"', "a/disk:x,y", "gr\u00f6\u00dfe/disk:\u78c1\u76d8",
             "a/disk:'; rm -rf", "a/disk:#", "a/disk:y/z"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", "component", "metric", "value"])
    for second in range(3):
        for number, name in enumerate(names):
            writer.writerow([1300000000 + second, name, "late, \"very\"", second + number])
    path = write(d, "odd.csv", text.getvalue())
    good("import", path, "-o", os.path.join(d, "out"), "-q")
    for data in (path, os.path.join(d, "out")):
        shown = good("show", "--csv", data)
        assert {r["component"] for r in rows_of(shown)} == set(names)
        assert {r["metric"] for r in rows_of(shown)} == {'late, "very"'}
        listing = json.loads(good("show", "--json", data))
        assert {c["component"] for c in listing["components"]} == set(names)
        assert all(len(c["means"]) == 1 for c in listing["components"])
        assert "gr\u00f6\u00dfe/disk:\u78c1\u76d8" in good("show", data)
    assert good("show", "--csv", path) == good("show", "--csv", os.path.join(d, "out"))


def test_ten_thousand_components(d):
    """10,000 components list, print and import"""
    rows = [HEADER]
    for second in range(3):
        rows += [f"{1300000000 + second},oss{i // 50}/disk:d{i},lat,{i}\n" for i in range(10000)]
    path = write(d, "many.csv", "".join(rows))
    listing = json.loads(good("show", "--json", path))
    assert len(listing["components"]) == 10000 and len(listing["observers"]) == 200
    assert listing["components"][9999]["means"] == {"lat": 9999}
    assert len(good("show", path).splitlines()) > 10200
    assert len(values_of(good("show", "--csv", path))) == 30000
    good("import", path, "-o", os.path.join(d, "out"), "-q")
    assert good("show", "--csv", path) == good("show", "--csv", os.path.join(d, "out"))


def test_absurd_times(d):
    """1970 and 2099 in one file: existing data is shown, and takes no more memory than that"""
    rows = "".join(f"{t},a/disk:{n},lat,1\n" for t in (0, 1, 4070908800, 4070908801)
                   for n in ("x", "y"))
    path = write(d, "far.csv", HEADER + rows)
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))} \
        if "asan" not in os.environ.get("BUILD", "") else {}
    assert len(values_of(good("show", "--csv", path, **few))) == 8
    assert len(values_of(good("show", "--csv", "--since", "2099-01-01", path))) == 4
    assert "2099-01-01" in limpet("show", path).out
    one_each = write(d, "each.csv", HEADER + "0,a/disk:x,lat,1\n4070908800,a/disk:y,lat,2\n")
    assert len(values_of(good("show", "--csv", "-i", "1s", one_each, **few))) == 2


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(__name__)))
