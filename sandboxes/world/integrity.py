"""Do the tables hold together? What must be true of every table, whatever it is about.

Form, unique ids, references that lead somewhere, positions on the globe. What only some tables must fulfil, such
as towns on dry land, is up to the tests.
"""

import json
import unicodedata
from collections.abc import Iterator
from functools import cache

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record


def problems(name: str) -> Iterator[str]:
    """What is wrong with a table, in sentences; nothing when it is sound."""
    for path in tables.files(name):
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        if content["table"] != name or not content["source"] or not content["licence"]:
            yield f"{path.name} does not name its table, source and licence"
        elif text != tables.render(name, content["source"], content["licence"], content["records"]):
            yield f"{path.name} is not written as `tables.render` writes it"
        if not unicodedata.is_normalized("NFC", text):
            yield f"{path.name} is not in the normal form NFC"
    seen: set[object] = set()
    for record in tables.load(name):
        id = record.get("id")
        if id is not None and id in seen:
            yield f"{name} has two records {id!r}"
        seen.add(id)
        yield from _astray(name, record)
        if "lat" in record and not (-90 <= record["lat"] <= 90 and -180 <= record["lng"] <= 180):
            yield f"{name} {id!r} is off the globe"


def _astray(name: str, record: Record) -> Iterator[str]:
    """References to records that do not exist: `<table>_id` one, `<table>_ids` a list of them."""
    for key, value in record.items():
        if not key.endswith(("_id", "_ids")) or value is None:
            continue
        target = _plurals().get(key.removesuffix("s").removesuffix("_id"))
        if target is None:
            continue
        for reference in value if isinstance(value, list) else [value]:
            if reference not in _ids(target):
                yield f"{name} {record.get('id')!r}: {key} {reference!r} is not in {target}"


@cache
def _ids(name: str) -> frozenset[object]:
    return frozenset(record.get("id") for record in tables.load(name))


@cache
def _plurals() -> dict[str, str]:
    """Tables by what one of their records is called."""
    return {name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s"): name for name in tables.names()}
