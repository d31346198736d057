"""A run as exporters write it: who played, what was asked, the calls step by step, what was answered.

Made from the record alone and, when it is at hand, the task. Calls that failed through no fault of the agent are told
too, each in a step of its own: a trajectory that is scored leaves them out, an episode does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from m3bench.proxy.names import INJECTED
from m3bench.server.lab.results.resultset import (
    HEADER,
    SAMPLES,
    Header,
    Sample,
    read_header,
    read_samples,
    task_set_of,
)
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scorecard.trajectory import played_run
from m3bench.server.store.contract import Store
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord, handed_in
from m3bench.tasks.json_types import JsonObject, JsonValue
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Task
from m3bench.tasks.trajectory import Trajectory

Block: TypeAlias = JsonObject
"""A part of a tool's result: a text, a picture, …"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class EpisodeStep:
    """Calls that were issued together."""

    calls: tuple[CallRecord, ...]
    evidence: str
    """Why the step begins here; empty for a call that does not count."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """A run with everything that exporters write of it."""

    run: RunRecord
    card: ScoreCard | None
    """None when the run was not scored."""
    task: Task | None
    """None when the set that the run was made with is not at hand."""
    steps: tuple[EpisodeStep, ...]
    trajectory: Trajectory
    """What is scored: the steps without the calls that do not count."""
    client: str
    """The name and version that the client gave."""
    revision: str
    header: Header | None
    """Of the result set the run belongs to, when it does."""
    sample: Sample | None = None
    """What that result set records of the run: tokens, cost, time."""
    folder: Path | None = None
    """The result set's, when the run belongs to one."""
    pictures: tuple[tuple[str, bytes], ...] = ()
    """Name and content of the pictures that were asked about, when the task is at hand."""

    @property
    def model(self) -> str | None:
        """The model that played, as Inspect names it; None where only a client is known."""
        return self.header.agent if self.header is not None and self.header.kind == "model" else None

    @property
    def provider(self) -> str:
        """Who serves the model: `unknown` where only a client is known, `m3bench` for a scripted baseline."""
        if self.model is not None:
            return self.model.partition("/")[0]
        return "m3bench" if self.header is not None and self.header.kind == "baseline" else "unknown"

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls in order of their steps."""
        return tuple(call for step in self.steps for call in step.calls)

    @property
    def agent(self) -> str:
        """Who played: a model or baseline, as its result set says, or the client."""
        return self.header.agent if self.header is not None else self.client or "unknown client"

    @property
    def question(self) -> str:
        """What was asked, with the paths of the pictures."""
        if self.task is None:
            return f"Task {clean_text(self.run.task)}"
        return "\n".join([self.task.question, *(f"./{MEDIA}/{name}" for name in self.task.pictures)])

    @property
    def answer(self) -> str | None:
        """What was submitted."""
        return None if self.run.answer is None else clean_text(handed_in(self.run))

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """The numbers of the score card, with the paper's beside the headline's; none when the run is not scored."""
        return self.card.numbers if self.card is not None else {}

    @property
    def success(self) -> bool | None:
        """Whether all checks passed; None when there are none, or the run is not scored."""
        return self.card.success if self.card is not None else None


def episode(run: RunRecord, store: Store, library: Library) -> Episode:
    """A run with everything that exporters write of it."""
    known = task_set_of(run.manifest).get("hash") == library.hash
    task = library.tasks.get(run.task) if known else None
    recorded = store.calls(run.id)
    calls = [call for call in recorded if call.tool not in OWN_TOOLS]
    card = card_of(run)
    found = played_run(calls, task.question if task is not None else "", card.client if card else None)
    steps = [
        EpisodeStep(calls=tuple(found.calls[index].record for index in step), evidence=evidence)
        for step, evidence in zip(found.segmentation.steps, found.segmentation.evidence, strict=True)
    ]
    steps += [EpisodeStep(calls=(call,), evidence="") for call in found.excluded]
    folder = store.folder.parent
    header = read_header(folder) if (folder / HEADER).exists() else None
    samples = _samples(folder, (folder / SAMPLES).stat().st_mtime_ns) if (folder / SAMPLES).exists() else {}
    last = recorded[-1] if recorded else None
    return Episode(
        run=run,
        card=card,
        task=task,
        steps=tuple(sorted(steps, key=lambda step: step.calls[0].id)),
        trajectory=found.trajectory,
        client=clean_text(last.client) if last is not None else "",
        revision=last.revision if last is not None else "",
        header=header,
        sample=samples.get(run.id),
        folder=folder if header is not None else None,
        pictures=tuple((name, library.picture(name)) for name in task.pictures) if task is not None else (),
    )


@lru_cache(maxsize=4)
def _samples(folder: Path, changed: int) -> Mapping[str, Sample]:
    """What a result set records of its runs; read once for all of them, unless it changed."""
    return {sample.run: sample for sample in read_samples(folder).values() if sample.run is not None}


def nanoseconds(wall: str) -> int:
    """A recorded time of day in nanoseconds since 1970."""
    return (datetime.fromisoformat(wall) - _EPOCH) // timedelta(microseconds=1) * 1000


def began(call: CallRecord) -> int:
    """When a call arrived, in nanoseconds since 1970."""
    return nanoseconds(call.wall)


def ended(call: CallRecord) -> int:
    """When its answer left, as far as that is known, in nanoseconds since 1970."""
    last = call.sent_ns or call.returned_ns or call.received_ns
    return began(call) + max(0, last - call.received_ns)


def shown_name(call: CallRecord) -> str:
    """The tool's name as the client sent it."""
    name = call.params.get("name")
    return clean_text(name if isinstance(name, str) and name else call.tool)


def arguments(call: CallRecord) -> JsonObject:
    """The arguments as the agent chose them, without what clients add."""
    return {clean_text(name): clean(value) for name, value in call.arguments.items() if name not in INJECTED}


def blocks(call: CallRecord) -> list[Block]:
    """The content of a result; the message of an error that took its place."""
    if call.error is not None:
        return [{"type": "text", "text": clean_text(str(call.error[1]))}]
    content = call.result_json.get("content")
    found = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return [{clean_text(name): clean(value) for name, value in block.items()} for block in found]


def text(call: CallRecord) -> str:
    """The texts of a result or error."""
    return "\n".join(str(block.get("text", "")) for block in blocks(call) if block.get("type") == "text")


def clean(value: JsonValue) -> JsonValue:
    """The value with texts that UTF-8 can encode: a client may send half of a surrogate pair."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(name): clean(item) for name, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, Sequence) else value


def clean_text(text: str) -> str:
    """The text with a question mark for every lone surrogate."""
    return text.encode(errors="replace").decode()
