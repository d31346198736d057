"""The bundled tasks with fields, handed in as different people and models would: right in many ways, wrong in more."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks.answers.fields import (
    Choice,
    Date,
    Field,
    File,
    Integer,
    Items,
    Money,
    Name,
    Number,
    NumberPair,
    Table,
    Text,
    YesNo,
    judge,
    right_fields,
)
from m3bench.tasks.answers.reading import absent, read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task

TASKS = [task for task in Library().tasks.values() if task.fields]
NUMBERS = ", ".join(map(str, range(501)))

GOALS = 3
"""The first tasks of a family have all its goals; the others ask the same of other things."""

every_task = pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=task.id, marks=[pytest.mark.slow] * (int(task.id.rpartition("-")[2]) > GOALS))
        for task in TASKS
    ],
)


def said(task: Task) -> list[Field]:
    """The fields that are said; files are made."""
    return [field for field in task.fields if not isinstance(field.value, File)]


def solved(task: Task, prose: str, fields: dict[str, Any] | None) -> bool:
    found = judge(said(task), read(task.fields, prose, fields), Evidence(answer=prose, workspace=Path("nowhere")))
    return all(finding.passed for finding in found)


def label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def plain(value: Any) -> Any:
    """As somebody writes whose keyboard has no accents."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, str):
        return value
    return "".join(sign for sign in unicodedata.normalize("NFKD", value) if not unicodedata.combining(sign)).lower()


def typographic(value: Any) -> Any:
    """As a word processor writes."""
    if isinstance(value, dict):
        return {name: typographic(one) for name, one in value.items()}
    if isinstance(value, list):
        return [typographic(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and value > 999:
        return f"{value:,}".replace(",", "\u202f")
    return value.replace("'", "’").replace("-", "‑") if isinstance(value, str) else value


def right_ways(task: Task) -> Iterator[tuple[str, dict[str, Any] | None]]:
    fields = right_fields(said(task))
    lines = {field.name: field.value.said() for field in said(task)}
    yield "", fields
    yield "Here is what I found.", {name: str(line) for name, line in lines.items()}
    yield "", {label(name): value for name, value in fields.items()}
    yield f"```json\n{json.dumps(fields, indent=2, ensure_ascii=False)}\n```", None
    yield f"I am done. {json.dumps({'fields': fields})}", None
    yield task.answer, None
    yield "Sure!\n\n" + "\n".join(f"- **{label(name)}:** {line}" for name, line in lines.items()) + "\n\nBye", None
    yield "\n".join(f"{number}. {label(name)}: {line}" for number, (name, line) in enumerate(lines.items(), 1)), None
    yield "\n".join(f"`{name}` = {line}" for name, line in lines.items()), None
    yield "", plain(fields)
    yield "", typographic(fields)
    yield "", {field.name: chatty(field) for field in said(task)}


def chatty(field: Field) -> Any:
    """As a model writes that speaks in sentences."""
    if isinstance(field.value, Name | Number | Integer | Money | Choice | Date):
        return f"The {field.name.replace('_', ' ')} is **{field.value.said()}**."
    return field.value.given()


def wrong_values(field: Field) -> Iterator[Any]:
    value = field.value
    right: Any = value.given()
    yield from (None, "", "I do not know", "see above", NUMBERS, list(range(501)), {"value": [right, right, "x"]})
    match value:
        case Name():
            yield from (
                f"maybe {right}",
                f"not {right}",
                f"{right} or Atlantis",
                f"{right}?",
                "Atlantis",
                "none of them",
            )
            for other in value.others:
                yield from (other, f"{right} and {other}", f"{other}, not {right}", [right, other])
        case Choice():
            others = [option for option in value.options if option != value.value]
            yield from (*others, " or ".join(value.options), ", ".join(value.options), "all of them")
        case YesNo():
            yield from (not value.value, "yes and no", "perhaps")
        case Number() | Integer() | Money():
            more = value.value + max(1.0, getattr(value, "within", 0.0) * 2.1, abs(value.value) * 0.02)
            yield from (
                more,
                -value.value - 1,
                f"{right} or {more}",
                f"{right}-{more}",
                f"not {right}",
                f"under {right}",
            )
            yield from (f"1. {right} 2. {more}", [right, more], f"{right} or so, maybe {more}")
        case Date():
            year = int(value.value[:4])
            yield from (str(year - 1), f"{year} or {year + 1}", f"{year - 5} to {year}", f"before {year + 1}?")
        case NumberPair():
            yield from (
                [right[1], right[0]],
                [right[0]],
                [right[0] + 50, right[1]],
                f"{right[0]} or {right[1]}, {right[0]}",
            )
        case Items():
            yield from (right[1:], [*right, "Atlantis"])
            if len(right) > 1:
                yield str(right[0])
        case Table():
            yield from (right[1:], [*right, dict.fromkeys(value.columns, "x")])
            for column in value.columns[1:]:
                values = [row[column] for row in right]
                if len(set(map(str, values))) > 1:
                    yield [{**row, column: other} for row, other in zip(right, values[1:] + values[:1], strict=True)]
                yield [{**right[0], column: "unknown"}, *right[1:]]
        case Text():
            yield from ("It is a thing.", f"{value.value} " * 200)
            if len(value.value.split()) > 10:
                yield " ".join(one[0] for one in value.mentions[:3])


@pytest.mark.sample(16)
@every_task
def test_a_right_answer_is_right_in_every_style(task):
    refused = [way for way in right_ways(task) if not solved(task, *way)]
    assert refused == []
    assert absent(task.fields, read(task.fields, task.answer, None)) == []


@pytest.mark.all_sample(12)
@pytest.mark.sample(6)
@every_task
def test_one_wrong_field_is_not_solved(task):
    right = right_fields(said(task))
    accepted = [
        (field.name, wrong)
        for field in said(task)
        for wrong in wrong_values(field)
        if solved(task, "", {**right, field.name: wrong})
    ]
    assert accepted == []


@pytest.mark.all_sample(12)
@pytest.mark.sample(12)
@every_task
def test_templates_and_dumps_solve_nothing(task):
    family = [other for other in TASKS if other.family == task.family and other.id != task.id]
    everything = "\n".join(other.answer for other in TASKS if other.family == task.family)
    assert not any(solved(task, other.answer, right_fields(other.fields)) for other in family)
    for prose in ("", "done", task.question, NUMBERS, everything):
        assert not solved(task, prose, None)
    assert not solved(task, "", {field.name: NUMBERS for field in task.fields})
    assert not solved(task, "", {field.name: everything for field in task.fields})


@pytest.mark.sample(16)
@every_task
def test_what_is_shown_leaks_nothing(task):
    shown = json.dumps([field.shown() for field in task.fields], ensure_ascii=False)
    for field in said(task):
        if isinstance(field.value, Name):
            assert field.value.value not in shown
