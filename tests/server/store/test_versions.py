"""A record of any released version opens, is brought to this one with a copy kept, and shows what it showed."""

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store import schema
from m3bench.server.store.checkup import examine
from m3bench.server.store.layout import BACKUPS, DATABASE, OWNERS
from m3bench.server.store.owners import OwnerLock
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError

FIRST_RELEASE = Path(__file__).with_name("first_release.sql")
"""A record with three runs that the first release made, as SQL."""


def first_release(folder: Path, copies: int = 1) -> dict[str, str]:
    """A data folder as the first release left it, its runs several times over; returns the score cards by run."""
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / DATABASE)
    connection.executescript(FIRST_RELEASE.read_text("utf-8"))
    for table in ("calls", "answers", "sent"):
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        mark = ",".join("?" * len(rows[0]))
        for copy in range(1, copies):
            shifted = [(row[0] + copy * 1000, *row[1:]) for row in rows]
            if table == "calls":
                shifted = [(row[0], row[1] and f"{copy:04x}{row[1][4:]}", *row[2:]) for row in shifted]
            connection.executemany(f"INSERT INTO {table} VALUES ({mark})", shifted)
    runs = connection.execute("SELECT * FROM runs").fetchall()
    for copy in range(1, copies):
        again = [(f"{copy:04x}{run[0][4:]}", *run[1:]) for run in runs]
        connection.executemany(f"INSERT INTO runs VALUES ({','.join('?' * len(runs[0]))})", again)
    connection.commit()
    cards = dict(connection.execute("SELECT id, scorecard FROM runs").fetchall())
    connection.close()
    return cards


@pytest.mark.slow
def test_a_thousand_runs_of_the_first_release_show_the_same_cards(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = first_release(folder, copies=334)
    assert len(before) == 1002
    store = SqliteStore(folder)
    runs = store.runs()
    first = next(run for run in runs if not run.id.startswith("0"))
    calls = store.sound_calls(first.id)[0]
    store.close()
    assert {run.id: json.dumps(run.scorecard) for run in runs} == before
    card = card_of(first)
    assert card is not None
    assert markdown(card, first.id).startswith("#")
    assert {call.run for call in calls} == {first.id}
    found = examine(folder, beside=False)
    assert (found.version, found.runs, found.damage) == (schema.VERSION, 1002, ())


def test_a_copy_of_the_old_record_stays(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = first_release(folder)
    SqliteStore(folder).close()
    (copy,) = (folder / BACKUPS).iterdir()
    assert "version-1" in copy.name
    connection = sqlite3.connect(copy)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert dict(connection.execute("SELECT id, scorecard FROM runs").fetchall()) == before
    connection.close()
    SqliteStore(folder).close()
    assert len(list((folder / BACKUPS).iterdir())) == 1


def test_a_migration_that_fails_on_the_copy_leaves_the_record_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    first_release(folder)
    content = (folder / DATABASE).read_bytes()
    monkeypatch.setitem(schema.MIGRATIONS, 1, (*schema.MIGRATIONS[1], "DELETE FROM sent"))
    with pytest.raises(StoreError, match=r"rows were lost in a trial.*It was not changed"):
        SqliteStore(folder)
    assert (folder / DATABASE).read_bytes()[100:] == content[100:]
    monkeypatch.undo()
    SqliteStore(folder).close()


def test_an_older_record_in_use_is_not_migrated_under_the_feet_of_its_server(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first_release(folder)
    other = OwnerLock(folder / OWNERS, "other")
    with pytest.raises(StoreError, match="an older m3bench is using it: stop that one"):
        SqliteStore(folder)
    other.close()
    SqliteStore(folder).close()


def test_a_newer_record_is_refused_and_not_touched(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match=r"newer version of m3bench .* upgrade m3bench"):
        SqliteStore(tmp_path)
    with pytest.raises(StoreError, match="newer version"):
        examine(tmp_path)


def test_only_its_owner_can_look_into_a_record(tmp_path: Path) -> None:
    fresh, old, shared = tmp_path / "fresh", tmp_path / "old", tmp_path / "shared"
    first_release(old)
    old.chmod(0o755)
    shared.mkdir(mode=0o755)
    (shared / "thesis.txt").touch()
    for folder in (fresh, old, shared):
        store = SqliteStore(folder)
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "thesis.txt"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        store.close()
    assert stat.S_IMODE(fresh.stat().st_mode) == stat.S_IMODE(old.stat().st_mode) == 0o700
    # A folder with other things in it is not ours to close.
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
