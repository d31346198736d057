"""The reader beside a store that writes: it sees what is there, changes nothing, and says what it cannot read."""

import sqlite3
from pathlib import Path

import pytest

from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
from m3bench.server.store.layout import database, run_folder, run_workspace
from m3bench.server.store.reader import Reader
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError

pytestmark = pytest.mark.anyio


def run(id: str, state: str = "working", started: str = "1", **fields: object) -> RunRecord:
    given = {
        "id": id, "seat": "seat", "task": "sum-1", "state": state, "mode": "practice", "started": started,
        "ended": None, "answer": None, "seal": None, "manifest": {"profile": "full"}, "scorecard": None, **fields,
    }  # fmt: skip
    return RunRecord(**given)  # type: ignore[arg-type]


def request(number: int, raw: bytes) -> ToolRequest:
    caller = Caller(seat="seat", revision="2025-11-25", client="client 1")
    return ToolRequest(
        caller=caller, id=number, raw=raw, name="math/sum", arguments={}, meta={}, received_ns=number,
        wall=f"2026-01-01T00:00:0{number}+00:00",
    )  # fmt: skip


async def test_a_reader_follows_what_a_store_writes(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "data")
    assert reader.newest_runs(9) == []
    store = SqliteStore(tmp_path / "data")
    try:
        store.add_seat("seat", "full", "1")
        store.add_run(run("old", "scored", "1", scorecard={"task": "sum-1"}))
        store.add_run(run("new", "working", "2"))
        assert reader.changed()
        assert not reader.changed()
        large = b'{"params": {"arguments": {"text": "%s"}}}' % (b"x" * 100_000)
        first = await store.received(request(1, b'{"params": {}}'), "new", "math/sum")
        second = await store.received(request(2, large), "new", "math/sum")
        await store.answered(first, ToolAnswer(outcome="not_found", result=b"{}", forwarded_ns=1, returned_ns=4))
        store.catch_up()
        assert reader.changed()
        assert [one.id for one in reader.newest_runs(9)] == ["new", "old"]
        assert [one.id for one in reader.submitted_runs()] == ["old"]
        assert [one.client for one in reader.runs(["new"])] == ["client 1"]
        assert reader.modes(["new", "old"]) == {"new": "practice", "old": "practice"}
        assert reader.scorecard("old") == {"task": "sum-1"}
        assert reader.scorecard("new") is None
        assert reader.counts(["new", "old"]) == {"new": (2, 1)}
        assert reader.under_way() == {second: 2}
        calls = reader.calls(["new"], 9)
        assert [call.id for call in calls] == [first, second]
        assert [(call.outcome, call.returned_ns) for call in calls] == [("not_found", 4), (None, None)]
        assert [reader.request(call) for call in calls] == [b'{"params": {}}', large]
        assert [(seat.id, seat.run) for seat in reader.seats()] == [("seat", "new")]
    finally:
        reader.close()
        store.close()
    assert reader.seats() == [], "nobody lives there any more"
    reader.close()


def test_a_file_that_is_no_record_is_refused_with_a_reason(tmp_path: Path) -> None:
    database(tmp_path).write_text("no database, but long enough to be taken for one " * 50)
    with pytest.raises(StoreError, match="could not be read"):
        Reader(tmp_path).newest_runs(1)
    database(tmp_path).unlink()
    other = sqlite3.connect(database(tmp_path))
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(StoreError, match="newer version"):
        Reader(tmp_path).newest_runs(1)


def test_what_a_run_leaves_lies_in_a_folder_of_its_own(tmp_path: Path) -> None:
    assert run_workspace(tmp_path, "r").parent == run_folder(tmp_path, "r")
