"""What every type of value has in common: what a client is shown of it, and how a hand-in is compared with it."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict

from m3bench.tasks.answers.spelling import hedges
from m3bench.tasks.answers.statements import settled, unfenced
from m3bench.tasks.checks import Evidence
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

JSON: TypeAlias = object
"""What a client handed in: anything that JSON can hold."""

LONGEST = 4000
"""Characters of a value; nobody needs more to name a thing."""

_HEDGE_PHRASES = re.compile(r"\?|\brather than\b|\binstead of\b|\bone of\b|\bas well as\b|\bin case\b|\bn't\b|\s/\s")
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])([^\W_](?:[^*_\n]*[^\W_])?)\1(?![\w*_])")
_UNITS = ("unit", "units", "currency", "coin")
"""What objects call the unit of an amount."""
_NOTHING = frozenset(
    {"", "-", "[]", "{}", "n/a", "na", "none", "null", "nil", "unknown", "tbd", "?", "not available", "not found"}
)


@dataclass(frozen=True, kw_only=True)
class AnswerContext:
    """What else is known when a value is compared."""

    words: str = ""
    """The field's name and meaning: whoever repeats these words beside the value says nothing new."""
    evidence: Evidence | None = None
    """What the run left behind, for files."""
    rivals: tuple[str, ...] = ()
    """Things that are wrong for other fields of the task: what is said of one of them is not of what was asked for."""
    enough: bool | None = None
    """What another field says that asks for yes or no: whether something is left or missing."""


class Value(BaseModel, ABC):
    """A right value of one type. Only what `SHOWN` names may leave the server before a run is sealed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    SHOWN: ClassVar[tuple[str, ...]] = ()
    """Attributes that say what is asked for and not what is right."""

    @property
    def kind(self) -> str:
        """The name of its type."""
        return str(getattr(self, "type"))  # noqa: B009, every subclass has its own literal

    def shown(self) -> dict[str, object]:
        """What a client is told of the type."""
        told = {name: getattr(self, name) for name in self.SHOWN}
        return {"type": self.kind, **{name: value for name, value in told.items() if value not in (None, "", ())}}

    @property
    def described(self) -> str:
        """The type in words, for people and models."""
        return self.kind

    @abstractmethod
    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why what was handed in is not right; None when it is."""

    @abstractmethod
    def given(self) -> JSON:
        """The right value, as a client would hand it in."""

    def said(self) -> str:
        """The right value in a line of prose."""
        found = self.given()
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    @abstractmethod
    def facts(self) -> Iterator[Fact]:
        """What must have been seen by whoever knows the value."""


def as_text(given: JSON) -> str:
    """A value that should be a single one as text; empty when it is none."""
    if isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if isinstance(given, dict):
        beside = (*_UNITS, "type", *(("name",) if len(given) > 1 else ()))
        inner = [value for name, value in given.items() if fold(str(name)) not in beside]
        unit = next((str(value) for name, value in given.items() if fold(str(name)) in _UNITS), "")
        if len(inner) != 1 or isinstance(inner[0], dict | list):
            return ""
        return f"{as_text(inner[0])} {unit}".strip()
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, int | float):
        return repr(given) if isinstance(given, int) or abs(given) < 1e15 else ""
    if not isinstance(given, str) or len(given) > LONGEST:
        return ""
    return _undressed(given)


def called(given: JSON) -> JSON:
    """The name in an object that says more of the thing than its name."""
    if not isinstance(given, dict) or len(given) < 2:
        return given
    named = {fold(str(key)): value for key, value in given.items()}
    return next((named[key] for key in ("name", "title", "value") if isinstance(named.get(key), str)), given)


def is_nothing(given: JSON) -> bool:
    """Whether nothing was handed in."""
    if given is None or (isinstance(given, list | tuple | dict) and not given):
        return True
    return isinstance(given, str) and fold(given).strip(" .") in _NOTHING


def hedge(text: str) -> str | None:
    """What makes a text more or less than one plain statement; None when nothing does."""
    folded = fold(text)
    found = _HEDGE_PHRASES.search(folded)
    if found:
        return found[0].strip()
    return next((word for word in re.findall(r"[\w']+", folded) if word in hedges()), None)


def _undressed(text: str) -> str:
    """What a text says in the end, without Markdown emphasis, quotes around it and a full stop behind it."""
    text = settled(unfenced(text))
    text = re.sub(r"\*\*|__|`", "", text).strip()
    text = re.sub(r"^([*_])(\S.*\S)\1$", r"\2", text).strip()
    text = _EMPHASIS.sub(r"\2", text)
    if len(text) > 1 and text[0] in "\"'“‘«" and text[-1] in "\"'”’»":
        text = text[1:-1].strip()
    return text[:-1].rstrip() if text.endswith(".") and not re.search(r"\b\w\.$", text) else text
