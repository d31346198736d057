"""Figures for a paper: white ground, no title, one weight of one font; the caption is the author's.

Each is drawn from the entries of a leaderboard or from the analyses, so no figure shows a number that `numbers.json`
does not have. A drawing and its height go out; `folder` writes them as SVG and PDF.

Names stand beside the points of a figure: none over another or over a point. Every name is tried beside its point
first, then a few lines above and below; those that find no free place stand in a column on the right, in the order of
their points, each with a line to its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from m3bench.server.lab.reports.paper.tables import PaperTable
from m3bench.server.lab.reports.standings import BoardEntry
from m3bench.server.lab.results.analyses.failures import CLASSES, FailureClass
from m3bench.server.scorecard.pages.drawing import SvgDrawing, wide
from m3bench.server.scoring.statistics.estimates import Interval

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


Figure: TypeAlias = tuple[SvgDrawing, float]
"""A drawing and its height."""

Taken = Literal["calls", "tokens", "cost", "seconds"]
"""What a sample takes."""

WIDTH, EDGE, SIZE = 640, 12, 13.0
INK, SOFT, GRID, MARK, OTHER = "#000000", "#444444", "#dddddd", "#0b69ad", "#7a7a7a"
COLOURS = (
    "#0b69ad", "#e0e0e0", "#999999", "#f0e442", "#cc79a7", "#e7b3d1", "#d55e00", "#c98412", "#56b4e9", "#009e73",
    "#222222", "#444444", "#666666", "#7f7f7f",
)  # fmt: skip
"""Of the classes of failures, in their order."""

_ROW = 24
_CELL = 22


def intervals(entries: Sequence[BoardEntry], number: str) -> Figure:
    """Every set with a number and its 95 % interval: `solved`, or `average`."""
    drawing = SvgDrawing(WIDTH, "#ffffff")
    names = min(230.0, max(wide(entry.name, SIZE) for entry in entries)) + EDGE + 14
    left, right, y = names, WIDTH - EDGE - 52.0, 10.0
    bottom = y + _ROW * len(entries)
    for tick in range(5):
        x = left + (right - left) * tick / 4
        drawing.line(f"M{x:.1f} {y:.1f}V{bottom:.1f}", GRID, 1)
        said = f"{tick * 25}" if number == "solved" else f"{tick / 4:.2f}"
        drawing.text(said, x, bottom + 16, SIZE - 1, fill=SOFT, anchor="middle")
    for entry in entries:
        value, between = _value(entry, number)
        middle = y + _ROW / 2
        drawing.text(entry.name, EDGE, middle + 4.5, SIZE, fill=INK, room=names - EDGE - 14)
        if value is not None:
            ends = (value, value) if between is None else (between.low, between.high)
            low, high = (left + (right - left) * end for end in ends)
            tone = OTHER if entry.kind == "baseline" else MARK
            drawing.line(f"M{low:.1f} {middle:.1f}H{high:.1f}", tone, 2)
            drawing.line(f"M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8", tone, 2)
            _dot(drawing, left + (right - left) * value, middle, tone)
        said = "–" if value is None else f"{value * 100:.1f}" if number == "solved" else f"{value:.3f}"
        drawing.text(said, WIDTH - EDGE, middle + 4.5, SIZE, fill=INK, anchor="end")
        y += _ROW
    label = "solved, %" if number == "solved" else "average"
    drawing.text(f"{label}; bars: 95 % intervals", (left + right) / 2, bottom + 36, SIZE, fill=INK, anchor="middle")
    return drawing, bottom + 46


def families(entries: Sequence[BoardEntry]) -> Figure:
    """Solved in each family by each set, in per cent."""
    rows = sorted({family for entry in entries for family in entry.families})
    left = EDGE + max(wide(name, SIZE) for name in rows) + 12
    room = min(110.0, (WIDTH - EDGE - left) / len(entries))
    numbered = any(wide(entry.name, SIZE - 1) > room - 6 for entry in entries)
    drawing = SvgDrawing(WIDTH, "#ffffff")
    for place, entry in enumerate(entries):
        head = str(place + 1) if numbered else entry.name
        drawing.text(head, left + room * (place + 0.5), 18, SIZE - 1, fill=INK, anchor="middle")
    y = 26.0
    for name in rows:
        drawing.text(name.replace("_", " "), EDGE, y + 15.5, SIZE, fill=INK)
        for place, entry in enumerate(entries):
            value = entry.families[name].success if name in entry.families else None
            x = left + room * place
            drawing.box(x + 1, y + 1, room - 2, _CELL - 2, _shade(value), 0)
            said = "–" if value is None else f"{value * 100:.0f}"
            ink = "#ffffff" if (value or 0) > 0.55 else INK
            drawing.text(said, x + room / 2, y + 15.5, SIZE - 1, fill=ink, anchor="middle")
        y += _CELL
    return drawing, _key(
        drawing, [(str(at), entry.name) for at, entry in enumerate(entries, 1)], y
    ) if numbered else y + 8


def against(entries: Sequence[BoardEntry], name: Taken, label: str) -> Figure | None:
    """Solved against something that a sample takes on average; None when fewer than two sets are known to take any.

    Args:
        entries: The sets.
        name: What it takes.
        label: What stands below the axis.
    """
    points = [
        (per, solved, entry)
        for entry in entries
        if (per := per_sample(entry, name)) and (solved := entry.summary.success) is not None
    ]
    if len(points) < 2:
        return None
    least, most = min(x for x, _, _ in points), max(x for x, _, _ in points)
    place, ticks = _axis(least, most)
    drawing = SvgDrawing(WIDTH, "#ffffff")
    left, right, top, bottom = 54.0, WIDTH - 150.0, 30.0, 310.0
    _grid(drawing, (left, top, right, bottom), [(place(at), at) for at in ticks])
    drawing.text("solved, %", EDGE, top - 16, SIZE, fill=INK)
    drawing.text(label, (left + right) / 2, bottom + 40, SIZE, fill=INK, anchor="middle")
    points.sort(key=lambda point: (-point[1], -point[0], point[2].name))
    dots = [
        (left + (right - left) * place(per), bottom - (bottom - top) * value, entry) for per, value, entry in points
    ]
    names = [(x, y, entry.name) for x, y, entry in dots]
    labels = place_labels(names, SIZE - 1, (left + 3, top - 12, right, bottom - 1), WIDTH - EDGE)
    for (x, y, _), beside in zip(dots, labels, strict=True):
        if beside.led:
            drawing.line(f"M{x:.1f} {y:.1f}L{beside.end[0]:.1f} {beside.end[1]:.1f}", OTHER, 0.7)
    for (x, y, entry), beside in zip(dots, labels, strict=True):
        _dot(drawing, x, y, OTHER if entry.kind == "baseline" else MARK)
        drawing.text(entry.name, beside.x, beside.y, SIZE - 1, fill=INK, anchor=beside.anchor, room=beside.room)
    return drawing, bottom + 52


def scale(table: PaperTable) -> Figure:
    """Solved against the number of tools, a line for every agent."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for agent, solver, tools, _, solved, _ in table.rows:
        if isinstance(tools, int) and isinstance(solved, float):
            curves.setdefault(f"{agent} {solver}".strip(), []).append((float(tools), solved))
    most = max((tools for curve in curves.values() for tools, _ in curve), default=1.0)
    place, ticks = _axis(most, most)
    drawing = SvgDrawing(WIDTH, "#ffffff")
    left, right, top, bottom = 54.0, WIDTH - 150.0, 30.0, 310.0
    _grid(drawing, (left, top, right, bottom), [(place(at), at) for at in ticks])
    drawing.text("solved, %", EDGE, top - 16, SIZE, fill=INK)
    drawing.text("tools shown", (left + right) / 2, bottom + 40, SIZE, fill=INK, anchor="middle")
    ends: list[tuple[float, float, str]] = []
    for number, (name, curve) in enumerate(curves.items()):
        tone = COLOURS[(0, 6, 9, 4, 7, 8, 10)[number % 7]]
        spots = [(left + (right - left) * place(at), bottom - (bottom - top) * solved) for at, solved in sorted(curve)]
        drawing.line("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots), tone, 1.6)
        for x, y in spots:
            _dot(drawing, x, y, tone)
        ends.append((*spots[-1], name))
    labels = place_labels(ends, SIZE - 1, (left + 3, top - 12, right, bottom - 1), WIDTH - EDGE)
    for (_, _, name), label in zip(ends, labels, strict=True):
        drawing.text(name, label.x, label.y, SIZE - 1, fill=INK, anchor=label.anchor, room=label.room)
    return drawing, bottom + 52


def _grid(drawing: SvgDrawing, plot: Box, ticks: Sequence[tuple[float, float]]) -> None:
    """Axes with shares from 0 to 100 % upwards, and numbers below."""
    left, top, right, bottom = plot
    for tick in range(5):
        y = bottom - (bottom - top) * tick / 4
        drawing.line(f"M{left:.1f} {y:.1f}H{right:.1f}", GRID, 1)
        drawing.text(f"{tick * 25}", left - 8, y + 4, SIZE - 1, fill=SOFT, anchor="end")
    for share, at in ticks:
        x = left + (right - left) * share
        drawing.line(f"M{x:.1f} {bottom:.1f}v5", SOFT, 1)
        drawing.text(_brief(at), x, bottom + 19, SIZE - 1, fill=SOFT, anchor="middle")
    drawing.line(f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}", SOFT, 1)


def failures(sets: Sequence[tuple[str, Mapping[FailureClass, int]]]) -> Figure:
    """What became of the samples of every set: shares of the classes, one bar for each set."""
    drawing = SvgDrawing(WIDTH, "#ffffff")
    colours = dict(zip(CLASSES, COLOURS, strict=True))
    present = [name for name in CLASSES if any(name in counts for _, counts in sets)]
    left = min(230.0, max(wide(name, SIZE) for name, _ in sets)) + EDGE + 14
    y = 8.0
    for name, counts in sets:
        drawing.text(name, EDGE, y + 16, SIZE, fill=INK, room=left - EDGE - 14)
        total, x = sum(counts.values()), left
        for kind in present:
            length = (WIDTH - EDGE - left) * counts.get(kind, 0) / total if total else 0.0
            if length:
                drawing.box(x, y + 3, length, _ROW - 6, colours[kind], 0)
            x += length
        y += _ROW
    y += 10
    x = float(EDGE)
    for kind in present:
        length = wide(kind, SIZE) + 34
        if x + length > WIDTH - EDGE:
            x, y = float(EDGE), y + 20
        drawing.box(x, y, 12, 12, colours[kind], 0)
        drawing.text(kind, x + 17, y + 11, SIZE, fill=INK)
        x += length
    return drawing, y + 24


def per_sample(entry: BoardEntry, name: Taken) -> float | None:
    """What a scored sample of a set takes on average; None when it is not known."""
    usage = entry.usage
    totals: Mapping[Taken, float | None] = {
        "calls": usage.calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost": usage.cost,
        "seconds": usage.seconds,
    }
    total = totals[name]
    return None if total is None or not entry.counts.scored else total / entry.counts.scored


def _value(entry: BoardEntry, number: str) -> tuple[float | None, Interval | None]:
    summary = entry.summary
    if number == "solved":
        return summary.success, summary.success_interval
    return summary.metrics["average"], summary.intervals.get("average")


def _dot(drawing: SvgDrawing, x: float, y: float, tone: str) -> None:
    drawing.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{tone}"/>')


def _key(drawing: SvgDrawing, lines: Sequence[tuple[str, str]], y: float) -> float:
    y += 8
    for number, name in lines:
        y += 18
        drawing.text(number, EDGE, y, SIZE - 1, fill=INK)
        drawing.text(name, EDGE + 26, y, SIZE - 1, fill=INK, room=WIDTH - 2 * EDGE - 26)
    return y + 10


def _shade(value: float | None) -> str:
    if value is None:
        return "#ffffff"
    low, high = (0xEE, 0xF3, 0xF8), (0x0B, 0x69, 0xAD)
    return "#" + "".join(f"{round(start + (end - start) * value):02x}" for start, end in zip(low, high, strict=True))


def _axis(least: float, most: float) -> tuple[Callable[[float], float], list[float]]:
    """Where a value lies on the axis, from 0 to 1, and the ticks; logarithmic when values differ by far."""
    if most > 20 * least:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
        return lambda value: (math.log10(value) - low) / (high - low), [10.0**power for power in range(low, high + 1)]
    step = 10.0 ** math.floor(math.log10(most))
    step *= next(part for part in (1, 0.5, 0.25, 0.2) if most / (step * part) >= 3 or part == 0.2)
    count = math.ceil(most / step)
    return lambda value: value / (step * count), [step * number for number in range(count + 1)]


def _brief(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:.6g}"
