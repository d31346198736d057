"""Units: which words mean which, and what one is in another.

A word may mean several units (`lb` is a weight, `pounds` also money): which one is meant depends on what is asked for.
Currencies never convert into each other.
"""

from functools import cache
from typing import NamedTuple

from m3bench.tasks.answers.words import words
from m3bench.tasks.folding import fold


class Unit(NamedTuple):
    """A unit: what it measures, how many of the kind's first unit it is, and where its zero lies in that."""

    kind: str
    factor: float
    offset: float = 0.0


_TEMPERATURES = {
    "c °c celsius|degrees celsius|degrees c|degree celsius|deg c|centigrade": Unit("temperature", 1.0),
    "f °f fahrenheit|degrees fahrenheit|degrees f|degree fahrenheit|deg f": Unit("temperature", 5 / 9, -160 / 9),
    "k kelvin kelvins": Unit("temperature", 1.0, -273.15),
}


@cache
def known() -> dict[str, tuple[Unit, ...]]:
    """Every word for a unit, folded, with the units that it may mean."""
    found: dict[str, list[Unit]] = {}
    for kind, units in words().units.items():
        for names, factor in units.items():
            for word in _words(names):
                found.setdefault(word, []).append(Unit(kind, factor))
    for names, unit in _TEMPERATURES.items():
        for word in _words(names):
            found.setdefault(word, []).append(unit)
    for code, signs in words().currencies.items():
        for word in _words(signs):
            found.setdefault(word, []).append(Unit(code, 1.0))
    return {word: tuple(dict.fromkeys(units)) for word, units in found.items()}


def unit_of(name: str) -> Unit | None:
    """The unit that a task asks for, by its usual sign or name; None when it is only a word, such as `pages`."""
    if name.upper() in words().currencies:
        return Unit(name.upper(), 1.0)
    found = known().get(fold(name))
    return found[0] if found else None


def convert(value: float, word: str, asked: Unit) -> float | None:
    """A value with a unit's word in the unit that is asked for; None when the word means something else."""
    for unit in known().get(word, ()):
        if unit.kind == asked.kind:
            return ((value * unit.factor + unit.offset) - asked.offset) / asked.factor
    return None


def _words(text: str) -> list[str]:
    first, *phrases = text.split("|")
    return [fold(word) for word in (*first.split(), *phrases)]
