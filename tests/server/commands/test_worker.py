"""`m3bench lab worker` and `m3bench lab study --store`, as people run them: processes, kills, a database that dies."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.results.resultset import DATA
from m3bench.server.store.sqlite import SqliteStore
from tests.postgres import Server, serving
from tests.server.commands.test_study import plan, samples, totals, written
from tests.server.lab.headless.scripts import GIVES_UP, RIGHT, SLOPPY, three_tasks, write_script
from tests.waiting import eventually

COMMAND = [sys.executable, "-m", "m3bench.server.cli"]
SECONDS = 300


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def started() -> Iterator["Started"]:
    """Starts processes, and ends them with the test."""
    with ExitStack() as stack:
        yield Started(stack)


class Started:
    """Processes of a test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        return process


def script(pause: float = 0.0) -> dict[str, list[dict[str, Any]]]:
    """What the model does: each task begins with a wait."""
    waiting = {"pause": pause}
    return {"survey-1": [{**RIGHT[0], **waiting}, *RIGHT[1:]], "sum-1": SLOPPY, "sum-2": [{**GIVES_UP[0], **waiting}]}


@pytest.mark.night
@pytest.mark.postgres
def test_workers_leave_what_a_study_leaves_that_plays_by_itself(postgres: Server, tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    model = {"model": write_script(tmp_path / "m.json", script()), "name": "m"}
    given: dict[str, Any] = {"models": [model], "agents": ["oracle"], "repeats": 2, "providers": {"m3bench": 2}}
    alone, shared = (plan(tmp_path / name, tasks, **given) for name in ("alone", "shared"))
    assert subprocess.run([*COMMAND, "lab", "study", str(alone)], check=False).returncode == 0
    queued = [
        *COMMAND,
        "lab",
        "study",
        str(shared),
        "--store",
        postgres.new_database(),
        "--workers",
        "2",
        "--slots",
        "2",
    ]
    done = subprocess.run(queued, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert totals(shared.parent / "study") == totals(alone.parent / "study")
    assert len(samples(shared.parent / "study")) == 12
    for cell in ("oracle.task.small", "m.react.task.small"):
        calls = []
        for study in (alone, shared):
            store = SqliteStore(study.parent / "study" / cell / DATA)
            found = [(run, call) for run in store.runs() for call in store.calls(run.id)]
            calls.append(
                sorted(
                    (run.task, call.tool, call.result)
                    for run, call in found
                    if call.tool.startswith("math/") and call.result is not None
                )
            )
            store.close()
        assert calls[0] == calls[1]
    again = subprocess.run(queued, capture_output=True, text=True, timeout=SECONDS)
    assert again.returncode == 0, again.stderr
    assert "0 to play" in again.stderr


@pytest.mark.postgres
def test_a_worker_that_is_stopped_gives_its_samples_back(postgres: Server, tmp_path: Path, started: Started) -> None:
    tasks = three_tasks(tmp_path / "set")
    model = {"model": write_script(tmp_path / "m.json", script(pause=600)), "name": "m"}
    url = postgres.new_database()
    study = started("lab", "study", plan(tmp_path, tasks, models=[model]), "--store", url)

    def states() -> list[str]:
        tables = postgres.execute("SELECT to_regclass('m3bench.queued_samples') IS NOT NULL", url)
        return [] if tables == "f" else postgres.execute("SELECT state FROM m3bench.queued_samples", url).split()

    eventually(lambda: len(states()) == 3, "the samples are in the queue", SECONDS)
    worker = started("lab", "worker", "--store", url, "--slots", "3", "--json")
    eventually(lambda: sorted(states()) == ["done", "leased", "leased"], "two samples are being played", SECONDS)
    os.kill(worker.pid, signal.SIGINT)
    said, _ = worker.communicate(timeout=60)
    assert worker.returncode == 130
    assert (json.loads(said)["scored"], json.loads(said)["stopped"]) == (1, True)
    assert sorted(states()) == ["done", "waiting", "waiting"]
    eventually(lambda: written(tmp_path / "study") == 1, "what was finished is gathered", 60)
    assert study.poll() is None


@pytest.mark.postgres
def test_a_worker_ends_when_told_where_ctrl_c_is_ignored(postgres: Server) -> None:
    # As a shell starts what a script puts into the background.
    behind = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND, "lab", "worker", "--store", postgres.new_database()]
    with subprocess.Popen(behind, stderr=subprocess.PIPE, text=True) as worker:
        said = f"/proc/{worker.pid}/status"
        caught = 1 << (signal.SIGTERM - 1)
        eventually(lambda: int(Path(said).read_text().split("SigCgt:")[1].split()[0], 16) & caught != 0, "it listens")
        worker.terminate()
        assert worker.wait(60) == 130


@pytest.mark.postgres
@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice_when_workers_the_study_and_the_database_are_killed(
    postgres: Server, tmp_path: Path, started: Started
) -> None:
    tasks = three_tasks(tmp_path / "set")
    model = {"model": write_script(tmp_path / "m.json", script(pause=1)), "name": "m"}
    path = plan(tmp_path, tasks, models=[model], repeats=12)
    url, folder = postgres.new_database(), tmp_path / "study"
    study = started("lab", "study", path, "--store", url)
    workers = [started("lab", "worker", "--store", url, "--lease", 5, "--slots", 2) for _ in range(2)]
    eventually(lambda: written(folder) >= 4, "some samples", SECONDS)
    workers[0].kill()
    eventually(lambda: written(folder) >= 10, "some more", SECONDS)
    postgres.kill()
    postgres.start()
    eventually(lambda: written(folder) >= 16, "some more", SECONDS)
    study.kill()
    study.wait()
    kept = samples(folder)
    again = started("lab", "study", path, "--store", url, "--workers", 1)
    _, said = again.communicate(timeout=SECONDS)
    assert again.returncode == 0, said
    whole = samples(folder)
    assert len(whole) == len(set(whole)) == 36
    assert set(kept) <= set(whole)
    assert workers[1].poll() is None, "it waits for more"
    store = SqliteStore(folder / "m.react.task.small" / DATA)
    states = [run.state for run in store.runs()]
    store.close()
    assert states.count("scored") == 36
    assert totals(folder)["m.react.task.small"][0][:2] == ("survey-1", 1)


def test_workers_need_a_queue(task_set: Path, tmp_path: Path) -> None:
    path = plan(tmp_path, task_set, agents=["oracle"])
    wrong = CliRunner().invoke(app, ["lab", "study", str(path), "--workers", "2"])
    assert "--workers needs a queue" in str(wrong.exception)
    alone = CliRunner().invoke(app, ["lab", "worker", "--store", str(tmp_path)])
    assert "Say where the queue is" in str(alone.exception)
