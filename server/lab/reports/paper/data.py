"""The data behind the numbers: a row for every sample and a row for every call.

Rows are flat, with the same columns in every set, so that any program for statistics reads them. They are written as
Parquet where duckdb is installed (`pip install 'm3bench[parquet]'`), otherwise as JSON Lines; the columns are the same.
Arguments are JSON as text. What a tool answered is in the record of the run, and here only by its size.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from m3bench.server.lab.results.analyses.failures import class_of, class_of_void
from m3bench.server.lab.results.comparability import keys
from m3bench.server.lab.results.resultset import Result, ResultSet, Sample, store_folder
from m3bench.server.scorecard.model import Conduct, ScoreCard
from m3bench.server.scorecard.trajectory import played_run
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.words import printable
from m3bench.server.store.records import OWN_TOOLS, CallRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.fault import fault_of
from m3bench.tasks.task import Task

Row = dict[str, str | int | float | None]
"""A value for each column that is known."""

TEXT, WHOLE, NUMBER, TRUTH = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"

WHOSE = {"set": TEXT, "conditions": TEXT, "kind": TEXT, "agent": TEXT, "solver": TEXT, "profile": TEXT, "task": TEXT,
         "family": TEXT, "difficulty": TEXT, "repeat": WHOLE, "run": TEXT}  # fmt: skip
SAMPLES = WHOSE | {
    "state": TEXT, "charged_to": TEXT, "class": TEXT, "why_void": TEXT, "solved": TRUTH, "average": NUMBER,
    **dict.fromkeys(AVERAGED, NUMBER), "m3_average": NUMBER, "calls": WHOLE, "failed_calls": WHOLE,
    "excluded_calls": WHOLE, "steps": WHOLE, "reference_calls": WHOLE, "answered_calls": WHOLE, "client": TEXT,
    "sight": TEXT, "order": TEXT, "order_obeyed": TRUTH, "order_reported": TRUTH, "no_answer": TRUTH,
    "abstained": TRUTH, "unwanted_effects": WHOLE,
    "input_tokens": WHOLE, "output_tokens": WHOLE, "cost": NUMBER, "seconds": NUMBER,
}  # fmt: skip
"""The columns of samples and their types."""
CALLS = WHOSE | {
    "call": WHOLE, "step": WHOLE, "tool": TEXT, "arguments": TEXT, "outcome": TEXT, "charged_to": TEXT,
    "answers": TEXT, "started": TEXT, "seconds": NUMBER, "result_bytes": WHOLE,
}  # fmt: skip
"""The columns of calls and their types."""


def sample_rows(name: str, results: ResultSet, tasks: Mapping[str, Task]) -> Iterator[Row]:
    """A row for every sample of a set, void ones included, in order of tasks."""
    common = _common(name, results)
    for result in results.results:
        card, sample = result.card, result.sample
        yield common | _about(sample, tasks, card.family) | _used(sample) | {
            "class": class_of(result), "why_void": None, "solved": card.success, "average": card.average,
            **{metric: card.metrics.get(metric) for metric in AVERAGED}, "m3_average": card.paper_average,
            "calls": card.calls, "failed_calls": card.calls_failed, "excluded_calls": card.calls_excluded,
            "steps": len(card.alignment.actual_steps), "reference_calls": result.row.reference_calls,
            "answered_calls": result.row.matched, "client": printable(card.client.name) if card.client else None,
            "sight": card.sight, **_conduct(card),
        }  # fmt: skip
    empty = dict.fromkeys(SAMPLES)
    for sample in results.void:
        about = _about(sample, tasks, None) | _used(sample)
        yield empty | common | about | {"class": class_of_void(sample), "why_void": printable(sample.reason)}


def _conduct(card: ScoreCard) -> Row:
    """What its conduct came to, as far as there is something to say of it."""
    conduct = card.conduct or Conduct()
    order, abstention = conduct.order, conduct.abstention
    return {
        "order": order.kind if order else None, "order_obeyed": order.obeyed if order else None,
        "order_reported": order.reported if order else None, "no_answer": abstention.due if abstention else None,
        "abstained": abstention.said if abstention else None, "unwanted_effects": conduct.unwanted,
    }  # fmt: skip


def call_rows(name: str, results: ResultSet, tasks: Mapping[str, Task]) -> Iterator[Row]:
    """A row for every call of a set's runs, in order of arrival; those of the benchmark's own tools are left out."""
    common = _common(name, results)
    played: list[tuple[Sample, Result | None]] = [(result.sample, result) for result in results.results]
    played += [(sample, None) for sample in results.void if sample.run]
    store = SqliteStore(store_folder(results.folder))
    try:
        for sample, result in played:
            about = common | _about(sample, tasks, result.card.family if result else None)
            calls = [call for call in store.calls(sample.run or "") if call.tool not in OWN_TOOLS]
            task = tasks.get(sample.task)
            places = _places(calls, result.card, task) if result is not None else {}
            for number, call in enumerate(calls, 1):
                step, answers = places.get(call.id, (None, None))
                yield about | {"call": number, "step": step, "answers": answers, **_call(call)}
    finally:
        store.close()


def _call(call: CallRecord) -> Row:
    last = call.returned_ns
    return {
        "tool": printable(call.tool),
        "arguments": json.dumps(call.arguments),
        "outcome": call.outcome,
        "charged_to": None if call.outcome == "success" and call.owner == "agent" else fault_of(call.owner),
        "started": call.wall,
        "seconds": None if last is None else max(0, last - call.received_ns) / 1e9,
        "result_bytes": len(call.result) if call.result is not None else None,
    }


def _places(calls: Sequence[CallRecord], card: ScoreCard, task: Task | None) -> dict[int, tuple[int, str | None]]:
    """For each call that counts, its step, from 1, and the tool of the reference call that it answers.

    Nothing when the card and the record do not tell the same steps, as when the task's set is not at hand.
    """
    found = played_run(calls, task.question if task is not None else "", card.client)
    told = card.alignment.actual_calls
    order = [found.calls[index].record for index in found.order]
    steps = [number for number, step in enumerate(found.segmentation.steps) for _ in step]
    if [(number, call.tool) for number, call in told] != [(n, call.tool) for n, call in zip(steps, order, strict=True)]:
        return {}
    wanted = [call.tool for _, call in card.alignment.reference_calls]
    answers: dict[int, str] = {}
    for match in card.alignment.matches:
        for place in match.calls:
            answers.setdefault(place, wanted[match.reference])
    return {call.id: (steps[place] + 1, answers.get(place)) for place, call in enumerate(order)}


def _common(name: str, results: ResultSet) -> Row:
    header = results.header
    return {
        "set": printable(name), "conditions": " ".join(keys(results)), "kind": header.kind,
        "agent": printable(header.agent), "solver": header.solver or None, "profile": header.profile,
    }  # fmt: skip


def _about(sample: Sample, tasks: Mapping[str, Task], family: str | None) -> Row:
    task = tasks.get(sample.task)
    return {
        "task": sample.task, "family": family or (task.family if task else None),
        "difficulty": task.difficulty if task else None, "repeat": sample.repeat, "run": sample.run,
    }  # fmt: skip


def _used(sample: Sample) -> Row:
    usage = sample.usage
    return {
        "state": sample.state, "charged_to": sample.fault, "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens, "cost": usage.cost, "seconds": sample.seconds,
    }  # fmt: skip


def parquet_at_hand() -> bool:
    """Whether Parquet can be written here."""
    return find_spec("duckdb") is not None


def write_rows(folder: Path, name: str, columns: Mapping[str, str], rows: Iterable[Row]) -> Path:
    """Write rows, as Parquet where that is at hand; returns the file."""
    lines = folder / f"{name}.jsonl"
    with lines.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(f"{json.dumps({column: row.get(column) for column in columns}, allow_nan=False)}\n")
    if not parquet_at_hand():
        return lines
    packed = folder / f"{name}.parquet"
    _pack(lines, packed, columns)
    lines.unlink()
    return packed


def _pack(lines: Path, packed: Path, columns: Mapping[str, str]) -> None:
    # Not by `import`: its types are there only where the extra is installed.
    duckdb = import_module("duckdb")
    fields = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
    places = [str(path).replace("'", "''") for path in (lines, packed)]
    most = max(16_777_216, 2 * lines.stat().st_size)
    with duckdb.connect(config={"threads": 1}) as link:
        link.execute(
            f"COPY (SELECT * FROM read_json('{places[0]}', format='newline_delimited', columns={{{fields}}}, "
            f"maximum_object_size={most})) TO '{places[1]}' (FORMAT parquet, COMPRESSION zstd)"
        )
