#!/usr/bin/env python3
"""docs.py: put the program's output and pictures into README.md and docs/*.md; --check: compare instead.

A block is quoted from the program if a line before it says so:

    <!-- run: limpet diagnose recordings/ddr-disk-busy-1 | head -4 -->

The command runs in the source tree. Of a shell's syntax it may only have "| head -N", "| tail -N" and "| grep WORD".
$LIMPET is the program (build/src/cli/limpet). Pictures are made with Chromium; docs/pictures.json has the text of the
page of each picture, so that --check needs no browser and fails when the page has another text.
"""
import argparse
import difflib
import hashlib
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("SOURCE", pathlib.Path(__file__).resolve().parent.parent)).resolve()
LIMPET = os.path.abspath(os.environ.get("LIMPET", SOURCE / "build/src/cli/limpet"))
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "TZ": "UTC", "LIMPET_STATE": "/dev/null"}
BLOCK = re.compile(r"(<!-- run: (?P<command>[^\n]*) -->\n```[^\n]*\n)(?P<text>.*?)(?P<end>^```$)", re.M | re.S)
# The contents of a picture: the page that a command writes, and the size of the window.
PICTURES = {"docs/report.png": ("diagnose recordings/ddr-disk-busy-1 --html {}", (1280, 900))}
PICTURE_LIST = SOURCE / "docs/pictures.json"


def output_of(command):
    """The output of the command, after its filters."""
    first, *filters = [shlex.split(part) for part in command.split(" | ")]
    if first[0] != "limpet":
        raise SystemExit(f"docs.py: '{command}' does not run limpet")
    ran = subprocess.run([LIMPET, *first[1:]], cwd=SOURCE, env=ENVIRONMENT, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=300, check=False)
    if ran.returncode not in (0, 1, 4):
        raise SystemExit(f"docs.py: '{command}' failed:\n{ran.stderr}")
    lines = ran.stdout.splitlines()
    for words in filters:
        if words[0] == "head":
            lines = lines[:int(words[1][1:])]
        elif words[0] == "tail":
            lines = lines[-int(words[1][1:]):]
        elif words[0] == "grep":
            lines = [line for line in lines if words[1] in line]
        else:
            raise SystemExit(f"docs.py: '{words[0]}' is not a filter that it knows")
    return "".join(line.rstrip() + "\n" for line in lines)


def renewed(text):
    """A page, with the current output of the program in all its blocks."""
    return BLOCK.sub(lambda m: m.group(1) + "$ " + m.group("command") + "\n" + output_of(m.group("command")) + "```", text)


def page_of(command, path):
    """Write the page of a picture; returns the text that a reader sees, which identifies it."""
    subprocess.run([LIMPET, *shlex.split(command.format(path))], cwd=SOURCE, env=ENVIRONMENT, check=False,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=300)
    text = pathlib.Path(path).read_text(encoding="utf-8")
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.S)
    words = html.unescape(re.sub(r"<[^>]*>", " ", body)).split()
    return hashlib.sha256(" ".join(words[:120]).encode()).hexdigest()  # the first screen


def pictures(check):
    """Make the pictures, or check that they match the program's output."""
    known = json.loads(PICTURE_LIST.read_text()) if PICTURE_LIST.exists() else {}
    wrong = []
    for name, (command, (width, height)) in PICTURES.items():
        with tempfile.TemporaryDirectory(prefix="limpet-docs-") as directory:
            page = os.path.join(directory, "page.html")
            digest = page_of(command, page)
            if check:
                if known.get(name) != digest or not (SOURCE / name).exists():
                    wrong.append(name)
                continue
            browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
            if not browser:
                raise SystemExit("docs.py: chromium is needed for pictures (scripts/deps.sh installs it)")
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            f"--window-size={width},{height}", f"--screenshot={SOURCE / name}", f"file://{page}"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            known[name] = digest
    if not check:
        PICTURE_LIST.write_text(json.dumps(known, indent=2) + "\n")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, print TAP and write nothing")
    check = parser.parse_args().check
    wrong = 0
    pages = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
    pages = [p for p in pages if BLOCK.search(p.read_text(encoding="utf-8"))]
    if check:
        print(f"1..{len(pages) + 1}")
    for number, path in enumerate(pages, 1):
        before = path.read_text(encoding="utf-8")
        after = renewed(before)
        if not check:
            if after != before:
                path.write_text(after, encoding="utf-8")
                print(f"{path.relative_to(SOURCE)}: written")
            continue
        same = after == before
        wrong += not same
        print(f"{'ok' if same else 'not ok'} {number} - {path.relative_to(SOURCE)} quotes what the program prints")
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), "quoted", "printed", lineterm="", n=1):
            print(f"# {line}")
    stale = pictures(check)
    if check:
        print(f"{'not ok' if stale else 'ok'} {len(pages) + 1} - pictures are of what the program writes")
        for name in stale:
            print(f"# {name} is of another page: run make docs, and look at it")
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    sys.exit(main())
