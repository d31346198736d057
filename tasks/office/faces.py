"""How wide text is in the fonts that office files name, and how it is drawn in the font that every machine has.

Widths and kerning are those of Carlito, Liberation Sans, Serif and Mono, which are as wide as Calibri, Arial, Times New
Roman and Courier New (`tasks/data/office_fonts.json`). Letters are drawn in Source Sans Pro, as high as the named
font's capitals, each in the middle of the room that the named font gives it.
"""

import json
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from m3bench.tasks.drawing import fonts
from m3bench.tasks.office.marks import Typeface

ASCENT, LINE = 0.994, 1.2004
"""Where the foot of letters is below the top of their line, and how high a line is, for size 1: in shapes of slides,
whatever the font."""
_RISE = {
    "Carlito": (0.75, 1.0),
    "Liberation Sans": (0.9053, 1.1172),
    "Liberation Serif": (0.8911, 1.1074),
    "Liberation Mono": (0.8325, 1.1328),
}
"""The same by font, as in cells and charts."""
FALLBACK = "Liberation Sans"
_UNIT = 2048
_SAME = {
    "calibri": "Carlito",
    "carlito": "Carlito",
    "calibri light": "Carlito",
    "arial": "Liberation Sans",
    "helvetica": "Liberation Sans",
    "liberation sans": "Liberation Sans",
    "times new roman": "Liberation Serif",
    "times": "Liberation Serif",
    "liberation serif": "Liberation Serif",
    "courier new": "Liberation Mono",
    "courier": "Liberation Mono",
    "liberation mono": "Liberation Mono",
}
_WIDE = 0.9
"""Of a letter that no table has, such as those of East Asia."""


class _Table(NamedTuple):
    capital: float
    advances: dict[str, float]
    kerning: dict[str, float]


def known(family: str) -> str | None:
    """The font whose widths a named one has; None when its widths are not known."""
    return _SAME.get(family.strip().casefold())


def rise(face: Typeface) -> tuple[float, float]:
    """Where the foot of letters is below the top of their line, and how high a line is, in cells and charts."""
    ascent, line = _RISE[known(face.family) or FALLBACK]
    return ascent * face.size, line * face.size


@cache
def _tables() -> dict[tuple[str, str], _Table]:
    path = Path(__file__).parent.parent / "data" / "office_fonts.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for family, styles in data["faces"].items():
        for style, one in styles.items():
            advances = {letter: wide / _UNIT for letter, wide in zip(data["letters"], one["advances"], strict=True)}
            kerning = {
                pairs[at : at + 2]: int(amount) / _UNIT
                for amount, pairs in one["kerning"].items()
                for at in range(0, len(pairs), 2)
            }
            found[family, style] = _Table(one["capital"] / _UNIT, advances, kerning)
    return found


def _table(face: Typeface) -> _Table:
    style = " ".join(name for name, wanted in (("bold", face.bold), ("italic", face.italic)) if wanted) or "regular"
    tables = _tables()
    family = known(face.family) or FALLBACK
    return tables.get((family, style)) or tables[family, "regular"]


@lru_cache(maxsize=20_000)
def _places(text: str, face: Typeface) -> tuple[tuple[float, ...], float]:
    table = _table(face)
    at, before, found = 0.0, "", []
    for letter in text:
        at += table.kerning.get(before + letter, 0.0)
        found.append(at * face.size)
        at += table.advances.get(letter) or _WIDE
        before = letter
    return tuple(found), at * face.size


def width(text: str, face: Typeface) -> float:
    """How wide a text is."""
    return _places(text, replace(face, colour=(0, 0, 0), underlined=False))[1]


def letters(text: str, face: Typeface) -> list[tuple[str, float]]:
    """Each letter of a word with the place where it is drawn, from the word's beginning."""
    table, size = _table(face), drawn_size(face)
    places, _ = _places(text, replace(face, colour=(0, 0, 0), underlined=False))
    found = []
    for letter, place in zip(text, places, strict=True):
        room = (table.advances.get(letter) or _WIDE) * face.size
        found.append((letter, place + (room - fonts.width(letter, size, 700 if face.bold else 400)) / 2))
    return found


def drawn_size(face: Typeface) -> float:
    """The size of Source Sans Pro at which its capitals are as high as those of the named font."""
    return round(face.size * _table(face).capital / fonts.CAP_HEIGHT, 2)


def strange(text: str, face: Typeface) -> str:
    """The letters of a text whose width is not known."""
    table = _table(face)
    return "".join(dict.fromkeys(letter for letter in text if letter not in table.advances and letter > " "))
