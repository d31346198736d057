"""`m3bench runs`: what was recorded, and `export`: the same in the forms that other programs read."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, RecordOptions, RunName, Tasks
from m3bench.server.commands.recorded import hand_down, record, records
from m3bench.server.commands.screen import FittingMarkdown, console, plain_table, print_json, write_file
from m3bench.server.lab.interchange.atif import PicturePlace, atif, data_url
from m3bench.server.lab.interchange.episode import Episode, episode
from m3bench.server.lab.interchange.inspect_log import write_log
from m3bench.server.lab.interchange.public import predictions
from m3bench.server.lab.interchange.spans import otlp_json, send
from m3bench.server.lab.results.resultset import store_folder
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scoring.words import value
from m3bench.server.store import retention
from m3bench.server.store.contract import Store
from m3bench.server.store.layout import run_folder
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
    typer.echo(f"{len(chosen)} {'run' if len(chosen) == 1 else 'runs'} written to {out}", err=True)


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


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Which runs go."""

    older_than: Annotated[str, typer.Option(metavar="AGE", help="Runs that ended longer ago, such as 12h, 30d or 8w.")]
    state: Annotated[
        list[str] | None,
        typer.Option(metavar="STATE", help="Only runs in this state: submitted, scored, abandoned or void."),
    ] = None
    keep_submitted: Annotated[
        bool, typer.Option("--keep-submitted", help="Keep what was handed in, scored or not.")
    ] = False

    @property
    def states(self) -> set[str]:
        """The states of runs to delete.

        Raises:
            UserError: There is no such state.
        """
        states = set(self.state or retention.OVER)
        if unknown := states - set(retention.OVER):
            raise UserError(f"--state cannot be {min(unknown)!r}: choose from {', '.join(retention.OVER)}.")
        return states - retention.HANDED_IN if self.keep_submitted else states


def runs(context: typer.Context, where: RecordOptions, json: Json = False) -> None:
    """List, show, watch, export and delete recorded runs.

    \b
    m3bench runs                  # list them
    m3bench runs show latest
    m3bench runs watch

    Without a command, it lists the runs.
    """
    if context.invoked_subcommand is None:
        list_runs(where, json)
    else:
        hand_down(context, where, json)


def list_runs(where: RecordOptions, json: Json = False) -> None:
    """List the runs, newest first.

    \b
    m3bench runs list
    m3bench runs list --data runs/oracle      # those of a result set

    Prints a line for each: its handle, task, state, score and start. It lists the runs of clients and of every result
    set that `run`, `study` and imports wrote, with the set in a column of its own; with --data or --store, only those
    of one place.
    """
    with records(where) as opened:
        found = [(_set_of(store), run) for store, run in opened.runs()]
        damaged = [damage for store in opened.stores() for damage in store.damaged_runs()]
    _tell_damage(damaged)
    if json:
        print_json({"runs": [_row(run, folder) for folder, run in found]})
        return
    if not found:
        console().print(
            "No runs yet. `m3bench install CLIENT` puts m3bench into an MCP client; then ask it to start a task. "
            "`m3bench run` plays without a client."
        )
        return
    sets = ("set",) if len({folder for folder, _ in found}) > 1 else ()
    headings = ("run", *sets, "task", "state", "average", "solved", "paper's metric", "started")
    table = plain_table(*headings, right=("average", "paper's metric"))
    for folder, run in found:
        card = card_of(run)
        average, paper = (
            "" if number is None else f"{number:.3f}"
            for number in ((card.average, card.paper_average) if card else (None, None))
        )
        solved = {True: "yes", False: "no", None: ""}[card.success if card else None]
        state = "void" if card and card.void else run.state
        name = ("" if folder is None else folder.name,) if sets else ()
        table.add_row(run.id[:12], *name, run.task, state, average, solved, paper, run.started[:19].replace("T", " "))
    console().print(table)


