"""`m3bench run`, as a person would type it: results, refusals, and what happens when it is stopped."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.results.resultset import DATA, SAMPLES, read_header, read_resultset, read_samples
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError, UserError
from tests.waiting import eventually

COMMAND = [sys.executable, "-m", "m3bench.server.cli", "run"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(task_set: Path, *arguments: str) -> Result:
    common = ["--tasks", str(task_set), "--sandbox", "inprocess", "--profile", "task"]
    return CliRunner().invoke(app, ["run", *common, *arguments])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("here")
def test_an_agent_leaves_a_result_set_and_says_where_and_what_shows_it(task_set: Path) -> None:
    done = run(task_set, "--agent", "oracle")
    assert done.exit_code == 0, done.output
    assert "oracle" in done.stdout
    assert "1.000" in done.stdout
    assert "the interval does not cover families unlike these" in " ".join(done.stdout.split())
    assert "m3bench report runs/oracle" in done.stderr
    assert "m3bench leaderboard runs/oracle" in done.stderr
    assert "2/2" in done.stderr
    found = read_resultset(Path("runs/oracle"))
    assert [result.card.average for result in found.results] == [1.0, 1.0]
    assert (found.missing, found.void) == ((), ())
    assert len(found.manifests) == 1
    assert found.header.tasks == ("survey-1", "sum-1")


@pytest.mark.slow
def test_all_agents_have_a_set_each_below_one_folder(task_set: Path, here: Path) -> None:
    done = run(task_set, "--agent", "all", "-o", "out", "--task", "sum-1", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["results"]
    assert [row["agent"] for row in rows] == list(AGENTS)
    assert [(row["scored"], row["void"], row["missing"]) for row in rows] == [(1, 0, 0)] * len(AGENTS)
    averages = {row["agent"]: row["average"] for row in rows}
    assert averages["oracle"] == 1
    assert averages["null"] == 0
    assert {path.name for path in (here / "out").iterdir()} == set(AGENTS)
    assert f"{len(AGENTS)}/{len(AGENTS)}" in done.stderr


@pytest.mark.usefixtures("here")
def test_one_agent_with_a_folder_fills_that_folder(task_set: Path) -> None:
    assert run(task_set, "--agent", "null", "-o", "out", "--limit", "1", "--repeat", "2", "--seed", "4").exit_code == 0
    header = read_header(Path("out"))
    assert (header.agent, header.kind, header.repeats, len(header.tasks)) == ("null", "baseline", 2, 1)
    assert header.options["seed"] == 4


@pytest.mark.usefixtures("here")
def test_resuming_makes_what_is_missing_and_nothing_twice(task_set: Path) -> None:
    assert run(task_set, "--agent", "null", "-o", "out", "--repeat", "3").exit_code == 0
    path = Path("out") / SAMPLES
    kept = path.read_text().splitlines(keepends=True)
    void = {**json.loads(kept[2]), "state": "void", "reason": "the machine slept"}
    path.write_text("".join(kept[:2]) + json.dumps(void) + "\n" + kept[3][:17])
    done = run(task_set, "--agent", "null", "-o", "out", "--repeat", "3", "--resume")
    assert done.exit_code == 0, done.output
    assert "2 samples are there already" in done.stderr
    assert "4/4" in done.stderr
    assert path.read_text().startswith("".join(kept[:2]))
    found = read_resultset(Path("out"))
    assert len(found.results) == 6
    assert (found.missing, found.void) == ((), ())
    again = run(task_set, "--agent", "null", "-o", "out", "--repeat", "3", "--resume")
    assert again.exit_code == 0
    assert len(read_resultset(Path("out")).results) == 6


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Say who plays"),
        (["--agent", "null", "--model", "openai/gpt-5"], "Say who plays"),
        (["--agent", "nul"], "There is no agent 'nul'"),
        (["--agent", "null", "--family", "sum"], "There is no family 'sum': try sums"),
        (["--agent", "null", "--task", "sum-2"], "There is no task 'sum-2'"),
        (["--agent", "null", "--profile", "all"], "There is no profile 'all'"),
        (["--agent", "null", "--level", "L4"], "There is no level 'L4': choose L1, L2, L3"),
        (["--agent", "null", "--setting", "multi"], "None of the 2 chosen tasks is multi"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    task_set: Path, arguments: list[str], message: str
) -> None:
    done = run(task_set, *arguments)
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("here")
def test_results_are_gone_on_with_only_when_asked_and_only_with_the_same_options(task_set: Path) -> None:
    assert run(task_set, "--agent", "null", "--limit", "1", "-o", "out").exit_code == 0
    for arguments, message in [
        (["--limit", "1"], "--resume"),
        (["--limit", "1", "--seed", "1", "--resume"], "seed: 0 there, 1 now"),
        (["--resume"], "the number of tasks: 1 there, 2 now"),
    ]:
        done = run(task_set, "--agent", "null", "-o", "out", *arguments)
        assert message in str(done.exception)
    assert len(read_samples(Path("out"))) == 1


@pytest.mark.usefixtures("here")
def test_void_samples_make_the_exit_code_1_and_the_way_to_try_again_is_told(
    task_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from m3bench.server.runs.run import Run
    from m3bench.tasks.errors import SandboxError

    async def broken(self: Run, tool: str, arguments: bytes, seconds: float) -> Any:
        raise SandboxError("The host was killed.")

    monkeypatch.setattr(sys, "argv", ["m3bench", "run", "--agent", "oracle", "-o", "out"])
    with monkeypatch.context() as breaking:
        breaking.setattr(Run, "call", broken)
        done = run(task_set, "--agent", "oracle", "-o", "out")
    assert done.exit_code == 1
    assert "void: oracle: 3 calls were lost through no fault of the agent: 3 by the sandbox." in done.stderr
    assert "m3bench run --agent oracle -o out --resume" in done.stderr
    assert "m3bench report" not in done.stderr, "there is nothing to look at"
    again = run(task_set, "--agent", "oracle", "-o", "out", "--resume")
    assert again.exit_code == 0
    assert "Look closer: m3bench report out" in again.stderr
    assert read_resultset(Path("out")).void == ()


@pytest.mark.usefixtures("here")
def test_a_full_disk_stops_the_run_with_one_line_and_what_was_kept_is_gone_on_with(
    task_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr("os.write", lambda file, data: 5)
        done = run(task_set, "--agent", "null", "-o", "out")
    assert isinstance(done.exception, StoreError)
    assert "free some disk space and resume" in str(done.exception)
    assert run(task_set, "--agent", "null", "-o", "out", "--resume").exit_code == 0
    assert len(read_resultset(Path("out")).results) == 2


def many(task_set: Path, folder: Path) -> list[str]:
    return ["--agent", "oracle", "--tasks", str(task_set), "--profile", "task", "--repeat", "40", "-o", str(folder)]


def started(task_set: Path, folder: Path) -> "subprocess.Popen[str]":
    """A run of many samples in a process of its own, some of them done."""
    command = [*COMMAND, *many(task_set, folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path = folder / SAMPLES
    eventually(lambda: path.exists() and path.read_bytes().count(b"\n") >= 4, "four samples", 60)
    return process


def finish(task_set: Path, folder: Path) -> None:
    """Resume in this process and see that every sample is there once, and every other run was given up."""
    done = CliRunner().invoke(app, ["run", *many(task_set, folder), "--resume"])
    assert done.exit_code == 0, done.output
    found = read_resultset(folder)
    assert (found.missing, found.void) == ((), ())
    assert len(found.results) == 80
    assert len(lines(folder / SAMPLES)) == 80
    store = SqliteStore(folder / DATA)
    states = {run.id: run.state for run in store.runs()}
    store.close()
    counted = {result.run.id for result in found.results}
    assert len(counted) == 80
    assert all(state == ("scored" if id in counted else "abandoned") for id, state in states.items())


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_without_loss_or_duplicate(task_set: Path, tmp_path: Path) -> None:
    process = started(task_set, tmp_path / "out")
    process.kill()
    process.communicate(timeout=30)
    before = (tmp_path / "out" / SAMPLES).read_bytes()
    finish(task_set, tmp_path / "out")
    assert (tmp_path / "out" / SAMPLES).read_bytes().startswith(before[: before.rfind(b"\n") + 1])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_keeps_what_is_done_and_tells_how_to_go_on(task_set: Path, tmp_path: Path) -> None:
    process = started(task_set, tmp_path / "out")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    last = errors.splitlines()[-1]
    assert last.startswith("Stopped; what was finished is kept. To continue: m3bench run --agent oracle")
    assert last.endswith("--resume")
    assert "Traceback" not in errors
    assert not (tmp_path / "out" / "run.lock").exists()
    assert not list((tmp_path / "out" / DATA / "workspaces").iterdir())
    finish(task_set, tmp_path / "out")
