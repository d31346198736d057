"""Charts as marks: bars, lines, areas, points and slices, placed and scaled as LibreOffice does."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from m3bench.tasks.office import faces, outlines, typeset
from m3bench.tasks.office.chart_data import Axis, Chart, Series, Values, accent, read
from m3bench.tasks.office.colours import OfficeTheme
from m3bench.tasks.office.marks import WHITE, Box, Colour, Mark, Point, Stroke, Surface, Typeface, Word, corners
from m3bench.tasks.office.numbers import general, shown
from m3bench.tasks.office.scales import TickScale, scale
from m3bench.tasks.office.typeset import TextBlock

_AXIS: Colour = (136, 136, 136)
_MARGIN = 0.02
"""Around a chart and between its parts, as a share of its width and height."""
_TICK = 5.67
_SPACE = 3.78
"""Between a tick, or an axis without ticks, and a label."""
_SLANT = 0.7071
_SIGN = {"bar": 0.815, "area": 0.815, "pie": 0.815, "ring": 0.815}
_LINE_SIGN = 1.483
"""The sign of a legend's entry and its space, for letters of size 1."""


@dataclass
class Drawn:
    """What a chart looks like."""

    marks: list[Mark] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    plot: Box = (0.0, 0.0, 0.0, 0.0)


def _gap(axis: Axis) -> float:
    """From an axis to its labels."""
    return _SPACE + (_TICK if axis.ticked else 0.0)


