#!/usr/bin/env python3
"""check-fuzz.py: check that every parser is reached by a fuzz target.

There is no list. A parser is a function of src with "parse" or "decode" in its name, or any function that reads text
line by line or as a whole (getline, fgets in a loop, fscanf, file_slurp). The script ignores command lines (src/cli,
verb_*.c), and small readers of the lab, which read the lab's own files and the kernel's numbers.

Parsers must be reached from tests/fuzz. A function reaches every function that it names, and those that the tables of
its file name. A function that only passes a text on to a parser need not be reached itself, if that parser is. If a
parser is not worth a target, the comment before it says so: "not fuzzed: REASON". Prints the parsers that are not
reached (exit 1).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARSER = re.compile(r"(^|_)(parse|parses|decode)(_|$)")
READS = re.compile(r"\b(getline|fscanf|file_slurp)\(|while \([^;]*\bfgets\(")
NOT_FUZZED = re.compile(r"\bnot fuzzed: \S.{10}")
WORD = re.compile(r"\b[a-z_][a-z0-9_]{2,}\b")


def functions(lines):
    """(name, first line, body, comment and head) of each function; finally the code outside of all functions."""
    outside, start = [], None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            first = start
            while first and lines[first - 1] and not lines[first - 1].startswith(("}", "#")):
                first -= 1
            head = re.sub(r"/\*.*?\*/", "", " ".join(lines[first:start]))
            names = re.findall(r"(\w+)\(", head)
            yield names[0] if names else "?", first + 1, lines[start:number + 1], " ".join(lines[first:start])
            start = None
        elif start is None:
            outside.append(line)
    yield None, 0, outside, ""


def words(lines):
    """The names in some lines of code."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.S)
    return set(WORD.findall(re.sub(r'"(\\.|[^"\\])*"', '""', text)))


def load():
    """{(file, function): (words, body, line, comment and head)}, and {file: words outside of functions}."""
    found, tables = {}, {}
    for path in sorted((ROOT / "src").rglob("*.c")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for name, line, body, head in functions(lines):
            if name is None:
                # Declarations name functions, too: only definitions with an initialiser count.
                text = "\n".join(body)
                tables[path] = words(re.findall(r"=\s*\{.*?\};", text, flags=re.S))
            else:
                found[path, name] = (words(body), "\n".join(body), line, head)
    return found, tables


def reach(found, tables):
    """All functions that are reached from tests/fuzz."""
    by_name = {}
    for (path, name), (_, _, _, head) in found.items():
        if not re.search(r"\bstatic\b", re.sub(r"/\*.*?\*/", "", head)):
            by_name.setdefault(name, []).append((path, name))
    todo = set()
    for path in (ROOT / "tests/fuzz").glob("*.[ch]"):
        todo |= {f for w in words(path.read_text(encoding="utf-8").splitlines()) for f in by_name.get(w, [])}
    reached, files = set(), set()
    while todo:
        function = todo.pop()
        if function in reached:
            continue
        reached.add(function)
        path, names = function[0], set(found[function][0])
        if path not in files:
            files.add(path)
            names |= tables[path]
        for name in names:
            todo.update([(path, name)] if (path, name) in found else by_name.get(name, []))
    return reached


def main():
    found, tables = load()
    reached = reach(found, tables)
    reached_names = {name for _, name in reached}
    wrong = 0
    for (path, name), (names, body, line, head) in sorted(found.items(), key=lambda item: (str(item[0][0]), item[1][2])):
        folder = path.relative_to(ROOT).parts[1]
        if folder == "cli" or path.name.startswith("verb_"):
            continue
        parses = PARSER.search(name) or (READS.search(body) and folder != "lab")
        if not parses or (path, name) in reached or NOT_FUZZED.search(" ".join(head.split())):
            continue
        if any(PARSER.search(n) and n in reached_names for n in names):
            continue
        wrong += 1
        print(f"{path.relative_to(ROOT)}:{line}: {name}() is reached by no fuzz target")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
