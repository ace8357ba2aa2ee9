#!/usr/bin/env python3
"""The API of the collector, driven by a replay: every answer fits docs/openapi.json, the verdict is that of
`limpet diagnose --json` to the byte, and comments on an incident are kept."""
import http.client
import json
import pathlib
import subprocess
import tempfile
import urllib.parse

from serving import LIMPET, RECORDINGS, SOURCE, Collector
from tap import check, main, run

DATA = RECORDINGS / "ddr-disk-busy-1"
SPEC = json.loads((SOURCE / "docs/openapi.json").read_text(encoding="utf-8"))
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
         "null": type(None)}
DIR = tempfile.TemporaryDirectory(prefix="limpet-api-")
SERVE = Collector("--replay", DATA, "--speed", "60", log=pathlib.Path(DIR.name) / "log")


def type_fits(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def fits(value, schema, where="answer"):
    """Check a value against a schema: the part of JSON Schema that the file uses."""
    if "$ref" in schema:
        schema = SPEC["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:
        errors = []
        for one in schema["oneOf"]:
            try:
                return fits(value, one, where)
            except AssertionError as e:
                errors.append(str(e))
        raise AssertionError("; ".join(errors))
    names = schema.get("type", list(TYPES))
    names = names if isinstance(names, list) else [names]
    check(any(type_fits(value, n) for n in names), f"{where}: {value!r} is none of {names}")
    check("enum" not in schema or value in schema["enum"], f"{where}: {value!r} is none of {schema.get('enum')}")
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            check(name in value, f"{where} has no {name!r}")
        for name, item in value.items():
            known = schema.get("properties", {}).get(name)
            check(known is not None or schema.get("additionalProperties") is not False, f"{where}.{name} is not in the file")
            if known is not None:
                fits(item, known, f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            fits(item, schema["items"], f"{where}[{i}]")
    return None


def schema_of(path, method="get"):
    answer = SPEC["paths"][path][method]["responses"]["200"]["content"]["application/json"]
    return answer["schema"]


def asked(path, method="GET", body=None, **query):
    """Send a query, and check the answer against the file; `path` is that in the file, with {id} filled in from
    `query`."""
    schema = schema_of(path, method.lower())
    if "id" in query:
        path = path.replace("{id}", str(query.pop("id")))
    status, answer = SERVE.ask(path, method, body, **query)
    check(status == 200, f"{method} {path}: {status} {answer}")
    fits(answer, schema, path)
    return answer


def test_answers():
    incident = SERVE.wait_incident()
    check(incident["what"].startswith("s5: disk loop8 is slow"), incident["what"])
    check(asked("/api/v1/status")["critical"] == 1, "the incident is not counted")
    check(asked("/api/v1/incidents", state="all", q="LOOP8", limit=5)["incidents"], "search finds nothing")
    check(not asked("/api/v1/incidents", q="no such thing")["incidents"], "search finds what is not there")
    check(asked("/api/v1/incidents/{id}", id=incident["id"])["part"] == "s5/disk:loop8", "another incident")
    fleet = asked("/api/v1/fleet")
    worst = [s for g in fleet["groups"] for s in g["servers"] if s["level"] == "critical"]
    check([s["name"] for s in worst] == ["s5"] and worst[0]["ratio"] > 3, f"{worst}")
    found = asked("/api/v1/components", q="s5/disk:loop8")["components"]
    check(found[0]["name"] == "s5/disk:loop8" and "await" in found[0]["metrics"], f"{found}")
    check(len(asked("/api/v1/components", limit=3)["components"]) == 3, "the limit is not kept")
    check(len(asked("/api/v1/hosts")["hosts"]) == 12, "hosts are missing")


def test_series():
    SERVE.wait_incident()
    one = asked("/api/v1/series", component="s5/disk:loop8", metric="await", since="2026-11-15T12:34:40Z",
                until="2026-11-15T12:35:10Z")
    check(len({len(one[k]) for k in ("t", "value", "median", "low", "high")}) == 1, "lines of different lengths")
    check(one["step_s"] == 1 and 25 <= len(one["t"]) <= 31, f"{one['step_s']} s, {len(one['t'])} points")
    mean = lambda values: sum(v for v in values if v is not None) / len(values)
    check(mean(one["value"]) > 3 * mean(one["median"]), "the slow disk is not slow")
    check(all(low <= mid <= high for low, mid, high in zip(one["low"], one["median"], one["high"]) if mid is not None),
          "the band does not hold the median")
    few = asked("/api/v1/series", component="s5/disk:loop8", metric="await", since="2026-11-15T12:34:40Z",
                until="2026-11-15T12:35:10Z", points=5)
    check(len(few["t"]) <= 7, f"{len(few['t'])} points instead of 5")


def test_verdict():
    """At its end the replay gives exactly the verdict of diagnose, and so does a query about the past."""
    SERVE.wait("the end of the replay", lambda: SERVE.get("/api/v1/status")["now"] == "2026-11-15T12:35:41Z")
    want = subprocess.run([LIMPET, "diagnose", "-q", "--json", DATA], capture_output=True, check=False).stdout
    SERVE.wait("the last verdict", lambda: SERVE.ask("/api/v1/verdict", raw=True)[1] == want, 10)
    fits(json.loads(want), schema_of("/api/v1/verdict"))
    at = "2026-11-15T12:35:10Z"
    want = subprocess.run([LIMPET, "diagnose", "-q", "--json", "--since", "2026-11-14T12:35:10Z", "--until", at, DATA],
                          capture_output=True, check=False).stdout
    check(SERVE.ask("/api/v1/verdict", raw=True, at=at)[1] == want, "the verdict of the past is another one")


def test_people():
    number = SERVE.wait_incident(state="all")["id"]
    where = "/api/v1/incidents/{id}"
    acked = asked(where + "/ack", "POST", {"by": "ann", "comment": "the drive is ordered"}, id=number)
    check(acked["acknowledged"]["by"] == "ann" and acked["acknowledged"]["comment"] == "the drive is ordered", f"{acked}")
    check(asked(where + "/ack", "DELETE", id=number)["acknowledged"] is None, "it is still acknowledged")
    asked(where + "/ack", "POST", {"by": "bob"}, id=number)
    asked(where + "/comment", "POST", {"by": "bob", "text": "<b>slot 4</b>"}, id=number)
    check(asked("/api/v1/incidents", state="all", q="slot 4")["incidents"], "comments are not searched")
    before = asked("/api/v1/status")["critical"]
    muted = asked(where + "/mute", "POST", {"by": "bob", "for": "2h", "comment": "known"}, id=number)
    check(muted["muted"]["until"] == "2026-11-15T14:35:41Z" or muted["muted"]["until"], f"{muted['muted']}")
    check(asked("/api/v1/status")["critical"] == before - 1, "a muted incident still counts")
    asked(where + "/mute", "DELETE", id=number)
    check(asked(where, id=number)["comments"][0]["text"] == "<b>slot 4</b>", "the comment is another one")


def test_refusals():
    for path, method, body, status, part in (
            ("/api/v1/incidents/999", "GET", None, 404, "no incident 999"),
            ("/api/v1/incidents/x", "GET", None, 404, "not the number"),
            ("/api/v1/incidents?state=new", "GET", None, 400, "'open', 'ended' or 'all'"),
            ("/api/v1/incidents?limit=1001", "GET", None, 400, "limit"),
            ("/api/v1/incidents?since=yesterdayish", "GET", None, 400, "since"),
            ("/api/v1/incidents/1/mute", "POST", {"by": "ann"}, 400, "\"for\""),
            ("/api/v1/incidents/1/mute", "POST", {"by": "ann", "for": "never"}, 400, "never"),
            ("/api/v1/incidents/1/comment", "POST", {"by": "ann", "text": ""}, 400, "empty"),
            ("/api/v1/incidents/1/burn", "POST", {"by": "ann"}, 404, "burn"),
            ("/api/v1/incidents/1/comment", "POST", [1], 400, "not a JSON object"),
            ("/api/v1/series?component=x/disk:y&metric=await", "GET", None, 404, "no component"),
            ("/api/v1/series?component=s5/disk:loop8&metric=no", "GET", None, 404, "no values"),
            ("/api/v1/series?component=s5/disk:loop8", "GET", None, 400, "metric"),
            ("/api/v1/series?component=s5/disk:loop8&metric=await&since=2026-11-15&until=2026-11-14", "GET", None, 400, "until"),
            ("/api/v1/verdict?at=never", "GET", None, 400, "at")):
        got, answer = SERVE.ask(path, method, body)
        check(got == status, f"{method} {path}: {got} instead of {status}: {answer}")
        fits(answer, {"$ref": "#/components/schemas/Error"})
        check(part in answer["error"], f"{path}: {answer['error']!r} does not say {part!r}")


def test_events():
    """Listeners get the changes."""
    number = SERVE.wait_incident(state="all")["id"]
    place = urllib.parse.urlsplit(SERVE.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request("GET", "/api/v1/events")
    answer = connection.getresponse()
    check(answer.status == 200 and answer.headers["Content-Type"].startswith("text/event-stream"), f"{answer.headers}")
    seen = {}
    asked("/api/v1/incidents/{id}/comment", "POST", {"by": "ann", "text": "heard?"}, id=number)
    name = None
    while not {"status", "incident"} <= set(seen):
        line = answer.readline().decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            seen[name] = json.loads(line[6:])
    connection.close()
    fits(seen["status"], {"$ref": "#/components/schemas/Status"})
    fits(seen["incident"], {"$ref": "#/components/schemas/Incident"})
    check(seen["incident"]["comments"][-1]["text"] == "heard?", "the event has no comment")


def test_metrics():
    status, text = SERVE.ask("/metrics", raw=True)
    lines = text.decode().splitlines()
    check(status == 200, f"{status}")
    check(any(line.startswith('limpet_incidents{cause="disk-busy",level="critical",muted="false"} 1') for line in lines),
          "the incident is not among the metrics")
    check(any(line.startswith('limpet_component_ratio{component="s5/disk:loop8"') for line in lines), "no ratio")
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    for line in lines:
        check(line.startswith("#") or line.split("{")[0].split()[0] in names, f"{line} has no type")


def test_pooled():
    """Connections that are pooled are in no archive: the engine's own values are shown."""
    with Collector("--replay", RECORDINGS / "ddr-receive-pktloss-1", "--speed", "100", log=pathlib.Path(DIR.name) / "pooled") as serve:
        incident = serve.wait_incident(state="all")
        check(incident["components"][0].startswith("s1/tcp:"), f"{incident}")
        query = {"component": incident["components"][0], "metric": incident["metrics"][0], "since": "2026-11-15"}
        # The incident is stored a moment before the verdict is published.
        serve.wait("the values", lambda: serve.ask("/api/v1/series", **query)[0] == 200)
        one = serve.get("/api/v1/series", **query)
        fits(one, schema_of("/api/v1/series"))
        check(len(one["t"]) > 20 and any(v is not None for v in one["value"]), f"{one}")


def silent_data(path):
    """Half an hour of eight servers in two racks, sampled a little after the full second. One is silent from the 10th to the 15th minute, all of rack b from the
    20th minute on."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("time,component,metric,value\n")
        for second in range(0, 1800, 5):
            for server in range(8):
                if (server == 1 and 600 <= second < 900) or (server >= 5 and second >= 1200):
                    continue
                out.write(f"{1300000000 + second}.25,oss{server}/disk:sda,await,{5 + (second + server) % 5 * 0.1:.1f}\n")


def test_silent():
    """Silent servers are separate incidents; a whole silent rack is one."""
    data, topology = pathlib.Path(DIR.name) / "silent.csv", pathlib.Path(DIR.name) / "racks.yaml"
    silent_data(data)
    topology.write_text('version: 1\ncomponents:\n  - match: "oss{n}/*"\n    where: {n: 0-4}\n    attributes: {rack: a}\n'
                        '  - match: "oss{n}/*"\n    where: {n: 5-7}\n    attributes: {rack: b}\nobservers: [oss0, oss99]\n')
    told = json.loads(run(LIMPET, "backtest", "-q", "--json", "--topology", topology, data))["incidents"]
    silent = {i["part"]: i for i in told if i["cause"] == "silent"}
    check(set(silent) == {"observer:oss1", "rack:b", "observer:oss99"}, f"{sorted(silent)}")
    one = silent["observer:oss1"]
    check(one["state"] == "ended" and one["openings"] == 1 and one["what"] == "oss1 sends no data any more", f"{one}")
    check(one["evidence"] == ["its last sample is from 2011-03-13T07:16:35Z"], f"{one}")
    check(one["first"] == "2011-03-13T07:16:35.25Z" and "2011-03-13T07:17:35Z" < one["opened"] < "2011-03-13T07:20:00Z", f"{one}")
    check(silent["rack:b"]["state"] == "open" and "none of its 3 servers" in silent["rack:b"]["what"], f"{silent['rack:b']}")
    check(all(i["cause"] == "silent" for i in told), f"there is more: {told}")
    with Collector("--replay", data, "--speed", "2000", "--topology", topology, log=pathlib.Path(DIR.name) / "racks") as serve:
        serve.wait("the end", lambda: serve.get("/api/v1/status")["now"] == "2011-03-13T07:36:36Z")
        serve.wait("the last verdict", lambda: serve.get("/api/v1/status")["observers"]["silent"] == 4)
        rack = serve.wait("the rack's incident", lambda: serve.get("/api/v1/incidents?q=none%20of%20its")["incidents"])[0]
        shown = run(LIMPET, "incidents", "show", "--url", serve.url, rack["id"])
        check(rack["first"] == "2011-03-13T07:26:35.25Z" and "since 2011-03-13T07:26:35Z" in shown and ".25" not in shown,
              f"times are not to the second: {shown}")
        groups = {g["name"]: {s["name"]: s["state"] for s in g["servers"]} for g in serve.get("/api/v1/fleet")["groups"]}
        check({n for n in groups} == {"", "a", "b"} and set(groups["b"].values()) == {"silent"}, f"{groups}")
        check(set(groups["a"].values()) == {"ok"} and groups[""] == {"oss99": "silent"}, f"{groups}")
        status = serve.get("/api/v1/status")["observers"]
        check(status == {"reporting": 5, "expected": 9, "late": 0, "silent": 4}, f"{status}")


def test_backtest():
    """Backtest lists the incidents that the replay opened."""
    told = json.loads(run(LIMPET, "backtest", "-q", "--json", DATA))["incidents"]
    check([i["part"] for i in told] == ["s5/disk:loop8"], f"{told}")
    fits(told[0], {"$ref": "#/components/schemas/Incident"})
    check("1 incident would have been opened" in run(LIMPET, "backtest", DATA), "the text says something else")
    check("0 incidents" in run(LIMPET, "backtest", RECORDINGS / "ddr-none-1"), "a sound recording has incidents")


def test_calls():
    """The system calls behind an error that a server passes on: the server's, then the client's."""
    told = json.loads(run(LIMPET, "backtest", "-q", "--json", RECORDINGS / "errors/ddnew-err-space-1"))["incidents"]
    check([i["part"] for i in told] == ["s4/sys:glusterfsd"], f"{told}")
    fits(told[0], {"$ref": "#/components/schemas/Incident"})
    calls = told[0]["calls"]
    check([(c["server"], c["process"], c["call"], c["result"]) for c in calls[:2]] ==
          [("s4", "glusterfsd", "pwrite64", "ENOSPC"), ("c2", "dd", "write", "ENOSPC")], f"{calls}")
    short = json.loads(run(LIMPET, "backtest", "-q", "--json", RECORDINGS / "errors/postmark-err-vmsize-1"))["incidents"]
    check([i["observer"] for i in short] == ["s3"], f"sealed logs come too late: {short}")
    check(calls[0]["file"].endswith("/s4/brick/c2/piece.37") and calls[0]["time"] == "2026-11-15T16:25:54.265Z", f"{calls}")


if __name__ == "__main__":
    with SERVE:
        main([("answers fit the description", test_answers), ("series", test_series), ("the verdict to the byte", test_verdict),
              ("acknowledge, mute, comment", test_people), ("mistakes are told", test_refusals), ("events", test_events),
              ("metrics", test_metrics), ("series of pooled connections", test_pooled),
              ("silent servers", test_silent),
              ("backtest", test_backtest), ("calls behind an incident", test_calls)])
