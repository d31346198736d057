"""How the person at a desk answers a question: a state machine without a model.

A question is about a fact when it has one of the fact's words. What is said depends on which facts are meant and on
what was told before, never on the wording, so that two ways to ask for the same get the same bytes. The person tells
nothing unasked and at most two facts in an answer, and changes their mind once: when the first proposal or request to
confirm comes after a fact that is to change. From then on the later facts hold. What a question wants that the rules
forbid is refused, and one that nobody could make sense of is answered so.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from m3bench.tasks.desk import Desk, Known
from m3bench.tasks.folding import fold

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

    def to_json(self) -> dict[str, Any]:
        """The state as JSON data; it says nothing about what a fact is."""
        return {"told": sorted(self.told), "changed": self.changed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "State":
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
