"""`m3bench lab items`: what sets say about tasks, a short form that `run` takes, and sets placed by it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.server.lab.headless.plan import listed_ids
from m3bench.server.lab.reports.item_analysis import analyse
from m3bench.server.lab.results.resultset import read_header
from m3bench.server.lab.studies.plan_file import read_plan
from m3bench.tasks.errors import InputFileError, UserError
from tests.server.lab.reports.made_sets import made_set


def m3bench(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def played(task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two result sets of baselines."""
    folder = tmp_path_factory.mktemp("played")
    common = ["run", "--tasks", task_set, "--sandbox", "inprocess", "--profile", "task", "--agent"]
    for agent in ("oracle", "null"):
        done = m3bench(*common, agent, "-o", folder / agent)
        assert done.exit_code == 0, done.output
    return folder


def test_two_sets_say_what_is_solved_and_what_cannot_be_told(played: Path, tmp_path: Path) -> None:
    done = m3bench("lab", "items", played)
    assert done.exit_code == 0, done.output
    assert "survey-1" in done.stdout
    assert "From 2 result sets neither difficulty nor discrimination can be estimated" in done.stderr
    document = json.loads(m3bench("lab", "items", played, "--json").stdout)
    assert {(item["difficulty"], item["discrimination"]) for item in document["items"]} == {(None, None)}
    assert (document["short"], document["placed"]) == (None, [])
    refused = m3bench("lab", "items", played, "-o", tmp_path / "short.txt")
    assert isinstance(refused.exception, UserError)
    assert not (tmp_path / "short.txt").exists()
    alone = m3bench("lab", "items", played / "null", "--place", played / "oracle")
    assert "Placing a set takes at least 4 others" in str(alone.exception)


def test_the_ids_of_a_file_are_what_run_plays(task_set: Path, tmp_path: Path) -> None:
    listed = tmp_path / "short.txt"
    listed.write_text("# a short form\nsum-1  # the easy one\n\n")
    common = ["run", "--tasks", task_set, "--sandbox", "inprocess", "--profile", "task", "--agent", "null"]
    assert m3bench(*common, "--task", f"@{listed}", "-o", tmp_path / "out").exit_code == 0
    assert read_header(tmp_path / "out").tasks == ("sum-1",)
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps({"agents": ["null"], "sets": [{"tasks": str(task_set), "ids": ["@short.txt"]}]}))
    assert read_plan(plan).sets[0].ids == ("sum-1",)
    with pytest.raises(InputFileError, match="cannot be read"):
        listed_ids(["@nowhere.txt"], tmp_path)
    listed.write_text("# nothing\n")
    with pytest.raises(InputFileError, match="names no task"):
        listed_ids(["sum-1", f"@{listed}"])


def test_enough_sets_give_items_a_short_form_with_its_error_and_a_place() -> None:
    sets = [made_set(f"set {number}", 112, skill=0.72 + 0.02 * number) for number in range(12)]
    found = analyse(sets, 28)
    assert found.short is not None
    assert (len(found.short.tasks), found.short.families) == (28, 28)
    accuracy = found.short.accuracy
    assert accuracy.keys() == {"solved", "average"}
    assert 0 < accuracy["average"].error < accuracy["solved"].error < 0.15
    abilities = [known.ability.value for known in found.sets if known.ability is not None]
    assert len(abilities) == 12
    assert abilities[0] < abilities[-1]
    assert json.loads(json.dumps(found.to_json()))["short"]["accuracy"]["solved"]["orders"]["pairs"] == 66
    assert not any("result sets neither" in note for note in found.notes)

    newcomer = made_set("new", 28, skill=0.9)
    (by_solved, by_average) = analyse(sets, 28, [newcomer]).placed
    assert (by_solved.number, by_average.number, by_solved.tasks) == ("solved", "average", 28)
    assert by_solved.interval.low < by_solved.predicted < by_solved.interval.high
    assert 1 <= by_solved.places[0] <= by_solved.places[1] <= 13


def test_few_sets_and_few_tasks_are_said() -> None:
    sets = [made_set(f"set {number}", 30, skill=0.6 + 0.1 * number) for number in range(4)]
    found = analyse(sets)
    assert found.short is None
    assert any("With 4 sets" in note for note in found.notes)
    assert any("There is no short form: the sets have 30 tasks" in note for note in found.notes)
