"""Remote write 1.0 on the wire, for tests that send or receive it: snappy's block format and WriteRequest."""
import struct


def varint(n):
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def varint_read(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def pack(data):
    """Compressed with literals only, which is valid snappy."""
    out = bytearray(varint(len(data)))
    for i in range(0, len(data), 60):
        piece = data[i:i + 60]
        out.append((len(piece) - 1) << 2)
        out += piece
    return bytes(out)


def unpack(data):
    size, at = varint_read(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:  # a literal
            n = tag >> 2
            if n >= 60:
                more = n - 59
                n = int.from_bytes(data[at:at + more], "little")
                at += more
            out += data[at:at + n + 1]
            at += n + 1
            continue
        if tag & 3 == 1:  # copies of what came before, by three kinds of offset
            n, offset = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            n, offset = (tag >> 2) + 1, int.from_bytes(data[at:at + width], "little")
            at += width
        for _ in range(n):
            out.append(out[-offset])
    assert len(out) == size, f"{len(out)} bytes, not {size}"
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(data):
    """(number, wire type, value) of each."""
    at = 0
    while at < len(data):
        key, at = varint_read(data, at)
        if key & 7 == 0:
            value, at = varint_read(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            n, at = varint_read(data, at)
            value, at = data[at:at + n], at + n
        yield key >> 3, key & 7, value


def request(series):
    """[(labels, [(milliseconds, value)])] as a body."""
    out = b""
    for labels, samples in series:
        one = b"".join(field(1, field(1, k.encode()) + field(2, v.encode())) for k, v in sorted(labels.items()))
        one += b"".join(field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(ms)) for ms, value in samples)
        out += field(1, one)
    return pack(out)


def series(body):
    """The same back."""
    found = []
    for number, _, one in fields(unpack(body)):
        if number != 1:
            continue
        labels, samples = {}, []
        for part, _, data in fields(one):
            inner = {n: v for n, _, v in fields(data)}
            if part == 1:
                name = inner[1].decode()
                assert not labels or name > max(labels), f"labels are not in order: {name}"
                labels[name] = inner[2].decode()
            elif part == 2:
                samples.append((inner.get(2, 0), struct.unpack("<d", inner.get(1, bytes(8)))[0]))
        found.append((labels, samples))
    return found
