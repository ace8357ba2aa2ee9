#!/usr/bin/env python3
"""embed.py FILE... OUT: the style (all .css) and the script (all .js) of the HTML report as C arrays,
with the hashes by which the page allows them and nothing else. The files are put one behind the
other; what one script exports, the next one has."""
import base64
import hashlib
import pathlib
import re
import sys


def embed(name, data):
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    rows = (", ".join(str(b) for b in data[i:i + 20]) for i in range(0, len(data), 20))
    return (f'#define {name.upper()}_HASH "{digest}"\n'
            f"static const unsigned char {name}[] = {{\n" + ",\n".join(rows) + "};\n")


def joined(paths, suffix):
    texts = [pathlib.Path(p).read_text(encoding="utf-8") for p in paths if p.endswith(suffix)]
    return "".join(texts)


style = joined(sys.argv[1:-1], ".css")
script = re.sub(r"^export ", "", joined(sys.argv[1:-1], ".js"), flags=re.MULTILINE)
pathlib.Path(sys.argv[-1]).write_text(
    embed("page_style", style.encode()) + embed("page_script", ('"use strict";\n{\n' + script + "}\n").encode()),
    encoding="ascii")
