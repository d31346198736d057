"""Lines of writing in boxes, some of which are too long: nobody knows which without the metrics of the font."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.answers.pages import TextFits
from m3bench.tasks.families.base import need
from m3bench.tasks.studio import fonts
from m3bench.tasks.studio.page import Page

FULL, OVER = (0.93, 0.975), (1.035, 1.08)
"""How much of its box a line takes that fits, and one that does not: nobody knows which it is without looking."""
SMALLEST = 0.8
"""How much smaller than need be lettering may become that was made to fit."""
OUT = {True: 0.7, False: 0.2}
"""How often a line is too long for its box: more often where its letters are wider than most, as it is in life."""


class Line(NamedTuple):
    """A line of writing that belongs into a box."""

    name: str
    text: str
    box: str
    """The name of the box."""
    width: float
    """How wide it may be at most: from where it begins to the edge of the box, or from edge to edge in the middle."""
    weight: int = 400
    most: float = 60.0
    """The size of letters that the box has room for in height."""

    @property
    def wide(self) -> bool:
        """Whether its letters are wider than most."""
        return fonts.width(self.text, 1.0, self.weight) > len(self.text) * _LETTER[self.weight]


@dataclass(frozen=True)
class Lettering:
    """Sizes of lines in their boxes: as drafted, as they should be, and as careless people would have them."""

    lines: tuple[Line, ...]
    drafted: Mapping[str, float]
    right: Mapping[str, float]

    @classmethod
    def drawn(cls, rng: random.Random, lines: Sequence[Line], at_least: int = 0) -> "Lettering":
        """Sizes for some lines, of which half are written in capitals, and some are too long, and never all.

        Args:
            rng: Chooses.
            lines: What is to be written.
            at_least: How many are too long at least.
        """
        capitals = set(rng.sample([line.name for line in lines], len(lines) // 2))
        lines = [line._replace(text=line.text.upper()) if line.name in capitals else line for line in lines]
        out = {line.name for line in lines if rng.random() < OUT[line.wide]}
        names = rng.sample([line.name for line in lines], len(lines))
        out |= set(names[:at_least])
        if len(out) == len(lines):
            out.discard(names[-1])
        drafted, right = {}, {}
        for line in lines:
            fits = _size(line, rng.uniform(*FULL))
            right[line.name] = fits
            drafted[line.name] = _size(line, rng.uniform(*OVER)) if line.name in out else fits
            need(drafted[line.name] <= line.most, f"{line.name} would be too high for its box")
        return cls(tuple(lines), drafted, right)

    @property
    def everything(self) -> dict[str, float]:
        """Every line made smaller."""
        return {line.name: round(self.drafted[line.name] * 0.88, 1) for line in self.lines}

    @property
    def estimated(self) -> dict[str, float]:
        """Lines made smaller that have too many letters for their box, by what a letter takes on average."""
        found = {}
        for line in self.lines:
            size = self.drafted[line.name]
            guess = len(line.text) * size * _LETTER[line.weight]
            found[line.name] = size if guess <= line.width else round(size * 0.88, 1)
        return found

    @property
    def texts(self) -> dict[str, str]:
        """What is written, by the name of the line."""
        return {line.name: line.text for line in self.lines}

    def fits(self) -> TextFits:
        """What the finished page must keep to."""
        return TextFits(
            boxes={line.name: line.box for line in self.lines},
            least={line.name: round(self.right[line.name] * SMALLEST, 1) for line in self.lines},
        )

    def loose(self) -> dict[str, tuple[str, ...]]:
        """How lines that are too long may be mended."""
        return {
            name: ("font-size", "font-weight", "x", "y", "text-anchor")
            for name, size in self.drafted.items()
            if size != self.right[name]
        }


_LETTER = {400: 0.415, 600: 0.45, 700: 0.435}
"""The mean width of a letter in English text, for size 1."""


def _size(line: Line, share: float) -> float:
    """The size at which a line takes a share of its box."""
    return round(share * line.width / fonts.width(line.text, 1.0, line.weight), 1)


def resized(page: Page, sizes: Mapping[str, float]) -> Page:
    """A page with lines in other sizes."""
    for name, size in sizes.items():
        page = page.with_element(page[name].changed({"font-size": size}))
    return page
