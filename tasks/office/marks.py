"""What is on a sheet: words, shapes and pictures, in the order in which they are painted.

Places are pixels of a 96th of an inch from the sheet's upper left corner, y downwards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Colour = tuple[int, int, int]
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
MOST_MARKS = 40_000
"""On a sheet."""


class OfficeError(Exception):
    """A file cannot be shown; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Typeface:
    """How letters look."""

    family: str = "Carlito"
    size: float = 24.0
    """In pixels."""
    bold: bool = False
    italic: bool = False
    underlined: bool = False
    colour: Colour = BLACK


@dataclass(frozen=True, kw_only=True)
class Word:
    """Letters without a space between them."""

    text: str
    x: float
    """Where it begins; of a turned word: where its line is."""
    y: float
    """Where its line is; of a turned word: where it begins."""
    width: float
    face: Typeface
    owner: str
    turned: bool = False
    """It runs upwards."""
    clip: Box | None = None
    """Where it is seen; everywhere when left out."""

    @property
    def box(self) -> Box:
        """Around letters as high and deep as letters get."""
        up, down = 0.75 * self.face.size, 0.22 * self.face.size
        if self.turned:
            return self.x - up, self.y - self.width, self.x + down, self.y
        return self.x, self.y - up, self.x + self.width, self.y + down


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A closed shape that is filled, framed or both."""

    points: tuple[Point, ...]
    owner: str
    fill: Colour | None = None
    line: Colour | None = None
    width: float = 1.0
    opacity: float = 1.0

    @property
    def box(self) -> Box:
        """Around its corners."""
        return around(self.points)


@dataclass(frozen=True, kw_only=True)
class Stroke:
    """An open line."""

    points: tuple[Point, ...]
    owner: str
    colour: Colour = BLACK
    width: float = 1.0

    @property
    def box(self) -> Box:
        """Around its points."""
        return around(self.points)


@dataclass(frozen=True, kw_only=True)
class Inset:
    """A picture out of the file."""

    box: Box
    data: bytes = field(repr=False)
    owner: str
    crop: Box = (0.0, 0.0, 0.0, 0.0)
    """What is cut away at each side, as a share."""


Mark = Word | Surface | Stroke | Inset


@dataclass(frozen=True, kw_only=True)
class PrintedSheet:
    """A slide or a worksheet."""

    name: str
    width: float
    height: float
    marks: tuple[Mark, ...]
    boxes: dict[str, Box]
    """What has a name on it, and its box in the file: shapes, cells, charts."""
    unknown: tuple[str, ...] = ()
    """What the file has on it and is not drawn, or not as written."""
    ground: Colour = WHITE

    def words(self, owner: str | None = None) -> Iterator[Word]:
        """All words, or those of one thing."""
        return (mark for mark in self.marks if isinstance(mark, Word) and owner in (None, mark.owner))


def around(points: Sequence[Point]) -> Box:
    """The box around points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def joined(boxes: Sequence[Box]) -> Box:
    """The box around boxes."""
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def corners(box: Box) -> tuple[Point, ...]:
    """The corners of a box."""
    left, top, right, bottom = box
    return (left, top), (right, top), (right, bottom), (left, bottom)
