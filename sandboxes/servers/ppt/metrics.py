"""How much room a text takes, from character widths and greedy line breaking.

The widths are those of a wide sans-serif face (the one that stands in where a named font is missing), so that
what fits here fits with the usual, narrower faces too: a bound, not a rendering. Sizes are points, widths are
points, and nothing here knows about slides.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

LINE = 1.22
"""Height of a line in units of the font size."""

BOLD = 1.13
"""How much wider bold text runs."""

_FIRST = 32
_WIDTHS = (
    (318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337)
    + (636,) * 10
    + (337, 337, 838, 838, 838, 531)
    + (1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787)
    + (603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500)
    + (500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612)
    + (635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838)
)
"""Thousandths of the font size, for the characters from the space to the tilde."""

_NARROW = {"–": 500, "“": 520, "”": 520, "‘": 320, "’": 320, "•": 590, "·": 320, "°": 500, "\u00a0": 318}
_OTHER = 750
_WIDE = 1050
_WORD = 24
"""Letters; longer words are addresses and the like."""
_HANGUL = 0x1100
"""From here on most scripts have no spaces between words."""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A paragraph to be measured."""

    text: str
    size: float
    bold: bool = False
    indent: float = 0.0
    """Points lost at the left of every line."""
    before: float = 0.0
    """Space above it in units of the font size; the first paragraph of a text has none."""


def width(text: str, size: float, bold: bool = False) -> float:
    """The length of a text in one line."""
    return _measure(text) * size / 1000 * (BOLD if bold else 1.0)


def line_count(text: str, size: float, available: float, bold: bool = False) -> int:
    """How many lines a paragraph takes; words longer than a line are broken."""
    room = max(available, size) * 1000 / size / (BOLD if bold else 1.0)
    return sum(_lines(line, room) for line in text.split("\v"))


def height(paragraphs: Sequence[Paragraph], available: float, scale: float = 1.0) -> float:
    """The height of a text in a column, with every size scaled; infinite when a word would be broken."""
    total = 0.0
    for index, paragraph in enumerate(paragraphs):
        size = paragraph.size * scale
        if width(_longest_word(paragraph.text), size, paragraph.bold) > available - paragraph.indent:
            return math.inf
        lines = line_count(paragraph.text, size, available - paragraph.indent, paragraph.bold)
        total += size * (LINE * lines + (paragraph.before if index else 0.0))
    return total


def largest_scale(paragraphs: Sequence[Paragraph], available: float, room: float, steps: Sequence[float]) -> float:
    """The largest of some ascending scales at which a text fits a box; the smallest when none does."""
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if height(paragraphs, available, steps[middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return steps[low]


@lru_cache(maxsize=256)
def _longest_word(text: str) -> str:
    """The widest word that must stay in one piece: scripts without spaces and very long words may be broken."""
    words = (word for word in text.split() if len(word) <= _WORD and all(ord(letter) < _HANGUL for letter in word))
    return max(words, key=_measure, default="")


def _lines(text: str, room: float) -> int:
    lines, used = 1, 0.0
    for word in text.split(" "):
        wide = _measure(word)
        gap = _WIDTHS[0] if used else 0
        if used + gap + wide <= room:
            used += gap + wide
            continue
        if used:
            lines += 1
        extra = math.ceil(wide / room) - 1 if wide > room else 0
        lines += extra
        used = wide - extra * room
    return lines


def _measure(text: str) -> int:
    return _measure_word(text) if len(text) <= _WORD else sum(map(_character, text))


@lru_cache(maxsize=4096)
def _measure_word(text: str) -> int:
    return sum(map(_character, text))


@lru_cache(maxsize=4096)
def _character(character: str) -> int:
    code = ord(character)
    if _FIRST <= code < _FIRST + len(_WIDTHS):
        return _WIDTHS[code - _FIRST]
    if character == "\t":
        return 4 * _WIDTHS[0]
    if character in _NARROW:
        return _NARROW[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    base = unicodedata.normalize("NFD", character)[0]
    if base != character and ord(base) < 127:
        return _character(base)
    kind = unicodedata.east_asian_width(character)
    return _WIDE if kind in ("W", "F") or (kind == "A" and not character.isalpha()) else _OTHER
