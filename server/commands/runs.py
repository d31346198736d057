"""`m3bench runs`: what was recorded."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from m3bench.server.commands.options import Json, RecordOptions, RunName
from m3bench.server.commands.recorded import hand_down, record, records
from m3bench.server.commands.run_export import call_row
from m3bench.server.commands.screen import console, plain_table, print_json
from m3bench.server.lab.results.resultset import store_folder
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scoring.words import value
from m3bench.server.store import retention
from m3bench.server.store.contract import Store
from m3bench.server.store.layout import run_folder
from m3bench.server.store.records import RunRecord
from m3bench.tasks.errors import UserError


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
    """Show a run: its calls, and its score card when it has one.

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
    screen.print(f"run {found.id}\ntask {found.task} · {found.state} · {found.mode} · started {found.started}")
    if lost is not None:
        screen.print(f"void: {lost}", soft_wrap=True)
    for call in calls:
        milliseconds = ((call.returned_ns or call.received_ns) - call.received_ns) / 1e6
        screen.print(f"  {call.wall[11:23]}  {call.outcome or 'under way':18} {milliseconds:9.1f} ms  {call.tool}")
    if found.answer is not None:
        screen.print(f"answer: {value(found.answer, 300)}", soft_wrap=True)
    if card is not None:
        screen.print(Markdown(markdown(card, found.id)))


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
