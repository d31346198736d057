"""A desk: what the person behind a task knows, the documents with the rules, and how the person answers a question.

It belongs to a scene, so it reaches a sandbox as scenes do and never lies in a workspace. The person is a state
machine, not a model. A question is about a fact when it has one of the fact's words. What is said depends on which
facts are meant and on what was told before, never on the wording, so that two ways to ask for the same get the same
bytes. The person tells nothing unasked and at most two facts in an answer, and changes their mind once: when the
first proposal or request to confirm comes after a fact that is to change. From then on the later facts hold. A
request that the rules forbid is refused, and a question that makes no sense is answered so.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.tasks.folding import fold
from m3bench.tasks.json_types import Record


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
class DeskRefusal:
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
    refusals: tuple[DeskRefusal, ...] = ()
    documents: tuple[Document, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The desk as JSON data; what is empty is left out."""
        parts = (("facts", self.facts), ("refusals", self.refusals), ("documents", self.documents))
        return {name: [_without_blanks(vars(item)) for item in items] for name, items in parts}

    @classmethod
    def from_json(cls, data: Record) -> "Desk":
        """The desk written by `to_json`."""
        return cls(
            facts=tuple(Known(**_with_tuples(item)) for item in data["facts"]),
            refusals=tuple(DeskRefusal(**_with_tuples(item)) for item in data["refusals"]),
            documents=tuple(Document(**item) for item in data["documents"]),
        )


def _without_blanks(data: Mapping[str, str | Sequence[str]]) -> dict[str, object]:
    return {name: value if isinstance(value, str) else list(value) for name, value in data.items() if value}


def _with_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else tuple(value) for name, value in data.items()}


MOST_FACTS = 2
"""What one answer tells."""

_SHORT = 3
"""Letters of a beginning of a word that only the whole word matches."""

_QUOTED = 60
"""Characters of a question that was not understood."""

_CONFIRMING = (
    "confirm", "correct", "is that right", "is this right", "is it right", "are these right", "right?", "propos",
    "recommend", "suggest", "shall i go", "shall i proceed", "shall i book", "shall i do", "shall we go", "go ahead",
    "happy with", "okay?", "ok?", "okay with", "ok with",
    "okay for", "ok for", "agree", "approve", "sign off", "work for you", "works for you", "sound good", "sounds good",
    "sound right", "sounds right", "final", "my plan", "i plan to", "i am going to", "summar", "double check",
    "recheck", "still true", "still hold", "still right", "still want", "any change", "changed", "as you said",
)  # fmt: skip
_BROAD = ("everything", "anything", "all", "detail", "information", "info", "more", "whatever", "background", "context")
_RULES = ("rule", "polic", "document", "guideline", "regulation", "allowed", "handbook", "permitted", "forbidden")
_PICTURE = ("picture", "photo", "image", "circle", "drawing", "see", "shown", "marked", "ring")


@dataclass(frozen=True)
class State:
    """What was said so far."""

    told: frozenset[int] = frozenset()
    """Places of the facts that were told."""
    changed: bool = False

    def to_json(self) -> dict[str, object]:
        """The state as JSON data; it says nothing about what a fact is."""
        return {"told": sorted(self.told), "changed": self.changed}

    @classmethod
    def from_json(cls, data: Record) -> "State":
        """The state written by `to_json`."""
        return cls(frozenset(data["told"]), data["changed"])


def reply(desk: Desk, state: State, question: str) -> tuple[str, State]:
    """What the person answers, and the state after it."""
    words = _words(question)
    for refusal in desk.refusals:
        if _any(refusal.about, words) and _any(refusal.wants, words):
            return refusal.said, state
    asked = [place for place, fact in enumerate(desk.facts) if _any(fact.asked, words)]
    fresh = [place for place in asked if place not in state.told]
    if _any(_CONFIRMING, words) or _repeats(desk, state, words):
        if changes := _changes(desk, state):
            state = State(state.told, changed=True)
            said, state = _tell(desk, state, fresh[: MOST_FACTS - 1])
            return " ".join([*changes, *said]), state
        if not fresh:
            return ("Yes, that is what I told you." if state.told else "You have not asked me for anything yet."), state
    if asked:
        said, after = _tell(desk, state, [*fresh, *(place for place in asked if place in state.told)][:MOST_FACTS])
        rest = ["That is all I can answer at once: ask me for the rest again."] if len(asked) > MOST_FACTS else []
        return " ".join([*said, *rest]), after
    return _at_a_loss(question, words), state


def _tell(desk: Desk, state: State, places: Iterable[int]) -> tuple[list[str], State]:
    chosen = sorted(places)
    said = [_said(desk.facts[place], changed=state.changed) for place in chosen]
    return said, State(state.told | {*chosen}, state.changed)


def _said(fact: Known, *, changed: bool) -> str:
    return fact.later if changed and fact.later else fact.said


def _changes(desk: Desk, state: State) -> list[str]:
    """How the facts that were told are changed, where they still can be."""
    if state.changed:
        return []
    return [fact.change for place, fact in enumerate(desk.facts) if place in state.told and fact.change]


def _repeats(desk: Desk, state: State, words: str) -> bool:
    """Whether somebody says back what the person told."""
    return any(_any((desk.facts[place].value,), words) for place in state.told if desk.facts[place].value)


def _at_a_loss(question: str, words: str) -> str:
    if _any(_RULES, words):
        return "I do not know the rules by heart: they are in the documents."
    if _any(_PICTURE, words):
        return "I can only say: look at the picture. What I mean is marked in it."
    if _any(_BROAD, words):
        return "That is too general for me. Ask me for one thing that you need to know."
    quoted = " ".join(question.split())
    quoted = quoted if len(quoted) <= _QUOTED else f"{quoted[:_QUOTED].rstrip()}…"
    return f"I do not know what you mean by “{quoted}”. What would you like to know from me?"


def _words(question: str) -> str:
    """The words of a question with a space around each; a question mark is one of them."""
    return f" {' '.join(re.findall(r'[a-z0-9.]*[a-z0-9]|[?]', fold(question)))} "


def _any(stems: Iterable[str], words: str) -> bool:
    """Whether one of some beginnings of words, or phrases, stands in a question."""
    return any(_has(_words(stem).strip(), words) for stem in stems)


def _has(stem: str, words: str) -> bool:
    whole = len(stem) <= _SHORT or " " in stem or stem[:1].isdigit()
    return f" {stem} " in words if whole else f" {stem}" in words
