#!/usr/bin/env python3
"""Sampling the machine: functions of all kinds of executables have their names and are found as often as they are busy,
with both samplers; and the messages if sampling is impossible."""
import csv
import glob
import hashlib
import io
import json
import os
import platform
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree

from program import LIMPET, bad, good, limpet, run_tests, tests_of
from tap import Skip, check

SOURCE = os.path.join(os.environ.get("SOURCE", "."), "tests/e2e/busy.c")
CPU_MS = 300  # of each busy program
HZ = 997
OF_ALL = {"capture_output": True, "text": True, "check": True}


def compiled(directory, name, *flags):
    """A busy program, linked with these flags; each has another build-id."""
    code = "-fno-pie" if "-no-pie" in flags else "-fPIE"
    part = os.path.join(directory, f"busy{code}.o")
    path = os.path.join(directory, name)
    if not os.path.exists(part):
        subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", code, "-c", "-o", part, SOURCE], **OF_ALL)
    build_id = hashlib.sha1(name.encode()).hexdigest()
    subprocess.run(["gcc", f"-Wl,--build-id=0x{build_id}", "-o", path, part, *flags], **OF_ALL)
    return path


def with_debugdata(path):
    """Strip a program, and put the symbols of its functions into a packed section."""
    subprocess.run(["objcopy", "--only-keep-debug", path, path + ".debug"], **OF_ALL)
    subprocess.run(["objcopy", "-S", "--remove-section", ".gnu_debuglink", "--strip-debug",
                    "--keep-symbol=busy_once", "--keep-symbol=busy_thrice", path + ".debug",
                    path + ".mini"], **OF_ALL)
    subprocess.run(["xz", "-f", path + ".mini"], **OF_ALL)
    subprocess.run(["strip", "-s", path], **OF_ALL)
    subprocess.run(["objcopy", "--add-section", f".gnu_debugdata={path}.mini.xz", path], **OF_ALL)


# The names of busy.c's functions in other languages, and their readable forms: C++, and Rust with its new and its old
# scheme.
NAMES = {"cplusplus": {"busy_once": ("_ZN6server4readEPKci", "server::read(char_const*,int)"),
                       "busy_thrice": ("_ZN6server5writeEv", "server::write()")},
         "rust": {"busy_once": ("_ZN7storage4disk4read17h0123456789abcdefE", "storage::disk::read"),
                  "busy_thrice": ("_RNvNtCs1234_7storage4disk5write", "storage::disk::write")}}
PRELINKED = 0x3000000000


def other_language(directory, name):
    """A busy program whose functions have the names of another language."""
    path = os.path.join(directory, name)
    defines = [f"-D{function}={symbol}" for function, (symbol, _) in NAMES[name].items()]
    subprocess.run(["gcc", "-O1", *defines, "-o", path, SOURCE], **OF_ALL)
    return path