@dataclass
class _Room:
    """What of a chart is not taken yet."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def box(self) -> Box:
        return self.left, self.top, self.right, self.bottom


def drawn(root: Any, box: Box, owner: str, theme: OfficeTheme, size: float, values: Values | None = None) -> Drawn:
    """The marks of a chart.

    Args:
        root: The element of its part.
        box: Where it is.
        owner: What the marks belong to.
        theme: The file's colours and fonts.
        size: Of letters where the chart says nothing, in points.
        values: Finds what references to cells stand for.
    """
    chart = read(root, theme, values, size * 4 / 3)
    made = Drawn(unknown=list(chart.unknown))
    left, top, right, bottom = box
    across, down = _MARGIN * (right - left), _MARGIN * (bottom - top)
    room = _Room(left + across, top + down, right - across, bottom - down)
    _put_title(made, chart, box, room, owner)
    if chart.legend:
        _put_legend(made, chart, box, room, owner, theme)
    if not any(item is not None for series in chart.series for item in series.values):
        return made
    if chart.kind in ("pie", "ring"):
        _pie(made, chart, room, owner, theme)
    elif chart.kind in ("bar", "line", "area", "scatter"):
        _axes_and_series(made, chart, room, box, owner)
    elif chart.kind:
        made.unknown.append(f"a {chart.kind} chart: only its title and legend are drawn")
    return made


def _line(text: str, face: Typeface, x: float, base: float, owner: str, align: str = "l") -> list[Word]:
    """A line of writing from, to, or around a place."""
    wide = faces.width(text, face)
    shift = {"l": 0.0, "ctr": wide / 2, "r": wide}[align]
    found, at = [], x - shift
    for word in text.split(" "):
        if word:
            found.append(Word(text=word, x=at, y=base, width=faces.width(word, face), face=face, owner=owner))
        at += faces.width(word + " ", face)
    return found


def _put_title(made: Drawn, chart: Chart, box: Box, room: _Room, owner: str) -> None:
    if not chart.title:
        return
    face = chart.title_face
    ascent, high = faces.rise(face)
    wide = 0.8 * (box[2] - box[0])
    text = [TextBlock(runs=((chart.title, face),), end=face, align="ctr", by_font=True)]
    tall = typeset.height(text, wide)
    top = room.top + 0.5 * face.size * (ascent / high + 0.25)
    middle = (box[0] + box[2]) / 2
    made.marks += typeset.placed(text, (middle - wide / 2, top, middle + wide / 2, top + tall), "t", owner)
    room.top = top + tall + 0.3 * face.size + _MARGIN * (box[3] - box[1])


def _entries(chart: Chart, theme: OfficeTheme) -> list[tuple[str, Colour]]:
    if chart.kind in ("pie", "ring") and chart.series:
        first = chart.series[0]
        names = first.labels or tuple(str(number + 1) for number in range(len(first.values)))
        return [(name, first.points.get(number, accent(theme, number))) for number, name in enumerate(names)]
    listed = [(item.name, item.colour) for item in chart.series]
    return listed[::-1] if chart.kind == "bar" and chart.flat and chart.grouping != "clustered" else listed


def _put_legend(made: Drawn, chart: Chart, box: Box, room: _Room, owner: str, theme: OfficeTheme) -> None:
    entries, face = _entries(chart, theme), chart.legend_face
    if not entries:
        return
    ascent, high = faces.rise(face)
    size = face.size
    sign = _SIGN.get(chart.kind, _LINE_SIGN) * size
    pad, between = max(3.78, 0.33 * size), max(3.78, 0.2 * size)
    widths = [faces.width(name, face) for name, _ in entries]
    left, top, right, bottom = box
    across, down = _MARGIN * (right - left), _MARGIN * (bottom - top)
    places: list[Point] = []
    if chart.legend in ("b", "t"):
        total = sum(widths) + len(entries) * sign + (len(entries) - 1) * max(3.78, 0.66 * size)
        x = (left + right - total) / 2
        base = bottom - (high - ascent) - between if chart.legend == "b" else room.top + between + ascent
        for wide in widths:
            places.append((x + sign, base))
            x += sign + wide + max(3.78, 0.66 * size)
        if chart.legend == "b":
            room.bottom = base - ascent - between - down - 0.29 * size
        else:
            room.top = base + (high - ascent) + between + down + 0.29 * size
    else:
        pitch = high + between
        base = (top + bottom) / 2 - (len(entries) * pitch - between) / 2 + ascent
        if chart.legend == "tr":
            base = room.top + between + ascent
        x = (
            left + across + pad + sign
            if chart.legend == "l"
            else right - (8.3 if size > 16 else 5.0) - pad - max(widths)
        )
        places = [(x, base + number * pitch) for number in range(len(entries))]
        if chart.legend == "l":
            room.left = x + max(widths) + pad + across
        else:
            room.right = x - sign - pad - across
    for (name, colour), (x, base) in zip(entries, places, strict=True):
        made.marks += _line(name, face, x, base, owner)
        _sign(made, chart, colour, x - sign, base - 0.3 * size, sign, owner)


def _sign(made: Drawn, chart: Chart, colour: Colour, x: float, y: float, wide: float, owner: str) -> None:
    if chart.kind in ("line", "scatter"):
        made.marks.append(Stroke(points=((x, y), (x + wide * 0.8, y)), owner=owner, colour=colour, width=2.5))
        return
    half = wide * 0.33
    made.marks.append(Surface(points=corners((x, y - half, x + 2 * half, y + half)), owner=owner, fill=colour))


def _stacked(chart: Chart) -> list[list[tuple[float, float]]]:
    """For each series and category, where its bar begins and ends."""
    count = max((len(item.values) for item in chart.series), default=0)
    ups, downs = [0.0] * count, [0.0] * count
    totals = [
        sum(abs(item.values[at] or 0.0) for item in chart.series if at < len(item.values)) or 1.0 for at in range(count)
    ]
    found = []
    for item in chart.series:
        row = []
        for at in range(count):
            value = (item.values[at] if at < len(item.values) else 0.0) or 0.0
            if chart.grouping == "percentStacked":
                value = value / totals[at]
            if chart.grouping in ("stacked", "percentStacked"):
                pile = ups if value >= 0 else downs
                row.append((pile[at], pile[at] + value))
                pile[at] += value
            else:
                row.append((0.0, value))
        found.append(row)
    return found


def _axes_and_series(made: Drawn, chart: Chart, room: _Room, box: Box, owner: str) -> None:
    spans = _stacked(chart)
    numbers = [end for row in spans for span in row for end in span[(0 if chart.grouping != "standard" else 1) :]]
    if chart.kind != "bar" and chart.grouping not in ("stacked", "percentStacked"):
        numbers = [value for item in chart.series for value in item.values if value is not None]
    up = chart.up
    code = "0%" if chart.grouping == "percentStacked" and up.code == "General" else up.code
    ascent, high = faces.rise(up.face)
    titles = _keep_axis_titles(chart, room, box)
    first = scale(
        min(numbers), max(numbers), up, room.right - room.left if chart.flat else room.bottom - room.top, high
    )
    if chart.grouping == "percentStacked":
        first = TickScale(min(0.0, first.least), 1.0, 0.1)
    texts = [shown(value, code)[0] if code != "General" else general(value) for value in first.ticks()]
    widest = max(faces.width(text, up.face) for text in texts)
    labels = max((item.labels for item in chart.series), key=len, default=())
    if not labels:
        labels = tuple(str(number + 1) for number in range(max(len(item.values) for item in chart.series)))
    if chart.flat:
        _take_flat(room, chart, labels, widest)
    else:
        _take_upright(room, chart, labels, widest, first)
    made.plot = room.box
    _put_axis_titles(made, chart, room, titles, owner)
    plot = _Plot(made, chart, room, first, owner, across_scale=_across(chart, room))
    plot.lines()
    plot.numbers(texts, ascent, high)
    plot.categories(labels)
    plot.series(spans)


def _across(chart: Chart, room: _Room) -> TickScale | None:
    xs = [x for item in chart.series for x in item.xs]
    return (
        scale(min(xs), max(xs), chart.across, room.right - room.left, 4 * chart.across.face.size, from_zero=False)
        if xs
        else None
    )


def _keep_axis_titles(chart: Chart, room: _Room, box: Box) -> tuple[float, float]:
    """Take the room of the titles of axes; where the feet of their letters are, to the left and below."""
    bottom, side = (chart.up, chart.across) if chart.flat else (chart.across, chart.up)
    x, y = room.left, room.bottom
    if side.title and side.shown:
        ascent, high = faces.rise(side.title_face)
        size = side.title_face.size
        x += 0.77 * size - 0.02 * size + ascent
        room.left = x + (high - ascent) + 0.285 * size + _MARGIN * (box[2] - box[0])
    if bottom.title and bottom.shown:
        ascent, high = faces.rise(bottom.title_face)
        size = bottom.title_face.size
        y -= 1.08 * size + (high - ascent)
        room.bottom = y - ascent - 0.27 * size - _MARGIN * (box[3] - box[1])
    return x, y


def _put_axis_titles(made: Drawn, chart: Chart, room: _Room, places: tuple[float, float], owner: str) -> None:
    """Titles stand at the middle of the plot."""
    bottom, side = (chart.up, chart.across) if chart.flat else (chart.across, chart.up)
    if side.title and side.shown:
        face = side.title_face
        y = (room.top + room.bottom) / 2 + faces.width(side.title, face) / 2
        for word in side.title.split():
            long = faces.width(word, face)
            made.marks.append(Word(text=word, x=places[0], y=y, width=long, face=face, owner=owner, turned=True))
            y -= faces.width(word + " ", face)
    if bottom.title and bottom.shown:
        middle = (room.left + room.right) / 2
        made.marks += _line(bottom.title, bottom.title_face, middle, places[1], owner, "ctr")


def _take_upright(room: _Room, chart: Chart, labels: Sequence[str], widest: float, scale: TickScale) -> None:
    up, across = chart.up, chart.across
    half = faces.rise(up.face)[1] / 2 if up.shown and up.labelled else 0.0
    above, below = half, half
    if up.shown and up.labelled:
        room.left += widest + _gap(up)
    if across.shown and across.labelled:
        unit = (room.right - room.left) / max(1, len(labels))
        lines = max((len(_broken(item, across.face, unit)) for item in labels), default=1)
        high = faces.rise(across.face)[1]
        long = _crowded(labels, across.face, unit)
        need = ((long + high) * _SLANT if long and chart.kind != "scatter" else lines * high) + _gap(across)
        match _level(chart, scale):
            case "bottom":
                below = max(below, need)
            case "top":
                above = max(above, need)
    room.top += above
    room.bottom -= below if across.shown and across.labelled else half
    if across.shown and across.labelled and chart.kind == "scatter":
        room.right -= faces.width("0", across.face) / 2


def _crowded(labels: Sequence[str], face: Typeface, unit: float) -> float:
    """The width of the longest label where one has a word that is too wide for its place; 0 where none has."""
    words = max((faces.width(word, face) for label in labels for word in label.split()), default=0.0)
    return max(faces.width(label, face) for label in labels) if words > unit else 0.0


def _level(chart: Chart, scale: TickScale) -> str:
    """Where the labels of the axis below are: at the plot's `bottom`, its `top`, or `within` it."""
    axis = chart.across
    if axis.beside == "low" or axis.crosses == "min":
        found = "bottom"
    elif axis.beside == "high" or axis.crosses == "max":
        found = "top"
    elif scale.least < 0 < scale.most:
        return "within"
    else:
        found = "bottom" if scale.least >= 0 else "top"
    return {"bottom": "top", "top": "bottom"}[found] if chart.up.backwards else found


