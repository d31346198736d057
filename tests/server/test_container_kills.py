"""Clients and servers with containers are killed at any moment: nothing that was answered is lost, nothing stays."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.server.store.sqlite import SqliteStore
from tests.server import player
from tests.server.conftest import SERVE
from tests.server.hosts import Hosts
from tests.server.pipes import Pipe
from tests.waiting import eventually

KILLS, RUNS = min(50, int(os.environ.get("M3BENCH_KILLS", "16"))), 8

LONGEST_SECONDS = 1.2
"""Between two kills. A server takes a few seconds to start here: some die young, some in full swing."""

pytestmark = [pytest.mark.kills, pytest.mark.docker]


class Player:
    """A client, its server and what it was answered."""

    def __init__(self, number: int, folder: Path, arguments: list[str]) -> None:
        self.log = folder / f"player-{number:03}"
        self.log.touch()
        self.client = subprocess.Popen(
            [sys.executable, player.__file__, str(self.log), *SERVE, *arguments], stderr=subprocess.DEVNULL
        )

    def kill(self, victims: tuple[str, ...]) -> None:
        """Kill the client, the server or both; without its server a client ends too."""
        if "proxy" in victims and self.server:
            with suppress(ProcessLookupError):
                os.kill(self.server, signal.SIGKILL)
        if "client" in victims or not self.server:
            self.client.kill()
        self.client.wait(20)

    @property
    def server(self) -> int | None:
        """The server's process number, once it is known."""
        first = self.log.read_text().partition("\n")[0]
        return int(first) if first else None

    @property
    def answered(self) -> set[str]:
        """The ids of the calls that were answered."""
        return set(self.log.read_text().split("\n")[1:-1])


def test_kills_with_eight_runs_going_lose_and_leave_nothing(task_set: Path, data: Path, tmp_path: Path) -> None:
    dice = random.Random(11)
    arguments = ["--tasks", str(task_set), "--data", str(data), "--sandbox", "docker", "--max-calls", "100000"]
    hosts = Hosts(data, "docker")
    going: list[Player] = []
    over: list[Player] = []
    try:
        going += [Player(number, tmp_path, arguments) for number in range(RUNS)]
        eventually(lambda: all(one.answered for one in going), "eight runs are going", 120)
        assert len(hosts.alive()) == RUNS
        while len(over) < KILLS:
            # The moment of a kill is a time: waiting for anything else would leave moments out.
            time.sleep(dice.random() * LONGEST_SECONDS)
            over.append(going.pop(dice.randrange(len(going))))
            over[-1].kill(dice.choice([("client",), ("proxy",), ("client", "proxy")]))
            if len(over) + len(going) < KILLS:
                going.append(Player(len(over) + len(going), tmp_path, arguments))
    finally:
        for one in going:
            one.kill(("client", "proxy"))
    next_start = Pipe(arguments)
    try:
        next_start.open()
        eventually(lambda: not hosts.alive(), "no container or volume is left", 30)
        eventually(lambda: list((data / "workspaces").iterdir()) == [], "no workspace is left", 30)
    finally:
        next_start.close()
    _check_record(data, over)


def _check_record(data: Path, over: list[Player]) -> None:
    """Every call that was answered is on record as such, and no run seems to go on."""
    outcomes: dict[tuple[int, int], str | None] = {}
    store = SqliteStore(data)
    try:
        for run in store.runs():
            assert run.state == "abandoned"
            for call in store.calls(run.id):
                outcomes[call.arguments["secondNumber"], json.loads(call.request_id)] = call.outcome
                assert call.outcome == "success" or call.owner in ("client", "proxy") or call.error == CUT_OFF
    finally:
        store.close()
    total = 0
    for one in over:
        number = int(one.log.name[-3:])
        lost = {id for id in one.answered if outcomes.get((number, int(id))) != "success"}
        assert not lost, f"player {number} was answered {lost} without a record"
        total += len(one.answered)
    assert total > KILLS
    assert list((data / "owners").iterdir()) == []
