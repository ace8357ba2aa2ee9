#!/usr/bin/env python3
"""embed.py IN OUT: the bytes of a file as a string of C. (As numbers, each would be a token of its own,
of which some tools cannot take a quarter of a million.)"""
import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "w", encoding="ascii") as target:
    data = source.read()
    for i in range(0, len(data), 32):
        target.write('"' + "".join(f"\\{byte:03o}" for byte in data[i:i + 32]) + '"\n')
