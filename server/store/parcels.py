"""A run with its calls and files as one piece of bytes, to be put on record elsewhere exactly as it was.

For results that travel: a worker packs the run of a sample, whoever gathers the samples unpacks it into a record that
has others already. Nothing here checks what it is given; it comes from our own workers.
"""

import io
import json
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree
from typing import Any

from m3bench.server.store.archives import unpack_files
from m3bench.server.store.importing import import_runs
from m3bench.server.store.layout import RUNS, run_folder
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError

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


def _told(call: CallRecord) -> dict[str, Any]:
    fields = asdict(call)
    for name in _BYTES:
        fields[name] = None if fields[name] is None else b64encode(fields[name]).decode()
    return fields


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
