"""Reading and writing the values of cells, and reading the data-validation rules that say what may be typed where.

A formula reads as its text: results are not stored. `preview_only` is accepted and, as in the public
server, changes nothing.
"""

from typing import Any

from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.content import pretty
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import formulas, references, values
from m3bench.sandboxes.servers.excel.references import MAX_COLUMN, MAX_ROW, Area, address
from m3bench.sandboxes.servers.excel.sheets import add_sheet
from m3bench.sandboxes.servers.excel.workbook import MAX_CELLS, editing, open_book, server, sheet, tool
from m3bench.tasks.errors import LimitError, ToolError

MAX_CHOICES = 1000
"""Cells that are looked up for a list of allowed values."""


@tool
def get_data_validation_info(filepath: str, sheet_name: str, context: Context) -> str:
    worksheet = sheet(open_book(context, filepath), sheet_name)
    rules = []
    for rule in worksheet.data_validations.dataValidation:
        facts = {"ranges": str(rule.sqref), "validation_type": rule.type, "allow_blank": bool(rule.allowBlank)}
        rules.append({**facts, **_conditions(rule, worksheet)})
    if not rules:
        return "No data validation rules found in this worksheet"
    return pretty({"sheet_name": sheet_name, "validation_rules": rules})


class Rules:
    """The rules of a sheet that touch an area, ready to be asked cell by cell."""

    def __init__(self, worksheet: Worksheet, area: Area) -> None:
        self._rules = []
        for rule in worksheet.data_validations.dataValidation:
            covered = [part for part in _areas(rule) if part.meets(area)]
            if covered:
                facts = {"validation_type": rule.type, "allow_blank": bool(rule.allowBlank)}
                self._rules.append((covered, {**facts, **_conditions(rule, worksheet)}))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def at(self, row: int, column: int) -> dict[str, Any]:
        """What the first rule that covers a cell demands."""
        here = Area(row, column, row, column)
        for covered, facts in self._rules:
            if any(here.meets(part) for part in covered):
                return {"cell": address(row, column), "has_validation": True, **facts}
        return {"has_validation": False}


def _areas(rule: DataValidation) -> list[Area]:
    return [Area(part.min_row, part.min_col, part.max_row, part.max_col) for part in rule.sqref.ranges]


def _conditions(rule: DataValidation, worksheet: Worksheet) -> dict[str, object]:
    facts: dict[str, object] = {
        "operator": rule.operator,
        "prompt": rule.prompt,
        "prompt_title": rule.promptTitle,
        "error_message": rule.error,
        "error_title": rule.errorTitle,
    }
    if rule.type == "list" and rule.formula1:
        facts["allowed_values"] = _choices(rule.formula1, worksheet)
    else:
        facts.update(formula1=rule.formula1, formula2=rule.formula2)
    return {name: value for name, value in facts.items() if value}


def _choices(formula: str, worksheet: Worksheet) -> list[str]:
    """The entries of a drop-down list, from its own text or from the cells it points to."""
    formula = formula.removeprefix("=")
    if formula.startswith('"'):
        return [choice.strip() for choice in formula.strip('"').replace('""', '"').split(",")]
    name, cells = references.sheet_and_range(formula)
    try:
        area = references.area(cells)
    except ToolError:
        return [f"Range: {formula}"]
    book = worksheet.parent
    assert book is not None
    source = worksheet if name is None else book[name] if name in book.sheetnames else None
    if not isinstance(source, Worksheet) or area.size > MAX_CHOICES:
        return [f"Range: {formula}"]
    found = (source._cells.get(place) for place in area.cells)
    return [str(values.text(cell.value)) for cell in found if cell is not None and cell.value is not None]


MAX_READ = 20_000
"""Cells of one answer: some megabytes of JSON."""


@server.tool
def read_data_from_excel(
    filepath: str,
    sheet_name: str,
    context: Context,
    start_cell: str = "A1",
    end_cell: str | None = None,
    preview_only: bool = False,
) -> str | dict[str, object]:
    worksheet = sheet(open_book(context, filepath), sheet_name)
    area = _area_to_read(worksheet, start_cell, end_cell)
    rules = Rules(worksheet, area)
    if not rules and not _has_values(worksheet, area):
        return "No data found in specified range"
    if area.size > MAX_READ:
        raise LimitError(
            f"Range {area.text} has {area.size} cells, more than the {MAX_READ} read at once: "
            "give a smaller start_cell and end_cell"
        )
    cells = []
    for row, column in area.cells:
        place = worksheet._cells.get((row, column))
        cells.append(
            {
                "address": address(row, column),
                "value": values.text(place.value) if place is not None else None,
                "row": row,
                "column": column,
                "validation": rules.at(row, column),
            }
        )
    return {"range": area.text, "sheet_name": sheet_name, "cells": cells}


@tool
def write_data_to_excel(
    filepath: str, sheet_name: str, data: list[list[object]], context: Context, start_cell: str = "A1"
) -> str:
    if not any(data):
        raise ToolError("No data provided to write", outcome="invalid_arguments")
    top, left = references.cell(start_cell.partition(":")[0], "Invalid start cell format")
    _check_size(data, top, left, context.workspace.limits.text)
    with editing(context, filepath) as book:
        if sheet_name not in book.sheetnames:
            add_sheet(book, sheet_name)
        worksheet = sheet(book, sheet_name)
        names = formulas.defined_names(book)
        for row, line in enumerate(data, top):
            for column, value in enumerate(line, left):
                if isinstance(value, str) and len(value) > 1 and value.startswith("="):
                    formulas.check(value, names, where=address(row, column))
                    value = formulas.stored(value)
                values.put(worksheet, row, column, value)
    return f"Data written to {sheet_name}"


def _area_to_read(worksheet: Worksheet, start_cell: str, end_cell: str | None) -> Area:
    if end_cell or ":" in start_cell:
        return references.area(start_cell, end_cell)
    top, left = references.cell(start_cell, "Invalid start cell reference")
    if (top, left) == (1, 1):
        top, left = worksheet.min_row, worksheet.min_column
    return Area(top, left, max(top, worksheet.max_row), max(left, worksheet.max_column))


def _has_values(worksheet: Worksheet, area: Area) -> bool:
    return any(
        cell.value is not None and row in area.rows and column in area.columns
        for (row, column), cell in worksheet._cells.items()
    )


def _check_size(data: list[list[object]], top: int, left: int, characters: int) -> None:
    """Refuse what cannot be written before a single cell is made."""
    last_row, last_column = top + len(data) - 1, left + max(map(len, data)) - 1
    if last_row > MAX_ROW or last_column > MAX_COLUMN:
        raise ToolError(
            f"The data would reach row {last_row} and column {last_column}: "
            f"a sheet ends at row {MAX_ROW} and column {MAX_COLUMN}",
            outcome="invalid_arguments",
        )
    count = sum(map(len, data))
    if count > MAX_CELLS:
        raise LimitError(f"The data has {count} cells, more than the {MAX_CELLS} allowed in a workbook")
    length = sum(len(value) for line in data for value in line if isinstance(value, str))
    if length > characters:
        raise LimitError(f"The data has {length} characters of text, more than the {characters} allowed")
