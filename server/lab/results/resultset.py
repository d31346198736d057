"""A result set: what one agent did on a set of tasks, in one folder.

    set.json       who was measured, on what, how often
    samples.jsonl  one line per finished sample, appended as it finishes
    data/          the store with every recorded call, as any server keeps it

A sample is one attempt at one task: (task, repeat). What became of it is in `samples.jsonl`; its score card and its
calls are in the store under the run's handle. Any plain data folder can be read as a result set too: its scored runs,
with the client's name for an agent.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from errno import ENOSPC
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.aggregate import Row
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import database
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import BESIDE, RunRecord
from m3bench.tasks.atomic_files import append_line, write_atomically
from m3bench.tasks.errors import InputFileError, StoreError
from m3bench.tasks.fault import Fault
from m3bench.tasks.profiles import owned_by

HEADER, SAMPLES, DATA = "set.json", "samples.jsonl", "data"

LOGS = "inspect"
"""The folder with Inspect's own logs, where a model was driven."""

Kind = Literal["model", "baseline", "client", "people"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SampleUsage(_Model):
    """What a sample cost, as the engine that ran it says."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None when no price is known."""


class SampleRetry(_Model):
    """A request to a model's provider that failed and was made again."""

    failure: str
    """What the provider said."""
    wait: float
    """Seconds until the next try."""


class Sample(_Model):
    """One attempt at one task."""

    task: str
    repeat: int
    """From 1."""
    state: Literal["scored", "void"]
    """`void`: ended by a failure that is not the agent's; excluded and counted."""
    run: str | None = None
    """The run's handle in the store."""
    fault: Fault = "client"
    """Who is responsible for how the sample ended; `client` when it simply ended."""
    reason: str = ""
    """Why a sample is void."""
    usage: SampleUsage = SampleUsage()
    seconds: float = 0.0
    retries: tuple[SampleRetry, ...] = ()
    """Requests to the model's provider that were tried again; not written when there was none."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        written: dict[str, object] = write(self)
        return written if self.retries else {name: value for name, value in written.items() if name != "retries"}


class Header(_Model):
    """Who was measured, on what, how often."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    name: str
    """Its name in tables."""
    kind: Kind
    agent: str
    """`openai/gpt-5`, `oracle`, or a client's name."""
    solver: str = ""
    """What drove a model: `react`, `executor`, `m3-bench` or `mcp-bench`."""
    profile: str
    """As chosen; `standard`, `task` and `family` alone mean those of each task."""
    repeats: int = 1
    tasks: tuple[str, ...]
    """The tasks that were to be attempted, in order."""
    set_hash: str = ""
    """Of the set the tasks come from; empty when not known."""
    options: Mapping[str, object] = Field(default_factory=dict)
    """Whatever else makes another run of the same agent another thing: seed, sandbox, limits, …; plain data."""
    started: str


@dataclass(frozen=True, kw_only=True)
class Result:
    """A scored sample with its run."""

    sample: Sample
    run: RunRecord
    card: ScoreCard

    @cached_property
    def row(self) -> Row:
        """For aggregation; repeats of a task are rows of their own."""
        return replace(self.card.row, id=self._id, task=self.sample.task)

    @cached_property
    def paper_row(self) -> Row:
        """The same for the paper's metric."""
        return self.card.as_paper_row(self.row)

    @property
    def _id(self) -> str:
        return f"{self.sample.task}#{self.sample.repeat}" if self.sample.repeat > 1 else self.sample.task


@dataclass(frozen=True, kw_only=True)
class ResultSet:
    """A result set read back."""

    folder: Path
    header: Header
    results: tuple[Result, ...]
    """In the order of the header's tasks, repeats of a task one after the other."""
    void: tuple[Sample, ...]
    manifests: tuple[Mapping[str, object], ...]
    """The manifests of its runs, each once; more than one means that its numbers do not belong together."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """For aggregation."""
        return tuple(result.row for result in self.results)

    @property
    def paper_rows(self) -> tuple[Row, ...]:
        """The same for the paper's metric."""
        return tuple(result.paper_row for result in self.results)

    @property
    def outcomes(self) -> dict[str, int]:
        """How often the calls that count had each outcome, over all runs."""
        return _sum(result.card.outcomes for result in self.results)

    @property
    def excluded(self) -> dict[str, int]:
        """Calls of all runs that do not count, by whose fault it was."""
        return _sum(result.card.excluded for result in self.results)

    @property
    def conduct(self) -> dict[str, int]:
        """What there is to say of the conduct of all runs, as counts; empty when there is nothing."""
        conducts = [conduct for result in self.results if (conduct := result.card.conduct) is not None]
        recoveries = [conduct.recovery for conduct in conducts if conduct.recovery is not None]
        counts = {"unwanted": sum(conduct.unwanted for conduct in conducts)} if conducts else {}
        if orders := [conduct.order for conduct in conducts if conduct.order is not None]:
            counts |= {"orders": len(orders), "obeyed": sum(order.obeyed for order in orders)}
        return counts | _sum(
            {"met": found.met, "survived": found.survived, "calls": found.calls, "hurried": found.hurried}
            for found in recoveries
        )

    @property
    def gaps(self) -> int:
        """Calls that asked for something the frozen world does not hold, over all runs."""
        return sum(result.card.gaps for result in self.results)

    @property
    def gap_share(self) -> float:
        """The share of all calls that asked for something the frozen world does not hold."""
        return self.gaps / max(1, sum(result.card.calls for result in self.results))

    @property
    def missing(self) -> tuple[tuple[str, int], ...]:
        """Samples (task, repeat) that were to be and are neither scored nor void."""
        there = {(result.sample.task, result.sample.repeat) for result in self.results}
        there |= {(sample.task, sample.repeat) for sample in self.void}
        planned = ((task, repeat) for task in self.header.tasks for repeat in range(1, self.header.repeats + 1))
        return tuple(sample for sample in planned if sample not in there)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items()))


