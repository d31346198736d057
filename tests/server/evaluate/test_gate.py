"""The release gate: it lets a sound set through and stops one on which scores are worth nothing."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.evaluate.gate import FLOORS, GRADES, PLAYED, Scores, Verdict, judge
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task
from tests.sets import write_set

TASKS = tuple(Library().tasks.values())
SOUND = dict(zip(GRADES, (1.0, 0.98, 0.9, 0.8, 0.58, 0.2, 0.1, 0.0), strict=True))
NARROW, WIDE = "barcode_lookup", "drug"


def tasks(*families: str) -> list[Task]:
    """The first two tasks of some families."""
    return [task for task in TASKS if task.family in families and task.id.endswith(("-1", "-2"))]


def judged(
    given: Mapping[str, float] = {},
    *,
    families: tuple[str, ...] = (NARROW,),
    whole: bool = True,
    whose: str = "sibling",
    **fields: Any,
) -> Verdict:
    """The verdict on a set on which agents get what is given, and otherwise what they should."""
    scores = [
        Scores(
            agent=agent,
            averages={family: [given.get(agent, SOUND.get(agent, 0.1))] * 2 for family in families},
            solved=0,
            imperfect=(),
            unplayed=0,
        )
        for agent in PLAYED
    ]
    scores = [replace(one, **fields) if one.agent == whose else one for one in scores]
    return judge(tasks(*families), scores, whole=whole)


def test_a_sound_set_passes() -> None:
    verdict = judged()
    assert verdict.passed
    assert not verdict.exceptions
    assert [one["agent"] for one in verdict.to_json()["agents"]] == list(PLAYED)


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.agent)
def test_an_agent_above_its_floor_stops_the_set(floor: Any) -> None:
    assert judged({floor.agent: floor.mean}).passed
    problems = judged({floor.agent: floor.mean + 0.01}).problems
    assert problems == (f"{floor.agent}: {floor.mean + 0.01:.3f} on average, at most {floor.mean:.2f} is allowed",)


def test_some_families_alone_are_held_against_the_limit_of_a_family() -> None:
    assert judged({"sibling": 0.44}, whole=False).passed
    assert judged({"sibling": 0.46}, whole=False).problems == (
        "sibling: 0.460 in barcode_lookup, at most 0.45 is allowed",
    )


def test_an_agent_that_does_not_know_the_task_may_solve_none() -> None:
    assert judged(solved=1).problems == ("sibling: solved 1 tasks, none is allowed",)


def test_perfect_play_that_is_not_perfect_stops_the_set() -> None:
    assert "barcode_lookup-2" in judged(whose="oracle", imperfect=("barcode_lookup-2",)).problems[0]


def test_tasks_that_could_not_be_played_stop_the_set() -> None:
    assert "run the gate again" in judged(unplayed=3).problems[0]


@pytest.mark.parametrize("worse", range(1, len(GRADES)), ids=lambda place: GRADES[place])
def test_grades_that_are_equal_or_swapped_stop_the_set(worse: int) -> None:
    better = SOUND[GRADES[worse - 1]]
    for value in (better, better + 0.005):
        assert any(problem.startswith(NARROW) for problem in judged({GRADES[worse]: value}).problems)


def test_a_family_of_many_calls_in_few_steps_may_be_an_exception_and_says_why() -> None:
    swapped = {"oracle-serial": 0.88, "missing": 0.92}
    verdict = judged(swapped, families=(WIDE,))
    assert verdict.passed
    assert verdict.exceptions[WIDE].startswith("6 calls in 2 steps")
    lost = judged({"oracle-serial": 0.7, "missing": 0.72}, families=(WIDE,))
    assert not lost.passed, "serial play that loses more than coherence is no exception"
    twice = judged(swapped, families=(WIDE, "museum"))
    assert len(twice.exceptions) == 1
    assert not twice.passed


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["tasks", "gate", *arguments, "--sandbox", "inprocess", "--parallel", "1"])


def test_a_set_whose_tasks_are_all_the_same_does_not_pass(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    content = json.loads((folder / "tasks.json").read_text())
    first = content["tasks"][1] | {"answer": "It is 108."}
    content["tasks"] = [first, first | {"id": "sum-2"}]
    (folder / "tasks.json").write_text(json.dumps(content))
    done = run(str(folder), "-o", str(tmp_path / "out"))
    assert done.exit_code == 1, done.output
    for problem in (
        "sibling: 1.000 on average",
        "sibling: solved 2 tasks",
        "sums: oracle-serial gets 1.000, retry 0.917",
    ):
        assert problem in done.output
    before = {path: path.read_bytes() for path in (tmp_path / "out").glob("*/samples.jsonl")}
    assert len(before) == len(PLAYED)
    again = run(str(folder), "-o", str(tmp_path / "out"), "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout)["passed"] is False
    assert {path: path.read_bytes() for path in before} == before, "what was played is not played again"


@pytest.mark.slow
def test_a_family_of_the_bundled_set_passes(tmp_path: Path) -> None:
    done = run("--family", NARROW, "--limit", "3", "-o", str(tmp_path / "out"), "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["problems"], found["tasks"]) == (0, [], 3)
