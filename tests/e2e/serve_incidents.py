#!/usr/bin/env python3
"""`limpet incidents` from a terminal: list, show, acknowledge, mute and comment, over the API; with a token from elsewhere."""
import json
import os
import pathlib
import pwd
import subprocess
import tempfile

from serving import LIMPET, RECORDINGS, Collector
from tap import check, main, run

DIR = tempfile.TemporaryDirectory(prefix="limpet-incidents-")
ROOT = pathlib.Path(DIR.name)
SERVE = Collector("--replay", RECORDINGS / "ddr-disk-busy-1", "--speed", "100", log=ROOT / "log")


def incidents(*args, status=0):
    """The output of the command; its error if it exits with a status other than 0."""
    verb = args[:1] if args and args[0] in ("show", "ack", "mute", "comment") else ()
    done = subprocess.run([LIMPET, "incidents", *verb, "--url", SERVE.url, *map(str, args[len(verb):])], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(done.returncode == status, f"{args}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def test_list():
    number = SERVE.wait_incident(state="all")["id"]
    check(f"#{number} " in incidents() and "s5: disk loop8 is slow" in incidents(), incidents())
    check("There are no such incidents." in incidents("--search", "nothing & nobody"), "a search finds too much")
    check("loop8" in incidents("--all", "--search", "LOOP8"), "a search finds too little")
    check(json.loads(incidents("--json"))["incidents"][0]["id"] == number, "the JSON is another one")
    text = incidents("show", number)
    check("evidence:" in text and "await 7.7x its peers" in text and "what to do:" in text, text)
    check("\033" not in text and "\033[31m" in incidents("--color=always"), "colours are where they should not be")


def test_say():
    number = SERVE.wait_incident(state="all")["id"]
    check("(acknowledged)" in incidents("ack", number, "--by", "ann", "--comment", "mine"), "not acknowledged")
    check("acknowledged by ann at " in incidents("show", number) and ": mine" in incidents("show", number), "by whom?")
    check("(acknowledged)" not in incidents("ack", number, "--undo"), "not taken back")
    SERVE.wait("the end of the replay", lambda: SERVE.get("/api/v1/status")["now"] == "2026-11-15T12:35:41Z")
    check("(muted)" in incidents("mute", f"#{number}", "--for", "2h", "--comment", "known"), "not muted")
    muted = json.loads(incidents("show", number, "--json"))["muted"]
    check(muted["until"] == "2026-11-15T14:35:41Z", f"{muted}")
    known = incidents("ack", number)
    check("(acknowledged, muted)" in known, known)
    incidents("ack", number, "--undo")
    check("(muted)" not in incidents("mute", number, "--undo"), "not taken back")
    incidents("comment", number, "--by", "bob", "slot 4\033[2J")
    check("comment by bob" in incidents("show", number) and "\033" not in incidents("show", number), "the comment")
    check("loop8" in incidents("--search", "slot 4"), "the comment is not found")


def test_nameless():
    """Services and cron jobs have no $USER: the account identifies the author."""
    number = SERVE.wait_incident(state="all")["id"]
    env = {name: value for name, value in os.environ.items() if name not in ("USER", "SUDO_USER")}
    done = subprocess.run([LIMPET, "incidents", "comment", "--url", SERVE.url, str(number), "by night"], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    check(f"comment by {pwd.getpwuid(os.getuid()).pw_name} " in incidents("show", number), incidents("show", number))


def test_mistakes():
    check("no incident 99" in incidents("ack", 99, status=2), "another complaint")
    check("not the number" in incidents("show", "x", status=2), "another complaint")
    check("--for SPAN or --until TIME" in incidents("mute", 1, status=2), "another complaint")
    check("later than now" in incidents("mute", 1, "--until", "2020-01-01", status=2), "another complaint")
    done = subprocess.run([LIMPET, "incidents", "--url", "http://127.0.0.1:1"], capture_output=True, text=True, check=False)
    check(done.returncode == 2 and "cannot query the collector at http://127.0.0.1:1" in done.stderr, done.stderr)


def test_token():
    """From another machine it needs TLS and an operator's token, and the token identifies the operator."""
    data = ROOT / "data"
    data.mkdir()
    cert, key, token = ROOT / "cert.pem", ROOT / "key.pem", ROOT / "token"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert)
    token.write_text(run(LIMPET, "serve", "enroll", "--operator", "anna", "--data", data))
    serve = Collector("--data", data, "--tls-cert", cert, "--tls-key", key, log=ROOT / "tls.log")
    with serve:
        done = run(LIMPET, "incidents", "--url", serve.url, "--ca", cert, "--token", token)
        check(done == "There are no open incidents.\n", done)
        token.write_text("limpet-wrong\n")
        done = subprocess.run([LIMPET, "incidents", "--url", serve.url, "--ca", cert], capture_output=True, text=True, check=False)
        check(done.returncode == 0, done.stderr)  # on the machine itself
        done = subprocess.run([LIMPET, "incidents", "--url", serve.url], capture_output=True, text=True, check=False)
        check(done.returncode == 2 and "cannot query" in done.stderr, f"an unknown authority is trusted: {done}")
        done = subprocess.run([LIMPET, "incidents", "--url", "http://collector.example", "--token", token], capture_output=True,
                              text=True, check=False)
        check(done.returncode == 2 and "https:// only" in done.stderr, f"a token goes over plain HTTP: {done.stderr}")


if __name__ == "__main__":
    with SERVE:
        main([("list and show", test_list), ("acknowledge, mute, comment", test_say), ("who has no $USER", test_nameless), ("mistakes are told", test_mistakes),
              ("TLS and a token", test_token)])
