"""`m3bench runs`: what was recorded."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.export import call_row, export_runs
from m3bench.server.commands.pruning import prune
from m3bench.server.commands.record import Data, Json, RunName, StoreAt, find_run, hand_down, record

if TYPE_CHECKING:
    from m3bench.server.store.records import RunRecord

commands = typer.Typer(name="runs", help="List, show, export and delete recorded runs.", no_args_is_help=False)


@commands.callback(invoke_without_command=True)
def runs(context: typer.Context, data: Data = None, store: StoreAt = None, json: Json = False) -> None:
    """List, show, export and delete recorded runs. Without a command: list."""
    if context.invoked_subcommand is None:
        list_runs(data, store, json)
    else:
        hand_down(context, data, json, store)


@commands.command("list")
def list_runs(data: Data = None, store: StoreAt = None, json: Json = False) -> None:
    """List the runs, newest first."""
    from m3bench.server.commands.screen import console, print_json

    with record(data, store) as opened:
        found = opened.runs()
        damaged = opened.damaged_runs()
    for one in damaged:
        typer.echo(f"m3bench: damaged and left out: {one} (`m3bench store check` tells more)", err=True)
    if json:
        print_json({"runs": [_row(run) for run in found]})
        return
    if not found:
        console().print(
            "No runs yet. `m3bench install CLIENT` puts m3bench into an MCP client; then ask it to start a task."
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("run", "task", "state", "average", "solved", "paper's metric", "started"):
        table.add_column(heading, justify="right" if heading in ("average", "paper's metric") else "left")
    for run in found:
        row = _row(run)
        average, paper = ("" if row[name] is None else f"{row[name]:.3f}" for name in ("average", "paper"))
        solved = {True: "yes", False: "no", None: ""}[row["success"]]
        table.add_row(run.id[:12], run.task, row["state"], average, solved, paper, run.started[:19].replace("T", " "))
    console().print(table)


@commands.command()
def show(run: RunName, data: Data = None, store: StoreAt = None, json: Json = False) -> None:
    """Show a run: its calls, and its score card when it has one."""
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.scorecard.markdown import markdown
    from m3bench.server.scorecard.migration import card_of

    with record(data, store) as opened:
        found = find_run(opened, run)
        calls, damaged = opened.sound_calls(found.id)
        lost = opened.lost(found.id)
    card = card_of(found)
    for one in damaged:
        typer.echo(f"m3bench: damaged and left out: {one} (`m3bench store check` tells more)", err=True)
    if json:
        print_json({**_row(found), "manifest": found.manifest, "answer": found.answer, "fields": found.fields,
                    "seal": found.seal, "void": lost,
                    "scorecard": card and card.to_json(), "calls": [call_row(call) for call in calls]})  # fmt: skip
        return
    from rich.markdown import Markdown

    from m3bench.server.scoring.words import value

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


commands.command("export")(export_runs)
commands.command("prune")(prune)


@commands.command()
def delete(
    run: Annotated[list[str], typer.Argument(help="Handles, or their beginnings.")],
    data: Data = None,
    store: StoreAt = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete runs with their calls, files and score cards."""
    from m3bench.server.store.retention import forget

    with record(data, store) as opened:
        found = [find_run(opened, one) for one in run]
        names = ", ".join(f"{one.id[:12]} ({one.task})" for one in found)
        if not yes:
            typer.confirm(f"Delete {names}?", abort=True)
        forget(opened, found)
    if json:
        from m3bench.server.commands.screen import print_json

        print_json({"deleted": [one.id for one in found]})
    typer.echo(f"Deleted {names}.", err=True)


def _row(run: "RunRecord") -> dict[str, Any]:
    from m3bench.server.scorecard.migration import card_of

    card = card_of(run)
    return {
        "run": run.id, "task": run.task, "state": "void" if card and card.void else run.state, "mode": run.mode,
        "started": run.started, "ended": run.ended,
        "average": card and card.average, "paper": card and card.paper_average, "success": card and card.success,
    }  # fmt: skip
