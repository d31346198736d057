"""Foods of the frozen world: what is in 100 g, and what a cup, a slice or a medium one of them weighs.

The first measure of a food is what one of it means when nothing is said. A measure that a food does not list is
worked out from those it does: spoons and millilitres from the cup, sizes from the medium or whole one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record

NUTRIENTS = (
    "energy",
    "protein",
    "fat",
    "carbohydrate",
    "fiber",
    "sugars",
    "sodium",
    "calcium",
    "iron",
    "vitamin_c",
)
"""What is known of every food: kcal, then grams up to the sugars, then milligrams."""

GRAMS = {"g": 1.0, "kg": 1000.0, "mg": 0.001, "oz": 28.3495, "lb": 453.592, "pinch": 0.3, "dash": 0.6, "handful": 30.0}
MILLILITRES = {
    "ml": 1.0,
    "cl": 10.0,
    "dl": 100.0,
    "l": 1000.0,
    "tsp": 4.92892,
    "tbsp": 14.7868,
    "fl oz": 29.5735,
    "cup": 236.588,
    "glass": 236.588,
    "mug": 350.0,
    "bowl": 354.882,
    "pint": 473.176,
    "quart": 946.353,
    "gallon": 3785.41,
}
LOOSE = frozenset(("handful", "serving", "bunch", "bag", "box", "pack", "can", "plate"))
"""Measures of many small things at once, or of a part of something large."""
SIZES = {"small": 0.75, "medium": 1.0, "large": 1.25, "extra large": 1.5, "jumbo": 1.6}

_LOOSE_CUP_GRAMS = 140.0
"""A cup of something whose cup nobody has weighed: diced meat and the like."""
_CLEAR_SCORE = 0.7


@dataclass(frozen=True, kw_only=True)
class Food:
    """One food."""

    id: str
    name: str
    aliases: tuple[str, ...]
    nutrients: Mapping[str, float]
    """Per 100 g, by the names of `NUTRIENTS`."""
    alcohol: float
    """Grams per 100 g."""
    measures: Mapping[str, float]
    """Household measures in grams, the usual one first."""

    def weight(self, measure: str | None) -> float:
        """The grams of one measure; one that does not suit the food counts as the usual one."""
        known = self.measures
        usual = next(iter(known.values()))
        if measure is None:
            return usual
        if measure in known:
            return known[measure]
        if measure in GRAMS:
            return GRAMS[measure]
        if measure in MILLILITRES:
            return MILLILITRES[measure] * self._density
        if measure in SIZES:
            return self.single * SIZES[measure]
        return self.single if measure in ("whole", "piece") else usual

    @property
    def single(self) -> float:
        """The grams of what is counted when a number stands before the food: ten grapes are not ten cups."""
        measure, usual = next(iter(self.measures.items()))
        if measure not in LOOSE and measure not in MILLILITRES:
            return usual
        counted = (self.measures.get(name) for name in ("medium", "whole", "piece"))
        return next((weight for weight in counted if weight is not None), usual)

    @property
    def _density(self) -> float:
        """Grams in a millilitre."""
        for measure in ("cup", "glass", "tbsp", "tsp"):
            if measure in self.measures:
                return self.measures[measure] / MILLILITRES[measure]
        return _LOOSE_CUP_GRAMS / MILLILITRES["cup"]


@cache
def all_foods() -> Mapping[str, Food]:
    """Every food by id."""
    return {record["id"]: _food(record) for record in tables.load("foods")}


def named(text: str) -> Food | None:
    """The food of exactly this name, in singular or plural."""
    return _names().get(_key(text))


def search(text: str, limit: int = 3) -> list[Food]:
    """Foods whose names are like a text, the best first."""
    exact = named(text)
    ids = [exact.id] if exact else []
    ids += [record["id"] for _, record in _index().search(text, limit + 1)]
    return [all_foods()[food] for food in dict.fromkeys(ids)][:limit]


def clearly(text: str) -> Food | None:
    """The food that a text means beyond doubt: every word of it says so, if misspelled."""
    exact = named(text)
    if exact:
        return exact
    found = _index().search(text, 1)
    return all_foods()[found[0][1]["id"]] if found and found[0][0] >= _CLEAR_SCORE else None


@cache
def _names() -> Mapping[str, Food]:
    foods = tuple(all_foods().values())
    others = {_key(alias): food for food in reversed(foods) for alias in food.aliases}
    return others | {_key(food.name): food for food in foods}


@cache
def _index() -> SearchIndex[Record]:
    return SearchIndex(tables.load("foods"), {"name": 3.0, "aliases": 2.8})


def _key(text: str) -> str:
    return " ".join(_stem(word) for word in words(text))


def _stem(word: str) -> str:
    """A folded word without the marks of the plural."""
    if word.endswith(("ies", "ie", "y")) and len(word) > 2:
        return word.removesuffix("s").removesuffix("e").removesuffix("y").removesuffix("i") + "i"
    if word.endswith(("oes", "ches", "shes", "xes", "sses")):
        return word[:-2]
    if word.endswith(("che", "she")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


def _food(record: Record) -> Food:
    return Food(
        id=record["id"],
        name=record["name"],
        aliases=tuple(record["aliases"]),
        nutrients={name: record[name] for name in NUTRIENTS},
        alcohol=record.get("alcohol", 0.0),
        measures=record["measures"],
    )
