"""The texts and tables of the task families, read from `tasks/data/families/NAME.toml`.

A file has `questions`, the ways to ask, by goal: what somebody may want to know of one of the family's pictures. Goals
differ in the plan that reaches them; a family with one goal lists its questions alone. `tables` is whatever else the
family chooses from. Line breaks in a question are for the reader of the file: any run of white space becomes one space.
Nothing is read before it is needed.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

FOLDER = files("m3bench.tasks") / "data" / "families"

Question = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
_OneGoal: TypeAlias = Annotated[tuple[Question, ...], Field(min_length=10)]
_Goals: TypeAlias = Annotated[dict[str, Annotated[tuple[Question, ...], Field(min_length=4)]], Field(min_length=2)]


class TableRow(BaseModel):
    """A row of a table, for families whose tables hold more than words."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: _OneGoal | _Goals
    tables: dict[str, object] = {}


def questions(family: str) -> dict[str, tuple[str, ...]]:
    """The ways to ask by goal, each in its own words; `{placeholders}` are filled from `Solution.given`."""
    found = _read(family).questions
    return found if isinstance(found, dict) else {"": found}


def tables(family: str) -> Mapping[str, object]:
    """What else the family chooses from, by name; its class declares what each table holds."""
    return _read(family).tables


@cache
def _read(family: str) -> _File:
    return _File.model_validate(tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8")))
