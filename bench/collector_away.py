#!/usr/bin/env python3
"""collector_away.py [SECONDS]: a recorder with one sample per second whose collector is away for that long
[150], while midnight passes and a new file begins; afterwards both sides are compared, sample by sample.
$BUILD is the build directory, $LIMPET the program. tests/e2e/serve_send.py has the short form."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e"))
BUILD = os.environ.setdefault("BUILD", os.path.join(HERE, "..", "build"))
os.environ.setdefault("LIMPET", os.path.join(BUILD, "src/cli/limpet"))

# pylint: disable=wrong-import-position
from fakeclock import FakeClock  # noqa: E402
from serve_rig import Place, away  # noqa: E402

# Half a minute before a new day by the recorder's clock, which is otherwise like ours.
EVENING = 1794009570


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 150
    began = time.monotonic()
    back = []

    def absent(_):
        time.sleep(seconds)
        back.append(time.monotonic())

    with Place() as place:
        clock = FakeClock(os.path.join(place.path, "clock"), wall=EVENING)
        files, lines = away(place, clock, ("--interval", "1s", "--flush", "1s"), absent)
    print(f"the collector was away for {seconds:.0f} s; {files} files, {lines} lines of samples are the same on both "
          f"sides {time.monotonic() - back[0]:.1f} s after it came back ({time.monotonic() - began:.0f} s in all)")


main()
