"""Several servers on one database: whoever watches one of them sees what all of them do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.postgres import serving as postgres
from tests.server.conftest import serving
from tests.server.lab.live.players import NUMBERS, player
from tests.sets import write_set

SECONDS = 60.0


def pictures(answer: httpx2.Response) -> Iterator[dict[str, Any]]:
    """The whole states that a watcher is sent, as they come."""
    event = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            event = line.removeprefix("event: ")
        elif line.startswith("data: ") and event == "state":
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.postgres
def test_a_run_at_another_server_is_seen_while_it_is_under_way(tmp_path: Path) -> None:
    tasks = str(write_set(tmp_path / "set"))
    with postgres() as database:
        common = ["--tasks", tasks, "--sandbox", "inprocess", "--store", database.new_database()]
        with (
            serving([*common, "--data", str(tmp_path / "a")]) as here,
            serving([*common, "--data", str(tmp_path / "b")]) as there,
            httpx2.Client(timeout=SECONDS) as client,
            client.stream("GET", f"{here}/live/events") as answer,
        ):
            seen = pictures(answer)
            assert next(seen)["runs"] == []
            with player(there, name="client-of-the-other") as one:
                run = one.start("sum-1")
                one.call("math__sum", numbers=NUMBERS)
                working = next(state for state in seen if len(state["calls"]) == 2)
                assert [(found["run"], found["state"]) for found in working["runs"]] == [(run, "working")]
                assert [seat["client"] for seat in working["seats"]] == ["client-of-the-other 1"]
                one.call("submit", answer="108")
                one.call("score")
                scored = next(state for state in seen if state["runs"][0]["state"] == "scored")
            assert [line["client"] for line in scored["standings"]] == ["client-of-the-other 1"]
