"""Data-validation rules of a sheet: what may be typed where. They are read here, never made."""

from typing import Any

from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.content import pretty
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references, values
from m3bench.sandboxes.servers.excel.references import Area, address
from m3bench.sandboxes.servers.excel.workbook import open_book, sheet, tool
from m3bench.tasks.errors import ToolError

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


def _conditions(rule: DataValidation, worksheet: Worksheet) -> dict[str, Any]:
    facts: dict[str, Any] = {
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
