"""Inserting and deleting whole rows and columns, and everything on a sheet that moves with them.

openpyxl moves cells only, and not all of them: values in sparse rows stay behind, and merged ranges, heights,
rules, tables, charts and formulas keep their old places. Here the whole sheet shifts, as in a spreadsheet
program, and references from other sheets follow.
"""

import re
from dataclasses import dataclass
from typing import Literal

from openpyxl import Workbook
from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.formatting.formatting import ConditionalFormattingList
from openpyxl.utils import column_index_from_string, get_column_letter
from openpyxl.worksheet.cell_range import CellRange, MultiCellRange
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.merge import MergedCellRange
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel.formulas import relink
from m3bench.sandboxes.servers.excel.references import MAX_COLUMN, MAX_ROW, Area, area
from m3bench.sandboxes.servers.excel.values import copy_style
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import ToolError

_PLACE = re.compile(r"(\$?)([A-Za-z]*)(\$?)([0-9]*)")


@dataclass(frozen=True, kw_only=True)
class Shift:
    """`count` lines inserted before line `at`, or, when negative, removed from it on."""

    axis: Literal["row", "column"]
    at: int
    count: int

    def line(self, number: int) -> int | None:
        """Where a line is afterwards; None when it was removed."""
        if self.count < 0 and self.at <= number < self.at - self.count:
            return None
        return number + self._step(number)

    def span(self, first: int, last: int) -> tuple[int, int] | None:
        """Where a run of lines is afterwards, grown or shrunk; None when all of it was removed."""
        # A removed end falls back to the nearest line that is left.
        start = first if self.line(first) else self.at - self.count
        end = last if self.line(last) else self.at - 1
        if start > end:
            return None
        return start + self._step(start), min(end + self._step(end), self._end)

    def area(self, old: Area) -> Area | None:
        """Where a rectangle is afterwards."""
        if self.axis == "row":
            span = self.span(old.top, old.bottom)
            return span and Area(span[0], old.left, span[1], old.right)
        span = self.span(old.left, old.right)
        return span and Area(old.top, span[0], old.bottom, span[1])

    def reference(self, cells: str) -> str | None:
        """A reference such as `$A$1`, `B2:C9`, `A:B` or `3:4` afterwards; None when its cells are gone."""
        first, _, last = cells.partition(":")
        ends = [_PLACE.fullmatch(first), _PLACE.fullmatch(last or first)]
        group = 4 if self.axis == "row" else 2
        texts = [end[group] if end else "" for end in ends]
        if not all(texts):
            return cells
        numbers = [int(text) if self.axis == "row" else column_index_from_string(text.upper()) for text in texts]
        span = self.span(min(numbers), max(numbers))
        if span is None:
            return None
        new = []
        for end, number in zip(ends, span if numbers[0] <= numbers[1] else span[::-1], strict=True):
            assert end is not None
            parts = list(end.groups())
            parts[group - 1] = str(number) if self.axis == "row" else get_column_letter(number)
            new.append("".join(parts))
        return ":".join(new) if last else new[0]

    def _step(self, number: int) -> int:
        return self.count if number >= self.at else 0

    @property
    def _end(self) -> int:
        return MAX_ROW if self.axis == "row" else MAX_COLUMN


def shift(book: Workbook, worksheet: Worksheet, change: Shift) -> None:
    """Carry out a shift on a sheet. Cells must not be pushed over the sheet's end: the caller looks first."""
    _move_cells(worksheet, change)
    _move_dimensions(worksheet, change)
    _move_merges(worksheet, change)
    _move_rules(worksheet, change)
    _move_tables(worksheet, change)
    _move_drawings(worksheet, change)
    title = worksheet.title.casefold()
    relink(book, lambda name, cells: change.reference(cells) if name.casefold() == title else cells)


def _move_cells(worksheet: Worksheet, change: Shift) -> None:
    moved = {}
    for (row, column), cell in worksheet._cells.items():
        new = change.line(row if change.axis == "row" else column)
        if new is None:
            continue
        if change.axis == "row":
            cell.row = new
        else:
            cell.column = new
        moved[(new, column) if change.axis == "row" else (row, new)] = cell
        if cell.hyperlink is not None:
            cell.hyperlink.ref = cell.coordinate
        if isinstance(cell.value, ArrayFormula):
            cell.value.ref = _moved_text(change, cell.value.ref) or cell.coordinate
    worksheet._cells = moved


def _move_dimensions(worksheet: Worksheet, change: Shift) -> None:
    if change.axis == "row":
        rows = list(worksheet.row_dimensions.items())
        worksheet.row_dimensions.clear()
        for number, row in rows:
            new = change.line(number)
            if new is not None:
                row.index = new
                worksheet.row_dimensions[new] = row
        return
    columns = list(worksheet.column_dimensions.values())
    worksheet.column_dimensions.clear()
    for column in columns:
        column.reindex()
        assert column.min is not None
        assert column.max is not None
        span = change.span(column.min, column.max)
        if span is not None:
            column.min, column.max = span
            column.index = get_column_letter(span[0])
            worksheet.column_dimensions[column.index] = column


