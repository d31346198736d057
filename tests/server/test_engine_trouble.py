"""A Docker engine in trouble costs calls, says what to do, and leaves the run and its record whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.server.store.records import CallRecord
from m3bench.server.store.sqlite import SqliteStore
from tests.sandboxes.docker.engines import Complaining, Relay
from tests.server.hosts import Hosts
from tests.server.pipes import Pipe, text
from tests.waiting import eventually

SUM = {"numbers": [4, 8, 15]}


@contextmanager
def playing(task_set: Path, data: Path, **environment: str) -> Iterator[Pipe]:
    """A client with a task under way, on some engine."""
    arguments = ["--tasks", str(task_set), "--data", str(data), "--sandbox", "docker"]
    pipe = Pipe(arguments, env={**os.environ, **environment})
    try:
        pipe.open()
        assert "sum-1" in text(pipe.ask(1, "start_task", {"task_id": "sum-1"}))
        yield pipe
    finally:
        pipe.close()


def record(data: Path) -> tuple[str, list[CallRecord]]:
    """State and calls of the only run."""
    store = SqliteStore(data)
    try:
        (run,) = store.runs()
        return run.state, store.calls(run.id)
    finally:
        store.close()


def check_record(data: Path, outcomes: list[str]) -> None:
    """The run was submitted, and what failed is the sandbox's fault."""
    state, calls = record(data)
    assert state == "submitted"
    assert [call.outcome for call in calls if call.tool == "math/sum"] == outcomes
    assert {call.owner for call in calls if call.outcome == "failed"} <= {"sandbox"}


def test_without_an_engine_calls_fail_and_say_what_to_do(task_set: Path, data: Path, tmp_path: Path) -> None:
    with playing(task_set, data, DOCKER_HOST=f"unix://{tmp_path}/nothing.sock") as pipe:
        answer = pipe.ask(2, "math__sum", SUM)
        assert answer["result"]["isError"]
        assert "sandbox failed, not your call" in text(answer)
        assert "No Docker engine answers" in text(answer)
        assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["failed"])


def test_a_full_disk_is_named(task_set: Path, data: Path, tmp_path: Path) -> None:
    with Complaining(tmp_path / "engine.sock", image.labels(), "write /x: no space left on device") as engine:
        with playing(task_set, data, DOCKER_HOST=engine.address) as pipe:
            assert "`docker system prune` makes room" in text(pipe.ask(2, "math__sum", SUM))
            assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["failed"])


@pytest.mark.docker
def test_a_missing_image_is_named(task_set: Path, data: Path) -> None:
    with playing(task_set, data, **{image.VARIABLE: "m3bench-no-such-image:1"}) as pipe:
        assert "has no image m3bench-no-such-image:1: run `m3bench image build`" in text(pipe.ask(2, "math__sum", SUM))
        assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["failed"])


@pytest.mark.docker
def test_a_run_outlives_a_restart_of_the_engine(task_set: Path, data: Path, tmp_path: Path) -> None:
    hosts = Hosts(data, "docker")
    with Relay(tmp_path / "relay.sock") as relay, playing(task_set, data, DOCKER_HOST=relay.address) as pipe:
        assert text(pipe.ask(2, "math__sum", SUM)) == "27"
        relay.cut()
        # The engine ends a host when the line to its owner is cut.
        eventually(lambda: not hosts.alive(), "no container is left")
        assert "engine" in text(pipe.ask(3, "math__sum", SUM))
        assert "No Docker engine answers" in text(pipe.ask(4, "math__sum", SUM))
        relay.restore()
        assert text(pipe.ask(5, "math__sum", SUM)) == "27"
        assert "Submitted" in text(pipe.ask(6, "submit", {"answer": "27"}))
    check_record(data, ["success", "failed", "failed", "success"])
    assert not hosts.alive()
