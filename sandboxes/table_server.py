"""A server for one table of the world: tools that look up, search, order, count and compare its records.

Every answer is computed from the table for whatever is asked. Nothing is known here of tasks, and the same call gives
the same bytes. What the tools are called and take is in `m3bench.tasks.table_tools`.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable

from m3bench.sandboxes.toolserver import Handler, ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.geo import Point, distance
from m3bench.sandboxes.world.search import fold
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import ToolError
from m3bench.tasks.table_tools import TableEntry, table_entries

Row = Record


def table_server(name: str) -> ToolServer:
    """The server of a table, by the server's name."""
    server = ToolServer(name)
    found = Queries(table_entries()[name])
    tools: dict[str, Callable[..., object]] = {
        "describe": found.describe,
        "list": found.listed,
        "get": found.get,
        "find": found.find,
        "filter": found.filtered,
        "sort": found.ordered,
        "count": found.counted,
        "compare": found.compare,
        "between": found.between,
        "summarize": found.summarize,
        "nearest": found.nearest,
    }
    for tool, function in tools.items():
        server.handlers[tool] = Handler(function=function, wants_context=False, is_async=False)
    return server


class Queries:
    """What can be asked of a table.

    Args:
        entry: Which table, and which of its fields are known.
    """

    def __init__(self, entry: TableEntry) -> None:
        self._entry = entry
        self._table = tables.table(entry.table)
        self._rows: list[Row] = [
            {name: record[name] for name in entry.fields if record.get(name) is not None}
            for record in self._table.records
        ]

    def describe(self) -> dict[str, object]:
        """What the table holds."""
        return {
            "records": len(self._rows),
            "key": self._entry.key,
            "fields": dict(self._entry.fields),
            "sources": list(self._table.sources),
        }

    def listed(self, offset: int = 0, limit: int = 10) -> dict[str, object]:
        """A page of records."""
        return self._answer(self._rows[offset:], limit)

    def get(self, key: str) -> Row:
        """One record."""
        wanted = fold(key)
        for row in self._rows:
            if fold(str(row[self._entry.key])) == wanted:
                return row
        raise ToolError(
            f"There is no {self._entry.one} with the {self._entry.key} {key!r}: find shows which there are",
            outcome="not_found",
        )

    def find(self, text: str, limit: int = 10) -> dict[str, object]:
        """Records with all the words in their texts."""
        words = fold(text).split()
        return self._answer((row for row in self._rows if _holds(row, words)), limit)

    def filtered(self, field: str, value: str, limit: int = 10) -> dict[str, object]:
        """Records with a value."""
        return self._answer((row for row in self._rows if fold(value) in map(_written, _values(row, field))), limit)

    def ordered(self, field: str, descending: bool = False, limit: int = 10) -> dict[str, object]:
        """Records in the order of a field."""
        known = [row for row in self._rows if field in row]
        return self._answer(sorted(known, key=lambda row: row[field], reverse=descending), limit)

    def counted(self, field: str, limit: int = 10) -> dict[str, object]:
        """How often each value stands in a field."""
        counts = Counter(str(value) for row in self._rows for value in _values(row, field))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return {"values": len(ranked), "counts": [{"value": value, "count": count} for value, count in ranked[:limit]]}

    def compare(self, first: str, second: str) -> dict[str, object]:
        """Two records side by side."""
        one, other = self.get(first), self.get(second)
        return {
            name: {"first": one.get(name), "second": other.get(name), "same": one.get(name) == other.get(name)}
            for name in self._entry.fields
        }

    def between(self, field: str, low: float, high: float, limit: int = 10) -> dict[str, object]:
        """Records with a number in a range."""
        if low > high:
            raise ToolError(
                f"low is {low:g} and high is {high:g}: low must not be greater", outcome="invalid_arguments"
            )
        found = [row for row in self._rows if field in row and low <= row[field] <= high]
        return self._answer(sorted(found, key=lambda row: row[field]), limit)

    def summarize(self, field: str) -> dict[str, object]:
        """A number over all records."""
        values = [row[field] for row in self._rows if field in row]
        return {
            "count": len(values),
            "least": min(values),
            "greatest": max(values),
            "mean": round(statistics.fmean(values), 6),
            "median": statistics.median(values),
        }

    def nearest(self, lat: float, lng: float, limit: int = 10) -> dict[str, object]:
        """Records by their distance from a position."""
        here = Point(lat, lng)
        placed = [row for row in self._rows if "lat" in row and "lng" in row]
        away = [(distance(here, Point(row["lat"], row["lng"])), row) for row in placed]
        ranked = sorted(away, key=lambda item: (item[0], str(item[1][self._entry.key])))
        return self._answer(({**row, "kilometres": round(metres / 1000, 3)} for metres, row in ranked), limit)

    def _answer(self, rows: Iterable[Row], limit: int) -> dict[str, object]:
        found = list(rows)
        return {"found": len(found), "records": found[:limit]}


def _values(row: Row, field: str) -> list[object]:
    """The values in a field: several in a list, none when it is missing."""
    value = row.get(field)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _written(value: object) -> str:
    """A value as text, so that it can be asked for in words: `3.0` is `3`, and `True` is `true`."""
    return fold(f"{value:g}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e6 else str(value))


def _holds(row: Row, words: list[str]) -> bool:
    text = fold(" ".join(str(value) for field in row for value in _values(row, field) if isinstance(value, str)))
    return all(word in text for word in words)
