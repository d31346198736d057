"""Writes a table file of the world and says so."""

from collections.abc import Sequence

from m3bench.sandboxes.world.tables import DATA, Record, render


def write(name: str, source: str, licence: str, records: Sequence[Record]) -> None:
    """Replace `data/<name>.json`; the name of a part of a table is `<table>/<part>`."""
    path = DATA / f"{name}.json"
    path.write_text(render(name.partition("/")[0], source, licence, records), encoding="utf-8", newline="\n")
    print(f"{path.name}: {len(records)} records, {path.stat().st_size / 1024:.0f} KB")
