"""The values of a workbook's formulas: what a person who opens it sees.

Programs that write workbooks often leave a formula without its value. Arithmetic, references, ranges, other sheets and
the functions that tables of figures use are computed; of any other formula the value stays unknown.
"""

import re
import statistics
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Value: TypeAlias = float | str
"""What a cell holds; a date or a truth value is passed on as it is."""

MOST_FORMULAS = 400
"""Formulas that are computed for one: those that refer to each other would never end."""

MOST_CELLS = 20_000
"""Cells of one range."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<text>\"(?:[^\"]|\"\")*\")"
    r"|(?P<cell>(?:(?:'[^']+'|\w+)!)?\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?)(?![\w(])"
    r"|(?P<name>[A-Za-z][A-Za-z0-9.]*)(?=\()|(?P<sign>[-+*/^&%(),;]))"
)
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "SUM": sum,
    "AVERAGE": statistics.fmean,
    "MEDIAN": statistics.median,
    "MIN": min,
    "MAX": max,
    "COUNT": len,
    "ABS": lambda values: abs(values[0]),
    "INT": lambda values: float(values[0] // 1),
    "ROUND": lambda values: round(values[0] + 1e-12, int(values[1])),
    "PRODUCT": lambda values: _product(values),
}


def cell_values(book: Any) -> Iterator[Value | None]:
    """Every value of an openpyxl workbook that was opened with its formulas; formulas by what they come to."""
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, str) and cell.value.startswith("="):
                    yield value_of(book, sheet, cell.value)
                elif cell.value is not None:
                    yield cell.value


def value_of(book: Any, sheet: Any, formula: str, left: Iterator[int] | None = None) -> float | str | None:
    """What a formula comes to; None when that cannot be told.

    Args:
        book: The workbook.
        sheet: The sheet that the formula is on.
        formula: The formula.
        left: Gives a number for each formula that may still be computed on the way.
    """
    try:
        parser = _Parser(book, sheet, formula.removeprefix("="), left or iter(range(MOST_FORMULAS)))
        found = parser.whole()
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        return None
    return found[0] if len(found) == 1 else None


class _Parser:
    """Computes a formula while reading it; every value is a list, because a range is one."""

    def __init__(self, book: Any, sheet: Any, text: str, left: Iterator[int]) -> None:
        if next(left, None) is None:
            raise ValueError("too many formulas")
        self._book, self._sheet, self._left = book, sheet, left
        self._tokens = list(_tokens(text))
        self._at = 0

    def whole(self) -> list[Value]:
        found = self._sum()
        if self._at < len(self._tokens):
            raise ValueError("more than a formula")
        return found

    def _next(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][1] in signs:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _sum(self) -> list[Value]:
        left = self._term()
        while sign := self._next("+", "-", "&"):
            right = self._term()
            left = [f"{left[0]}{right[0]}"] if sign == "&" else [_one(left) + (1 if sign == "+" else -1) * _one(right)]
        return left

    def _term(self) -> list[Value]:
        left = self._factor()
        while sign := self._next("*", "/"):
            right = _one(self._factor())
            left = [_one(left) * right if sign == "*" else _one(left) / right]
        return left

    def _factor(self) -> list[Value]:
        if self._next("-"):
            return [-_one(self._factor())]
        self._next("+")
        base = self._atom()
        if self._next("%"):
            base = [_one(base) / 100]
        if self._next("^"):
            base = [float(_one(base) ** _one(self._factor()))]
        return base

    def _atom(self) -> list[Value]:
        if self._next("("):
            inner = self._sum()
            if not self._next(")"):
                raise ValueError("a bracket is open")
            return inner
        kind, text = self._tokens[self._at]
        self._at += 1
        match kind:
            case "number":
                return [float(text)]
            case "text":
                return [text[1:-1].replace('""', '"')]
            case "cell":
                return list(self._cells(text))
            case "name":
                return [self._call(text.upper())]
        raise ValueError(text)

    def _call(self, name: str) -> float:
        self._next("(")
        values: list[float] = []
        while not self._next(")"):
            values += [value for value in self._sum() if isinstance(value, int | float) and not isinstance(value, bool)]
            self._next(",", ";")
        return float(_FUNCTIONS[name](values))

    def _cells(self, reference: str) -> Iterator[Value]:
        sheet_name, _, area = reference.rpartition("!")
        sheet = self._book[sheet_name.strip("'")] if sheet_name else self._sheet
        found = sheet[area.replace("$", "")]
        rows = found if isinstance(found, tuple) else ((found,),)
        cells = [cell for row in rows for cell in (row if isinstance(row, tuple) else (row,))]
        if len(cells) > MOST_CELLS:
            raise ValueError("too many cells")
        for cell in cells:
            value = cell.value
            if isinstance(value, str) and value.startswith("="):
                value = value_of(self._book, sheet, value, self._left)
                if value is None:
                    raise ValueError("it needs a value that cannot be told")
            if value is not None or len(cells) == 1:
                yield 0.0 if value is None else value


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(text[at:])
        yield match.lastgroup, match[match.lastgroup]
        at = match.end()


def _one(values: list[Value]) -> float:
    (value,) = values
    return float(value)


def _product(values: list[float]) -> float:
    total = 1.0
    for value in values:
        total *= value
    return total
