"""What holds for every table of the world, driven by what lies on disk."""

import json
import unicodedata

import pytest

from m3bench.sandboxes.world import tables

MAX_BYTES = 40 * 1024 * 1024


@pytest.mark.parametrize("name", tables.names())
def test_a_table_file_is_written_as_rendered_with_source_and_licence(name: str) -> None:
    for path in tables.files(name):
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        assert content["table"] == name, path
        assert content["source"], path
        assert content["licence"], path
        assert text == tables.render(name, content["source"], content["licence"], content["records"]), path
        assert text == unicodedata.normalize("NFC", text), path


@pytest.mark.parametrize("name", tables.names())
def test_ids_are_unique_in_their_table(name: str) -> None:
    ids = [record["id"] for record in tables.load(name) if "id" in record]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", tables.names())
def test_references_to_other_tables_resolve(name: str) -> None:
    known = {other: {record.get("id") for record in tables.load(other)} for other in tables.names()}
    plural = {_singular(other): other for other in tables.names()}
    for record in tables.load(name):
        for key, value in record.items():
            target = plural.get(key.removesuffix("s").removesuffix("_id"))
            if target is None or not key.endswith(("_id", "_ids")) or value is None:
                continue
            for reference in value if isinstance(value, list) else [value]:
                assert reference in known[target], (name, record.get("id"), key, reference)


@pytest.mark.parametrize("name", tables.names())
def test_positions_are_on_the_globe(name: str) -> None:
    for record in tables.load(name):
        if "lat" in record:
            assert -90 <= record["lat"] <= 90, record
            assert -180 <= record["lng"] <= 180, record


def test_an_unknown_table_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        tables.load("no-such-table")


def test_the_tables_together_stay_small() -> None:
    assert sum(path.stat().st_size for name in tables.names() for path in tables.files(name)) < MAX_BYTES


def test_the_hash_names_the_whole_world() -> None:
    assert len(tables.world_hash()) == 64


def test_a_rendered_table_has_one_record_per_line() -> None:
    text = tables.render("things", "made up", "CC0-1.0", [{"id": "a", "name": "Ä"}, {"id": "b"}])
    assert text.splitlines()[5:-1] == ['{"id": "a", "name": "Ä"},', '{"id": "b"}']
    assert json.loads(text)["records"] == [{"id": "a", "name": "Ä"}, {"id": "b"}]


def _singular(name: str) -> str:
    return name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
