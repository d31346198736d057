"""A question that can be read in two ways is found, and the bundled sets have none."""

import dataclasses

import pytest

from m3bench.server.lab.authoring.ambiguity import ambiguities
from m3bench.tasks.library import SETS, Library

M3 = Library()


@pytest.mark.parametrize(
    ("task", "question", "word"),
    [
        ("routine-1", "How many minutes and km is the tour he dotted in, three stops, no supermarket?", "starts"),
        ("biology_cut-2", "Which animal fills the largest area of this scene, and which the smallest?", "area"),
        ("routine-1", "Below 19 degrees he drives. How far is it from the house?", "degrees"),
    ],
)
def test_a_question_with_two_readings_is_found(task, question, word):
    asked = M3.task(task).model_copy(update={"question": question})
    assert [said for said in ambiguities(asked, M3.scenes(asked)) if word in said]


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


@pytest.mark.parametrize("name", ["m3", "snapshots", "studio", "recordings", "desk"])
def test_the_bundled_sets_have_no_such_question(name):
    library = Library(SETS / name)
    found = {task.id: said for task in library.set.tasks if (said := list(ambiguities(task, library.scenes(task))))}
    assert found == {}
