"""A server whose record cannot be written says so to every call, stays up, and goes on by itself."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3bench.server.store.sqlite import SqliteStore
from tests.server.pipes import Pipe, text

pytestmark = pytest.mark.slow


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.name == "nt" or os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def recorded(data: Path) -> dict[int, str | None]:
    store = SqliteStore(data)
    try:
        return {int(call.request_id): call.outcome for run in store.runs() for call in store.calls(run.id)}
    finally:
        store.close()


def failed(message: dict[str, object]) -> bool:
    result = message.get("result")
    return not isinstance(result, dict) or bool(result.get("isError"))


def test_a_full_disk_costs_calls_and_no_answer(task_set: Path, small_disk: Path) -> None:
    data = small_disk / "data"
    pipe = Pipe(["--tasks", str(task_set), "--data", str(data)])
    pipe.open()
    assert not failed(pipe.ask(1, "start_task", {"task_id": "sum-1"}))
    assert text(pipe.ask(2, "math__sum", {"numbers": [1, 2]})) == "3"
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    said = {}
    for number in range(3, 60):
        said[number] = pipe.ask(number, "math__sum", {"numbers": list(range(900)), "padding": "x" * 2000})
    refused = [text(message) for message in said.values() if failed(message) and "recorded" in str(message)]
    assert refused
    assert all("the disk is full: free some disk space" in one for one in refused), refused[0]
    ballast.unlink()
    assert text(pipe.ask(90, "math__sum", {"numbers": [4, 8]})) == "12"
    assert not failed(pipe.ask(91, "submit", {"answer": "12"}))
    card = pipe.ask(92, "score", {})["result"]["_meta"]["m3bench/card"]
    assert card["void"]["fault"] == "proxy"
    assert "the disk is full" in card["void"]["words"]
    assert set(card["metrics"].values()) == {None}
    pipe.close()
    assert pipe.process.returncode == 0
    found = recorded(data)
    for number, message in said.items():
        if "recorded" not in str(message):
            assert found[number] is not None
            assert found[number] != "failed"


def test_a_data_folder_that_vanishes_and_comes_back(task_set: Path, tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    pipe = Pipe(["--tasks", str(task_set), "--data", str(data)])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    assert text(pipe.ask(2, "math__sum", {"numbers": [1, 2]})) == "3"
    data.rename(elsewhere)
    # It is looked for from time to time: every tenth of a second.
    assert any("is gone" in text(pipe.ask(number, "list_tasks", {})) for number in range(3, 5000))
    elsewhere.rename(data)
    assert not failed(pipe.ask(9000, "submit", {"answer": "3"}))
    pipe.close()
    assert pipe.process.returncode == 0
