#!/usr/bin/env python3
"""The manual pages, docs/metrics.md and the completion match the program's tables, and so do the other documents."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tap
from tap import check, run

LIMPET = os.environ["LIMPET"]
SOURCE = pathlib.Path(os.environ["SOURCE"])


def commands():
    return re.findall(r"^  ([a-z]\w*) ", run(LIMPET, "help"), re.M)


# The lists of their verbs, in a meson.build.
GROUPS = {"lab": ("lab", "lab_verbs"), "trace": ("cli", "trace_commands"), "stack": ("cli", "stack_commands"),
          "serve": ("cli", "serve_commands")}


def verbs(group):
    """The commands of a group like lab."""
    return re.findall(rf"^  limpet {group} ([a-z][\w-]*) ", run(LIMPET, "help", group), re.M)


def listed(folder, name):
    """The items of a list in a meson.build."""
    text = (SOURCE / "src" / folder / "meson.build").read_text(encoding="utf-8")
    return re.findall(r"'(\w+)'", re.search(rf"^{name} = \[(.*?)\]", text, re.M | re.S)[1])


def optional(folder, name):
    """Additions to a list if their libraries are available."""
    text = (SOURCE / "src" / folder / "meson.build").read_text(encoding="utf-8")
    return set(re.findall(rf"^ +{name} \+= '(\w+)'", text, re.M))


def options_of(command):
    """The options in the help of a command: {"--output", "-o", ...}."""
    text = run(LIMPET, "help", *command)
    lines = re.findall(r"^  ((?:-\w, )?--[\w-]+.*)$", text, re.M)
    return {option for line in lines for option in re.findall(r"(?:^|, )(--?[\w-]+)", line)}


def page(*command):
    return run(LIMPET, "help", "--man", *command)


def rendered(source):
    """A page as the user sees it, in very wide lines; warnings of roff fail the test."""
    if not shutil.which("man"):
        raise tap.Skip("man is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "limpet.1"
        path.write_text(source, encoding="utf-8")
        env = {**os.environ, "MANWIDTH": "400", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
        done = subprocess.run(["man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", str(path)],
                              capture_output=True, text=True, check=False, env=env)
    check(done.returncode == 0 and not done.stderr.strip(), f"man says: {done.stderr}")
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)


def every_command_is_in_the_overview():
    text = rendered(page())
    check(commands() == listed("cli", "commands"), "help lists other commands than meson.build")
    for command in commands():
        check(f"limpet {command}" in text, f"limpet(1) does not mention {command}")
        check(f"limpet-{command}(1)" in text, f"limpet(1) does not lead to limpet-{command}(1)")


def page_of(command):
    def case():
        text = rendered(page(command))
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
            check(re.search(rf"^{heading}$", text, re.M), f"no {heading}")
        for option in options_of([command]):
            check(re.search(rf"^ +(-\w, )?{re.escape(option)}\b", text, re.M),
                  f"limpet-{command}(1) does not describe {option}")
        check("\u2019" not in text and "\u2212" not in text and "\u2010" not in text,
              "a quote or a dash that a shell does not understand")
    return case


def verbs_of(group):
    """limpet-GROUP(1) has all verbs with their options; verbs for limpet's own use are not shown."""
    def case():
        text = rendered(page(group))
        for verb in verbs(group):
            check(re.search(rf"^ +limpet {group} {verb} ", text, re.M), f"{group}: no {verb}")
            for option in options_of([group, verb]):
                check(re.search(rf"^ +(-\w, )?{re.escape(option)}\b", text, re.M),
                      f"limpet-{group}(1) does not describe {option} of {verb}")
            check(run(LIMPET, group, verb, "--help") == run(LIMPET, "help", group, verb), "--help")
            long = {o for o in options_of([group, verb]) if o.startswith("--")}
            check(complete(group, verb, "--") == long | {"--help"}, f"completion of {verb}")
            check(f"limpet-{group}-{verb}" in rendered(page(group, verb)), f"no page of {verb}")
        check(complete(group, "") == set(verbs(group)) | {"--help"}, "verbs are not completed")
        check(verbs(group) and {v.replace("-", "_") for v in verbs(group)} <= set(listed(*GROUPS[group])),
              f"other verbs than in meson.build: {verbs(group)}")
    return case


def internal_verbs():
    check({"up", "status", "down"} <= set(verbs("lab")) and "disk" not in verbs("lab"), "internal")
    check("limpet lab disk" not in rendered(page("lab")), "an internal verb in the manual")


def collectors_and_importers():
    record, show = rendered(page("record")), rendered(page("show"))
    for name in listed("collect", "collectors"):
        check(re.search(rf"^ +{name}\b", record, re.M), f"limpet-record(1) lacks {name}")
        check(re.search(rf"^  {name} ", run(LIMPET, "help", "record"), re.M), f"help lacks {name}")
    for name in listed("import", "importers"):
        check(f"{name.upper()} FILES" in show, f"limpet-show(1) lacks {name}")


