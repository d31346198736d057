"""Runs that were recorded elsewhere are put on record as they were."""

from pathlib import Path

import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.server.store.transfer import import_runs
from tests.server.store.test_reader import request, run

pytestmark = pytest.mark.anyio


async def test_runs_and_calls_are_the_same_in_another_record(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "one")
    store.add_seat("seat", "full", "1")
    store.add_run(run("first", "scored", "1", scorecard={"task": "sum-1"}))
    store.add_run(run("second", "working", "2"))
    large = b'{"params": {"arguments": {"text": "%s"}}}' % (b"x" * 100_000)
    numbers = [await store.received(request(one, raw), "first", "math/sum") for one, raw in ((1, b"{}"), (2, large))]
    await store.answered(
        numbers[0], ToolAnswer(outcome="success", result=b'{"content": []}', forwarded_ns=1, returned_ns=4)
    )
    store.sent(numbers[0], 5)
    store.catch_up()
    there = _everything(store)
    store.close()

    import_runs(tmp_path / "two", there)
    other = SqliteStore(tmp_path / "two")
    assert _everything(other) == there
    assert [len(calls) for _, calls in there] == [2, 0]
    other.close()


def _everything(store: SqliteStore) -> list[tuple[RunRecord, list[CallRecord]]]:
    return [(one, store.calls(one.id)) for one in sorted(store.runs(), key=lambda one: one.id)]
