"""Which pixels of a picture a polygon or a line covers, found with whole numbers alone.

Coordinates are those of Pillow: a pixel's middle has whole numbers. They are rounded to a sixteenth of a pixel
first, so that the last bit of a sine or a logarithm cannot move an edge. A pixel is covered when its middle is;
there is nothing between covered and not covered, so smooth edges need a larger picture that is reduced.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

UNIT = 16
"""Parts of a pixel."""

Point = tuple[float, float]
Size = tuple[int, int]
Mask = npt.NDArray[np.uint8]
_Corner = tuple[int, int]
_Window = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels; right and bottom are outside."""

_SLAB = 256

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


def nearest(value: float) -> int:
    """The whole pixel whose middle is nearest to a coordinate."""
    return (fixed(value) + UNIT // 2) // UNIT


def polygon(points: Sequence[Point], size: Size) -> Patch | None:
    """A filled shape with its outline; where it crosses itself, what is inside twice is outside."""
    corners = [(fixed(x), fixed(y)) for x, y in points]
    window = _window(corners, size)
    if window is None:
        return None
    patch = _filled(corners, window)
    for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
        _hairline(patch, start, end)
    return patch


def line(points: Sequence[Point], width: int, size: Size) -> list[Patch]:
    """A line through points, round at its bends and straight at its ends, in parts that may overlap."""
    corners = [(fixed(x), fixed(y)) for x, y in points]
    steps = [(a, b) for a, b in pairwise(corners) if a != b]
    found = []
    for start, end in steps:
        stroke = _stroke(start, end, width)
        found += [_filled(stroke, window) for window in _slabs(stroke, size)]
    discs = [_disc(bend, width, size) for bend, _ in steps[1:]]
    return [*found, *(disc for disc in discs if disc is not None)]


def joined(patches: Sequence[Patch]) -> Patch | None:
    """Parts as one, in which what is covered twice is covered once."""
    if not patches:
        return None
    left, top = min(patch.left for patch in patches), min(patch.top for patch in patches)
    right = max(patch.left + patch.mask.shape[1] for patch in patches)
    bottom = max(patch.top + patch.mask.shape[0] for patch in patches)
    whole = Patch(left, top, np.zeros((bottom - top, right - left), np.uint8))
    for x, y, mask in patches:
        whole.mask[y - top : y - top + mask.shape[0], x - left : x - left + mask.shape[1]] |= mask
    return whole


def _window(corners: Sequence[_Corner], size: Size) -> _Window | None:
    """The part of the picture around corners; None when they lie outside."""
    across, down = [x for x, _ in corners], [y for _, y in corners]
    left, top = max(0, min(across) // UNIT), max(0, min(down) // UNIT)
    right, bottom = min(size[0], max(across) // UNIT + 2), min(size[1], max(down) // UNIT + 2)
    return (left, top, right, bottom) if left < right and top < bottom else None


def _slabs(corners: Sequence[_Corner], size: Size) -> list[_Window]:
    """Windows that together hold a shape: a long line across a picture is a small part of the box around it."""
    whole = _window(corners, size)
    if whole is None:
        return []
    left, top, right, bottom = whole
    if (right - left) * (bottom - top) <= _SLAB * _SLAB:
        return [whole]
    found = []
    wide = right - left >= bottom - top
    for start in range(left, right, _SLAB) if wide else range(top, bottom, _SLAB):
        end = min(start + _SLAB, right if wide else bottom)
        low, high = _reach(corners, start * UNIT, end * UNIT, 0 if wide else 1)
        if wide:
            found.append((start, max(top, low), end, min(bottom, high)))
        else:
            found.append((max(left, low), start, min(right, high), end))
    return [window for window in found if window[0] < window[2] and window[1] < window[3]]


def _reach(corners: Sequence[_Corner], start: int, end: int, axis: int) -> tuple[int, int]:
    """From which pixel to before which a shape reaches across, between two places along an axis."""
    places = []
    for one, other in zip(corners, [*corners[1:], corners[0]], strict=True):
        (p, q), (to, beyond) = sorted((corner[axis], corner[1 - axis]) for corner in (one, other))
        if p == to:
            places += [q, beyond] if start <= p <= end else []
        elif p <= end and to >= start:
            places += [q + (beyond - q) * (at - p) // (to - p) for at in (max(p, start), min(to, end))]
    return (min(places) // UNIT - 1, max(places) // UNIT + 3) if places else (0, 0)


def _filled(corners: Sequence[_Corner], window: _Window) -> Patch:
    """What lies inside: each column is walked down, and every edge on the way turns out into in, or in into out."""
    left, top, right, bottom = window
    high, wide = bottom - top, right - left
    kind: type[object] = object if max(abs(part) for corner in corners for part in corner) > _WIDE else np.int64
    ends = [(a, b) if a[0] < b[0] else (b, a) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    edges = np.array([(*a, *b) for a, b in ends if a[0] != b[0]], kind).reshape(-1, 4)
    x0, y0, x1, y1 = edges.T
    first = np.clip(-(-x0 // UNIT), left, right).astype(np.int64)
    last = np.clip(-(-x1 // UNIT), left, right).astype(np.int64)
    counts = last - first
    edge = np.repeat(np.arange(len(counts)), counts)
    column = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
    run, rise = (x1 - x0)[edge], (y1 - y0)[edge]
    crossed = -(-(y0[edge] * run + (column * UNIT - x0[edge]) * rise) // (run * UNIT))
    row = np.clip(crossed - top, 0, high).astype(np.int64)
    turns = np.zeros((high + 1, wide), np.uint8)
    np.bitwise_xor.at(turns, (row, column - left), np.uint8(1))
    for above, below in pairwise(turns):
        np.bitwise_xor(above, below, out=below)
    return Patch(left, top, turns[:-1])


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
    window = _window([(middle[0] + side, middle[1] + side) for side in (-reach, reach)], size)
    if window is None:
        return None
    left, top, right, bottom = window
    x = np.arange(left, right) * UNIT - middle[0]
    y = np.arange(top, bottom) * UNIT - middle[1]
    return Patch(left, top, (x[None, :] ** 2 + y[:, None] ** 2 <= reach * reach).astype(np.uint8))
