"""Shared by tests of the I/O stack in labs: nodes that are recorded, and whether the requests to their disks are
joined."""
import contextlib
import json
import os
import signal
import subprocess

from program import LIMPET, limpet
from stack_joins import Joins, judge
from tap import Skip, check

CLIENT_LAYERS = "posix,fuse,client,network"


def skip_unless_watched():
    """Skip the test case if limpet may not trace the kernel."""
    ran = limpet("stack", "attach", "-d", "100ms", "-q", "-o", "/dev/null/x.lpa")
    if "BPF" in ran.err:
        raise Skip(ran.err.strip())


class Cluster:
    """A lab that is up."""

    def __init__(self, name, servers):
        self.name, self.servers = name, servers

    def in_node(self, node):
        """The command prefix that runs a command in the network of a node."""
        return ["nsenter", f"--net=/run/netns/limpet-{self.name}-{node}"]

    @contextlib.contextmanager
    def attached(self, directory, node):
        """Record a server, from when everything is traced until the end of the block; its summary, as a list."""
        summary = []
        command = [*self.in_node(node), LIMPET, "stack", "attach", "--own-network", "--json", "-n", node,
                   "-o", os.path.join(directory, node + ".lpa")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                line = process.stderr.readline()
                check("watching" in line, line + process.stderr.read() if process.poll() is not None else line)
                yield summary
            finally:
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=60)
            check(process.returncode == 0, out + err)
            summary.append(json.loads(out.splitlines()[-1]))

    def command(self, directory, *program, layers=CLIENT_LAYERS):
        """The command prefix that runs and records a program on the first client."""
        return [*self.in_node("c1"), LIMPET, "stack", "run", "--own-network", "--json", "-n", "c1", "--layers",
                layers, "-o", os.path.join(directory, "c1.lpa"), "--", *map(str, program)]

    def record(self, directory, *program, layers=CLIENT_LAYERS):
        """Run the program on the client with all nodes recorded; the joins."""
        os.makedirs(directory)
        os.sync()  # earlier data is on the disks
        summaries = []
        with contextlib.ExitStack() as stack:
            for node in self.servers:
                summaries.append(stack.enter_context(self.attached(directory, node)))
            done = subprocess.run(self.command(directory, *program, layers=layers), capture_output=True, text=True, check=False,
                                  timeout=100)
            check(done.returncode == 0, done)
            os.sync()  # data in the memory of servers reaches their disks while they are watched
        summaries.append([json.loads(done.stdout.splitlines()[-1])["kernel"]])
        for (summary,) in summaries:
            check(summary["lost"] == 0 and summary["damaged"] == 0, summary)
        return Joins(directory)


def check_joined(joins, size, bytes_of_program, share):
    """At least this share is joined, and nothing to a wrong call."""
    got = judge(joins, size)
    check(got.wrong == 0, got)
    check(got.written >= bytes_of_program, got)
    check(got.joined >= share * got.written, got)
    check_layers(joins, bytes_of_program, share)


def check_layers(joins, bytes_of_program, share):
    """At least this share of the bytes of each layer of the file system is joined to a call."""
    for layer in ("fuse", "network", "server", "storage"):
        total, joined = joins.share_joined(layer)
        check(total >= bytes_of_program and joined >= share * total, (layer, total, joined))
