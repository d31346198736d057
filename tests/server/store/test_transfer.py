"""Runs that travel come out as they were."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.sqlite import SqliteStore
from m3bench.server.store.transfer import pack, unpack
from m3bench.tasks.errors import StoreError
from tests.server.store.test_reader import request, run

pytestmark = pytest.mark.anyio


async def test_a_run_is_the_same_in_another_record_with_its_calls_and_files(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with closing(SqliteStore(here)) as store:
        store.add_seat("seat", "full", "1")
        store.add_run(run("first", "scored", "1", scorecard={"task": "sum-1"}))
        large = b'{"params": {"arguments": {"text": "%s"}}}' % (b"x" * 100_000)
        numbers = [await store.received(request(n, raw), "first", "math/sum") for n, raw in ((1, b"{}"), (2, large))]
        await store.answered(numbers[0], ToolAnswer(outcome="success", result=b"\xff{}", forwarded_ns=1, returned_ns=4))
        await store.answered(
            numbers[1], ToolAnswer(outcome="failed", error=(1, "no", {"a": 1}), forwarded_ns=1, returned_ns=4)
        )
        store.sent(numbers[0], 5)
        store.catch_up()
        wanted = store.run("first"), store.calls("first")
    left = run_workspace(here, "first") / "notes" / "a.txt"
    left.parent.mkdir(parents=True)
    left.write_text("left")
    with closing(SqliteStore(there)) as store:
        store.add_run(run("other", "scored", "1"))
    parcel = pack(here, "first")
    for _ in range(2):  # whoever was stopped in between unpacks it again
        assert list(unpack(there, [parcel])) == ["first"]
        with closing(SqliteStore(there)) as store:
            assert (store.run("first"), store.calls("first")) == wanted
            assert store.run("other") is not None
            store.change_run("first", state="abandoned")
    assert (run_workspace(there, "first") / "notes" / "a.txt").read_text() == "left"
    if os.name != "nt":
        assert there.stat().st_mode & 0o077 == 0


def test_a_run_that_is_not_there_cannot_be_packed(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no run"):
        pack(tmp_path / "data", "none")
