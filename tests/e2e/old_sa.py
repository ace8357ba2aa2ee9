"""Writes sysstat's activity files in its old formats, 0x2171 and 0x2173, like a version of sadc on a machine.

    old_sa.py VERSION MACHINE FILE    # write the file of example(): old_sa.py 10.1.5 be64 FILE
"""
import sys

# The format, and the layouts of disks, interfaces and their errors.
VERSIONS = {
    "9.1.6": (0x2171, 0, 0, 0),
    "10.1.1": (0x2171, 1, 0, 0),
    "10.1.5": (0x2171, 1, 1, 1),
    "10.2.1": (0x2171, 1, 2, 1),
    "11.6.5": (0x2173, 1, 2, 1),
}
MACHINES = {"le64": ("little", 8), "le32": ("little", 4), "be64": ("big", 8), "be32": ("big", 4)}
CPU, DISK, NET, NET_ERRORS = 1, 11, 12, 13
NET_COUNTERS = ["rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_compressed", "tx_compressed", "rx_multicast"]
ERROR_COUNTERS = ["tx_colls", "rx_errs", "tx_errs", "rx_drop", "tx_drop", "rx_fifo", "tx_fifo", "rx_frame",
                  "tx_carrier"]
TICKS = ["rd_ticks", "wr_ticks", "tot_ticks", "rq_ticks"]
HOST = "oss7"


class Writer:
    """The bytes of a file; `expected` has the values that a reader must find: [(seconds, uptime, {(kind, name):
    {column: value}})]"""

    def __init__(self, version, machine, cpus=3, interfaces=4, disks=4):
        self.version, self.data, self.expected = version, bytearray(), []
        self.format, self.disk, self.net, self.errors = VERSIONS[version]
        self.order, self.long = MACHINES[machine]
        self.cpus, self.interfaces, self.disks = cpus, interfaces, disks
        self.start()

    def number(self, value, size):
        """Returns the part of a value that fits into this many bytes."""
        value %= 1 << 8 * size
        self.data += value.to_bytes(size, self.order)
        return value

    def u32(self, *values):
        return [self.number(value, 4) for value in values][-1]

    def hole(self, n):
        """Padding that must not be read."""
        self.data += b"\xee" * n

    def wide(self, value):
        left = self.number(value, 8)
        self.hole(8)
        return left

    def slim(self, value):
        """A long, in a place of 8 bytes. sadf -c also reads its padding."""
        left = self.number(value, self.long)
        self.data += bytes(8 - self.long)
        return left

    def text(self, value, size):
        self.data += value.encode().ljust(size, b"\0")

    def start(self):
        newer = self.format == 0x2173
        self.number(0xd596, 2)
        self.number(self.format, 2)
        self.data += bytes(int(part) for part in self.version.split(".")) + b"\0"
        if newer:
            self.u32(288)
            self.data += bytes(64)
        self.slim(1600000000)
        if newer:
            self.u32(self.cpus)
        self.u32(4)
        if newer:
            self.u32(1)
        self.data += bytes([13, 8, 120, self.long])
        for name in ("Linux", HOST, "3.10.0", "mips"):
            self.text(name, 65)
        self.data += bytes(4)
        self.activity(CPU, 0x8a, self.cpus, 160)
        self.activity(DISK, 0x8a + self.disk, self.disks, [80, 64][self.disk])
        self.activity(NET, 0x8a + self.net, self.interfaces, [72, 128, 144][self.net])
        self.activity(NET_ERRORS, 0x8a + self.errors, self.interfaces, [88, 160][self.errors])

    def activity(self, number, magic, nr, size):
        self.u32(number, magic, nr, 1, size)

    def record(self, kind, uptime, seconds):
        self.wide(self.cpus * uptime)
        self.wide(uptime)
        self.slim(seconds)
        self.data += bytes([kind, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, 0, 0, 0, 0])

    def write_disk(self, minor, v):
        left = {"dc_sec": 0, "dc_ticks": 0}
        if self.disk:
            left["ios"] = self.wide(v["ios"])
        for name in ("rd_sec", "wr_sec"):
            left[name] = (self.slim if self.disk else self.wide)(v[name])
        for name in TICKS:
            left[name] = (self.u32 if self.disk else self.slim)(v[name])
        if not self.disk:
            left["ios"] = self.slim(v["ios"])
        self.u32(253, minor)
        if self.disk:
            self.hole(8)
        return left

    def write_net(self, name, v):
        left = {column: (self.wide if self.net else self.slim)(v[column]) for column in NET_COUNTERS}
        left["speed"] = self.u32(v["speed"]) if self.net == 2 else 0
        self.text(name, 16)
        left["duplex"] = v["duplex"] if self.net == 2 else 0
        if self.net == 2:
            self.data += bytes([v["duplex"]]) + bytes(11)
        return left

    def write_errors(self, name, v):
        left = {column: (self.wide if self.errors else self.slim)(v[column]) for column in ERROR_COUNTERS}
        self.text(name, 16)
        return left

    def fill(self, missing, size):
        """Items that are not in use."""
        self.data += bytes(missing * size)

    def stats(self, uptime, seconds, disks, interfaces):
        """{minor: {column: value}}, {name: {column: value}}"""
        rows = {}
        self.record(1, uptime, seconds)
        for i in range(10 * self.cpus):
            self.wide(1000 + i)
        for minor, v in disks.items():
            rows["disk", f"dev253-{minor}"] = self.write_disk(minor, v)
        self.fill(self.disks - len(disks), [80, 64][self.disk])
        for name, v in interfaces.items():
            rows["net", name] = self.write_net(name, v)
        self.fill(self.interfaces - len(interfaces), [72, 128, 144][self.net])
        for name, v in interfaces.items():
            rows["net", name].update(self.write_errors(name, v))
        self.fill(self.interfaces - len(interfaces), [88, 160][self.errors])
        self.expected.append((seconds, uptime, rows))

    def comment(self, seconds, text):
        self.record(4, 0, seconds)
        self.text(text, 64)

    def restart(self, seconds, cpus):
        """Only the newer format can have another number of CPUs from here on."""
        self.record(2, 0, seconds)
        if self.format == 0x2173:
            self.cpus = cpus
            self.activity(CPU, 0, cpus, 0)


