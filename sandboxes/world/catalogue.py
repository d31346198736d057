"""A search over all tables at once, for people who look around in the world.

Servers do not use it: each searches its own tables with the fields and weights that suit it.
"""

import json
from collections.abc import Iterable, Sequence

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.candidates import candidates, reader
from m3bench.sandboxes.world.search import Index
from m3bench.sandboxes.world.tables import Record

_TITLES = ("name", "title", "id")
_FEW_FIELDS = 8
"""Text fields of which it does not matter which others a table has."""


def search(query: str, names: Iterable[str], limit: int) -> list[tuple[float, str, Record]]:
    """Score, table and record of what fits best in the named tables."""
    found = [(score, name, record) for name in names for score, record in _index(name, query).search(query, limit)]
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))[:limit]


def label(record: Record) -> str:
    """What a record calls itself, with its short facts."""
    title = next((str(record[key]) for key in _TITLES if key in record), "?")
    facts = [
        f"{key} {value}"
        for key, value in record.items()
        if key not in _TITLES and isinstance(value, (str, int, float)) and len(str(value)) <= 40
    ]
    return ", ".join([title, *facts[:5]])


def _index(name: str, query: str) -> Index[Record]:
    """An index of the records that could answer a query, which finds what one of the whole table would find."""
    lines = tables.lines(name)
    records = [json.loads(lines[place]) for place in candidates(lines, query)]
    return Index(records, _fields(name, records), of=len(lines), reads=reader(query))


def _fields(name: str, records: Sequence[Record]) -> dict[str, float]:
    """The text fields of a table, told from some of its records where that is enough."""
    keys = _text_keys(records)
    if not records or (_TITLES[0] in keys and len(keys) <= _FEW_FIELDS):
        return fields_of(records)
    # Others of the table may have a field that comes before.
    return fields_of(tables.load(name))


def fields_of(records: Iterable[Record]) -> dict[str, float]:
    """The text fields of records with their weights: the title first, because it is the one whose length counts."""
    weights = {key: 3.0 if key in _TITLES else 2.0 if key == "aliases" else 1.0 for key in sorted(_text_keys(records))}
    ordered = sorted(weights.items(), key=lambda item: (-item[1], _TITLES.index(item[0]) if item[0] in _TITLES else 9))
    return dict(ordered) or {"id": 1.0}


def _text_keys(records: Iterable[Record]) -> set[str]:
    return {key for record in records for key, value in record.items() if isinstance(value, (str, list, tuple))}