def metrics_document():
    """The lists in docs/metrics.md are the same as the program's output."""
    text = (SOURCE / "docs/metrics.md").read_text(encoding="utf-8")
    lists = run(LIMPET, "help", "--markdown", "metrics")
    check(text.endswith(lists), "docs/metrics.md is out of date: run scripts/metrics-md.sh")
    for kind in listed("model", "metric_kinds"):
        check(f"Metrics of {kind} components" in lists, f"no metrics of {kind}")
    for collector in listed("collect", "collectors"):
        check(f"collector {collector} (" in lists, f"no columns of {collector}")


def metrics_help():
    text = run(LIMPET, "help", "metrics")
    for name in re.findall(r"^\| `([^`]+)` ", run(LIMPET, "help", "--markdown", "metrics"), re.M):
        check(re.search(rf"^  {re.escape(name)} ", text, re.M), f"{name} is not in the list")


def wrong_usage():
    run(LIMPET, "help", "nonsense", status=2)
    run(LIMPET, "help", "lab", "nonsense", status=2)
    run(LIMPET, "help", "show", "record", status=2)
    run(LIMPET, "help", "--markdown", "show", status=2)
    run(LIMPET, "help", "--man", "metrics", status=2)


def complete(*words):
    """The completions that bash offers for the last of the words."""
    script = run(LIMPET, "help", "--complete")
    line = " ".join(f"'{w}'" for w in ("limpet", *words))
    script += (f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _limpet; "
               "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return set(run("bash", "-euc", script).split())


def completion():
    check(complete("re") == {"record"}, complete("re"))
    check(set(commands()) <= complete(""), "not all commands are offered")
    for command in commands():
        long = {o for o in options_of([command]) if o.startswith("--")}
        check(complete(command, "--") == long | {"--help"}, f"options of {command}")
    check(complete("record", "--collect", "") == set(listed("collect", "collectors")), "collectors")
    formats = set(listed("import", "importers"))
    check(formats <= complete("import", "") <= formats | optional("import", "importers"), "formats")
    check(complete("show", "-m", "awa") == {"await", "await-peak"}, "metrics")
    check(complete("show", "--metric", "=", "awa") == {"await", "await-peak"}, "after =")
    check(complete("record", "--collect", "=") == set(listed("collect", "collectors")), "at =")
    check(complete("show", "-m", "%util,awa") == {"%util,await", "%util,await-peak"}, "lists with commas")
    check(complete("help", "me") == {"metrics"}, "topics")
    check(complete("record", "-o", "") == set(), "file names are left to the shell")


def documents():
    return [SOURCE / "README.md", SOURCE / "CHANGELOG.md", *sorted((SOURCE / "docs").glob("*.md"))]


def links():
    for document in documents():
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if target.startswith("https://"):
                continue
            check((document.parent / target).exists(), f"{document.name} leads to {target}")


def commands_in_documents():
    """Commands in the documents have the options that they name."""
    known = {command: options_of([command]) | {"--help"} for command in commands()}
    known.update({f"{group} {verb}": options_of([group, verb]) | {"--help"}
                  for group in GROUPS for verb in verbs(group)})
    n = 0
    for document in documents():
        text = document.read_text(encoding="utf-8").replace("\\\n", " ")
        for command, rest in re.findall(r"^(?:    |\$ )limpet (\w+)(.*)$", text, re.M):
            if command == "hello":  # which adding.md adds
                continue
            check(command in known, f"{document.name}: there is no limpet {command}")
            words = re.sub(r"'[^']*'|#.*", "", rest).split()
            if command in GROUPS and words and not words[0].startswith("-"):
                command += " " + words[0]
                check(command in known, f"{document.name}: there is no limpet {command}")
            for option in {w.split("=")[0] for w in words if re.match(r"--?[a-z]", w)}:
                check(option in known[command], f"{document.name}: limpet {command} {option}")
            n += 1
    check(n > 20, f"only {n} commands found")


tap.main(
    [("limpet(1) lists every command", every_command_is_in_the_overview)] +
    [(f"limpet-{c}(1) renders and has every option", page_of(c)) for c in commands()] +
    [(f"limpet-{g}(1) and the completion have every verb", verbs_of(g)) for g in GROUPS] +
    [("internal verbs are not shown", internal_verbs),
     ("collectors and importers are in the pages", collectors_and_importers),
     ("docs/metrics.md is what the tables say", metrics_document),
     ("help metrics lists them all", metrics_help),
     ("wrong usage of help", wrong_usage),
     ("completion for bash", completion),
     ("links in the documents", links),
     ("commands in the documents", commands_in_documents)])
