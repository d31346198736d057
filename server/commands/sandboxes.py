"""`m3bench sandboxes`: what sandboxes occupy on this machine and its Docker engine, and removing leftovers."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import typer

from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.backends.docker.leases import holdings, reap
from m3bench.server.commands.options import Data, Json, RecordOptions
from m3bench.server.commands.recorded import hand_down, place_of
from m3bench.server.commands.screen import console, plain_table, print_json
from m3bench.server.settings import Settings
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import OWNERS, WORKSPACES
from m3bench.server.store.owners import dead
from m3bench.tasks.errors import SandboxError

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class HeldWorkspace:
    """A workspace of a process sandbox in the data folder."""

    path: Path
    owner: str
    run: str
    leftover: str | None
    """Why it is one; None while its owner lives."""

    def to_json(self) -> dict[str, str | None]:
        """The workspace as what Docker holds is told."""
        return {
            "kind": "workspace", "name": str(self.path), "state": "", "run": self.run, "owner": self.owner,
            "leftover": self.leftover,
        }  # fmt: skip


def sandboxes(context: typer.Context, data: Data = None, json: Json = False) -> None:
    """List sandboxes, and remove leftovers.

    \b
    m3bench sandboxes             # list them
    m3bench sandboxes reap        # remove what is left of those that are gone

    Without a command, it lists them.
    """
    if context.invoked_subcommand is None:
        list_sandboxes(data, json)
    else:
        hand_down(context, RecordOptions(data=data), json)


def list_sandboxes(data: Data = None, json: Json = False) -> None:
    """List containers, volumes and workspaces of sandboxes.

    \b
    m3bench sandboxes list

    Prints what is on the Docker engine and in the data folder, whose it is, and whether it is a leftover.
    """
    found, problem = _ask(holdings)
    now = time.time()
    rows: list[Mapping[str, object]] = [
        *(holding.to_json(now) for holding in found or ()),
        *(workspace.to_json() for workspace in _workspaces(data)),
    ]
    if json:
        print_json({"sandboxes": rows, "engine": problem})
        return
    screen = console()
    if rows:
        table = plain_table("kind", "name", "run", "owner", "state")
        for row in rows:
            state = f"leftover: {row['leftover']}" if row["leftover"] else str(row["state"] or "in use")
            table.add_row(*(str(row[name]) for name in ("kind", "name", "run", "owner")), state)
        screen.print(table)
        if any(row["leftover"] for row in rows):
            screen.print("`m3bench sandboxes reap` removes the leftovers.")
    else:
        screen.print("No sandboxes.")
    if problem is not None:
        screen.print(problem)


def reap_sandboxes(data: Data = None, json: Json = False) -> None:
    """Remove what is left of sandboxes whose owner is gone.

    \b
    m3bench sandboxes reap

    Containers, volumes and workspaces go when their owner is dead or their lease is over. Prints what was removed, and
    why.
    """
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


def _ask(question: Callable[[Client], list[_Answer]]) -> tuple[list[_Answer] | None, str | None]:
    """What the Docker engines answer, and why one does not."""
    found, problems = list[_Answer](), list[str]()
    engines = [DockerEngine(place) for place in Settings().docker_host or (None,)]
    for engine in engines:
        try:
            found += engine.answer(question)
        except SandboxError as error:
            problems.append(str(error))
        finally:
            engine.close()
    return found if len(problems) < len(engines) else None, " ".join(problems) or None


def _workspaces(data: Path | None) -> list[HeldWorkspace]:
    folder = Settings.of(data=data).data
    found = []
    for home in sorted((folder / WORKSPACES).glob("*")):
        reason = "its owner is dead" if dead(folder / OWNERS, home.name) else None
        for path in sorted(home.glob("*")) or [home]:
            run = path.name if path != home else ""
            found.append(HeldWorkspace(path=path, owner=home.name, run=run, leftover=reason))
    return found


def _reap_workspaces(data: Path | None) -> list[dict[str, str]]:
    leftovers = [(workspace.path, workspace.leftover) for workspace in _workspaces(data) if workspace.leftover]
    if leftovers:
        # Opening the store is what tidies up: the calls and runs of the dead are closed on the way.
        open_store(place_of(RecordOptions(data=data))).close()
    return [{"kind": "workspace", "name": str(path), "reason": reason} for path, reason in leftovers]
