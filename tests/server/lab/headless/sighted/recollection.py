"""What somebody noted of a picture, in the form in which its family keeps it.

A note is plain: the name of a sight, what is written on a board. The family wants the sight's record. Other pictures of
the family show how it keeps things, so the record is taken from one of those that happens to show the same sight. Facts
of theirs that all pictures share, such as the coins that exist, are taken over too, and so is what all say of a thing
that is noted in parts, such as the other names of a medicine. What differs from picture to picture and was not noted
stays unknown, and a plan that needs it fails.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.composition_search import Chooser
from m3bench.server.lab.headless.agents.evidence import PictureEvidence, phrases_of
from m3bench.tasks.families.base import Composition, Family, Kit, Unfit
from m3bench.tasks.folding import fold
from m3bench.tasks.render.outline import Outline

Noted = Mapping[str, Any]

FIRST, MOST, ENOUGH = 8, 80, 4
"""Pictures that show what all share, pictures made at most to find a thing, and records that tell what all have."""


class Unknown(LookupError):
    """No picture of a family shows a thing that was noted."""


class Others:
    """Other pictures of a family, made as they are needed: a few at random, then such as have the noted things."""

    def __init__(self, family: Family, noted: Noted) -> None:
        self._family = family
        self._evidence = PictureEvidence(hints=tuple(phrases_of(noted)))
        self._dice = random.Random(f"{family.name} {sorted(noted)}")
        self._made: list[Composition] = []
        self._tries = 0

    def first(self) -> list[Composition]:
        """Those at random."""
        return [made for made, _ in zip(self, range(FIRST), strict=False)]

    def facts(self, name: str) -> Iterator[Any]:
        """One fact, as the pictures have it."""
        return (made.facts[name] for made in self if name in made.facts)

    def __iter__(self) -> Iterator[Composition]:
        number = 0
        while number < len(self._made) or self._make():
            if number < len(self._made):
                yield self._made[number]
                number += 1

    def _make(self) -> bool:
        """Try to make one more; False when there have been enough tries."""
        self._tries += 1
        random_ones = len(self._made) < FIRST
        dice = random.Random(self._dice.random()) if random_ones else Chooser(self._evidence, self._dice)
        # Numbers that nobody drew by chance may ask for something that cannot be laid out.
        with suppress(Unfit, LookupError, ValueError, AssertionError):
            self._made.append(self._family.compose(dice, Kit(Outline(), load)))
        return self._tries < MOST


class Entries(Mapping[str, Any]):
    """What is known of things by their names, from every picture that has something to say."""

    def __init__(self, mappings: Callable[[], Iterator[Mapping[str, Any]]]) -> None:
        self._mappings = mappings

    def __getitem__(self, name: str) -> Any:
        for one in self._mappings():
            if name in one:
                return one[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for one in self._mappings() for name in one))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def recollected(family: Family, noted: Noted) -> Composition:
    """A picture with the noted facts."""
    others = Others(family, noted)
    known = shared(others)
    known |= {name: kept(said, partial(others.facts, name)) for name, said in noted.items()}
    known |= {name: find(known, others) for name, find in UNSEEN.get(family.name, {}).items()}
    return replace(others.first()[0], facts=known)


def shared(others: Others) -> dict[str, Any]:
    """What is so in every picture, and what is known of things by their names."""
    first, *more = (made.facts for made in others.first())
    known = {name: value for name, value in first.items() if all(facts.get(name) == value for facts in more)}
    for name, value in first.items():
        if name not in known and isinstance(value, Mapping):
            known[name] = Entries(partial(others.facts, name))
    return known


def kept(said: Any, examples: Callable[[], Iterator[Any]]) -> Any:
    """A note in the form of the examples: names for records, a list for what the family keeps by name."""
    like = next(examples(), said)
    if isinstance(said, Mapping) and isinstance(like, Mapping):
        return _completed({key: kept(value, partial(_under, key, examples)) for key, value in said.items()}, examples)
    if isinstance(said, list) and isinstance(like, Mapping):
        entries = Entries(examples)
        return {name: entries[name] for name in said}
    if isinstance(said, list) and isinstance(like, list | tuple):
        alike = len({type(part) for part in like}) <= 1
        parts = [kept(one, partial(_parts if alike else _under, at, examples)) for at, one in enumerate(said)]
        return tuple(parts) if isinstance(like, tuple) else parts
    if isinstance(said, str) and not isinstance(like, str):
        return named(said, examples())
    return said


def _completed(noted: dict[str, Any], examples: Callable[[], Iterator[Any]]) -> dict[str, Any]:
    """A record with what all others say that begin like it."""
    if noted.keys() >= next(examples()).keys():
        return noted
    key, value = next(iter(noted.items()))
    first, *more = [*islice((one for one in examples() if one.get(key) == value), ENOUGH)] or [{}]
    return {key: value for key, value in first.items() if all(one.get(key) == value for one in more)} | noted


def _under(key: Any, examples: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """What the examples have under a name or in a place."""
    return (one[key] for one in examples() if isinstance(one, list | tuple) or key in one)


def _parts(at: int, examples: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """All that is in the examples, wherever it is."""
    return (part for one in examples() for part in one)


def named(name: str, records: Iterable[Any]) -> Any:
    """The first record with a name."""
    for record in records:
        if any(fold(phrase) == fold(name) for phrase in phrases_of(record)):
            return record
    raise Unknown(f"no picture shows {name!r}")


def _exist(known: Noted, others: Others) -> list[str]:
    existing = {name for names in others.facts("known") for name in names}
    return [name for name in known["ticked"] if name in existing]


UNSEEN: dict[str, dict[str, Callable[[Noted, Others], Any]]] = {
    "attraction": {"dated": lambda known, others: True},
    "nixos_diagnostic": {"known": _exist},
}
"""What nobody sees and only guards against unfit tasks: whether an encyclopedia has a year, which programs exist."""
