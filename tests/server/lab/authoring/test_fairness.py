"""Unfair instances are found: those that the first set had, and each kind of them where a task states fields."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.authoring.fairness import unfair, unfair_together
from m3bench.tasks.answers.fields import Choice, Date, Field, Integer, Name, Number
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.scene import Scene, SceneText
from m3bench.tasks.task import Reference, Task, TaskSet
from tests.sets import PICTURE

OLD = json.loads((Path(__file__).parent / "data" / "degenerate.json").read_text("utf-8"))
FAIR = {"movies-3", "heatmap-1", "qr_attraction-2", "class_demand-1", "research_station-1"}


def library(*tasks: Task | dict[str, Any], written: list[str] | None = None) -> MadeLibrary:
    made = TaskSet.model_validate({"schema": 1, "name": "x", "version": "1", "tasks": tasks})
    texts = [SceneText(text=text, box=(0, 0, 1, 1)) for text in written or []]
    scene = json.dumps(Scene.of(PICTURE, texts=texts).to_json()).encode()
    return MadeLibrary(made, {f"scenes/{name}.json": scene for task in made.tasks for name in task.pictures})


@pytest.mark.parametrize("old", OLD, ids=lambda old: old["task"]["id"])
def test_the_degenerate_instances_of_the_first_set_are_found_and_fair_ones_are_not(old):
    found = library(old["task"], written=old["written"])
    (task,) = found.tasks.values()
    assert bool(list(unfair(task, found))) is (task.id not in FAIR)


def task(*fields: Field, question: str = "Which is it?", id: str = "a-1") -> Task:
    lines = "\n".join(f"{field.name}: {field.value.said()}" for field in fields)
    return Task(
        id=id, family="a", question=question, wording="", pictures=("a.png",), servers=(), answer=lines,
        references=(Reference(steps=()),), fields=fields,
    )  # fmt: skip


CITY = Field(name="city", meaning="where it is", value=Name(value="Porto", aliases=("Oporto",)))
TEN = Field(name="rooms", meaning="how many rooms there are", value=Integer(value=10))
BEST = Field(name="best", meaning="the best of them", value=Name(value="Porto"), compared=(9.0, 8.0))


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (task(CITY, TEN), None),
        (task(BEST), None),
        (task(BEST.model_copy(update={"compared": (9.0, 9.0)})), "tie"),
        (task(BEST.model_copy(update={"compared": (9.0, 8.99)})), "too close"),
        (task(BEST.model_copy(update={"compared": (8.0, 9.0, 7.0)})), "tie or too close"),
        (task(BEST.model_copy(update={"compared": ()})), "does not say what was compared"),
        (task(CITY, CITY.model_copy(update={"name": "town"})), "have one value"),
        (task(TEN, TEN.model_copy(update={"name": "beds"})), "have one value"),
        (task(CITY, question="How many rooms are there in Oporto?"), "read off the question"),
        (task(TEN, question="Are these ten rooms?"), "read off the question"),
        (task(CITY.model_copy(update={"meaning": "the city, which is Porto"})), "says its own value"),
        (task(Field(name="side", meaning="which side", value=Choice(options=("left",), value="left"))), "no choice"),
        (task(CITY, TEN).model_copy(update={"answer": "It is in Porto."}), "does not give every field"),
    ],
)  # fmt: skip
def test_each_kind_of_unfair_task_is_found(made, problem):
    found = list(unfair(made, library(made)))
    assert found == [] if problem is None else any(problem in one for one in found), found


def test_a_task_that_the_answer_to_another_one_solves_is_found():
    year = Field(name="year", meaning="when", value=Date(value="1999", precision="year"))
    tall = Field(name="height", meaning="how tall", value=Number(value=300.0, within=5, unit="m"))
    near = tall.model_copy(update={"value": Number(value=302.0, unit="m")})
    one, other, third = task(year, tall), task(year, near, id="a-2"), task(year, TEN, id="a-3")
    assert list(unfair_together(library(one, other, third))) == ["a-1: the answer to a-2 solves it"]
