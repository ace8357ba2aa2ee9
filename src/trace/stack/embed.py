#!/usr/bin/env python3
"""embed.py OUT NAME=FILE...: files as C arrays, each with the hash by which a page may allow it."""
import base64
import hashlib
import pathlib
import sys


def embed(name, path):
    """The array of one file."""
    data = pathlib.Path(path).read_bytes()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    rows = (", ".join(str(b) for b in data[i:i + 20]) for i in range(0, len(data), 20))
    return (f'#define {name.upper()}_HASH "{digest}"\n'
            f"static const unsigned char {name}[] = {{\n" + ",\n".join(rows) + "};\n")


pathlib.Path(sys.argv[1]).write_text("".join(embed(*pair.split("=", 1)) for pair in sys.argv[2:]), encoding="ascii")
