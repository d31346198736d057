"""Runs as ATIF trajectories: the Agent Trajectory Interchange Format, version 1.7.

The models below are the part of the format that a run needs, with the rules of its validator: numbered steps, results
that name a call of their own step, fields that only an agent's step may have. Where we drove the model, there is a step
for each of its turns, with its words, its reasoning where that was given, its tokens and their cost, and the calls that
followed; what it was told are steps, too. Of other clients a server sees only calls: their words between calls are
absent, not made up. Pictures are content; where they lie is up to whoever writes the trajectory.

What a model was told and said comes from the log that Inspect keeps of a headless run. Without Inspect, or without
the log, there is no conversation.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from m3bench.server.lab.interchange.episode import (
    Block,
    Episode,
    arguments,
    blocks,
    clean,
    clean_text,
    shown_name,
)
from m3bench.server.lab.results.documents import plain
from m3bench.server.lab.results.resultset import LOGS, Sample
from m3bench.server.scorecard.pages.app_view import RUN
from m3bench.server.store.records import CallRecord
from m3bench.tasks.task import picture_type

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, ModelUsage


_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class ShownImage:
    """A picture in a message."""

    mime: str
    data: bytes


Part = str | ShownImage
"""A part of a message."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """A message to the model."""

    source: Literal["system", "user"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class AskedCall:
    """A call that the model asked for."""

    id: str
    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A reply of the model."""

    ended: datetime
    text: str
    reasoning: str
    calls: tuple[AskedCall, ...]
    input_tokens: int | None = None
    """All that it read, from a cache too; None when the provider does not say."""
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    """US dollars; None when no price is known."""


def conversation(folder: Path, sample: Sample) -> tuple[Told | Turn, ...]:
    """What was said in a sample of a result set, in order; nothing when that is not known."""
    try:
        from inspect_ai.log import read_eval_log_sample
    except ImportError:
        return ()
    id = sample.task if sample.repeat == 1 else f"{sample.task}#{sample.repeat}"
    for log in sorted((folder / LOGS).glob("*.eval"), reverse=True):
        if id not in _ids(log, log.stat().st_mtime_ns):
            continue
        found = read_eval_log_sample(str(log), id, resolve_attachments="full")
        if found.store.get(RUN) == sample.run:
            return tuple(_items(found))
    return ()


@lru_cache(maxsize=16)
def _ids(log: Path, changed: int) -> frozenset[str]:
    """The samples of a log; read once for all of them, unless it changed."""
    from inspect_ai.log import read_eval_log_sample_summaries

    return frozenset(str(summary.id) for summary in read_eval_log_sample_summaries(str(log)))


def _items(sample: "EvalSample") -> Iterator[Told | Turn]:
    seen: set[str] = set()
    for event in sample.events:
        if event.event != "model" or event.error is not None or not event.output.choices:
            continue
        for message in event.input:
            name = message.id or f"{message.role} {message.text}"
            if name not in seen and (message.role == "system" or message.role == "user"):
                yield Told(source=message.role, parts=tuple(_parts(message)))
            seen.add(name)
        yield _turn_of(event)


def _turn_of(event: "ModelEvent") -> Turn:
    message, usage = event.output.message, event.output.usage
    said = [] if isinstance(message.content, str) else message.content
    reasoning = [part.summary or part.reasoning for part in said if part.type == "reasoning"]
    calls = message.tool_calls or ()
    return Turn(
        ended=event.completed or event.timestamp,
        text=message.text,
        reasoning="\n".join(filter(None, reasoning)),
        calls=tuple(AskedCall(id=call.id, tool=call.function, arguments=dict(call.arguments)) for call in calls),
        input_tokens=None if usage is None else _read_tokens(usage),
        output_tokens=None if usage is None else usage.output_tokens,
        cached_tokens=None if usage is None else usage.input_tokens_cache_read,
        cost=None if usage is None else usage.total_cost,
    )


def _read_tokens(usage: "ModelUsage") -> int:
    """Inspect counts those that a provider had in its cache apart."""
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _parts(message: "ChatMessage") -> Iterator[Part]:
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if part.type == "text":
            yield part.text
        elif part.type == "image" and (image := shown_image(part.image)) is not None:
            yield image
        elif part.type != "reasoning":
            yield f"[{part.type}]"


def shown_image(url: str) -> ShownImage | None:
    """The picture of a data URL; None when it is none."""
    found = _DATA_URL.fullmatch(url)
    try:
        return None if found is None else ShownImage(mime=found[1], data=b64decode(found[2]))
    except (Error, ValueError):
        return None


SCHEMA = "ATIF-v1.7"

PicturePlace: TypeAlias = Callable[[str, bytes], str]
"""Says where a picture of a type lies."""

