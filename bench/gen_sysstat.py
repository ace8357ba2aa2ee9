#!/usr/bin/env python3
"""Write a sysstat activity file (format 0x2175) with invented data that sadf reads, too.

usage: gen_sysstat.py OUT [--disks N] [--nets N] [--records N] [--interval SECONDS]
                      [--arch le64|be64|le32|be32] [--version 11.7|12.1.2|12.6] [--extras]

Used for benchmarks (an hour of 60 disks cannot be recorded in a minute) and for fuzzing seeds.
"""
import argparse
import random
import struct

STATS, RESTART, COMMENT, EXTRA = 1, 2, 4, 5

# Numbers of long long, long and int of the disk structure and of the headers, by version.
DISK_TYPES = {"11.7": (1, 2, 6), "12.1.2": (1, 3, 7), "12.6": (3, 3, 8)}


class Writer:
    def __init__(self, arch, version):
        self.order = "<" if arch.startswith("le") else ">"
        self.long_size = 8 if arch.endswith("64") else 4
        self.version = version
        self.modern = version == "12.6"  # has extra_next and the time zone
        self.record_types = (2, 0, 1 if self.modern else 0)

    def ints(self, *values):
        return struct.pack(self.order + f"{len(values)}I", *values)

    def longlongs(self, *values):
        return struct.pack(self.order + f"{len(values)}Q", *values)

    def longs(self, *values):
        """A long takes 8 bytes even if it has 4."""
        code = "Q" if self.long_size == 8 else "I4x"
        return b"".join(struct.pack(self.order + code, v % 2 ** (8 * self.long_size)) for v in values)

    def padded(self, data, align=8):
        return data + bytes(-len(data) % align)

    def magic(self, header_size, types):
        numbers = [int(x) for x in (self.version + ".1").split(".")[:3]]
        head = struct.pack(self.order + "2H", 0xD596, 0x2175) + bytes(numbers) + b"\0"
        return head + self.ints(header_size, 0, *types) + bytes(48)

    def header(self, activities, seconds, extra):
        act_types, rec_size = (0, 0, 9), 24
        numbers = [3, len(activities), 126, *act_types, *self.record_types, 36, rec_size]
        if self.modern:
            numbers.append(1 if extra else 0)
        text = bytes((15, 10, self.long_size))
        for name in ("Linux", "oss1", "6.1.0", "x86_64"):
            text += name.encode().ljust(65, b"\0")
        if self.modern:
            text += b"UTC".ljust(8, b"\0")
        body = self.longlongs(seconds) + self.longs(100) + self.ints(*numbers) + text
        body = self.padded(body)
        out = self.magic(len(body), (1, 1, len(numbers))) + body
        for activity in activities:
            out += self.ints(*activity)
        return out + (self.extra() if extra else b"")

    def extra(self):
        return self.ints(2, 16, 0, 1, 0, 2) + bytes(32)

    def record(self, kind, uptime_cs, seconds, extra=False):
        out = self.longlongs(uptime_cs, seconds)
        if self.modern:
            out += self.ints(1 if extra else 0)
        out += bytes((kind, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60))
        return out.ljust(24, b"\0")

    def disk(self, number, d):
        types = DISK_TYPES[self.version]
        wwn = (0x5000C50000000000 + number, 0)
        ulls = (d["ios"], *wwn)[: types[0]]
        uls = (d["rd"], d["wr"], d["dc"])[: types[1]]
        uints = (d["rt"], d["wt"], d["tot"], d["rq"], 8 + 57 * (number // 16 > 0), number % 16 * 16, d["dt"], 0)
        if number // 16 > 1:
            uints = (*uints[:4], 64 + number // 16, *uints[5:])
        body = self.longlongs(*ulls) + self.longs(*uls) + self.ints(*(u % 2**32 for u in uints[: types[2]]))
        return self.padded(body)

    def net(self, number, counters):
        name = b"lo" if number == 0 else b"eth%d" % (number - 1)
        body = self.longlongs(*counters[:7]) + self.ints(1000) + name.ljust(16, b"\0") + b"\1"
        return self.padded(body)

    def net_errors(self, number, counters):
        name = b"lo" if number == 0 else b"eth%d" % (number - 1)
        return self.longlongs(*counters[7:16]) + name.ljust(16, b"\0")


def step_disk(rng, d):
    reads, writes = rng.randrange(200), rng.randrange(100)
    d["ios"] += reads + writes
    d["rd"] += reads * 64
    d["wr"] += writes * 128
    d["rt"] += reads * rng.randrange(1, 9)
    d["wt"] += writes * rng.randrange(1, 9)
    d["tot"] += rng.randrange(1000)
    d["rq"] += rng.randrange(4000)


def generate(args):
    rng, w = random.Random(1), Writer(args.arch, args.version)
    disks = [dict.fromkeys(("ios", "rd", "wr", "dc", "rt", "wt", "dt", "tot", "rq"), 10**6) for _ in range(args.disks)]
    nets = [[10**9] * 16 for _ in range(args.nets)]
    start, types = 1794700800, DISK_TYPES[args.version]
    old = args.version == "11.7"
    disk_size = len(w.disk(0, dict.fromkeys(("ios", "rd", "wr", "dc", "rt", "wt", "dt", "tot", "rq"), 0)))
    activities = [
        (2, 0x8B, 1, 1, 0, 16, 1, 1, 0),
        (12, 0x8D, max(args.nets, 1), 1, 1, 80, 7, 0, 1),
        (13, 0x8C, max(args.nets, 1), 1, 1, 88, 9, 0, 0),
        (11, 0x8C, max(args.disks, 1), 1, 1, disk_size, *types),
    ]
    extras = args.extras and not old and w.modern
    yield w.header(activities, start, extras)
    for i in range(args.records):
        seconds, uptime = start + i * args.interval, 10**6 + i * args.interval * 100
        if args.extras and i == 2:
            yield w.record(COMMENT, uptime, seconds, extras) + b"a comment".ljust(64, b"\0") + (w.extra() if extras else b"")
            yield w.record(RESTART, uptime, seconds, extras) + w.ints(3) + (w.extra() if extras else b"")
            if extras:
                yield w.record(EXTRA, uptime, seconds, True) + w.extra()
        for d in disks:
            step_disk(rng, d)
        for n in nets:
            n[:] = [v + rng.randrange(1000) for v in n]
        yield w.record(STATS, uptime, seconds)
        yield w.longlongs(i) + w.longs(i)
        yield w.ints(len(nets)) + b"".join(w.net(k, n) for k, n in enumerate(nets))
        yield w.ints(len(nets)) + b"".join(w.net_errors(k, n) for k, n in enumerate(nets))
        yield w.ints(len(disks)) + b"".join(w.disk(k, d) for k, d in enumerate(disks))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out")
    p.add_argument("--disks", type=int, default=60)
    p.add_argument("--nets", type=int, default=3)
    p.add_argument("--records", type=int, default=3600)
    p.add_argument("--interval", type=int, default=1)
    p.add_argument("--arch", choices=("le64", "be64", "le32", "be32"), default="le64")
    p.add_argument("--version", choices=sorted(DISK_TYPES), default="12.6")
    p.add_argument("--extras", action="store_true", help="comment, restart and extra structures")
    args = p.parse_args()
    with open(args.out, "wb") as f:
        for piece in generate(args):
            f.write(piece)


if __name__ == "__main__":
    main()
