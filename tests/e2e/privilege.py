#!/usr/bin/env python3
"""Root writes into a directory of another user, who has put links, FIFOs and second names of files in places where
limpet will write, or exchanges them at the same time. No file of root changes, and limpet never waits
(docs/reliability.md)."""
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from recording import LIMPET, Recorder, Skip, archives, check, run_tests

NOBODY = 65534
SECRET = "the secret of root"
FAST = ("--interval", "100ms", "--flush", "100ms", "--collect", "host", "-q", "--name", "h")
SECONDS_AHEAD = 3600
root = None


class Case:
    """A directory that belongs to the attacker, and a file of root that is the target."""

    def __init__(self, name):
        if os.geteuid() != 0:
            raise Skip("this is about root")
        self.dir = os.path.join(root, name)
        self.secret = os.path.join(root, name + ".secret")
        os.mkdir(self.dir)
        os.chown(self.dir, NOBODY, NOBODY)
        with open(self.secret, "w", encoding="ascii") as f:
            f.write(SECRET)
        os.chmod(self.secret, 0o600)
        self.before = os.stat(self.secret)

    def path(self, name):
        return os.path.join(self.dir, name)

    def plant(self, how, name):
        """Put something under this name, as the attacker."""
        path = self.path(name)
        if how == "link":
            os.symlink(self.secret, path)
            os.lchown(path, NOBODY, NOBODY)
        elif how == "dangling":
            os.symlink(self.secret + ".new", path)
            os.lchown(path, NOBODY, NOBODY)
        elif how == "second name":
            os.link(self.secret, path)  # the kernel may forbid this to the attacker; not everywhere
        elif how == "FIFO":
            os.mkfifo(path, 0o666)
            os.chown(path, NOBODY, NOBODY)

    def unharmed(self, what):
        """The file has not changed: contents, owner, permissions; and no other file was created."""
        with open(self.secret, encoding="ascii") as f:
            check(f.read() == SECRET, f"{what}: written to")
        now = os.stat(self.secret)
        check((now.st_uid, now.st_gid, now.st_mode) ==
              (self.before.st_uid, self.before.st_gid, self.before.st_mode), f"{what}: given away")
        check(not os.path.lexists(self.secret + ".new"), f"{what}: created a file")


WAYS = ("link", "dangling", "second name", "FIFO")


def run(*args, env=None):
    """Run limpet, which must end by itself. Returns its exit code and its messages."""
    done = subprocess.run([LIMPET, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300, env={**os.environ, **(env or {})})
    check(done.returncode in (0, 1, 2, 4), f"{args}: exit {done.returncode}: {done.stderr}")
    return done.returncode, done.stderr


def each(prefix, names, act):
    """Try every way to plant something under each of the names."""
    for how in WAYS:
        for i, name in enumerate(names):
            case = Case(f"{prefix}-{how.replace(' ', '-')}-{i}")
            case.plant(how, name)
            act(case)
            case.unharmed(f"{how} as {name}")


def stamps(seconds=SECONDS_AHEAD):
    """Names that archives may get from now on."""
    now = int(time.time())
    return [time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now + s)) for s in range(seconds)]


def small_archive(path, when="2024-03-01T12:00:00Z"):
    """An archive that has something to seal."""
    csv = os.path.join(root, "small.csv")
    with open(csv, "w", encoding="ascii") as f:
        f.write(f"time,component,metric,value\n{when},h/disk:sda,await,1\n")
    out = tempfile.mkdtemp(dir=root)
    check(run("import", "csv", csv, "-o", out)[0] == 0, "import")
    shutil.move(archives(out)[0], path)


def lock():
    """the recorder's lock"""
    each("lock", [".h.lock"],
         lambda case: run("record", "-o", case.dir, *FAST, "--duration", "0.3s"))


def archive_names():
    """archives, at all names that they may get"""
    for how in WAYS:
        case = Case("names-" + how.replace(" ", "-"))
        for stamp in stamps(120):
            case.plant(how, f"h-{stamp}.lpa")
        run("record", "-o", case.dir, *FAST, "--duration", "0.3s", "--keep", "30d", "--keep-bytes",
            "1G")
        case.unharmed(f"{how} as an archive")


def sealing():
    """files that a killed recorder left are sealed, through NAME.lpa.tmp"""
    def act(case):
        small_archive(case.path("h-20240301T120000Z.lpa"))
        with open(case.path("h-20240301T120000Z.lpa"), "r+b") as f:
            f.truncate(os.path.getsize(f.name) - 8)  # without its end it is not sealed
        os.chown(case.path("h-20240301T120000Z.lpa"), NOBODY, NOBODY)
        run("record", "-o", case.dir, *FAST, "--duration", "0.3s")
        now = os.lstat(case.path("h-20240301T120000Z.lpa"))
        check(now.st_uid == NOBODY, "a file of the user's became root's")
    each("seal", ["h-20240301T120000Z.lpa.tmp"], act)


def sealed_archive():
    """an archive to seal that is something else"""
    each("sealed", ["h-20240301T120000Z.lpa"],
         lambda case: run("record", "-o", case.dir, *FAST, "--duration", "0.3s"))


def repaired():
    """limpet check --repair"""
    def act(case):
        bad = os.path.join(root, "bad.lpa")
        small_archive(bad)
        with open(bad, "r+b") as f:
            f.seek(20)
            f.write(b"damage")
        run("check", "--repair", "-o", case.path("good.lpa"), bad)
    each("repair", ["good.lpa"], act)


