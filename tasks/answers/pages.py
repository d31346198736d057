"""What is on the pages of an artefact: it says what it must, fits, is true to its figures, and kept what was right.

All of them measure with the fonts that pages are rendered in. A file is judged as it is in the end: of several that fit
the pattern the one that was changed last counts.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from m3bench.tasks.answers.numerals import numbers_in
from m3bench.tasks.checks import BaseCheck, Evidence
from m3bench.tasks.folding import fold
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.studio.page import Page, pages, read

if TYPE_CHECKING:
    import numpy as np

    from m3bench.tasks.studio import rendering
else:
    rendering = LazyModule("m3bench.tasks.studio.rendering")
    np = LazyModule("numpy")

NEAR = 1.5
"""Pixels by which a place may be off."""
SHADE = 6.0
"""Mean difference in shades, of 255, up to which two drawings look alike."""

Box = tuple[float, float, float, float]


class PageCheck(BaseCheck):
    """Something about one page of a file."""

    pattern: str = "*.svg"
    page: int = 1
    """Which page of the file."""

    def problem(self, evidence: Evidence) -> str | None:
        """What is wrong with the page."""
        files = evidence.find(self.pattern)
        if not files:
            return f"there is no {self.pattern}"
        found = pages(files[-1].name, files[-1].read_bytes())
        return self.fault(found[self.page - 1]) if len(found) >= self.page else f"it has no page {self.page}"

    @abstractmethod
    def fault(self, page: Page) -> str | None:
        """What is wrong with a page."""


class PageKept(PageCheck):
    """What was right is as it was, in the same order, and nothing was added to it."""

    kind: Literal["page_kept"] = "page_kept"
    kept: Mapping[str, str]
    """The digests of what was right of each element."""
    free: Mapping[str, tuple[str, ...]] = {}
    """By element, the attributes that were not right; they are no part of its digest."""
    open: tuple[str, ...] = ()
    """Elements of which nothing need be kept, and new ones that may be there."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"what was right of {len(self.kept)} elements is as it was"

    def fault(self, page: Page) -> str | None:
        """What was broken."""
        there = {element.name: element.digest(self.free.get(element.name, ())) for element in page.elements}
        for name, digest in self.kept.items():
            if name not in there:
                return f"{name} is gone"
            if there[name] != digest:
                return f"something of {name} was right and was changed"
        if new := [name for name in there if name not in self.kept and name not in self.open]:
            return f"{new[0]} was added"
        still = [name for name in self.kept if name not in self.free]
        order = [name for name in there if name in still]
        return "elements are in another order" if order != still else None


class PageSays(PageCheck):
    """Elements that have a text."""

    kind: Literal["page_says"] = "page_says"
    texts: Mapping[str, str]
    """By the element's name; a number may be written with another number of zeros behind the point."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return "the page says " + ", ".join(repr(text) for text in self.texts.values())

    def fault(self, page: Page) -> str | None:
        """Which text is not right."""
        for name, text in self.texts.items():
            if name not in page:
                return f"{name} is missing"
            if not _same(page[name].text, text):
                return f"{name} says {page[name].text[:60]!r}"
        return None


class PageLacks(PageCheck):
    """Elements that must not be on a page."""

    kind: Literal["page_lacks"] = "page_lacks"
    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the page is without {', '.join(self.names)}"

    def fault(self, page: Page) -> str | None:
        """Which of them is there."""
        there = [name for name in self.names if name in page]
        return f"{there[0]} is still there" if there else None


class TextFits(PageCheck):
    """Texts lie in their boxes and can be read."""

    kind: Literal["text_fits"] = "text_fits"
    boxes: Mapping[str, str]
    """By text, the rectangle that it belongs into."""
    least: Mapping[str, float]
    """By text, the size of letters below which it is too small."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.boxes)} texts fit their boxes"

    def fault(self, page: Page) -> str | None:
        """Which text does not."""
        for name, around in self.boxes.items():
            if name not in page or around not in page:
                return f"{name if name not in page else around} is missing"
            if not rendering.inside(rendering.box(page, name), rendering.box(page, around), NEAR):
                return f"{name} sticks out of {around}"
            if page[name].number("font-size") < self.least.get(name, 0.0) - 0.01:
                return f"{name} is too small to be read"
        return None


