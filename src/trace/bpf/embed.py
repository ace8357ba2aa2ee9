#!/usr/bin/env python3
"""embed.py IN OUT: the bytes of a file as the inside of a C array."""
import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "w", encoding="ascii") as target:
    data = source.read()
    for i in range(0, len(data), 32):
        target.write(",".join(map(str, data[i:i + 32])) + ",\n")
