"""How people speak of what tools return: nouns for things, phrases for fields, and what a card can name.

The graph of tools is learned without any of this. The lexicon decides what can be asked in plain language: a tool
without an entry is never asked about. The entries are the files `words/*.toml`, by tool.
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
_FILES = ("places", "things", "works")


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Ask:
    """Something to be told about a thing."""

    field: str
    """Path in a row, or a regular expression between slashes over the whole answer."""
    words: str = ""
    """A noun phrase that fits after `tell me`: `its phone number`; empty when `Words.joins` says it."""
    kind: Literal["text", "number"] = "text"
    plural: str = ""
    """What several of them are called in a calculation: `the heights`; empty when that makes no sense."""
    tolerance: float = 0.01
    """How far a number in an answer may be off."""
    tools: tuple[str, ...] = ()
    """What may be computed from several: names of tools of the math server."""
    scale: float = 1.0
    """What the number is multiplied by before it is reported: metres to kilometres."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Pick:
    """A way to choose one of several rows."""

    field: str
    words: str
    """Stands before the noun: `best-rated`."""
    highest: bool = True


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Option:
    """Arguments that the question states, and the noun for what they find."""

    noun: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    """Follows the noun: `within 2 kilometres of it`."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Harvest:
    """Where the things on cards come from: what a call returns."""

    tool: str
    calls: tuple[Mapping[str, Any], ...]
    field: str


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Start:
    """What a card can name so that a tool can be asked."""

    port: str
    """The argument that takes it."""
    label: str
    """The heading above it on the card."""
    noun: str
    plural: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that go with it."""
    name: str = ""
    """The field of the row that must have exactly this value."""
    harvest: Harvest | None = None
    values: tuple[str, ...] = ()
    source: str = ""
    """Where to look it up, said in the question: `in the park service's listing`."""
    exact: bool = False
    """Only the exact value will do: a number or a code."""


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Words:
    """How people speak of what one tool returns."""

    tool: str
    asks: tuple[Ask, ...] = ()
    start: Start | None = None
    noun: str = ""
    """What a row is, when the tool gives several to choose from."""
    name: str = ""
    """The field with a row's name."""
    alike: bool = False
    """Whether the chosen row must contain the words searched for: a search finds all kinds of things."""
    picks: tuple[Pick, ...] = ()
    options: tuple[Option, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that every call has."""
    file: str = ""
    """What the call leaves in the workspace, as a pattern."""
    task: str = ""
    """What the call does when it is not asked for a value: `save it as a PDF`."""
    joins: str = ""
    """What it tells about two things: `the way by road from the first to the second`."""


@cache
def words() -> Mapping[str, Words]:
    """The entries of the lexicon, by tool."""
    folder = files("m3bench.server.authoring.synthesis") / "words"
    entries: dict[str, Words] = {}
    for name in _FILES:
        data = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
        entries |= {tool: Words(tool=tool, **entry) for tool, entry in data.items()}
    return entries
