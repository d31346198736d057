"""The document of a run: everything its page shows, as plain JSON, and the page itself.

Built from the record alone, with the task beside it when it is at hand. What came from outside is bounded here, so
that five megabytes of result or three thousand calls make a page that still opens.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ActualCall, ReferenceCall, ScoreCard
from m3bench.server.scorecard.pages.legend import LegendEntry, legend
from m3bench.server.scorecard.pages.page import page
from m3bench.server.scorecard.pages.plain import Excerpt, cut, excerpt, shown, written
from m3bench.server.scorecard.perception import HEARING_WORDS, SIGHT_WORDS
from m3bench.server.scorecard.trajectory import PlayedRun, played_run
from m3bench.server.store.capability import known_words
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord, handed_in
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task, picture_type

SCHEMA = 1
MAX_PICTURE_BYTES = 1_500_000
MAX_ANSWER = 20_000
EXCERPTS = 4_000_000
"""Characters of arguments and results in one page, more or less."""

SCRIPTS = ("card.js", "alignment.js", "calls.js", "run.js")
STYLES = ("card.css", "site.css")


@dataclass(frozen=True, kw_only=True)
class TaskShown:
    """What the client was shown: the task and its pictures."""

    task: Task
    pictures: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, library: Library, id: str) -> "TaskShown":
        """A task of a set."""
        task = library.task(id)
        return cls(task=task, pictures=tuple((name, library.picture(name)) for name in task.pictures))

    @classmethod
    def of_run(cls, run: RunRecord, library: Library) -> "TaskShown | None":
        """The task of a run, when it was made with this set."""
        made = run.manifest.get("tasks") or {}
        return cls.of(library, run.task) if run.task in library.tasks and made.get("hash") == library.hash else None


class RunFacts(TypedDict):
    """What is known of a run as a whole."""

    id: str
    task: str
    state: str
    mode: str
    started: str
    ended: str | None
    seal: str | None
    seconds: float | None
    first_call_seconds: float | None
    client: str
    revision: str


class PictureShown(TypedDict):
    """A picture of a task; without an address when it is too large, or no picture."""

    name: str
    bytes: int
    url: str | None


class TaskFacts(TypedDict):
    """What the client was shown of a task, and how many references there are."""

    id: str
    family: str
    difficulty: str
    question: str
    wording: str
    references: int
    fields: list[str]
    pictures: list[PictureShown]


class CallShown(TypedDict):
    """A recorded call; times are in nanoseconds since the first one came."""

    number: int
    tool: str
    outcome: str
    owner: str | None
    wall: str
    received_ns: int
    returned_ns: int | None
    step: int | None
    begins: bool
    evidence: str | None
    open: bool
    actual: int | None
    arguments: Excerpt
    result: Excerpt


class RunDocument(TypedDict):
    """Everything that the page of a run shows."""

    schema: int
    kind: str
    run: RunFacts
    task: TaskFacts | None
    answer: Excerpt | None
    legend: list[LegendEntry]
    card: JsonObject | None
    client_can: str
    calls: list[CallShown]
    manifest: JsonObject


def run_page(document: RunDocument, links: Mapping[str, object] | None = None) -> str:
    """The page of a run's document.

    Args:
        document: What there is to show.
        links: To the pages around it, where there are any.
    """
    whole: Mapping[str, object] = {**document, **({} if links is None else {"links": links})}
    return page(f"{document['run']['task']} · m3bench", whole, SCRIPTS, styles=STYLES)


def run_document(
    run: RunRecord, records: Sequence[CallRecord], at_hand: TaskShown | None, *, excerpts: int = EXCERPTS
) -> RunDocument:
    """What there is to show of a run.

    Args:
        run: The run.
        records: Its calls.
        at_hand: Its task, when the set that it is from is known here.
        excerpts: Characters of arguments and results in all, more or less.
    """
    calls = [record for record in records if record.tool not in OWN_TOOLS]
    card = card_of(run)
    found = played_run(calls, at_hand.task.question if at_hand else "", card.client if card else None)
    return {
        "schema": SCHEMA,
        "kind": "run",
        "run": {
            "id": run.id,
            "task": cut(run.task, 200),
            "state": run.state,
            "mode": run.mode,
            "started": run.started,
            "ended": run.ended,
            "seal": run.seal,
            "seconds": _seconds(run.started, run.ended),
            "first_call_seconds": _seconds(run.started, calls[0].wall) if calls else None,
            "client": cut(records[0].client, 200) if records else "",
            "revision": records[0].revision if records else "",
        },
        "task": task_part(at_hand) if at_hand else None,
        "answer": None if run.answer is None else excerpt(handed_in(run), MAX_ANSWER),
        "legend": legend("effect" if card is None else card.scoring_profile),
        "card": None if card is None else bounded(card),
        "client_can": _client_can(card) if card is not None else "",
        "calls": _calls(calls, found, card, excerpts),
        "manifest": shown(run.manifest, text=200),
    }


def bounded(card: ScoreCard) -> JsonObject:
    """A score card as a page shows it: values from outside are bounded, the numbers are as they were."""
    alignment = card.alignment
    calls = len(alignment.actual_calls)
    text = max(120, min(2000, 1_000_000 // max(1, calls)))
    items = max(5, min(200, 20_000 // max(1, calls)))

    def steps(given: Sequence[Sequence[ReferenceCall | ActualCall]]) -> list[list[JsonObject]]:
        return [[{**call.to_json(), **_bounded_call(call, text, items)} for call in step] for step in given]

    matches = [
        {**match.to_json(), "differences": shown([difference.to_json() for difference in match.differences], text=text)}
        for match in alignment.matches
    ]
    return {
        **card.to_json(),
        "checks": shown([check.to_json() for check in card.checks]),
        "client": None if card.client is None else shown(card.client.to_json(), text=200),
        "alignment": {
            **alignment.to_json(),
            "reference_steps": steps(alignment.reference_steps),
            "actual_steps": steps(alignment.actual_steps),
            "matches": matches,
        },
    }


def _bounded_call(call: ReferenceCall | ActualCall, text: int, items: int) -> JsonObject:
    return {"tool": cut(call.tool, 200), "arguments": shown(call.arguments, text=text, items=items)}


def _client_can(card: ScoreCard) -> str:
    """What is known of the client and of what its model saw, in words."""
    client = card.client
    known = "" if client is None else known_words(client.name, client.capabilities, client.tools)
    seen = SIGHT_WORDS[card.sight] if card.sight is not None else ""
    heard = HEARING_WORDS[card.hearing] if card.hearing is not None else ""
    return ". ".join(filter(None, (known, seen, heard)))


def task_part(at_hand: TaskShown) -> TaskFacts:
    """What there is to show of a task: what the client was shown, and how many references there are."""
    task = at_hand.task
    return {
        "id": task.id,
        "family": task.family,
        "difficulty": task.difficulty,
        "question": task.question,
        "wording": task.wording,
        "references": len(task.references),
        "fields": [field.line for field in task.fields],
        "pictures": [_picture(name, data) for name, data in at_hand.pictures],
    }


def _picture(name: str, data: bytes) -> PictureShown:
    kind = picture_type(name)
    fits = kind.startswith("image/") and len(data) <= MAX_PICTURE_BYTES
    url = f"data:{kind};base64,{b64encode(data).decode()}" if fits else None
    return {"name": name, "bytes": len(data), "url": url}


def _calls(records: Sequence[CallRecord], found: PlayedRun, card: ScoreCard | None, excerpts: int) -> list[CallShown]:
    if not records:
        return []
    limit = max(300, min(20_000, excerpts // (2 * len(records))))
    zero = records[0].received_ns
    counted = {call.record.id: index for index, call in enumerate(found.calls)}
    step = {index: number for number, indices in enumerate(found.segmentation.steps, 1) for index in indices}
    place = {index: at for at, index in enumerate(found.order)} if _same_steps(found, card) else {}
    rows: list[CallShown] = []
    for number, record in enumerate(records, 1):
        index = counted.get(record.id)
        decision = None if index is None else found.segmentation.decisions[index]
        ended = record.sent_ns or record.returned_ns or None
        rows.append(
            {
                "number": number,
                "tool": cut(record.tool, 200),
                "outcome": record.outcome or "under way",
                "owner": record.owner,
                "wall": record.wall,
                "received_ns": record.received_ns - zero,
                "returned_ns": None if ended is None else ended - zero,
                "step": None if index is None else step[index],
                "begins": decision is not None and (decision.begins or decision.evidence == "first"),
                "evidence": None if decision is None else decision.evidence,
                "open": decision is not None and decision.open,
                "actual": None if index is None else place.get(index),
                "arguments": excerpt(written(record.arguments), limit),
                "result": excerpt(_result(record), limit),
            }
        )
    return rows


def _same_steps(found: PlayedRun, card: ScoreCard | None) -> bool:
    """Whether the calls fall into steps as they did when the card was made; they do when the task is at hand."""
    if card is None:
        return False
    tools = [[found.calls[index].tool for index in step] for step in found.segmentation.steps]
    return tools == [[call.tool for call in step] for step in card.alignment.actual_steps]


def _result(record: CallRecord) -> str:
    """What a call answered, as text: images and other blocks by what they are."""
    if record.error is not None:
        return f"error {record.error[0]}: {record.error[1]}"
    raw = record.full or record.result
    data = json.loads(raw) if raw else {}
    blocks = data.get("content") if isinstance(data, dict) else None
    if not isinstance(blocks, list) or not blocks:
        return written(data) if data else ""
    return "\n".join(_block(block) for block in blocks)


def _block(block: object) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data), **rest}:
            return f"[{kind}: {rest.get('mimeType', 'unknown type')}, {len(data) * 3 // 4:,} bytes]"
    return written(block)


def _seconds(start: str, end: str | None) -> float | None:
    if end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)
