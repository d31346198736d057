"""A question that can be read in two ways is found, and the bundled sets have none."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.authoring.lint import ambiguities, needless
from m3bench.tasks.library import SETS, Library
from m3bench.tasks.plan import Plan, PlannedCall
from m3bench.tasks.task import Task
from tests.photographs import photographs

M3 = Library()


@pytest.mark.parametrize(
    ("task", "question", "word"),
    [
        ("routine-1", "How many minutes and km is the tour he dotted in, three stops, no supermarket?", "starts"),
        ("biology_cut-2", "Which animal fills the largest area of this scene, and which the smallest?", "area"),
        ("routine-1", "Below 19 degrees he drives. How far is it from the house?", "degrees"),
        ("routine-1", "How many of them fit on 2 tons of sand?", "readings"),
        ("routine-1", "How far does he get from the house with 3 gallons?", "readings"),
        ("routine-1", "How was the air at the house on 03/04/2025?", "two readings"),
    ],
)
def test_a_question_with_two_readings_is_found(task, question, word):
    asked = M3.task(task).model_copy(update={"question": question})
    assert [said for said in ambiguities(asked, M3.scenes(asked)) if word in said]


@pytest.mark.parametrize(
    "word", ["2 metric tons", "3 US gallons", "on 13/04/2025", "on 04/04/2025", "2 tonnes", "60 dollars"]
)
def test_a_unit_or_day_with_one_reading_is_none(word):
    asked = M3.task("routine-1").model_copy(update={"question": f"How far does he get from the house with {word}?"})
    assert list(ambiguities(asked, [])) == []


def test_an_order_that_hangs_on_edges_or_centres_is_found():
    task = next(
        task
        for task in M3.set.tasks
        if task.family == "biology_cut" and "left to right" in " ".join(task.question.split())
    )
    (scene,) = M3.scenes(task)
    wide = dataclasses.replace(
        scene,
        objects=tuple(
            dataclasses.replace(thing, box=(number * 10, 0, number * 10 + 900 - number * 100, 90))
            for number, thing in enumerate(scene.objects)
        ),
    )
    assert list(ambiguities(task, [scene])) == []
    assert list(ambiguities(task, [wide]))
    down = task.model_copy(update={"question": task.question.replace("left to right", "top to bottom")})
    turned = [dataclasses.replace(thing, box=(0, thing.box[0], 90, thing.box[2])) for thing in wide.objects]
    assert [said for said in ambiguities(down, [dataclasses.replace(wide, objects=tuple(turned))]) if "bottom" in said]


@pytest.mark.parametrize("name", ["m3", "snapshots", "studio", "recordings", "desk"])
def test_the_bundled_sets_have_no_such_question(name):
    library = Library(SETS / name)
    found = {task.id: said for task in library.set.tasks if (said := list(ambiguities(task, library.scenes(task))))}
    assert found == {}


TOWER: dict[str, Any] = {
    "id": "tower-1", "family": "tower", "question": "In which year was the Eiffel Tower opened?",
    "wording": "Look the tower up.", "pictures": ["fish.png"], "servers": ["wiki"], "difficulty": "easy",
    "answer": "It was opened in 1889.",
    "references": [{"steps": [[{"tool": "wiki/summary", "arguments": {"title": "Eiffel Tower"}}]]}],
    "fields": [{"name": "year", "meaning": "the year", "value": {"type": "integer", "value": 1889}}],
}  # fmt: skip
"""A task over a picture of a fish."""

LOOKING: Any = [{"steps": [[{"tool": "ocr/perform_ocr", "arguments": {"image_path": "./media/fish.png"}}],
                           *TOWER["references"][0]["steps"]]}]  # fmt: skip
"""A reference that looks at the picture and makes nothing of it."""


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, True),
        ({"question": "In which year was this building opened?"}, False),
        ({"fields": [*TOWER["fields"], {"name": "fish", "meaning": "how many fish there are",
                                        "value": {"type": "integer", "value": 17}}]}, False),
        ({"references": LOOKING}, True),
        ({"references": LOOKING, "question": "In which year was this building opened?"}, False),
        ({"references": LOOKING, "fields": [{"name": "shown", "meaning": "whether it is shown",
                                             "value": {"type": "yes_no", "value": True}}]}, False),
    ],
)  # fmt: skip
def test_a_task_whose_picture_nobody_needs_is_refused(change: dict[str, Any], refused: bool) -> None:
    task = Task.model_validate({**TOWER, **change})
    calls = [call for step in task.references[0].steps for call in step]
    plan = Plan(calls=tuple(PlannedCall(gives=(1889.0,), new=1, result="x") for _ in calls))
    assert needless(task, [plan]) is refused
    assert needless(task, [Plan(calls=tuple(PlannedCall() for _ in calls))]) is False, "nobody has played it"


@pytest.mark.all_sample(2)
@pytest.mark.parametrize("name", ["m3", "desk", "recordings", "snapshots", "studio", "photos"])
def test_every_task_that_is_shipped_needs_its_picture(name: str) -> None:
    library = photographs() if name == "photos" else Library(Path(name))
    assert [task.id for task in library.tasks.values() if needless(task, library.plans(task))] == []
