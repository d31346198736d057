"""`m3bench sandboxes`: what sandboxes occupy on this machine and its Docker engine, and removing leftovers."""

from pathlib import Path
from typing import Any

import typer

from m3bench.server.commands.record import Data, Json, hand_down

commands = typer.Typer(name="sandboxes", help="List what sandboxes hold, and remove leftovers.")


@commands.callback(invoke_without_command=True)
def sandboxes(context: typer.Context, data: Data = None, json: Json = False) -> None:
    """List what sandboxes hold, and remove leftovers. Without a command: list."""
    if context.invoked_subcommand is None:
        list_sandboxes(data, json)
    else:
        hand_down(context, data, json)


@commands.command("list")
def list_sandboxes(data: Data = None, json: Json = False) -> None:
    """List containers and volumes on the Docker engine, and workspaces in the data folder."""
    import time

    from m3bench.sandboxes.backends.docker.reaper import holdings
    from m3bench.server.commands.screen import console, print_json

    found, problem = _ask(holdings)
    now = time.time()
    rows = [*(holding.to_json(now) for holding in found or ()), *_workspaces(data)]
    if json:
        print_json({"sandboxes": rows, "engine": problem})
        return
    screen = console()
    if rows:
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for heading in ("kind", "name", "run", "owner", "state"):
            table.add_column(heading)
        for row in rows:
            state = f"leftover: {row['leftover']}" if row["leftover"] else row["state"] or "in use"
            table.add_row(row["kind"], row["name"], row["run"], str(row["owner"]), state)
        screen.print(table)
        if any(row["leftover"] for row in rows):
            screen.print("`m3bench sandboxes reap` removes the leftovers.")
    else:
        screen.print("No sandboxes.")
    if problem is not None:
        screen.print(problem)


@commands.command("reap")
def reap_sandboxes(data: Data = None, json: Json = False) -> None:
    """Remove containers, volumes and workspaces whose owner is dead or whose lease is over."""
    from m3bench.sandboxes.backends.docker.reaper import reap
    from m3bench.server.commands.screen import print_json

    found, problem = _ask(reap)
    removed = [{"kind": holding.kind, "name": holding.name, "reason": reason} for holding, reason in found or ()]
    removed += _reap_workspaces(data)
    if json:
        print_json({"removed": removed, "engine": problem})
        return
    for entry in removed:
        typer.echo(f"Removed {entry['kind']} {entry['name']}: {entry['reason']}.")
    if not removed:
        typer.echo("Nothing to remove.")
    if problem is not None:
        typer.echo(problem, err=True)


def _ask(question: Any) -> tuple[list[Any] | None, str | None]:
    """What the Docker engines answer, and why one does not."""
    from m3bench.sandboxes.backends.docker.engine import Engine
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import SandboxError

    found, problems = list[Any](), list[str]()
    engines = [Engine(place) for place in Settings().docker_host or (None,)]
    for engine in engines:
        try:
            found += engine.answer(question)
        except SandboxError as error:
            problems.append(str(error))
        finally:
            engine.close()
    return found if len(problems) < len(engines) else None, " ".join(problems) or None


def _folder(data: Path | None) -> Path:
    from m3bench.server.settings import Settings

    return Settings.of(data=data).data


def _workspaces(data: Path | None) -> list[dict[str, Any]]:
    from m3bench.server.store.layout import OWNERS, WORKSPACES
    from m3bench.server.store.owners import dead

    folder = _folder(data)
    found = []
    for home in sorted((folder / WORKSPACES).glob("*")):
        reason = "its owner is dead" if dead(folder / OWNERS, home.name) else None
        for place in sorted(home.glob("*")) or [home]:
            found.append(
                {"kind": "workspace", "name": str(place), "state": "", "run": place.name if place != home else "",
                 "owner": home.name, "leftover": reason}
            )  # fmt: skip
    return found


def _reap_workspaces(data: Path | None) -> list[dict[str, str]]:
    from m3bench.server.commands.record import place_of
    from m3bench.server.store.opening import open_store

    rows = [row for row in _workspaces(data) if row["leftover"]]
    if rows:
        # Opening the store is what tidies up: the calls and runs of the dead are closed on the way.
        open_store(place_of(data)).close()
    return [{"kind": row["kind"], "name": row["name"], "reason": row["leftover"]} for row in rows]
