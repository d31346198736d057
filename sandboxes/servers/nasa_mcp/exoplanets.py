"""Confirmed exoplanets, filtered by a condition on their columns.

The public tool still asks for the archive's retired table `exoplanets`; its column names are used, and those of the
newer tables are understood as well. Other tables of the archive are not carried.

A condition is written in the small part of SQL that the archive's `where` takes: comparisons, `like`, `between`, `in`,
`is null`, joined by `and`, `or`, `not` and brackets. It becomes a function of a row; nothing is evaluated as code.
Comparisons with an absent value are false.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias
from xml.sax.saxutils import escape

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, server
from m3bench.sandboxes.world import tables
from m3bench.tasks.errors import SoftError

Value: TypeAlias = str | float | int
Row: TypeAlias = Mapping[str, Value | None]
Condition: TypeAlias = Callable[[Row], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,)|(?P<word>[A-Za-z_]\w*))"
)
_MOST_LETTERS = 2000


class ConditionError(ValueError):
    """The condition cannot be read."""


def parse(text: str, columns: Mapping[str, str]) -> Condition:
    """A condition over rows.

    Args:
        text: The condition.
        columns: Names that may be used, in lower case, and the row's key of each.
    """
    if len(text) > _MOST_LETTERS:
        raise ConditionError(f"the condition is longer than {_MOST_LETTERS} characters")
    parser = _Parser(_tokens(text), columns)
    condition = parser.either()
    if parser.rest:
        raise ConditionError(f"{parser.rest[0]!r} was not expected")
    return condition


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ConditionError(f"{stripped[position:].strip()[:20]!r} cannot be read")
        tokens.append(match[match.lastgroup or 0])
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens that are left."""

    def __init__(self, tokens: Sequence[str], columns: Mapping[str, str]) -> None:
        self.rest = list(tokens)
        self._columns = columns
        self._depth = 0

    def either(self) -> Condition:
        found = [self._all()]
        while self._take("or"):
            found.append(self._all())
        return lambda row: any(condition(row) for condition in found)

    def _all(self) -> Condition:
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        return lambda row: all(condition(row) for condition in found)

    def _one(self) -> Condition:
        if self._take("not"):
            inner = self._one()
            return lambda row: not inner(row)
        if self._take("("):
            self._depth += 1
            if self._depth > 50:
                raise ConditionError("too many brackets")
            inner = self.either()
            self._need(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        column = self._column()
        if self._take("is"):
            absent = not self._take("not")
            self._need("null")
            return lambda row: (row[column] is None) == absent
        wanted = not self._take("not")
        if self._take("like"):
            pattern = _pattern(str(self._value()))
            return lambda row: (pattern.fullmatch(str(row[column])) is not None) == wanted
        if self._take("between"):
            low = self._value()
            self._need("and")
            high = self._value()
            return lambda row: (_compare(row[column], ">=", low) and _compare(row[column], "<=", high)) == wanted
        if self._take("in"):
            self._need("(")
            options = [self._value()]
            while self._take(","):
                options.append(self._value())
            self._need(")")
            return lambda row: any(_compare(row[column], "=", option) for option in options) == wanted
        sign = self.rest.pop(0) if self.rest else ""
        if not wanted or sign not in ("<", "<=", ">", ">=", "=", "<>", "!="):
            raise ConditionError(f"{sign or 'the end'!r} stands where a comparison was expected")
        value = self._value()
        return lambda row: _compare(row[column], sign, value)

    def _column(self) -> str:
        name = self.rest.pop(0) if self.rest else "the end"
        if name.lower() not in self._columns:
            raise ConditionError(f"{name!r} is no column (there are {', '.join(self._columns)})")
        return self._columns[name.lower()]

    def _value(self) -> Value:
        token = self.rest.pop(0) if self.rest else ""
        if token[:1] in ("'", '"'):
            return token[1:-1]
        try:
            return float(token)
        except ValueError:
            raise ConditionError(f"{token or 'the end'!r} stands where a value was expected") from None

    def _take(self, word: str) -> bool:
        if self.rest and self.rest[0].lower() == word:
            del self.rest[0]
            return True
        return False

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise ConditionError(f"{word!r} is missing")


def _compare(left: Value | None, sign: str, right: Value) -> bool:
    if left is None:
        return False
    if isinstance(left, str) or isinstance(right, str):
        one, other = str(left).casefold(), str(right).casefold()
        order = (one > other) - (one < other)
    else:
        order = (left > right) - (left < right)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "=": order == 0,
        "<>": order != 0,
        "!=": order != 0,
    }[sign]


