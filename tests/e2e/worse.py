#!/usr/bin/env python3
"""Lower can be worse: bandwidth given as a metric, and a component that still works alone when its peers have finished.
"""
import random

from fleet import START, iso
from program import good, limpet, run_tests, tests_of
from tap import check
from verdicts import accused, diagnose


def write(path, values, seconds, step=1):
    """values(second, server, rng) -> {metric: value}"""
    rng = random.Random(3)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        for second in range(0, seconds, step):
            for server in range(12):
                for metric, value in values(second, server, rng).items():
                    f.write(f"{START + second},s{server}/disk:sda,{metric},{value:.3f}\n")
    return path


def test_bandwidth(directory):
    """a disk with a third of its peers' bandwidth is less loaded, unless the user says that lower is worse"""
    path = write(directory + "/bandwidth.csv", lambda t, s, r: {
        "bandwidth": 300e6 * r.lognormvariate(0, .1) / (3 if s == 5 else 1)}, 900)
    code, verdict = diagnose(path)
    check(code == 0 and not verdict["suspects"], accused(verdict))
    check([(a["component"], a["cause"]) for a in verdict["asymmetries"]] == [("s5/disk:sda", "less-loaded")],
          verdict["asymmetries"])
    _, verdict = diagnose("--worse", "lower", "bandwidth", path)
    check(accused(verdict) == {"s5/disk:sda": "disk-busy"}, accused(verdict))
    check(verdict["suspects"][0]["direction"] == "below", verdict["suspects"])
    # Higher is better then.
    path = write(directory + "/better.csv", lambda t, s, r: {
        "bandwidth": 300e6 * r.lognormvariate(0, .1) * (3 if s == 5 else 1)}, 900)
    _, verdict = diagnose("--worse", "lower", "bandwidth", path)
    check(not verdict["suspects"] and [a["cause"] for a in verdict["asymmetries"]] == ["faster"], verdict["asymmetries"])
    ran = limpet("diagnose", "--worse", "lower", "nothing-of-that-name", path)
    check(ran.code == 0, ran)


def test_kept(directory):
    """the worse side is kept in archives and in thresholds; a later option overrides it"""
    def bandwidth(t, s, r):
        return {"bandwidth": 300e6 * r.lognormvariate(0, .1) / (3 if s == 5 and t >= 900 else 1)}
    path = write(directory + "/kept.csv", bandwidth, 1800)
    good("import", "csv", path, "-o", directory + "/kept", "--worse", "lower", "bandwidth")
    _, verdict = diagnose(directory + "/kept")
    check(accused(verdict) == {"s5/disk:sda": "disk-busy"}, accused(verdict))
    _, verdict = diagnose("--worse", "higher", "bandwidth", directory + "/kept")
    check(not verdict["suspects"], accused(verdict))
    # Thresholds have it from the archive they were learnt from, or from the option.
    until = iso(START + 890)
    good("train", "--until", until, directory + "/kept", "-o", directory + "/archive.thresholds")
    good("train", "--until", until, "--worse", "lower", "bandwidth", path, "-o", directory + "/option.thresholds")
    for name in ("archive", "option"):
        _, verdict = diagnose("--thresholds", f"{directory}/{name}.thresholds", path)
        check(accused(verdict) == {"s5/disk:sda": "disk-busy"}, (name, accused(verdict)))
    ran = limpet("import", "csv", path, "-o", directory + "/bad", "--worse", "less", "bandwidth")
    check(ran.code == 2 and "does not say what is worse" in ran.err, ran)
    ran = limpet("train", "--worse", "less", "bandwidth", path, "-o", directory + "/bad.thresholds")
    check(ran.code == 2 and "does not say what is worse" in ran.err, ran)


def test_straggler(directory):
    """one of twelve that needs 510 s when its peers need 12 s is slow"""
    def job(t, server, rng):
        if server == 7:
            return {"write_bytes": 2400e6 / 510 * rng.lognormvariate(0, .1) * (120 <= t < 630)}
        return {"write_bytes": 200e6 * rng.lognormvariate(0, .1) * (120 <= t < 132)}
    path = write(directory + "/job.csv", job, 900)
    _, verdict = diagnose(path)
    check(accused(verdict) == {"s7/disk:sda": "disk-busy"}, accused(verdict))
    check("worked on alone" in verdict["suspects"][0]["evidence"][0], verdict["suspects"][0]["evidence"])
    # With a larger share of the job it only has more work.
    def more(t, server, rng):
        return {"write_bytes": 200e6 * rng.lognormvariate(0, .1) * (120 <= t < (630 if server == 7 else 132))}
    _, verdict = diagnose(write(directory + "/more.csv", more, 900))
    check(not verdict["suspects"], accused(verdict))


def test_directions(directory):
    """connections whose names lack their direction are reported"""
    for suffix, told in (("", True), (":in", False)):
        path = directory + "/tcp.csv"
        rng = random.Random(4)
        with open(path, "w", encoding="ascii") as f:
            f.write("time,component,metric,value\n")
            for second in range(300):
                for server in range(4):
                    f.write(f"{START + second},s{server}/tcp:10.0.0.9{suffix},rtt,{rng.lognormvariate(0, .1):.3f}\n")
        notes = " ".join(diagnose(path)[1]["notes"])
        check(("4 connections are of unknown direction, such as s0/tcp:10.0.0.9:" in notes) == told, notes)


def test_events(directory):
    """events are held or rated by limpet: a few per minute, and one server has three times as many"""
    rng, path = random.Random(5), directory + "/events.csv"
    rows = []
    for server in range(8):
        at = 0.0
        while at < 3 * 3600:
            at += rng.expovariate((18 if server == 2 else 6) / 60)
            rows.append(f"{START + at:.3f},s{server}/disk:sda,errors,1\n")
    rng.shuffle(rows)
    with open(path, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n")
        f.writelines(rows)
    _, verdict = diagnose("--events", "rated", "--events-every", "60s", path)
    check(list(accused(verdict)) == ["s2/disk:sda"] and not verdict["absent"], (accused(verdict), verdict["absent"]))
    shown = limpet("show", "--events", "held", "--events-every", "1h", "--csv", path)
    check(shown.code == 0 and shown.out.count("s3/disk:sda,errors") == 4, shown.out[:400])
    ran = limpet("show", "--events", "counted", path)
    check(ran.code == 2 and "neither held nor rated" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
