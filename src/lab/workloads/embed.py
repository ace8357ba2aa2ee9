#!/usr/bin/env python3
"""embed.py OUT LIBRARY AGAIN WORKLOAD...: write shell files as C, for src/lab/registry.c.

LIBRARY and AGAIN become strings, and each WORKLOAD a `struct workload` with the name of the file. A
workload begins with the lines "# summary: ..." and "# needs: ...", defines the function pass, and
may define prepare."""
import pathlib
import re
import sys


def c_string(text):
    """A string literal per line."""
    def escape(line):
        return line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return "\n".join(f'\t"{escape(line)}\\n"' for line in text.splitlines())


def field(text, name, path):
    found = re.search(rf"^# {name}: (.+)$", text, re.M)
    if not found:
        sys.exit(f'{path}: wants a line "# {name}: ..."')
    return found[1].replace("\\", "\\\\").replace('"', '\\"')


def workload(path):
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^pass\(\)", text, re.M):
        sys.exit(f"{path}: defines no function pass")
    return (f"static const struct workload workload_{path.stem} = {{\n"
            f'\t.name = "{path.stem}",\n'
            f'\t.summary = "{field(text, "summary", path)}",\n'
            f'\t.needs = "{field(text, "needs", path)}",\n'
            f"\t.script =\n{c_string(text)},\n}};\n")


out, library, again, *rest = map(pathlib.Path, sys.argv[1:])
out.write_text(
    f"const char workload_library[] =\n{c_string(library.read_text(encoding='utf-8'))};\n"
    f"const char workload_again[] =\n{c_string(again.read_text(encoding='utf-8'))};\n"
    + "".join(workload(path) for path in rest), encoding="utf-8")