def prelinked(directory):
    """A busy program whose functions are in a library that was linked for an address that it will not have."""
    path, library = os.path.join(directory, "prelinked"), os.path.join(directory, "libprelinked.so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Dmain=busy_main", f"-Wl,-Ttext-segment={PRELINKED:#x}",
                    "-o", library, SOURCE], **OF_ALL)
    places = subprocess.run(["nm", library], **OF_ALL).stdout.split()
    check(int(places[places.index("busy_once") - 2], 16) >= PRELINKED, "it is not for a place of its own")
    source = os.path.join(directory, "main.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("int busy_main(int, char **);\nint main(int n, char **args) { return busy_main(n, args); }\n")
    subprocess.run(["gcc", "-o", path, source, library, f"-Wl,-rpath,{directory}"], **OF_ALL)
    return path


class Busy:
    """A busy program that waits for a signal to begin, and at its end for one to exit."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def expect(self, word):
        line = self.process.stdout.readline()
        check(line == word + "\n", f"{self.process.args}: {line!r} instead of {word!r}")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Samples:
    """limpet trace samples, from beginning to end. Its first message means that it samples."""

    def __init__(self, directory, *options):
        self.path = os.path.join(directory, "samples.lpa")
        # Nothing is read until the end.
        self.process = subprocess.Popen(
            [LIMPET, "trace", "samples", "-F", str(HZ), "-i", "1h", "-n", "here", "-o", self.path,
             "--top", "100000", *options], stderr=subprocess.PIPE, text=True)
        self.complaints = []
        for line in self.process.stderr:
            if line.startswith("sampling with"):
                break
            self.complaints.append(line)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        rest = self.process.stderr.read()
        status = self.process.wait()
        check(status == 0, f"it ended with {status}: {''.join(self.complaints)}{rest}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def functions(self):
        """{(program, image, function): samples} as the archive has them."""
        out = good("show", self.path, "--raw", "-m", "samples", "-c", "*/function:*", "--csv")
        found = {}
        for row in csv.DictReader(io.StringIO(out)):
            name = row["component"].split("function:", 1)[1]
            if name.count(":") >= 2:
                found[tuple(name.split(":", 2))] = float(row["value"])
        return found


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")
    done = limpet("trace", "samples", "-d", "1s", "-q", "-o", "/dev/null/x.lpa")
    if "sampling the machine is not permitted" in done.err or "no perf events" in done.err:
        raise Skip(done.err.strip())


def need_bpf():
    done = limpet("trace", "samples", "--sampler", "bpf", "-d", "1s", "-q", "-o", "/dev/null/x.lpa")
    if "BPF" in done.err or "bpf" in done.err:
        raise Skip(done.err.strip())


def of_program(functions, program):
    return {key[1:]: n for key, n in functions.items() if key[0] == program}


def check_shares(functions, program, image=None, names=("busy_once", "busy_thrice")):
    """Both functions are known, and found as often as they were busy."""
    mine = of_program(functions, program)
    once, thrice = (mine.get((image or program, name), 0) for name in names)
    total = sum(mine.values())
    check(thrice and once, f"{program}: {mine}")
    # 300 samples have a standard deviation of 0.025; the limit is far wider, for machines with other load.
    check(abs(thrice / (thrice + once) - 0.75) < 0.15, f"{program}: {thrice} and {once}")
    check(thrice + once > 0.5 * total, f"{program}: {mine}")
    # It used this much CPU time; the clock of a virtual machine may tick less often than it should.
    check(total > 0.2 * HZ * CPU_MS / 1000, f"{program}: {total} samples only")


def begin(directory):
    """Programs that are about to be busy: {name: (program, what must be found)}."""
    programs = {"pie": compiled(directory, "pie", "-pie"),
                "nopie": compiled(directory, "nopie", "-no-pie",
                                  "-Wl,-Ttext-segment=0x20000000"),
                "static": compiled(directory, "static", "-static"),
                "packed": compiled(directory, "packed"),
                "stripped": compiled(directory, "stripped", "-s"),
                "deleted": compiled(directory, "deleted"),
                "replaced": compiled(directory, "replaced"),
                "brief": compiled(directory, "brief"),
                "kernel": compiled(directory, "kernel"),
                "prelinked": prelinked(directory),
                **{name: other_language(directory, name) for name in NAMES}}
    with_debugdata(programs["packed"])
    busy = {}
    for name, path in programs.items():
        busy[name] = Busy(path, str(CPU_MS), *(["kernel"] if name == "kernel" else []))
    return busy


def change_files(directory):
    """Delete the file of one program, and replace that of another one."""
    os.unlink(os.path.join(directory, "deleted"))
    other = compiled(directory, "other", "-no-pie")
    os.rename(other, os.path.join(directory, "replaced"))


def run_busy(directory, *options):
    """Be busy in all ways while samples are taken; returns the samples."""
    busy, samples = begin(directory), None
    try:
        for program in busy.values():
            program.expect("ready")
        change_files(directory)
        samples = Samples(directory, *options)
        for program in busy.values():
            program.go()
        for program in busy.values():
            program.expect("done")
        busy["brief"].end()
        samples.end()
        return samples.functions()
    finally:
        for program in busy.values():
            program.kill()
        if samples:
            samples.kill()


def check_busy(functions):
    for name in ("pie", "nopie", "static", "packed", "deleted", "replaced"):
        check_shares(functions, name)
    check_shares(functions, "prelinked", "libprelinked.so")
    for name, symbols in NAMES.items():
        check_shares(functions, name, names=[symbols[f][1] for f in ("busy_once", "busy_thrice")])
    stripped = of_program(functions, "stripped")
    pages = sum(n for (image, function), n in stripped.items()
                if image == "stripped" and function.startswith("stripped+0x"))
    check(pages > 0.5 * sum(stripped.values()), f"stripped: {stripped}")
    kernel = {key: n for key, n in of_program(functions, "kernel").items() if key[0] == "kernel"}
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as symbols:
        hidden = symbols.readline().startswith("0000000000000000")
    named = sum(n for (_, function), n in kernel.items() if function != "kernel")
    check(hidden or named > 0.5 * sum(kernel.values()) > 0, f"kernel: {kernel}")


def test_bpf(directory):
    """programs of all kinds, counted in the kernel: static, stripped, deleted, replaced, ended"""
    need_root()
    need_bpf()
    functions = run_busy(directory, "--sampler", "bpf")
    check_busy(functions)
    check_shares(functions, "brief")  # it has ended, and its execution was not seen


def test_ring(directory):
    """the same if the kernel delivers every sample"""
    need_root()
    check_busy(run_busy(directory, "--sampler", "ring"))


def test_ended(directory):
    """programs that begin and end between two readings are known"""
    need_root()
    need_bpf()
    path = compiled(directory, "shortlived")
    samples = Samples(directory, "--sampler", "bpf")
    try:
        for _ in range(20):
            subprocess.run([path, "25"], input="\n\n", **OF_ALL)
        samples.end()
    finally:
        samples.kill()
    mine = of_program(samples.functions(), "shortlived")
    known = sum(n for (image, function), n in mine.items()
                if image == "shortlived" and function.startswith("busy_"))
    check(known > 0.5 * sum(mine.values()) > 0, f"{mine}")


def known_share(samples, program):
    """The share of a program's samples that are in known functions of it."""
    mine = {key: n for key, n in of_program(samples.functions(), program).items() if key[0] not in ("kernel", "unknown")
            and not key[0].endswith(".ko")}
    return sum(n for (image, function), n in mine.items() if image == program and function.startswith("busy_")), mine


def test_storm(directory):
    """programs that have ended and were started by relative paths, or in a separate mount namespace, are named"""
    need_root()
    need_bpf()
    inside = os.path.join(directory, "inside")
    os.mkdir(inside)
    compiled(directory, "relative")
    path = compiled(directory, "enclosed")
    samples = Samples(directory, "--sampler", "bpf")
    script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do printf '\\n\\n' | {} 25 >{}; done; cat"
    shells = []
    try:
        shells.append(subprocess.Popen(["sh", "-c", script.format("./relative", "/dev/null") + "; true"], cwd=directory,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        hide = f"mount -t tmpfs none {inside} && mv {path} {inside} && "
        shells.append(subprocess.Popen(["unshare", "-m", "sh", "-c", hide + script.format(f"{inside}/enclosed", "/dev/null")],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for shell in shells:  # they have done their work when they repeat their input
            shell.stdin.write("done\n")
            shell.stdin.flush()
            check(shell.stdout.readline() == "done\n", f"{shell.args}")
        samples.end()
    finally:
        for shell in shells:
            shell.communicate()
        samples.kill()
    for program in ("relative", "enclosed"):
        known, mine = known_share(samples, program)
        check(known > 0.5 * sum(mine.values()) > 0, f"{program}: {mine}")


RELOADS = """
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **args)
{
	void *place = NULL;
	for (int i = 1; i + 1 < n; i += 2) {
		void *library = dlopen(args[i], RTLD_NOW);
		void (*function)(void);
		*(void **)&function = dlsym(library, args[i + 1]);
		if (i > 1 && place != (void *)function)
			puts("elsewhere");
		place = (void *)function;
		function();
		dlclose(library);
	}
	return 0;
}
"""


def test_reloaded(directory):
    """a library that is loaded where another one was is not mistaken for that one"""
    need_root()
    need_bpf()
    source, pairs = os.path.join(directory, "spin.c"), []
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <time.h>\nvoid FUNCTION(void) { while (clock() < UNTIL * CLOCKS_PER_SEC) "
                "for (volatile int i = 0; i < 1000000; i++); }\n")
    for number, name in enumerate(("first", "second"), 1):
        library = os.path.join(directory, f"{name}.so")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-DFUNCTION={name}", f"-DUNTIL={4 * number}", "-o", library,
                        source], **OF_ALL)
        pairs += [library, name]
    program = os.path.join(directory, "reloads")
    with open(program + ".c", "w", encoding="ascii") as f:
        f.write(RELOADS)
    subprocess.run(["gcc", "-o", program, program + ".c", "-ldl"], **OF_ALL)
    samples = Samples(directory, "--sampler", "bpf", "-i", "1s")
    try:
        said = subprocess.run([program, *pairs], **OF_ALL).stdout
        samples.end()
    finally:
        samples.kill()
    if said:
        raise Skip("the second library was loaded elsewhere")
    mine = of_program(samples.functions(), "reloads")
    first, second = mine.get(("first.so", "first"), 0), mine.get(("second.so", "second"), 0)
    # The interval, and the time for which pages are remembered, are one second each; the test takes four.
    check(second > 0.3 * (first + second) > 0, f"{mine}")


def test_namespace(directory):
    """a program with its file in a separate mount namespace"""
    need_root()
    path = compiled(directory, "contained")
    hidden = os.path.join(directory, "hidden")
    os.mkdir(hidden)
    script = f"mount -t tmpfs none {hidden} && cp {path} {hidden} && exec {hidden}/contained {CPU_MS}"
    try:
        busy = Busy("unshare", "-m", "sh", "-c", script)
        busy.expect("ready")
    except (AssertionError, FileNotFoundError) as e:
        raise Skip("no mount namespaces here") from e
    samples = None
    try:
        os.unlink(path)
        samples = Samples(directory)
        busy.go()
        busy.expect("done")
        samples.end()
    finally:
        busy.kill()
        if samples:
            samples.kill()
    check_shares(samples.functions(), "contained")


def test_jit(directory):
    """code that a program compiles itself is known by the map that it writes"""
    need_root()
    if platform.machine() != "x86_64":
        raise Skip("the program's code is for x86_64")
    busy = Busy(compiled(directory, "jitted"), str(CPU_MS), "jit")
    samples = None
    try:
        busy.expect("ready")
        samples = Samples(directory)
        busy.go()
        busy.expect("done")
        samples.end()
    finally:
        busy.kill()
        if samples:
            samples.kill()
        for path in glob.glob(f"/tmp/perf-{busy.process.pid}.map"):
            os.unlink(path)
    mine = of_program(samples.functions(), "jitted")
    check(mine.get(("jit", "compiled_loop"), 0) > 0.5 * sum(mine.values()) > 0, f"{mine}")


def test_closing(directory):
    """the closing summary, and the archive with the totals"""
    need_root()
    path = os.path.join(directory, "x.lpa")
    told = json.loads(good("trace", "samples", "-d", "1s", "-i", "1s", "-o", path, "-n", "here",
                           "--json", "-q"))
    check(told["frequency"] == 199 and told["clock"] in ("time", "cycles"), told)
    check(told["samples"] + told["idle"] > 0 or told["clock"] == "cycles", told)
    check(told["file"] == path, told)
    out = good("show", path, "--raw", "-m", "samples,idle,lost,unknown", "-c", "here/profile:cpu",
               "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    last = {row["metric"]: float(row["value"]) for row in rows}
    check({name: last[name] for name in ("samples", "idle", "lost", "unknown")} ==
          {name: told[name] for name in ("samples", "idle", "lost", "unknown")}, f"{last} {told}")


def test_show(directory):
    """show --functions: lists, differences between servers and times, and a flame graph of stacks"""
    need_root()
    busy = Busy(compiled(directory, "framed"), str(CPU_MS))
    samples = None
    try:
        busy.expect("ready")
        samples = Samples(directory, "--stacks")
        busy.go()
        busy.expect("done")
        samples.end()
    finally:
        busy.kill()
        if samples:
            samples.kill()
    listed = json.loads(good("show", "--functions", "--json", "--top", "100000", samples.path))
    rows = {(f["program"], f["function"]): f["samples"] for f in listed["servers"][0]["functions"]}
    check(rows.get(("framed", "busy_thrice"), 0) > rows.get(("framed", "busy_once"), 0) > 0, rows)
    check("framed:framed:busy_thrice" in good("show", "--functions", samples.path, "-c", "*:framed:*"),
          "it is not listed")
    flame = os.path.join(directory, "flame.svg")
    good("show", "--functions", "--flame", flame, samples.path)
    names = [e.text or "" for e in xml.etree.ElementTree.parse(flame).iter() if e.tag.endswith("title")]
    check(any(n.startswith("busy_thrice (") for n in names), names[:20])
    bad(2, "functions of 'there'", "show", "--functions", "--diff", "here,there", samples.path)
    bad(2, "two servers", "show", "--functions", "--diff", "here", samples.path)
    bad(2, "--functions", "show", "--top", "3", samples.path)
    for options in (("--split", "2001-01-01"), ("--split", "2999-01-01"), ("--since", "2999-01-01"),
                    ("--until", "2001-01-01", "--flame", flame)):
        bad(2, "s were taken ", "show", "--functions", *options, samples.path)


def test_record(directory):
    """record --collect profile, with other collectors and alone"""
    need_root()
    busy = Busy(compiled(directory, "busy"), "600000")  # so that there is something to find
    try:
        busy.expect("ready")
        busy.go()
        good("record", "--collect", "host,profile", "-i", "100ms", "-d", "500ms", "-o", directory,
             "-n", "both", "-q")
        good("record", "--collect", "profile", "-i", "200ms", "-d", "2s", "-o", directory, "-n",
             "alone", "-q")
    finally:
        busy.kill()
    listed = json.loads(good("show", "--json", directory))
    names = {c["component"] for c in listed["components"]}
    check({"both/profile:cpu", "alone/profile:cpu"} <= names, names)
    check(any(n.startswith("both/host:") for n in names), names)
    check(any(n.startswith("alone/function:") for n in names), names)
    check(not any(n.startswith("alone/host:") for n in names), names)


def test_processes(directory):
    """busy programs are noted in the archive, with process, user and command line"""
    need_root()
    busy = Busy(compiled(directory, "noted"), "600000")
    try:
        busy.expect("ready")
        busy.go()
        out = os.path.join(directory, "notes.lpa")
        process = subprocess.Popen([LIMPET, "trace", "samples", "-F", str(HZ), "-i", "1s", "--flush", "1s", "-n",
                                    "here", "-o", out, "-q"])
        # Others may be busier, and are noted first.
        mine = []
        for _ in range(1200):
            mine = [n for n in notes_of(out) if n.startswith("kind=process program=noted ")]
            if mine or process.poll() is not None:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        check(process.wait() == 0, "it failed")
    finally:
        busy.kill()
    check(len(mine) == 1, notes_of(out))
    check(f" pid={busy.process.pid} uid=0 command=" in mine[0] and mine[0].endswith("noted 600000"), mine)
    check("kind=process" not in good("show", out), "it is listed")


def test_kernel_process(directory):
    """and so are programs that are busy only in the kernel, with both samplers"""
    need_root()
    for sampler in ("bpf", "ring"):
        if sampler == "bpf":
            need_bpf()
        out = os.path.join(directory, f"{sampler}.lpa")
        hog = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=64M"], stderr=subprocess.DEVNULL)
        process = subprocess.Popen([LIMPET, "trace", "samples", "-F", str(HZ), "-i", "1s", "--flush", "1s", "-n",
                                    "here", "-o", out, "-q", "--sampler", sampler])
        try:
            mine = []
            for _ in range(1200):
                mine = [n for n in notes_of(out) if n.startswith("kind=process program=dd ")]
                if mine or process.poll() is not None:
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            check(process.wait() == 0, "it failed")
        finally:
            hog.kill()
            hog.wait()
        check(len(mine) == 1 and f" pid={hog.pid} uid=0 command=dd if=/dev/zero" in mine[0], f"{sampler}: {notes_of(out)}")


def notes_of(path):
    """Remarks in an archive, which may not exist yet."""
    ran = limpet("show", "--json", path)
    seen = json.loads(ran.out).get("observers", []) if ran.out else []
    return [e["text"] for o in seen for e in o["events"]]


def test_without_bpf(directory):
    """if BPF is not permitted, a message says so, and the kernel delivers every sample"""
    need_root()
    need_bpf()
    path = os.path.join(directory, "x.lpa")
    # Root that may sample, but may not load programs.
    done = subprocess.run(["setpriv", "--bounding-set", "-bpf,-sys_admin", "--inh-caps",
                           "-bpf,-sys_admin", LIMPET, "trace", "samples", "-d", "1s", "-i", "1s", "-o",
                           path], capture_output=True, text=True, check=False)
    if "unknown capability" in done.stderr or "sampling the machine is not permitted" in done.stderr:
        raise Skip(done.stderr.strip())
    lines = done.stderr.splitlines()
    check(done.returncode == 0, done.stderr)
    check("BPF is not permitted" in lines[0] and "continuing with ring" in lines[0], done.stderr)
    check(not any(line.startswith("limpet") for line in lines[1:]), done.stderr)
    check(os.path.getsize(path) > 0, "nothing was written")


def test_refused(directory):
    """impossible requests are reported, and collectors continue without them"""
    os.chmod(directory, 0o777)
    done = limpet("trace", "samples", "-F", "20001")
    check(done.code == 2 and "1 to 20000" in done.err, done.err)
    done = limpet("trace", "samples", "--clock", "sun")
    check(done.code == 2 and "sun" in done.err, done.err)
    done = limpet("trace", "samples", "--sampler", "none")
    check(done.code == 2 and "none" in done.err, done.err)
    done = limpet("record", "--collect", "profile", "--root", directory, "-o", directory)
    check(done.code == 2, done.err)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
            if int(f.read()) <= 0:
                return
        done = subprocess.run([*nobody, LIMPET, "trace", "samples", "-d", "1s", "-o", directory],
                              capture_output=True, text=True, check=False)
        if "failed to execute" in done.stderr:  # others may not even look into this directory
            return
        check(done.returncode == 2 and "needs root" in done.stderr, done.stderr)
        done = subprocess.run([*nobody, LIMPET, "record", "--collect", "host,profile", "-d",
                               "200ms", "-i", "100ms", "-o", directory],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 0 and "without profile" in done.stderr, done.stderr)


if __name__ == "__main__":
    run_tests(tests_of(__name__))
