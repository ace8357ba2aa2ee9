#!/usr/bin/env python3
"""The installed library: a program outside the tree builds against it and works."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tap
from tap import check, run

BUILD = os.environ["BUILD"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
TEMP = tempfile.TemporaryDirectory()
TOP = pathlib.Path(TEMP.name)
ROOT = TOP / "root"
STRICT = ["-Wall", "-Wextra", "-Werror"]


def installed(name):
    found = sorted(ROOT.rglob(name))
    check(found, f"{name} is not installed")
    return found[0]


def pkg_config(*what):
    env = {**os.environ, "PKG_CONFIG_LIBDIR": str(installed("limpet.pc").parent),
           "PKG_CONFIG_SYSROOT_DIR": str(ROOT)}
    return run("pkg-config", *what, "limpet", env=env).split()


def install():
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", ROOT)
    for name in ("limpet", "liblimpet.so", "limpet.pc", "limpet.h", "limpet-record.service"):
        installed(name)
    headers = {p.name for p in (SOURCE / "include/limpet").glob("*.h")}
    check({p.name for p in installed("limpet.h").parent.iterdir()} == headers, "other headers")


def pages():
    text = (SOURCE / "src/cli/meson.build").read_text(encoding="utf-8")
    commands = re.findall(r"'(\w+)'", re.search(r"^commands = \[(.*?)\]", text, re.M | re.S)[1])
    for name in ["limpet", *(f"limpet-{c}" for c in commands)]:
        check(installed(f"{name}.1").parent.name == "man1", f"{name}.1 is elsewhere")
    script = [p for p in ROOT.rglob("limpet") if p.parent.name == "completions"]
    check(len(script) == 1 and "complete " in script[0].read_text(), "no completion")


def record():
    """An archive of a recorded tree in which the disk sdf is slow."""
    program = [p for p in ROOT.rglob("limpet") if p.parent.name == "bin"][0]
    run(program, "record", "--root", SOURCE / "tests/fixtures/trees/multipath", "--name", "oss1",
        "-o", TOP / "data", "-q")


def embed_with(compiler):
    def case():
        if not shutil.which(compiler):
            raise tap.Skip(f"{compiler} is not installed")
        program = TOP / f"embed-{compiler}"
        run(compiler, *STRICT, "-std=c17", installed("embed.c"), *pkg_config("--cflags", "--libs"),
            "-o", program)
        env = {**os.environ, "LD_LIBRARY_PATH": str(installed("liblimpet.so").parent)}
        text = run(program, "await", TOP / "data", env=env)
        # (50 * 57 + 50 * 95 + 5 * 38) ms for 105 requests
        check(text == "oss1/disk:sdf: await 74.190 ms on average, the highest of 12 components\n",
              text)
        run(program, "nonsense", TOP / "data", env=env, status=2)
        run(program, "await", TOP / "nothing", env=env, status=2)
    return case


def whois():
    """The example that embeds the engine names the slow disk of a recording."""
    program = TOP / "whois"
    run("gcc", *STRICT, "-std=c17", installed("whois.c"), *pkg_config("--cflags", "--libs"),
        "-o", program)
    env = {**os.environ, "LD_LIBRARY_PATH": str(installed("liblimpet.so").parent)}
    text = run(program, SOURCE / "tests/fixtures/recordings/slow-disk", env=env, status=1)
    check(text.startswith("oss4/disk:loop3: disk-busy; await "), text)
    run(program, TOP / "nothing", env=env, status=2)


def headers_with(compiler, *flags):
    def case():
        if not shutil.which(compiler):
            raise tap.Skip(f"{compiler} is not installed")
        include = installed("limpet.h").parent
        for header in sorted(include.iterdir()):
            run(compiler, *STRICT, *flags, "-fsyntax-only", f"-I{include.parent}",
                "-include", header, "/dev/null")
    return case


def links_from_cplusplus():
    if not shutil.which("g++"):
        raise tap.Skip("g++ is not installed")
    source = TOP / "main.cc"
    source.write_text("#include <limpet/limpet.h>\n"
                      'int main() { return !lp_metric_find("disk", "await"); }\n')
    run("g++", *STRICT, source, *pkg_config("--cflags", "--libs"), "-o", TOP / "main")
    run(TOP / "main", env={**os.environ, "LD_LIBRARY_PATH": str(installed("liblimpet.so").parent)})


def exported():
    """{name} of the functions that the library exports."""
    lines = run("nm", "-D", "--defined-only", installed("liblimpet.so")).splitlines()
    return {line.split()[-1] for line in lines if line.strip()}


def only_public_names():
    names = {n for n in exported() if not n.startswith(("__asan", "__ubsan", "__odr_asan"))}
    check(names and all(n.startswith("lp_") for n in names),
          f"exported: {sorted(n for n in names if not n.startswith('lp_'))}")


def everything_declared_is_there():
    declared = set()
    for header in installed("limpet.h").parent.iterdir():
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        text = re.sub(r"\n\{.*?\n\}", ";", text, flags=re.S)
        declared |= set(re.findall(r"^(?!static|typedef|\s)[\w *]*?\b(lp_\w+)\(", text, re.M))
    check(len(declared) > 30, f"found only {declared}")
    missing = declared - exported()
    check(not missing, f"declared in a header and not in the library: {sorted(missing)}")


try:
    tap.main([
        ("meson install", install),
        ("manual pages and completion are installed", pages),
        ("the installed program records", record),
        ("embed.c with gcc", embed_with("gcc")),
        ("embed.c with clang", embed_with("clang")),
        ("whois.c", whois),
        ("headers are C", headers_with("gcc", "-std=c17", "-x", "c")),
        ("headers are C++ for g++", headers_with("g++", "-std=c++17", "-x", "c++")),
        ("headers are C++ for clang", headers_with("clang", "-std=c++17", "-x", "c++")),
        ("a C++ program links", links_from_cplusplus),
        ("only lp_ names are exported", only_public_names),
        ("every declared function is exported", everything_declared_is_there),
    ])
finally:
    TEMP.cleanup()
