"""Charts: insert one, replace its data.

`legend_position` and `color_scheme` are applied (the public server only accepts them). Scatter charts take
their x values from the categories: the numbers they are, else 1, 2, 3 and so on. What a chart kind cannot
show comes back as a warning.
"""

from typing import Any

from pptx.chart.chart import Chart
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.chart.datalabel import DataLabels
from pptx.dml.color import RGBColor
from pptx.enum.chart import (
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_LEGEND_POSITION,
    XL_MARKER_STYLE,
    XL_TICK_LABEL_POSITION,
)
from pptx.shapes.graphfrm import GraphicFrame
from pptx.slide import Slide
from pptx.util import Emu, Pt

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import (
    SHAPE_OUT_OF_RANGE,
    SLIDE_OUT_OF_RANGE,
    choice,
    drawing_slide,
    frame,
    index_of,
    number,
    shape_at,
    slide_at,
)
from m3bench.sandboxes.servers.ppt.decks import frozen_workbook
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool

KINDS = {
    "column": XL_CHART_TYPE.COLUMN_CLUSTERED,
    "stacked_column": XL_CHART_TYPE.COLUMN_STACKED,
    "bar": XL_CHART_TYPE.BAR_CLUSTERED,
    "stacked_bar": XL_CHART_TYPE.BAR_STACKED,
    "line": XL_CHART_TYPE.LINE,
    "line_markers": XL_CHART_TYPE.LINE_MARKERS,
    "pie": XL_CHART_TYPE.PIE,
    "doughnut": XL_CHART_TYPE.DOUGHNUT,
    "area": XL_CHART_TYPE.AREA,
    "stacked_area": XL_CHART_TYPE.AREA_STACKED,
    "scatter": XL_CHART_TYPE.XY_SCATTER,
    "radar": XL_CHART_TYPE.RADAR,
    "radar_markers": XL_CHART_TYPE.RADAR_MARKERS,
}
LEGENDS = {
    "right": XL_LEGEND_POSITION.RIGHT,
    "left": XL_LEGEND_POSITION.LEFT,
    "top": XL_LEGEND_POSITION.TOP,
    "bottom": XL_LEGEND_POSITION.BOTTOM,
    "corner": XL_LEGEND_POSITION.CORNER,
}
ROUND = ("pie", "doughnut")
STACKED = ("stacked_column", "stacked_bar", "area", "stacked_area")
OUTSIDE = ("column", "bar", "pie")
ABOVE = ("line", "line_markers", "scatter")
"""Where labels may stand is up to the kind of chart: PowerPoint repairs files that say otherwise."""
LINES = ("line", "line_markers", "scatter", "radar", "radar_markers")
MAX_SERIES = 50
MAX_CATEGORIES = 1000
_PLOTS = {
    "areaChart": "area",
    "barChart": "column",
    "doughnutChart": "doughnut",
    "lineChart": "line",
    "pieChart": "pie",
    "radarChart": "radar",
    "scatterChart": "scatter",
}
"""What a chart file calls the kinds."""
WRONG_KIND = "Invalid chart type: '{kind}'. Valid types are: {known}"

_GRID = RGBColor(0xD9, 0xD9, 0xD9)


