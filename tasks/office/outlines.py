"""The outlines of shapes: polygons by a shape's kind and box, and the room for writing inside."""

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi, radians, sin

from m3bench.tasks.office.marks import Box, Point

_ARC = 12
"""Corners of a quarter of an ellipse."""
Shares = Sequence[tuple[float, float]]

_FIXED: Mapping[str, Shares] = {
    "rect": ((0, 0), (1, 0), (1, 1), (0, 1)),
    "flowChartProcess": ((0, 0), (1, 0), (1, 1), (0, 1)),
    "triangle": ((0.5, 0), (1, 1), (0, 1)),
    "rtTriangle": ((0, 0), (1, 1), (0, 1)),
    "diamond": ((0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)),
    "flowChartDecision": ((0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)),
    "pentagon": ((0.5, 0), (1, 0.382), (0.809, 1), (0.191, 1), (0, 0.382)),
    "plus": (
        (0.25, 0),
        (0.75, 0),
        (0.75, 0.25),
        (1, 0.25),
        (1, 0.75),
        (0.75, 0.75),
        (0.75, 1),
        (0.25, 1),
        (0.25, 0.75),
        (0, 0.75),
        (0, 0.25),
        (0.25, 0.25),
    ),
    "star5": tuple(
        (0.5 + r * sin(pi * n / 5), 0.55 - r * 1.05 * cos(pi * n / 5)) for n, r in enumerate((0.52, 0.2) * 5)
    ),
}


def outline(kind: str, box: Box, adjustments: Mapping[str, float]) -> tuple[tuple[Point, ...], bool]:
    """The corners of a shape, and whether its kind is known; of others the box.

    Args:
        kind: As files name it, such as `roundRect`.
        box: Where it is.
        adjustments: Its own numbers, as shares.
    """
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    if kind in _FIXED:
        return tuple((left + x * wide, top + y * high) for x, y in _FIXED[kind]), True
    if kind in ("ellipse", "flowChartConnector"):
        return _arc((left + right) / 2, (top + bottom) / 2, wide / 2, high / 2, 0, 360), True
    if kind in _MADE:
        share = adjustments.get("adj", adjustments.get("adj1"))
        return tuple((left + x, top + y) for x, y in _MADE[kind](wide, high, share)), True
    if kind.endswith("Arrow") and kind.removesuffix("Arrow") in _TURNS:
        return _arrow(kind.removesuffix("Arrow"), box, adjustments), True
    return outline("rect", box, {})[0], False


def text_box(kind: str, box: Box, adjustments: Mapping[str, float]) -> Box:
    """The room for writing in a shape, before its margins."""
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    match kind:
        case "ellipse":
            across, down = wide * (1 - 0.70711) / 2, high * (1 - 0.70711) / 2
        case "roundRect":
            across = down = adjustments.get("adj", 0.16667) * min(wide, high) * 0.29289
        case "diamond":
            across, down = wide / 4, high / 4
        case "triangle":
            return left + wide / 4, top + high / 2, right - wide / 4, bottom
        case _:
            return box
    return left + across, top + down, right - across, bottom - down


def turned(points: Sequence[Point], box: Box, degrees: float) -> tuple[Point, ...]:
    """Points turned clockwise around the middle of a box."""
    x0, y0 = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    c, s = cos(radians(degrees)), sin(radians(degrees))
    return tuple((x0 + (x - x0) * c - (y - y0) * s, y0 + (x - x0) * s + (y - y0) * c) for x, y in points)


def sector(x: float, y: float, radius: float, start: float, end: float) -> tuple[Point, ...]:
    """A slice of a disc, in degrees clockwise from the top."""
    return ((x, y), *_arc(x, y, radius, radius, start - 90, end - 90))


def _arc(x: float, y: float, wide: float, high: float, start: float, end: float) -> tuple[Point, ...]:
    steps = max(2, round(abs(end - start) / 90 * _ARC))
    angles = [radians(start + (end - start) * step / steps) for step in range(steps + 1)]
    return tuple((x + wide * cos(angle), y + high * sin(angle)) for angle in angles)


def _rounded(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    r = min(0.5, 0.16667 if share is None else share) * min(wide, high)
    return (
        *_arc(r, r, r, r, 180, 270),
        *_arc(wide - r, r, r, r, 270, 360),
        *_arc(wide - r, high - r, r, r, 0, 90),
        *_arc(r, high - r, r, r, 90, 180),
    )


def _leaning(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    lean = (0.25 if share is None else share) * min(wide, high)
    return (lean, 0), (wide, 0), (wide - lean, high), (0, high)


def _tapered(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    lean = (0.25 if share is None else share) * min(wide, high)
    return (lean, 0), (wide - lean, 0), (wide, high), (0, high)


def _hexagon(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    lean = (0.25 if share is None else share) * min(wide, high)
    return (lean, 0), (wide - lean, 0), (wide, high / 2), (wide - lean, high), (lean, high), (0, high / 2)


def _octagon(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    cut = (0.29289 if share is None else share) * min(wide, high)
    return (
        (cut, 0),
        (wide - cut, 0),
        (wide, cut),
        (wide, high - cut),
        (wide - cut, high),
        (cut, high),
        (0, high - cut),
        (0, cut),
    )


def _chevron(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    tip = (0.5 if share is None else share) * min(wide, high)
    return (0, 0), (wide - tip, 0), (wide, high / 2), (wide - tip, high), (0, high), (tip, high / 2)


def _plate(wide: float, high: float, share: float | None) -> tuple[Point, ...]:
    tip = (0.5 if share is None else share) * min(wide, high)
    return (0, 0), (wide - tip, 0), (wide, high / 2), (wide - tip, high), (0, high)


_MADE: Mapping[str, Callable[[float, float, float | None], tuple[Point, ...]]] = {
    "roundRect": _rounded,
    "parallelogram": _leaning,
    "trapezoid": _tapered,
    "hexagon": _hexagon,
    "octagon": _octagon,
    "chevron": _chevron,
    "homePlate": _plate,
}
_TURNS = {"right": 0, "down": 1, "left": 2, "up": 3}


def _arrow(way: str, box: Box, adjustments: Mapping[str, float]) -> tuple[Point, ...]:
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    along, across = (wide, high) if way in ("left", "right") else (high, wide)
    shaft, head = adjustments.get("adj1", 0.5), adjustments.get("adj2", 0.5) * min(wide, high)
    low, up = across * (1 - shaft) / 2, across * (1 + shaft) / 2
    points = (
        (0.0, low),
        (along - head, low),
        (along - head, 0.0),
        (along, across / 2),
        (along - head, across),
        (along - head, up),
        (0.0, up),
    )
    match way:
        case "right":
            return tuple((left + x, top + y) for x, y in points)
        case "left":
            return tuple((right - x, top + y) for x, y in points)
        case "down":
            return tuple((left + y, top + x) for x, y in points)
    return tuple((left + y, bottom - x) for x, y in points)