def show(run: RunName, where: RecordOptions, json: Json = False) -> None:
    """Show a run: its score card when it has one, and its calls.

    \b
    m3bench runs show latest
    m3bench runs show 3f2a --json        # everything known about it
    """
    with records(where) as opened:
        store, found = opened.find(run)
        folder = _set_of(store)
        calls, damaged = store.sound_calls(found.id)
        lost = store.lost(found.id)
    card = card_of(found)
    _tell_damage(damaged)
    if json:
        print_json({**_row(found, folder), "manifest": found.manifest, "answer": found.answer, "fields": found.fields,
                    "seal": found.seal, "void": lost,
                    "scorecard": card and card.to_json(), "calls": [call_row(call) for call in calls]})  # fmt: skip
        return
    screen = console()
    began = found.started[:19].replace("T", " ")
    screen.print(f"run {found.id}\ntask {found.task} · {found.state} · {found.mode} · {began} UTC")
    if lost is not None:
        screen.print(f"void: {lost}", soft_wrap=True)
    if found.state == "abandoned":
        screen.print("The client left or gave this task up, and handed nothing in: there is no score.")
    if card is not None:
        screen.print(FittingMarkdown(markdown(card, found.id)))
    if found.answer is not None:
        screen.print(f"answer: {value(found.answer, 300)}", soft_wrap=True)
    for call in calls:
        milliseconds = ((call.returned_ns or call.received_ns) - call.received_ns) / 1e6
        screen.print(f"  {call.wall[11:23]}  {call.outcome or 'under way':18} {milliseconds:9.1f} ms  {call.tool}")


def delete(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Handles, or their beginnings.")],
    where: RecordOptions,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete runs with their calls, files and score cards.

    \b
    m3bench runs delete 3f2a 90bc
    m3bench runs delete latest --yes
    """
    with records(where) as opened:
        found = {deleted.id: (store, deleted) for store, deleted in map(opened.find, run)}
        names = ", ".join(f"{deleted.id[:12]} ({deleted.task}{_of(store)})" for store, deleted in found.values())
        if not yes:
            typer.confirm(f"Delete {names}?", abort=True)
        for store, deleted in found.values():
            retention.forget(store, [deleted])
    if json:
        print_json({"deleted": list(found)})
    typer.echo(f"Deleted {names}.", err=True)


def prune(
    options: PruneOptions,
    where: RecordOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Needed on a terminal.")] = False,
    json: Json = False,
) -> None:
    """Delete runs that ended long ago.

    \b
    m3bench runs prune --older-than 30d --dry-run
    m3bench runs prune --older-than 30d --state abandoned --yes

    Their calls, files and score cards go with them; runs in progress stay. Prints how many were deleted and how much
    space that freed. Servers may use the record meanwhile. Runs of result sets stay, unless --data names one. On a
    terminal it needs --yes; elsewhere it asks nothing.
    """
    states = options.states
    before = datetime.now(UTC) - retention.age(options.older_than)
    if not dry_run and not yes and sys.stdin.isatty():
        raise UserError("This deletes runs for good: look with --dry-run first, then add --yes.")
    with record(where) as opened:
        runs = opened.runs()
        found = retention.expired(runs, before, states)
        if dry_run:
            freed = sum(retention.size(run_folder(opened.folder, run.id)) for run in found)
        else:
            freed = retention.forget(opened, found)
    counts = dict(sorted(Counter(run.state for run in found).items()))
    if json:
        print_json(
            {"deleted": [run.id for run in found], "states": counts, "kept": len(runs) - len(found), "bytes": freed,
             "before": before.isoformat(timespec="seconds"), "dry_run": dry_run}
        )  # fmt: skip
        return
    how = ", ".join(f"{count} {name}" for name, count in counts.items())
    typer.echo(
        f"{'Would delete' if dry_run else 'Deleted'} {len(found)} of {len(runs)} runs{f' ({how})' if how else ''} "
        f"that ended before {before:%Y-%m-%d %H:%M} UTC, with {freed / 1e6:.1f} MB of files."
    )


def _tell_damage(damaged: Iterable[object]) -> None:
    for part in damaged:
        typer.echo(f"m3bench: damaged and left out: {part} (`m3bench store check` says more)", err=True)


def _set_of(store: Store) -> Path | None:
    """The result set that a record belongs to."""
    folder = store.folder.parent
    return folder if store_folder(folder) == store.folder else None


def _of(store: Store) -> str:
    folder = _set_of(store)
    return "" if folder is None else f", of {folder}"


def _row(run: RunRecord, folder: Path | None) -> dict[str, object]:
    card = card_of(run)
    return {
        "run": run.id, "set": None if folder is None else str(folder), "task": run.task,
        "state": "void" if card and card.void else run.state, "mode": run.mode,
        "started": run.started, "ended": run.ended,
        "average": card and card.average, "paper": card and card.paper_average, "success": card and card.success,
    }  # fmt: skip
