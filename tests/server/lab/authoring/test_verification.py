"""A set is proved by playing it: references are held against the best schedule that their plans allow."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.lab.authoring.planning import play_plans
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.library import PLANS, Library, MadeLibrary
from m3bench.tasks.plan import Plan, Plans
from tests.sets import part, write_set

FIGURES = {"numbers": [4, 8, 15, 16, 23, 42]}
ONE_BY_ONE = [[{"tool": f"math/{name}", "arguments": FIGURES}] for name in ("median", "mean")]
"""Two calls in a row that have nothing to do with each other."""


def problems(folder: Path, steps: list[object], *, in_order: bool | None) -> list[str]:
    """What is wrong with a set of one task; its plan is not written down when nothing is said of its order."""
    path = write_set(folder) / "tasks.json"
    data = json.loads(path.read_bytes())
    (task,) = data["tasks"] = data["tasks"][:1]
    task["question"] = "What are the middle and the average of 4, 8, 15, 16, 23 and 42, and how far apart are they?"
    task["references"] = [{"steps": steps}]
    task["answer"] = "The median is 18, the mean 15.5.\n\n2.5"
    path.write_text(json.dumps(data))
    if in_order is not None:
        plans = anyio.run(partial(play_plans, Library(folder), InProcessBackend(), in_order=in_order))
        (folder / PLANS).write_bytes(Plans(plans=plans).to_json())
    found = anyio.run(partial(verify, Library(folder), InProcessBackend()))
    return [problem for problem in found if "effect" in problem or "steps" in problem or "plan" in problem]


def test_calls_that_could_go_together_are_not_written_in_a_row(tmp_path: Path) -> None:
    low, words = problems(tmp_path, [*ONE_BY_ONE], in_order=False)
    assert "'step_coherence': 0.5" in low
    assert "it takes 2 steps where its calls need 1: put calls together" in words


def test_together_they_are_as_good_as_can_be(tmp_path: Path) -> None:
    assert problems(tmp_path, [[*ONE_BY_ONE[0], *ONE_BY_ONE[1]]], in_order=False) == []


def test_an_author_may_say_that_each_step_follows_from_the_one_before(tmp_path: Path) -> None:
    assert problems(tmp_path, [*ONE_BY_ONE], in_order=True) == []


def test_a_set_without_plans_is_taken_as_it_is_written(tmp_path: Path) -> None:
    assert problems(tmp_path, [*ONE_BY_ONE], in_order=None) == []


def test_a_plan_that_is_not_what_playing_gives_is_found(tmp_path: Path) -> None:
    problems(tmp_path, [*ONE_BY_ONE], in_order=True)
    path = tmp_path / PLANS
    path.write_text(path.read_text().replace('"waits": [0]', '"needs": [0]'))
    found = anyio.run(partial(verify, Library(tmp_path), InProcessBackend()))
    assert any("its plan is not what playing it gives" in problem for problem in found)


@pytest.mark.slow
@pytest.mark.parametrize(("server", "may_differ"), [("ocr", True), ("wiki", False)])
def test_a_letter_that_an_engine_reads_otherwise_on_another_processor_is_no_fault(
    server: str, may_differ: bool
) -> None:
    library = Library()
    task = library.task("generate_powerpoint-1")
    made, (plan, *others) = part(library, [task]), library.plans(task)
    tools = [call.tool for call in task.references[0].trajectory.calls]
    calls = [
        call.model_copy(update={"result": "0123456789abcdef"}) if tool.startswith(f"{server}/") else call
        for call, tool in zip(plan.calls, tools, strict=True)
    ]
    assert calls != [*plan.calls]
    made = MadeLibrary(made.set, dict(made.files()), {task.id: (Plan(calls=tuple(calls)), *others)})
    found = anyio.run(partial(verify, made, InProcessBackend()))
    assert any("its plan is not" in problem for problem in found) is not may_differ
