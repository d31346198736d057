"""`m3bench runs export`: recorded runs in the forms that other programs read."""

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, StoreAt, find_run, record, write_text
from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.lab.interchange.episode import Episode
    from m3bench.server.store.contract import Store
    from m3bench.server.store.records import CallRecord, RunRecord


class Format(StrEnum):
    """How a run is written."""

    ours = "m3bench"
    public = "open-m3-bench"
    raw = "jsonl"
    atif = "atif"
    inspect = "inspect"
    otel = "otel"


def export_runs(
    run: Annotated[list[str] | None, typer.Argument(help="Handles; every submitted run when left out.")] = None,
    format: Annotated[
        Format,
        typer.Option(
            help="m3bench and open-m3-bench hold trajectories to score again; jsonl every call; atif agent "
            "trajectories, one a line; inspect an eval log; otel traces in OTLP's JSON form, one a line."
        ),
    ] = Format.ours,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output when left out.")
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send traces to this OpenTelemetry collector instead of writing a file."),
    ] = None,
    content: Annotated[
        bool, typer.Option("--content/--no-content", help="Whether traces carry arguments, results and answers.")
    ] = True,
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="Folder with the tasks, for questions; the bundled set by default.")
    ] = None,
    data: Data = None,
    store: StoreAt = None,
) -> None:
    """Write runs as files: for scoring again, for the public evaluator, for viewers and collectors, or raw."""
    if otlp is not None and (output is not None or format not in (Format.ours, Format.otel)):
        raise UserError("--otlp sends traces: leave out --output, and --format or make it otel.")
    if not content and otlp is None and format is not Format.otel:
        raise UserError("--no-content is for traces: it goes with --format otel or --otlp.")
    if format is Format.inspect and output is None:
        raise UserError("An Inspect log is a file: name it with -o, such as -o runs.eval.")
    with record(data, store) as opened:
        chosen = [find_run(opened, one) for one in run] if run else _submitted(opened)
        if otlp is not None:
            from m3bench.server.lab.interchange.collector import send

            sent = send(_stories(opened, chosen, tasks), otlp, content=content)
            typer.echo(f"{sent} traces sent to {otlp}", err=True)
            return
        if format is Format.inspect:
            from m3bench.server.lab.interchange.inspect_log import write_log

            assert output is not None
            write_log(_stories(opened, chosen, tasks), output)
        else:
            text = _text(opened, chosen, format, tasks, content)
            if output is None:
                typer.echo(text, nl=False)
                return
            write_text(output, text)
    typer.echo(f"{len(chosen)} runs written to {output}", err=True)


def call_row(call: "CallRecord") -> dict[str, Any]:
    """A call as plain data, without its bytes."""
    return {
        "tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "owner": call.owner, "wall": call.wall,
        "received_ns": call.received_ns, "forwarded_ns": call.forwarded_ns, "returned_ns": call.returned_ns,
        "sent_ns": call.sent_ns, "client": call.client, "revision": call.revision, "error": call.error,
    }  # fmt: skip


def _submitted(store: "Store") -> "list[RunRecord]":
    return [run for run in store.runs() if run.state in ("submitted", "scored")]


def _stories(store: "Store", runs: "Sequence[RunRecord]", tasks: Path | None) -> "list[Episode]":
    from m3bench.server.lab.interchange.episode import episode
    from m3bench.tasks.library import BUNDLED, Library

    library = Library(tasks or BUNDLED)
    return [episode(run, store, library) for run in runs]


def _text(store: "Store", runs: "Sequence[RunRecord]", format: Format, tasks: Path | None, content: bool) -> str:
    match format:
        case Format.raw:
            return _lines(_raw(run, call) for run in runs for call in store.calls(run.id))
        case Format.atif:
            from m3bench.server.lab.interchange.atif import atif

            return _lines(atif(story).to_json() for story in _stories(store, runs, tasks))
        case Format.otel:
            from m3bench.server.lab.interchange.spans import otlp_json

            return _lines(otlp_json(story, content=content) for story in _stories(store, runs, tasks))
        case Format.public:
            from m3bench.server.lab.interchange.public import predictions

            return _dumped(predictions(_stories(store, runs, tasks)), indent=1)
        case _:
            from m3bench.tasks.trajectory_files import TaskTrajectories, tasks_json

            stories = _stories(store, runs, tasks)
            made = (TaskTrajectories(id=story.run.task, trajectories=(story.trajectory,)) for story in stories)
            return _dumped(tasks_json(made), indent=1)


def _raw(run: "RunRecord", call: "CallRecord") -> dict[str, Any]:
    return {
        **call_row(call), "run": run.id, "request": call.request.decode(errors="replace"),
        "result": call.result.decode(errors="replace") if call.result else None,
    }  # fmt: skip


def _lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(map(_dumped, entries))


def _dumped(data: object, indent: int | None = None) -> str:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a character, which UTF-8 has no place for
        text = json.dumps(data, indent=indent)
    return f"{text}\n"
