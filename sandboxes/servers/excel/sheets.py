"""Tools on whole sheets: add, copy, delete, rename.

References follow a renamed sheet and break visibly (`#REF!`) when theirs is deleted; in the public server
both leave formulas pointing at a sheet that is not there.
"""

import re
from copy import copy, deepcopy

from openpyxl import Workbook
from openpyxl.cell.cell import Cell
from openpyxl.utils import quote_sheetname
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel.formulas import chart_sources, relink
from m3bench.sandboxes.servers.excel.tables import free_table_name
from m3bench.sandboxes.servers.excel.values import ILLEGAL, copy_style
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import LimitError, ToolError

MAX_TITLE = 31
"""Characters of a sheet's name, as in Excel."""
MAX_SHEETS = 255

_FORBIDDEN = re.compile(r"[\\/?*\[\]:]")


@tool
def create_worksheet(filepath: str, sheet_name: str, context: Context) -> str:
    with editing(context, filepath) as book:
        add_sheet(book, sheet_name)
    return f"Sheet {sheet_name} created successfully"


@tool
def copy_worksheet(filepath: str, source_sheet: str, target_sheet: str, context: Context) -> str:
    with editing(context, filepath) as book:
        source = sheet(book, source_sheet, "Source sheet '{}' not found")
        target = add_sheet(book, target_sheet, problem="Target sheet '{}' already exists")
        _copy_cells(source, target)
        _copy_layout(source, target)
        _copy_charts(source, target)
        _copy_tables(book, source, target)
    return f"Sheet '{source_sheet}' copied to '{target_sheet}'"


@tool
def delete_worksheet(filepath: str, sheet_name: str, context: Context) -> str:
    with editing(context, filepath) as book:
        if sheet_name not in book.sheetnames:
            raise ToolError(f"Sheet '{sheet_name}' not found")
        if len(book.sheetnames) == 1:
            raise ToolError("Cannot delete the only sheet in workbook", outcome="invalid_arguments")
        del book[sheet_name]
        if all(other.sheet_state != "visible" for other in book.worksheets):
            # A workbook without a visible sheet cannot be opened.
            book.worksheets[0].sheet_state = "visible"
        gone = sheet_name.casefold()
        relink(book, lambda name, cells: None if name.casefold() == gone else cells)
    return f"Sheet '{sheet_name}' deleted"


@tool
def rename_worksheet(filepath: str, old_name: str, new_name: str, context: Context) -> str:
    with editing(context, filepath) as book:
        if old_name not in book.sheetnames:
            raise ToolError(f"Sheet '{old_name}' not found")
        _check_title(new_name)
        if _taken(book, new_name) and new_name.casefold() != old_name.casefold():
            raise ToolError(f"Sheet '{new_name}' already exists", outcome="invalid_arguments")
        renamed = book[old_name]
        # Through a name nobody has: openpyxl takes one that differs in case only for a duplicate.
        renamed.title = "\N{BULLET}"
        renamed.title = new_name
        relink(book, lambda _, cells: cells, renamed=(old_name, new_name))
    return f"Sheet renamed from '{old_name}' to '{new_name}'"


def add_sheet(
    book: Workbook, title: str, index: int | None = None, problem: str = "Sheet {} already exists"
) -> Worksheet:
    """A new, empty sheet, at the end unless a position is given."""
    _check_title(title)
    if _taken(book, title):
        raise ToolError(problem.format(title), outcome="invalid_arguments")
    if len(book.sheetnames) >= MAX_SHEETS:
        raise LimitError(f"The workbook has {MAX_SHEETS} sheets, the most allowed")
    made = book.create_sheet(title, index)
    assert isinstance(made, Worksheet)
    return made


def _check_title(title: str) -> None:
    """Raise `ToolError` when a sheet cannot be called so."""
    problem = ""
    if not title.strip():
        problem = "it is empty"
    elif len(title) > MAX_TITLE:
        problem = f"it has {len(title)} characters, more than the {MAX_TITLE} allowed"
    elif _FORBIDDEN.search(title) or ILLEGAL.search(title) or any(ord(char) < 32 for char in title):
        problem = "it has one of the characters \\ / ? * [ ] : or a control character"
    elif title.startswith("'") or title.endswith("'"):
        problem = "it starts or ends with an apostrophe"
    elif title.casefold() == "history":
        problem = "Excel reserves it"
    if problem:
        raise ToolError(f"Invalid sheet name {title[:60]!r}: {problem}", outcome="invalid_arguments")


def _taken(book: Workbook, title: str) -> bool:
    """Whether a sheet has this name; Excel does not tell upper from lower case."""
    return title.casefold() in (name.casefold() for name in book.sheetnames)


def _copy_cells(source: Worksheet, target: Worksheet) -> None:
    for cell in list(source._cells.values()):
        if not isinstance(cell, Cell):
            continue
        twin = target.cell(cell.row, cell.column)
        assert isinstance(twin, Cell)
        twin.value = copy(cell.value)
        twin.data_type = cell.data_type
        copy_style(cell, twin)
        if cell.hyperlink is not None:
            twin.hyperlink = copy(cell.hyperlink)
        if cell.comment is not None:
            twin.comment = copy(cell.comment)
    for merged in source.merged_cells.sorted():
        target.merge_cells(merged.coord)


def _copy_layout(source: Worksheet, target: Worksheet) -> None:
    for number, row in source.row_dimensions.items():
        target.row_dimensions[number] = copy(row)
        target.row_dimensions[number].parent = target
    for letter, column in source.column_dimensions.items():
        target.column_dimensions[letter] = copy(column)
        target.column_dimensions[letter].parent = target
    for field in ("sheet_format", "sheet_properties", "page_margins", "page_setup", "print_options", "protection"):
        setattr(target, field, copy(getattr(source, field)))
    target.freeze_panes = source.freeze_panes
    target.auto_filter = deepcopy(source.auto_filter)
    target.data_validations = deepcopy(source.data_validations)
    target.conditional_formatting = deepcopy(source.conditional_formatting)


def _copy_charts(source: Worksheet, target: Worksheet) -> None:
    old, new = quote_sheetname(source.title) + "!", quote_sheetname(target.title) + "!"
    for chart in source._charts:  # type: ignore[attr-defined]
        target._charts.append(deepcopy(chart))  # type: ignore[attr-defined]
    for place in chart_sources(target):
        for prefix in (old, source.title + "!"):
            if place.f.startswith(prefix):
                place.f = new + place.f.removeprefix(prefix)
                break


def _copy_tables(book: Workbook, source: Worksheet, target: Worksheet) -> None:
    for table in source.tables.values():
        twin = deepcopy(table)
        twin.displayName = twin.name = free_table_name(book, table.displayName)
        target.add_table(twin)
