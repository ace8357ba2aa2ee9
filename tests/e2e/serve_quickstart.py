#!/usr/bin/env python3
"""docs/quickstart.md from start to end: runs its commands unchanged on two machines (with separate network,
mounts and host name), until the first alert arrives."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from program import LIMPET
from tap import Skip, check, main, run

SOURCE = pathlib.Path(os.environ.get("SOURCE", pathlib.Path(__file__).parents[2]))
PREFIX = f"lpq{os.getpid() % 100000}"
ADDRESSES = {"collector": "10.123.7.1", "oss1": "10.123.7.2"}
HOSTS = "127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in ADDRESSES.items())
PRIVATE = ["/etc/limpet", "/var/lib/limpet", "/var/lib/limpet-serve"]
DONE = "--done--"


class Machine:
    """A shell in separate namespaces, with empty directories where limpet stores data."""

    def __init__(self, name):
        self.name, self.netns = name, f"{PREFIX}-{name}"
        etc = pathlib.Path("/etc/netns") / self.netns
        etc.mkdir(parents=True, exist_ok=True)
        (etc / "hosts").write_text(HOSTS, encoding="ascii")
        run("ip", "netns", "add", self.netns)
        run("ip", "-n", self.netns, "link", "set", "lo", "up")
        self.shell = None

    def boot(self):
        # pid 1 of a separate process namespace: all processes that it started end with it.
        self.shell = subprocess.Popen(
            ["ip", "netns", "exec", self.netns, "unshare", "--mount", "--propagation", "slave", "--uts", "--pid", "--fork",
             "--kill-child", "--mount-proc", "bash"], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # Disks of labs that run at the same time must not stay mounted in here.
        self.do(r"awk '$2 ~ /^\/(run\/limpet|tmp\/limpet-)/ {print $2}' /proc/mounts | sort -r | xargs -r umount -l")
        self.do("hostname " + self.name)
        for path in PRIVATE:
            self.do(f"mkdir -p {path} && mount -t tmpfs none {path}")
        self.do(f"PATH={pathlib.Path(LIMPET).parent}:$PATH")

    def do(self, command):
        """Run a command in the shell, which must succeed; returns its output."""
        self.shell.stdin.write(f"{command}\necho; echo {DONE} $?\n")
        out = ""
        for line in self.shell.stdout:
            if line.startswith(DONE):
                check(line.split()[1] == "0", f"{self.name}: '{command}' failed:\n{out}")
                return out
            out += line
        raise AssertionError(f"{self.name}: the shell ended at '{command}':\n{out}")

    def off(self):
        if self.shell:
            self.shell.kill()
            self.shell.wait()
            self.shell.stdout.close()
        subprocess.run(["ip", "netns", "del", self.netns], check=False, capture_output=True)
        subprocess.run(["rm", "-rf", f"/etc/netns/{self.netns}"], check=False)


class Machines:
    """Both, with a cable between them."""

    def __enter__(self):
        self.all = {}
        try:
            for name in ADDRESSES:
                self.all[name] = Machine(name)
            (one, a), (other, b) = ((self.all[n].netns, ADDRESSES[n]) for n in ADDRESSES)
            run("ip", "link", "add", "eth0", "netns", one, "type", "veth", "peer", "name", "eth0", "netns", other)
            for netns, address in ((one, a), (other, b)):
                run("ip", "-n", netns, "addr", "add", f"{address}/24", "dev", "eth0")
                run("ip", "-n", netns, "link", "set", "eth0", "up")
            for machine in self.all.values():
                machine.boot()
        except BaseException:
            self.__exit__()
            raise
        return self.all

    def __exit__(self, *_):
        for machine in self.all.values():
            machine.off()


def page():
    return (SOURCE / "docs/quickstart.md").read_text(encoding="utf-8")


def blocks():
    """[(machine, commands)] of the page, in order."""
    found = re.findall(r"^```sh (\w+)\n(.*?)^```", page(), re.M | re.S)
    return [(machine, [line for line in block.replace("\\\n", " ").splitlines() if line.strip()])
            for machine, block in found]


def copied(machines, command):
    """scp FILE... HOST:DIR/, between machines that have no ssh."""
    words = shlex.split(command)
    host, directory = words[-1].split(":")
    for name in words[1:-1]:
        text = machines["collector"].do(f"base64 -w0 {name}").strip()
        machines[host].do(f"echo {text} | base64 -d > {directory}{name}")


def waited(machine, command, words, seconds):
    """Run a command until it prints the words."""
    end = time.monotonic() + seconds
    while True:
        out = machine.do(f"{command} || true")
        if re.search(words, out):
            return out
        if time.monotonic() > end:
            log = machine.do("tail -5 /etc/limpet/run.log || true")
            raise AssertionError(f"'{command}' never printed {words}:\n{out}\n{log}")
        time.sleep(0.5)


def test_quickstart():
    if os.geteuid() != 0:
        raise Skip("network namespaces need root")
    steps = blocks()
    check(sum(len(lines) for _, lines in steps) <= 10, "more than ten lines")
    check({machine for machine, _ in steps} == set(ADDRESSES), f"machines: {steps}")
    with Machines() as machines:
        for machine, lines in steps:
            for line in lines:
                print(f"# {machine}: {line}", flush=True)
                if line.startswith("scp "):
                    copied(machines, line)
                else:
                    # Background processes must not hold the shell's output.
                    machines[machine].do(re.sub(r" &$", " >>/etc/limpet/run.log 2>&1 &", line))
                if line.startswith("limpet serve --data"):
                    waited(machines[machine], "curl -sk https://collector:9700/healthz", "ok", 30)
        out = waited(machines["collector"], "cat /etc/limpet/alerts.log", "oss1", 120)
        print("# the first alert:", *out.splitlines()[:3], sep="\n# ")
        listing = re.search(r"^    (limpet incidents .*)$", page(), re.M)[1]
        check("oss1" in machines["collector"].do(listing), f"'{listing}' does not list it")


if __name__ == "__main__":
    sys.exit(main([("ten lines lead from two machines to the first alert", test_quickstart)]))
