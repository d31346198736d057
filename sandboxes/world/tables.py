"""The world's tables: JSON files that travel with the package, read when first asked for and kept.

A table is `data/<table>.json` or, when it is large, the files of `data/<table>/` one after another. A file
holds one object `{"table", "source", "licence", "records"}` with one record per line, so that a change to the
world is a change of lines. Records are plain mappings here; who needs types makes them from the records.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class WorldTable:
    """One table as it lies on disk."""

    name: str
    sources: tuple[str, ...]
    """Where the facts come from, one sentence per distinct file note."""
    licences: tuple[str, ...]
    records: tuple[Record, ...]


@cache
def names() -> tuple[str, ...]:
    """Every table there is, in alphabetical order."""
    return tuple(sorted({path.relative_to(DATA).parts[0].removesuffix(".json") for path in DATA.rglob("*.json")}))


def load(name: str) -> tuple[Record, ...]:
    """The records of a table, in file order; raises `KeyError` when there is no such table."""
    return table(name).records


@cache
def table(name: str) -> WorldTable:
    """A table with its provenance, kept; raises `KeyError` when there is no such table."""
    return _read(name)


def stream(name: str, beginning: str = "{") -> Iterator[Record]:
    """The records one after another, none of them kept: for who makes something smaller of a large table.

    Args:
        name: The table.
        beginning: How the lines of the wanted records begin; the others are not even read as JSON.
    """
    for path in files(name):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith('"records"'):
                    break
            for line in lines:
                if line.startswith(beginning):
                    yield json.loads(line.rstrip(",\n"))


def lines(name: str) -> list[str]:
    """The records of a table as the lines of JSON that they are on disk, in file order."""
    found: list[str] = []
    for path in files(name):
        text = path.read_text("utf-8")
        found += text[text.index('"records": [\n') + 13 : text.rindex("\n]")].split("\n")
    return [line.rstrip(",") for line in found if line]


def _read(name: str) -> WorldTable:
    parts = [json.loads(path.read_bytes()) for path in files(name)]
    if not parts:
        raise KeyError(name)
    return WorldTable(
        name=name,
        sources=tuple(dict.fromkeys(part["source"] for part in parts)),
        licences=tuple(dict.fromkeys(part["licence"] for part in parts)),
        records=tuple(record for part in parts for record in part["records"]),
    )


def files(name: str) -> tuple[Path, ...]:
    """The files of a table in reading order; none when there is no such table."""
    single = DATA / f"{name}.json"
    return (single,) if single.is_file() else tuple(sorted((DATA / name).glob("*.json")))


@cache
def world_hash() -> str:
    """What a manifest says of the world: any change to any table changes it."""
    digest = sha256()
    for name in names():
        for path in files(name):
            digest.update(path.relative_to(DATA).as_posix().encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def render(name: str, source: str, licence: str, records: Iterable[Record]) -> str:
    """The text of a table file. What is on disk is what this gives for its own content."""
    head = "".join(
        f'"{key}": {json.dumps(value, ensure_ascii=False)},\n'
        for key, value in (("table", name), ("source", source), ("licence", licence))
    )
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    return f'{{\n{head}"records": [\n{lines}\n]}}\n'
