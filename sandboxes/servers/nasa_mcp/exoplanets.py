"""Confirmed exoplanets, asked with a condition on their columns.

The public tool still asks for the archive's retired table `exoplanets`; its column names are used, and those of the
newer tables are understood as well. Other tables of the archive are not carried.
"""

import csv
import io
from collections.abc import Sequence
from functools import cache
from xml.sax.saxutils import escape

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, server
from m3bench.sandboxes.servers.nasa_mcp.conditions import Condition, ConditionError, Row, parse
from m3bench.sandboxes.world import tables
from m3bench.tasks.errors import SoftError

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
