#!/usr/bin/env python3
"""An independent reader of limpet archives, written from docs/archive-format.md alone.

    read_archive.py [--walk] FILE

prints a line per component and sample, the events, and a line per record of each log. It refuses damaged files.
"""
import struct
import subprocess
import sys

FILE_MAGIC = b"\x89LPA\r\n\x1a\n"
CATALOGUE, DATA, EVENT, INDEX, LOG = 1, 2, 3, 4, 5
KEY, PACKED, CARRY = 1, 2, 4
COUNTER, GAUGE, REAL = 0, 1, 2
MISSING = -(1 << 63)
MASK = (1 << 64) - 1


def crc_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def unzstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout


def signed(v):
    v &= MASK
    return v - (1 << 64) if v >> 63 else v


def unzigzag(v):
    return (v >> 1) ^ -(v & 1)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("cut short")
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def i64(self):
        return struct.unpack("<q", self.take(8))[0]

    def varint(self):
        v = shift = 0
        while True:
            byte = self.u8()
            v |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return v & MASK

    def zigzag(self):
        return unzigzag(self.varint())

    def string(self):
        return self.take(self.varint()).decode()


class Frame:
    def __init__(self, fields, payload):
        (self.type, self.flags, _, self.payload_size, self.head_size, self.head_crc,
         self.n_samples, self.first, self.last) = struct.unpack("<BBHIIIIqq", fields)
        self.payload = payload[:self.payload_size]
        if crc32c(self.payload[:self.head_size]) != self.head_crc:
            raise ValueError("wrong checksum of a frame")


def frames_by_walking(data):
    at = 16
    while at < len(data):
        header = data[at:at + 44]
        if header[:4] != b"\xf5LPF" or struct.unpack("<I", header[40:])[0] != crc32c(header[:40]):
            raise ValueError(f"no frame at byte {at}")
        frame = Frame(header[4:40], data[at + 44:])
        at += 44 + frame.payload_size
        if frame.type == INDEX:
            break
        yield frame


def frames_by_index(data):
    trailer = data[-16:]
    if trailer[8:12] != b"\xf5LPE" or struct.unpack("<I", trailer[12:])[0] != crc32c(trailer[:12]):
        raise ValueError("no trailer")
    at = struct.unpack("<Q", trailer[:8])[0]
    index = Frame(data[at + 4:at + 40], data[at + 44:])
    for entry in range(0, index.payload_size, 44):
        offset = struct.unpack("<Q", index.payload[entry:entry + 8])[0]
        yield Frame(index.payload[entry + 8:entry + 44], data[offset + 44:])


