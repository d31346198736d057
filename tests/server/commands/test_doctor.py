"""`m3bench doctor`, as a person would type it: every line that is not ok says what to do."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.sandboxes.backends.docker import image, leases
from m3bench.sandboxes.backends.docker.engine import Engine
from m3bench.server.cli import app
from m3bench.server.store.owners import Owner
from m3bench.server.store.sqlite import OWNERS


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


def findings(*arguments: str) -> dict[str, dict[str, Any]]:
    return {finding["subject"]: finding for finding in json.loads(doctor(*arguments, "--json").stdout)}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own."""
    monkeypatch.setenv("M3BENCH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nobody listens."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_only_docker_sandboxes_are_in_trouble() -> None:
    done = doctor()
    assert done.exit_code == 0
    assert re.search(r"^wrong  docker engine +No Docker engine answers at tcp:.*: start it", done.stdout, re.MULTILINE)
    assert "Needed by --sandbox docker alone" in done.stdout
    assert doctor("--sandbox", "docker").exit_code == 1


@pytest.mark.usefixtures("no_engine")
def test_a_data_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3BENCH_DATA", "/proc/m3bench")
    done = doctor()
    assert done.exit_code == 1
    assert re.search(
        r"^wrong  data folder +/proc cannot be written .*: choose another folder", done.stdout, re.MULTILINE
    )


@pytest.mark.usefixtures("no_engine")
def test_servers_that_share_a_data_folder_are_counted(folder: Path) -> None:
    assert findings()["double starts"]["says"] == "No other server uses the data folder."
    first, second = Owner(folder / OWNERS, "a"), Owner(folder / OWNERS, "b")
    try:
        found = findings()["double starts"]
        assert found["state"] == "note"
        assert found["says"].startswith("2 servers use the data folder.")
        second.close()
        assert findings()["double starts"]["state"] == "ok"
    finally:
        first.close()


@pytest.mark.docker
def test_with_an_engine_everything_is_looked_at_and_well() -> None:
    done = doctor("--sandbox", "docker")
    assert done.exit_code == 0, done.stdout
    told = {line[7:21].strip(): line[:5].strip() for line in done.stdout.splitlines()}
    assert {"docker engine", "sandbox image", "limits", "leases"} <= set(told)
    assert told["limits"] in ("ok", "note")
    assert told["sandbox image"] == "ok"


@pytest.mark.docker
def test_what_is_left_of_a_run_is_told() -> None:
    engine = Engine()
    labels = {**leases.marks("left-behind"), leases.LEASE: str(int(time.time()) - 1)}
    made = engine.answer(lambda client: client.create_container(image.reference(), labels=labels))
    try:
        found = findings("--sandbox", "docker")["leases"]
        assert found["state"] == "note"
        assert "run m3bench sandboxes reap" in found["says"]
    finally:
        engine.answer(lambda client: client.remove_container(made, force=True))
        engine.close()
