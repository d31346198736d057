"""What a judge sees of a run: the question, the calls with their results, and the answer, all of limited length.

Never the checks or any score: a judge that knew them would only repeat them. The reference, what depends on what in it
and the right answer are shown where a paper's question needs them, and only there. Text that came from outside loses
its control characters and is cut in the middle, where it is longer than a share of the whole.
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.server.lab.judges.asks import Ask, Part
from m3bench.server.lab.judges.dependencies import dependencies
from m3bench.server.scorecard.trajectory import PlayedRun, played_run, result_text
from m3bench.server.store.records import CallRecord
from m3bench.tasks.answers.fields import right_lines
from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Reference, Task
from m3bench.tasks.trajectory import Call

MAX_ANSWER = 20_000
MAX_RESULTS = 80_000
"""Characters of all results and arguments together."""
MAX_PART, MIN_PART = 4_000, 200
"""Characters of one result, or of the arguments of one call."""
MAX_NAME = 400
"""Characters of what is said about one file."""
MAX_CALLS = 200
"""Calls shown; of more, the first and last half of this number."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture of the task, or of something that the run left."""

    name: str
    data: bytes

    @property
    def mime(self) -> str:
        """Its type, by its first bytes."""
        if self.data.startswith(b"\xff\xd8"):
            return "image/jpeg"
        return "image/webp" if self.data[8:12] == b"WEBP" else "image/png"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A piece of text with a title of ours: whatever the text says, it cannot pass for another section."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Material:
    """What there is to judge."""

    question: str
    wording: str
    calls: tuple[Section, ...]
    answer: str
    made: int
    """How many calls there were; of very many, not all are shown."""
    excluded: int = 0
    """Calls that are neither shown nor counted, because they failed through no fault of the agent."""
    pictures: tuple[Picture, ...] = ()
    reference: str = ""
    """The steps of the reference."""
    dependencies: str = ""
    """Which calls of the reference need which."""
    truth: str = ""
    """The right answer."""
    left: tuple[Picture, ...] = ()
    """What the run left, as pictures; only for questions that are answered by looking."""
    left_unseen: tuple[str, ...] = ()
    """What it left that cannot be shown, and why."""

    def sections(self, ask: Ask) -> tuple[Section, ...]:
        """What an ask shows."""
        parts: dict[Part, tuple[str, str]] = {
            "wording": ("exact request", self.wording),
            "reference": ("reference", self.reference),
            "dependencies": ("dependency analysis", self.dependencies),
            "truth": ("correct answer", self.truth),
        }
        request = (
            Section(title="request", text=self.question),
            *(Section(title=title, text=text) for title, text in (parts[part] for part in ask.shows) if text),
        )
        if ask.looks:
            return *request, Section(title="what the agent left", text=self._left())
        return *request, *(() if ask.answer_only else self.calls), Section(title="answer", text=self.answer)

    def _left(self) -> str:
        """Which picture shows what; names come from the agent and stay on their lines."""
        first = len(self.pictures) + 1
        shown = [f"picture {first + place}: {_quoted(one.name)}" for place, one in enumerate(self.left)]
        return "\n".join([*shown, *(f"not shown: {_quoted(line)}" for line in self.left_unseen)]) or "(nothing)"


def material(
    task: Task,
    records: Sequence[CallRecord],
    answer: str,
    pictures: Sequence[Picture] = (),
    *,
    reference: int = 0,
    plan: Plan | None = None,
) -> Material:
    """The material of a submitted run, with one of the task's references and its plan for questions that show them."""
    found = played_run(records, task.question)
    return Material(
        question=readable(task.question, MAX_ANSWER),
        wording=readable(task.wording, MAX_ANSWER),
        calls=tuple(_calls(found)),
        answer=readable(answer, MAX_ANSWER) or "(the agent submitted an empty answer)",
        made=len(found.calls),
        excluded=len(found.excluded),
        pictures=tuple(pictures),
        reference=readable(_steps(task.references[reference]), MAX_ANSWER),
        dependencies=dependencies(task.references[reference], plan) if plan is not None else "",
        truth=readable("\n".join(part for part in (task.answer, right_lines(task.fields)) if part), MAX_ANSWER),
    )


def readable(text: str, limit: int) -> str:
    """The text without control characters, the middle left out where it is too long."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
    return "".join(_shown(character) for character in text.replace("\r\n", "\n")).strip()


def _shown(character: str) -> str:
    """The character, unless it could hide or reorder text."""
    if character in "\n\t":
        return character
    return "\ufffd" if unicodedata.category(character)[0] == "C" or character in "\u2028\u2029" else character


def _steps(reference: Reference) -> str:
    """The calls of a reference by step, as the calls of a run are shown."""
    lines = []
    for number, step in enumerate(reference.steps, 1):
        lines.append(f"step {number} of {len(reference.steps)}:")
        for call in step:
            arguments = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
            lines.append(f"- tool: {json.dumps(call.tool)} arguments: {readable(arguments, MAX_PART)}")
    return "\n".join(lines)


def _calls(found: PlayedRun) -> Iterator[Section]:
    calls, count = found.trajectory.calls, len(found.calls)
    limit = max(MIN_PART, min(MAX_PART, MAX_RESULTS // (2 * max(1, min(count, MAX_CALLS)))))
    place = 0
    for number, step in enumerate(found.segmentation.steps, 1):
        for index in step:
            place += 1
            if MAX_CALLS // 2 < place <= count - MAX_CALLS // 2:
                continue
            record = found.calls[index]
            together = f"step {number}" + (f" of {len(step)} calls" if len(step) > 1 else "")
            yield Section(
                title=f"call {place} of {count}, {together}, outcome {record.outcome or 'none'}",
                text=_call(calls[place - 1], limit),
            )
            yield Section(title=f"result of call {place}", text=_result(record, limit))


def _quoted(text: str) -> str:
    return readable(json.dumps(text, ensure_ascii=False), MAX_NAME)


def _call(call: Call, limit: int) -> str:
    """Tool and arguments as JSON: a name or value with line breaks stays on its line."""
    tool, arguments = (json.dumps(part, ensure_ascii=False, sort_keys=True) for part in (call.tool, call.arguments))
    return f"tool: {readable(tool, MIN_PART)}\narguments: {readable(arguments, limit)}"


def _result(record: CallRecord, limit: int) -> str:
    if record.error is not None:
        return readable(str(record.error[1]), limit)
    others = [str(block.get("type")) for block in _blocks(record) if block.get("type") != "text"]
    text = readable(result_text(record), limit)
    return "\n".join([*([text] if text else []), *(f"[{kind} not shown]" for kind in others)]) or "(empty)"


def _blocks(record: CallRecord) -> list[dict[str, Any]]:
    blocks = record.result_json.get("content", ())
    return [block for block in blocks if isinstance(block, dict)]
