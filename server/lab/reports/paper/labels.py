"""Names beside the points of a figure: none over another or over a point, with a line to a point that is further off.

Every name is tried beside its point first, then a few lines above and below. Names that find no free place stand in a
column on the right, in the order of their points, each with a line to its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from m3bench.server.scorecard.pages.drawing import wide

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

Spot: TypeAlias = tuple[float, float]

BESIDE, APART, COLUMN = 8.0, 22.0, 18.0
"""From a point to its name, to one with a line to it, and from the last point's place to the column."""

LINES = 6
"""How many lines above or below its point a name may be."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """A name with its place."""

    x: float
    y: float
    """Of the line that letters stand on."""
    anchor: Literal["start", "end"] = "start"
    """Which end is at x."""
    room: float
    """How wide it may be."""
    size: float
    point: Spot
    led: bool = True
    """Whether a line leads to its point."""

    @property
    def box(self) -> Box:
        """What it covers."""
        left = self.x if self.anchor == "start" else self.x - self.room
        return left, self.y - self.size * 0.85, left + self.room, self.y + self.size * 0.3

    @property
    def end(self) -> Spot:
        """Where a line to it ends."""
        return (self.x - 2 if self.anchor == "start" else self.x + 2), self.y - self.size * 0.3


def place_labels(points: Sequence[tuple[float, float, str]], size: float, plot: Box, edge: float) -> list[Label]:
    """A place for the name of each point.

    Args:
        points: Across, down, and the name.
        size: Of the letters.
        plot: Where points are.
        edge: Where the figure ends on the right.
    """
    found = _beside(points, size, (*plot[:2], edge, plot[3]))
    if None not in found:
        return [label for label in found if label is not None]
    found = _beside(points, size, (*plot[:2], plot[2] + COLUMN / 2, plot[3]))
    left = sorted((number for number, label in enumerate(found) if label is None), key=lambda number: points[number][1])
    for number, y in zip(left, _spread([points[number][1] for number in left], size + 2, plot), strict=True):
        x, down, name = points[number]
        start = plot[2] + COLUMN
        room = min(wide(name, size) + 1, edge - start)
        found[number] = Label(x=start, y=y + size * 0.35, room=room, size=size, point=(x, down))
    return [label for label in found if label is not None]


def _beside(points: Sequence[tuple[float, float, str]], size: float, area: Box) -> list[Label | None]:
    """A free place close to its point for each name; None where there is none."""
    dots = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    found: list[Label | None] = []
    for x, y, name in points:
        placed = [label for label in found if label is not None]
        others = [dot for dot in dots if not dot[0] <= x <= dot[2] or not dot[1] <= y <= dot[3]]
        places = _places(x, y, name, size, area)
        found.append(next((place for place in places if _free(place, dots, others, placed)), None))
    return found


def _places(x: float, y: float, name: str, size: float, area: Box) -> Iterator[Label]:
    """Places for a whole name, the best first."""
    room = wide(name, size) + 1
    for down in (0, *(way * away for away in range(1, LINES + 1) for way in (-1, 1))):
        for side in (1, -1):
            label = Label(
                x=x + side * (APART if down else BESIDE), y=y + size * 0.35 + down * (size + 2),
                anchor="start" if side > 0 else "end", room=room, size=size, point=(x, y), led=bool(down),
            )  # fmt: skip
            left, top, right, bottom = label.box
            if area[0] <= left and right <= area[2] and area[1] <= top and bottom <= area[3]:
                yield label


def _free(label: Label, dots: Sequence[Box], others: Sequence[Box], placed: Sequence[Label]) -> bool:
    """Whether a name covers nothing and its line passes nothing."""
    if any(_meet(label.box, box) for box in (*dots, *(other.box for other in placed))):
        return False
    if label.led and any(_passes(label, box) for box in (*others, *(other.box for other in placed))):
        return False
    led = [other for other in placed if other.led]
    return not any(_passes(other, label.box) or (label.led and _cross(label, other)) for other in led)


def _spread(wanted: Sequence[float], line: float, plot: Box) -> list[float]:
    """Places down a column, at least a line apart and as close to those wanted, which are sorted, as that allows."""
    places: list[float] = []
    for y in wanted:
        places.append(max(y, places[-1] + line) if places else y)
    # Back up by as much as they were moved down on average, and into the figure.
    moved = sum(places) / len(places) - sum(wanted) / len(wanted)
    excess = max(moved, places[-1] - (plot[3] - line / 2))
    highest = max(0.0, plot[1] + line / 2 - (places[0] - excess))
    return [place - excess + highest for place in places]


def _meet(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _passes(label: Label, box: Box) -> bool:
    """Whether the line to a name goes through a box."""
    for part in range(1, 21):
        x, y = (start + (end - start) * part / 20 for start, end in zip(label.point, label.end, strict=True))
        if box[0] <= x <= box[2] and box[1] <= y <= box[3]:
            return True
    return False


def _cross(one: Label, other: Label) -> bool:
    """Whether the lines to two names cross; lines from one point do not."""
    if one.point == other.point:
        return False
    return all(
        _side(*line, ends[0]) * _side(*line, ends[1]) < 0
        for line, ends in (
            ((one.point, one.end), (other.point, other.end)),
            ((other.point, other.end), (one.point, one.end)),
        )
    )


def _side(start: Spot, end: Spot, spot: Spot) -> float:
    return (end[0] - start[0]) * (spot[1] - start[1]) - (end[1] - start[1]) * (spot[0] - start[0])
