"""Pairs of numbers: positions on Earth, tiles, points and sizes.

Written with a comma, a slash, a semicolon, `x`, `×`, `by` or a space between them, in brackets or not, as a list or as
an object with the parts' names. Positions on Earth are right within some metres; others within a span for each part.
"""

import re
from collections.abc import Iterator
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, hedge, is_nothing
from m3bench.tasks.answers.numerals import convert, known, unit_of
from m3bench.tasks.distance import metres
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

_PART = re.compile(r"[-+]?\d+(?:\.\d+)?")
_DEGREES = re.compile(
    r"(?P<before>[nsew])?\s*+(?P<sign>[-+]?)(?P<d>\d+(?:\.\d+)?)\s*+(?:°|deg(?:rees)?)?\s*+"
    r"(?:(?P<m>\d+(?:\.\d+)?)\s*+')?\s*+(?:(?P<s>\d+(?:\.\d+)?)\s*+(?:\"|''))?\s*+(?P<after>north|south|east|west|[nsew]\b)?"
)


_CALLED = {
    "width": ("width", "wide", "w"),
    "height": ("height", "high", "tall", "h"),
    "x": ("x", "column", "col"),
    "y": ("y", "row"),
    "column": ("x", "column", "col"),
    "row": ("y", "row"),
}
"""What people call the parts of a pair."""


class NumberPair(Value):
    """Two or three numbers that belong together, in a fixed order: a tile, a point, a size."""

    SHOWN = ("parts", "unit")

    type: Literal["pair"] = "pair"
    parts: tuple[str, ...] = ("x", "y")
    """What each number is."""
    unit: str = ""
    value: tuple[float, ...]
    within: float = 0.0

    @property
    def described(self) -> str:
        """The type in words."""
        return f"pair ({', '.join(self.parts)})" + (f", {self.unit}" if self.unit else "")

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the pair."""
        if is_nothing(given):
            return "nothing was given"
        mine = self._read(given)
        if mine is None:
            return f"it is not {len(self.value)} numbers"
        if all(abs(one - other) <= self.within + 1e-6 for one, other in zip(mine, self.value, strict=True)):
            return None
        return f"{', '.join(f'{number:g}' for number in mine)} is not right"

    def _read(self, given: JSON) -> tuple[float, ...] | None:
        if isinstance(given, dict):
            named = {fold(str(name)): value for name, value in given.items()}
            wanted = [named.get(fold(part)) for part in self.parts]
            if None in wanted and len(named) == len(self.value):
                wanted = list(named.values())
            given = wanted
        if isinstance(given, list | tuple):
            if len(given) == 1:
                return self._read(given[0])
            given = " , ".join(as_text(part) for part in given)
        text = fold(as_text(given))
        text, turned = self._labelled(text)
        text = re.sub(r"(?<=\d)\s*(?:x|×|\*|by)\s*(?=\d)", " , ", text)
        factor = self._factor(text)
        if factor is None or hedge(re.sub(r"[-/]|\bor\b(?=igin)", " ", text)):
            return None
        found = [float(part) * factor for part in _PART.findall(re.sub(r"(?<=\d)-(?=\d)", " ", text))]
        found = [found[number] for number in turned] if len(found) == len(turned) else found
        half = len(self.value)
        found = found[:half] if found[:half] == found[half:] else found  # said twice
        return tuple(found) if len(found) == half else None

    def _labelled(self, text: str) -> tuple[str, list[int]]:
        """A text without the names of the parts, and in which order it gives them where it names all of them."""
        places: list[int] = []
        for part in self.parts:
            name = "|".join(map(re.escape, sorted(_CALLED.get(fold(part), ()) or (fold(part),), key=len, reverse=True)))
            match = re.search(rf"(?<![a-z])(?:{name})(?![a-z])\s*[:=]?", text)
            if match:
                places.append(match.start())
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
        order = sorted(range(len(places)), key=places.__getitem__)
        whole = len(places) == len(self.parts) == len(self.value)
        return text, [order.index(number) for number in range(len(order))] if whole else []

    def _factor(self, text: str) -> float | None:
        """What one of the units in a text is in the unit asked for; None when they are no such units."""
        asked = unit_of(self.unit) if self.unit else None
        words = [word for word in re.findall(r"[a-z%]+", text) if word in known() and len(word) > 1]
        if asked is None or not words:
            return 1.0
        factors = {convert(1.0, word, asked) for word in words}
        return factors.pop() if len(factors) == 1 else None

    def given(self) -> JSON:
        """The numbers in their order."""
        return [int(number) if number == int(number) else number for number in self.value]

    def said(self) -> str:
        """The numbers in brackets."""
        return f"({', '.join(f'{number:g}' for number in self.value)})"

    def facts(self) -> Iterator[Fact]:
        """Each number."""
        yield from self.value


class Coordinate(Value):
    """A position on Earth."""

    type: Literal["coordinate"] = "coordinate"
    latitude: float
    longitude: float
    metres: float = 500.0
    """How far off it may be."""

    @property
    def described(self) -> str:
        """The type in words."""
        return "coordinate (latitude, longitude in degrees)"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the position."""
        if is_nothing(given):
            return "nothing was given"
        mine = _position(given)
        if mine is None:
            return "it is not a latitude and a longitude"
        off = metres(mine, (self.latitude, self.longitude))
        return None if off <= self.metres else f"it is {off / 1000:.1f} km off"

    def given(self) -> JSON:
        """Latitude and longitude."""
        return {"latitude": self.latitude, "longitude": self.longitude}

    def said(self) -> str:
        """Both numbers."""
        return f"{self.latitude}, {self.longitude}"

    def facts(self) -> Iterator[Fact]:
        """Both numbers."""
        yield from (self.latitude, self.longitude)


def one_coordinate(text: str, axis: str) -> str | None:
    """A latitude or longitude with a sign for its side: `52°31'N` as 52.5167; None when a text is something else."""
    match = _DEGREES.fullmatch(re.sub(r"\b(?:latitude|longitude|lat|lon|lng)\b\s*[:=]?", " ", text).strip(" ."))
    if match is None:
        return None
    sides = "ns" if axis == "latitude" else "ew"
    side = match["before"] or (match["after"] or "")[:1]
    if side and side not in sides:
        return f"the other axis ({side})"
    size = float(match["d"]) + float(match["m"] or 0) / 60 + float(match["s"] or 0) / 3600
    minutes = 4 if match["m"] else len(match["d"].partition(".")[2])
    return f"{'-' if match['sign'] == '-' or side in ('s', 'w') else ''}{size:.{minutes}f} degrees"


def _position(given: JSON) -> tuple[float, float] | None:
    if isinstance(given, dict):
        named = {fold(str(name))[:3]: value for name, value in given.items()}
        given = f"{named.get('lat', '')}, {named.get('lon', named.get('lng', ''))}"
    if isinstance(given, list | tuple):
        given = ", ".join(as_text(part) for part in given)
    text = re.sub(r"\b(?:lat|lon|lng|long)(?:itude)?\b\s*[:=]?", " ", fold(as_text(given)))
    if hedge(text):
        return None
    values: list[tuple[float, str]] = []
    for match in _DEGREES.finditer(text):
        size = float(match["d"]) + float(match["m"] or 0) / 60 + float(match["s"] or 0) / 3600
        side = (match["before"] or (match["after"] or "")[:1]) or ""
        values.append((-size if match["sign"] == "-" or side in ("s", "w") else size, side))
    if len(values) != 2:
        return None
    if values[0][1] in ("e", "w"):
        values.reverse()
    (latitude, _), (longitude, _) = values
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None
