"""What benchmarks of the I/O stack in labs share: a parallel program on a client, with all nodes recorded."""
import contextlib
import os
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo"]


def run(*command, **options):
    """Run a command that must succeed."""
    return subprocess.run([str(c) for c in command], check=True, **options)


class StackLab:
    """A lab that is up, with a client c1."""

    def __init__(self, limpet, name, servers):
        self.limpet, self.name, self.servers = limpet, name, servers

    def in_node(self, node):
        """The prefix that runs a command in the network of a node."""
        return ["nsenter", f"--net=/run/netns/limpet-{self.name}-{node}"]

    @contextlib.contextmanager
    def attached(self, node, path):
        """A server that is recorded during the block."""
        with subprocess.Popen([*self.in_node(node), self.limpet, "stack", "attach", "--own-network", "-n", node, "-o", path],
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                print(f"  {node}: {process.stderr.readline().strip()}")
                yield
            finally:
                process.send_signal(signal.SIGTERM)
                print(f"  {node}: {process.communicate(timeout=120)[1].strip().splitlines()[-1]}")

    def record(self, directory, layers, ranks, command):
        """One program with so many ranks; all nodes are recorded into the directory."""
        os.makedirs(directory, exist_ok=True)
        os.sync()
        with contextlib.ExitStack() as stack:
            for node in self.servers:
                stack.enter_context(self.attached(node, os.path.join(directory, node + ".lpa")))
            run(*self.in_node("c1"), self.limpet, "stack", "run", "--own-network", "-n", "c1", "--layers", layers, "-o",
                os.path.join(directory, "c1.lpa"), "--", *MPIRUN, "-n", ranks, *command, stdout=subprocess.DEVNULL)
            os.sync()
