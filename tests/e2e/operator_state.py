#!/usr/bin/env python3
"""limpet ack, mute and clear: what they store and refuse, and how diagnose uses it."""
import json
import os
import random
import sqlite3
import subprocess

from program import LIMPET, bad, good, limpet, run_tests, tests_of

VERBS = ("ack", "mute", "clear")


def state_of(directory):
    return os.path.join(directory, "state.db")


def entries(verb, state):
    return json.loads(good(verb, "--list", "--json", "--state", state))["entries"]


def slow_disk(directory):
    """Eight disks for two hours, the third of which is slow; the path of the CSV file."""
    path = os.path.join(directory, "data.csv")
    chance = random.Random(5)
    with open(path, "w", encoding="utf-8") as f:
        f.write("time,component,metric,value\n")
        for i in range(0, 7200, 5):
            for d in range(8):
                times = 5 if d == 2 else 1
                value = times * (8 + 4 * chance.random())
                f.write(f"{1304899200 + i},oss{d}/disk:sdb,await,{value:.3f}\n")
                f.write(f"{1304899200 + i},oss{d}/disk:sdb,wr_sec,{9000 + 500 * chance.random():.1f}\n")
    return path


def diagnose(path, state):
    ran = limpet("diagnose", "--json", "--state", state, path)
    assert ran.code in (0, 1), ran
    return ran.code, json.loads(ran.out)


def test_say_list_undo(directory):
    """each command stores, lists and removes"""
    state = state_of(directory)
    for verb in VERBS:
        assert entries(verb, state) == [], verb
        assert "nothing" in good(verb, "--list", "--state", state)
        out = good(verb, "oss3/disk:sdb", "oss4/*", "--note", "why \"so\"", "--state", state)
        assert "oss3/disk:sdb" in out and "oss4/*" in out, out
        listed = entries(verb, state)
        assert [e["component"] for e in listed] == ["oss3/disk:sdb", "oss4/*"], listed
        assert all(e["verb"] == verb and e["note"] == "why \"so\"" for e in listed), listed
        assert "why \"so\"" in good(verb, "--list", "--state", state)
    for verb in VERBS:
        good(verb, "--undo", "oss4/*", "--state", state)
        assert [e["component"] for e in entries(verb, state)] == ["oss3/disk:sdb"]
        bad(2, ["there is no note about", "oss4/*"], verb, "--undo", "oss4/*", "--state", state)


def test_times(directory):
    """mute --for and --until, clear --at"""
    state = state_of(directory)
    good("mute", "a/b:c", "--until", "2999-01-01", "--state", state)
    assert entries("mute", state)[0]["until"] == "2999-01-01T00:00:00Z"
    good("mute", "a/b:c", "--for", "7d", "--state", state)
    assert entries("mute", state)[0]["until"] < "2999"
    good("mute", "a/b:c", "--state", state)
    assert entries("mute", state)[0]["until"] is None
    good("clear", "a/b:c", "--at", "2011-05-09T18:00", "--state", state)
    assert entries("clear", state)[0]["at"] == "2011-05-09T18:00:00Z"
    bad(2, "past", "mute", "a/b:c", "--until", "2001-01-01", "--state", state)
    bad(2, "not both", "mute", "a/b:c", "--until", "2999-01-01", "--for", "1d", "--state", state)
    bad(2, "future", "clear", "a/b:c", "--at", "2999-01-01", "--state", state)


def test_usage(directory):
    """wrong usage is reported"""
    state = state_of(directory)
    for verb in VERBS:
        bad(2, "name the components", verb, "--state", state)
        bad(2, ["'oss3'", "oss3/*"], verb, "oss3", "--state", state)
        bad(2, "--list takes", verb, "--list", "oss3/disk:sdb", "--state", state)
        bad(2, "option", verb, "--nonsense")
    assert not os.path.exists(state)


def test_environment(directory):
    """$LIMPET_STATE names the file"""
    state = state_of(directory)
    env = dict(os.environ, LIMPET_STATE=state)
    good("ack", "a/b:c", env=env)
    assert len(entries("ack", state)) == 1


def test_no_directory(directory):
    """a file in a missing directory is refused, and nothing is created"""
    state = os.path.join(directory, "typo", "deep", "state.db")
    bad(2, [state, "its directory does not exist"], "ack", "a/b:c", "--state", state)
    ran = subprocess.run([LIMPET, "ack", "a/b:c"], env=dict(os.environ, LIMPET_STATE=state),
                         capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "its directory does not exist" in ran.stderr, ran
    assert not os.path.exists(os.path.join(directory, "typo")), "no directory is made"


def test_bad_files(directory):
    """files of others are not changed"""
    path = os.path.join(directory, "other.db")
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE precious (x)")
    text = os.path.join(directory, "text")
    with open(text, "w", encoding="utf-8") as f:
        f.write("precious\n" * 100)
    future = os.path.join(directory, "future.db")
    good("ack", "a/b:c", "--state", future)
    with sqlite3.connect(future) as db:
        db.execute("PRAGMA user_version = 2")
    for name, words in ((path, "another program"), (text, "move it away"), (future, "newer")):
        with open(name, "rb") as f:
            before = f.read()
        bad(2, [name, words], "ack", "a/b:c", "--state", name)
        bad(2, [name, words], "mute", "--list", "--state", name)
        with open(name, "rb") as f:
            assert f.read() == before, name
    bad(2, directory, "ack", "a/b:c", "--state", directory)


def test_many_at_once(directory):
    """commands that run at the same time lose nothing"""
    state = state_of(directory)
    running = [subprocess.Popen([LIMPET, VERBS[i % 3], f"oss{i}/disk:sda", "--state", state],
                                stdout=subprocess.DEVNULL) for i in range(12)]
    assert all(p.wait() == 0 for p in running)
    assert sum(len(entries(verb, state)) for verb in VERBS) == 12


def test_diagnose(directory):
    """diagnose respects the statements"""
    state, data = state_of(directory), slow_disk(directory)
    code, verdict = diagnose(data, state)
    names = [s["component"] for s in verdict["suspects"]]
    assert code == 1 and names == ["oss2/disk:sdb"], (code, names)
    assert verdict["suspects"][0]["cause"] == "disk-busy", verdict["suspects"]
    assert not os.path.exists(state), "reading makes no file"

    good("mute", "oss2/*", "--state", state)
    code, verdict = diagnose(data, state)
    assert code == 0 and not verdict["suspects"] and not verdict["incidents"], verdict["suspects"]
    good("mute", "--undo", "oss2/*", "--state", state)

    good("clear", "oss2/disk:sdb", "--state", state)
    code, verdict = diagnose(data, state)
    assert code == 0 and not verdict["suspects"], verdict["suspects"]
    good("clear", "oss2/disk:sdb", "--at", "2011-05-09T01:00", "--state", state)
    code, verdict = diagnose(data, state)
    assert code == 1 and verdict["suspects"][0]["first"] >= "2011-05-09T01:00", verdict["suspects"]

    good("ack", "oss2/disk:sdb", "--state", state)
    _, verdict = diagnose(data, state)
    assert [s["component"] for s in verdict["suspects"]] == ["oss2/disk:sdb"], verdict["suspects"]
    assert verdict["suspects"][0].get("acknowledged") is True, verdict["suspects"]


if __name__ == "__main__":
    run_tests(tests_of("__main__"))
