"""Puts runs on record that were recorded elsewhere, with their calls as they were.

For records that are made to be read: a board has those of bundles. Nothing here checks what it is given.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from m3bench.server.store import schema
from m3bench.server.store.blobs import Blobs
from m3bench.server.store.database import connect
from m3bench.server.store.layout import BLOBS, database
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.schema import Insert
from m3bench.server.store.sqlite import SqliteStore


def import_runs(folder: Path, runs: Iterable[tuple[RunRecord, Sequence[CallRecord]]]) -> None:
    """Put runs on the record in a folder, which has none of them yet.

    Raises:
        StoreError: It cannot be written.
    """
    blobs = Blobs(folder / BLOBS)
    with closing(SqliteStore(folder)) as store, closing(connect(database(folder))) as connection:
        for run, calls in runs:
            store.add_run(run)
            connection.execute("BEGIN IMMEDIATE")
            for call in calls:
                for row in _rows(call, blobs):
                    connection.execute(*schema.statements([row])[0])
            connection.execute("COMMIT")


def _rows(call: CallRecord, blobs: Blobs) -> Iterable[Insert]:
    yield schema.insert(
        "calls",
        (call.id, call.run, call.seat, call.tool, call.request_id, blobs.pack(call.request), call.revision, call.client,
         call.wall, call.received_ns),
    )  # fmt: skip
    if call.outcome is not None:
        yield schema.insert(
            "answers",
            (call.id, call.outcome, call.owner, None if call.result is None else blobs.pack(call.result),
             json.dumps(call.error) if call.error else None, None if call.full is None else blobs.pack(call.full),
             call.forwarded_ns, call.returned_ns),
        )  # fmt: skip
    if call.sent_ns is not None:
        yield schema.insert("sent", (call.id, call.sent_ns))
