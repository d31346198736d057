"""A desk: what the person behind a task knows and says, and the documents with the rules that bind the task.

It belongs to a scene, so it reaches a sandbox as scenes do and never lies in a workspace. How the person answers is in
`m3bench.tasks.dialogue`; nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Known:
    """One thing that the person knows and tells when asked for it."""

    asked: tuple[str, ...]
    """Beginnings of words, and phrases, by which a question is about it."""
    said: str
    """What the person says."""
    value: str = ""
    """What somebody would repeat of it in a proposal."""
    later: str = ""
    """What the person says in its place after a change of mind; empty when it stays as it is."""
    change: str = ""
    """How the person announces the change."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Something that the person must not grant or tell."""

    about: tuple[str, ...]
    """What a question is about, in the form of `Known.asked`."""
    wants: tuple[str, ...]
    """What it wants of that; a question must have one of both."""
    said: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document with rules."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The person and the documents of one task."""

    facts: tuple[Known, ...]
    refusals: tuple[Refusal, ...] = ()
    documents: tuple[Document, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The desk as JSON data; what is empty is left out."""
        parts = (("facts", self.facts), ("refusals", self.refusals), ("documents", self.documents))
        return {name: [_without_blanks(vars(item)) for item in items] for name, items in parts}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Desk":
        """The desk written by `to_json`."""
        return cls(
            facts=tuple(Known(**_with_tuples(item)) for item in data["facts"]),
            refusals=tuple(Refusal(**_with_tuples(item)) for item in data["refusals"]),
            documents=tuple(Document(**item) for item in data["documents"]),
        )


def _without_blanks(data: Mapping[str, str | Sequence[str]]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else list(value) for name, value in data.items() if value}


def _with_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else tuple(value) for name, value in data.items()}
