"""A search over all tables at once, for people who look around in the world.

Servers do not use it: each searches its own tables with the fields and weights that suit it.
"""

from collections.abc import Iterable
from functools import cache

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index
from m3bench.sandboxes.world.tables import Record

_TITLES = ("name", "title", "id")


def search(query: str, names: Iterable[str], limit: int) -> list[tuple[float, str, Record]]:
    """Score, table and record of what fits best in the named tables."""
    found = [(score, name, record) for name in names for score, record in _index(name).search(query, limit)]
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


@cache
def _index(name: str) -> Index[Record]:
    records = tables.load(name)
    keys = {key for record in records for key, value in record.items() if isinstance(value, (str, list, tuple))}
    weights = {key: 3.0 if key in _TITLES else 2.0 if key == "aliases" else 1.0 for key in sorted(keys)}
    # The first field is the one whose length counts: put the title there.
    ordered = dict(
        sorted(weights.items(), key=lambda item: (-item[1], _TITLES.index(item[0]) if item[0] in _TITLES else 9))
    )
    return Index(records, ordered or {"id": 1.0})
