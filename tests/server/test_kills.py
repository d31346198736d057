"""A server that is killed at any moment has lost nothing it answered, and leaves nothing running."""

import os
import random
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.server.store.sqlite import SqliteStore
from tests.server.pipes import Pipe
from tests.waiting import eventually

KILLS = int(os.environ.get("M3BENCH_KILLS", "15"))
"""More of them for a night."""

IN_FLIGHT = 8

pytestmark = pytest.mark.kills


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


def test_kills_lose_no_answered_call(task_set: Path, tmp_path: Path) -> None:
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
        assert list((data / "workspaces").iterdir()) == []
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
    assert list((tmp_path / "data" / "workspaces").iterdir()) == []


def _hosts_in(folder: Path) -> list[str]:
    """Command lines of processes that work under a folder."""
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if str(folder) in line and "ps -eo" not in line]
