"""`m3bench runs export`: recorded runs in the forms that other programs read."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import RecordOptions, Tasks
from m3bench.server.commands.recorded import records
from m3bench.server.commands.screen import write_file
from m3bench.server.lab.interchange.atif import PicturePlace, atif, data_url
from m3bench.server.lab.interchange.episode import Episode, episode
from m3bench.server.lab.interchange.inspect_log import write_log
from m3bench.server.lab.interchange.public import predictions
from m3bench.server.lab.interchange.spans import otlp_json, send
from m3bench.server.store.contract import Store
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.trajectory_files import TaskTrajectories, tasks_json


class Format(StrEnum):
    """How a run is written."""

    ours = "m3bench"
    public = "open-m3-bench"
    raw = "jsonl"
    atif = "atif"
    inspect = "inspect"
    otel = "otel"


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """In which form runs are written."""

    format: Annotated[
        Format,
        typer.Option(
            help="m3bench and open-m3-bench hold trajectories to score again; jsonl every call; atif agent "
            "trajectories, one per line; inspect an eval log; otel traces in OTLP's JSON form, one per line."
        ),
    ] = Format.ours
    content: Annotated[
        bool, typer.Option("--content/--no-content", help="Whether traces carry arguments, results and answers.")
    ] = True
    tasks: Tasks = None

    def episodes(self, runs: Sequence[tuple[Store, RunRecord]]) -> list[Episode]:
        """The runs with the questions of their tasks."""
        library = Library(self.tasks or BUNDLED)
        return [episode(run, store, library) for store, run in runs]


def export_runs(
    options: ExportOptions,
    where: RecordOptions,
    run: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Handles; by default every submitted run.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="File to write; by default standard output."),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send traces to this OpenTelemetry collector instead of writing a file."),
    ] = None,
) -> None:
    """Write runs in formats that other programs read.

    \b
    m3bench runs export -o runs.json                       # to score again
    m3bench runs export latest --format inspect -o run.eval
    m3bench runs export --otlp http://localhost:4318

    Prints the file on standard output, writes it with -o, or sends it to a collector.
    """
    format = options.format
    if otlp is not None and (out is not None or format not in (Format.ours, Format.otel)):
        raise UserError("--otlp sends traces: leave out --out, and --format or make it otel.")
    if not options.content and otlp is None and format is not Format.otel:
        raise UserError("--no-content is for traces: it goes with --format otel or --otlp.")
    if format is Format.inspect and out is None:
        raise UserError("An Inspect log is a file: name it with -o, such as -o runs.eval.")
    with records(where) as opened:
        chosen = [opened.find(name) for name in run] if run else _submitted(opened.runs())
        if otlp is not None:
            sent = send(options.episodes(chosen), otlp, content=options.content)
            typer.echo(f"{sent} traces sent to {otlp}", err=True)
            return
        if format is Format.inspect:
            assert out is not None
            write_log(options.episodes(chosen), out)
        else:
            text = _text(chosen, options, data_url if out is None else PictureFiles(out))
            if out is None:
                typer.echo(text, nl=False)
                return
            write_file(out, text)
    typer.echo(f"{len(chosen)} runs written to {out}", err=True)


def call_row(call: CallRecord) -> dict[str, object]:
    """A call as plain data, without its bytes."""
    return {
        "tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "owner": call.owner, "wall": call.wall,
        "received_ns": call.received_ns, "forwarded_ns": call.forwarded_ns, "returned_ns": call.returned_ns,
        "sent_ns": call.sent_ns, "client": call.client, "revision": call.revision, "error": call.error,
    }  # fmt: skip


def _submitted(runs: Iterable[tuple[Store, RunRecord]]) -> list[tuple[Store, RunRecord]]:
    return [(store, run) for store, run in runs if run.state in ("submitted", "scored")]


class PictureFiles:
    """Puts the pictures of trajectories into a folder beside their file, each once.

    Args:
        out: The file.
    """

    def __init__(self, out: Path) -> None:
        self._folder = out.with_name(f"{out.stem}-pictures")
        self._written: set[str] = set()

    def __call__(self, mime: str, data: bytes) -> str:
        """Write a picture, and say where it is, seen from the file."""
        name = f"{sha256(data).hexdigest()[:16]}.{mime.partition('/')[2]}"
        if name not in self._written:
            with suppress(OSError):  # writing the file says what is in the way
                self._folder.mkdir(exist_ok=True)
            write_file(self._folder / name, data)
            self._written.add(name)
        return f"{self._folder.name}/{name}"


def _text(runs: Sequence[tuple[Store, RunRecord]], options: ExportOptions, place: PicturePlace) -> str:
    if options.format is Format.raw:
        return _lines(_raw(run, call) for store, run in runs for call in store.calls(run.id))
    episodes = options.episodes(runs)
    match options.format:
        case Format.atif:
            return _lines(atif(played, place).to_json() for played in episodes)
        case Format.otel:
            return _lines(otlp_json(played, content=options.content) for played in episodes)
        case Format.public:
            return _dumped(predictions(episodes), indent=1)
        case _:
            made = (TaskTrajectories(id=played.run.task, trajectories=(played.trajectory,)) for played in episodes)
            return _dumped(tasks_json(made), indent=1)


def _raw(run: RunRecord, call: CallRecord) -> dict[str, object]:
    return {
        **call_row(call), "run": run.id, "request": call.request.decode(errors="replace"),
        "result": call.result.decode(errors="replace") if call.result else None,
    }  # fmt: skip


def _lines(entries: Iterable[Mapping[str, object]]) -> str:
    return "".join(map(_dumped, entries))


def _dumped(data: object, indent: int | None = None) -> str:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a character, which UTF-8 has no place for
        text = json.dumps(data, indent=indent)
    return f"{text}\n"
