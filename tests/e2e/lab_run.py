#!/usr/bin/env python3
"""limpet lab run: plans, and a small one run for real, killed and resumed."""
import contextlib
import csv
import glob
import json
import os
import signal
import subprocess

from lab import PATIENCE, ROOT, gone, in_labs, until
from program import LIMPET, bad, good, limpet, run_tests, tests_of
from tap import check

NAME = f"run{os.getpid() % 100000}"
PLAN = """servers 3
clients 2
phases 1s 3s 4s 1s
run ddw disk-busy@s2
run ddw none
"""
EXPERIMENTS = ["ddw-disk-busy-1", "ddw-none-1"]


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_plans_are_listed(directory):
    """Built-in plans and files are listed, with their time."""
    for plan, shape in (("smoke", "5 servers, 4 clients"), ("quick", "6 servers, 6 clients"),
                        ("campaign", "6 servers, 6 clients"), ("paper", "6 servers, 6 clients")):
        out = good("lab", "run", "--plan", plan, "--list").splitlines()
        check(f"{len(out) - 1} experiments, {shape}, about " in out[-1], out[-1])
    listed = json.loads(good("lab", "run", "--plan", write(directory, "p", PLAN), "--list", "--json"))
    check([e["name"] for e in listed["experiments"]] == EXPERIMENTS, listed)
    check(listed["experiments"][0]["faults"] == "disk-busy@s2", listed)
    check(listed["experiments"][0]["seconds"] == 9, listed)


def names(*options):
    listed = json.loads(good("lab", "run", "--list", "--json", *options))
    return {e["name"]: e["faults"] for e in listed["experiments"]}


def test_parts(_):
    """--part and --only choose experiments, and do not change them; --seed does."""
    whole = names("--plan", "campaign")
    parts = [names("--plan", "campaign", "--part", f"{i}/3") for i in (1, 2, 3)]
    check(sum(len(p) for p in parts) == len(whole), "parts overlap or leave some out")
    for part in parts:
        check(part.items() <= whole.items(), "a part is not of the whole")
    some = names("--plan", "campaign", "--only", "ddr-disk-*")
    check(some and some.items() <= whole.items(), "--only changes experiments")
    check(all(n.startswith("ddr-disk-") for n in some), some)
    check(names("--plan", "campaign", "--seed", "7") != whole, "--seed changes nothing")


def test_usage(directory):
    """Wrong usage and bad plans are named."""
    bad(2, "name a plan", "lab", "run")
    bad(2, "with -o DIR", "lab", "run", "--plan", "quick")
    bad(2, "unexpected argument", "lab", "run", "--plan", "quick", "more")
    bad(2, "'3/2' is not like 1/2", "lab", "run", "--plan", "quick", "--list", "--part", "3/2")
    bad(2, "none of the plan's experiments", "lab", "run", "--plan", "quick", "--list", "--only", "x")
    bad(2, "--name", "lab", "run", "--plan", "quick", "--list", "--name", "x" * 40)
    bad(2, "nothing.plan", "lab", "run", "--plan", os.path.join(directory, "nothing.plan"), "--list")
    plan = write(directory, "bad.plan", "run ddw none\nrun ddw dusk-hog\n")
    bad(2, f"{plan}:2: there is no fault 'dusk-hog'", "lab", "run", "--plan", plan, "--list")


def run(out, plan, *options):
    return limpet("lab", "run", "--plan", plan, "-o", out, "--name", NAME, *options)


def check_account(out, name):
    with open(f"{out}/{name}.json", encoding="utf-8") as f:
        account = json.load(f)
    phases = account["phases"]
    check([p["phase"] for p in phases] == ["warm-up", "clean", "fault", "recovery"], account)
    check(all(p["bytes"] > 0 for p in phases[:2]), "nothing was written in the clean phase")
    for before, after in zip(phases, phases[1:]):
        check(before["end_us"] <= after["start_us"], account)
    check(phases[2]["end_us"] - phases[2]["start_us"] >= 3.9e6, account)
    check(account["samples"] >= 5 and account["disturbed"] == account["accepted"], account)
    files = sorted(os.path.basename(f)[:3] for f in glob.glob(f"{out}/{name}/*"))
    check(files == ["c1-", "c2-", "s1-", "s2-", "s3-"], files)
    check(all(f.endswith(".lpa") for f in os.listdir(f"{out}/{name}")), os.listdir(f"{out}/{name}"))
    return account