class Archive:
    def __init__(self, data, walk=False):
        if data[:8] != FILE_MAGIC or struct.unpack("<I", data[12:16])[0] != crc32c(data[:12]):
            raise ValueError("not an archive")
        if struct.unpack("<H", data[8:10])[0] != 1:
            raise ValueError("a future version")
        self.frames = list((frames_by_walking if walk else frames_by_index)(data))
        self.meta, self.schemas, self.components = "", {}, {}
        self.last = {}
        for frame in self.frames:
            if frame.type == CATALOGUE:
                self.read_catalogue(frame.payload)

    def read_catalogue(self, payload):
        c = Cursor(payload)
        method, raw = c.u8(), c.varint()
        if method == 1:
            c = Cursor(unzstd(payload[c.at:]))
            assert len(c.data) == raw
        self.meta = c.string()
        first = c.varint()
        for number in range(first, first + c.varint()):
            kind, columns = c.string(), []
            for _ in range(c.varint()):
                name, _unit, kind_of, _bits = c.string(), c.string(), c.u8(), c.u8()
                c.string()
                columns.append((name, kind_of))
            self.schemas[number] = (kind, columns)
        for _ in range(c.varint()):
            number, schema, observer, name = c.varint(), c.varint(), c.string(), c.string()
            c.string()
            c.string()
            self.components[number] = (schema, f"{observer}/{self.schemas[schema][0]}:{name}")

    def chunks(self, frame):
        head, at = Cursor(frame.payload[:frame.head_size]), frame.head_size
        for _ in range(head.varint()):
            stored, raw, crc = head.varint(), head.varint(), head.u32()
            chunk = frame.payload[at:at + stored]
            at += stored
            if crc32c(chunk) != crc:
                raise ValueError("wrong checksum of a chunk")
            yield chunk if stored == raw else unzstd(chunk)

    def read_times(self, c, frame):
        n, wall, mono = c.varint(), c.i64(), c.i64()
        assert n == frame.n_samples
        if frame.flags & CARRY:
            c.varint()
            c.varint()
        times, step = [(wall, mono)], 0
        for _ in range(n - 1):
            step = signed(step + c.zigzag())
            wall = signed(wall + step)
            mono = signed(mono + step + c.zigzag())
            times.append((wall, mono))
        return times

    def read_rows(self, c, n):
        schema, n_columns, n_rows = c.varint(), c.varint(), c.varint()
        ids, number = [], 0
        for _ in range(n_rows):
            number += c.zigzag()
            ids.append(number)
        marks = c.take(n_rows)
        states = [c.take(n) if mark & 2 else b"\x01" * n for mark in marks]
        assert n_columns == len(self.schemas[schema][1])
        return schema, [(i, bool(m & 1), s) for i, m, s in zip(ids, marks, states)]

    def read_column(self, c, column, rows, n, key):
        """The values of each row; None where one is missing."""
        name, kind = column
        mode, scale, nulls = c.u8(), c.u8(), c.u8()
        if nulls == 2:
            return [[None] * n for _ in rows]
        bases = []
        for number, carried, _ in rows:
            if kind == COUNTER and carried and not key:
                bases.append(self.last[number, name])
            else:
                bases.append(c.zigzag())
        active = c.take((len(rows) + 7) // 8)
        null_map = c.take((len(rows) * n + 7) // 8) if nulls == 1 else b""
        width = c.u8()
        n_active = sum(bin(byte).count("1") for byte in active)
        planes = [c.take(n_active * n) for _ in range(width)]
        values, at = [], 0
        for i, code in enumerate(bases):
            row = []
            is_active = active[i // 8] >> i % 8 & 1
            for s in range(n):
                if is_active:
                    delta = sum(plane[at + s] << 8 * p for p, plane in enumerate(planes))
                    code = signed(code ^ delta) if mode == 2 else signed(code + unzigzag(delta))
                bit = i * n + s
                if null_map and null_map[bit // 8] >> bit % 8 & 1:
                    row.append(None)
                elif mode == 1:
                    row.append(struct.unpack("<q", struct.pack("<d", code / 10 ** scale))[0])
                else:
                    row.append(code)
            at += n if is_active else 0
            values.append(row)
        return values

    def read_data(self, frame):
        packed, key = frame.flags & PACKED, frame.flags & KEY
        chunks = self.chunks(frame)
        c = Cursor(next(chunks))
        times = self.read_times(c, frame)
        kinds = [self.read_rows(c, len(times)) for _ in range(c.varint())]
        for schema, rows in kinds:
            columns = []
            for column in self.schemas[schema][1]:
                data = c.take(c.varint()) if packed else next(chunks)
                values = self.read_column(Cursor(data), column, rows, len(times), key)
                columns.append((column[0], values))
            for i, (number, _, states) in enumerate(rows):
                for name, values in columns:
                    last = values[i][-1]
                    self.last[number, name] = MISSING if last is None else last
                for s, (wall, mono) in enumerate(times):
                    if states[s] & 1:
                        cells = [(name, values[i][s]) for name, values in columns]
                        yield wall, mono, self.components[number][1], states[s], cells

    def samples(self):
        for frame in self.frames:
            if frame.type == DATA:
                yield from self.read_data(frame)

    def events(self):
        for frame in self.frames:
            if frame.type == EVENT:
                yield frame.first, frame.payload.decode()

    def read_field(self, c, kind, n):
        """The values of a field, one per record."""
        if c.u8() == 0:
            values = self.read_column(c, (None, GAUGE), [(0, False, None)], n, True)[0]
            return [MISSING if v is None else v for v in values]
        n_entries = c.varint()
        if kind == 0:
            entries = [signed(c.zigzag()) for _ in range(n_entries)]
        else:
            entries = [c.take(length) for length in [c.varint() for _ in range(n_entries)]]
        planes = [c.take(n) for _ in range(c.u8())]
        return [entries[sum(p[i] << 8 * k for k, p in enumerate(planes))] for i in range(n)]

    def read_log(self, frame):
        head = Cursor(frame.payload[:frame.head_size])
        for _ in range(head.varint()):
            head.varint(), head.varint(), head.u32()
        name, first = head.string(), head.varint()
        chunks = self.chunks(frame)
        c, fields, values = Cursor(next(chunks)), [], []
        for _ in range(c.varint()):
            field, _unit, kind = c.string(), c.string(), c.u8()
            c.string()
            fields.append((field, kind))
        for field, kind in fields:
            data = c.take(c.varint()) if frame.flags & PACKED else next(chunks)
            values.append(self.read_field(Cursor(data), kind, frame.n_samples))
        for i in range(frame.n_samples):
            yield name, first + i, [(f, v[i]) for (f, _), v in zip(fields, values)]

    def records(self):
        for frame in self.frames:
            if frame.type == LOG:
                yield from self.read_log(frame)

    def lines(self):
        for wall, mono, name, state, cells in self.samples():
            text = "".join(f" {k}={'missing' if v is None else v}" for k, v in cells)
            yield f"{wall} {mono} {name} {state}{text}"
        for wall, text in self.events():
            yield f"event {wall} {text}"
        for name, number, fields in self.records():
            text = "".join(f" {k}={v.hex() if isinstance(v, bytes) else v}" for k, v in fields)
            yield f"log {name} {number}{text}"


def main():
    walk = sys.argv[1] == "--walk"
    with open(sys.argv[-1], "rb") as f:
        for line in Archive(f.read(), walk).lines():
            print(line)


if __name__ == "__main__":
    main()