def _move_merges(worksheet: Worksheet, change: Shift) -> None:
    ranges = []
    for old in worksheet.merged_cells.ranges:
        new = change.area(_area(old))
        if new is None:
            continue
        first = worksheet._cells.get((new.top, new.left))
        if first is None or isinstance(first, MergedCell):
            fresh = worksheet._cells[new.top, new.left] = Cell(worksheet, new.top, new.left)
            if first is not None:
                copy_style(first, fresh)
        if new.size > 1:
            for row, column in list(new.cells)[1:]:
                if (row, column) not in worksheet._cells:
                    worksheet._cells[row, column] = MergedCell(worksheet, row, column)
            ranges.append(MergedCellRange(worksheet, new.text))
    worksheet.merged_cells = MultiCellRange(ranges)


def _move_rules(worksheet: Worksheet, change: Shift) -> None:
    kept = []
    for rule in worksheet.data_validations.dataValidation:
        covered = _moved_ranges(change, rule.sqref)
        if covered:
            rule.sqref = MultiCellRange(covered)
            kept.append(rule)
    worksheet.data_validations.dataValidation = kept
    formats = ConditionalFormattingList()
    for block in worksheet.conditional_formatting:
        covered = _moved_ranges(change, block.sqref)
        for rule in block.rules if covered else ():
            formats.add(covered, rule)
    worksheet.conditional_formatting = formats
    if worksheet.auto_filter.ref:
        worksheet.auto_filter.ref = _moved_text(change, worksheet.auto_filter.ref)


def _move_tables(worksheet: Worksheet, change: Shift) -> None:
    for table in list(worksheet.tables.values()):
        old = area(table.ref)
        new = change.area(old)
        headless = change.axis == "row" and change.line(old.top) is None
        if new is None or headless or len(new.rows) < 2:
            del worksheet.tables[table.name]
        else:
            table.ref = new.text
            if table.autoFilter is not None:
                table.autoFilter.ref = new.text


def _move_drawings(worksheet: Worksheet, change: Shift) -> None:
    for drawing in [*worksheet._charts, *worksheet._images]:  # type: ignore[attr-defined]
        start: object = getattr(drawing.anchor, "_from", None)
        if start is None:
            continue
        field = "row" if change.axis == "row" else "col"
        old = getattr(start, field) + 1
        # A drawing whose first line goes away stays where the cut is.
        distance = (change.line(old) or change.at) - old
        for marker in (start, getattr(drawing.anchor, "to", None)):
            if marker is not None:
                setattr(marker, field, max(0, getattr(marker, field) + distance))


def _area(old: CellRange) -> Area:
    return Area(old.min_row, old.min_col, old.max_row, old.max_col)


def _moved_text(change: Shift, text: str) -> str | None:
    new = change.area(area(text))
    return new and new.text


def _moved_ranges(change: Shift, ranges: MultiCellRange) -> str:
    moved = (change.area(_area(part)) for part in ranges.sorted())
    return " ".join(new.text for new in moved if new is not None)


_Axis = Literal["row", "column"]


@tool
def insert_rows(filepath: str, sheet_name: str, start_row: int, context: Context, count: int = 1) -> str:
    return _insert(context, filepath, sheet_name, "row", int(start_row), int(count))


@tool
def insert_columns(filepath: str, sheet_name: str, start_col: int, context: Context, count: int = 1) -> str:
    return _insert(context, filepath, sheet_name, "column", int(start_col), int(count))


@tool
def delete_sheet_rows(filepath: str, sheet_name: str, start_row: int, context: Context, count: int = 1) -> str:
    return _delete(context, filepath, sheet_name, "row", int(start_row), int(count))


@tool
def delete_sheet_columns(filepath: str, sheet_name: str, start_col: int, context: Context, count: int = 1) -> str:
    return _delete(context, filepath, sheet_name, "column", int(start_col), int(count))


def _insert(context: Context, filepath: str, sheet_name: str, axis: _Axis, start: int, count: int) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        _check(axis, start, count)
        end = MAX_ROW if axis == "row" else MAX_COLUMN
        last = worksheet.max_row if axis == "row" else worksheet.max_column
        if max(start, last) + count > end:
            raise ToolError(
                f"Inserting {count} {axis}(s) would push cells over the end of the sheet ({axis} {end})",
                outcome="invalid_arguments",
            )
        shift(book, worksheet, Shift(axis=axis, at=start, count=count))
    return f"Inserted {count} {axis}(s) starting at {axis} {start} in sheet '{sheet_name}'"


def _delete(context: Context, filepath: str, sheet_name: str, axis: _Axis, start: int, count: int) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        _check(axis, start, count)
        last = worksheet.max_row if axis == "row" else worksheet.max_column
        if start > last:
            raise ToolError(
                f"Start {axis} {start} exceeds worksheet bounds (max {axis}: {last})", outcome="invalid_arguments"
            )
        shift(book, worksheet, Shift(axis=axis, at=start, count=-count))
    return f"Deleted {count} {axis}(s) starting at {axis} {start} in sheet '{sheet_name}'"


def _check(axis: _Axis, start: int, count: int) -> None:
    if start < 1:
        raise ToolError(f"Start {axis} must be 1 or greater", outcome="invalid_arguments")
    if count < 1:
        raise ToolError("Count must be 1 or greater", outcome="invalid_arguments")