@tool
def add_chart(
    context: Context,
    slide_index: int,
    chart_type: str,
    left: float,
    top: float,
    width: float,
    height: float,
    categories: list[str],
    series_names: list[str],
    series_values: list[list[float]],
    has_legend: bool = True,
    legend_position: str = "right",
    has_data_labels: bool = False,
    title: str | None = None,
    x_axis_title: str | None = None,
    y_axis_title: str | None = None,
    color_scheme: str | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    kind = chart_type.lower()
    if kind not in KINDS:
        raise failure(WRONG_KIND.format(kind=chart_type[:40], known=", ".join(KINDS)), outcome="invalid_arguments")
    if len(series_names) != len(series_values):
        raise failure(
            f"Number of series names ({len(series_names)}) must match number of series values ({len(series_values)})",
            outcome="invalid_arguments",
        )
    series = list(zip(series_names, series_values, strict=True))
    check_data(categories, series)
    legend = LEGENDS[choice("legend_position", legend_position, LEGENDS)]
    scheme = None if color_scheme is None else colours.scheme(color_scheme)
    box = frame(left, top, width, height)
    with decks.editing(context, presentation_id) as deck:
        slide = drawing_slide(deck.presentation, slide_index)
        shape = insert_chart(slide, kind, box, categories, series)
        chart = shape.chart
        warnings = _titles(chart, kind, title, x_axis_title, y_axis_title)
        if kind == "pie" and len(series) > 1:
            warnings.append("A pie shows the first series only: use doughnut for several")
        chart.has_legend = has_legend
        if has_legend:
            chart.legend.position = legend
            chart.legend.include_in_layout = False
        if scheme is not None:
            colour_series(chart, scheme)
        if has_data_labels:
            label_values(chart, kind, scheme)
        index = index_of(slide, shape)
    answer: dict[str, object] = {
        "message": f"Added {chart_type} chart to slide {slide_index}",
        "shape_index": index,
        "chart_type": chart_type,
        "series_count": len(series),
        "categories_count": len(categories),
    }
    return {**answer, "warnings": warnings} if warnings else answer


@tool
def update_chart_data(
    context: Context,
    slide_index: int,
    shape_index: int,
    categories: list[str],
    series_data: list[dict[str, object]],
    presentation_id: str | None = None,
) -> dict[str, object]:
    series = [_series(entry, position) for position, entry in enumerate(series_data)]
    check_data(categories, series)
    with decks.editing(context, presentation_id, decks.NOT_FOUND) as deck:
        slide = slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE)
        shape = shape_at(slide, shape_index, SHAPE_OUT_OF_RANGE)
        if not isinstance(shape, GraphicFrame) or not shape.has_chart:
            raise failure("Shape is not a chart", outcome="invalid_arguments")
        chart = shape.chart
        if kind_of(chart) is None:
            raise failure("Shape is a chart of a kind whose data cannot be replaced", outcome="invalid_arguments")
        scheme = _scheme_of(chart)
        _drop_foreign_workbook(chart)
        chart.replace_data(_chart_data(kind_of(chart) == "scatter", categories, series))
        _freeze(chart)
        if scheme is not None:
            colour_series(chart, scheme)
    return {
        "message": f"Updated chart data on slide {slide_index}, shape {shape_index}",
        "categories": categories,
        "series_count": len(series),
        "series_names": [name for name, _ in series],
    }


def insert_chart(
    slide: Slide,
    kind: str,
    box: tuple[Emu, Emu, Emu, Emu],
    categories: list[str],
    series: list[tuple[str, list[float]]],
) -> GraphicFrame:
    """Put a chart on a slide, with letters that suit its size and quiet grid lines."""
    shapes: Any = slide.shapes
    shape: GraphicFrame = shapes.add_chart(KINDS[kind], *box, _chart_data(kind == "scatter", categories, series))
    chart = shape.chart
    _freeze(chart)
    chart.font.size = Pt(max(8, min(14, round(min(box[2], box[3] * 1.4) / 914400 * 2.5))))
    chart.has_title = False
    if kind not in ROUND:
        chart.value_axis.major_gridlines.format.line.color.rgb = _GRID
        if not kind.startswith("radar"):
            chart.category_axis.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    if kind in ("column", "bar"):
        chart.plots[0].gap_width = 80
        chart.plots[0].overlap = 0
    return shape


def check_data(categories: list[str], series: list[tuple[str, list[float]]]) -> None:
    """Refuse what makes no chart."""
    if not 1 <= len(categories) <= MAX_CATEGORIES:
        raise refusal("categories", f"must have between 1 and {MAX_CATEGORIES} labels, not {len(categories)}")
    if not 1 <= len(series) <= MAX_SERIES:
        raise failure(
            f"A chart needs between 1 and {MAX_SERIES} series, not {len(series)}", outcome="invalid_arguments"
        )
    for name, values in series:
        if len(values) != len(categories):
            raise failure(
                f"Series '{name}' has {len(values)} values but there are {len(categories)} categories",
                outcome="invalid_arguments",
            )


def colour_series(chart: Chart, scheme: colours.Scheme) -> None:
    """Colour the series, or the slices where they are what differs."""
    palette = scheme.series
    kind = kind_of(chart)
    for position, series in enumerate(chart.plots[0].series if kind is not None else ()):
        colour = palette[position % len(palette)]
        if kind in ROUND:
            for point in range(len(list(series.values))):
                fill = series.points[point].format.fill
                fill.solid()
                fill.fore_color.rgb = palette[point % len(palette)]
        elif kind in LINES:
            _colour_line(series, kind, colour)
        else:
            series.format.fill.solid()
            series.format.fill.fore_color.rgb = colour


def _colour_line(series: Any, kind: str, colour: RGBColor) -> None:
    if kind == "scatter":
        series.format.line.fill.background()
    else:
        series.format.line.color.rgb = colour
        series.format.line.width = Pt(2.25)
    if kind in ("line_markers", "radar_markers", "scatter"):
        series.marker.style = XL_MARKER_STYLE.CIRCLE
        series.marker.format.fill.solid()
        series.marker.format.fill.fore_color.rgb = colour
        series.marker.format.line.color.rgb = colour


