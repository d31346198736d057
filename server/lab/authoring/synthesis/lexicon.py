"""What people speak of when they ask for something: kinds of things, what leads from one to another, and who asks.

The lexicon decides what a task can be about. A *kind* is what stands on the card: a park, a company, a book. A *link*
leads from a thing to another one, or to what is asked about it, by one call. An *ask* is a value that somebody may want
to know. A *persona* is who asks, with the words in which that person begins. The entries are the files `words/*.toml`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Askable:
    """Something to be told about a thing.

    In its words `{x}` stands for the thing and `{p}` for what it was found near; alternatives have a bar between them.
    """

    name: str
    """Of the field that is handed in."""
    fact: str
    """Which of the facts that the call gives."""
    words: str
    """Fits after `tell me`: `how high {x} lies above sea level, in metres`."""
    kind: Literal["number", "name", "phone", "date", "code"] = "number"
    unit: str = ""
    within: float = 0.0
    """How far a number may be off."""
    scale: float = 1.0
    """What the number is multiplied by before it is told: metres to kilometres."""
    more: str = ""
    """What is said of the one of several that has the highest number: `lies higher above sea level`."""
    by: str = ""
    """In what two of them differ: `metres`."""
    above: str = ""
    """A condition on the number, with `{limit}`: `{x} lies more than {limit} metres above sea level`."""
    limits: tuple[float, ...] = ()
    total: str = ""
    """What several numbers come to, with `{nouns}` for the things: `how many pages they have altogether`."""
    buys: str = ""
    """How many of it a coin pays for, with `{coin}`: `how many shares of {x} one {coin} would pay for`."""
    role: str = ""
    """Who alone would ask how many of it a coin pays for."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Pick:
    """Which of several rows is meant: the one with the highest or lowest value, when that is clear."""

    fact: str
    highest: bool = True


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Lookup:
    """A call about a thing, and what is taken from its answer."""

    tool: str
    arguments: Mapping[str, object]
    """Values in braces are facts that are known of the thing."""
    take: Mapping[str, str]
    """Facts by name: a path in the row that is meant, or a regular expression between slashes over the whole answer."""
    pick: Pick | None = None
    same: Mapping[str, str] = field(default_factory=dict)
    """Facts that must be what a template says, once taken: the very thing was found, not another."""
    holds: Mapping[str, str] = field(default_factory=dict)
    """Facts that must contain what a template says."""
    free: tuple[str, ...] = ()
    """Arguments that a client may choose."""
    words: tuple[str, ...] = ()
    """Arguments of which the words count, not the exact text."""
    near: float = 0.0
    """Degrees by which a position may be off."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class LexiconLink(Lookup):
    """What leads from a thing to another one, or to what is asked about it."""

    tool: str = ""
    """Empty when what is known of the thing says which the other one is."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    take: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    of: tuple[str, ...]
    """The kinds of things it leaves from."""
    to: str = ""
    """The kind of the other thing; empty when asks are about the same thing."""
    noun: str = ""
    """The other thing, with `{x}` for the first one: `the town where {x} has its head office`."""
    that: str = ""
    """The other thing when it was just spoken of: `that town`."""
    nouns: str = ""
    """Several of the others: `head-office towns`."""
    asks: tuple[Askable, ...] = ()


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Harvest:
    """Where the things on cards come from: what a call returns."""

    tool: str
    calls: tuple[Mapping[str, object], ...]
    field: str


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Persona:
    """Who asks, and how that person begins."""

    role: str
    one: tuple[str, ...]
    """First sentences about one thing on the card."""
    many: tuple[str, ...] = ()
    """First sentences about several, with `{n}` for their number."""
    avoid: tuple[str, ...] = ()
    """Names of links and asks that this person has no business with."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class ThingKind:
    """What can stand on a card."""

    name: str
    label: str
    """The heading above it on the card."""
    noun: str
    """`the park`."""
    nouns: str
    """`parks`."""
    personas: tuple[Persona, ...]
    lookup: Lookup | None = None
    """How it is looked up; left out when its name alone is enough."""
    asks: tuple[Askable, ...] = ()
    values: tuple[str, ...] = ()
    harvest: Harvest | None = None
    exact: bool = False
    """Only the exact value will do: a number or a code."""
    road: str = ""
    """What is asked about the way from the first of two to the second."""


@cache
def kinds() -> Mapping[str, ThingKind]:
    """What can stand on a card, by name."""
    return {name: ThingKind(name=name, **entry) for name, entry in _data("kinds").items()}


@cache
def links() -> tuple[LexiconLink, ...]:
    """What leads from one thing to another."""
    return tuple(LexiconLink(name=name, **entry) for name, entry in _data("links").items())


@cache
def position() -> Lookup:
    """How the position of a town is found."""
    return Lookup(**_data("position"))


def _data(name: str) -> dict[str, Any]:
    folder = files("m3bench.server.lab.authoring.synthesis") / "words"
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
