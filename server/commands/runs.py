"""`m3bench runs`: what was recorded."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, Json, RunName, find_run, record, write_text

if TYPE_CHECKING:
    from m3bench.server.store.records import CallRecord, RunRecord
    from m3bench.server.store.sqlite import SqliteStore

commands = typer.Typer(name="runs", help="List, show, export and delete recorded runs.", no_args_is_help=False)


class Format(StrEnum):
    """How a run is written."""

    ours = "m3bench"
    public = "open-m3-bench"
    raw = "jsonl"


@commands.callback(invoke_without_command=True)
def runs(context: typer.Context, data: Data = None, json: Json = False) -> None:
    """List, show, export and delete recorded runs. Without a command: list."""
    if context.invoked_subcommand is None:
        list_runs(data, json)


@commands.command("list")
def list_runs(data: Data = None, json: Json = False) -> None:
    """List the runs, newest first."""
    from m3bench.server.commands.screen import console, print_json

    with record(data) as store:
        found = store.runs()
    if json:
        print_json({"runs": [_row(run) for run in found]})
        return
    if not found:
        console().print("No runs yet. Put `m3bench serve` into an MCP client and ask it to start a task.")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("run", "task", "state", "average", "solved", "started"):
        table.add_column(heading, justify="right" if heading == "average" else "left")
    for run in found:
        row = _row(run)
        average = "" if row["average"] is None else f"{row['average']:.3f}"
        solved = {True: "yes", False: "no", None: ""}[row["success"]]
        table.add_row(run.id[:12], run.task, run.state, average, solved, run.started[:19].replace("T", " "))
    console().print(table)


@commands.command()
def show(run: RunName, data: Data = None, json: Json = False) -> None:
    """Show a run: its calls, and its score card when it has one."""
    from m3bench.server.cards import markdown
    from m3bench.server.commands.screen import console, print_json

    with record(data) as store:
        found = find_run(store, run)
        calls = store.calls(found.id)
    if json:
        print_json({**_row(found), "manifest": found.manifest, "answer": found.answer, "seal": found.seal,
                    "scorecard": found.scorecard, "calls": [_call_row(call) for call in calls]})  # fmt: skip
        return
    from rich.markdown import Markdown

    screen = console()
    screen.print(f"run {found.id}\ntask {found.task} · {found.state} · {found.mode} · started {found.started}")
    for call in calls:
        milliseconds = ((call.returned_ns or call.received_ns) - call.received_ns) / 1e6
        screen.print(f"  {call.wall[11:23]}  {call.outcome or 'under way':18} {milliseconds:9.1f} ms  {call.tool}")
    if found.scorecard is not None:
        screen.print(Markdown(markdown(found.scorecard)))


@commands.command()
def export(
    run: Annotated[list[str] | None, typer.Argument(help="Handles; every submitted run when left out.")] = None,
    format: Annotated[
        Format, typer.Option(help="m3bench and open-m3-bench hold trajectories; jsonl every call.")
    ] = Format.ours,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output when left out.")
    ] = None,
    data: Data = None,
) -> None:
    """Write runs as files: for scoring again, for the public evaluator, or raw."""
    with record(data) as store:
        found = (
            [find_run(store, one) for one in run]
            if run
            else [r for r in store.runs() if r.state in ("submitted", "scored")]
        )
        text = _export(store, found, format)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
    typer.echo(f"{len(found)} runs written to {output}", err=True)


@commands.command()
def delete(
    run: Annotated[list[str], typer.Argument(help="Handles, or their beginnings.")],
    data: Data = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete runs with their calls, files and score cards."""
    import shutil

    with record(data) as store:
        found = [find_run(store, one) for one in run]
        names = ", ".join(f"{one.id[:12]} ({one.task})" for one in found)
        if not yes:
            typer.confirm(f"Delete {names}?", abort=True)
        for one in found:
            store.delete_run(one.id)
            shutil.rmtree(store.folder / "runs" / one.id, ignore_errors=True)
    typer.echo(f"Deleted {names}.", err=True)


def _row(run: "RunRecord") -> dict[str, Any]:
    card = run.scorecard or {}
    return {
        "run": run.id, "task": run.task, "state": run.state, "mode": run.mode,
        "started": run.started, "ended": run.ended,
        "average": card.get("metrics", {}).get("average"), "success": card.get("success"),
    }  # fmt: skip


def _call_row(call: "CallRecord") -> dict[str, Any]:
    return {
        "tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "owner": call.owner, "wall": call.wall,
        "received_ns": call.received_ns, "forwarded_ns": call.forwarded_ns, "returned_ns": call.returned_ns,
        "sent_ns": call.sent_ns, "client": call.client, "revision": call.revision, "error": call.error,
    }  # fmt: skip


def _export(store: "SqliteStore", found: "list[RunRecord]", format: Format) -> str:
    import json

    from m3bench.server.runs import OWN_TOOLS
    from m3bench.server.trajectories import course
    from m3bench.tasks.files import TaskTrajectories, public_tasks_json, tasks_json

    if format is Format.raw:
        lines = [
            {**_call_row(call), "run": run.id, "request": call.request.decode(errors="replace"),
             "result": call.result.decode(errors="replace") if call.result else None}
            for run in found
            for call in store.calls(run.id)
        ]  # fmt: skip
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    tasks = []
    for run in found:
        calls = [call for call in store.calls(run.id) if call.tool not in OWN_TOOLS]
        tasks.append(TaskTrajectories(id=run.task, family=None, trajectories=(course(calls).trajectory,)))
    return (
        json.dumps(
            tasks_json(tasks) if format is Format.ours else public_tasks_json(tasks), ensure_ascii=False, indent=1
        )
        + "\n"
    )
