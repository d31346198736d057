"""The seal of a run: a hash chain over how it was set up, its calls, the files it left and its answer.

Each link covers one part as recorded and the link before it, so that nothing can be edited, removed, added or moved
afterwards without changing the last link, which is stored with the run when it is submitted. A chain of hashes shows
that a record is the one that was sealed; it is no signature and does not say who sealed it.
"""

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from m3bench.server.store.records import CallRecord, RunRecord

VERSION = 2
"""Stands before the hash. Version 1 covered neither manifest nor files nor when answers left."""


def seal(
    run: RunRecord,
    calls: Iterable[CallRecord],
    files: Mapping[str, str],
    answer: str,
    fields: Mapping[str, object] | None = None,
) -> str:
    """The last link of the chain.

    Args:
        run: As it was before it was submitted; its state, end and score are not covered.
        calls: In order of arrival, without those to the benchmark's own tools.
        files: What lies in the workspace, as `file_hashes` gives it.
        answer: What was submitted.
        fields: What was submitted beside it; a seal without fields is the same as before there were any.
    """
    link = _hash([f"m3bench-run-{VERSION}", run.id, run.seat, run.task, run.mode, run.started, run.manifest])
    for call in calls:
        link = _hash(
            [
                link, call.id, call.run, call.seat, call.tool, call.request_id, _digest(call.request), call.revision,
                call.client, call.wall, call.received_ns, call.outcome, call.owner, _digest(call.result), call.error,
                _digest(call.full), call.forwarded_ns, call.returned_ns, call.sent_ns,
            ]
        )  # fmt: skip
    return f"{VERSION}:{_hash([link, dict(files), answer, *([] if fields is None else [dict(fields)])])}"


def file_hashes(workspace: Path) -> dict[str, str]:
    """The files of a workspace by path, the last changed one last, each with its content's hash; links are no files."""
    files = sorted(regular_files(workspace), key=lambda path: (path.stat().st_mtime_ns, path.as_posix()))
    return {path.relative_to(workspace).as_posix(): _file_digest(path) for path in files}


def regular_files(workspace: Path) -> list[Path]:
    """The files of a workspace in a fixed order, without links and what lies behind them."""
    found = (
        Path(folder) / name
        for folder, _, names in os.walk(workspace)
        for name in names
        if not (Path(folder) / name).is_symlink() and (Path(folder) / name).is_file()
    )
    return sorted(found)


def _file_digest(path: Path) -> str:
    digest = sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""  # a file that nobody may read: that it is there is all there is to say
    return digest.hexdigest()


def _digest(value: bytes | None) -> str | None:
    return None if value is None else sha256(value).hexdigest()


def _hash(parts: list[object]) -> str:
    return sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
