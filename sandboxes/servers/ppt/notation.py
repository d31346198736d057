"""Tables and figures written as plain lines, for roles of a template that take text only."""

import re

from m3bench.sandboxes.servers.ppt.registry import failure
from m3bench.sandboxes.servers.ppt.typesetting import clean

MAX_ROWS = 40
MAX_COLUMNS = 12
MAX_FIGURES = 40

_SEPARATORS = ("|", "\t", ";", ",")
_FIGURE = re.compile(r"^(.*\S)\s*[:=|\t]\s*([-+]?[\d.,]*\d)\s*%?$")


def grid(role: str, text: str) -> list[list[str]]:
    """The cells of a table; short rows are filled up. Lines of dashes, as Markdown has them, are skipped."""
    lines = [line.strip() for line in clean(text).split("\n")]
    lines = [line for line in lines if line and not re.fullmatch(r"[|\s:-]+", line)]
    mark = next((mark for mark in _SEPARATORS if any(mark in line for line in lines)), "|")
    rows = [[cell.strip() for cell in (line.strip("|") if mark == "|" else line).split(mark)] for line in lines]
    columns = max(map(len, rows), default=0)
    if not 1 <= len(rows) <= MAX_ROWS or columns > MAX_COLUMNS:
        raise failure(
            f"the table for role '{role}' has {len(rows)} rows and {columns} columns: give lines such as "
            f"'Region | Sales', at most {MAX_ROWS} with at most {MAX_COLUMNS} cells",
            outcome="invalid_arguments",
        )
    return [row + [""] * (columns - len(row)) for row in rows]


def figures(role: str, text: str) -> tuple[list[str], list[float]]:
    """The labels and values of a chart."""
    lines = [line.strip() for line in clean(text).split("\n") if line.strip()]
    found = [match for line in lines if (match := _FIGURE.match(line))]
    if not 1 <= len(found) <= MAX_FIGURES or len(found) < len(lines):
        raise failure(
            f"the chart for role '{role}' needs lines such as 'North: 42', at most {MAX_FIGURES}",
            outcome="invalid_arguments",
        )
    return [match[1].strip() for match in found], [_value(role, match[2]) for match in found]


def _value(role: str, text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError as error:
        raise failure(
            f"the chart for role '{role}' has a value that is no number: {text[:40]!r}", outcome="invalid_arguments"
        ) from error
