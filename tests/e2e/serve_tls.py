#!/usr/bin/env python3
"""Identity: certificates created by the test, servers with a token or their own certificate, and secrets that
are visible nowhere."""
import os
import ssl
import subprocess
import urllib.error
import urllib.request

from program import LIMPET
from serve_rig import Collector, Place, Server, check_same, wait_for
import tap
from tap import check, run


class Authority:
    """Signs certificates."""

    def __init__(self, place, name="ca"):
        self.place, self.cert, self.key = place, *self._paths(place, name)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.cert)

    @staticmethod
    def _paths(place, name):
        return os.path.join(place.path, name + ".pem"), os.path.join(place.path, name + ".key")

    def sign(self, name, extra=""):
        """(certificate, key) for a name."""
        cert, key = self._paths(self.place, name)
        extensions = self.place.file(name + ".ext", extra or "basicConstraints=CA:FALSE\n")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            f"/CN={name}", "-keyout", key, "-out", cert + ".csr")
        run("openssl", "x509", "-req", "-in", cert + ".csr", "-CA", self.cert, "-CAkey", self.key,
            "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", cert)
        return cert, key


def get(url, ca, token=None, method="GET"):
    request = urllib.request.Request(url, method=method)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=ca), timeout=60) as a:
            return a.status, a.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def samples(collector, ca):
    import json
    return json.loads(get(f"{collector.url}/api/v1/ingest", ca)[1])["samples"]


def secret_nowhere(secret, place, *processes):
    """Neither process lists, nor logs, nor the files of the collector contain it."""
    for process in processes:
        for what in ("cmdline", "environ"):
            with open(f"/proc/{process.pid}/{what}", "rb") as f:
                check(secret.encode() not in f.read(), f"the token is in /proc/{process.pid}/{what}")
    found = subprocess.run(["grep", "-rlF", "--exclude=token*", secret, place.path], capture_output=True,
                           text=True, check=False)
    check(found.returncode == 1, f"the token is in {found.stdout}")