def imported():
    """limpet import"""
    csv = os.path.join(root, "import.csv")
    with open(csv, "w", encoding="ascii") as f:
        f.write("time,component,metric,value\n2024-03-01T12:00:00Z,h/disk:sda,await,1\n")
    each("import", ["h-20240301T120000Z.lpa"], lambda case: run("import", "csv", csv, "-o", case.dir))


def trained():
    """limpet train -o FILE"""
    data = os.path.join(os.environ["SOURCE"], "tests/fixtures/train/good")
    each("train", ["site.thresholds"],
         lambda case: run("train", data, "-o", case.path("site.thresholds"), "--win-size", "8"))


def html():
    """limpet diagnose --html FILE"""
    archive = os.path.join(root, "html.lpa")
    small_archive(archive)
    each("html", ["report.html"],
         lambda case: run("diagnose", archive, "--html", case.path("report.html")))


def state_file():
    """the operator's state file, and its journal"""
    each("state", ["state.db", "state.db-journal"],
         lambda case: run("mute", "h/disk:sda", "--state", case.path("state.db")))


def traces():
    """limpet trace: files and names in a directory; they are for their owner alone"""
    def act(case):
        run("trace", "syscalls", "--backend", "ptrace", "-q", "-o", case.path("t.lpa"), "--", "true")
    each("trace", ["t.lpa"], act)
    each("traces", [".h-syscalls.lock"], lambda case: run(
        "trace", "syscalls", "--backend", "ptrace", "-q", "--name", "h", "-o", case.dir, "--", "true"))
    directory = os.path.join(root, "private/traces")
    os.umask(0o022)
    code, err = run("trace", "syscalls", "--backend", "ptrace", "-q", "-o", directory, "--", "true")
    check(code == 0, err)
    for path in (directory, os.path.dirname(directory)):
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o700, f"{path} is {os.stat(path).st_mode:o}")
    check(archives(directory), "no trace")
    for path in archives(directory):
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"{path} is {os.stat(path).st_mode:o}")


def way_there():
    """a directory that is another user's link to another one"""
    case = Case("way")
    target = os.path.join(root, "way.target")
    os.mkdir(target)
    os.symlink(target, case.path("data"))
    os.lchown(case.path("data"), NOBODY, NOBODY)
    for args in (("record", *FAST, "--duration", "0.3s"),
                 ("trace", "syscalls", "--backend", "ptrace", "-q")):
        for below in ("", "/deep"):
            tail = ("--", "true") if args[0] == "trace" else ()
            code, err = run(*args, "-o", case.path("data") + below, *tail)
            check(code == 2 and "another user" in err, f"{args}: exit {code}: {err}")
    check(not os.listdir(target), os.listdir(target))
    # A link of one's own is followed.
    os.lchown(case.path("data"), 0, 0)
    code, err = run("record", *FAST, "--duration", "0.3s", "-o", case.path("data"))
    check(code == 0 and archives(target), err)


def inputs():
    """FIFOs where files are read: refused, not waited for"""
    fifo = os.path.join(root, "fifo")
    os.mkfifo(fifo)
    tree = os.path.join(root, "tree")
    os.makedirs(tree + "/proc/net")
    for name in ("diskstats", "net/dev", "stat", "meminfo", "loadavg", "vmstat"):
        os.mkfifo(os.path.join(tree, "proc", name))
    good = os.path.join(root, "input.lpa")
    small_archive(good)
    for args in (("record", "--root", tree, "-o", os.path.join(root, "tree-out"), "--duration", "0.3s"),
                 ("show", fifo), ("check", fifo), ("diagnose", fifo),
                 ("diagnose", good, "--thresholds", fifo), ("diagnose", good, "--topology", fifo),
                 ("import", "csv", fifo, "-o", os.path.join(root, "fifo-out")),
                 ("import", "sysstat", fifo, "-o", os.path.join(root, "fifo-out"))):
        code, err = run(*args)
        check(code == 2 and err, f"{args}: exit {code}: {err}")
    plan = subprocess.run([LIMPET, "lab", "run", "--plan", fifo, "-o", os.path.join(root, "lab-out")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    check(plan.returncode == 2 and plan.stderr, f"lab run: exit {plan.returncode}: {plan.stderr}")


def race():
    """names that are exchanged all the time while root records there"""
    case = Case("race")
    swapper = os.fork()
    if not swapper:
        swap(case)
    try:
        with Recorder(case.dir, *FAST, log=os.path.join(root, "race.log")) as recorder:
            for _ in range(5):
                time.sleep(0.5)
                case.unharmed("race")
            os.kill(swapper, signal.SIGKILL)
            os.waitpid(swapper, 0)
            swapper = 0
            recorder.stop()
        case.unharmed("race")
    finally:
        if swapper:
            os.kill(swapper, signal.SIGKILL)
            os.waitpid(swapper, 0)


def swap(case):
    """As the other user: put links where archives, their temporary files and the lock are."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    hidden = case.path("hidden")
    while True:
        for name in [".h.lock", *(n + s for n in os.listdir(case.dir) if n.endswith(".lpa")
                                  for s in ("", ".tmp")), *(f"h-{s}.lpa" for s in stamps(2))]:
            try:
                os.symlink(case.secret, hidden)
                os.rename(hidden, case.path(name))
                time.sleep(0.001)
                os.unlink(case.path(name))
            except OSError:
                try:
                    os.unlink(hidden)
                except OSError:
                    pass


def main():
    global root
    root = tempfile.mkdtemp(prefix="limpet-privilege-")
    os.chmod(root, 0o755)
    try:
        return run_tests([lock, archive_names, sealing, sealed_archive, repaired, imported, trained, html,
                          state_file, traces, way_there, inputs, race])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
