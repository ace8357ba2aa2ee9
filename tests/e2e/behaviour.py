#!/usr/bin/env python3
"""Servers with different functions: which functions differ, the hints they give, and programs that run on one server
only."""
import json
import os
import random

from program import good, limpet, run_tests, tests_of
from tap import check, run

MAKE_ARCHIVE = os.path.join(os.environ.get("BUILD", "build"), "tests/e2e/make_archive")
SERVERS = 6
FUNCTIONS = [f"server:server:f{i}" for i in range(20)]


def write(directory, change, name="data.csv", disks=None):
    """Fifteen minutes of samples of functions; `change(server, t, function)` scales the values, or returns those of
    other functions."""
    rng = random.Random(7)
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for t in range(0, 900, 10):
            when = f"2026-01-01T00:{t // 60:02d}:{t % 60:02d}Z"
            for server in range(SERVERS):
                values = {fn: (10 + i) * rng.gauss(1, 0.1) for i, fn in enumerate(FUNCTIONS)}
                change(server, t, values)
                for fn, value in values.items():
                    f.write(f"{when},s{server}/function:{fn},samples,{max(0, value):.3f}\n")
                if disks:
                    f.write(f"{when},s{server}/disk:sda,await,{disks(server, t, rng):.3f}\n")
                    f.write(f"{when},s{server}/disk:sda,rd_sec,{rng.gauss(1000, 20):.3f}\n")
    return path


def diagnose(path, code):
    """The verdict as JSON."""
    ran = limpet("diagnose", "--json", path)
    check(ran.code == code, ran)
    return json.loads(ran.out)


def test_functions(directory):
    """two functions that take three times as long are named, with the server"""
    def change(server, t, values):
        if server == 2 and t >= 300:
            values[FUNCTIONS[3]] *= 3
            values[FUNCTIONS[7]] *= 3

    path = write(directory, change)
    verdict = diagnose(path, 1)
    check([s["component"] for s in verdict["suspects"]] == ["s2/functions:all"], verdict["suspects"])
    suspect = verdict["suspects"][0]
    check(suspect["cause"] == "behaviour", suspect["cause"])
    top = [f["function"] for f in suspect["functions"]][:2]
    check(sorted(top) == sorted([FUNCTIONS[3], FUNCTIONS[7]]), f"{top}")
    first = suspect["functions"][0]
    check(2 < first["own"] / first["peers"] < 4, f"{first}")
    sentence = " ".join(suspect["evidence"])
    check(FUNCTIONS[3] in sentence and FUNCTIONS[7] in sentence and FUNCTIONS[0] not in sentence, sentence)
    check(all(f["metric"] == "samples" for f in suspect["functions"]), f"{suspect['functions']}")
    check(first["direction"] == "above" and 0.3 < first["share"] < 0.7, f"{first}")
    check(len(suspect["functions"]) <= 10, f"{suspect['functions']}")
    text = limpet("diagnose", path).out
    rows = [line.split() for line in text.splitlines() if line.startswith("  samples ") and "%" in line]
    check([row[-1] for row in rows][:2] == top and rows[0][-2].endswith("%"), text)


def test_two_metrics(directory):
    """functions of each metric are listed, with what they have in common"""
    def change(server, t, values):
        if server == 2 and t >= 300:
            values[FUNCTIONS[3]] *= 3

    path = write(directory, change)
    with open(path, encoding="ascii") as f:
        lines = f.read().splitlines()
    with open(path, "w", encoding="ascii") as f:
        for line in lines:
            f.write(line + "\n")
            when, component, metric, value = line.split(",")
            if metric == "samples" and component.endswith(FUNCTIONS[5]):
                late = component.startswith("s3/")
                storage = component.replace(FUNCTIONS[5], "server:posix.so:posix_readv")
                f.write(f"{when},{storage},ftime,{float(value) * (3 if late else 1) * 10}\n")
    suspects = {s["component"]: s for s in diagnose(path, 1)["suspects"]}
    check({f["metric"] for f in suspects["s2/functions:all"]["functions"]} == {"samples"}, f"{suspects}")
    late = suspects["s3/functions:all"]
    check([f["metric"] for f in late["functions"]] == ["ftime"], late["functions"])
    check("100% of the difference in ftime is in functions of storage" in late["evidence"], late["evidence"])


def test_rogue(directory):
    """a program that runs on one server only is the cause"""
    def change(server, t, values):
        if server == 4 and t >= 200:
            values["dd:libc.so.6:read"] = 90
            values["dd:kernel:copy_user"] = 60

    suspect = diagnose(write(directory, change), 1)["suspects"][0]
    check(suspect["component"] == "s4/functions:all" and suspect["cause"] == "rogue-process", suspect)
    check("dd runs here and not on its peers" in suspect["evidence"], suspect["evidence"])