def check_truth(out, account):
    with open(f"{out}/truth.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    check([r["verdict"] for r in rows] == EXPERIMENTS, rows)
    fault = account["faults"][0]
    check(rows[0]["component"] == "s2" and rows[0]["cause"] == "disk-busy", rows)
    check((rows[0]["start"], rows[0]["end"]) == (fault["start"], fault["end"]), rows)
    check(rows[0]["workload"] == "ddw" and rows[1]["component"] == "", rows)


def check_readable(directory, out):
    verdicts = []
    for name in EXPERIMENTS:
        ran = limpet("diagnose", "--json", f"{out}/{name}")
        check(ran.code in (0, 1, 4), ran)  # they are short and may not suffice for a verdict
        verdicts.append(write(directory, f"{name}.json", ran.out))
    good("score", *verdicts, "--truth", f"{out}/truth.csv", "--by", "observer")


def wait_for(path, process):
    """Wait until the file exists."""
    def there():
        check(process.poll() is None, f"ended before there was {path}")
        return glob.glob(path)
    until(path, there)


def interrupt(out, plan):
    """Start it and end it by a signal in the middle of the first experiment."""
    with subprocess.Popen([LIMPET, "lab", "run", "--plan", plan, "-o", out, "--name", NAME],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        wait_for(f"{out}/{EXPERIMENTS[0]}.part", process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=3 * PATIENCE)
    check(process.returncode == 3 and "interrupted after 0 of 2" in err, err)
    left = os.listdir(out)
    check(not left, f"left behind: {left}")
    gone(NAME)


@contextlib.contextmanager
def busy_machine():
    """Give every CPU more work than it can do."""
    # Each in a separate session: if CPUs are shared by session, all processes of one session would count as
    # one.
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
                for _ in range(8 * os.cpu_count())]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def disturb(out, plan):
    """A recording on a machine without free CPU is not trusted."""
    with busy_machine():
        ran = run(out, plan, "--keep", "--tries", "1", "--only", EXPERIMENTS[1])
    code, err = ran.code, ran.err
    check(code == 3 and "too busy" in err and "1 disturbed" in err, err)
    check(sorted(os.listdir(out)) == [f"{EXPERIMENTS[1]}.disturbed", f"{EXPERIMENTS[1]}.disturbed.json",
                                      "truth.csv"], os.listdir(out))
    with open(f"{out}/truth.csv", encoding="utf-8") as f:
        check(len(f.readlines()) == 1, "a disturbed experiment is in the truth")


@in_labs(NAME)
def test_real(directory):
    """A plan is run for real: interrupted, resumed, recorded, accounted for, readable."""
    plan, out = write(directory, "p.plan", PLAN), os.path.join(directory, "runs")
    interrupt(out, plan)
    disturb(out, plan)
    ran = run(out, plan, "--only", EXPERIMENTS[0], "--keep", "--accept-disturbed")
    check(ran.code == 0 and "1 recorded, 0 there already" in ran.err, ran)
    account = check_account(out, EXPERIMENTS[0])
    # A killed experiment does not count as complete; a complete one is not touched.
    os.mkdir(f"{out}/{EXPERIMENTS[1]}.part")
    write(out, f"{EXPERIMENTS[1]}.part/s1-20240101T000000Z.lpa", "half")
    ran = run(out, plan, "--json", "--accept-disturbed")
    check(ran.code == 0, ran)
    check(json.loads(ran.out) == {"experiments": 2, "done": 1, "skipped": 1, "disturbed": 0,
                                  "failed": 0}, ran)
    check_account(out, EXPERIMENTS[1])
    check(check_account(out, EXPERIMENTS[0]) == account, "a whole experiment was touched")
    check(not glob.glob(f"{out}/*.disturbed*"), "what was disturbed has been replaced")
    check_truth(out, account)
    check_readable(directory, out)
    ran = run(out, plan)
    check(ran.code == 0 and "0 recorded, 2 there already" in ran.err, ran)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
