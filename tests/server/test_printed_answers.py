"""What pictures of the bundled set give away: no answer but those that are listed, and no label but everyday ones."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image

from m3bench.sandboxes.ocr import find_engine, prepare
from m3bench.tasks.answers.fields import Choice, File
from m3bench.tasks.folding import fold
from m3bench.tasks.library import Library
from m3bench.tasks.render.canvas import vocabulary
from m3bench.tasks.task import Task

LIBRARY = Library()
LISTED = {
    (family, field)
    for family, fields in tomllib.loads(Path(__file__).with_name("printed_answers.toml").read_text("utf-8")).items()
    for field in fields
}
FAMILIES = sorted({task.family for task in LIBRARY.set.tasks})


def words(text: object) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:\.[0-9]+)?", fold(str(text)))


def values(given: Any) -> Iterator[Any]:
    """Every single value in what is handed in for a field."""
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, list | tuple):
        for one in given:
            yield from values(one)
    elif given is not None:
        yield given


def printed(task: Task, text: str) -> set[tuple[str, str]]:
    """The fields of which a right value stands in a text; not files, nor choices that the question lists."""
    line = f" {' '.join(words(text))} "
    return {
        (task.family, field.name)
        for field in task.fields
        if not isinstance(field.value, File | Choice)
        for value in values(field.value.given())
        if words(value) and f" {' '.join(words(value))} " in line
    }


@cache
def written() -> frozenset[tuple[str, str]]:
    """The fields of which a right value is written in the picture, by what was put there."""
    return frozenset(
        found
        for task in LIBRARY.set.tasks
        for found in printed(task, "\n".join(text.text for scene in LIBRARY.scenes(task) for text in scene.texts))
    )


def test_no_picture_prints_the_answer_to_its_own_question() -> None:
    assert sorted(written() - LISTED) == []


def test_every_exception_is_one() -> None:
    assert sorted(LISTED - written()) == []


@pytest.mark.all_sample(3)
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_more_is_read_than_what_was_written(family: str) -> None:
    task = LIBRARY.task(f"{family}-1")
    with Image.open(BytesIO(LIBRARY.picture(task.pictures[0]))) as picture:
        prepared = prepare(picture.convert("RGB"))
    text = anyio.run(find_engine().read, prepared, "eng", ["--oem", "3", "--psm", "6"])
    assert sorted(printed(task, text) - LISTED) == []


def test_the_detector_has_a_word_for_everything_that_is_noted() -> None:
    labels = {item.label for task in LIBRARY.set.tasks for scene in LIBRARY.scenes(task) for item in scene.objects}
    assert sorted(labels - vocabulary()) == []
