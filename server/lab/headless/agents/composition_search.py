"""Searches for the composition of a picture that fits what tools told of it, with the code that makes such pictures.

A family composes its pictures from random numbers. Here the numbers are chosen: first so that what is picked has a name
that was read, then better and better, one decision at a time, until the composed picture has the same writing, things
and codes. What no tool tells stays a guess. Nothing is drawn and nothing is looked at.
"""

import random
from collections.abc import Callable, Hashable, Iterable, MutableSequence, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol, TypeVar

from m3bench.server.lab.headless.agents.evidence import PictureEvidence, phrases_of
from m3bench.tasks.families.base import Composition, Family, Kit, Unfit

_T = TypeVar("_T")
_Item = TypeVar("_Item", covariant=True)

TRIES = 300
"""Pictures imagined at most for one task."""
FRESH = 40
"""How many of them are imagined from nothing, before the best is made better."""
PATIENCE = 100
"""Tries without a better one after which it is enough."""
GUESSES = 6
"""How many are worth a try."""
_PERFECT = 2.995
_LEAST = 0.02
"""The share of chance in a choice that evidence speaks to."""


@dataclass(frozen=True)
class DrawnChoice:
    """What was chosen, and from what kind of choice."""

    kind: Hashable
    value: Any


class _Items(Protocol[_Item]):
    """What `random` chooses from."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> _Item: ...


class Chooser(random.Random):
    """Random numbers that keep to a trace of earlier decisions, but for one, and follow the evidence in new ones.

    Args:
        evidence: What choices follow.
        dice: Where chance comes from.
        trace: Earlier decisions.
        changed: The place of the one that is made anew; none when left out.
    """

    def __init__(
        self, evidence: PictureEvidence, dice: random.Random, trace: Sequence[DrawnChoice] = (), changed: int = -1
    ) -> None:
        super().__init__(0)
        self._evidence, self._dice = evidence, dice
        self._old, self._changed = trace, changed
        self.trace: list[DrawnChoice] = []
        self.chosen: set[str] = set()
        """The names of what was picked."""

    def choice(self, seq: _Items[_T]) -> _T:
        """One of several, rather one that fits."""
        things = [seq[place] for place in range(len(seq))]
        picked = things[self._decide(("choice", len(things)), lambda old: self._one(things, range(len(things))))]
        self.chosen.update(phrases_of(picked))
        return picked

    def sample(self, population: Sequence[_T], k: int, *, counts: Iterable[int] | None = None) -> list[_T]:
        """Several, rather those that fit; made anew, one is replaced or two change places."""
        things = list(population)

        def draw(old: list[int] | None) -> list[int]:
            kept = list(old or ())
            if len(kept) > 1 and self._dice.random() < 0.4:
                one, other = self._dice.sample(range(len(kept)), 2)
                kept[one], kept[other] = kept[other], kept[one]
            elif kept and self._dice.random() < 0.85:
                place = self._dice.randrange(len(kept))
                others = [number for number in range(len(things)) if number not in kept]
                if others:
                    kept[place] = self._one(things, others)
            else:
                kept = []
            return kept

        drawn: list[int] = self._decide(("sample", len(things)), draw)
        numbers = drawn[:k]
        while len(numbers) < k:
            numbers.append(self._one(things, [number for number in range(len(things)) if number not in numbers]))
        self.trace[-1] = DrawnChoice(self.trace[-1].kind, numbers)
        picked = [things[number] for number in numbers]
        self.chosen.update(phrases_of(picked))
        return picked

    def shuffle(self, x: MutableSequence[_T]) -> None:
        """Put into some order; made anew, two change places."""
        things = list(x)

        def draw(old: list[int] | None) -> list[int]:
            order = list(old or self._dice.sample(range(len(things)), len(things)))
            if old and len(order) > 1:
                one, other = self._dice.sample(range(len(order)), 2)
                order[one], order[other] = order[other], order[one]
            return order

        x[:] = [things[number] for number in self._decide(("shuffle", len(things)), draw)]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """A number, rather one that was read."""
        span = range(start) if stop is None else range(start, stop, step)

        def draw(old: int | None) -> int:
            read = [number for number in self._evidence.numbers if number in span]
            return self._dice.choice(read) if read and self._dice.random() < 0.9 else self._dice.choice(span)

        return int(self._decide(("range", span), draw))

    def randint(self, a: int, b: int) -> int:
        """As `randrange`, the last one included."""
        return self.randrange(a, b + 1)

    def random(self) -> float:
        """A share."""
        return float(self._decide("share", lambda old: self._dice.random()))

    def uniform(self, a: float, b: float) -> float:
        """A number between two."""
        return a + (b - a) * self.random()

    def _decide(self, kind: Hashable, draw: Callable[[_T | None], _T]) -> _T:
        place = len(self.trace)
        old = self._old[place] if place < len(self._old) and self._old[place].kind == kind else None
        value: _T = (
            old.value if old is not None and place != self._changed else draw(None if old is None else old.value)
        )
        self.trace.append(DrawnChoice(kind, value))
        return value

    def _one(self, things: Sequence[object], numbers: Sequence[int]) -> int:
        fits = [self._evidence.weight(things[number]) for number in numbers]
        # What half of them have says nothing: every park is a national park.
        usual = median(fits) if len(fits) > 3 else 0.0
        weights = [max(0.0, fit - usual) ** 2 for fit in fits]
        least = _LEAST * (max(weights, default=0) or 1) / max(1, len(weights))
        return self._dice.choices(numbers, [weight + least for weight in weights])[0]


def likely_compositions(family: Family, kit: Kit, evidence: PictureEvidence, dice: random.Random) -> list[Composition]:
    """The pictures that agree best with the evidence, the best first; a few that differ in their facts."""
    found: dict[str, tuple[float, Composition]] = {}
    trace: list[DrawnChoice] = []
    best, since = -1.0, 0
    for number in range(TRIES):
        fresh = number < FRESH
        chooser = Chooser(evidence, dice, () if fresh else trace, -1 if fresh else _some_place(trace, dice))
        try:
            made = family.compose(chooser, kit)
        except (Unfit, LookupError, ValueError, AssertionError):
            # Numbers that nobody drew by chance may ask for something that cannot be laid out.
            made = None
        since += 1
        if made is not None:
            score = evidence.agreement(made.scene, chooser.chosen)
            facts = repr(sorted(made.facts.items()))
            if facts not in found or found[facts][0] < score:
                found[facts] = (score, made)
            if score >= best:
                since = 0 if score > best + 1e-9 else since
                best, trace = score, chooser.trace
        if number > FRESH and (since > PATIENCE or best > _PERFECT):
            break
    ranked = sorted(found.values(), key=lambda pair: -pair[0])
    return [made for _, made in ranked[:GUESSES]]


def _some_place(trace: Sequence[DrawnChoice], dice: random.Random) -> int:
    """A decision to make anew: rarely one about a place or a shade, of which there are most."""
    if not trace:
        return -1
    telling = [place for place, decision in enumerate(trace) if decision.kind != "share"]
    return dice.choice(telling) if telling and dice.random() < 0.85 else dice.randrange(len(trace))
