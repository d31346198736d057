"""Charts. The first row of the range names the series, the first column holds categories or x values.

The data may lie on another sheet than the chart; the public server accepts such a range and then draws the
chart's own sheet.
"""

from typing import Any

from openpyxl.chart import AreaChart, BarChart, LineChart, PieChart, Reference, ScatterChart, Series
from openpyxl.chart._chart import ChartBase
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.marker import Marker
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references
from m3bench.sandboxes.servers.excel.references import Area
from m3bench.sandboxes.servers.excel.values import ILLEGAL
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import LimitError, ToolError

KINDS: dict[str, type[ChartBase]] = {
    "line": LineChart,
    "bar": BarChart,
    "pie": PieChart,
    "scatter": ScatterChart,
    "area": AreaChart,
}
COLORS = ("4472C4", "ED7D31", "A5A5A5", "FFC000", "5B9BD5", "70AD47")
WIDTH_CM = 15.0
HEIGHT_CM = 7.5
MAX_LABEL = 255
MAX_SERIES = 255


@tool
def create_chart(
    filepath: str,
    sheet_name: str,
    data_range: str,
    chart_type: str,
    target_cell: str,
    context: Context,
    title: str = "",
    x_axis: str = "",
    y_axis: str = "",
) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        named, cells = references.sheet_and_range(data_range)
        problem = "Sheet '{}' referenced in data range not found"
        source = worksheet if named is None else sheet(book, named, problem)
        kind = KINDS.get(chart_type.lower())
        if kind is None:
            raise ToolError(
                f"Unsupported chart type: {chart_type[:60]}. Supported types: {', '.join(KINDS)}",
                outcome="invalid_arguments",
            )
        area = _data_area(cells, kind)
        row, column = references.cell(target_cell, "Invalid target cell")
        chart = kind()
        _add_series(chart, source, area)
        _label(chart, title, x_axis, y_axis)
        worksheet.add_chart(chart, references.address(row, column))
    return f"{chart_type.capitalize()} chart created successfully"


def _data_area(cells: str, kind: type[ChartBase]) -> Area:
    area = references.area(cells, problem="Invalid data range format")
    if len(area.rows) < 2:
        raise ToolError(
            f"Invalid data range format: {area.text} needs a header row and at least one row of values",
            outcome="invalid_arguments",
        )
    if kind is ScatterChart and len(area.columns) < 2:
        raise ToolError(
            f"Invalid data range format: {area.text} needs a column of x values and one of y values",
            outcome="invalid_arguments",
        )
    if len(area.columns) > MAX_SERIES + 1:
        raise LimitError(f"Range {area.text} has {len(area.columns)} columns, more than a chart's {MAX_SERIES} series")
    return area


def _add_series(chart: ChartBase, source: Worksheet, area: Area) -> None:
    """One series for each column after the first; a single column is a series without categories."""
    alone = len(area.columns) == 1
    first = Reference(source, min_col=area.left, min_row=area.top + 1, max_row=area.bottom)
    for number, column in enumerate(area.columns if alone else area.columns[1:]):
        values = Reference(source, min_col=column, min_row=area.top, max_row=area.bottom)
        if isinstance(chart, ScatterChart):
            series = Series(values, first, title_from_data=True)
            _show_points(series, COLORS[number % len(COLORS)])
        else:
            series = Series(values, title_from_data=True)
        if isinstance(chart, LineChart | ScatterChart):
            series.smooth = False
        chart.series.append(series)
    if not alone and not isinstance(chart, ScatterChart):
        chart.set_categories(first)


def _show_points(series: Any, color: str) -> None:
    """Dots instead of a line through them."""
    series.marker = Marker("circle", spPr=GraphicalProperties(solidFill=color))
    series.graphicalProperties.line.noFill = True


def _label(chart: ChartBase, title: str, x_axis: str, y_axis: str) -> None:
    for text in (title, x_axis, y_axis):
        if len(text) > MAX_LABEL or ILLEGAL.search(text):
            raise ToolError(
                f"Invalid label: {text[:60]!r} (at most {MAX_LABEL} characters, no control characters)",
                outcome="invalid_arguments",
            )
    chart.width, chart.height = WIDTH_CM, HEIGHT_CM  # type: ignore[assignment]
    if title:
        chart.title = title
    for axis, text in ((getattr(chart, "x_axis", None), x_axis), (getattr(chart, "y_axis", None), y_axis)):
        if axis is not None:
            # Left unsaid, recent programs take an axis for a deleted one.
            axis.delete = False
            if text:
                axis.title = text
    labels = DataLabelList(showVal=True, showCatName=False, showSerName=False, showLegendKey=False, showPercent=False)
    chart.dataLabels = labels  # type: ignore[attr-defined]
