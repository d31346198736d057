"""Excel tables: a named, styled range with a header row (`workbook` keeps that in order)."""

import re
from hashlib import sha256

from openpyxl import Workbook
from openpyxl.worksheet.table import Table, TableStyleInfo
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references
from m3bench.sandboxes.servers.excel.references import Area
from m3bench.sandboxes.servers.excel.workbook import MAX_CELLS, editing, sheet, tool
from m3bench.tasks.errors import LimitError, ToolError

DEFAULT_STYLE = "TableStyleMedium9"

_NAME = re.compile(r"[^\W\d][\w.]{0,254}")
_CELL_NAME = re.compile(r"[A-Z]{1,3}[0-9]+|R[0-9]*C[0-9]*|R|C", re.IGNORECASE | re.ASCII)
_STYLES = {"Light": 21, "Medium": 28, "Dark": 11}


@tool
def create_table(
    filepath: str,
    sheet_name: str,
    data_range: str,
    context: Context,
    table_name: str | None = None,
    table_style: str = DEFAULT_STYLE,
) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name, "Sheet '{}' not found.")
        area = own_range(sheet_name, data_range)
        if table_name is None:
            table_name = derived_name(book, "Table", sheet_name, area)
        _check_name(book, table_name)
        _check_style(table_style)
        _check_place(worksheet, area)
        add_table(worksheet, area, table_name, table_style)
    return f"Successfully created table '{table_name}' in sheet '{sheet_name}'."


def own_range(sheet_name: str, data_range: str) -> Area:
    """The range of a tool that works on one sheet; the sheet's own name before it is allowed."""
    named, cells = references.sheet_and_range(data_range)
    if named is not None and named != sheet_name:
        raise ToolError(f"Invalid data range: {data_range} is not on sheet '{sheet_name}'", outcome="invalid_arguments")
    area = references.area(cells, problem="Invalid data range")
    if area.size > MAX_CELLS:
        raise LimitError(f"Range {area.text} has {area.size} cells, more than the {MAX_CELLS} allowed")
    return area


def add_table(worksheet: Worksheet, area: Area, name: str, style: str = DEFAULT_STYLE) -> None:
    """Make a range a table under a name that is free."""
    table = Table(displayName=name, ref=area.text)
    table.tableStyleInfo = TableStyleInfo(name=style, showRowStripes=True)
    worksheet.add_table(table)


def derived_name(book: Workbook, kind: str, sheet_name: str, area: Area) -> str:
    """A name such as `Table_1f0c2b3a` that follows from the place and is free."""
    digest = sha256(f"{sheet_name}!{area.text}".encode()).hexdigest()[:8]
    return free_table_name(book, f"{kind}_{digest}")


def free_table_name(book: Workbook, name: str) -> str:
    """The name, with a number at its end when it is taken."""
    taken = _names(book)
    number, free = 2, name
    while free.casefold() in taken:
        number, free = number + 1, f"{name}_{number}"
    return free


def table_areas(worksheet: Worksheet) -> list[Area]:
    """Where the tables of a sheet are."""
    return [references.area(table.ref) for table in worksheet.tables.values()]


def _names(book: Workbook) -> set[str]:
    """Names that a table may not take, in one case."""
    tables = (table for worksheet in book.worksheets for table in worksheet.tables.values())
    return {name.casefold() for name in book.defined_names} | {table.displayName.casefold() for table in tables}


def _check_name(book: Workbook, name: str) -> None:
    if name.casefold() in _names(book):
        raise ToolError(f"Table name '{name}' already exists.", outcome="invalid_arguments")
    if not _NAME.fullmatch(name) or _CELL_NAME.fullmatch(name):
        raise ToolError(
            f"Invalid table name '{name[:60]}': use letters, digits and underscores, a letter first, "
            "and nothing that reads as a cell",
            outcome="invalid_arguments",
        )


def _check_style(style: str) -> None:
    match = re.fullmatch(r"TableStyle(Light|Medium|Dark)([1-9][0-9]?)", style)
    if match is None or int(match[2]) > _STYLES[match[1]]:
        raise ToolError(
            f"Unknown table style '{style[:60]}': use TableStyleLight1 to 21, TableStyleMedium1 to 28 "
            "or TableStyleDark1 to 11",
            outcome="invalid_arguments",
        )


def _check_place(worksheet: Worksheet, area: Area) -> None:
    if len(area.rows) < 2:
        raise ToolError(
            f"Range {area.text} is too small for a table: it needs a header row and a row below it",
            outcome="invalid_arguments",
        )
    for other in table_areas(worksheet):
        if area.meets(other):
            raise ToolError(f"Range {area.text} overlaps the table in {other.text}", outcome="invalid_arguments")
    for merged in worksheet.merged_cells.ranges:
        if area.meets(references.area(merged.coord)):
            raise ToolError(
                f"Range {area.text} overlaps the merged range {merged.coord}: unmerge it first",
                outcome="invalid_arguments",
            )
    formulas = [cell.coordinate for cell in worksheet[area.text][0] if cell.data_type == "f"]
    if formulas:
        raise ToolError(
            f"Header cell {formulas[0]} holds a formula: a table needs plain headers", outcome="invalid_arguments"
        )
