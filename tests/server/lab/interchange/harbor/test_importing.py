"""Trials of Harbor as result sets: each is held against its record, and none is lost without a word."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.interchange.harbor.verdict import BUNDLE, COLLECTED
from m3bench.server.lab.results.recorded_runs import registered
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.settings import Settings
from tests.server.lab.interchange.harbor.conftest import Trial
from tests.server.lab.interchange.tampering import change_json, packed, run_of, unpacked

Add = Callable[..., Path]


@pytest.fixture
def add(tmp_path: Path, solved: Trial) -> Add:
    """Adds a trial to a job, in the form in which Harbor 0.25 writes it."""

    def added(
        name: str, *, agent: str = "claude-code", task: str = "sum-1", reward: float | None = 1.0, **more: Any
    ) -> Path:
        folder = tmp_path / "jobs" / "2026-11-16__20-07-19" / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"trial_name": name}))
        result: dict[str, Any] = {
            "task_name": f"m3bench/{task}",
            "trial_name": name,
            "agent_info": {"name": agent, "version": "2.1.0", "model_info": {"name": "m-1", "provider": "acme"}},
            "agent_result": {"n_input_tokens": 1200, "n_cache_tokens": 7, "n_output_tokens": 34, "cost_usd": 0.25},
            "verifier_result": None if reward is None else {"rewards": {"reward": reward, "solved": reward}},
            "exception_info": None,
            "started_at": "2026-11-16T20:07:22.508377Z",
            "agent_execution": {"started_at": "2026-11-16T20:08:00Z", "finished_at": "2026-11-16T20:08:12.5Z"},
        }
        (folder / "result.json").write_text(json.dumps({**result, **more}))
        shutil.copytree(solved.verdict, folder / "artifacts" / "verdict")
        return folder

    return added


@pytest.fixture
def imported(tmp_path: Path, harbor_set: Path) -> Callable[[], tuple[int, dict[str, Any]]]:
    """Runs the command; its exit code and what it told."""

    def run() -> tuple[int, dict[str, Any]]:
        command = ["lab", "harbor", "import", str(tmp_path / "jobs"), "-o", str(tmp_path / "results"), "--json"]
        done = CliRunner().invoke(app, [*command, "--set", str(harbor_set)])
        assert done.exit_code in (0, 1), done.exception
        return done.exit_code, json.loads(done.stdout)

    return run


Imported = Callable[[], tuple[int, dict[str, Any]]]


def left_out(told: dict[str, Any]) -> dict[str, str]:
    return {Path(one["trial"]).name: one["why"] for one in told["left_out"]}


def idle(folder: Path) -> None:
    (folder / "artifacts/verdict" / BUNDLE).unlink()
    said = {"task": "sum-1", "state": "none"}
    (folder / "artifacts/verdict" / COLLECTED).write_text(json.dumps(said))


@pytest.mark.slow
def test_a_trial_is_a_run_with_its_agent_model_and_tokens(add: Add, imported: Imported, tmp_path: Path) -> None:
    add("sum-1__a")
    code, told = imported()
    assert (code, told["left_out"]) == (0, [])
    found = read_resultset(Path(told["sets"][0]["path"]))
    assert (found.header.name, found.header.kind, found.header.profile) == ("claude-code acme/m-1", "client", "task")
    result = found.results[0]
    assert (result.sample.usage.input_tokens, result.sample.usage.output_tokens) == (1200, 34)
    assert (result.sample.usage.cost, result.sample.seconds) == (0.25, 12.5)
    assert (result.card.average, result.card.success) == (1, True)
    board = CliRunner().invoke(app, ["leaderboard", told["sets"][0]["path"]])
    assert "claude-code acme/m-1" in board.stdout
    page = tmp_path / "page.html"
    assert CliRunner().invoke(app, ["report", told["sets"][0]["path"], "-o", str(page)]).exit_code == 0
    assert "claude-code acme/m-1" in page.read_text()


@pytest.mark.slow
def test_attempts_are_repeats_and_agents_are_sets(add: Add, imported: Imported) -> None:
    add("sum-1__a")
    idle(add("sum-1__b", reward=0.0))
    idle(add("sum-1__c", agent="codex", reward=0.0))
    code, told = imported()
    assert code == 0
    assert [(one["agent"], one["outcome"], one["reward"]) for one in told["trials"]] == [
        ("claude-code acme/m-1", "scored", 1.0),
        ("claude-code acme/m-1", "not submitted", 0.0),
        ("codex acme/m-1", "not submitted", 0.0),
    ]
    first, second = (read_resultset(Path(one["path"])) for one in told["sets"])
    assert [(result.sample.repeat, result.card.average) for result in first.results] == [(1, 1), (2, 0)]
    assert [result.card.average for result in second.results] == [0]


def test_a_trial_that_was_changed_is_named_and_missing_in_the_set(add: Add, imported: Imported) -> None:
    add("sum-1__a")
    add("sum-1__raised", reward=0.75)
    bundle = add("sum-1__forged") / "artifacts/verdict" / BUNDLE
    members = unpacked(bundle)
    run = run_of(members, "sum-1")
    change_json(members, f"{run}/card.json", lambda card: card["metrics"].update(recall=0.5))
    packed(members, bundle)
    code, told = imported()
    assert code == 1
    assert left_out(told).keys() == {"sum-1__raised", "sum-1__forged"}
    assert left_out(told)["sum-1__raised"] == "refuted: Harbor's reward is 0.75, and the record gives 1"
    assert left_out(told)["sum-1__forged"].startswith("refuted: bundle: hash of ")
    found = read_resultset(Path(told["sets"][0]["path"]))
    assert (len(found.results), len(found.missing)) == (1, 2)


def test_a_trial_that_did_not_end_is_named(add: Add, imported: Imported) -> None:
    add("sum-1__a")
    (add("sum-1__killed") / "result.json").unlink()
    (add("sum-1__torn") / "result.json").write_text("{")
    raised = {"exception_type": "AgentSetupTimeoutError", "exception_message": "no network\nat all"}
    shutil.rmtree(add("sum-1__setup", reward=None, exception_info=raised) / "artifacts")
    add("sum-1__unverified", reward=None)
    (add("sum-1__empty") / "artifacts/verdict" / COLLECTED).unlink()
    add("hello__other", task="hello-world")
    code, told = imported()
    assert code == 1
    said = left_out(told)
    assert said["sum-1__setup"] == "incomplete: AgentSetupTimeoutError: no network"
    assert "the trial did not end" in said["sum-1__killed"]
    assert "Invalid JSON" in said["sum-1__torn"]
    assert said["sum-1__unverified"] == "incomplete: Harbor has no reward (the verifier did not run)"
    assert "the server was not asked, or failed" in said["sum-1__empty"]
    assert said["hello__other"] == "incomplete: 'm3bench/hello-world' is no task of this set"
    assert len(said) == 6


def test_a_void_trial_counts_nowhere_and_is_shown(add: Add, imported: Imported) -> None:
    add("sum-1__a")
    folder = add("sum-1__void", reward=None) / "artifacts/verdict"
    said = json.loads((folder / COLLECTED).read_bytes())
    (folder / COLLECTED).write_text(json.dumps({**said, "state": "void", "reason": "the sandbox broke"}))
    code, told = imported()
    assert code == 0
    found = read_resultset(Path(told["sets"][0]["path"]))
    assert [(sample.repeat, sample.reason) for sample in found.void] == [(2, "the sandbox broke")]


def test_what_holds_no_trial_and_sets_that_are_there_are_said(
    add: Add, imported: Imported, tmp_path: Path, harbor_set: Path
) -> None:
    refused = CliRunner().invoke(app, ["lab", "harbor", "import", str(tmp_path), "-o", str(tmp_path / "results")])
    assert "holds no trial" in str(refused.exception)
    refused = CliRunner().invoke(
        app, ["lab", "harbor", "import", str(tmp_path / "no"), "-o", str(tmp_path / "results")]
    )
    assert "there is no such folder" in str(refused.exception)
    add("sum-1__a")
    _, told = imported()
    assert {Path(made["path"]) for made in told["sets"]} <= set(registered(Settings.of().data)), (
        "commands find its runs"
    )
    arguments = [str(tmp_path / "jobs"), "-o", str(tmp_path / "results"), "--set", str(harbor_set)]
    refused = CliRunner().invoke(app, ["lab", "harbor", "import", *arguments])
    assert "already exists: name another folder with -o" in str(refused.exception)