def disk_values(minor, step):
    """All of them differ. Some are larger than 2^32, but the part in a long of 4 bytes never falls, because sadf would
    take that for a replaced device. Times do exceed 2^32."""
    base = 10**6 * (minor + 1)
    return {"ios": 2**32 + 40 + 17 * step + minor, "rd_sec": base + 800 * step,
            "wr_sec": base + 16 * step * (minor + 2), "rd_ticks": base // 10 + 70 * step,
            "wr_ticks": base // 20 + 30 * step, "tot_ticks": (2**32 - 300 + 90 * step) % 2**32,
            "rq_ticks": base // 30 + 110 * step}


def net_values(name, step):
    base = 10**7 * len(name)
    v = {column: base + 1000 * k + (k + 3) * 100 * step for k, column in enumerate(NET_COUNTERS + ERROR_COUNTERS)}
    return dict(v, rx_bytes=2**32 + 5000 + 15000 * step, speed=1000, duplex=2)


def example(version, machine):
    """A disk and an interface that appear later, a disk that disappears, a comment, and a restart with more CPUs."""
    w = Writer(version, machine)
    wall = 1600000000

    def stats(step, uptime, minors, names):
        w.stats(uptime, wall + 10 * step, {m: disk_values(m, step) for m in minors},
                {name: net_values(name, step) for name in names})
    stats(0, 50000, [0, 3], ["lo", "eth0"])
    stats(1, 51000, [0, 3], ["lo", "eth0"])
    stats(2, 52003, [0, 1, 3], ["lo", "eth0", "ib0"])
    w.comment(wall + 25, "a comment")
    stats(3, 53001, [1, 3], ["lo", "eth0", "ib0"])
    stats(4, 54000, [1, 3], ["lo", "ib0"])
    w.restart(wall + 100, 5)
    for step in range(12, 16):
        stats(step, 1000 * step, [0, 1, 2, 3], ["lo", "eth0", "eth1", "ib0"])
    return w


def main():
    version, machine, path = sys.argv[1:]
    with open(path, "wb") as f:
        f.write(example(version, machine).data)


if __name__ == "__main__":
    main()
