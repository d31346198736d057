"""Fields: the named, typed parts of what a task asks to be handed in.

A family states each field once, with its right value. What a client is shown, what the oracle hands in, what the prose
says and how a hand-in is judged all come from that one statement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Setting

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, is_nothing
from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.files import File
from m3bench.tasks.answers.groups import Items, Single, Table
from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.places import Coordinate, NumberPair
from m3bench.tasks.answers.quantity import Integer, Money, Number
from m3bench.tasks.answers.texts import Text
from m3bench.tasks.checks import Evidence, Finding
from m3bench.tasks.facts import Fact

AnyValue: TypeAlias = Annotated[Single | Items | Table | File, Setting(discriminator="type")]


class Field(BaseModel):
    """A named part of what is handed in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Setting(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=40)
    meaning: str = Setting(min_length=1, max_length=160)
    """One line that says what it is, as the question does."""
    value: AnyValue
    """What is right; hidden until the run is sealed."""
    compared: tuple[float, ...] = ()
    """Where the best of several is asked for: the number that decides, of the right one first, then of all others."""
    derived: tuple[Fact, ...] = ()
    """Facts that the value is computed from: whoever saw all of them could know it."""
    optional: bool = False
    """Whether it is to be left empty where the task has no answer."""
    absent: bool = False
    """Whether that is so here: then the value is what somebody gives who has not noticed."""

    def shown(self) -> dict[str, object]:
        """What a client is told of the field."""
        may = {"optional": True} if self.optional else {}
        return {"name": self.name, **self.value.shown(), "meaning": self.meaning, **may}

    @property
    def line(self) -> str:
        """What a client is told, in one line."""
        may = ", or null where there is no answer" if self.optional else ""
        return f"`{self.name}` ({self.value.described}{may}): {self.meaning}"


def right_fields(fields: Sequence[Field]) -> dict[str, JSON]:
    """What somebody who knows everything hands in."""
    return {field.name: None if field.absent else field.value.given() for field in fields}


def right_lines(fields: Sequence[Field]) -> str:
    """The same as labelled lines of prose."""
    return "\n".join(f"{field.name}: {'none' if field.absent else field.value.said()}" for field in fields)


def judge(fields: Sequence[Field], handed_in: Mapping[str, Sequence[JSON]], evidence: Evidence) -> list[Finding]:
    """Whether each field is right, in the task's order.

    Args:
        fields: The task's fields.
        handed_in: What was handed in for each, as `reading.read` gives it: every value must be right.
        evidence: What the run left behind.
    """
    names = [field.value for field in fields if isinstance(field.value, Name)]
    choices = [field.value for field in fields if isinstance(field.value, Choice)]
    right = {name.casefold() for value in names for name in (value.value, *value.aliases)}
    told = [field.value.value for field in fields if isinstance(field.value, YesNo)]
    asked = AnswerContext(
        evidence=evidence,
        rivals=(
            *(other for value in names for other in value.others if other.casefold() not in right),
            *(other for value in choices for other in value.options if other != value.value),
        ),
        enough=told[0] if len(told) == 1 else None,
    )
    return [_finding(field, handed_in.get(field.name, ()), asked) for field in fields]


def _finding(field: Field, values: Sequence[JSON], asked: AnswerContext) -> Finding:
    if field.absent:
        given = next((value for value in values if not is_nothing(value)), None)
        said = "" if given is None else "there is no answer, and one was given"
        return Finding(check=field.name, passed=given is None, reason=said)
    asked = replace(asked, words=f"{field.name} {field.meaning}")
    for given in values or (None,):
        try:
            reason = field.value.problem(given, asked)
        except Exception as error:  # whatever a client's value or file makes a library raise
            reason = f"it could not be read ({type(error).__name__})"
        if reason:
            return Finding(check=field.name, passed=False, reason=reason)
    return Finding(check=field.name, passed=True)


__all__ = [
    "AnyValue", "Choice", "Code", "Coordinate", "Date", "Field", "File", "Integer", "Items", "Money", "Name", "Number",
    "NumberPair", "Phone", "Table", "Text", "Time", "Value", "Version", "YesNo", "judge", "right_fields", "right_lines",
]  # fmt: skip
