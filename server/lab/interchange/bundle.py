"""A submission bundle: a result set packed with everything its numbers were made of, in one file.

    bundle.json               who packed what, the numbers that are claimed, the hash of every other member
    set.json, samples.jsonl   as in the result set
    runs/RUN/run.json         the run as recorded: task, manifest, answer, seal
    runs/RUN/card.json        its score card, as claimed
    runs/RUN/calls.jsonl      its calls in order; bytes are named by hash
    runs/RUN/files.jsonl      what lay in its workspace
    runs/RUN/judges.json      what judges said of it, with every prompt and reply, when they were asked
    values/HASH               the bytes of requests, results and files
    attestations.json         what the server signed of them, when it has a key

This module is the form and the packing; `submission` reads a bundle back, `rescoring` holds it against its own log.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.server.lab.interchange.archive import write_archive
from m3bench.server.lab.interchange.signatures import signatures_of
from m3bench.server.lab.results.resultset import ResultSet, Sample, read_resultset, store_folder
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scoring.aggregate import Row, overall
from m3bench.server.store.contract import Store
from m3bench.server.store.layout import judgement, run_workspace
from m3bench.server.store.records import CallRecord, Mode, RunRecord, State
from m3bench.server.store.seal import regular_files
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import InputFileError

FORMAT = "m3bench/bundle"
INDEX, HEADER, SAMPLES, SIGNED = "bundle.json", "set.json", "samples.jsonl", "attestations.json"
RUN, CARD, CALLS, FILES, JUDGES = "run.json", "card.json", "calls.jsonl", "files.jsonl", "judges.json"

NAMES = re.compile(
    r"bundle\.json|set\.json|samples\.jsonl|attestations\.json|values/[0-9a-f]{64}"
    r"|runs/[0-9a-z]{1,64}/(run\.json|card\.json|calls\.jsonl|files\.jsonl|judges\.json)"
)
"""What a member may be called."""

BYTES = ("request", "result", "full")
"""The fields of a call that are bytes."""

Hash = Field(pattern=r"^[0-9a-f]{64}$")

Nanoseconds = Annotated[int, Field(ge=-(2**62), le=2**62)]
"""More than a century; with larger numbers, dates computed from them could overflow."""
Handle = Annotated[str, Field(pattern=r"^[0-9a-z]{1,64}$")]
Name = Annotated[str, Field(max_length=1000)]
"""Of whatever has one; a longer one is no name."""
Moment = Annotated[str, Field(max_length=40)]
MAX_TEXT = 4 << 20
"""Characters of an answer."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Claims(_Form):
    """The numbers of the whole set."""

    scored: int
    void: int
    missing: int
    solved: int
    """Runs whose checks all passed."""
    metrics: dict[str, float | None]
    paper: dict[str, float | None] | None = None
    """By the paper's metric; null in bundles from before it stood beside another one."""


class BundleIndex(_Form):
    """The content of `bundle.json`."""

    format: Literal["m3bench/bundle"] = "m3bench/bundle"
    version: Literal[1] = 1
    m3bench: str
    claims: Claims
    members: dict[str, str]
    """The SHA-256 of every other member."""


class PackedRun(_Form):
    """A run as recorded, without its score card."""

    id: Handle
    seat: Name
    task: Name
    state: State
    mode: Mode
    started: Moment
    ended: Moment | None
    answer: Annotated[str, Field(max_length=MAX_TEXT)] | None
    seal: Name | None
    manifest: dict[str, object]
    fields: dict[str, object] | None = None


class PackedCall(_Form):
    """A call as recorded; bytes by their hash."""

    id: Annotated[int, Field(ge=0, lt=2**63)]
    run: Handle | None
    seat: Name
    tool: str
    request_id: str
    request: str = Hash
    revision: Name
    client: Name
    wall: Moment
    received_ns: Nanoseconds
    outcome: Name | None
    owner: Name | None
    result: str | None = Hash
    error: list[object] | None
    full: str | None = Hash
    forwarded_ns: Nanoseconds | None
    returned_ns: Nanoseconds | None
    sent_ns: Nanoseconds | None


class PackedFile(_Form):
    """A file of a workspace."""

    path: str
    value: str = Hash
    changed_ns: Nanoseconds
    """Checks look at the newest file first."""


def claims_of(rows: Sequence[Row], paper: Sequence[Row], solved: int, void: int, missing: int) -> Claims:
    """What a set amounts to, given its rows and those of the paper's metric."""
    return Claims(
        scored=len(rows), void=void, missing=missing, solved=solved, metrics=overall(rows), paper=overall(paper)
    )


def pack(folder: Path, path: Path) -> BundleIndex:
    """Pack a result set, or a plain data folder, into a file.

    Raises:
        InputFileError: There is no result set, nothing in it is scored, or the file cannot be written.
    """
    found = read_resultset(folder)
    if not found.results:
        raise InputFileError(folder, "holds no scored run: there is nothing to submit")
    store = SqliteStore(store_folder(folder))
    try:
        return pack_set(found, store, path)
    finally:
        store.close()


