"""Trainers of others play our episodes, each in an environment of its own, and get the rewards that we compute."""

import json
import os
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from m3bench.server.clients.trial.conversation import Called
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import TrialScript, turns_of
from m3bench.tasks.library import Library
from tests.clients.frameworks.frameworks import NotInstalled, installed
from tests.house import ROOT
from tests.server.lab.training.playing import serving_openenv

TRAINERS = ROOT / "trainers"
TASK = "barcode_lookup-1"
WEIGHTS = {"solved": 1.0, "format": 0.5, "budget": 0.25}
STEPS = 4
SECONDS = 900
EXTRA = Called(name="math__add", arguments={"firstNumber": 1, "secondNumber": 2})

pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    weights = [word for part, weight in WEIGHTS.items() for word in ("--reward", f"{part}={weight}")]
    with serving_openenv(*weights) as url:
        yield url


def python_with(*packages: str) -> Path:
    """The Python of an environment with these packages."""
    try:
        return installed(packages[0], packages)
    except NotInstalled as error:
        pytest.skip(str(error))


def run(command: list[str | Path], folder: Path, path: Path) -> str:
    """What a program prints."""
    env = {**os.environ, "PYTHONPATH": str(path), "HOME": str(folder), "NO_KEY": "none"}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of that name, as the programs of trainers import it."""
    monkeypatch.syspath_prepend(str(TRAINERS))
    return import_module("words")


@pytest.mark.parametrize("extra", [0, 3])
def test_verifiers_own_evaluation_gives_our_rewards(server: str, words: ModuleType, tmp_path: Path, extra: int) -> None:
    python = python_with("verifiers==0.4.0")
    turns = [(EXTRA,)] * extra + list(turns_of(Library().task(TASK))[1:-1])
    script = TrialScript(turns, str)
    script.turns = script.turns[1:]
    weights = [word for part, weight in WEIGHTS.items() for word in (f"--env.taskset.task.reward.{part}", str(weight))]
    with Model(script.answer, think=0) as model:
        run(
            [
                python.with_name("vf-eval"), "m3bench-verifiers", "--model", "scripted", "--client.base-url",
                f"{model.url}/v1", "--client.api-key-var", "NO_KEY", "--env.taskset.task.url", server,
                "--env.taskset.family", "barcode_lookup", "-n", "1", "-r", "2", "--no-rich", "--no-push",
                "--run.name", "tried", "-o", tmp_path, *weights,
            ],
            tmp_path, TRAINERS / "verifiers",
        )  # fmt: skip
        assert any(request.pictures for request in model.requests)
    lines = (tmp_path / "tried" / "traces.jsonl").read_text().splitlines()
    traces = [trace for line in lines for trace in traces_of(json.loads(line))]
    episode = words.Episode(server, TASK)
    played = [
        episode.act({"calls": [{"name": call.name, "arguments": call.arguments}]}) for turn in turns for call in turn
    ]
    assert played[-1].done
    assert len(traces) == 2
    for trace in traces:
        assert trace["errors"] == []
        rewards = trace["rewards"]
        assert {name: reward["score"] for name, reward in rewards.items()} == played[-1].parts
        total = sum(reward["score"] * reward["weight"] for reward in rewards.values())
        assert total == pytest.approx(sum(turn.reward for turn in played))
        assert trace["metrics"]["submitted"] == 1


def traces_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The traces in a line of verifiers' file."""
    found: list[dict[str, Any]] = line.get("traces", [line])
    return found


def test_trl_trains_on_episodes(server: str, words: ModuleType, tmp_path: Path) -> None:
    python = python_with("trl==1.16.0", "torch==2.13.0")
    program = TRAINERS / "train_trl.py"
    printed = run(
        [python, program, server, "--split", "test", "--steps", str(STEPS), "-o", tmp_path], tmp_path, TRAINERS
    )
    steps = [json.loads(line) for line in printed.splitlines() if line.startswith('{"step"')]
    assert len(steps) == STEPS
    rewards = [reward for step in steps for reward in step["rewards"]]
    assert all(-0.75 <= reward <= 1 for reward in rewards)
    assert any(len(set(step["rewards"])) > 1 and step["gradient"] > 0 for step in steps)
    assert all(step["gradient"] == 0 for step in steps if len(set(step["rewards"])) == 1)
    episode = words.Episode(server, steps[0]["tasks"][0])
    said = [word for word in steps[0]["completions"][0].split() if word in words.WORDS]
    assert sum(turn.reward for turn in words.play(episode, said)) == pytest.approx(steps[0]["rewards"][0])


def test_skyrl_trains_on_turns(server: str, tmp_path: Path) -> None:
    python = python_with("skyrl-gym==0.4.0", "torch==2.13.0")
    program = TRAINERS / "train_skyrl.py"
    printed = run([python, program, server, "--split", "test", "--steps", str(STEPS)], tmp_path, TRAINERS)
    steps = [json.loads(line) for line in printed.splitlines()]
    assert [step["episodes"] for step in steps] == [8] * STEPS
    assert all(-0.75 <= step["reward"] <= 1 for step in steps)
    assert any(step["gradient"] > 0 for step in steps)
