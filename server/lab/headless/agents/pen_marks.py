"""Pen marks found by colour and shape: loops, ticks, crosses, counted strokes and arrows.

A mark is a thin line in one of the colours of a pen. Pixels near such a colour form components; what is thick anywhere
is a thing that happens to have the colour. A loop encloses a part of the picture, or goes most of the way around
one. Nothing here knows what is in the picture besides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from m3bench.tasks.scene import Box

Pixels: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

PENS = {
    "red": (227, 32, 43),
    "blue": (20, 103, 224),
    "green": (20, 154, 78),
    "black": (22, 24, 29),
    "yellow": (255, 215, 94),
    "ink": (29, 63, 143),
    "dark": (34, 38, 46),
    "dark red": (160, 28, 44),
}
"""What pens write in."""
OPACITY = 0.92
"""A line lets a bit of what lies under it shine through."""
_OFF = 14
"""How far a channel may be off the colour beyond that, of 255."""
_THICKEST = 8.0
"""Pixels from the middle of a line to its edge at most."""
_LEAST_LOOP = 26
"""Pixels that the inside of a loop is wide and high at least."""
_AROUND = 0.62
"""The share of directions in which a loop that others cover in part has its line."""
_DIRECTIONS = 72
_LEAST_PIXELS = 40
_CONTRAST = 45
_DASHES = 14
"""How many dashes in a row make a dashed line."""
_LEAST_ARROW = 30
"""Pixels that an arrow is wide and high at least."""
_TICKED = 18.0
"""How much the brightness of a square differs within, of 255, when something is written in it."""


@dataclass(frozen=True, kw_only=True)
class PenMark:
    """One line, or several that touch."""

    colour: str
    box: Box
    """Of a loop: what it encloses, without the line."""
    mask: Mask
    """Its pixels, in the box from `corner` on."""
    corner: tuple[int, int]

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of its box."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    @property
    def size(self) -> tuple[float, float]:
        """How wide and how high its box is."""
        left, top, right, bottom = self.box
        return right - left, bottom - top


def pen_mask(image: Pixels, colour: str) -> Mask:
    """The pixels that a pen of a colour may have drawn."""
    pen = np.array(PENS[colour], float)
    low = np.floor(pen * OPACITY) - _OFF
    high = np.ceil(pen * OPACITY + 255 * (1 - OPACITY)) + _OFF
    found: Mask = np.all((image >= low) & (image <= high), axis=2)
    return found


def thin(mask: Mask) -> Mask:
    """A mask without what is thicker than a line, so that a line stays one where it touches a thing of its colour."""
    side = round(2 * _THICKEST) + 3
    thick = ndimage.maximum_filter(ndimage.minimum_filter(mask, side, mode="constant"), side + 4)
    kept: Mask = mask & ~thick
    return kept


def lines(image: Pixels, colour: str) -> Iterator[PenMark]:
    """Every thin line of a colour."""
    mask = ndimage.binary_closing(thin(pen_mask(image, colour)), np.ones((3, 3)), border_value=0)
    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    for number, place in enumerate(ndimage.find_objects(labels), 1):
        part = labels[place] == number
        if part.sum() < _LEAST_PIXELS:
            continue
        yield PenMark(colour=colour, box=box_of(place), mask=part, corner=(place[1].start, place[0].start))


def loops(image: Pixels, colour: str) -> list[PenMark]:
    """Every loop of a colour, from the left to the right of each row."""
    found = [loop for line in lines(image, colour) for loop in _loops_of(line)]
    return in_rows(found)


def in_rows(marks: "list[PenMark]") -> list[PenMark]:
    """Marks line by line: what has its middle above the lower edge of a row's first belongs to the row."""
    waiting, ordered = sorted(marks, key=lambda mark: mark.middle[1]), []
    while waiting:
        edge = waiting[0].middle[1] + waiting[0].size[1] / 2
        row = [mark for mark in waiting if mark.middle[1] <= edge]
        ordered += sorted(row, key=lambda mark: mark.middle[0])
        waiting = [mark for mark in waiting if mark.middle[1] > edge]
    return ordered