_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""Types of pictures that the format knows."""


def data_url(mime: str, data: bytes) -> str:
    """A picture as a URL that holds it."""
    return f"data:{mime};base64,{b64encode(data).decode()}"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AtifAgent(_Model):
    """The agent that acted."""

    name: str
    version: str
    model_name: str | None = None
    extra: dict[str, object] | None = None


class ToolCall(_Model):
    """A call that an agent issued."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, object]
    extra: dict[str, object] | None = None


class ImageSource(_Model):
    """Where a picture is."""

    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    path: str
    """A file, relative to the trajectory's, or a URL."""


class ContentPart(_Model):
    """A part of a message or result that is not text alone."""

    type: Literal["text", "image"]
    text: str | None = None
    source: ImageSource | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.type == "text", self.type == "image") != (self.text is not None, self.source is not None):
            raise ValueError("a text has text, and an image a source")
        return self


Content: TypeAlias = str | tuple[ContentPart, ...]
"""Text alone, or parts."""


class ObservationResult(_Model):
    """The result of a call."""

    source_call_id: str | None = None
    content: Content | None = None
    extra: dict[str, object] | None = None


class Observation(_Model):
    """The results of a step."""

    results: tuple[ObservationResult, ...]


class StepMetrics(_Model):
    """What a turn of a model took."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


class AtifStep(_Model):
    """A message, or calls with their results."""

    step_id: int = Field(ge=1)
    timestamp: datetime | None = None
    source: Literal["system", "user", "agent"]
    message: Content
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: StepMetrics | None = None
    llm_call_count: int | None = Field(default=None, ge=0)
    extra: dict[str, object] | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        for name in ("tool_calls", "reasoning_content", "metrics"):
            if self.source != "agent" and getattr(self, name) is not None:
                raise ValueError(f"only an agent's step has {name}")
        if self.llm_call_count == 0 and not (self.metrics is None and self.reasoning_content is None):
            raise ValueError("a step without a model has neither metrics nor reasoning_content")
        known = {call.tool_call_id for call in self.tool_calls or ()}
        results = self.observation.results if self.observation is not None else ()
        for result in results:
            if result.source_call_id is not None and result.source_call_id not in known:
                raise ValueError(f"source_call_id {result.source_call_id!r} is not a call of this step")
        return self


class FinalMetrics(_Model):
    """Totals of the whole run."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int
    extra: dict[str, object] | None = None