def comparable(run: RunRecord, card: ScoreCard) -> Mapping[str, object]:
    """The manifest of a run as other tasks' runs have it: its task's own profile is named without task or family.

    What sandboxes lack moves no number.
    """
    manifest = {field: value for field, value in run.manifest.items() if field not in BESIDE}
    kind, _, name = str(run.manifest.get("profile")).partition(":")
    own = {"task": run.task, "family": card.family}
    if not name or own.get(owned_by(kind) or "") != name:
        return manifest
    return {field: value for field, value in manifest.items() if field != "tools"} | {"profile": kind}


def task_set_of(manifest: Mapping[str, object]) -> Mapping[str, object]:
    """What a run's manifest says of the set its task is from: name, version and hash; empty when it says nothing."""
    found = manifest.get("tasks")
    return found if isinstance(found, Mapping) else {}


def store_folder(folder: Path) -> Path:
    """Where the store of a result set, or of a plain data folder, lies."""
    return folder / DATA if (folder / HEADER).exists() else folder


def write_header(folder: Path, header: Header) -> None:
    """Begin a result set.

    Raises:
        InputFileError: The folder cannot be written.
    """
    text = json.dumps(header.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / HEADER, f"{text}\n".encode())
    except OSError as error:
        raise InputFileError(folder / HEADER, f"cannot be written ({error.strerror})") from error


def append_sample(folder: Path, sample: Sample) -> None:
    """Note a finished sample. One write of a whole line: a kill at any moment leaves at most one torn last line.

    Raises:
        StoreError: It could not be written.
    """
    try:
        append_line(folder / SAMPLES, json.dumps(sample.model_dump(mode="json"), ensure_ascii=False))
    except OSError as error:
        remedy = "free some disk space" if error.errno == ENOSPC else "mend that"
        raise StoreError(f"{folder / SAMPLES} could not be written ({error.strerror}): {remedy} and resume") from error


def mend_samples(folder: Path) -> None:
    """Cut off the torn last line that a kill or a full disk may have left, so that lines can be appended again."""
    path = folder / SAMPLES
    data = path.read_bytes() if path.exists() else b""
    end = data.rfind(b"\n") + 1
    if end == len(data):
        return
    try:
        Sample.model_validate_json(data[end:])
        data += b"\n"
    except ValidationError:
        data = data[:end]
    write_atomically(path, data)


def read_header(folder: Path) -> Header:
    """The header of a result set.

    Raises:
        InputFileError: The folder holds none, or it cannot be read.
    """
    path = folder / HEADER
    try:
        return Header.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from error


def read_samples(folder: Path) -> dict[tuple[str, int], Sample]:
    """The finished samples by (task, repeat): the first scored one counts, a void one only when there is no other."""
    samples: dict[tuple[str, int], Sample] = {}
    path = folder / SAMPLES
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            sample = Sample.model_validate_json(line)
        except ValidationError as error:
            if number == len(lines):
                break
            raise InputFileError(path, f"line {number} is not a sample") from error
        key = sample.task, sample.repeat
        if key not in samples or (samples[key].state == "void" and sample.state == "scored"):
            samples[key] = sample
    return samples


