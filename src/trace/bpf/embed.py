#!/usr/bin/env python3
"""embed.py IN OUT: write the bytes of a file as a C string. (As numbers, each would be a separate token, and some tools
cannot handle a quarter of a million tokens.)"""
import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "w", encoding="ascii") as target:
    data = source.read()
    for i in range(0, len(data), 32):
        target.write('"' + "".join(f"\\{byte:03o}" for byte in data[i:i + 32]) + '"\n')
