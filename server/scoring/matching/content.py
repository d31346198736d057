"""How much of what was to be put into a file was put in: tables, strokes on a picture, and texts.

A table is compared row by row, wherever its rows stand and however it is headed; numbers of few digits count only
beside the right name. Strokes are compared by what they mark: boxes by how far they overlap, arrows by where they
point, words by what they say and roughly where. Whatever else there is, is compared text by text, number by number.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from m3bench.tasks.facts import Fact, Held, digits, number, numbers, same_number, within
from m3bench.tasks.folding import fold
from m3bench.tasks.trajectory import JSON

STROKES = frozenset({"areas", "arrows", "circles", "detections", "lines", "texts"})
"""Arguments that are strokes."""
NEAR_PIXELS = 100.0
"""Two ends of an arrow that are no further apart mark the same thing."""
BESIDE_PIXELS = 300.0
"""Words that are no further apart stand beside the same thing."""
MIN_IOU = 0.5
"""Intersection over union from which two boxes mark the same thing."""
POINTS_RIGHT, ELSEWHERE = 0.7, 0.5
"""What an arrow is worth that points at the right thing and begins elsewhere, and what words in another place."""

LONG_TEXT = 40
"""Letters from which a text is compared piece by piece."""

_PIECE = re.compile(r"[\n;,]+|\s[-–—•]\s")
_WORD = re.compile(r"\w+")
_CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"))
_TELLING_DIGITS = 3


def share(name: str, wanted: JSON, asked: JSON) -> float:
    """The share of what was to be put in that was put in.

    Args:
        name: The argument.
        wanted: What the reference puts in.
        asked: What was put in.
    """
    if wanted is None:
        return 1.0
    if name in STROKES and isinstance(wanted, list | tuple):
        return _strokes(name, wanted, asked if isinstance(asked, list | tuple) else [])
    if _is_table(wanted):
        return _table(wanted, asked if _is_table(asked) else [])  # type: ignore[arg-type]
    cells = [*_cells(wanted, split=True)]
    if not cells:
        return 1.0
    there = [*_cells(asked, split=True)]
    whole = "\n".join(str(cell) for cell in there)
    return sum(any(_same(cell, other) for other in there) or _holds(whole, cell) for cell in cells) / len(cells)


def together(one: JSON, other: JSON) -> JSON:
    """What two calls put in together."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return [*one, *other]
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n{other}"
    return one if other is None else other if one is None else [one, other]


def _is_table(value: JSON) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(row, list | tuple) for row in value)


def _table(wanted: Sequence[Sequence[JSON]], asked: Sequence[Sequence[JSON]]) -> float:
    """The share of the cells that stand in a row about the same thing; the headings are the writer's choice."""
    rows = [[*_cells(row)] for row in wanted]
    headed = len(rows) > 1 and not any(isinstance(cell, float) for cell in rows[0])
    rows = [row for row in rows[1 if headed else 0 :] if row]
    width = max((len(row) for row in asked), default=0)
    lines = [[*_cells(row)] for row in asked]
    columns = [[*_cells([row[at] for row in asked if at < len(row)])] for at in range(width)]
    total = sum(map(len, rows))
    if not total:
        return 1.0
    found = [sum(max((_row(row, line) for line in way), default=0) for row in rows) for way in (lines, columns)]
    return max(found) / total


def _row(wanted: Sequence[Fact], asked: Sequence[Fact]) -> int:
    """How many cells of a row stand in another one."""
    found = [cell for cell in wanted if any(_same(cell, other) for other in asked)]
    named = any(isinstance(cell, str) for cell in found) or not any(isinstance(cell, str) for cell in wanted)
    return len(found) if named else sum(not isinstance(cell, str) and digits(cell) >= _TELLING_DIGITS for cell in found)