def kind_of(chart: Chart) -> str | None:
    """The kind of a chart, of those that can be made here the nearest; None for what python-pptx cannot read."""
    tags = {element.tag.rpartition("}")[2] for element in chart._chartSpace.xpath("c:chart/c:plotArea/*[c:ser]")}
    if not tags or not tags <= set(_PLOTS):
        return None
    found = chart.chart_type if len(tags) == 1 else None
    return next((name for name, kind in KINDS.items() if kind == found), _PLOTS[min(tags)])


def _scheme_of(chart: Chart) -> colours.Scheme | None:
    """The scheme a chart was coloured with."""
    used = chart._chartSpace.xpath(".//c:ser[1]//a:srgbClr/@val")
    return next((item for item in colours.SCHEMES.values() if used and used[0] == str(item.primary)), None)


def _series(entry: dict[str, object], position: int) -> tuple[str, list[float]]:
    name, values = entry.get("name"), entry.get("values")
    if not isinstance(name, str) or not isinstance(values, list):
        raise failure("Each series must have 'name' and 'values' keys", outcome="invalid_arguments")
    return name, [number(f"series_data[{position}].values", value) for value in values]


def _chart_data(
    scatter: bool, categories: list[str], series: list[tuple[str, list[float]]]
) -> CategoryChartData | XyChartData:
    if not scatter:
        data = CategoryChartData()
        data.categories = categories
        for name, values in series:
            data.add_series(name, values)
        return data
    points = XyChartData()
    for name, values in series:
        row = points.add_series(name)
        for x, y in zip(_positions(categories), values, strict=True):
            row.add_data_point(x, y)
    return points


def _positions(categories: list[str]) -> list[float]:
    try:
        found = [float(category) for category in categories]
    except ValueError:
        found = []
    usable = found and all(abs(value) < 1e15 for value in found)
    return found if usable else [float(position) for position in range(1, len(categories) + 1)]


def _titles(chart: Chart, kind: str, title: str | None, x_title: str | None, y_title: str | None) -> list[str]:
    """Set the titles; what a chart without axes cannot show."""
    if title:
        chart.chart_title.text_frame.text = title
        chart.chart_title.include_in_layout = False
        font = chart.chart_title.text_frame.paragraphs[0].runs[0].font
        font.size = Pt(round((chart.font.size or Pt(12)).pt * 1.3))
        font.bold = True
    if kind in ROUND:
        given = [name for name, text in (("x_axis_title", x_title), ("y_axis_title", y_title)) if text]
        return [f"{' and '.join(given)} left out: a {kind} chart has no axes"] if given else []
    for axis, text in ((chart.category_axis, x_title), (chart.value_axis, y_title)):
        if text:
            axis.axis_title.text_frame.text = text
            axis.axis_title.text_frame.paragraphs[0].runs[0].font.size = chart.font.size
    return []


def label_values(chart: Chart, kind: str, scheme: colours.Scheme | None = None) -> None:
    """Write the values beside what shows them; inside coloured areas, in a colour that can be read there."""
    size = Pt(max(7, round((chart.font.size or Pt(12)).pt * 0.85)))
    for position, series in enumerate(chart.plots[0].series):
        labels = DataLabels(series._element.get_or_add_dLbls())
        labels.show_value = True
        labels.font.size = size
        if kind in OUTSIDE:
            labels.position = XL_LABEL_POSITION.OUTSIDE_END
        elif kind in ABOVE:
            labels.position = XL_LABEL_POSITION.ABOVE
        elif scheme is not None and kind in STACKED:
            ground = scheme.series[position % len(scheme.series)]
            labels.font.color.rgb = colours.readable_on(ground, scheme.text)
        elif scheme is not None and kind == "doughnut":
            _label_slices(series, scheme, size)


def _label_slices(series: Any, scheme: colours.Scheme, size: Pt) -> None:
    for point in range(len(list(series.values))):
        font = series.points[point].data_label.font
        font.size = size
        font.color.rgb = colours.readable_on(scheme.series[point % len(scheme.series)], scheme.text)


def _drop_foreign_workbook(chart: Chart) -> None:
    """Forget a data sheet that is linked or missing: replacing the data writes one into the deck."""
    owner: Any = chart.part
    try:
        owner.chart_workbook.xlsx_part  # noqa: B018
    except (KeyError, ValueError):
        for link in chart._chartSpace.xpath("c:externalData"):
            chart._chartSpace.remove(link)


def _freeze(chart: Chart) -> None:
    owner: Any = chart.part
    part = owner.chart_workbook.xlsx_part
    if part is not None:
        part.blob = frozen_workbook(part.blob)
