"""Things: what a call was about, as the world resolved it.

The words of a call do not say what it is about: `0.36 kg pear` is `360 g pear`, `Durham` may be one of two towns, and a
search for `laptop stand` finds other products than one for `laptop`. What the world made of the words stands in the
result: the id of the first entry, the position of the place, the amounts of the portion. Each tool of which this is so
is listed in `data/things.json` with where it stands and which arguments it decides. Of any other tool, such as one of a
third-party server, no thing is known, and facts decide.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import isclose
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from m3bench.tasks.distance import NEAR_METRES, metres
from m3bench.tasks.facts import Fact, number
from m3bench.tasks.folding import fold

SAME_AMOUNT = 0.005
"""The share by which two amounts may differ that were stated in different units: 12.7 oz for 360 g."""
LAST_DIGIT = 0.011
"""Small amounts are rounded to two decimals."""
MOST_ENTRIES = 24
"""Of a list: enough to tell it from any other."""

Take = Literal["first", "list", "text", "isbn", "position", "ends", "amounts"]
Thing = tuple[Fact, ...]
"""Ids, names, positions (latitude, longitude, …) or amounts; empty when nothing was resolved."""

_FILE = Path(__file__).parent / "data" / "things.json"
_LATITUDE, _LONGITUDE = ("lat", "latitude"), ("lng", "longitude")


class ThingRule(BaseModel):
    """Where a tool's results say what a call was about.

    `first` is the first entry of a ranked list, `list` all of it, `text` a name, `isbn` a number of a book in either
    form, `position` a place, `ends` the places at the ends of a way, `amounts` every amount of a portion.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    decides: tuple[str, ...]
    """The arguments that the thing stands for."""
    take: Take
    pattern: str = ""
    """Of a text: its groups are what counts."""
    path: str = ""
    """Of a JSON document: names and places, `*` for every item."""
    keys: tuple[str, ...] = ()
    """Of the ends of a way."""

    @model_validator(mode="after")
    def _one(self) -> "ThingRule":
        if bool(self.pattern) == bool(self.path):
            raise ValueError("a rule has either a pattern or a path")
        return self

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern."""
        return re.compile(self.pattern, re.MULTILINE)

    @property
    def ranks(self) -> bool:
        """Whether the tool answers with a list of what fits, so that a wanted entry may also stand there by chance."""
        return self.take in ("first", "list")


@cache
def rules() -> Mapping[str, ThingRule]:
    """The rules of all tools that have one, by canonical name."""
    return TypeAdapter(dict[str, ThingRule]).validate_python(json.loads(_FILE.read_bytes()))


def thing_of(tool: str, result: str) -> Thing:
    """What a successful call was about; empty when its result does not say."""
    rule = rules().get(tool)
    if rule is None:
        return ()
    if rule.pattern:
        return _taken(rule, _matched(rule, result))
    try:
        document = json.loads(result)
    except ValueError:
        return ()
    return _taken(rule, _found(document, rule.path.split(".")))


def entries_of(tool: str, result: str) -> frozenset[str]:
    """Every entry of the list that a call of a tool found, whichever of them it was about."""
    rule = rules()[tool]
    if rule.pattern:
        return frozenset(fold(match[1]) for match in rule.compiled.finditer(result))
    try:
        document = json.loads(result)
    except ValueError:
        return frozenset()
    return frozenset(fold(str(value)) for value in _found(document, rule.path.split(".")))


def same_thing(tool: str, wanted: Thing, found: Thing) -> bool:
    """Whether two calls of a tool were about the same."""
    rule = rules()[tool]
    if rule.take in ("position", "ends"):
        places = zip(_points(wanted), _points(found), strict=False)
        return len(wanted) == len(found) and all(metres(one, other) <= NEAR_METRES for one, other in places)
    if rule.take == "amounts":
        return len(wanted) == len(found) and all(map(_same_amount, wanted, found))
    return wanted == found


def is_part(tool: str, part: Thing, whole: Thing) -> bool:
    """Whether one call of a tool found a list that another one found as a part of its list."""
    return rules()[tool].take == "list" and bool(part) and _contains(whole, part)


def _contains(whole: Thing, part: Thing) -> bool:
    """Whether a list holds another one in one piece."""
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def _taken(rule: ThingRule, values: Sequence[object]) -> Thing:
    if rule.take in ("position", "ends"):
        return tuple(_positions(rule, values))
    if rule.take == "amounts":
        found = map(number, values)
        return tuple(value for value in found if value is not None)
    names = [fold(str(value)) for value in values[: MOST_ENTRIES if rule.take == "list" else 1]]
    return tuple(_thirteen(name) if rule.take == "isbn" else name for name in names)


def _matched(rule: ThingRule, text: str) -> list[object]:
    limit = 1 if rule.take in ("first", "text") else None
    found: list[object] = []
    for match in rule.compiled.finditer(text):
        found.append(match[1])
        if limit:
            break
    return found


def _found(value: object, path: Sequence[str]) -> list[object]:
    for at, name in enumerate(path):
        if name == "*":
            items = value if isinstance(value, list) else []
            return [leaf for item in items for leaf in _found(item, path[at + 1 :])]
        if isinstance(value, list):
            value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            return []
    return [value]


def _positions(rule: ThingRule, values: Sequence[object]) -> Iterator[float]:
    """The coordinates: of the places themselves, or of the two ends of each leg of a way."""
    for value in values:
        legs = value if isinstance(value, list) else [value]
        places = [leg.get(key) for leg in legs if isinstance(leg, dict) for key in rule.keys] if rule.keys else legs
        for place in places:
            inner = place.get("latLng", place) if isinstance(place, dict) else {}
            for axis in (_LATITUDE, _LONGITUDE):
                found = next((number(inner[name]) for name in axis if name in inner), None)
                if found is not None:
                    yield found


def _points(thing: Thing) -> list[tuple[float, float]]:
    values = [float(value) for value in thing]
    return list(zip(values[::2], values[1::2], strict=False))


def _same_amount(one: Fact, other: Fact) -> bool:
    return isclose(float(one), float(other), rel_tol=SAME_AMOUNT, abs_tol=LAST_DIGIT)


def _thirteen(isbn: str) -> str:
    """A book's number in its long form."""
    signs = re.sub(r"[^0-9x]", "", isbn)
    if len(signs) != 10:
        return signs
    body = f"978{signs[:9]}"
    check = -sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(body)) % 10
    return f"{body}{check}"
