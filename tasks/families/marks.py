"""Marks that families draw into pictures: circles, arrows, boxes and names; and how far things are apart."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from m3bench.tasks.families.base import call
from m3bench.tasks.families.detections import Found, centre
from m3bench.tasks.task import ReferenceCall

Box = tuple[int, int, int, int]

COLOURS = {
    "red": [0, 0, 255],
    "yellow": [0, 255, 255],
    "blue": [255, 0, 0],
    "magenta": [255, 0, 255],
    "white": [255, 255, 255],
}
"""In the order the drawing tools expect: blue, green, red."""


def seen(colour: str) -> tuple[int, int, int]:
    """A colour as a picture has it: red, green, blue."""
    blue, green, red = COLOURS[colour]
    return red, green, blue


def far(one: Box, other: Box) -> float:
    """Pixels between the middles of two boxes."""
    return math.dist(centre(one), centre(other))


def gap(one: Box, other: Box) -> float:
    """Pixels between the edges of two boxes."""
    aside = max(one[0] - other[2], other[0] - one[2], 0)
    above = max(one[1] - other[3], other[1] - one[3], 0)
    return math.hypot(aside, above)


def padded(box: Box, by: int) -> Box:
    """A box with so many pixels around it, or without them."""
    left, top, right, bottom = box
    return max(0, left - by), max(0, top - by), right + by, bottom + by


def _radius(box: Box) -> int:
    return max(box[2] - box[0], box[3] - box[1]) // 2 + 10


def circles(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Circles around what was found."""
    circles = []
    for item in found:
        x, y = centre(item.box)
        circles.append({"center_x": x, "center_y": y, "radius": _radius(item.box), "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_circles",
        {"input_path": path, "circles": circles, "output_path": end},
        free=["output_path"],
    )


def arrows(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Arrows from above to what was found."""
    arrows = []
    for item in found:
        x, top = centre(item.box)[0], item.box[1]
        arrows.append(
            {"x1": x, "y1": top - 84, "x2": x, "y2": top + 4, "color": colour, "thickness": 8, "tip_length": 0.3}
        )
    return call(
        "imagesorcery-mcp/draw_arrows", {"input_path": path, "arrows": arrows, "output_path": end}, free=["output_path"]
    )


def boxes(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Boxes around what was found."""
    lines = []
    for item in found:
        left, top, right, bottom = item.box[0] - 6, item.box[1] - 6, item.box[2] + 6, item.box[3] + 6
        corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        for (x1, y1), (x2, y2) in pairwise(corners):
            lines.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_lines", {"input_path": path, "lines": lines, "output_path": end}, free=["output_path"]
    )


SHAPES: dict[str, Callable[[str, Sequence[Found], list[int], str], ReferenceCall]] = {
    "circle": circles,
    "arrow": arrows,
    "box": boxes,
}


def captions(path: str, found: Sequence[Found], colour: list[int], end: str, size: tuple[int, int]) -> ReferenceCall:
    """Names below what they name, or above it at the foot of the picture."""
    texts = []
    for item in found:
        x, _ = centre(item.box)
        wide = 17 * len(item.name)
        below = item.box[3] + 40
        y = below if below < size[1] - 10 else item.box[1] - 100
        left = max(8, min(size[0] - wide - 8, x - wide // 2))
        texts.append({"text": item.name, "x": left, "y": y, "font_scale": 1.0, "color": colour, "thickness": 2})
    return call(
        "imagesorcery-mcp/draw_texts",
        {"input_path": path, "texts": texts, "output_path": end},
        free=["input_path", "output_path"],
    )
