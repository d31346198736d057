"""What a cell can hold: JSON values going in, JSON values coming out.

Numbers stay numbers, text stays text, text that starts with `=` is a formula. openpyxl cuts long text and
lets some values through that no spreadsheet program opens; here those are refused with the cell's address.
"""

import math
import re
from copy import copy

from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.servers.excel.references import address
from m3bench.tasks.errors import ToolError

MAX_TEXT = 32_767
"""Characters of a cell's text, as in Excel."""

ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML, and so a workbook, cannot hold."""

_PREFIX = re.compile(r'("[^"]*")|_xlfn\.(?:_xlws\.)?|_xlpm\.', re.IGNORECASE)
"""What a file has before newer functions and names in formulas; a text between quotation marks stays as it is."""


def put(worksheet: Worksheet, row: int, column: int, value: object) -> None:
    """Set a cell; None empties it."""
    place = worksheet.cell(row, column)
    if isinstance(place, MergedCell):
        raise ToolError(
            f"Cell {address(row, column)} is covered by a merged range: write to its first cell or unmerge it",
            outcome="invalid_arguments",
        )
    place.value = storable(value, address(row, column))


def storable(value: object, where: str) -> str | float | bool | None:
    """The value if a cell can hold it; `where` names the cell in messages."""
    match value:
        case None | bool():
            return value
        case str():
            if len(value) > MAX_TEXT:
                raise _refusal(where, f"the text has {len(value)} characters, more than the {MAX_TEXT} allowed")
            if ILLEGAL.search(value):
                raise _refusal(where, "the text has control characters that a workbook cannot hold")
            return value
        case int() | float():
            if not _is_finite(value):
                raise _refusal(where, "the number is too large or not a number")
            return value
        case _:
            kind = "an array" if isinstance(value, list) else "an object"
            raise _refusal(where, f"{kind} does not fit into a cell: use a string, a number, true, false or null")


def copy_style(source: Cell | MergedCell, target: Cell | MergedCell) -> None:
    """Give a cell of the same workbook the looks of another."""
    target._style = copy(source._style)  # type: ignore[union-attr]


def style_key(cell: Cell | MergedCell) -> bytes:
    """Equal for cells of a workbook that look the same."""
    style = cell._style  # type: ignore[union-attr]
    return b"" if style is None else bytes(style)


def text(value: object) -> str | float | bool | None:
    """A cell's value as JSON: formulas as their text, dates and all else in plain writing."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case ArrayFormula():
            return value.text
        case str() if value.startswith("="):
            return _PREFIX.sub(lambda found: found[1] or "", value)
        case DataTableFormula():
            return "=TABLE()"
        case _:
            return str(value)


def is_number(value: object) -> bool:
    """Whether sums and averages count it."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _refusal(where: str, problem: str) -> ToolError:
    return ToolError(f"Cell {where}: {problem}", outcome="invalid_arguments")
