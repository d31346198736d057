"""An Inspect eval log of recorded runs; imports Inspect, so `inspect_log` imports it only when a log is written.

Each run is a sample: the question with its pictures, the calls as an assistant's messages, their results with how long
they took, the answer, and the metrics of its score card as scores. The log's means are those of `m3bench report`, to
the digit. What a server cannot see, a model's words between calls, is absent.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError

from m3bench.server.lab.interchange.episode import (
    Episode,
    arguments,
    began,
    blocks,
    clean_text,
    ended,
    nanoseconds,
    shown_name,
    text,
)
from m3bench.server.lab.results.resultset import Sample, task_set_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.aggregate import overall
from m3bench.server.scoring.statistics.estimates import mean_of
from m3bench.server.store.records import CallRecord
from m3bench.tasks.task import picture_type

SCORER = "m3bench"


def write_eval(stories: Sequence[Episode], path: Path, *, packed: bool) -> None:
    """Write the log of some runs, in Inspect's packed form or as JSON."""
    write_eval_log(eval_log(stories), str(path.absolute()), format="eval" if packed else "json")


def eval_log(stories: Sequence[Episode]) -> EvalLog:
    """The log of some runs, oldest first."""
    stories = sorted(stories, key=lambda story: (story.run.started, story.run.id))
    first = stories[0]
    key = sha256("".join(story.run.id for story in stories).encode()).hexdigest()
    attempts: Counter[str] = Counter()
    samples = []
    for story in stories:
        attempts[story.run.task] += 1
        samples.append(_sample(story, attempts[story.run.task]))
    tasks = task_set_of(first.run.manifest)
    name = str(tasks["name"]) if "name" in tasks else None
    agents = ", ".join(dict.fromkeys(story.agent for story in stories))
    return EvalLog(
        status="success",
        eval=EvalSpec(
            eval_id=key[:22],
            run_id=key[22:44],
            task_id=key[42:64],
            created=first.run.started,
            task=f"m3bench/{name or 'tasks'}",
            task_version=str(tasks.get("version", "0")),
            dataset=EvalDataset(name=name, samples=len(attempts), sample_ids=sorted(attempts)),
            model=agents,
            config=EvalConfig(epochs=max(attempts.values())),
            packages={"m3bench": version("m3bench")},
            metadata={"manifest": first.run.manifest},
        ),
        results=EvalResults(
            total_samples=len(samples), completed_samples=len(samples), scores=_averages(stories, samples)
        ),
        stats=EvalStats(started_at=first.run.started, completed_at=stories[-1].run.ended or stories[-1].run.started),
        samples=samples,
    )


def _sample(story: Episode, attempt: int) -> EvalSample:
    run = story.run
    reply = ChatMessageAssistant(id=f"{run.id}-answer", content=story.answer or "", model=story.agent)
    return EvalSample(
        id=run.task,
        epoch=attempt,
        uuid=run.id,
        input=story.question,
        target="",
        messages=_messages(story),
        output=ModelOutput(model=story.agent, choices=[ChatCompletionChoice(message=reply, stop_reason="stop")]),
        scores=_scores(story),
        metadata={"run": run.id, "state": run.state, "client": story.client, "manifest": run.manifest},
        started_at=run.started,
        completed_at=run.ended,
        total_time=max(0, nanoseconds(run.ended) - nanoseconds(run.started)) / 1e9 if run.ended else None,
        model_usage={story.model: _usage(story.sample)} if story.model is not None and story.sample is not None else {},
    )


def _usage(sample: Sample) -> ModelUsage:
    read, written = sample.usage.input_tokens, sample.usage.output_tokens
    return ModelUsage(
        input_tokens=read, output_tokens=written, total_tokens=read + written, total_cost=sample.usage.cost
    )


def _messages(story: Episode) -> list[ChatMessage]:
    run = story.run
    asked: list[Content] = [ContentText(text=story.question)]
    for name, picture in story.pictures:
        asked.append(ContentImage(image=f"data:{picture_type(name)};base64,{b64encode(picture).decode()}"))
    messages: list[ChatMessage] = [ChatMessageUser(id=f"{run.id}-0", content=asked)]
    for number, step in enumerate(story.steps, 1):
        calls = [ToolCall(id=str(call.id), function=shown_name(call), arguments=arguments(call)) for call in step.calls]
        messages.append(ChatMessageAssistant(id=f"{run.id}-{number}", content="", tool_calls=calls, model=story.agent))
        messages += [_result(call) for call in step.calls]
    if story.answer is not None:
        messages.append(ChatMessageAssistant(id=f"{run.id}-answer", content=story.answer, model=story.agent))
    return messages


def _result(call: CallRecord) -> ChatMessage:
    parts: list[Content] = []
    for block in blocks(call):
        if block.get("type") == "image":
            parts.append(
                ContentImage(image=f"data:{block.get('mimeType', 'image/png')};base64,{block.get('data', '')}")
            )
        else:
            parts.append(ContentText(text=str(block.get("text", f"[{block.get('type')}]"))))
    failed = call.outcome != "success"
    return ChatMessageTool(
        id=f"call-{call.id}",
        tool_call_id=str(call.id),
        function=shown_name(call),
        content=parts,
        error=ToolCallError("unknown", text(call) or str(call.outcome)) if failed else None,
        metadata={
            "tool": clean_text(call.tool),
            "outcome": call.outcome,
            "owner": call.owner,
            "seconds": (ended(call) - began(call)) / 1e9,
        },
    )


def _scores(story: Episode) -> dict[str, Score] | None:
    if story.card is None:
        return None
    values: dict[str, float | None] = {**story.metrics, "success": story.success}
    return {name: Score(value=float(value), answer=story.answer) for name, value in values.items() if value is not None}


def _averages(stories: Sequence[Episode], samples: Sequence[EvalSample]) -> list[EvalScore]:
    """Each number over all runs as `m3bench report` has it: every task counts the same, repeats are averaged first."""

    # In the order of the set's tasks, as a result set is read: sums in another order differ in their last digit.
    header = stories[0].header
    order = list(dict.fromkeys([*(header.tasks if header is not None else ()), *(story.run.task for story in stories)]))
    known = sorted(stories, key=lambda story: order.index(story.run.task))
    cards = [(story.run.task, story.card) for story in known if story.card is not None and not story.card.void]
    numbers: dict[str, float | None] = {}
    if cards:
        rows = [replace(card.row, task=task) for task, card in cards]
        paper = [replace(card.paper_row, task=task) for task, card in cards]
        numbers = overall(rows) | {f"m3_{name}": value for name, value in overall(paper).items()}
        numbers["success"] = _solved(cards)
    names = dict.fromkeys(name for sample in samples for name in sample.scores or {})
    found = []
    for name in names:
        count = sum(bool(sample.scores and name in sample.scores) for sample in samples)
        value = numbers.get(name)
        if value is None:
            continue
        found.append(
            EvalScore(
                name=name, scorer=SCORER, scored_samples=count, unscored_samples=len(samples) - count,
                metrics={"mean": EvalMetric(name="mean", value=value)},
            )
        )  # fmt: skip
    return found


def _solved(cards: Sequence[tuple[str, ScoreCard]]) -> float | None:
    tries: dict[str, list[bool]] = {}
    for task, card in cards:
        if card.success is not None:
            tries.setdefault(task, []).append(card.success)
    return mean_of([sum(solved) / len(solved) for solved in tries.values()])