def test_token():
    with Place() as place:
        ca = Authority(place)
        cert, key = ca.sign("collector", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        with Collector(place.sub("data"), "--tls-cert", cert, "--tls-key", key, scheme="https") as collector:
            token = collector.enroll("a")
            file = place.file("token-a", token + "\n")
            with Server(place.sub("a"), "a", collector.url, "--send-ca", ca.cert, "--token", file) as server:
                wait_for("samples", lambda: samples(collector, ca.cert) > 5)
                secret_nowhere(token, place, collector.process, server.process)
                # Once more with a new token, which replaces the old one.
                new = collector.enroll("a")
                place.file("token-a", new + "\n")
                before = samples(collector, ca.cert)
                wait_for("samples with the new token", lambda: samples(collector, ca.cert) > before + 5, 120)
                server.stop()
                wait_for("the copy", lambda: '"complete":true' in get(
                    f"{collector.url}/api/v1/ingest/a", ca.cert, new)[1])
                check_same(server, collector.data)
            check(get(f"{collector.url}/api/v1/ingest/a", ca.cert)[0] == 401, "it needs a token")
            secret_nowhere(new, place, collector.process)


def test_certificate():
    """Mutual TLS: the name is the certificate's, and only certificates of the authority count."""
    with Place() as place:
        ca, stranger = Authority(place), Authority(place, "stranger")
        cert, key = ca.sign("collector", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        mine, mine_key = ca.sign("a")
        theirs, theirs_key = stranger.sign("b")
        with Collector(place.sub("data"), "--tls-cert", cert, "--tls-key", key, "--client-ca", ca.cert,
                       scheme="https") as collector:
            show = lambda c, k: ("--send-ca", ca.cert, "--send-cert", c, "--send-key", k)  # noqa: E731
            with Server(place.sub("b"), "b", collector.url, *show(theirs, theirs_key)) as other, \
                    Server(place.sub("c"), "c", collector.url, *show(mine, mine_key)) as liar, \
                    Server(place.sub("a"), "a", collector.url, *show(mine, mine_key)) as server:
                wait_for("samples", lambda: samples(collector, ca.cert) > 5)
                wait_for("a refusal", lambda: "cannot send" in other.said())
                wait_for("another name to be refused", lambda: "cannot write as 'c'" in liar.said())
                server.stop()
                liar.stop()
                other.stop()
                check_same(server, collector.data)
            kept = [f for f in os.listdir(collector.data) if f.endswith(".lpa")]
            check(all(f.startswith("a-") for f in kept), f"others have written: {kept}")


def test_distrust():
    """A collector that cannot show the right certificate gets nothing, not even the token."""
    with Place() as place:
        ca, stranger = Authority(place), Authority(place, "stranger")
        cert, key = stranger.sign("collector", "subjectAltName=IP:127.0.0.1\n")
        with Collector(place.sub("data"), "--tls-cert", cert, "--tls-key", key, scheme="https") as collector:
            token = place.file("token", collector.enroll("a"))
            with Server(place.sub("a"), "a", collector.url, "--send-ca", ca.cert, "--token", token) as server:
                wait_for("distrust", lambda: "cannot send" in server.said())
                check("certificate" in server.said(), server.said())
                server.stop()
            check(not [f for f in os.listdir(collector.data) if f.endswith(".lpa")], "something has arrived")


def test_no_tls():
    """The other end does not speak TLS: one sentence says so, without a full stop in the middle."""
    with Place() as place, Collector(place.sub("data")) as collector:
        url = collector.url.replace("http://", "https://")
        with Server(place.sub("a"), "a", url, "--token", place.file("token", collector.enroll("a"))) as server:
            wait_for("a failure", lambda: "recording continues" in server.said())
            check("TLS" in server.said() and ".;" not in server.said(), server.said())
            server.stop()


def test_listen():
    """The collector does not listen for other machines without TLS."""
    with Place() as place:
        for options, words in ((("--listen", "0.0.0.0:0"), "needs TLS"),
                               (("--tls-cert", "/dev/null"), "both a certificate and a key"),
                               (("--listen", "nonsense"), "not an address"),
                               (("--client-ca", "/dev/null"), "need TLS")):
            done = subprocess.run([LIMPET, "serve", "--data", place.sub("x"), *options], capture_output=True,
                                  text=True, check=False, timeout=60)
            check(done.returncode == 2 and words in done.stderr, f"{options}: {done}")


def test_operator():
    """An operator's token becomes a cookie that pages cannot read; a server's does not."""
    with Place() as place:
        with Collector(place.sub("data")) as collector:
            token, server = collector.enroll("anna", "--operator"), collector.enroll("a")
            login = lambda t: collector.request("POST", "/api/v1/login", '{"token":"%s"}' % t)  # noqa: E731
            check(login(token) == (200, {"operator": "anna"}), "anna cannot log in")
            check(login(server)[0] == 401, "a server is no operator")
            stranger = {"Host": "collector.example"}  # no other process on this machine contains that
            check(collector.request("GET", "/api/v1/ingest", headers=stranger)[0] == 401, "no token")
            check(collector.request("GET", "/api/v1/ingest", token=server, headers=stranger)[0] == 401,
                  "a server reads what operators may")
            check(collector.request("GET", "/api/v1/ingest", token=token, headers=stranger)[0] == 200,
                  "an operator may not read")
            check(collector.request("GET", "/api/v1/ingest", headers={
                **stranger, "Cookie": f"limpet_token={token}"})[0] == 200, "the cookie is not taken")
            check(collector.put("a", "a-20261117T065509Z.lpa", b"", token=token)[0] == 401,
                  "an operator writes as a server")


tap.main([
    ("a token, over TLS; it is seen nowhere, and can be replaced", test_token),
    ("a certificate instead of a token", test_certificate),
    ("a collector that is not who it should be", test_distrust),
    ("a collector without TLS", test_no_tls),
    ("addresses that others can reach", test_listen),
    ("operators", test_operator),
])