def _pattern(text: str) -> re.Pattern[str]:
    parts = ["." if letter == "_" else ".*" if letter == "%" else re.escape(letter) for letter in text]
    return re.compile(re.sub(r"(\.\*)+", ".*", "".join(parts)), re.IGNORECASE)


_TABLES = ("exoplanets", "ps", "pscomppars")
_FORMATS = ("json", "csv", "xml", "ipac")
_JUPITER_RADII, _JUPITER_MASSES = 11.209, 317.83
_SHOWN = 10
_SHOWN_FIELDS = 8
_MOST_TEXT = 2000
_NEWER = {
    "hostname": "pl_hostname",
    "discoverymethod": "pl_discmethod",
    "disc_year": "pl_disc",
    "sy_dist": "st_dist",
    "pl_masse": "pl_bmasse",
    "pl_massj": "pl_bmassj",
}
"""Column names of the newer tables."""


@server.tool
async def get_exoplanet_data(query: str | None = None, table: str = "exoplanets", format: str = "json") -> str:
    if table.lower() not in _TABLES:
        raise _refused(f"table {table!r} is not available: expected one of {', '.join(_TABLES)}")
    if format not in _FORMATS:
        raise _refused(f"format {format!r} is not known: expected one of {', '.join(_FORMATS)}")
    try:
        condition: Condition = parse(query, _columns()) if query and query.strip() else lambda row: True
    except ConditionError as error:
        raise _refused(f"the condition {query!r} is not valid: {error}") from None
    found = [row for row in _rows() if condition(row)]
    if not found:
        return covered("No exoplanet data found for the specified query.", found)
    return _listed(found) if format == "json" else _raw(found, format)


def _listed(found: Sequence[Row]) -> str:
    lines = [f"Found {len(found)} entries{f'. Showing the first {_SHOWN}' if len(found) > _SHOWN else ''}:"]
    for row in found[:_SHOWN]:
        present = [f"  {key}: {value}" for key, value in row.items() if value is not None]
        more = ["  ... (more fields exist)"] if len(present) > _SHOWN_FIELDS else []
        lines += ["", *present[:_SHOWN_FIELDS], *more, RULE]
    return "\n".join(lines)


def _raw(found: Sequence[Row], format: str) -> str:
    text = {"csv": _csv, "xml": _xml, "ipac": _ipac}[format](found)
    if len(text) > _MOST_TEXT:
        return f"Received {format.upper()} data (truncated):\n{text[:_MOST_TEXT]}\n... (response truncated)"
    return f"Received {format.upper()} data:\n{text}"


def _csv(found: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(found[0])
    writer.writerows(row.values() for row in found)
    return out.getvalue()


def _xml(found: Sequence[Row]) -> str:
    rows = [
        "<row>" + "".join(f"<{key}>{escape(_text(value))}</{key}>" for key, value in row.items()) + "</row>"
        for row in found
    ]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<table>", *rows, "</table>"]) + "\n"


def _ipac(found: Sequence[Row]) -> str:
    widths = {key: max(len(key), *(len(_text(row[key])) for row in found)) for key in found[0]}
    head = "|" + "|".join(key.ljust(width) for key, width in widths.items()) + "|"
    rows = [" " + " ".join(_text(row[key]).ljust(width) for key, width in widths.items()) + " " for row in found]
    return "\n".join([head, *rows]) + "\n"


def _text(value: object) -> str:
    return "" if value is None else str(value)


@cache
def _rows() -> Sequence[Row]:
    return [_row(record) for record in tables.load("exoplanets")]


def _row(record: tables.Record) -> Row:
    mass, radius = record.get("mass_earths"), record.get("radius_earths")
    return {
        "pl_name": record["name"],
        "pl_hostname": record["host"],
        "pl_discmethod": record["method"],
        "pl_disc": record["year"],
        "pl_orbper": record.get("period_days"),
        "pl_rade": radius,
        "pl_bmasse": mass,
        "st_dist": record.get("distance_pc"),
        "pl_letter": record["letter"],
        "pl_orbsmax": record.get("axis_au"),
        "pl_orbeccen": record.get("eccentricity"),
        "pl_radj": None if radius is None else round(radius / _JUPITER_RADII, 3),
        "pl_bmassj": None if mass is None else round(mass / _JUPITER_MASSES, 4),
        "st_teff": record.get("star_kelvin"),
        "st_mass": record.get("star_suns"),
    }


@cache
def _columns() -> dict[str, str]:
    return {**{key: key for key in _rows()[0]}, **_NEWER}


def _refused(problem: str) -> SoftError:
    text = f"Error: Exoplanet Archive returned HTTP status 400. Response: {problem}"
    return SoftError(text, outcome="invalid_arguments")
