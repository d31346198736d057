"""Which pixels of a picture a polygon or a line covers, found with whole numbers alone.

Coordinates are those of Pillow: a pixel's middle has whole numbers. They are rounded to a sixteenth of a pixel
first, so that the last bit of a sine or a logarithm cannot move an edge. A pixel is covered when its middle is;
there is nothing between covered and not covered, so smooth edges need a larger picture that is reduced.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

UNIT = 16
"""Parts of a pixel."""

Point = tuple[float, float]
Size = tuple[int, int]
Mask = npt.NDArray[np.uint8]
_Corner = tuple[int, int]

_WIDE = 2**30
"""Where products of two numbers could be too large for 64 bits, Python's own numbers are used."""


class Patch(NamedTuple):
    """A part of a picture: its corner, and 1 for each pixel that is covered, 0 for the others."""

    left: int
    top: int
    mask: Mask


def fixed(value: float) -> int:
    """A coordinate in parts of a pixel."""
    return round(value * UNIT)


def pixel(value: float) -> int:
    """The whole pixel that a coordinate lies in."""
    return fixed(value) // UNIT


def polygon(points: Sequence[Point], size: Size) -> Patch | None:
    """A filled shape with its outline; where it crosses itself, what is inside twice is outside."""
    corners = [(fixed(x), fixed(y)) for x, y in points]
    patch = _filled(corners, size)
    if patch is not None:
        for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
            _hairline(patch, start, end)
    return patch


def line(points: Sequence[Point], width: int, size: Size) -> Patch | None:
    """A line through points, round at its bends and straight at its ends."""
    corners = [(fixed(x), fixed(y)) for x, y in points]
    steps = [(a, b) for a, b in pairwise(corners) if a != b]
    if not steps:
        return None
    reach = (width // 2 + 1) * UNIT
    patch = _blank([(x + side, y + side) for x, y in corners for side in (-reach, reach)], size)
    if patch is None:
        return None
    if width <= 1:
        for start, end in steps:
            _hairline(patch, start, end)
        return patch
    for start, end in steps:
        _add(patch, _filled(_stroke(start, end, width), size))
    for bend, _ in steps[1:]:
        _add(patch, _disc(bend, width, size))
    return patch


def _blank(corners: Sequence[_Corner], size: Size) -> Patch | None:
    """An empty patch around corners, within the picture; None when nothing of it is."""
    across, down = [x for x, _ in corners], [y for _, y in corners]
    left, top = max(0, min(across) // UNIT), max(0, min(down) // UNIT)
    right, bottom = min(size[0], max(across) // UNIT + 2), min(size[1], max(down) // UNIT + 2)
    if right <= left or bottom <= top:
        return None
    return Patch(left, top, np.zeros((bottom - top, right - left), np.uint8))


def _add(patch: Patch, part: Patch | None) -> None:
    if part is None:
        return
    x, y = part.left - patch.left, part.top - patch.top
    high, wide = part.mask.shape
    # A rounded corner may reach a pixel beyond what was reckoned with.
    room = patch.mask[max(0, y) : y + high, max(0, x) : x + wide]
    room |= part.mask[max(0, -y) :, max(0, -x) :][: room.shape[0], : room.shape[1]]


def _filled(corners: Sequence[_Corner], size: Size) -> Patch | None:
    """What lies inside: each column is walked down, and every edge on the way turns out into in, or in into out."""
    patch = _blank(corners, size)
    if patch is None:
        return None
    high, wide = patch.mask.shape
    kind: Any = object if max(abs(part) for corner in corners for part in corner) > _WIDE else np.int64
    ends = [(a, b) if a[0] < b[0] else (b, a) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    edges = np.array([(*a, *b) for a, b in ends if a[0] != b[0]], kind).reshape(-1, 4)
    x0, y0, x1, y1 = edges.T
    first = np.clip(-(-x0 // UNIT), patch.left, patch.left + wide).astype(np.int64)
    last = np.clip(-(-x1 // UNIT), patch.left, patch.left + wide).astype(np.int64)
    counts = last - first
    edge = np.repeat(np.arange(len(counts)), counts)
    column = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
    run, rise = (x1 - x0)[edge], (y1 - y0)[edge]
    crossed = -(-(y0[edge] * run + (column * UNIT - x0[edge]) * rise) // (run * UNIT))
    row = np.clip(crossed - patch.top, 0, high).astype(np.int64)
    turns = np.zeros((high + 1, wide), np.uint8)
    np.bitwise_xor.at(turns, (row, column - patch.left), np.uint8(1))
    for above, below in pairwise(turns):
        np.bitwise_xor(above, below, out=below)
    return Patch(patch.left, patch.top, turns[:-1])


def _hairline(patch: Patch, start: _Corner, end: _Corner) -> None:
    """Cover the pixels nearest to a line, one for each column or row, whichever it crosses more of."""
    (x0, y0), (x1, y1) = (((x + UNIT // 2) // UNIT, (y + UNIT // 2) // UNIT) for x, y in (start, end))
    steep = abs(y1 - y0) > abs(x1 - x0)
    if steep:
        x0, y0, x1, y1 = y0, x0, y1, x1
    if x0 > x1:
        x0, y0, x1, y1 = x1, y1, x0, y0
    low = patch.top if steep else patch.left
    along = np.arange(max(x0, low), min(x1, low + patch.mask.shape[0 if steep else 1] - 1) + 1)
    run, rise = x1 - x0, y1 - y0
    steps = (along - x0).astype(object) if max(abs(run), abs(rise)) > _WIDE // UNIT else along - x0
    across = (y0 + (2 * steps * rise + run) // (2 * run) if run else np.full(len(along), y0)).astype(np.int64)
    rows, columns = (along, across) if steep else (across, along)
    rows, columns = rows - patch.top, columns - patch.left
    inside = (rows >= 0) & (rows < patch.mask.shape[0]) & (columns >= 0) & (columns < patch.mask.shape[1])
    patch.mask[rows[inside], columns[inside]] = 1


def _stroke(start: _Corner, end: _Corner, width: int) -> list[_Corner]:
    """The corners of a straight line of a width."""
    run, rise = end[0] - start[0], end[1] - start[1]
    # In 1024ths, so that short lines keep their direction.
    length = isqrt((run * run + rise * rise) << 20)
    half = width * UNIT << 10
    aside, down = (-rise * half + length) // (2 * length), (run * half + length) // (2 * length)
    return [
        (start[0] + aside, start[1] + down),
        (end[0] + aside, end[1] + down),
        (end[0] - aside, end[1] - down),
        (start[0] - aside, start[1] - down),
    ]


def _disc(middle: _Corner, width: int, size: Size) -> Patch | None:
    reach = width * UNIT // 2
    patch = _blank([(middle[0] + side, middle[1] + side) for side in (-reach, reach)], size)
    if patch is None:
        return None
    high, wide = patch.mask.shape
    x = (np.arange(wide) + patch.left) * UNIT - middle[0]
    y = (np.arange(high) + patch.top) * UNIT - middle[1]
    return Patch(patch.left, patch.top, (x[None, :] ** 2 + y[:, None] ** 2 <= reach * reach).astype(np.uint8))
