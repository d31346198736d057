"""A Docker engine in trouble costs calls, says what to do, and leaves the run and its record whole."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.server.store.records import CallRecord
from m3bench.server.store.sqlite import SqliteStore
from tests.sandboxes.backends.docker.engines import Complaining, Relay
from tests.server.conftest import SERVE
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


def refused(task_set: Path, data: Path, *arguments: str, **environment: str) -> str:
    """What a server says that does not start."""
    done = subprocess.run(
        [*SERVE, "--tasks", str(task_set), "--data", str(data), *arguments],
        env={**os.environ, **environment}, stdin=subprocess.PIPE, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert done.stdout == ""
    return done.stderr


def test_without_an_engine_the_server_does_not_start_and_says_so_once(
    task_set: Path, data: Path, tmp_path: Path
) -> None:
    said = refused(task_set, data, "--sandbox", "docker", DOCKER_HOST=f"unix://{tmp_path}/nothing.sock")
    assert said.count("No Docker engine answers") == 1
    assert "use --sandbox process" in said
    assert not data.exists()


def test_an_engine_that_goes_costs_calls_and_says_what_to_do(task_set: Path, data: Path, tmp_path: Path) -> None:
    engine = Complaining(tmp_path / "engine.sock", image.labels(), "never asked")
    with engine, playing(task_set, data, DOCKER_HOST=engine.address) as pipe:
        (tmp_path / "engine.sock").unlink()
        answer = pipe.ask(2, "math__sum", SUM)
        assert answer["result"]["isError"]
        assert "sandbox failed, not your call" in text(answer)
        assert "No Docker engine answers" in text(answer)
        assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["failed"])


def test_a_server_starts_when_one_of_its_hosts_takes_sandboxes_and_names_the_others(
    task_set: Path, data: Path, tmp_path: Path
) -> None:
    gone, other = f"unix://{tmp_path}/nothing.sock", f"unix://{tmp_path}/neither.sock"
    said = refused(task_set, data, "--sandbox", "docker", "--docker-host", gone, "--docker-host", other)
    assert all(f"No Docker engine answers at {place}" in " ".join(said.split()) for place in (gone, other))
    assert "is for containers" in refused(task_set, data, "--docker-host", gone)
    with Complaining(None, image.labels(), "write /x: no space left on device") as good:
        arguments = ["--tasks", str(task_set), "--data", str(data), "--sandbox", "docker"]
        pipe = Pipe(arguments, env={**os.environ, "M3BENCH_DOCKER_HOSTS": f"{gone}, {good.address}"})
        try:
            pipe.open()
            answer = text(pipe.ask(1, "start_task", {"task_id": "sum-1"}))
        finally:
            pipe.close()
    assert "No Docker host takes a sandbox now." in answer
    assert "`docker system prune` makes room" in answer
    assert good.made


@pytest.mark.docker
def test_the_manifest_of_a_run_names_the_host_of_its_sandbox(task_set: Path, data: Path, tmp_path: Path) -> None:
    gone = f"unix://{tmp_path}/nothing.sock"
    with Relay(tmp_path / "relay.sock") as relay:
        with playing(task_set, data, M3BENCH_DOCKER_HOSTS=f"{gone} {relay.address}") as pipe:
            assert text(pipe.ask(2, "math__sum", SUM)) == "27"
            assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["success"])
    store = SqliteStore(data)
    try:
        assert [run.manifest["host"] for run in store.runs()] == [relay.address]
    finally:
        store.close()


@pytest.mark.slow
def test_a_server_that_requires_isolation_does_not_start_without(task_set: Path, data: Path) -> None:
    said = refused(task_set, data, "--sandbox", "inprocess", "--require-isolation")
    assert "nothing is isolated" in said
    assert "leave --require-isolation out" in " ".join(said.split())


@pytest.mark.slow
def test_a_full_disk_is_named(task_set: Path, data: Path, tmp_path: Path) -> None:
    with Complaining(tmp_path / "engine.sock", image.labels(), "write /x: no space left on device") as engine:
        with playing(task_set, data, DOCKER_HOST=engine.address) as pipe:
            assert "`docker system prune` makes room" in text(pipe.ask(2, "math__sum", SUM))
            assert "Submitted" in text(pipe.ask(3, "submit", {"answer": "27"}))
    check_record(data, ["failed"])


@pytest.mark.docker
def test_a_missing_image_is_named(task_set: Path, data: Path) -> None:
    said = refused(task_set, data, "--sandbox", "docker", **{image.VARIABLE: "m3bench-no-such-image:1"})
    assert "has no image m3bench-no-such-image:1: run `m3bench image build`" in " ".join(said.split())


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
