"""Whether the time that a refusal takes tells anything: pairs of guesses of a stranger, in turns, at a ranked event.

    python bench/refusals.py [--rounds N]

Of each pair one guess is close to something that exists (a token that differs from a real one in its last letter, the
handle of somebody else's run) and the other is not. If a pair's medians differ by less than the two halves of one
series do, the time tells nothing that a stranger could see here.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from rich.console import Console
from rich.table import Table

PROGRAM = [sys.executable, str(Path(__file__).parents[1] / "tests" / "ranked" / "small_set.py")]
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

Guess = Callable[[], Any]


class Player:
    """Somebody with a token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/mcp"
        self._http = httpx2.Client(headers={**HEADERS, "authorization": f"Bearer {token}"}, timeout=60)
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        opened = self.post("initialize", info)
        self._http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]

    def post(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        """The response to a request."""
        return self._http.post(self._url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a response to a call."""
        return self.post("tools/call", {"name": tool, "arguments": arguments}).text


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    with TemporaryDirectory(prefix="m3bench-") as name:
        folder = Path(name)
        secret, event, data = folder / "secret", folder / "event.toml", folder / "data"
        run("lab", "ranked", "make", secret)
        told = run("lab", "ranked", "event", event, "ann", "bob", "--opens", "now", "--closes", "2099-01-01T00:00Z")
        tokens = dict(reversed(line.split(maxsplit=1)) for line in told.splitlines() if " " in line)
        given = ["--ranked", "--secret-file", secret, "--event", event, "--data", data, "--http", "127.0.0.1:0"]
        server = subprocess.Popen([*PROGRAM, "serve", *map(str, given)], stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            found = re.search(r"http://\S+(?=/mcp)", server.stderr.readline())
            assert found is not None
            show(pairs(found[0], tokens), rounds)
        finally:
            server.terminate()
            server.communicate()


def run(*arguments: str | Path) -> str:
    """The output of a command."""
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def pairs(url: str, tokens: dict[str, str]) -> dict[str, tuple[Guess, Guess]]:
    """What is guessed: first what is close to something, then what is not."""
    ann, bob = Player(url, tokens["ann"]), Player(url, tokens["bob"])
    tasks = re.findall(r"- (\w[\w-]*)", ann.call("list_tasks").replace("\\n", "\n"))
    handle = re.search(r"Run handle: (\w+)", ann.call("start_task", task_id=tasks[0]))
    assert handle is not None
    strangers = httpx2.Client(headers=HEADERS, timeout=60)

    def with_token(token: str) -> Guess:
        return lambda: strangers.post(f"{url}/mcp", json={}, headers={"authorization": f"Bearer {token}"})

    near = tokens["ann"][:-1] + ("A" if tokens["ann"][-1] != "A" else "B")
    far = "z" * len(near)
    return {
        "a token, wrong in its last letter": (with_token(near), with_token(far)),
        "score of another's run": (lambda: bob.call("score", run=handle[1]), lambda: bob.call("score", run="f" * 40)),
        "submit to another's run": (
            lambda: bob.call("submit", answer="1", run=handle[1]),
            lambda: bob.call("submit", answer="1", run="f" * 40),
        ),
    }


def show(guesses: dict[str, tuple[Guess, Guess]], rounds: int) -> None:
    """Time pairs in turns, and print their medians beside what chance alone makes of one series."""
    table = Table("guess", "close", "far", "difference", "by chance alone")
    for name, (close, far) in guesses.items():
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(2 * rounds):
            begun = time.perf_counter()
            (close, far)[number % 2]()
            times[number % 2].append(time.perf_counter() - begun)
        near, distant = (statistics.median(waits) * 1e3 for waits in times)
        halves = [abs(statistics.median(waits[::2]) - statistics.median(waits[1::2])) * 1e3 for waits in times]
        table.add_row(
            name, f"{near:.3f} ms", f"{distant:.3f} ms", f"{abs(near - distant):.3f} ms", f"{max(halves):.3f} ms"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