def _no_runs(folder: Path) -> str:
    """Why a folder is no result set, and what to name in its place."""
    if not folder.exists():
        return "there is no such folder: name a result set, as `m3bench run` makes it"
    if not folder.is_dir():
        return "is a file: name the folder of a result set, as `m3bench run` makes it"
    sets = sorted(str(inner.parent) for inner in folder.glob(f"*/{HEADER}"))
    if sets:
        return f"holds no recorded runs itself; these are result sets: {' '.join(sets[:8])}{' …' if sets[8:] else ''}"
    return "holds no recorded runs: name the folder of a result set, as `m3bench run` makes it"


def read_resultset(folder: Path) -> ResultSet:
    """Read a result set, or a plain data folder as one.

    Raises:
        InputFileError: There is neither a result set nor a record of runs.
    """
    if not database(store_folder(folder)).exists():
        raise InputFileError(folder, _no_runs(folder))
    return _read(folder, RecordLocation(store_folder(folder)))


def read_record(place: RecordLocation) -> ResultSet:
    """Read the runs of a record, wherever it is, as a result set.

    Raises:
        InputFileError: There is none yet.
        StoreError: It cannot be read.
    """
    return read_resultset(place.folder) if place.url is None else _read(place.folder, place)


def _read(folder: Path, place: RecordLocation) -> ResultSet:
    store = open_store(place)
    try:
        runs = {run.id: run for run in store.runs()}
        if place.url is None and (folder / HEADER).exists():
            header, samples = read_header(folder), list(read_samples(folder).values())
        else:
            header, samples = _plain(folder, store, list(runs.values()))
    finally:
        store.close()
    # Not in the order they ended, which is chance: the same results are the same numbers, intervals included.
    order = {task: number for number, task in enumerate(header.tasks)}
    samples.sort(key=lambda sample: (order.get(sample.task, len(order)), sample.task, sample.repeat))
    cards = {sample.run: card_of(runs[sample.run]) for sample in samples if sample.run in runs}
    samples = [_judged(sample, cards.get(sample.run or "")) for sample in samples]
    results = tuple(
        Result(sample=sample, run=runs[sample.run], card=card)
        for sample in samples
        if sample.state == "scored" and sample.run in runs and (card := cards[sample.run]) is not None
    )
    seen: dict[str, Mapping[str, object]] = {}
    for result in results:
        manifest = comparable(result.run, result.card)
        seen.setdefault(json.dumps(manifest, sort_keys=True), manifest)
    return ResultSet(
        folder=folder,
        header=header,
        results=results,
        void=tuple(sample for sample in samples if sample.state == "void"),
        manifests=tuple(seen.values()),
    )


def _judged(sample: Sample, card: ScoreCard | None) -> Sample:
    """A sample as it counts: one whose card says that its run is void is void, whatever else was noted of it."""
    if card is None or not card.void_reason or sample.state == "void":
        return sample
    fault = card.void.fault if card.void is not None else "proxy"
    return sample.model_copy(update={"state": "void", "fault": fault, "reason": card.void_reason})


def _plain(folder: Path, store: Store, runs: Sequence[RunRecord]) -> tuple[Header, list[Sample]]:
    """The scored and void runs of a data folder, oldest first; the attempts at a task are its repeats."""
    over = (run for run in runs if run.scorecard is not None or run.state == "void")
    scored = sorted(over, key=lambda run: (run.started, run.id))
    attempts: Counter[str] = Counter()
    samples = []
    clients: list[str] = []
    for run in scored:
        attempts[run.task] += 1
        clients += filter(None, [store.client(run.id)])
        sample = Sample(task=run.task, repeat=attempts[run.task], state="scored", run=run.id)
        if run.state == "void":
            why = store.lost(run.id) or "it could not go on"
            sample = sample.model_copy(update={"state": "void", "fault": "proxy", "reason": why})
        samples.append(sample)
    agent = ", ".join(dict.fromkeys(clients)) or "unknown client"
    header = Header(
        name=folder.name,
        kind="client",
        agent=agent,
        profile=", ".join(dict.fromkeys(str(run.manifest.get("profile")) for run in scored)),
        repeats=max(attempts.values(), default=1),
        tasks=tuple(attempts),
        started=scored[0].started if scored else "",
    )
    return header, samples