def _take_flat(room: _Room, chart: Chart, labels: Sequence[str], widest: float) -> None:
    up, across = chart.up, chart.across
    if across.shown and across.labelled:
        room.left += max((faces.width(item, across.face) for item in labels), default=0.0) + _gap(across)
    if up.shown and up.labelled:
        room.bottom -= faces.rise(up.face)[1] + _gap(up)
        room.right -= widest / 2


def _broken(text: str, face: Typeface, wide: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and faces.width(f"{lines[-1]} {word}", face) <= wide:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


class _Plot:
    """The inside of a chart with two axes.

    Args:
        made: Takes the marks.
        chart: What is drawn.
        room: Between the axes.
        scale: Of the values.
        owner: What the marks belong to.
        across_scale: Of numbers along the other axis; None when it has categories.
    """

    def __init__(
        self, made: Drawn, chart: Chart, room: _Room, scale: TickScale, owner: str, *, across_scale: TickScale | None
    ) -> None:
        self._made, self._chart, self._room = made, chart, room
        self._scale, self._owner, self._across = scale, owner, across_scale
        self._count = max(
            [len(item.values) for item in chart.series] + [len(item.labels) for item in chart.series] + [1]
        )

    def _at(self, value: float) -> float:
        """Where a value is along its axis."""
        share = self._scale.share(min(max(value, self._scale.least), self._scale.most))
        share = 1 - share if self._chart.up.backwards else share
        room = self._room
        if self._chart.flat:
            return room.left + share * (room.right - room.left)
        return room.bottom - share * (room.bottom - room.top)

    def _place(self, number: float) -> float:
        """Where a category begins, or a part of it."""
        room, share = self._room, number / self._count
        if self._chart.flat:
            return (
                room.top + share * (room.bottom - room.top)
                if self._chart.across.backwards
                else (room.bottom - share * (room.bottom - room.top))
            )
        share = 1 - share if self._chart.across.backwards else share
        return room.left + share * (room.right - room.left)

    def _stroke(self, *points: Point, colour: Colour = _AXIS, width: float = 1.0) -> None:
        self._made.marks.append(Stroke(points=points, owner=self._owner, colour=colour, width=width))

    def lines(self) -> None:
        """The grid, the axes and their ticks."""
        room, flat = self._room, self._chart.flat
        zero = self._at({"min": self._scale.least, "max": self._scale.most}.get(self._chart.across.crosses, 0.0))
        for value in self._scale.ticks():
            at = self._at(value)
            if self._chart.up.lines:
                ends = ((at, room.top), (at, room.bottom)) if flat else ((room.left, at), (room.right, at))
                self._stroke(*ends, colour=(190, 190, 190))
            if self._chart.up.shown and self._chart.up.ticked:
                self._stroke(
                    *(
                        ((at, room.bottom), (at, room.bottom + _TICK))
                        if flat
                        else ((room.left - _TICK, at), (room.left, at))
                    )
                )
        if self._chart.across.shown:
            self._stroke(
                *(((zero, room.top), (zero, room.bottom)) if flat else ((room.left, zero), (room.right, zero)))
            )
        if self._chart.up.shown:
            self._stroke(
                *(
                    ((room.left, room.bottom), (room.right, room.bottom))
                    if flat
                    else ((room.left, room.top), (room.left, room.bottom))
                )
            )

    def numbers(self, texts: Sequence[str], ascent: float, high: float) -> None:
        """What is written along the axis of values."""
        axis, room = self._chart.up, self._room
        if not (axis.shown and axis.labelled):
            return
        for value, text in zip(self._scale.ticks(), texts, strict=True):
            at = self._at(value)
            if self._chart.flat:
                self._made.marks += _line(text, axis.face, at, room.bottom + _gap(axis) + ascent, self._owner, "ctr")
            else:
                self._made.marks += _line(
                    text, axis.face, room.left - _gap(axis), at - high / 2 + ascent, self._owner, "r"
                )

    def categories(self, labels: Sequence[str]) -> None:
        """What is written along the other axis."""
        axis, room = self._chart.across, self._room
        if not (axis.shown and axis.labelled):
            return
        ascent, high = faces.rise(axis.face)
        level = _level(self._chart, self._scale)
        foot = (
            {"bottom": room.bottom, "within": self._at(0.0)}.get(level, room.top - 2 * _gap(axis) - high)
            + _gap(axis)
            + ascent
        )
        if self._across is not None:
            for value in self._across.ticks():
                x = room.left + self._across.share(value) * (room.right - room.left)
                self._made.marks += _line(general(value), axis.face, x, foot, self._owner, "ctr")
            return
        unit = abs(self._place(1) - self._place(0))
        long = 0.0 if self._chart.flat else _crowded(labels, axis.face, unit)
        if long:
            self._made.unknown.append("labels of an axis that have no room side by side: they run upwards")
            self._upwards(labels, axis.face, foot - ascent, (long + high) * _SLANT / long)
            return
        for number, label in enumerate(labels):
            middle = self._place(number + 0.5)
            if self._chart.flat:
                self._made.marks += _line(
                    label, axis.face, room.left - _gap(axis), middle - high / 2 + ascent, self._owner, "r"
                )
                continue
            for row, line in enumerate(_broken(label, axis.face, unit)):
                self._made.marks += _line(line, axis.face, middle, foot + row * high, self._owner, "ctr")

    def _upwards(self, labels: Sequence[str], face: Typeface, top: float, room: float) -> None:
        """Labels that other programs write slanting, as small as the same room takes."""
        face = replace(face, size=face.size * min(1.0, room))
        for number, label in enumerate(labels):
            x = self._place(number + 0.5) + 0.25 * face.size
            y = top + faces.width(label, face)
            for word in label.split():
                wide = faces.width(word, face)
                self._made.marks.append(
                    Word(text=word, x=x, y=y, width=wide, face=face, owner=self._owner, turned=True)
                )
                y -= faces.width(word + " ", face)

    def series(self, spans: Sequence[Sequence[tuple[float, float]]]) -> None:
        """Bars, lines, areas or points."""
        for number, one in enumerate(self._chart.series):
            if self._chart.kind == "bar":
                self._bars(number, one, spans[number])
            elif self._chart.kind == "area":
                self._area(one, spans[number])
            else:
                self._run(one, spans[number])

    def _bars(self, number: int, one: Series, spans: Sequence[tuple[float, float]]) -> None:
        chart = self._chart
        piled = chart.grouping in ("stacked", "percentStacked")
        count = 1 if piled else len(chart.series)
        lap = 1.0 if piled else chart.overlap
        wide = 1 / (count - (count - 1) * lap + chart.gap)
        for at, (start, end) in enumerate(spans):
            if at >= len(one.values) or one.values[at] is None:
                continue
            begin = at + wide * (chart.gap / 2 + (0 if piled else number * (1 - lap)))
            a, b = self._place(begin), self._place(begin + wide)
            c, d = self._at(start), self._at(end)
            box = (
                (min(c, d), min(a, b), max(c, d), max(a, b))
                if chart.flat
                else (min(a, b), min(c, d), max(a, b), max(c, d))
            )
            colour = one.points.get(at, one.colour)
            self._made.marks.append(Surface(points=corners(box), owner=self._owner, fill=colour))
            if chart.told:
                self._tell(one.values[at], (a + b) / 2, d)

    def _tell(self, value: float | None, middle: float, end: float) -> None:
        face = self._chart.up.face
        text = shown(value, self._chart.told_code)[0]
        ascent, high = faces.rise(face)
        if self._chart.kind in ("line", "scatter") and self._chart.told_at in ("", "r"):
            self._made.marks += _line(text, face, middle + _SPACE, end - high / 2 + ascent, self._owner)
        elif self._chart.flat:
            self._made.marks += _line(text, face, end + 4, middle - high / 2 + ascent, self._owner)
        else:
            self._made.marks += _line(text, face, middle, end - 4 - (high - ascent), self._owner, "ctr")

    def _points(self, one: Series, spans: Sequence[tuple[float, float]]) -> list[Point]:
        room = self._room
        if self._across is not None:
            pairs = zip(one.xs, one.values, strict=False)
            return [
                (room.left + self._across.share(x) * (room.right - room.left), self._at(value))
                for x, value in pairs
                if value is not None
            ]
        return [
            (self._place(at + 0.5), self._at(end))
            for at, (_, end) in enumerate(spans)
            if at < len(one.values) and one.values[at] is not None
        ]

    def _run(self, one: Series, spans: Sequence[tuple[float, float]]) -> None:
        points = self._points(one, spans)
        if one.lined and len(points) > 1:
            self._stroke(*points, colour=one.colour, width=2.7)
        if one.marked or not one.lined:
            for x, y in points:
                self._made.marks.append(
                    Surface(points=((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)), owner=self._owner, fill=one.colour)
                )
        if self._chart.told:
            for (x, y), value in zip(points, [v for v in one.values if v is not None], strict=False):
                self._tell(value, x, y)

    def _area(self, one: Series, spans: Sequence[tuple[float, float]]) -> None:
        points = self._points(one, spans)
        if len(points) > 1:
            floor_at = [(self._place(at + 0.5), self._at(start)) for at, (start, _) in enumerate(spans)][::-1]
            self._made.marks.append(Surface(points=(*points, *floor_at), owner=self._owner, fill=one.colour))


def _pie(made: Drawn, chart: Chart, room: _Room, owner: str, theme: OfficeTheme) -> None:
    left, top, right, bottom = room.box
    radius = min(right - left, bottom - top) / 2
    x, y = (left + right) / 2, (top + bottom) / 2
    made.plot = (x - radius, y - radius, x + radius, y + radius)
    series = chart.series[0]
    total = sum(abs(value or 0.0) for value in series.values) or 1.0
    start = 0.0
    for number, value in enumerate(series.values):
        end = start + 360 * abs(value or 0.0) / total
        colour = series.points.get(number, accent(theme, number) if chart.varied else series.colour)
        if end > start:
            made.marks.append(
                Surface(
                    points=outlines.sector(x, y, radius, start, end), owner=owner, fill=colour, line=WHITE, width=0.8
                )
            )
        if chart.told and value is not None:
            ((at, down),) = outlines.turned([(x, y - radius * 0.7)], (x, y, x, y), (start + end) / 2)
            face = replace(chart.legend_face)
            made.marks += _line(shown(value, chart.told_code)[0], face, at, down + 0.25 * face.size, owner, "ctr")
        start = end
    if chart.kind == "ring":
        hole = outlines.outline("ellipse", (x - radius / 2, y - radius / 2, x + radius / 2, y + radius / 2), {})[0]
        made.marks.append(Surface(points=hole, owner=owner, fill=WHITE))
