"""Everything in a workbook that names cells by text, rewritten together.

Formulas, defined names, validation rules, conditional formats and the series of charts all hold references.
When a sheet gets another name or its rows move, each must follow; openpyxl leaves them as they were.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from openpyxl import Workbook
from openpyxl.utils import quote_sheetname
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.servers.excel.formulas import rewrite
from m3bench.sandboxes.servers.excel.references import sheet_and_range

BROKEN = "#REF!"
"""What stands where a reference lost its cells."""

Change = Callable[[str, str], str | None]
"""Takes the name of the sheet and the bare reference (`$A$1`, `B2:C9`, `A:A`, `3:4`); gives the new full
reference without the sheet, or None when the cells are gone."""

_REFERENCE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!\[\]:]+)!)?"
    r"(?P<cells>\$?[A-Z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Z]{1,3}\$?[0-9]{1,7})?"
    r"|\$?[A-Z]{1,3}:\$?[A-Z]{1,3}|\$?[0-9]{1,7}:\$?[0-9]{1,7})",
    re.ASCII | re.IGNORECASE,
)
_SERIES_PARTS = ("tx", "cat", "val", "xVal", "yVal", "bubbleSize")
_SOURCES = ("numRef", "strRef", "multiLvlStrRef")


def relink(book: Workbook, change: Change, renamed: tuple[str, str] | None = None) -> None:
    """Pass every reference of a workbook through `change`, and sheet names through `renamed` (old, new)."""
    for worksheet in book.worksheets:
        home = worksheet.title

        def new(formula: str, home: str = home) -> str:
            return rewrite(formula, lambda operand: _operand(operand, home, change, renamed))

        _cells(worksheet, new)
        _rules(worksheet, new)
        for source in chart_sources(worksheet):
            source.f = new("=" + source.f).removeprefix("=")
        for name in worksheet.defined_names.values():
            name.attr_text = new("=" + name.attr_text).removeprefix("=")
    for name in book.defined_names.values():
        name.attr_text = rewrite(
            "=" + name.attr_text, lambda operand: _operand(operand, "", change, renamed)
        ).removeprefix("=")


def chart_sources(worksheet: Worksheet) -> Iterator[Any]:
    """The places in a sheet's charts that hold a reference in `f`."""
    for chart in worksheet._charts:  # type: ignore[attr-defined]
        for part in chart._charts:
            for series in part.series:
                for name in _SERIES_PARTS:
                    for kind in _SOURCES:
                        source = getattr(getattr(series, name, None), kind, None)
                        if source is not None and source.f:
                            yield source


def _operand(operand: str, home: str, change: Change, renamed: tuple[str, str] | None) -> str:
    match = _REFERENCE.fullmatch(operand)
    if match is None:
        return operand
    prefix, name = match["sheet"], sheet_and_range(operand)[0] or home
    cells = change(name, match["cells"])
    if cells is None or prefix is None:
        return cells or BROKEN
    if renamed is not None and name.casefold() == renamed[0].casefold():
        prefix = quote_sheetname(renamed[1])
    return f"{prefix}!{cells}"


def _cells(worksheet: Worksheet, new: Callable[[str], str]) -> None:
    for cell in worksheet._cells.values():
        if cell.data_type != "f":
            continue
        if isinstance(cell.value, ArrayFormula):
            cell.value.text = new(cell.value.text or "")
        elif isinstance(cell.value, str):
            cell.value = new(cell.value)


def _rules(worksheet: Worksheet, new: Callable[[str], str]) -> None:
    for rule in worksheet.data_validations.dataValidation:
        for field in ("formula1", "formula2"):
            formula = getattr(rule, field)
            if formula:
                setattr(rule, field, new("=" + formula.removeprefix("=")).removeprefix("="))
    for block in worksheet.conditional_formatting:
        for format in block.rules:
            format.formula = [new("=" + formula.removeprefix("=")).removeprefix("=") for formula in format.formula]
