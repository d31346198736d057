"""Reading the detector's answer: what a family needs to go on from it."""

import json
import math
from typing import Any, NamedTuple

from m3bench.tasks.scene import Box


class Found(NamedTuple):
    """An object the detector reported."""

    name: str
    box: tuple[int, int, int, int]


def read_objects(text: str) -> list[Found]:
    """The objects of a detection result, boxes in whole pixels."""
    start, end = text.index("["), text.rindex("]")
    entries: list[dict[str, Any]] = json.loads(text[start : end + 1])
    return [Found(entry["name"], _whole(entry["bbox"])) for entry in entries]


def centre(box: Box) -> tuple[int, int]:
    """The middle of a box."""
    left, top, right, bottom = box
    return round((left + right) / 2), round((top + bottom) / 2)


def area_of(box: Box) -> float:
    """The pixels of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def gap(one: Box, other: Box) -> float:
    """Pixels between the edges of two boxes."""
    aside = max(one[0] - other[2], other[0] - one[2], 0)
    above = max(one[1] - other[3], other[1] - one[3], 0)
    return math.hypot(aside, above)


def _whole(box: dict[str, float]) -> tuple[int, int, int, int]:
    return round(box["xmin"]), round(box["ymin"]), round(box["xmax"]), round(box["ymax"])
