"""What a client waits for while others of its requests take long: `ping`, `logging/setLevel` and `tools/list`.

    python bench/waits.py [--rounds N] [--busy N]

A server is started and asked for a task at once, so that it loads its program, and then for a call, so that it starts
the sandbox. Meanwhile the three requests are sent again and again, and for comparison to a program that does nothing
but echo them. Some processes keep the machine busy beside it, by default one for each core. Exit code 1 when more than
one request of a hundred waits longer than the goal, and longer than three times what the echo takes.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

GOAL_SECONDS = 0.1
EVERY_SECONDS = 0.02
LONGEST_SECONDS = 120.0

QUICK: tuple[tuple[str, dict[str, object]], ...] = (
    ("ping", {}),
    ("logging/setLevel", {"level": "info"}),
    ("tools/list", {}),
)
ECHO = "nothing else is done"
ECHO_PROGRAM = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
TASK = "barcode_lookup-1"
CALL: dict[str, object] = {"name": "pyzbar-mcp__scan_barcode", "arguments": {"image_paths": f"./media/{TASK}.png"}}

PHASES: dict[str, dict[str, object]] = {
    "the program loads": {"name": "start_task", "arguments": {"task_id": TASK}},
    "a sandbox starts": CALL,
}


class Client:
    """A client that notes when each answer came."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
        )  # fmt: skip
        self._sent: dict[int, float] = {}
        self._came: dict[int, float] = {}
        self._arrived = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, method: str, params: dict[str, object]) -> int:
        """Send a request; returns its id."""
        id = len(self._sent)
        self._sent[id] = time.perf_counter()
        self._write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def note(self, method: str) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method})

    def wait(self, id: int) -> float:
        """Wait for an answer; how long it took."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: id in self._came, LONGEST_SECONDS), f"no answer to {id}"
        return self._came[id] - self._sent[id]

    def meanwhile(self, id: int) -> Iterator[tuple[str, float]]:
        """Send the quick requests one after the other until another one is answered: each with its wait."""
        for method, params in cycle(QUICK):
            if id in self._came:
                return
            yield method, self.wait(self.send(method, params))

    def close(self) -> None:
        """End the server."""
        self._server.kill()
        self._server.wait()
        self._reader.join()

    def _write(self, message: dict[str, object]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message).encode() + b"\n")
        self._server.stdin.flush()

    def _read(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            came, id = time.perf_counter(), json.loads(line).get("id")
            if id is not None:
                with self._arrived:
                    self._came[id] = came
                    self._arrived.notify_all()


def main() -> None:
    """Measure, show, and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {}
    with busy(options.busy), TemporaryDirectory(prefix="m3bench-waits-") as scratch:
        for number in range(options.rounds):
            for key, seconds in measure(Path(scratch) / str(number)):
                found.setdefault(key, []).append(seconds)
    table = Table(title=f"milliseconds until an answer, {options.busy} busy processes, load {os.getloadavg()[0]:.1f}")
    for heading in ("while", "request", "sent", "median", "99 of 100", "longest"):
        table.add_column(heading, justify="left" if heading in ("while", "request") else "right")
    worst: dict[bool, float] = {True: 0.0, False: 0.0}
    for (phase, method), waits in found.items():
        waits.sort()
        most = waits[min(len(waits) - 1, round(0.99 * len(waits)))]
        worst[phase == ECHO] = max(worst[phase == ECHO], most)
        table.add_row(
            phase, method, str(len(waits)), *(f"{1000 * each:.1f}" for each in (median(waits), most, waits[-1]))
        )
    Console().print(table)
    print(
        f"99 of 100 are answered within {1000 * worst[False]:.0f} ms, by the echo within {1000 * worst[True]:.0f}; "
        f"the goal is {1000 * GOAL_SECONDS:.0f}"
    )
    sys.exit(0 if worst[False] <= max(GOAL_SECONDS, 3 * worst[True]) else 1)


def measure(data: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """The waits of one server, by what it did meanwhile and by request."""
    env = {**os.environ, "M3BENCH_DATA": str(data), "M3BENCH_CACHE": str(data.parent / "cache")}
    client = Client([sys.executable, "-m", "m3bench.server.cli", "serve"], env)
    echo = Client([sys.executable, "-c", ECHO_PROGRAM], dict(os.environ))
    try:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        client.wait(client.send("initialize", dict(about)))
        client.note("notifications/initialized")
        echo.wait(echo.send("ping", {}))
        for phase, params in PHASES.items():
            slow = client.send("tools/call", params)
            for method, seconds in client.meanwhile(slow):
                yield (phase, method), seconds
                yield (ECHO, "ping"), echo.wait(echo.send("ping", {}))
                time.sleep(EVERY_SECONDS)
    finally:
        client.close()
        echo.close()


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep the machine busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


if __name__ == "__main__":
    main()
