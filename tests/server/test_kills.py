"""A server that is killed at any moment has lost nothing it answered, and leaves nothing running."""

import json
import random
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pytest

from m3bench.server.store.sqlite import CUT_OFF, SqliteStore
from tests.server.conftest import SERVE
from tests.waiting import eventually

KILLS, IN_FLIGHT = 100, 8

pytestmark = pytest.mark.slow


class Pipe:
    """A client that writes and reads lines."""

    def __init__(self, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [*SERVE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin: IO[bytes] = self.process.stdin
        self._stdout: IO[bytes] = self.process.stdout

    def send(self, id: int | None, method: str, params: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": id} if id is not None else {})
        self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()

    def call(self, id: int, name: str, arguments: dict[str, Any]) -> None:
        self.send(id, "tools/call", {"name": name, "arguments": arguments})

    def read(self) -> dict[str, Any]:
        line = self._stdout.readline()
        assert line, "the server closed its output"
        message: dict[str, Any] = json.loads(line)
        return message

    def rest(self) -> Iterator[dict[str, Any]]:
        """Whole lines that were still in the pipe."""
        for line in self._stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)

    def open(self) -> None:
        info = {"name": "kills", "version": "1"}
        self.send(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        assert "result" in self.read()
        self.send(None, "notifications/initialized", {})

    def close(self) -> None:
        self._stdin.close()
        self._stdout.close()
        self.process.wait(timeout=30)


def killed_under_load(arguments: list[str], seed: int) -> tuple[set[int], int]:
    """The ids that were answered before the kill, and the server's pid."""
    rng = random.Random(seed)
    pipe = Pipe(arguments)
    pipe.open()
    pipe.call(1, "start_task", {"task_id": "sum-1"})
    pipe.read()
    answered: set[int] = set()
    sent = 1
    for _ in range(IN_FLIGHT):
        sent += 1
        pipe.call(sent, "math__add", {"firstNumber": sent, "secondNumber": seed})
    for _ in range(rng.randrange(120)):
        answered.add(pipe.read()["id"])
        sent += 1
        pipe.call(sent, "math__add", {"firstNumber": sent, "secondNumber": seed})
    pipe.process.send_signal(signal.SIGKILL)
    answered |= {message["id"] for message in pipe.rest()}
    pid = pipe.process.pid
    pipe.close()
    return answered, pid


def test_a_hundred_kills_lose_no_answered_call(task_set: Path, tmp_path: Path) -> None:
    folders = [tmp_path / f"data-{number}" for number in range(4)]

    def kill(seed: int) -> tuple[int, set[int]]:
        data = folders[seed % len(folders)]
        answered, _ = killed_under_load(["--tasks", str(task_set), "--data", str(data)], seed)
        return seed, answered

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(kill, range(KILLS)))
    seen: dict[int, dict[int, str | None]] = {}
    for data in folders:
        store = SqliteStore(data)
        try:
            for run in store.runs():
                assert run.state == "abandoned"
                for call in store.calls(run.id):
                    seen.setdefault(call.arguments["secondNumber"], {})[int(call.request_id)] = call.outcome
                    assert call.outcome == "success" or call.error == CUT_OFF
        finally:
            store.close()
        assert list((data / "owners").iterdir()) == []
    for seed, answered in results:
        assert all(seen.get(seed, {}).get(id) == "success" for id in answered), seed
    eventually(lambda: not _hosts_in(tmp_path), "no host of a killed server is left")


def test_a_client_that_closes_its_end_leaves_a_finished_server(task_set: Path, tmp_path: Path) -> None:
    pipe = Pipe(["--tasks", str(task_set), "--data", str(tmp_path / "data")])
    pipe.open()
    pipe.call(1, "start_task", {"task_id": "sum-1"})
    pipe.read()
    pipe.call(2, "math__add", {"firstNumber": 1, "secondNumber": 2})
    pipe.read()
    pipe.close()
    assert pipe.process.returncode == 0
    eventually(lambda: not _hosts_in(tmp_path), "no host is left")
    store = SqliteStore(tmp_path / "data")
    try:
        assert [run.state for run in store.runs()] == ["abandoned"]
    finally:
        store.close()
    assert list((tmp_path / "data" / "runs").iterdir()) == []


def _hosts_in(folder: Path) -> list[str]:
    """Command lines of processes that work under a folder."""
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if str(folder) in line and "ps -eo" not in line]