def pack_set(found: ResultSet, store: Store, path: Path, *, seat: str | None = None) -> BundleIndex:
    """Pack a result set into a file.

    Args:
        found: The set.
        store: Its record.
        path: The file.
        seat: Whose runs a signed tally counts; those of everybody when left out.

    Raises:
        InputFileError: The file cannot be written.
    """
    try:
        with TemporaryDirectory(prefix="m3bench-bundle-", ignore_cleanup_errors=True) as name:
            spool = _Spool(Path(name))
            for run in _runs(found, store):
                _spool_run(spool, run, store)
            spool.put(HEADER, _json(found.header.model_dump(mode="json", by_alias=True)))
            spool.put(SAMPLES, _lines(sample.model_dump(mode="json") for sample in _samples(found)))
            if (signed := signatures_of(store, spool.runs, seat)) is not None:
                spool.put(SIGNED, _json(signed.model_dump(mode="json")))
            solved = sum(result.card.success is True for result in found.results)
            claims = claims_of(found.rows, found.paper_rows, solved, len(found.void), len(found.missing))
            index = BundleIndex(m3bench=version("m3bench"), claims=claims, members=dict(sorted(spool.hashes.items())))
            spool.put(INDEX, _json(index.model_dump(mode="json")))
            write_archive(path, spool.members())
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror or error})") from error
    return index


def _runs(found: ResultSet, store: Store) -> Iterator[RunRecord]:
    """The scored runs, and what is on record of void ones."""
    yield from (result.run for result in found.results)
    recorded = {run.id: run for run in store.runs()}
    yield from (recorded[sample.run] for sample in found.void if sample.run in recorded)


def _samples(found: ResultSet) -> list[Sample]:
    samples = [*(result.sample for result in found.results), *found.void]
    return sorted(samples, key=lambda sample: (sample.task, sample.repeat))


def _spool_run(spool: "_Spool", run: RunRecord, store: Store) -> None:
    place = f"runs/{run.id}"
    record = asdict(run)
    del record["scorecard"]
    card = card_of(run)
    spool.put(f"{place}/{RUN}", _json(record))
    if card is not None:
        spool.put(f"{place}/{CARD}", _json(card.to_json()))
    spool.put(f"{place}/{CALLS}", _lines(_call(spool, call) for call in store.calls(run.id)))
    workspace = run_workspace(store.folder, run.id)
    spool.put(f"{place}/{FILES}", _lines(_file(spool, workspace, path) for path in regular_files(workspace)))
    said = judgement(store.folder, run.id)
    if said.exists():
        spool.put(f"{place}/{JUDGES}", said.read_bytes())


def _call(spool: "_Spool", call: CallRecord) -> dict[str, object]:
    values = {name: getattr(call, name) for name in BYTES}
    hashes = {name: None if value is None else spool.value(value) for name, value in values.items()}
    return {**asdict(call), **hashes}


def _file(spool: "_Spool", workspace: Path, path: Path) -> dict[str, object]:
    name = path.relative_to(workspace).as_posix()
    try:
        name.encode()
        value = spool.value(path.read_bytes())
    except UnicodeEncodeError:
        raise InputFileError(ascii(str(path))[1:-1], "has a name that is not UTF-8, which no bundle can hold") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    changed = path.stat().st_mtime_ns
    return {"path": name, "value": value, "changed_ns": changed}


class _Spool:
    """Members on their way into the archive, on disk, because a set may be larger than memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}
        self.hashes: dict[str, str] = {}

    @property
    def runs(self) -> list[str]:
        """The handles of the runs that were added."""
        return [name.split("/")[1] for name in self._paths if name.endswith(f"/{RUN}")]

    def put(self, name: str, content: bytes) -> None:
        """Add a member."""
        path = self._folder / str(len(self._paths))
        path.write_bytes(content)
        self._paths[name] = path
        if name != INDEX:
            self.hashes[name] = sha256(content).hexdigest()

    def value(self, content: bytes) -> str:
        """Add bytes once; returns their hash."""
        digest = sha256(content).hexdigest()
        if f"values/{digest}" not in self._paths:
            self.put(f"values/{digest}", content)
        return digest

    def members(self) -> Iterator[tuple[str, Callable[[], bytes]]]:
        """The members in the order of their names."""
        for name, path in sorted(self._paths.items()):
            yield name, path.read_bytes


def _json(data: Mapping[str, object]) -> bytes:
    return f"{json.dumps(data, indent=1, sort_keys=True)}\n".encode()


def _lines(entries: Iterator[Mapping[str, object]]) -> bytes:
    return "".join(f"{json.dumps(entry, sort_keys=True)}\n" for entry in entries).encode()
