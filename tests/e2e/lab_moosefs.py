#!/usr/bin/env python3
"""limpet lab up --fs moosefs: a real cluster of another file system comes up, works, is broken and healed,
and leaves nothing behind."""
import json
import os
import shutil
import subprocess

import lab
from lab import ROOT
from program import good, run_tests, tests_of

NAME = f"mfs{os.getpid()}"
with_lab = lab.in_labs(NAME)


@with_lab
def test_life(_):
    """clients exchange files, their chunks are on all servers, and a fault is injected and healed"""
    good("lab", "up", "--name", NAME, "--fs", "moosefs", "--servers", "2", "--clients", "2", "--disk", "128M",
         "--hog-disk", "16M")
    shown = json.loads(good("lab", "status", "--name", NAME, "--json"))["labs"][0]
    assert shown["well"] and shown["complete"] and shown["fs"] == "moosefs", shown
    content = [os.urandom(1 << 20) for _ in range(8)]
    for i, text in enumerate(content):
        with open(ROOT / NAME / f"c1/mnt/file{i}", "wb") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())
    for i, text in enumerate(content):
        assert (ROOT / NAME / f"c2/mnt/file{i}").read_bytes() == text, f"file{i} has other bytes"
    chunks = [len(list((ROOT / NAME / s / "brick/data").rglob("chunk_*.mfs"))) for s in ("s1", "s2")]
    assert sum(chunks) == 8 and min(chunks) > 0, f"one copy of each file, on both servers: {chunks}"
    good("lab", "inject", "--name", NAME, "slow-disk@s2")
    (ROOT / NAME / "c1/mnt/more").write_bytes(content[0])
    good("lab", "heal", "--name", NAME, "slow-disk@s2")
    assert (ROOT / NAME / "c2/mnt/more").read_bytes() == content[0]
    good("lab", "down", "--name", NAME)
    left = subprocess.run(["pgrep", "-f", f"/{NAME}/"], capture_output=True, text=True, check=False).stdout
    assert not left, f"processes are left: {left}"


if __name__ == "__main__":
    lab.skip_unless_possible()
    if not shutil.which("mfsmaster", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        print("1..0 # SKIP MooseFS is not installed (scripts/deps.sh does)")
    else:
        run_tests(tests_of(__name__))