def _loops_of(line: PenMark) -> Iterator[PenMark]:
    """The loops in a line: what it encloses, or what it nearly goes around."""
    width, height = line.size
    if min(width, height) < _LEAST_LOOP:
        return
    reach = 7
    grown = ndimage.binary_dilation(np.pad(line.mask, reach), iterations=reach - 3)
    labels, _ = ndimage.label(ndimage.binary_fill_holes(grown) & ~grown)
    holes = []
    for place in ndimage.find_objects(labels):
        left, top, right, bottom = box_of(place)
        if min(right - left, bottom - top) >= _LEAST_LOOP - reach:
            x, y = line.corner[0] - reach, line.corner[1] - reach
            holes.append((left + x - 4, top + y - 4, right + x + 4, bottom + y + 4))
    if not holes and goes_around(line.mask):
        left, top, right, bottom = line.box
        holes = [(left + 8, top + 8, right - 8, bottom - 8)]
    for hole in holes:
        yield PenMark(colour=line.colour, box=hole, mask=line.mask, corner=line.corner)


def goes_around(mask: Mask) -> bool:
    """Whether a line is seen from its middle in most directions, and the middle is free of it."""
    height, width = mask.shape
    rows, columns = np.nonzero(mask)
    across, down = (columns - width / 2) / width * 2, (rows - height / 2) / height * 2
    if np.mean(np.maximum(abs(across), abs(down)) < 0.55) > 0.05:
        return False
    bins = ((np.arctan2(down, across) + np.pi) / (2 * np.pi) * _DIRECTIONS).astype(int) % _DIRECTIONS
    return len(set(bins.tolist())) >= _AROUND * _DIRECTIONS


