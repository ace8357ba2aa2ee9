#!/usr/bin/env python3
"""Files of every format version so far are read as intended (docs/stability.md)."""
import os
import pathlib
import re

from program import bad, good, limpet, run_tests, tests_of

SOURCE = pathlib.Path(os.environ.get("SOURCE", "."))
FORMATS = SOURCE / "tests/fixtures/formats"
COLUMNS = {"archive-1.0": "rx_bytes,tx_packets", "archive-1.1": "wr_ios,rd_sec"}


def version(path):
    head = path.read_bytes()[:12]
    return f"{int.from_bytes(head[8:10], 'little')}.{int.from_bytes(head[10:12], 'little')}"


def test_archives(_):
    """archives of every version: they have their version, are intact, and have the same values as before"""
    for name, columns in COLUMNS.items():
        files = list((FORMATS / name).glob("*.lpa"))
        assert len(files) == 1 and f"archive-{version(files[0])}" == name, files
        good("check", files[0])
        got = good("show", "--raw", "-m", columns, "--csv", files[0])
        assert got == (FORMATS / f"{name}.csv").read_text(), f"{name} has other values"


def test_every_version_is_here(out):
    """the version that this limpet writes is among them"""
    good("record", "--collect", "host", "--interval", "100ms", "--duration", "300ms", "-o", out, "--quiet")
    written = version(next(pathlib.Path(out).glob("*.lpa")))
    assert f"archive-{written}" in COLUMNS, f"add files of version {written} to tests/fixtures/formats"


def test_a_later_version_is_refused(out):
    """an archive of another major version is refused, never guessed at"""
    file = pathlib.Path(out) / "later.lpa"
    data = bytearray(next((FORMATS / "archive-1.1").glob("*.lpa")).read_bytes())
    data[8] = 2
    file.write_bytes(data)
    ran = limpet("show", file)
    assert ran.code == 2 and re.search("version|damaged", ran.err), ran


def test_thresholds(out):
    """thresholds of every version are taken"""
    data = pathlib.Path(out) / "data.csv"
    rows = [f"{1700000000 + t * 15},oss{s}/disk:sda,await,{5 + (t * s) % 3}" for t in range(300) for s in range(1, 5)]
    data.write_text("time,component,metric,value\n" + "\n".join(rows) + "\n")
    for v in (1, 2, 3):
        ran = limpet("diagnose", "--thresholds", FORMATS / f"thresholds-{v}.txt", data)
        assert ran.code in (0, 1) and not ran.err, ran
    bad(2, "version", "diagnose", "--thresholds", write_later(out), data)


def write_later(out):
    path = pathlib.Path(out) / "later.txt"
    path.write_text((FORMATS / "thresholds-3.txt").read_text().replace("thresholds 3", "thresholds 99"))
    return path


def test_one_version(_):
    """the version of limpet is in meson.build; all copies of it are the same"""
    said = re.search(r"version: '([\d.]+)'", (SOURCE / "meson.build").read_text()).group(1)
    assert said in good("version"), good("version")
    changelog = SOURCE / "debian/changelog"
    assert re.match(rf"limpet \({re.escape(said)}-", changelog.read_text()), changelog.read_text()[:80]
    assert "limpet_version" in (SOURCE / "packaging/limpet.spec").read_text()


if __name__ == "__main__":
    run_tests(tests_of(__name__))
