"""What models can do is known before anything is paid for, and cells follow it and say so."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ContentImage, ContentText
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.headless.inspect_task import prompt
from m3bench.server.lab.results.comparability import differences
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.lab.studies.abilities import adapted, not_known
from m3bench.server.lab.studies.cells import Cell, cells_of
from m3bench.server.lab.studies.plan_file import StudyPlan, read_plan
from m3bench.tasks.library import Library
from tests.server.lab.headless.scripts import NUMBERS, three_tasks, write_script


def planned(folder: Path, model: str, profiles: tuple[str, ...] = ("full",), **can: Any) -> StudyPlan:
    tasks = three_tasks(folder / "set")
    path = folder / "plan.yaml"
    path.write_text(json.dumps({
        "models": [{"model": model, "name": "it", "can": can}], "profiles": profiles, "solvers": ["react", "executor"],
        "sets": [{"name": "small", "tasks": str(tasks)}],
    }))  # fmt: skip
    return read_plan(path)


def cells(folder: Path, model: str, profiles: tuple[str, ...] = ("full",), **can: Any) -> dict[str, Cell]:
    return {cell.name: cell for cell in adapted(cells_of(planned(folder, model, profiles, **can)))}


def test_a_profile_with_more_tools_than_the_provider_takes_becomes_a_narrower_one(tmp_path: Path) -> None:
    found = cells(tmp_path, "openai/gpt-4o")
    assert list(found) == ["it.react.standard.small", "it.executor.full.small"], "the executor shows no list of tools"
    react = found["it.react.standard.small"]
    assert (react.choice.profile, react.choice.folder.name, react.choice.name) == ("standard", react.name, react.name)
    (note,) = react.notes
    assert "the model takes 128" in note
    assert "played with the profile standard" in note
    assert found["it.executor.full.small"].notes == ()


def test_two_profiles_that_become_one_are_played_once(tmp_path: Path) -> None:
    found = cells(tmp_path, "openai/gpt-4o", ("standard", "full"))
    assert sorted(found) == ["it.executor.full.small", "it.executor.standard.small", "it.react.standard.small"]
    assert found["it.react.standard.small"].notes[-1].startswith("stands for it.react.full.small too")


def test_a_list_of_tools_that_does_not_fit_into_the_window_becomes_a_shorter_one(tmp_path: Path) -> None:
    found = cells(tmp_path, "mockllm/model", context=20_000)
    assert {cell.choice.profile for cell in found.values()} == {"standard"}
    assert all("the window has 20,000" in cell.notes[0] for cell in found.values())
    small = cells(tmp_path / "smaller", "mockllm/model", context=5_000)
    assert {cell.choice.profile for cell in small.values()} == {"task"}
    assert all("its samples may be cut short" in cell.notes[1] for cell in small.values())
    already = cells(tmp_path / "already", "mockllm/model", ("task",), context=5_000)
    assert all("the window has 5,000; even that" in cell.notes[0] for cell in already.values())


def test_a_model_without_calls_writes_them_and_takes_any_number_of_tools(tmp_path: Path) -> None:
    found = cells(tmp_path, "openai/gpt-4o", tools=False, context=10**6)
    assert list(found) == ["it.react.full.small", "it.executor.full.small"]
    for cell in found.values():
        assert cell.options is not None
        assert cell.options.calling == cell.choice.options["calling"] == "text"


def test_what_nobody_knows_changes_nothing_and_is_named(tmp_path: Path) -> None:
    plan = planned(tmp_path, "mockllm/model")
    assert adapted(cells_of(plan)) == cells_of(plan)
    assert not_known(plan.models[0]) == ["tools", "vision", "context"]
    assert not_known(plan.models[0].model_copy(update={"model": "openai/gpt-4o"})) == ["tools", "vision"]


def test_a_model_that_sees_nothing_is_told_so_and_where_the_picture_lies(tmp_path: Path) -> None:
    library = Library(three_tasks(tmp_path / "set"))
    task = next(task for task in library.tasks.values() if task.pictures)
    (told,) = prompt(library, task, 9, sighted=False)
    assert isinstance(told, ContentText)
    assert "cannot be shown to you" in told.text
    assert f"./media/{task.pictures[0]}" in told.text
    assert isinstance(prompt(library, task, 9)[1], ContentImage)


def said(**what: Any) -> dict[str, str]:
    return {"text": f"So:\n```json\n{json.dumps(what)}\n```"}


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


@pytest.mark.slow
def test_calls_in_text_are_played_like_others_and_those_without_sight_are_ranked_apart(tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    right = [
        said(calls=[called("math__median", numbers=NUMBERS), called("math__mean", numbers=NUMBERS)]),
        {"text": '{"calls": [{"tool": "math__subtract", '},
        said(calls=[called("math__subtract", minuend=18, subtrahend=15.5)]),
        said(answer="They differ by 2.5."),
    ]
    script = {"survey-1": right, "sum-1": [{"text": "I cannot."}], "sum-2": [said(calls=[])] * 5}
    model = write_script(tmp_path / "script.json", script)
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps({
        "name": "made", "profiles": ["task"], "sandbox": "inprocess", "limits": {"max_steps": 5},
        "models": [
            {"model": model, "name": "sees", "can": {"tools": False, "vision": True}},
            {"model": model, "name": "blind", "can": {"tools": False, "vision": False}},
        ],
        "sets": [{"name": "small", "tasks": str(tasks)}],
    }))  # fmt: skip
    dry = CliRunner().invoke(app, ["lab", "study", str(path), "--dry-run", "--json"])
    notes = {cell["cell"]: cell["notes"] for cell in json.loads(dry.stdout)["cells"]}
    assert [len(found) for found in notes.values()] == [1, 2]
    command = [sys.executable, "-m", "m3bench.server.cli", "lab", "study", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "blind.react.task.small: the model sees no pictures" in done.stderr
    sets = [read_resultset(tmp_path / "made" / name) for name in notes]
    for one in sets:
        results = {result.sample.task: result for result in one.results}
        assert results["survey-1"].card.success is True
        assert results["survey-1"].run.answer == "They differ by 2.5."
        assert results["survey-1"].card.metrics["recall"] == 1.0
        assert results["survey-1"].card.outcomes == {"illegal_format": 1, "success": 3}
        assert results["sum-1"].run.answer == "I cannot."
    assert [line.partition(" is ")[0] for line in differences(sets)] == ["sight"]
