"""What a chart says: its series, titles, axes and sizes of letters, as files have them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from m3bench.tasks.office.colours import A, OfficeTheme
from m3bench.tasks.office.marks import Colour, Typeface
from m3bench.tasks.office.numbers import shown

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
Values = Callable[[str], tuple[Sequence[object], str]]
"""What a reference to cells stands for, and the format of the first of them."""
MOST_POINTS = 2000
KINDS = {
    "barChart": "bar",
    "bar3DChart": "bar",
    "lineChart": "line",
    "line3DChart": "line",
    "pieChart": "pie",
    "pie3DChart": "pie",
    "doughnutChart": "ring",
    "ofPieChart": "pie",
    "areaChart": "area",
    "area3DChart": "area",
    "scatterChart": "scatter",
    "radarChart": "radar",
    "bubbleChart": "bubble",
    "stockChart": "stock",
    "surfaceChart": "surface",
    "surface3DChart": "surface",
}


@dataclass(frozen=True, kw_only=True)
class Series:
    """One row of figures."""

    name: str
    values: tuple[float | None, ...]
    labels: tuple[str, ...]
    xs: tuple[float, ...] = ()
    colour: Colour
    points: dict[int, Colour]
    """Colours of single points."""
    marked: bool
    """Whether its points have signs."""
    lined: bool


@dataclass(frozen=True, kw_only=True)
class Axis:
    """How one axis looks."""

    shown: bool = True
    title: str = ""
    title_face: Typeface
    face: Typeface
    lines: bool = False
    least: float | None = None
    most: float | None = None
    step: float | None = None
    code: str = "General"
    backwards: bool = False
    labelled: bool = True
    ticked: bool = True
    """Whether it has ticks."""
    crosses: str = "autoZero"
    """Where on the other axis it is: at nothing, `min` or `max`."""
    beside: str = "nextTo"
    """Where its labels are: at the axis, or `low` or `high` on the plot's edge."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart, read."""

    kind: str
    flat: bool
    """Whether bars lie."""
    grouping: str
    gap: float
    overlap: float
    series: tuple[Series, ...]
    title: str
    title_face: Typeface
    legend: str
    """Where it is: `r`, `b`, `l`, `t`, `tr`, or nothing when there is none."""
    legend_face: Typeface
    across: Axis
    up: Axis
    told: bool
    """Whether points have their values written at them."""
    told_at: str
    """Where: `outEnd`, `ctr`, `r` and so on; nothing where it is not said."""
    told_code: str
    varied: bool
    unknown: tuple[str, ...]


def read(root: Any, theme: OfficeTheme, values: Values | None, size: float) -> Chart:
    """The chart in a part.

    Args:
        root: The part's element.
        theme: The file's colours.
        values: Finds what references stand for, where the part does not keep it.
        size: Of letters where nothing is said, in pixels.
    """
    plot = root.find(f"{C}chart/{C}plotArea")
    unknown: list[str] = []
    found = [node for node in plot if isinstance(node.tag, str) and node.tag.removeprefix(C) in KINDS]
    if not found:
        found = [plot]
        unknown.append("a chart of a kind that is not known")
    if len(found) > 1:
        unknown.append("a chart of several kinds: only the first is drawn")
    main = found[0]
    name = main.tag.removeprefix(C)
    if "3D" in name:
        unknown.append("a chart in three dimensions: drawn flat")
    base = _face(root.find(f"{C}txPr"), theme, Typeface(family=theme.minor, size=size))
    said = root.find(f"{C}txPr") is not None
    varied = _flag(main, "varyColors", KINDS.get(name) in ("pie", "ring"))
    series = tuple(
        _series(main, theme, values, KINDS.get(name, ""), number) for number in range(len(_all(main, "ser")))
    )
    title, title_face = _title(
        root.find(f"{C}chart"), theme, replace(base, size=base.size * 1.2 if said else 24.0, bold=True)
    )
    if not title and len(series) == 1 and root.find(f"{C}chart/{C}title") is not None:
        title = series[0].name
    legend = root.find(f"{C}chart/{C}legend")
    if plot.find(f"{C}layout/{C}manualLayout") is not None:
        unknown.append("a plot placed by hand: placed as new ones are")
    across, up = _axes(plot, theme, base)
    labels = next((found for node in (main, *_all(main, "ser")) if (found := node.find(f"{C}dLbls")) is not None), None)
    source = _source_code(main, values)
    if up.code == "General":
        up = replace(up, code=source)
    return Chart(
        kind=KINDS.get(name, ""),
        flat=_value(main, "barDir", "col") == "bar",
        grouping=_value(main, "grouping", "standard"),
        gap=float(_value(main, "gapWidth", "150").rstrip("%")) / 100,
        overlap=float(_value(main, "overlap", "0").rstrip("%")) / 100,
        series=series,
        title=title,
        title_face=title_face,
        legend=_value(legend, "legendPos", "r") if legend is not None else "",
        legend_face=_face(legend.find(f"{C}txPr") if legend is not None else None, theme, base),
        across=across,
        up=up,
        told=labels is not None and _flag(labels, "showVal", False),
        told_at=_value(labels, "dLblPos", "") if labels is not None else "",
        told_code=source if _code(labels) == "General" else _code(labels),
        varied=varied,
        unknown=tuple(unknown),
    )


