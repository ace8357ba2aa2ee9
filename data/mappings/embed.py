#!/usr/bin/env python3
"""embed.py OUT TABLE...: tables of metrics as C, for src/import/remote/mapping.c."""
import pathlib
import sys


def c_string(text):
    """A string literal for each line."""
    def escape(line):
        return line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return "\n".join(f'\t\t"{escape(line)}\\n"' for line in text.splitlines())


out, *tables = map(pathlib.Path, sys.argv[1:])
rows = "".join(f'\t{{"{t.name}",\n{c_string(t.read_text(encoding="utf-8"))}}},\n' for t in tables)
out.write_text('#include "import/remote/mapping_builtin.h"\n\n'
               f"const struct mapping_text mapping_texts[] = {{\n{rows}\t{{0}},\n}};\n", encoding="utf-8")