class NoOverlap(PageCheck):
    """Elements that do not cover each other and are on the sheet."""

    kind: Literal["no_overlap"] = "no_overlap"
    names: tuple[str, ...]
    within: Box | None = None
    """Where they must be; on the page when left out."""
    least: Mapping[str, tuple[float, float]] = {}
    """By element, how wide and high it must be at least."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.names)} elements do not overlap"

    def fault(self, page: Page) -> str | None:
        """Which of them do."""
        sheet = self.within or (0.0, 0.0, page.width, page.height)
        for name in self.names:
            if name not in page:
                return f"{name} is missing"
            left, top, right, bottom = found = rendering.box(page, name)
            if not rendering.inside(found, sheet, NEAR):
                return f"{name} is outside"
            wide, high = self.least.get(name, (0.0, 0.0))
            if right - left < wide - NEAR or bottom - top < high - NEAR:
                return f"{name} is too small"
        for one, other in rendering.overlapping(page, list(self.names), NEAR):
            return f"{one} and {other} overlap"
        return None


class BlocksAt(PageCheck):
    """Elements whose boxes are where they should be, as blocks of a timetable are by room, time and length."""

    kind: Literal["blocks_at"] = "blocks_at"
    boxes: Mapping[str, Box]
    near: float = 3.0
    """Pixels by which a side may be off."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.boxes)} blocks are where they belong"

    def fault(self, page: Page) -> str | None:
        """Which block is not."""
        for name, wanted in self.boxes.items():
            if name not in page:
                return f"{name} is missing"
            if any(abs(one - other) > self.near for one, other in zip(rendering.box(page, name), wanted, strict=True)):
                return f"{name} is not where it belongs"
        return None


class BarsTrue(PageCheck):
    """A bar chart whose axis begins at zero and whose bars are as long as their figures say."""

    kind: Literal["bars_true"] = "bars_true"
    axis: str
    """The line at the foot of the bars."""
    bars: Mapping[str, float]
    """Rectangles, each with its figure."""
    ticks: tuple[str, ...]
    """Texts with the numbers of the scale, each at the height of what it says."""
    middle: float = 0.0
    """How far below its line the writing of a tick is, for size 1."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.bars)} bars stand on zero and are true to their figures"

    def fault(self, page: Page) -> str | None:
        """What misleads."""
        if missing := [name for name in (self.axis, *self.bars, *self.ticks) if name not in page]:
            return f"{missing[0]} is missing"
        foot = page[self.axis].number("y1")
        scale = []
        for name in self.ticks:
            one = page[name]
            said = numbers_in(one.text)
            if len(said) != 1:
                return f"{name} is no number"
            scale.append((said[0], foot - one.number("y") + self.middle * one.number("font-size")))
        if abs(min(scale)[0]) > 1e-9 or abs(min(scale)[1]) > NEAR + 1:
            return "the axis does not begin at zero"
        number, height = max(scale)
        if number <= 0 or height <= 0:
            return "the axis has no scale"
        if off := [value for value, place in scale if abs(place - value * height / number) > NEAR + 1]:
            return f"{off[0]:g} is at the wrong height of the axis"
        for name, value in self.bars.items():
            _, top, _, bottom = rendering.box(page, name)
            if abs(bottom - foot) > NEAR:
                return f"{name} does not stand on the axis"
            wanted = value * height / number
            if abs(bottom - top - wanted) > max(NEAR, 0.015 * wanted):
                return f"{name} is not as high as its figure"
        return None


class MarksIn(PageCheck):
    """Marks that lie in the right areas of a plan, and in the right areas alone."""

    kind: Literal["marks_in"] = "marks_in"
    marks: Mapping[str, str]
    """By mark, the rectangle or polygon that it belongs into."""
    margin: float = 4.0
    """How far from the edge of its area the box of a mark must stay."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.marks)} marks are where they belong"

    def fault(self, page: Page) -> str | None:
        """Which mark is not."""
        for name, area in self.marks.items():
            if name not in page or area not in page:
                return f"{name if name not in page else area} is missing"
            left, top, right, bottom = rendering.box(page, name)
            edge = self.margin
            corners = [(x, y) for x in (left - edge, right + edge) for y in (top - edge, bottom + edge)]
            if not all(rendering.contains(page[area], x, y) for x, y in corners):
                return f"{name} is not in {area}"
        return None


class PageLooks(PageCheck):
    """Parts of a page that look as they should, pixel by pixel."""

    kind: Literal["page_looks"] = "page_looks"
    svg: str
    """A page on which they do."""
    parts: tuple[Box, ...]

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{len(self.parts)} parts of the page look right"

    def fault(self, page: Page) -> str | None:
        """Which part does not."""
        right = read(self.svg.encode())
        if (page.width, page.height) != (right.width, right.height):
            return "it has another size"
        mine, wanted = (np.asarray(rendering.picture(shown), dtype=np.int16) for shown in (page, right))
        for number, (left, top, end, bottom) in enumerate(self.parts, 1):
            area = (slice(int(top), int(bottom)), slice(int(left), int(end)))
            if float(np.abs(mine[area] - wanted[area]).mean()) > SHADE:
                return f"part {number} does not look right"
        return None


def _same(mine: str, right: str) -> bool:
    if fold(mine) == fold(right):
        return True
    one, other = numbers_in(mine), numbers_in(right)
    return len(one) == len(other) == 1 and abs(one[0] - other[0]) < 1e-9 and _words(mine) == _words(right)


def _words(text: str) -> str:
    return "".join(letter for letter in fold(text) if letter.isalpha() or letter in "%$€£")