def is_cross(mask: Mask) -> bool:
    """Whether a small mark is a cross: ink in all four corners of its box. A tick has none in the upper left one."""
    height, width = mask.shape
    third, wide = max(1, height // 3), max(1, width // 3)
    corners = (mask[:third, :wide], mask[:third, -wide:], mask[-third:, :wide], mask[-third:, -wide:])
    return min(float(corner.mean()) for corner in corners) > 0.08


def ticked_squares(image: Pixels, feet: Sequence[int], side: int = 30) -> tuple[int, list[int]]:
    """Where a column of printed squares begins, and the feet of those that somebody ticked.

    Args:
        image: The picture.
        feet: Where the writing beside each square would stand.
        side: Of a square.
    """
    dark = 255.0 - image.mean(2)
    bands = np.stack([dark[y - 22 : y - 3].mean(0) for y in feet])
    # The border of a square is a line at its left and one at its right, in every row.
    edges = np.minimum(bands[:, :-side], bands[:, side:]) - bands[:, side // 5 : side // 5 - side]
    left = int(np.median(edges, axis=0).argmax())
    inside = [float(dark[y - 22 : y - 2, left + 4 : left + side - 4].std()) for y in feet]
    return left, [y for y, spread in zip(feet, inside, strict=True) if spread > _TICKED]


def count_strokes(image: Pixels, colour: str, box: Box) -> int:
    """How many strokes stand in a box: upright ones, and one for each that crosses four."""
    left, top, right, bottom = (max(0, round(side)) for side in box)
    mask = thin(pen_mask(image[top:bottom, left:right], colour))
    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    total = 0
    for number, place in enumerate(ndimage.find_objects(labels), 1):
        part = labels[place] == number
        if part.shape[0] < 18 or part.sum() < _LEAST_PIXELS:
            continue
        total += _strokes_in(part)
    return total


def _strokes_in(part: Mask) -> int:
    """The strokes of a component: one, or five that touch because the fifth goes across."""
    height, width = part.shape
    if width < height * 0.9:
        return 1
    most = 0
    for row in (*part[: height // 4], *part[height * 4 // 5 :]):
        _, runs = ndimage.label(row)
        most = max(most, runs)
    return min(5, max(1, most) + 1)


def arrow_tips(image: Pixels, colour: str = "red") -> list[tuple[float, float]]:
    """Where arrows of a colour point: the end at which a line is widest."""
    found = []
    for line in lines(image, colour):
        if min(line.size) < _LEAST_ARROW:
            continue
        if goes_around(line.mask) or any(True for _ in _loops_of(line)):
            found += _tip_through_loop(line)
        else:
            found.append(_tip(line))
    return found


def _tip_through_loop(line: PenMark) -> list[tuple[float, float]]:
    """Where an arrow points that crosses a loop from outside; nothing where the line is a loop alone."""
    reach = 24
    mask = np.pad(line.mask, reach)
    filled = ndimage.binary_fill_holes(ndimage.binary_dilation(mask, iterations=4))
    disc = ndimage.maximum_filter(ndimage.minimum_filter(filled, 31), 31)
    inside, outside = (
        np.argwhere(mask & part)[:, ::-1].astype(float)
        for part in (ndimage.minimum_filter(disc, 41), ~ndimage.maximum_filter(disc, 9))
    )
    if len(inside) < _LEAST_PIXELS or len(outside) < _LEAST_PIXELS:
        return []
    tail = outside[np.argmax(((outside - inside.mean(0)) ** 2).sum(1))]
    tip = inside[np.argmax(((inside - tail) ** 2).sum(1))]
    return [(float(tip[0] + line.corner[0] - reach), float(tip[1] + line.corner[1] - reach))]


def _tip(line: PenMark) -> tuple[float, float]:
    rows, columns = np.nonzero(line.mask)
    points = np.stack([columns, rows], 1).astype(float)
    middle = points.mean(0)
    # The shaft is the longest way through the pixels; the head is at the end with more of them near it.
    first = points[np.argmax(((points - middle) ** 2).sum(1))]
    last = points[np.argmax(((points - first) ** 2).sum(1))]
    ends = sorted((first, last), key=lambda end: -int((((points - end) ** 2).sum(1) < 34**2).sum()))
    other = ends[1]
    tip = points[np.argmax(((points - other) ** 2).sum(1))]
    return float(tip[0] + line.corner[0]), float(tip[1] + line.corner[1])


def dashed_frame(image: Pixels, dash: int = 16, gap: int = 10) -> tuple[Box, tuple[int, int, int]] | None:
    """The inside of a printed frame of dashes, and the colour of its line; None where there is none."""
    grey = image.mean(2)
    edges = []
    for y in range(8, len(grey) - 8):
        row = abs(grey[y] - np.minimum(abs(grey[y - 7]), 255)) > _CONTRAST
        starts, ends = (np.flatnonzero(np.diff(row.astype(int)) == sign) for sign in (1, -1))
        if len(starts) < _DASHES or len(ends) < _DASHES:
            continue
        ends = ends[ends > starts[0]]
        starts = starts[: len(ends)]
        regular = np.flatnonzero((abs(ends[:-1] - starts[:-1] - dash) <= 4) & (abs(starts[1:] - ends[:-1] - gap) <= 4))
        if len(regular) >= _DASHES:
            first, last = regular[0], regular[-1] + 1
            edges.append((y, int(starts[first]), int(ends[last]), int((starts[first] + ends[first]) // 2)))
    if len(edges) < 2 or edges[-1][0] - edges[0][0] < 3 * dash:
        return None
    left, right = min(edge[1] for edge in edges), max(edge[2] for edge in edges)
    y, _, _, x = edges[0]
    red, green, blue = (int(value) for value in image[y + 1, x])
    return (left + 2, edges[0][0] + 6, right - 2, edges[-1][0] - 4), (red, green, blue)


def painted_over(image: Pixels, mask: Mask) -> Pixels:
    """A picture in which a mask is filled with what lies nearest to it."""
    grown = ndimage.binary_dilation(mask, iterations=2)
    if not grown.any() or grown.all():
        return image
    nearest: Any = ndimage.distance_transform_edt(grown, return_distances=False, return_indices=True)
    filled: Pixels = image[tuple(nearest)]
    return filled


def box_of(place: tuple[slice, ...]) -> Box:
    """The box of a place in an array of pixels, as `find_objects` gives it."""
    return place[1].start, place[0].start, place[1].stop, place[0].stop
