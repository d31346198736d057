"""What holds for every table of the world, driven by what lies on disk."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from m3bench.sandboxes.world import integrity, tables
from m3bench.sandboxes.world.integrity import problems

ROOT = Path(__file__).parents[3]
MAX_BYTES = 40_000_000


@pytest.mark.sample(30)
@pytest.mark.parametrize("name", tables.names())
def test_a_table_is_sound(name: str) -> None:
    assert list(problems(name)) == []


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[str]]]:
    """Makes a world of one table and says what is wrong with it."""
    monkeypatch.setattr(tables, "DATA", tmp_path)
    caches = (tables.names, tables.table, tables.world_hash, integrity._ids, integrity._plurals)

    def write(*records: dict[str, Any], text: str = "") -> list[str]:
        for cached in caches:
            cached.cache_clear()
        (tmp_path / "towns.json").write_text(text or tables.render("towns", "made up", "CC0-1.0", records), "utf-8")
        return list(problems("towns"))

    yield write
    for cached in caches:
        cached.cache_clear()


def test_a_problem_is_told_with_its_record(world: Callable[..., list[str]]) -> None:
    assert world({"id": "a", "lat": 1, "lng": 2}, {"id": "b", "town_id": "a", "town_ids": ["a", "b"]}) == []
    assert world({"id": "a"}, {"id": "a"}) == ["towns has two records 'a'"]
    assert world({"id": "a", "lat": 91, "lng": 2}) == ["towns 'a' is off the globe"]
    assert world({"id": "a", "town_id": "x"}) == ["towns 'a': town_id 'x' is not in towns"]
    assert world({"id": "a", "name": "A\u0308"}) == ["towns.json is not in the normal form NFC"]
    compact = '{"table": "towns", "source": "made up", "licence": "CC0-1.0", "records": []}'
    assert world(text=compact) == ["towns.json is not written as `tables.render` writes it"]
    assert world(text=compact.replace("made up", "")) == ["towns.json does not name its table, source and licence"]


def test_an_unknown_table_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        tables.load("no-such-table")


def test_the_data_of_the_package_stays_small() -> None:
    """All package data: the world, the catalog, examples; sets of tasks have a limit of their own."""
    assert _carried() < MAX_BYTES


def test_reading_one_table_reads_no_other() -> None:
    code = (
        "from m3bench.sandboxes.world import tables; tables.load('mars_rovers'); "
        "print(tables.table.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_the_hash_names_the_whole_world() -> None:
    assert len(tables.world_hash()) == 64


def test_a_rendered_table_has_one_record_per_line() -> None:
    text = tables.render("things", "made up", "CC0-1.0", [{"id": "a", "name": "Ä"}, {"id": "b"}])
    assert text.splitlines()[5:-1] == ['{"id": "a", "name": "Ä"},', '{"id": "b"}']
    assert json.loads(text)["records"] == [{"id": "a", "name": "Ä"}, {"id": "b"}]


def _carried() -> int:
    """The bytes of all files that `pyproject.toml` names as package data."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    return sum(
        path.stat().st_size
        for package, patterns in settings["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.removeprefix("m3bench.").replace(".", "/")).glob(pattern)
        if path.is_file() and "sets" not in path.parts
    )
