"""A Ray cluster as tests start it: a head and a further node, each with processes of its own, on this machine alone."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.children import family

START_SECONDS = 150.0

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}


class Node:
    """One node: all its processes are in a session of their own, so that they can be killed at once.

    Args:
        arguments: Of `ray start`.
        folder: Where it writes what it says.
    """

    def __init__(self, arguments: list[str], folder: Path) -> None:
        command = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--disable-usage-stats", *arguments]
        self.log = folder / f"{len(list(folder.iterdir()))}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **_QUIET}, start_new_session=True
            )

    def kill(self) -> None:
        """Kill every process of the node, workers included, as a power cut does."""
        for pid in {*family(self.process.pid), *self._session()}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def _session(self) -> Iterator[int]:
        # A node that gave up leaves children which are nobody's.
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if os.getsid(int(path.name)) == self.process.pid:
                    yield int(path.name)
            except ProcessLookupError:
                continue


class Nodes:
    """A cluster.

    Args:
        folder: Where everything of it lies; short, because a socket's path may have 107 characters.
        cpus: What each node says it has.
    """

    def __init__(self, folder: Path, cpus: int) -> None:
        self._logs = folder / "logs"
        self._logs.mkdir()
        self._cpus = cpus
        self.address = f"127.0.0.1:{_free_port()}"
        port, door = self.address.rpartition(":")[2], str(_free_port())
        self.from_outside = f"ray://127.0.0.1:{door}"
        """Where programs that are on none of the nodes connect to."""
        self.nodes: list[Node] = []
        self.head = self._start(["--head", "--port", port, "--include-dashboard", "false", "--temp-dir",
                                 str(folder / "r"), "--ray-client-server-port", door])  # fmt: skip

    def add(self) -> Node:
        """Start a further node, and wait until it has joined."""
        return self._start(["--address", self.address])

    def close(self) -> None:
        """End all that is left of it."""
        for node in reversed(self.nodes):
            node.kill()

    def _start(self, arguments: list[str]) -> Node:
        # A node gives up when it has not joined after 30 seconds; on a busy machine the next one does.
        deadline = time.monotonic() + START_SECONDS
        while True:
            node = Node([*arguments, "--num-cpus", str(self._cpus)], self._logs)
            self.nodes.append(node)
            while node.process.poll() is None:
                if "Ray runtime started" in node.log.read_text():
                    return node
                assert time.monotonic() < deadline, node.log.read_text()
                time.sleep(0.1)
            assert time.monotonic() < deadline, node.log.read_text()
            self.nodes.remove(node)
            node.kill()


@contextmanager
def cluster(cpus: int = 2) -> Iterator[Nodes]:
    """A cluster of one node, to which others can be added; ended and removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="m3ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        nodes = Nodes(Path(folder), cpus)
        try:
            yield nodes
        finally:
            nodes.close()


def workers_of(url: str) -> list[int]:
    """Worker processes of a database, anywhere on this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            mine = b"\0worker\0" in path.read_bytes() and f"M3BENCH_STORE={url}".encode() in (
                path.parent / "environ"
            ).read_bytes().split(b"\0")
        except OSError:
            continue
        found += [int(path.parent.name)] if mine else []
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