class AtifTrajectory(_Model):
    """One run."""

    schema_version: Literal["ATIF-v1.7"] = "ATIF-v1.7"
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: AtifAgent
    steps: tuple[AtifStep, ...] = Field(min_length=1)
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    extra: dict[str, object] | None = None

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        for number, step in enumerate(self.steps, 1):
            if step.step_id != number:
                raise ValueError(f"step {number} has the step_id {step.step_id}")
        return self

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes; what is absent is left out."""
        return self.model_dump(mode="json", exclude_none=True)


def atif(story: Episode, place: PicturePlace = data_url) -> AtifTrajectory:
    """A run as a trajectory.

    Args:
        story: The run.
        place: Says where a picture lies, by its type and content; in the trajectory itself when left out.
    """
    said: tuple[Told | Turn, ...] = ()
    if story.model is not None and story.folder is not None and story.sample is not None:
        said = conversation(story.folder, story.sample)
    steps = tuple(_driven(story, said, place) if said else _steps(story, place))
    name, _, version = story.client.rpartition(" ")
    usage = story.sample.usage if story.sample is not None and story.model is not None else None
    score: dict[str, object] | None = None
    if story.card is not None:
        score = {"metrics": dict(story.metrics), "success": story.success}
    return AtifTrajectory(
        session_id=story.run.id,
        trajectory_id=story.run.id,
        agent=AtifAgent(
            name=(name if story.model is None else story.agent) or version or "unknown client",
            version=version if name else "unknown",
            model_name=story.model,
            extra={"client": story.client, "protocol_revision": story.revision},
        ),
        steps=steps,
        final_metrics=FinalMetrics(
            total_prompt_tokens=None if usage is None else usage.input_tokens,
            total_completion_tokens=None if usage is None else usage.output_tokens,
            total_cost_usd=None if usage is None else usage.cost,
            total_steps=len(steps),
            extra=score,
        ),
        extra={"task": story.run.task, "state": story.run.state, "manifest": story.run.manifest},
    )


def _steps(story: Episode, place: PicturePlace) -> Iterator[AtifStep]:
    """The steps of a run of which the calls alone are known."""
    run = story.run
    shown = [ShownImage(mime=picture_type(name), data=data) for name, data in story.pictures]
    question = _content([story.question, *shown], place)
    yield AtifStep(step_id=1, source="user", message=question, timestamp=_time(run.started))
    for number, step in enumerate(story.steps, 2):
        yield AtifStep(
            step_id=number,
            source="agent",
            message="",
            timestamp=_time(step.calls[0].wall),
            tool_calls=tuple(map(_call, step.calls)),
            observation=_observation(step.calls, place),
            extra={"evidence": step.evidence or "not counted"},
        )
    if story.answer is not None:
        last = len(story.steps) + 2
        yield AtifStep(step_id=last, source="agent", message=story.answer, timestamp=_time(run.ended))


def _driven(story: Episode, said: Sequence[Told | Turn], place: PicturePlace) -> Iterator[AtifStep]:
    """The steps of a run in which we drove the model: every message, and with each turn the calls that followed."""
    turns = [item for item in said if isinstance(item, Turn)]
    followed = _followed(turns, story.calls)
    for number, item in enumerate(said, 1):
        if isinstance(item, Told):
            yield AtifStep(step_id=number, source=item.source, message=_content(item.parts, place))
        else:
            yield _turn(number, item, followed[id(item)], place)
    if story.answer is not None and (not turns or clean_text(turns[-1].text).strip() != story.answer.strip()):
        # Nobody said this in words: it was taken from the arguments of a call, or from an earlier turn.
        yield AtifStep(
            step_id=len(said) + 1,
            source="agent",
            message=story.answer,
            timestamp=_time(story.run.ended),
            llm_call_count=0,
        )


def _followed(turns: Sequence[Turn], calls: Sequence[CallRecord]) -> dict[int, list[CallRecord]]:
    """The calls that arrived after each turn and before the next."""
    found: dict[int, list[CallRecord]] = {id(turn): [] for turn in turns}
    for call in calls:
        arrived = datetime.fromisoformat(call.wall)
        before = [turn for turn in turns if turn.ended <= arrived] or turns[:1]
        if before:
            found[id(before[-1])].append(call)
    return found


def _turn(number: int, turn: Turn, calls: Sequence[CallRecord], place: PicturePlace) -> AtifStep:
    # What never became a call of the record: handing in, and what the solver could not make a call of.
    recorded = Counter(shown_name(call) for call in calls)
    asked = []
    for call in turn.calls:
        if recorded[call.tool] > 0:
            recorded[call.tool] -= 1
        else:
            arguments = {clean_text(name): clean(plain(value)) for name, value in call.arguments.items()}
            asked.append(
                ToolCall(tool_call_id=clean_text(call.id), function_name=clean_text(call.tool), arguments={**arguments})
            )
    made = (*map(_call, calls), *asked)
    known = (turn.input_tokens, turn.output_tokens, turn.cached_tokens, turn.cost)
    return AtifStep(
        step_id=number,
        source="agent",
        message=clean_text(turn.text),
        reasoning_content=clean_text(turn.reasoning) or None,
        timestamp=turn.ended,
        tool_calls=made or None,
        observation=_observation(calls, place) if calls else None,
        metrics=None
        if known == (None,) * 4
        else StepMetrics(
            prompt_tokens=turn.input_tokens,
            completion_tokens=turn.output_tokens,
            cached_tokens=turn.cached_tokens,
            cost_usd=turn.cost,
        ),
        llm_call_count=1,
    )


def _call(call: CallRecord) -> ToolCall:
    return ToolCall(
        tool_call_id=str(call.id),
        function_name=shown_name(call),
        arguments={**arguments(call)},
        extra={"tool": clean_text(call.tool)},
    )


def _observation(calls: Sequence[CallRecord], place: PicturePlace) -> Observation:
    return Observation(
        results=tuple(
            ObservationResult(
                source_call_id=str(call.id),
                content=_content([_part(block) for block in blocks(call)], place),
                extra={"outcome": call.outcome, "owner": call.owner},
            )
            for call in calls
        )
    )


def _part(block: Block) -> Part:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    kind, data = str(block.get("mimeType", "unknown type")), str(block.get("data", ""))
    image = shown_image(f"data:{kind};base64,{data}") if block.get("type") == "image" else None
    return image or f"[{block.get('type')}: {kind}, {len(data)} characters]"


def _content(parts: Sequence[Part], place: PicturePlace) -> Content:
    """Parts as the format has them: text alone is one text."""
    told = [part if isinstance(part, str) or part.mime in _PICTURES else f"[image: {part.mime}]" for part in parts]
    if all(isinstance(part, str) for part in told):
        return "\n".join(clean_text(part) for part in told if isinstance(part, str))
    return tuple(
        ContentPart(type="text", text=clean_text(part))
        if isinstance(part, str)
        else ContentPart.model_validate(
            {"type": "image", "source": {"media_type": part.mime, "path": place(part.mime, part.data)}}
        )
        for part in told
    )


def _time(wall: str | None) -> datetime | None:
    return datetime.fromisoformat(wall) if wall else None