def _all(parent: Any, name: str) -> list[Any]:
    return list(parent.iterfind(f"{C}{name}"))


def _value(parent: Any, name: str, otherwise: str) -> str:
    found = parent.find(f"{C}{name}") if parent is not None else None
    return str(found.get("val", otherwise)) if found is not None else otherwise


def _flag(parent: Any, name: str, otherwise: bool) -> bool:
    found = parent.find(f"{C}{name}") if parent is not None else None
    return otherwise if found is None else found.get("val", "1") in ("1", "true")


def _code(parent: Any) -> str:
    found = parent.find(f"{C}numFmt") if parent is not None else None
    if found is None or found.get("sourceLinked") in ("1", "true"):
        return "General"
    return str(found.get("formatCode", "General"))


def _source_code(main: Any, values: Values | None) -> str:
    """The format of the first series' figures."""
    first = main.find(f"{C}ser")
    figures = first.find(f"{C}val") if first is not None else None
    if figures is None and first is not None:
        figures = first.find(f"{C}yVal")
    if figures is None:
        return "General"
    cached, reference = figures.findtext(f".//{C}formatCode"), figures.findtext(f".//{C}f")
    if values is not None and reference:
        return values(reference)[1] or "General"
    return cached or "General"


def _face(text: Any, theme: OfficeTheme, base: Typeface) -> Typeface:
    run = text.find(f".//{A}rPr") if text is not None else None
    properties = text.find(f".//{A}defRPr") if text is not None else None
    size, bold, colour = base.size, base.bold, base.colour
    for node in (properties, run):
        if node is None:
            continue
        size = int(node.get("sz")) / 75 if node.get("sz") else size
        bold = node.get("b") in ("1", "true") if node.get("b") is not None else bold
        found = theme.of(node.find(f"{A}solidFill"))
        colour = found[0] if found is not None else colour
    return replace(base, size=size, bold=bold, colour=colour)


def _title(parent: Any, theme: OfficeTheme, base: Typeface) -> tuple[str, Typeface]:
    title = parent.find(f"{C}title") if parent is not None else None
    if title is None:
        return "", base
    rich = title.find(f"{C}tx/{C}rich")
    text = "".join(node.text or "" for node in rich.iter(f"{A}t")) if rich is not None else ""
    cached = title.find(f"{C}tx/{C}strRef/{C}strCache/{C}pt/{C}v")
    if not text and cached is not None:
        text = cached.text or ""
    return text, _face(rich if rich is not None else title.find(f"{C}txPr"), theme, base)


def _axes(plot: Any, theme: OfficeTheme, base: Typeface) -> tuple[Axis, Axis]:
    categories = [node for name in ("catAx", "dateAx") for node in _all(plot, name)]
    numbers = _all(plot, "valAx")
    if not categories and len(numbers) > 1:
        first = next((node for node in numbers if _value(node, "axPos", "") in ("b", "t")), numbers[0])
        categories, numbers = [first], [node for node in numbers if node is not first]
    return _axis(categories, theme, base), _axis(numbers, theme, base)