def test_rogue_known(directory):
    """the process that runs on one server only, if the recorders of the servers have noted it"""
    def change(server, t, values):
        if server == 4 and t >= 200:
            values["dd:libc.so.6:read"] = 90
            values["dd:kernel:copy_user"] = 60

    data = write(directory, change)
    start_us = 1767225600 * 1000000
    notes = {"s4": "kind=process program=dd pid=812 uid=0 command=dd if=/dev/sdb of=/dev/null",
             "s1": "kind=process program=dd pid=7 uid=0 command=dd of=/dev/sdz"}
    archives = []
    for server, note in notes.items():
        archives.append(os.path.join(directory, f"{server}-notes.lpa"))
        run(MAKE_ARCHIVE, "remark", server, str(start_us + 210 * 1000000), note, archives[-1])
    ran = limpet("diagnose", "--json", data, *archives)
    check(ran.code == 1, ran)
    suspect = json.loads(ran.out)["suspects"][0]
    check(suspect["component"] == "s4/functions:all" and suspect["cause"] == "rogue-process", suspect)
    told = " ".join(suspect["evidence"])
    check("process 812 of user 0, dd if=/dev/sdb of=/dev/null" in told and "/dev/sdz" not in told, told)


def test_hint(directory):
    """functions of one sort hint at the resource"""
    def change(server, t, values):
        values["server:posix.so:posix_readv"] = 20
        values["kernel:kernel:submit_bio_wait"] = 20
        if server == 1 and t >= 300:
            values["server:posix.so:posix_readv"] = 80
            values["kernel:kernel:submit_bio_wait"] = 70

    suspect = diagnose(write(directory, change), 1)["suspects"][0]
    check(suspect["component"] == "s1/functions:all", suspect)
    check(any("in functions of storage" in s for s in suspect["evidence"]), suspect["evidence"])


def test_disk_explains(directory):
    """differences in functions follow from a slow disk of the same server"""
    def change(server, t, values):
        if server == 3 and t >= 300:
            values[FUNCTIONS[5]] *= 5

    path = write(directory, change, disks=lambda server, t, rng:
                 rng.gauss(10, 0.5) * (6 if server == 3 and t >= 300 else 1))
    verdict = diagnose(path, 1)
    check(verdict["incidents"][0]["cause"] == "disk-busy", verdict["incidents"])
    check("s3/functions:all" not in [i["part"] for i in verdict["incidents"]], verdict["incidents"])


def test_healthy(directory):
    """noise, and a load that varies for all servers, accuse no server"""
    def change(server, t, values):
        for fn in values:
            values[fn] *= 1.5 if 300 <= t < 600 else 1

    verdict = diagnose(write(directory, change), 0)
    check(verdict["suspects"] == [], verdict["suspects"])


def test_listing(directory):
    """show counts functions, and lists them on request"""
    path = write(directory, lambda server, t, values: None)
    shown = limpet("show", path)
    check(shown.code == 0 and f"\n{SERVERS * len(FUNCTIONS)} functions: limpet show --functions\n" in shown.out, shown)
    check(FUNCTIONS[0] not in shown.out, shown)
    shown = limpet("show", path, "-c", f"s1/function:{FUNCTIONS[0]}")
    check(FUNCTIONS[0] in shown.out and "limpet show --functions" not in shown.out, shown)


def weights(path):
    """{(metric, function): weight} of a file of thresholds."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f]
    return {(row[1], row[2]): float(row[3]) for row in rows if row and row[0] == "weight"}


def test_weights(directory):
    """functions that vary among healthy servers count less, those that showed a fault more; this finds a mild fault"""
    loud, quiet = FUNCTIONS[12], FUNCTIONS[3]

    def noisy(server, t, values):
        values[loud] *= 1 + 0.6 * random.Random(f"{server} {t // 60}").uniform(-1, 1)

    def faulty(server, t, values):
        noisy(server, t, values)
        if server == 2 and t >= 300:
            values[quiet] *= 2.2

    for name, change in (("sound", noisy), ("bad", faulty), ("new", faulty)):
        os.mkdir(os.path.join(directory, name))
        write(os.path.join(directory, name), change)
    truth = os.path.join(directory, "truth.csv")
    with open(truth, "w", encoding="utf-8") as f:
        f.write("verdict,component,cause,diagnosis,start,end\nsound,,,,,\n"
                "bad,s2,disk-busy,,2026-01-01T00:05:00Z,2026-01-01T00:15:00Z\n")
    sound, bad, new = (os.path.join(directory, name) for name in ("sound", "bad", "new"))
    plain, weighed, labelled = (os.path.join(directory, f"{name}.thr") for name in ("plain", "weighed", "labelled"))
    method = ["-m", "samples", "--method", "manhattan"]
    good("train", sound, *method, "-o", plain)
    good("train", sound, *method, "--weights", "-o", weighed)
    good("train", sound, bad, *method, "--labelled", truth, "-o", labelled)
    check(weights(plain) == {}, weights(plain))
    learnt = weights(weighed)
    check(learnt[("samples", loud)] < 0.5 * learnt[("samples", quiet)], learnt)
    check(weights(labelled)[("samples", quiet)] > 1.5 * learnt[("samples", quiet)], weights(labelled))
    for thresholds, code in ((plain, 0), (labelled, 1)):
        ran = limpet("diagnose", new, "--thresholds", thresholds, "-m", "samples", "--json")
        check(ran.code == code, f"{thresholds}: {ran}")
        if code:
            suspects = json.loads(ran.out)["suspects"]
            check([s["component"] for s in suspects] == ["s2/functions:all"], suspects)
            check(suspects[0]["functions"][0]["function"] == quiet, suspects)
    ran = limpet("train", sound, new, *method, "--labelled", truth, "-o", plain)
    check(ran.code == 2 and "has no row for" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
