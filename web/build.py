#!/usr/bin/env python3
"""build.py MODE SOURCE WORK OUT: build the page of `limpet serve` and write it as C arrays to OUT.

MODE is "enabled" (fail where the page cannot be built), "auto" (say so, and go on without it),
"none" (there is no npm) or "disabled". SOURCE is web/, WORK a directory of the build. Packages are installed by
npm ci, once per package-lock.json."""
import gzip
import hashlib
import pathlib
import shutil
import subprocess
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
PARTS = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.js", "src", "public"]


def run(command, cwd):
    """Why it failed, or None."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace",
                              check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
    return f"'{' '.join(command)}' failed"


def install(work):
    lock, installed = work / "package-lock.json", work / "installed-lock.json"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return None
    wrong = run(["npm", "ci", "--no-audit", "--no-fund"], work)
    if wrong is None:
        shutil.copy(lock, installed)
    return wrong


def build(source, work):
    """Why there is no page in WORK/dist, or None."""
    work.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        target = work / part
        if (source / part).is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source / part, target)
        else:
            shutil.copy(source / part, target)
    return install(work) or run(["node", "node_modules/vite/bin/vite.js", "build"], work)


def array(name, data):
    rows = (",".join(str(b) for b in data[i:i + 40]) for i in range(0, len(data), 40))
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(rows) + "};\n"


def embed(files):
    """One row per file: its path, type and hash, as it is and compressed."""
    arrays, rows = [], []
    for i, path in enumerate(files):
        data = path.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)
        arrays += [array(f"page_data_{i}", data), array(f"page_gzip_{i}", packed)]
        name = "/" if path.name == "index.html" else f"/{path.name}"
        etag = hashlib.sha256(data).hexdigest()[:32]
        rows.append(f'\t{{"{name}", "{TYPES[path.suffix]}", "\\"{etag}\\"", page_data_{i}, '
                    f"sizeof(page_data_{i}), page_gzip_{i}, sizeof(page_gzip_{i})}},\n")
    return "".join(arrays) + "static const struct page_file page_files[] = {\n" + "".join(rows) + "\t{0},\n};\n"


def main(mode, source, work, out):
    without = {"none": "npm was not there", "disabled": "the build option page was disabled"}
    wrong = without.get(mode) or build(pathlib.Path(source), pathlib.Path(work))
    if wrong and mode == "enabled":
        sys.exit(f"the page cannot be built: {wrong}")
    if wrong and mode not in without:
        print(f"limpet serve will have no page: {wrong}", file=sys.stderr)
    files = [] if wrong else sorted((pathlib.Path(work) / "dist").iterdir())
    missing = wrong.replace("\\", "/").replace('"', "'") if wrong else ""
    pathlib.Path(out).write_text(f'#define PAGE_MISSING "{missing}"\n' + embed(files), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
