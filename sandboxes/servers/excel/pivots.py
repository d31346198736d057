"""Pivot summaries: rows of a range grouped by fields, written as values to a sheet of their own.

`mean`, the tool's own default, means `average`; the public server refuses it. Only groups that occur are
listed, and numbers group as well as text. Labels of the column fields become columns; the public server ignores
them.
"""

import math
import re
from collections.abc import Iterable, Sequence

from openpyxl import Workbook
from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import values as cell_values
from m3bench.sandboxes.servers.excel.references import Area
from m3bench.sandboxes.servers.excel.sheets import MAX_TITLE, add_sheet
from m3bench.sandboxes.servers.excel.tables import add_table, derived_name, own_range
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import ToolError

AGGREGATIONS = ("sum", "average", "count", "min", "max")
BLANK = "(blank)"
SUFFIX = "_pivot"
MAX_COLUMNS = 256

_Labels = tuple[object, ...]

_AGGREGATED = re.compile(rf" \(({'|'.join(AGGREGATIONS)})\)$", re.IGNORECASE)


@tool
def create_pivot_table(
    filepath: str,
    sheet_name: str,
    data_range: str,
    rows: list[str],
    values: list[str],
    context: Context,
    columns: list[str] | None = None,
    agg_func: str = "mean",
) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        area = own_range(sheet_name, data_range)
        how = "average" if agg_func.lower() == "mean" else agg_func.lower()
        if how not in AGGREGATIONS:
            raise ToolError(
                f"Invalid aggregation function. Must be one of: {', '.join(AGGREGATIONS)}", outcome="invalid_arguments"
            )
        source = _Source(worksheet, area)
        row_fields = [source.field(name, "row") for name in dict.fromkeys(rows)]
        value_fields = [source.field(name, "value") for name in dict.fromkeys(values)]
        column_fields = [source.field(name, "column") for name in dict.fromkeys(columns or ())]
        if not value_fields:
            raise ToolError("No value fields given: name at least one", outcome="invalid_arguments")
        if how != "count":
            source.check_numbers(value_fields)
        summary = _summarise(source, row_fields, column_fields, value_fields, how)
        _write(book, worksheet, summary)
    return "Summary table created successfully"


class _Source:
    """The rows of a range under its header row."""

    def __init__(self, worksheet: Worksheet, area: Area) -> None:
        grid = [[worksheet._cells.get((row, column)) for column in area.columns] for row in area.rows]
        first = (cell.value if cell else None for cell in grid[0])
        self.headers = ["" if value is None else str(cell_values.text(value)) for value in first]
        self.rows = [row for row in grid[1:] if any(cell and cell.value is not None for cell in row)]
        if not self.rows:
            raise ToolError(
                "Source data must have a header row and at least one data row.", outcome="invalid_arguments"
            )

    def field(self, name: str, kind: str) -> int:
        """The position of a field; upper and lower case are the same."""
        known = [header.strip().casefold() for header in self.headers]
        for wanted in (name, _AGGREGATED.sub("", name.strip())):
            if wanted.strip() and wanted.strip().casefold() in known:
                return known.index(wanted.strip().casefold())
        raise ToolError(
            f"Invalid {kind} field '{name}'. Available fields: {', '.join(sorted(filter(None, self.headers)))}",
            outcome="invalid_arguments",
        )

    def check_numbers(self, fields: list[int]) -> None:
        """Raise `ToolError` when a field has no number at all."""
        for field in fields:
            if not any(cell_values.is_number(self.value(row, field)) for row in self.rows):
                raise ToolError(
                    f"Value field '{self.headers[field]}' has no numbers: use agg_func count",
                    outcome="invalid_arguments",
                )

    def value(self, row: Sequence[Cell | MergedCell | None], field: int) -> object:
        """A cell's value; a formula is refused, because its result is not known."""
        cell = row[field]
        if cell is None or cell.value is None:
            return None
        if cell.data_type == "f":
            raise ToolError(
                f"Field '{self.headers[field]}' holds a formula in {cell.coordinate}, whose result is not stored: "
                "write the values instead",
                outcome="invalid_arguments",
            )
        return cell.value


def _summarise(source: _Source, rows: list[int], columns: list[int], values: list[int], how: str) -> list[list[object]]:
    """Header and one line for each group, in order of the labels; a column for each label of the column fields."""
    groups: dict[_Labels, dict[_Labels, list[Sequence[Cell | MergedCell | None]]]] = {}
    for row in source.rows:
        group = groups.setdefault(_labels(source, row, rows), {})
        group.setdefault(_labels(source, row, columns), []).append(row)
    across = _in_order({labels for group in groups.values() for labels in group})
    if len(rows) + len(across) * len(values) > MAX_COLUMNS:
        raise ToolError(
            f"The column fields have {len(across)} labels, too many for the {MAX_COLUMNS} columns of a summary",
            outcome="invalid_arguments",
        )
    header: list[object] = [source.headers[field] for field in rows]
    for labels in across:
        under = "".join(f"{cell_values.text(label)} - " for label in labels)
        header += [f"{under}{source.headers[field]} ({how})" for field in values]
    lines = []
    for key in _in_order(groups):
        found = [groups[key].get(labels) for labels in across]
        results = [
            None if part is None else _aggregate([source.value(row, field) for row in part], how)
            for part in found
            for field in values
        ]
        lines.append([*key, *results])
    return [header, *lines]


def _labels(source: _Source, row: Sequence[Cell | MergedCell | None], fields: list[int]) -> _Labels:
    labels = (source.value(row, field) for field in fields)
    return tuple(BLANK if label is None else label for label in labels)


def _in_order(keys: Iterable[_Labels]) -> list[_Labels]:
    return sorted(keys, key=lambda labels: [_rank(label) for label in labels])


def _rank(label: object) -> tuple[int, float, str]:
    """Numbers in order of size, then all else in order of its text."""
    return (0, float(label), "") if cell_values.is_number(label) else (1, 0.0, str(label))  # type: ignore[arg-type]


def _aggregate(found: list[object], how: str) -> float | None:
    if how == "count":
        return sum(value is not None for value in found)
    numbers = [value for value in found if isinstance(value, int | float) and cell_values.is_number(value)]
    if how == "sum":
        return _total(numbers)
    if not numbers:
        return None
    if how == "average":
        return _total(numbers) / len(numbers)
    return min(numbers) if how == "min" else max(numbers)


def _total(numbers: list[float]) -> float:
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)


def _write(book: Workbook, worksheet: Worksheet, lines: list[list[object]]) -> None:
    """Put the summary on the sheet's own pivot sheet; an earlier one gives way."""
    title = worksheet.title[: MAX_TITLE - len(SUFFIX)] + SUFFIX
    index = len(book.sheetnames)
    for position, name in enumerate(book.sheetnames):
        if name.casefold() == title.casefold():
            index = position
            del book[name]
    target = add_sheet(book, title, index)
    for number, line in enumerate(lines, 1):
        for column, value in enumerate(line, 1):
            cell = target.cell(number, column)
            cell.value = value  # type: ignore[assignment]  # a label or a number
            if isinstance(value, str):
                # A label is never a formula.
                cell.data_type = "s"
    for column in range(1, len(lines[0]) + 1):
        target.cell(1, column).font = Font(bold=True)
    area = Area(1, 1, len(lines), len(lines[0]))
    add_table(target, area, derived_name(book, "PivotTable", title, area))