def _axis(found: Sequence[Any], theme: OfficeTheme, base: Typeface) -> Axis:
    if not found:
        return Axis(shown=False, title_face=base, face=base)
    one = found[0]
    scaling = one.find(f"{C}scaling")
    title, face = _title(one, theme, replace(base, bold=True))

    def number(parent: Any, name: str) -> float | None:
        given = _value(parent, name, "")
        return float(given) if given else None

    return Axis(
        shown=not _flag(one, "delete", False),
        title=title,
        title_face=face,
        face=_face(one.find(f"{C}txPr"), theme, base),
        lines=one.find(f"{C}majorGridlines") is not None,
        least=number(scaling, "min"),
        most=number(scaling, "max"),
        step=number(one, "majorUnit"),
        code=_code(one),
        backwards=_value(scaling, "orientation", "minMax") == "maxMin",
        labelled=_value(one, "tickLblPos", "nextTo") != "none",
        ticked=_value(one, "majorTickMark", "cross") not in ("none", "in"),
        crosses=_value(one, "crosses", "autoZero"),
        beside=_value(one, "tickLblPos", "nextTo"),
    )


def _cached(parent: Any, values: Values | None) -> list[object]:
    """The values that a series refers to, kept in the part or looked up."""
    if parent is None:
        return []
    literal = next(
        (
            found
            for name in ("numCache", "strCache", "numLit", "strLit", "multiLvlStrCache/" + C + "lvl")
            if (found := parent.find(f".//{C}{name}")) is not None
        ),
        None,
    )
    reference = parent.find(f".//{C}f")
    if literal is None or literal.find(f"{C}pt") is None:
        return (
            list(values(reference.text or "")[0])[:MOST_POINTS] if values is not None and reference is not None else []
        )
    points = {int(point.get("idx", "0")): point.findtext(f"{C}v") or "" for point in literal.iterfind(f"{C}pt")}
    count = max([*points, int(_value(literal, "ptCount", "0")) - 1], default=-1) + 1
    return [points.get(number) for number in range(min(count, MOST_POINTS))]


def _numbers(found: Sequence[object]) -> Iterator[float | None]:
    for node in found:
        try:
            yield None if node is None or node == "" else float(str(node))
        except ValueError:
            yield 0.0


def _series(main: Any, theme: OfficeTheme, values: Values | None, kind: str, number: int) -> Series:
    one = _all(main, "ser")[number]
    names = _cached(one.find(f"{C}tx"), values)
    plain = one.findtext(f"{C}tx/{C}v")
    figures = _cached(one.find(f"{C}val") if one.find(f"{C}val") is not None else one.find(f"{C}yVal"), values)
    across = _cached(one.find(f"{C}cat") if one.find(f"{C}cat") is not None else one.find(f"{C}xVal"), values)
    colour = _painted(one.find(f"{C}spPr"), theme, line=kind in ("line", "scatter"))
    points = {
        int(_value(point, "idx", "0")): found
        for point in one.iterfind(f"{C}dPt")
        if (found := _painted(point.find(f"{C}spPr"), theme, line=False)) is not None
    }
    symbol = one.find(f"{C}marker/{C}symbol")
    unlined = one.find(f"{C}spPr/{{http://schemas.openxmlformats.org/drawingml/2006/main}}ln/{A}noFill") is not None
    return Series(
        name=str(names[0]) if names and names[0] is not None else plain or f"Series{number + 1}",
        values=tuple(_numbers(figures)),
        labels=tuple(label(node) for node in across),
        xs=tuple(x if x is not None else 0.0 for x in _numbers(across)) if kind == "scatter" else (),
        colour=colour if colour is not None else accent(theme, number),
        points=points,
        marked=symbol is None or symbol.get("val") != "none",
        lined=not unlined,
    )


def label(value: object) -> str:
    """A category as it is written."""
    return "" if value is None else shown(value)[0]


def accent(theme: OfficeTheme, number: int) -> Colour:
    """The colour that a theme gives to a series or slice."""
    return theme.named(f"accent{number % 6 + 1}")


def _painted(properties: Any, theme: OfficeTheme, *, line: bool) -> Colour | None:
    if properties is None:
        return None
    for path in (f"{A}ln/{A}solidFill", f"{A}solidFill") if line else (f"{A}solidFill",):
        found = theme.of(properties.find(path))
        if found is not None:
            return found[0]
    return None
