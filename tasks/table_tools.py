"""Servers for lists of more than 550 tools: one for each of many tables of the world, with tools to query it.

They are what MCPVerse's largest mode needs, and no more: no task needs them, and they are listed nowhere but in the
profile `max-scale`. Names and schemas follow from `data/tables/tables.json`, which says of each table what it holds;
the tools compute their answers from the table (`m3bench.sandboxes.table_server`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from m3bench.tasks.catalog import Catalog, Server, Tool, load_catalog

PREFIX = "table-"
"""How the names of these servers begin."""

MAX_RECORDS = 100
"""Records that a tool returns at most."""

FieldKind: TypeAlias = Literal["string", "number", "boolean", "list"]

_READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": MAX_RECORDS, "default": 10, "description": "Records at most"}


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """What is known of a table without reading it."""

    table: str
    one: str
    """What a record is."""
    many: str
    key: str
    """The field that tells records apart."""
    fields: Mapping[str, FieldKind]
    """The fields that tools know, and what each holds."""

    @property
    def server(self) -> str:
        """The name of its server."""
        return PREFIX + self.table.replace("_", "-")

    def of_kind(self, kind: FieldKind) -> list[str]:
        """The fields that hold such values."""
        return [name for name, found in self.fields.items() if found == kind]

    @property
    def has_places(self) -> bool:
        """Whether its records lie somewhere on the Earth."""
        return {"lat", "lng"} <= set(self.fields)


@cache
def table_entries() -> Mapping[str, TableEntry]:
    """The tables that have a server, by the server's name."""
    entries = json.loads((Path(__file__).parent / "data" / "tables" / "tables.json").read_bytes())
    return {entry.server: entry for entry in (TableEntry(**entry) for entry in entries)}


@cache
def whole_catalog() -> Catalog:
    """The catalog with the servers of tables behind it."""
    ready = load_catalog().ready
    return Catalog((*ready.servers, *(_server(entry) for entry in table_entries().values())), ready.further)


def find_tool(name: str) -> Tool | None:
    """The tool of a canonical name, of the catalog or of a table; None when there is none."""
    return (whole_catalog() if name.startswith(PREFIX) else load_catalog()).by_tool.get(name)


def _server(entry: TableEntry) -> Server:
    return Server(
        name=entry.server,
        title=f"Table of {entry.many}",
        category="tables",
        ready=True,
        stateful=False,
        tools=tuple(
            Tool(
                server=entry.server,
                name=name,
                description=description,
                input_schema={
                    "type": "object",
                    "properties": properties,
                    "required": [name for name in properties if "default" not in properties[name]],
                    "additionalProperties": False,
                },
                annotations=_READ_ONLY,
                strict=True,
            )
            for name, description, properties in _tools(entry)
        ),
    )


_Argument: TypeAlias = dict[str, object]
"""The schema of an argument."""
_Described: TypeAlias = tuple[str, str, dict[str, _Argument]]
"""Name, description and arguments of a tool."""


def _tools(entry: TableEntry) -> Iterator[_Described]:
    """Every tool of a table."""
    yield from _tools_of_records(entry)
    yield from _tools_of_fields(entry)
    yield from _tools_of_numbers(entry)


def _key(entry: TableEntry) -> _Argument:
    return {"type": "string", "description": f"The {entry.key} of a {entry.one}"}


def _tools_of_records(entry: TableEntry) -> Iterator[_Described]:
    one, many = entry.one, entry.many
    yield "describe", f"Say how many {many} there are, which fields they have and where the facts are from.", {}
    yield (
        "list",
        f"List {many} in the order of the table, a page at a time.",
        {
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Records to pass over"},
            "limit": _LIMIT,
        },
    )
    yield "get", f"Get one {one} with all fields, by its {entry.key}.", {"key": _key(entry)}
    yield (
        "find",
        f"Find {many} whose texts hold all the words given; case and accents do not matter.",
        {
            "text": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Words to look for"},
            "limit": _LIMIT,
        },
    )


def _tools_of_fields(entry: TableEntry) -> Iterator[_Described]:
    many = entry.many
    yield (
        "filter",
        f"Get the {many} that have a value in a field; in a list of values, that hold it.",
        {
            "field": _field(list(entry.fields)),
            "value": {"type": "string", "description": "The value, written as text"},
            "limit": _LIMIT,
        },
    )
    yield (
        "sort",
        f"Get {many} ordered by a field, those without a value left out.",
        {
            "field": _field([name for name in entry.fields if entry.fields[name] != "list"]),
            "descending": {"type": "boolean", "default": False, "description": "Largest first"},
            "limit": _LIMIT,
        },
    )
    yield (
        "count",
        f"Count the {many} for each value of a field, the most frequent first.",
        {
            "field": _field(list(entry.fields)),
            "limit": _LIMIT,
        },
    )
    yield "compare", f"Compare two {many}, field by field.", {"first": _key(entry), "second": _key(entry)}


def _tools_of_numbers(entry: TableEntry) -> Iterator[_Described]:
    many = entry.many
    numbers = [name for name in entry.of_kind("number") if name != entry.key]
    if numbers:
        yield (
            "between",
            f"Get the {many} with a number between two bounds, both included, in ascending order.",
            {
                "field": _field(numbers),
                "low": {"type": "number", "description": "Lower bound"},
                "high": {"type": "number", "description": "Upper bound"},
                "limit": _LIMIT,
            },
        )
        yield (
            "summarize",
            f"Least, greatest, mean and median of a number over all {many} that have one.",
            {
                "field": _field(numbers),
            },
        )
    if entry.has_places:
        yield (
            "nearest",
            f"Get the {many} nearest to a position, with the distance in kilometres.",
            {
                "lat": {"type": "number", "minimum": -90, "maximum": 90, "description": "Latitude in degrees"},
                "lng": {"type": "number", "minimum": -180, "maximum": 180, "description": "Longitude in degrees"},
                "limit": _LIMIT,
            },
        )


def _field(names: list[str]) -> _Argument:
    return {"type": "string", "enum": names, "description": "Which field"}
