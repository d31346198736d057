"""Damage is named by run and call, the rest stays readable, and a repair keeps every run that is whole."""

import random
import shutil
import sqlite3
from pathlib import Path

import anyio
import pytest

from m3bench.server.store.backup import backup, repair
from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.checkup import examine
from m3bench.server.store.layout import BLOBS, DATABASE, database, run_workspace
from m3bench.server.store.seal import file_hashes, seal
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError
from tests.server.store.clients import SEAT, Client, opened, run_record

RUNS = [f"{number:040x}" for number in range(1, 13)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of twelve submitted runs with some calls each."""
    folder = tmp_path_factory.mktemp("made") / "data"
    store = SqliteStore(folder)
    store.add_seat(SEAT, "full", "2026-01-01")

    async def play(run: str) -> None:
        await Client(store, run).call_together(range(1, 9), f"run {run} " * 20)

    for run in RUNS:
        store.add_run(run_record(run))
        anyio.run(play, run)
        workspace = run_workspace(folder, run)
        workspace.mkdir(parents=True)
        (workspace / "note.txt").write_text(run)
        begun = store.run(run)
        assert begun is not None
        link = seal(begun, store.calls(run), file_hashes(workspace), "42")
        card = {"metrics": {"average": 0.5}, "success": True, "padding": "c" * 3000}
        store.change_run(run, state="scored", answer="42", seal=link, scorecard=card)
    store.close()
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "data"))


def change(folder: Path, sql: str, *values: object) -> None:
    connection = sqlite3.connect(database(folder))
    connection.execute(sql, values)
    connection.commit()
    connection.close()


def readable(folder: Path) -> set[str]:
    store = SqliteStore(folder)
    try:
        return {run.id for run in store.runs() if not store.sound_calls(run.id)[1]}
    finally:
        store.close()


def test_a_sound_record_has_nothing_to_tell(folder: Path) -> None:
    found = examine(folder)
    assert (found.runs, found.calls, found.damage) == (12, 96, ())
    assert repair(folder).old is None
    assert examine(folder / "nowhere").version == 0


def test_a_changed_value_is_named_by_run_and_call_and_the_rest_stays_readable(folder: Path) -> None:
    change(folder, "UPDATE runs SET scorecard = replace(scorecard, '0.5', '0.9') WHERE id = ?", RUNS[0])
    change(folder, "UPDATE answers SET returned_ns = 7 WHERE call = (SELECT min(id) FROM calls WHERE run = ?)", RUNS[1])
    change(folder, "UPDATE runs SET manifest = '{' WHERE id = ?", RUNS[2])
    found = examine(folder)
    assert found.runs_concerned == tuple(RUNS[:3])
    assert [one.call is not None for one in found.damage] == [False, False, True]
    store = SqliteStore(folder)
    assert {one.run for one in store.damaged_runs()} == {RUNS[0], RUNS[2]}
    assert [run.id for run in store.runs()] == [run for run in reversed(RUNS) if run not in (RUNS[0], RUNS[2])]
    assert len(store.sound_calls(RUNS[1])[0]) == 7
    with pytest.raises(StoreError, match=f"run {RUNS[1]}, call .* not what was written"):
        store.calls(RUNS[1])
    with pytest.raises(StoreError, match=f"run {RUNS[0]}"):
        store.run(RUNS[0])
    store.close()


def test_missing_rows_files_and_changed_workspaces_are_named(folder: Path) -> None:
    change(folder, "DELETE FROM answers WHERE call = (SELECT max(id) FROM calls WHERE run = ?)", RUNS[0])
    change(folder, "DELETE FROM runs WHERE id = ?", RUNS[1])
    (run_workspace(folder, RUNS[2]) / "note.txt").write_text("another answer")
    found = examine(folder)
    assert found.runs_concerned == tuple(RUNS[:3])
    said = {one.run: one.says for one in found.damage}
    assert "sealed" in said[RUNS[0]]
    assert "the run itself is missing" in said[RUNS[1]]
    assert "sealed" in said[RUNS[2]]


def test_a_large_value_that_was_changed_or_lost_is_named(tmp_path: Path) -> None:
    run = RUNS[0]
    store = opened(tmp_path, run)
    client = Client(store, run)
    anyio.run(client.call, 1, "a" * BLOB_BYTES)
    anyio.run(client.call, 2, "b" * BLOB_BYTES)
    store.close()
    files = sorted((tmp_path / BLOBS).iterdir())
    assert len(files) == 4
    files[0].unlink()
    files[1].write_bytes(b"x")
    found = examine(tmp_path)
    assert found.runs_concerned == (run,)
    assert {one.says for one in found.damage} == {
        "the file of a large value is missing", "the file of a large value was changed or cannot be read",
    }  # fmt: skip
    assert examine(tmp_path, beside=False).damage == ()
    store = SqliteStore(tmp_path)
    assert 1 <= len(store.sound_calls(run)[1]) <= 2
    store.close()


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(12))
def test_ten_flipped_bytes_are_reported_with_the_runs_concerned(seed: int, made: Path, folder: Path) -> None:
    path = database(folder)
    content = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for place in rng.sample(range(100, len(content)), 10):
        content[place] ^= rng.randrange(1, 256)
    path.write_bytes(content)
    found = examine(folder)
    whole = {run for run in RUNS if is_whole(folder, made, run)}
    # Every run that is not what it was is named, or the database is known to be unreadable as a whole.
    unnamed = set(RUNS) - whole - set(found.runs_concerned)
    assert not unnamed or any(one.run is None for one in found.damage)
    done = repair(folder)
    assert examine(folder).damage == ()
    if done.old is not None:
        assert done.old.exists()
        assert done.kept + len(set(done.left_out) & set(RUNS)) <= len(RUNS)
    kept = readable(folder)
    assert all(is_whole(folder, made, run) for run in kept)


def is_whole(folder: Path, made: Path, run: str) -> bool:
    """Whether a run reads as it did before."""
    try:
        one, other = SqliteStore(folder), SqliteStore(made)
    except StoreError:
        return False
    try:
        return one.run(run) == other.run(run) and one.calls(run) == other.calls(run)
    except StoreError:
        return False
    finally:
        one.close()
        other.close()


def test_a_file_that_is_no_database_is_replaced_and_kept(folder: Path) -> None:
    (folder / DATABASE).write_bytes(b"no database at all " * 1000)
    for ending in ("-wal", "-shm"):
        Path(f"{folder / DATABASE}{ending}").unlink(missing_ok=True)
    with pytest.raises(StoreError, match="m3bench store repair"):
        SqliteStore(folder)
    found = examine(folder)
    assert found.version == -1
    done = repair(folder)
    assert done.old is not None
    assert done.old.read_bytes().startswith(b"no database at all")
    assert readable(folder) == set()


def test_a_record_in_use_is_not_repaired(folder: Path) -> None:
    change(folder, "UPDATE runs SET task = 'other' WHERE id = ?", RUNS[0])
    store = SqliteStore(folder)
    with pytest.raises(StoreError, match="A server uses the record"):
        repair(folder)
    store.close()
    done = repair(folder)
    assert (done.kept, done.left_out) == (11, (RUNS[0],))
    assert readable(folder) == set(RUNS[1:])


def test_a_backup_of_a_record_in_use_is_a_record(folder: Path, tmp_path: Path) -> None:
    store = SqliteStore(folder)
    copy = backup(folder, tmp_path / "copy")
    store.close()
    assert readable(copy) == set(RUNS)
    assert examine(copy).damage == ()
    assert backup(folder).parent.name == "backups"
    with pytest.raises(StoreError, match="already exists"):
        backup(folder, copy)
    with pytest.raises(StoreError, match="no record"):
        backup(tmp_path)


def test_a_page_that_cannot_be_read_costs_the_runs_on_it(folder: Path) -> None:
    path = database(folder)
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    leaf, lost = 13, RUNS[5].encode()
    pages = [start for start in range(0, len(content), size) if content[start] == leaf]
    (start,) = [one for one in pages if lost in content[one : one + size] and b"practice" in content[one : one + size]]
    content[start] = 0
    path.write_bytes(content)
    store = SqliteStore(folder)
    named = {one.run for one in store.damaged_runs()}
    assert RUNS[5] in named
    assert {run.id for run in store.runs()} == set(RUNS) - named
    assert store.runs("another seat") == []
    with pytest.raises(StoreError, match="damaged"):
        store.run(RUNS[5])
    store.close()
    assert set(examine(folder).runs_concerned) >= named
    assert set(repair(folder).left_out) >= named
    assert readable(folder) == set(RUNS) - named
