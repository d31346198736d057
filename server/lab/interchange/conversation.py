"""What a model was told and what it said, where we drove it: read from Inspect's log beside a result set.

A server sees only calls. The log that Inspect keeps of a headless run has the rest: the messages, the model's reasoning
where its provider gives it, and the tokens and the cost of every turn. Without Inspect, or without the log, there is no
conversation. Whoever writes it together with the record of calls is above.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from m3bench.server.lab.results.resultset import LOGS, Sample
from m3bench.server.scorecard.app import RUN

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
        yield _turn(event)


def _turn(event: "ModelEvent") -> Turn:
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