def _cells(value: JSON, *, split: bool = False) -> Iterator[Fact]:
    """The numbers and texts of a value; long texts in pieces when asked to."""
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _cells(value[name], split=split)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _cells(item, split=split)
    elif value is not None and not isinstance(value, bool):
        found = number(value)
        if found is not None:
            yield found
            return
        long = "\n" in str(value) or len(str(value)) > LONG_TEXT
        for piece in _PIECE.split(str(value)) if split and long else [str(value)]:
            text = fold(piece).strip(" .")
            if text:
                yield text


def _same(wanted: Fact, asked: Fact) -> bool:
    """Whether two cells say the same: numbers up to rounding, names when one only says more."""
    if isinstance(wanted, str) and isinstance(asked, str):
        if wanted == asked or within(wanted, asked) or (len(asked) >= 4 and within(asked, wanted)):
            return True
        one, other = frozenset(_WORD.findall(wanted)), frozenset(_WORD.findall(asked))
        return len(one & other) >= 2 and (one <= other or other <= one)
    if isinstance(wanted, str):
        return False
    if isinstance(asked, str):
        return any(_same(wanted, value) for value in numbers(asked))
    places = len(f"{asked:.12g}".partition(".")[2])
    return same_number(wanted, asked) or (
        digits(asked) >= _TELLING_DIGITS and places >= 1 and abs(wanted - asked) <= 0.5000001 * 10**-places
    )


def _holds(text: str, wanted: Fact) -> bool:
    return Held(text).holds(wanted) if isinstance(wanted, str) else False


def _strokes(name: str, wanted: Sequence[JSON], asked: Sequence[JSON]) -> float:
    """The mean over the wanted strokes of how well some stroke marks the same."""
    left = [stroke for stroke in asked if isinstance(stroke, Mapping)]
    worth = 0.0
    for stroke in wanted:
        values = [_stroke(name, stroke, other) for other in left] if isinstance(stroke, Mapping) else []
        if values and max(values) > 0:
            worth += max(values)
            left.pop(values.index(max(values)))
    return worth / len(wanted) if wanted else 1.0


def _stroke(name: str, wanted: Mapping[str, JSON], asked: Mapping[str, JSON]) -> float:
    words, others = (fold(str(stroke.get("text") or stroke.get("name") or "")) for stroke in (wanted, asked))
    if words != others and not (words and others and (within(words, others) or within(others, words))):
        return 0.0
    if name == "texts":
        at, other = ((_at(stroke, "x"), _at(stroke, "y")) for stroke in (wanted, asked))
        return 1.0 if math.dist(at, other) <= BESIDE_PIXELS else ELSEWHERE
    if name == "circles":
        centre, other = ((_at(stroke, "center_x"), _at(stroke, "center_y")) for stroke in (wanted, asked))
        return float(math.dist(centre, other) <= max(NEAR_PIXELS, _at(wanted, "radius")))
    one, two = _corners(wanted), _corners(asked)
    if one is None or two is None:
        return float(wanted == asked)
    if name == "arrows":
        ends = [math.dist(one[at : at + 2], two[at : at + 2]) <= NEAR_PIXELS for at in (0, 2)]
        return 0.0 if not ends[1] else 1.0 if ends[0] else POINTS_RIGHT
    if name == "lines":
        turned = (*two[2:], *two[:2])
        return float(any(math.dist(one, way) <= NEAR_PIXELS / 4 for way in (two, turned)))
    return float(_iou(one, two) >= MIN_IOU)


def _corners(stroke: Mapping[str, JSON]) -> tuple[float, float, float, float] | None:
    inner = stroke.get("bbox")
    place = inner if isinstance(inner, Mapping) else stroke
    for names in _CORNERS:
        found = [number(place.get(name)) for name in names]
        if None not in found:
            a, b, c, d = (value for value in found if value is not None)
            return a, b, c, d
    return None


def _at(stroke: Mapping[str, JSON], name: str) -> float:
    return number(stroke.get(name)) or 0.0


def _iou(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union of two boxes."""
    wide = max(0.0, min(one[2], other[2]) - max(one[0], other[0]))
    high = max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
    both = sum(abs((box[2] - box[0]) * (box[3] - box[1])) for box in (one, other)) - wide * high
    return wide * high / both if both else float(list(one) == list(other))
