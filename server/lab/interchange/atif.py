"""Runs as ATIF trajectories: the Agent Trajectory Interchange Format, version 1.7.

The models below are the part of the format that a run needs, with the rules of its validator: numbered steps, results
that name a call of their own step, fields that only an agent's step may have. What a server cannot see, the agent's
words between calls, is absent, not made up; model and tokens are named where a result set knows them.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from m3bench.server.lab.interchange.episode import (
    Block,
    Episode,
    EpisodeStep,
    arguments,
    blocks,
    clean_text,
    shown_name,
)
from m3bench.server.store.records import CallRecord

SCHEMA = "ATIF-v1.7"


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


class ObservationResult(_Model):
    """The result of a call."""

    source_call_id: str | None = None
    content: str | None = None
    extra: dict[str, object] | None = None


class Observation(_Model):
    """The results of a step."""

    results: tuple[ObservationResult, ...]


class AtifStep(_Model):
    """A message, or calls with their results."""

    step_id: int = Field(ge=1)
    timestamp: datetime | None = None
    source: Literal["system", "user", "agent"]
    message: str
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    extra: dict[str, object] | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.source != "agent" and self.tool_calls is not None:
            raise ValueError("only an agent's step has tool_calls")
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


def atif(story: Episode) -> AtifTrajectory:
    """A run as a trajectory."""
    steps = tuple(_steps(story))
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


def _steps(story: Episode) -> Iterator[AtifStep]:
    run = story.run
    yield AtifStep(step_id=1, source="user", message=story.question, timestamp=_time(run.started))
    for number, step in enumerate(story.steps, 2):
        yield _step(number, step)
    if story.answer is not None:
        last = len(story.steps) + 2
        yield AtifStep(step_id=last, source="agent", message=story.answer, timestamp=_time(run.ended))


def _step(number: int, step: EpisodeStep) -> AtifStep:
    return AtifStep(
        step_id=number,
        source="agent",
        message="",
        timestamp=_time(step.calls[0].wall),
        tool_calls=tuple(_call(call) for call in step.calls),
        observation=Observation(results=tuple(_result(call) for call in step.calls)),
        extra={"evidence": step.evidence or "not counted"},
    )


def _call(call: CallRecord) -> ToolCall:
    return ToolCall(
        tool_call_id=str(call.id),
        function_name=shown_name(call),
        arguments={**arguments(call)},
        extra={"tool": clean_text(call.tool)},
    )


def _result(call: CallRecord) -> ObservationResult:
    return ObservationResult(
        source_call_id=str(call.id),
        content="\n".join(map(_text, blocks(call))),
        extra={"outcome": call.outcome, "owner": call.owner},
    )


def _text(block: Block) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    return (
        f"[{block.get('type')}: {block.get('mimeType', 'unknown type')}, {len(str(block.get('data', '')))} characters]"
    )


def _time(wall: str | None) -> datetime | None:
    return datetime.fromisoformat(wall) if wall else None
