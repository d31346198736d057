"""Honest variants: calls that ask for the same as those of a reference, written as other clients write them.

Letters, accents and spaces of names, numbers as texts, positions with fewer digits, portions in other units, the other
number of a book, other units of the answer, more of a list, arrays in another order, several calls as one and one as
several, and another tool of the same server that tells the same. Each is a rule over the call; nothing is played here.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from m3bench.server.scoring.matching.other_routes import REACH
from m3bench.server.scoring.signatures import UNORDERED
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.trajectory import JSON, Call

_PORTION = re.compile(r"(\d+(?:\.\d+)?) ?(kg|g)\b(.*)", re.DOTALL)
_POINT = re.compile(r"\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)\s*")
_AXES = frozenset({"lat", "lng", "lon", "latitude", "longitude"})
_CODED = re.compile(r"[/_\\<>{}:]|\d[A-Za-z]|[A-Za-z]\d")
_WORDS = re.compile(r"[^\W\d_]{3,}")
OUNCE = 28.349523125
MORE = 2
"""How many more of a list are asked for."""
OTHER_TOOL = "another tool"
_SAME_ELSEWHERE: Mapping[str, tuple[str, str, str]] = {
    "google-maps/geocode": ("google-maps/places_text_search", "address", "query"),
    "wiki/summary": ("wiki/search", "title", "query"),
}
"""A tool that may tell the same: the argument here, and the one there."""


class HonestVariant(NamedTuple):
    """Calls in the place of some of a reference."""

    how: str
    places: tuple[int, ...]
    """The calls of the reference that they stand for."""
    calls: tuple[Call, ...]


def variants(calls: Sequence[Call]) -> Iterator[HonestVariant]:
    """The variants of every call that asks for something, and of calls that could be one."""
    for place, call in enumerate(calls):
        if kinds_of(call.tool).role in ("knowledge", "computation"):
            for how, other in _reworded(call):
                yield HonestVariant(how, (place,), (other,))
            yield from _singles(place, call)
            if call.tool in _SAME_ELSEWHERE:
                tool, mine, theirs = _SAME_ELSEWHERE[call.tool]
                yield HonestVariant(
                    OTHER_TOOL, (place,), (Call(tool=tool, arguments={theirs: call.arguments.get(mine)}),)
                )
    yield from _batches(calls)


def _reworded(call: Call) -> Iterator[tuple[str, Call]]:
    kinds = kinds_of(call.tool)
    for name, value in call.arguments.items():
        if kinds.kind(name) in ("content", "presentation"):
            continue
        for how, other in _values(call.tool, name, value):
            if other != value:
                yield how, replace(call, arguments={**call.arguments, name: other})
    properties = load_catalog().tool(call.tool).input_schema.get("properties", {})
    units = properties.get("units", {}).get("enum", ())
    for unit in units:
        if unit != call.arguments.get("units"):
            yield "units of the answer", replace(call, arguments={**call.arguments, "units": unit})
            break


def _values(tool: str, name: str, value: JSON) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if name in _AXES:
            yield "fewer digits", round(value, 4)
        elif name in REACH:
            yield "more of a list", value + MORE
        yield "number as text", str(value)
    elif isinstance(value, str):
        yield from _texts(tool, value)
    elif isinstance(value, Mapping):
        yield "fewer digits", _rounded(value)
    elif isinstance(value, list | tuple) and name in UNORDERED.get(tool, ()):
        yield "another order", list(reversed(value))


def _texts(tool: str, value: str) -> Iterator[tuple[str, JSON]]:
    point, portion = _POINT.fullmatch(value), _PORTION.fullmatch(value)
    if point:
        yield "fewer digits", f"{float(point[1]):.4f},{float(point[2]):.4f}"
        yield "a space", f"{point[1]}, {point[2]}"
    elif portion and "food" in tool:
        grams = float(portion[1]) * (1000 if portion[2] == "kg" else 1)
        yield "another unit", f"{grams / 1000:g} kg{portion[3]}"
        yield "another unit", f"{grams:g} grams{portion[3]}"
        yield "another unit", f"{grams / OUNCE:.4g} oz{portion[3]}"
    elif re.fullmatch(r"\d{13}|\d{9}[\dXx]", value) and "isbn" in str(load_catalog().tool(tool).input_schema):
        yield "hyphens", f"{value[:-10]}-{value[-10]}-{value[-9:-1]}-{value[-1]}".lstrip("-")
        if value.startswith("978") and len(value) == 13:
            yield "ten digits", _ten(value)
    elif _is_named(value):
        yield "small letters", value.lower()
        yield (
            "no accents",
            "".join(one for one in unicodedata.normalize("NFKD", value) if not unicodedata.combining(one)),
        )
        yield "spaces", f"  {value.replace(' ', '  ')} "


def _is_named(value: str) -> bool:
    """Whether a text is a name in words, not an id, a path or a code."""
    return (
        bool(_WORDS.search(value))
        and not re.search(r"[/_\\<>{}:]|\d[A-Za-z]|[A-Za-z]\d", value)
        and not value.isupper()
    )


def _ten(isbn: str) -> str:
    body = isbn[3:12]
    check = -sum(int(digit) * (10 - at) for at, digit in enumerate(body)) % 11
    return f"{body}{'X' if check == 10 else check}"


def _rounded(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {
            name: round(one, 4) if name in _AXES and isinstance(one, float) else _rounded(one)
            for name, one in value.items()
        }
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _array_of(call: Call) -> str | None:
    """The one argument of a call that takes several things."""
    properties = load_catalog().tool(call.tool).input_schema.get("properties", {})
    found = [name for name in call.arguments if properties.get(name, {}).get("type") == "array"]
    return found[0] if len(found) == 1 and kinds_of(call.tool).role == "knowledge" else None


def _singles(place: int, call: Call) -> Iterator[HonestVariant]:
    name = _array_of(call)
    value = call.arguments.get(name) if name else None
    if name and isinstance(value, list | tuple) and len(value) > 1:
        calls = tuple(replace(call, arguments={**call.arguments, name: [item]}) for item in value)
        yield HonestVariant("singles for a batch", (place,), calls)


def _items(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _batches(calls: Sequence[Call]) -> Iterator[HonestVariant]:
    for place, call in enumerate(calls):
        name = _array_of(call)
        if name is None:
            continue
        rest = {key: value for key, value in call.arguments.items() if key != name}
        others = [
            at for at, other in enumerate(calls)
            if at > place and other.tool == call.tool
            and {key: value for key, value in other.arguments.items() if key != name} == rest
        ]  # fmt: skip
        if others:
            joined = [item for at in (place, *others) for item in _items(calls[at].arguments[name])]
            yield HonestVariant(
                "a batch for singles", (place, *others), (replace(call, arguments={**call.arguments, name: joined}),)
            )
