"""What somebody without eyes takes a photograph to be: what tools tell, and what is likely where they tell nothing.

A part is where the detector has a thing of that name, or else in the middle; a number is how many of them it has, or a
small one; a subject is the first thing that it names, or what people photograph most.
"""

import random
from collections.abc import Mapping, MutableSequence, Sequence
from typing import Any

from m3bench.server.lab.headless.agents.evidence import Evidence
from m3bench.tasks.photos.facts import Detail, Photo

_SIDE = 800
"""Pixels of the longer side that every photograph of a set has at least."""
_SUBJECTS = ("cat", "dog", "flower", "mountain", "boat")
_SIGHTS = (("Eiffel Tower", "Paris, France"), ("Golden Gate Bridge", "San Francisco, California"))
_FOODS = ("apple", "banana", "orange")
_PLACES = ("first", "second", "third")


def guess_photos(
    recipe: str, values: Mapping[str, str], seen: Sequence[Evidence], rng: random.Random
) -> tuple[Photo, ...]:
    """What the photographs of a task may show.

    Args:
        recipe: What kind of task it is.
        values: What the question says, by placeholder.
        seen: What tools tell of each photograph.
        rng: For guesses.
    """
    return tuple(_photo(recipe, values, place, one, rng) for place, one in enumerate(seen))


def _photo(recipe: str, values: Mapping[str, str], place: int, seen: Evidence, rng: random.Random) -> Photo:
    things = [found.name for found in seen.objects]
    match recipe:
        case "cut":
            return Photo(parts=(_part(values[_PLACES[place]], seen, 0),))
        case "ring":
            return Photo(parts=(_part(values["part"], seen, 0),))
        case "hide":
            return Photo(parts=(_part(values["hidden"], seen, 0), _part(values["kept"], seen, 1)))
        case "tally":
            name = values[f"{_PLACES[place]}_things"]
            count = sum(thing in name or name.startswith(thing) for thing in things)
            return Photo(counts={name: count or rng.choice((1, 2, 2, 3, 4))})
        case "icons":
            return Photo(subject=things[0] if things else _SUBJECTS[place])
        case "higher" | "air":
            sight, town = _SIGHTS[place]
            return Photo(place=sight, town=town)
        case "meal":
            return Photo(food=things[0] if things else rng.choice(_FOODS), count=len(things) or rng.choice((1, 2, 3)))
        case "reading":
            return Photo(isbn=next(iter(seen.codes), "9780141439518"))
        case _:
            return Photo(thing=things[0] if things else "mug", count=len(things) or 2)


def _part(what: str, seen: Evidence, number: int) -> Detail:
    """Where a part may be; parts of one photograph lie beside each other."""
    for found in seen.objects:
        if found.name in what:
            return Detail(what=what, box=found.box)
    left = _SIDE * (0.3 + 0.3 * number)
    return Detail(what=what, box=(left, _SIDE * 0.2, left + _SIDE * 0.25, _SIDE * 0.5))


class Told(random.Random):
    """Numbers and choices as a question says them, in place of random ones."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(0)
        self._said = [*values.values()]
        self._numbers = [int(said) for said in self._said if said.isdigit()]

    def choice(self, seq: Any) -> Any:
        """The option that the question names, or the first."""
        named = [
            one for one in seq if str(getattr(one, "what", one[0] if isinstance(one, tuple) else one)) in self._said
        ]
        return (named or list(seq))[0]

    def sample(self, population: Any, k: int, **options: Any) -> list[Any]:
        """The numbers that the question says, or the first of anything else."""
        return self._numbers[:k] if isinstance(population, range) else list(population)[:k]

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Nothing changes places."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """The next number of the question that lies between."""
        found = [one for one in self._numbers if one in range(start, stop if stop is not None else start, step)]
        return found[0] if found else start

    def randint(self, a: int, b: int) -> int:
        """The last number of the question that lies between."""
        found = [one for one in self._numbers if a <= one <= b]
        return found[-1] if found else a

    def random(self) -> float:
        """Below a half where the question wants degrees Celsius."""
        return 0.0 if "Celsius" in self._said else 0.99
