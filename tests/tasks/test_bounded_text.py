"""No text that somebody hands in takes long to read."""

import random
import time

import pytest

from m3bench.server.runs.handin import lacking
from m3bench.tasks.answers.fields import Field
from m3bench.tasks.answers.reading import read
from m3bench.tasks.bounded_text import MOST_TEXT, bounded, bounded_value
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.task import Task

LENGTH = 200_000
PUMPS = (" ", "\n", " \n", "\t ", "1", "a", "|", "-", "*", "(", ".0", "1,", "- ", "x: ", "\u00b9", "<li>", "\u2190 ")


def families() -> list[Task]:
    tasks = {task.family: task for task in Library(BUNDLED).set.tasks if len(task.fields) > 1}
    return [tasks[family] for family in sorted(tasks)]


def seconds(task: Task, text: str) -> float:
    begun = time.thread_time()
    lacking(task, text, {task.fields[0].name: text})
    return time.thread_time() - begun


def test_runs_of_anything_are_read_in_no_time() -> None:
    (task, *_) = families()
    for pump in PUMPS:
        text = f"total{(pump * LENGTH)[:LENGTH]}!"
        assert seconds(task, text) < 1, repr(pump)


@pytest.mark.slow
def test_no_family_has_a_field_that_takes_long_to_read() -> None:
    dice = random.Random(1)
    noise = [
        "".join(dice.choice(letters) for _ in range(LENGTH)) for letters in (" \t", "ab ", "1.,", "|- ", "(\u2190)")
    ]
    for task in families():
        for text in (*((pump * LENGTH)[:LENGTH] for pump in PUMPS), *noise):
            assert seconds(task, f"{task.fields[0].name}: {text}") < 5, (task.family, text[:8])


def test_what_people_write_stays_as_it_is() -> None:
    for text in (
        "",
        "The total is 108.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n" * 20,
        "    indented\n\n\n\n- item",
        "-" * 60,
    ):
        assert bounded(text) == text
    assert len(bounded("ab1" * LENGTH)) < 200
    assert len(bounded("".join(random.Random(2).choice("abc") for _ in range(LENGTH)))) <= MOST_TEXT


def test_values_are_bounded_at_every_depth() -> None:
    deep: object = " " * LENGTH
    for _ in range(500):
        deep = [deep]
    assert bounded_value({"a": [" " * LENGTH, 1, None]}) == {"a": [" " * 40, 1, None]}
    assert "None" in str(bounded_value(deep))


def test_a_field_is_read_behind_many_spaces() -> None:
    field = Field.model_validate({"name": "total", "meaning": "the total", "value": {"type": "number", "value": 1}})
    assert read([field], f"{' ' * 5000}total: 1", None) == {"total": ["1"]}
