"""Tools on ranges of cells: merge, copy, delete, check.

Copied formulas follow their cells, as in a spreadsheet program; the public server copies their text. Deleting
a range deletes the whole rows or columns it stands in, which is what the public server does.
"""

from copy import copy

from openpyxl.cell.cell import MergedCell
from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references
from m3bench.sandboxes.servers.excel.formulas import BROKEN
from m3bench.sandboxes.servers.excel.references import MAX_COLUMN, MAX_ROW, Area, address
from m3bench.sandboxes.servers.excel.shifting import Shift, shift
from m3bench.sandboxes.servers.excel.tables import table_areas
from m3bench.sandboxes.servers.excel.values import copy_style
from m3bench.sandboxes.servers.excel.values import text as plain
from m3bench.sandboxes.servers.excel.workbook import MAX_CELLS, editing, open_book, sheet, tool, used_area
from m3bench.tasks.errors import LimitError, ToolError


@tool
def merge_cells(filepath: str, sheet_name: str, start_cell: str, end_cell: str, context: Context) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        area = references.area(start_cell, end_cell)
        merge(worksheet, area)
    return f"Range '{area.text}' merged in sheet '{sheet_name}'"


@tool
def unmerge_cells(filepath: str, sheet_name: str, start_cell: str, end_cell: str, context: Context) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        area = references.area(start_cell, end_cell)
        if area.text not in (merged.coord for merged in worksheet.merged_cells.ranges):
            raise ToolError(f"Range '{area.text}' is not merged")
        worksheet.unmerge_cells(area.text)
    return f"Range '{area.text}' unmerged successfully"


@tool
def get_merged_cells(filepath: str, sheet_name: str, context: Context) -> str:
    worksheet = sheet(open_book(context, filepath), sheet_name)
    return repr([merged.coord for merged in worksheet.merged_cells.sorted()])


@tool
def copy_range(
    filepath: str,
    sheet_name: str,
    source_start: str,
    source_end: str,
    target_start: str,
    context: Context,
    target_sheet: str | None = None,
) -> str:
    with editing(context, filepath) as book:
        source = sheet(book, sheet_name)
        target = source if target_sheet is None else sheet(book, target_sheet)
        area = references.area(source_start, source_end, "Invalid source range")
        top, left = references.cell(target_start, "Invalid target cell")
        check_size(area)
        if top + len(area.rows) - 1 > MAX_ROW or left + len(area.columns) - 1 > MAX_COLUMN:
            raise ToolError(
                f"Invalid target cell: {target_start} leaves no room for {len(area.rows)} rows and "
                f"{len(area.columns)} columns",
                outcome="invalid_arguments",
            )
        _copy(source, area, target, top, left)
    return "Range copied successfully"


@tool
def delete_range(
    filepath: str, sheet_name: str, start_cell: str, end_cell: str, context: Context, shift_direction: str = "up"
) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        area = references.area(start_cell, end_cell)
        _check_end(area, worksheet)
        if shift_direction == "up":
            shift(book, worksheet, Shift(axis="row", at=area.top, count=-len(area.rows)))
        elif shift_direction == "left":
            shift(book, worksheet, Shift(axis="column", at=area.left, count=-len(area.columns)))
        else:
            raise ToolError(
                f"Invalid shift direction: {shift_direction}. Must be 'up' or 'left'", outcome="invalid_arguments"
            )
    return f"Range {area.text} deleted successfully"


@tool
def validate_excel_range(
    filepath: str, sheet_name: str, start_cell: str, context: Context, end_cell: str | None = None
) -> str:
    worksheet = sheet(open_book(context, filepath), sheet_name)
    area = references.area(start_cell, end_cell)
    used = used_area(worksheet)
    if area.top > used.bottom:
        raise ToolError(f"Start row {area.top} out of bounds (1-{used.bottom})", outcome="invalid_arguments")
    if area.left > used.right:
        raise ToolError(
            f"Start column {_letter(area.left)} out of bounds (A-{_letter(used.right)})", outcome="invalid_arguments"
        )
    _check_end(area, worksheet)
    shown = start_cell if end_cell is None else f"{start_cell}:{end_cell}"
    return f"Range '{shown}' is valid. Sheet contains data in range '{used.text}'"


def merge(worksheet: Worksheet, area: Area) -> None:
    """Make an area one cell that keeps the first one's value; raises when Excel could not open the result."""
    if area.size < 2:
        raise ToolError(f"Range '{area.text}' is a single cell: a merge needs two", outcome="invalid_arguments")
    check_size(area)
    for merged in worksheet.merged_cells.sorted():
        if area.meets(references.area(merged.coord)):
            raise ToolError(
                f"Range '{area.text}' overlaps the merged range '{merged.coord}': unmerge it first",
                outcome="invalid_arguments",
            )
    for table in table_areas(worksheet):
        if area.meets(table):
            raise ToolError(
                f"Range '{area.text}' overlaps the table in '{table.text}', whose cells cannot be merged",
                outcome="invalid_arguments",
            )
    worksheet.merge_cells(area.text)


def check_size(area: Area) -> None:
    """Raise `LimitError` when an area has more cells than a workbook may."""
    if area.size > MAX_CELLS:
        raise LimitError(f"Range {area.text} has {area.size} cells, more than the {MAX_CELLS} allowed in a workbook")


def _copy(source: Worksheet, area: Area, target: Worksheet, top: int, left: int) -> None:
    # Read before writing: source and target may overlap.
    taken = [
        (row - area.top + top, column - area.left + left, address(row, column), copy(source._cells.get((row, column))))
        for row, column in area.cells
    ]
    for row, column, origin, cell in taken:
        value = cell.value if cell is not None else None
        place = target.cell(row, column)
        if isinstance(place, MergedCell):
            if value is None:
                continue
            raise ToolError(
                f"Cell {address(row, column)} is covered by a merged range: unmerge it first",
                outcome="invalid_arguments",
            )
        if cell is None:
            place.value = None
            continue
        place.value = _translated(value, origin, address(row, column)) if cell.data_type == "f" else value
        place.data_type = cell.data_type
        copy_style(cell, place)


def _translated(formula: object, origin: str, target: str) -> str:
    """A formula as it reads when its cell is elsewhere."""
    text = str(plain(formula))
    try:
        return str(Translator(text, origin=origin).translate_formula(target))
    except TranslatorError:
        # A relative reference would leave the sheet.
        return f"={BROKEN}"


def _check_end(area: Area, worksheet: Worksheet) -> None:
    used = used_area(worksheet)
    if area.bottom > used.bottom:
        raise ToolError(f"End row {area.bottom} out of bounds (1-{used.bottom})", outcome="invalid_arguments")
    if area.right > used.right:
        raise ToolError(
            f"End column {_letter(area.right)} out of bounds (A-{_letter(used.right)})", outcome="invalid_arguments"
        )


def _letter(column: int) -> str:
    return address(1, column)[:-1]
