"""Moves runs from one record to another: packs a run into bytes, unpacks it elsewhere, and imports its rows.

A worker packs the run of a sample; whoever gathers the samples unpacks it into a record that already has others. Boards
and bundles import runs that were recorded elsewhere. Nothing here checks what it is given.
"""

import io
import json
import shutil
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import Any

from m3bench.server.store import schema
from m3bench.server.store.blobs import Blobs
from m3bench.server.store.database import connect
from m3bench.server.store.layout import BLOBS, RUNS, database, run_folder
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.schema import Insert
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError


def unpack_files(archive: tarfile.TarFile, folder: Path, members: Iterable[tarfile.TarInfo] | None = None) -> None:
    """Write the files and folders of an archive.

    Args:
        archive: Where they are.
        folder: Where they go; made when it is not there.
        members: Which of them; all when None.

    Raises:
        StoreError: One would lie outside the folder.
    """
    for member in members if members is not None else archive.getmembers():
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or Path(member.name).drive:
            raise StoreError(f"The archive has a file that would lie outside its folder: {member.name!r}.")
        place = folder.joinpath(*name.parts)
        if member.isdir():
            place.mkdir(parents=True, exist_ok=True)
        elif member.isfile():
            place.parent.mkdir(parents=True, exist_ok=True)
            inside = archive.extractfile(member)
            assert inside is not None
            with inside, place.open("wb") as file:
                shutil.copyfileobj(inside, file)


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
             call.forwarded_ns or 0, call.returned_ns or 0),
        )  # fmt: skip
    if call.sent_ns is not None:
        yield schema.insert("sent", (call.id, call.sent_ns))


RECORD = "record.json"
"""What a parcel has besides files."""

_BYTES = ("request", "result", "full")


def pack(folder: Path, run: str) -> bytes:
    """A run of the record in a data folder, with its calls and what it left.

    Raises:
        StoreError: There is no such run, or it is damaged.
    """
    with closing(SqliteStore(folder)) as store:
        record = store.run(run)
        if record is None:
            raise StoreError(f"The record in {folder} has no run {run}.")
        told = {"run": asdict(record), "calls": [_told(call) for call in store.calls(run)]}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
        text = json.dumps(told).encode()
        member = tarfile.TarInfo(RECORD)
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
        if (left := run_folder(folder, run)).exists():
            archive.add(left, f"{RUNS}/{run}")
    return file.getvalue()


def unpack(folder: Path, parcels: Iterable[bytes]) -> dict[str, RunRecord]:
    """Put packed runs on the record in a data folder; one that is there already is put in its place.

    Returns:
        The runs by handle.

    Raises:
        StoreError: It cannot be written.
    """
    with closing(SqliteStore(folder)) as store:
        found = [_opened(folder, parcel) for parcel in parcels]
        for run, _ in found:
            if store.run(run.id) is not None:
                store.delete_run(run.id)
    import_runs(folder, found)
    return {run.id: run for run, _ in found}


def _told(call: CallRecord) -> dict[str, object]:
    packed = {name: getattr(call, name) for name in _BYTES}
    texts = {name: None if value is None else b64encode(value).decode() for name, value in packed.items()}
    return {**asdict(call), **texts}


def _opened(folder: Path, parcel: bytes) -> tuple[RunRecord, list[CallRecord]]:
    with tarfile.open(fileobj=io.BytesIO(parcel)) as archive:
        inside = archive.extractfile(RECORD)
        assert inside is not None
        told = json.load(inside)
        run = RunRecord(**told["run"])
        rmtree(run_folder(folder, run.id), ignore_errors=True)
        files = [member for member in archive.getmembers() if member.name != RECORD]
        unpack_files(archive, folder, files)
    return run, [_call(fields) for fields in told["calls"]]


def _call(fields: dict[str, Any]) -> CallRecord:
    for name in _BYTES:
        fields[name] = None if fields[name] is None else b64decode(fields[name])
    error = fields.pop("error")
    return CallRecord(**fields, error=None if error is None else tuple(error))
