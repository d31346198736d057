"""Addresses of cells and ranges as clients write them: `B2`, `$B$2`, `a1:c9`, `'My Sheet'!A1:C9`.

Nothing here touches a workbook. What is not an address inside a sheet is a `ToolError` that begins with the
words the calling tool gives, because the public server words it differently from tool to tool.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from openpyxl.utils import column_index_from_string, get_column_letter

from m3bench.tasks.errors import ToolError

MAX_ROW = 1_048_576
MAX_COLUMN = 16_384

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})", re.ASCII)
_SHOWN = 60


class Area(NamedTuple):
    """A rectangle of cells; all four bounds are inside it, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def rows(self) -> range:
        """The row numbers."""
        return range(self.top, self.bottom + 1)

    @property
    def columns(self) -> range:
        """The column numbers."""
        return range(self.left, self.right + 1)

    @property
    def size(self) -> int:
        """How many cells it has."""
        return len(self.rows) * len(self.columns)

    @property
    def text(self) -> str:
        """As Excel writes it, always with a colon: `A1:A1`."""
        return f"{address(self.top, self.left)}:{address(self.bottom, self.right)}"

    @property
    def cells(self) -> Iterator[tuple[int, int]]:
        """Row and column of each cell, row by row."""
        return ((row, column) for row in self.rows for column in self.columns)

    def meets(self, other: "Area") -> bool:
        """Whether the two share a cell."""
        return (
            self.top <= other.bottom
            and other.top <= self.bottom
            and self.left <= other.right
            and other.left <= self.right
        )


def address(row: int, column: int) -> str:
    """A cell as Excel writes it."""
    return f"{get_column_letter(column)}{row}"


def cell(text: str, problem: str = "Invalid cell reference") -> tuple[int, int]:
    """Row and column of a cell such as `B2` or `$b$2`."""
    match = _CELL.fullmatch(text.strip())
    if match:
        row, column = int(match[2]), column_index_from_string(match[1].upper())
        if 1 <= row <= MAX_ROW and column <= MAX_COLUMN:
            return row, column
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    raise ToolError(f"{problem}: {shown} (cells run from A1 to XFD{MAX_ROW})", outcome="invalid_arguments")


def area(start: str, end: str | None = None, problem: str = "Invalid range") -> Area:
    """The range between two cells, or the one that `start` names alone: `A1` or `A1:C9`."""
    if not end:
        start, colon, rest = start.partition(":")
        end = rest if colon else start
    top, left = cell(start, problem)
    bottom, right = cell(end, problem)
    if bottom < top:
        raise ToolError(f"{problem}: End row cannot be before start row", outcome="invalid_arguments")
    if right < left:
        raise ToolError(f"{problem}: End column cannot be before start column", outcome="invalid_arguments")
    return Area(top, left, bottom, right)


def sheet_and_range(text: str) -> tuple[str | None, str]:
    """The parts of `Sheet!A1:C9` or `'My Sheet'!A1:C9`; a bare range has no sheet."""
    sheet, mark, rest = text.strip().rpartition("!")
    if not mark:
        return None, rest
    if len(sheet) > 1 and sheet.startswith("'") and sheet.endswith("'"):
        sheet = sheet[1:-1].replace("''", "'")
    return sheet, rest
