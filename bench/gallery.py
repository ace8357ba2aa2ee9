#!/usr/bin/env python3
"""gallery.py [RECORDINGS] [-o DIR]: a picture of each fault of the lab, in the metrics that show it.

Writes DIR/fault-NAME.svg [docs/plots] from recordings of `limpet lab run` [recordings].
"""
import argparse
import pathlib
import subprocess
import sys

DISK = ["await:s*/disk:*", "%util:s*/disk:*"]
OWN = "s*/tcp:*"     # connections, measured by the servers
THEIR = "c*/tcp:*"   # and by the clients
PICTURES = {
    "disk-hog": ("ddw-disk-hog-1", ["rd_sec:s*/disk:*", *DISK]),
    "disk-busy": ("ddr-disk-busy-1", ["rd_sec:s*/disk:*:smooth=5", *DISK]),
    "write-network-hog": ("ddw-write-network-hog-1",
                          ["rxbyt:s*/net:*", f"rtt:{OWN}:mean", f"retrans:{THEIR}:sum:remote"]),
    "read-network-hog": ("ddr-read-network-hog-1",
                         ["txbyt:s*/net:*", f"rtt:{OWN}:mean", f"retrans:{OWN}:sum"]),
    "receive-pktloss": ("ddw-receive-pktloss-1",
                        [f"retrans:{THEIR}:sum:remote", f"cwnd:{THEIR}:mean:remote:log"]),
    "receive-pktloss-ddr": ("ddr-receive-pktloss-1",
                            [f"retrans:{THEIR}:sum:remote", f"cwnd:{THEIR}:mean:remote:log"]),
    "send-pktloss": ("ddr-send-pktloss-1", [f"retrans:{OWN}:sum", f"cwnd:{OWN}:mean:log"]),
    "send-pktloss-ddw": ("ddw-send-pktloss-1", [f"retrans:{OWN}:sum", f"cwnd:{OWN}:mean:log"]),
    "slow-disk": ("ddw-slow-disk-1", DISK),
    "stall-disk": ("ddw-stall-disk-1", DISK),
    "slow-link": ("ddw-slow-link-1", [f"rtt:{OWN}:mean", f"retrans:{THEIR}:sum:remote",
                                      "rxbyt:s*/net:*:smooth=5"]),
    "cpu-hog": ("ddw-cpu-hog-1", ["psi_cpu:s*/host:*", "%user:s*/host:*", "rxbyt:s*/net:*:smooth=5"]),
    "pause": ("ddr-pause-1", [f"unread:{OWN}:mean", "txbyt:s*/net:*"]),
    "two-at-once": ("ddw-disk-hog+send-pktloss-1",
                    ["rd_sec:s*/disk:*", "await:s*/disk:*", f"retrans:{OWN}:sum"]),
}


def main():
    """All pictures whose recordings exist."""
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("recordings", nargs="?", default="recordings", type=pathlib.Path)
    p.add_argument("-o", "--output", default="docs/plots", type=pathlib.Path)
    p.add_argument("--limpet", default="build/src/cli/limpet")
    args = p.parse_args()
    plot = pathlib.Path(__file__).resolve().parent.parent / "scripts/plot.py"
    missing = 0
    for name, (recording, panels) in PICTURES.items():
        if not (args.recordings / f"{recording}.json").exists():
            print(f"gallery.py: {args.recordings}/{recording}.json is not there", file=sys.stderr)
            missing += 1
            continue
        subprocess.run([plot, args.recordings / recording, "-o", args.output / f"fault-{name}.svg",
                        "--limpet", args.limpet, *panels], check=True)
    return 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
