"""What a shell offers after a TAB: ids of tasks, families, servers, tools, profiles, runs and clients.

Attached to a command by the names of its parameters when it is loaded, and only while a shell asks, so that no command
knows of it. A completer reads the one file it needs and never fails: it offers nothing instead.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import get_args

import typer
from platformdirs import user_data_path
from typer.models import ParameterInfo

import m3bench.tasks
from m3bench.server.clients.table import clients as known_clients
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.results.recorded_runs import registered
from m3bench.server.store.layout import database

PROFILES = ("full", "wide", "compact", "mini", "retrieve", "max-scale")

SAFE = re.compile(r"[\w./:@+-]+")
"""What a shell takes as one word, as it is."""

_SHOWN = 50
"""Runs that are offered."""

Complete = Callable[[typer.Context, str], list[str]]


def sandboxes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Where tools can run."""
    return _begun(["process", "docker"], incomplete)


def tasks(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of tasks, of the set that the command was pointed at."""
    return _begun([task["id"] for task in _set(ctx)], incomplete)


def families(ctx: typer.Context, incomplete: str) -> list[str]:
    """Families of tasks."""
    return _begun({task["family"] for task in _set(ctx)}, incomplete)


KINDS: dict[str, Complete] = {"family": families, "task": tasks, "standard": tasks}
"""Kinds of profiles that take a name."""


def profiles(ctx: typer.Context, incomplete: str) -> list[str]:
    """Profiles; those that name a task or a family as soon as their kind is begun."""
    if not incomplete:
        return [*PROFILES, *(f"{kind}:" for kind in KINDS)]
    begun, _, name = incomplete.partition(":")
    found = [profile for profile in PROFILES if profile.startswith(incomplete)]
    for kind, known in KINDS.items():
        if kind == begun or (not name and kind.startswith(incomplete)):
            found += [f"{kind}:{word}" for word in known(ctx, name)]
    return found


def servers(ctx: typer.Context, incomplete: str) -> list[str]:
    """Tool servers."""
    return _begun([path.stem for path in _data("catalog").glob("*.json")], incomplete)


def tools(ctx: typer.Context, incomplete: str) -> list[str]:
    """Servers first, the tools of one after its slash."""
    server, slash, _ = incomplete.partition("/")
    if not slash:
        return [f"{name}/" for name in servers(ctx, incomplete)]
    if server not in servers(ctx, server):
        return []
    entry = json.loads((_data("catalog") / f"{server}.json").read_bytes())
    return _begun([f"{server}/{tool['name']}" for tool in entry["tools"]], incomplete)


def runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Handles of runs, the newest first."""
    named = ctx.params.get("data")
    data = Path(str(named or os.environ.get("M3BENCH_DATA") or user_data_path("m3bench")))
    found: set[tuple[str, str]] = set()
    for folder in (data, *(() if named else (inner / "data" for inner in registered(data)))):
        if database(folder).is_file():
            found |= set(_newest_runs(database(folder)))
    newest = [id for _, id in sorted(found, reverse=True)[:_SHOWN]]
    return [name for name in (("latest", *newest) if newest else ()) if name.startswith(incomplete)]


def _newest_runs(path: Path) -> list[tuple[str, str]]:
    """When the newest runs of a record were started, and their handles."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)
    try:
        return connection.execute("SELECT started, id FROM runs ORDER BY started DESC LIMIT ?", (_SHOWN,)).fetchall()
    finally:
        connection.close()


def clients(ctx: typer.Context, incomplete: str) -> list[str]:
    """Clients of the table."""
    return _begun(known_clients(), incomplete)


def agents(ctx: typer.Context, incomplete: str) -> list[str]:
    """Baseline agents."""
    return _begun(AGENTS, incomplete)


COMPLETERS: dict[str, Complete] = {
    "task": tasks,
    "family": families,
    "profile": profiles,
    "server": servers,
    "names": servers,
    "tool": tools,
    "run": runs,
    "runs": runs,
    "client": clients,
    "agent": agents,
    "sandbox": sandboxes,
}
"""By the name of the parameter."""


def attach(function: Callable[..., object]) -> None:
    """Let the parameters of a command complete, unless they know how to by themselves."""
    for name, info in _parameters(function):
        if name in COMPLETERS and info.autocompletion is None:
            info.autocompletion = _quiet(COMPLETERS[name])


def _parameters(function: Callable[..., object]) -> Iterator[tuple[str, ParameterInfo]]:
    for name, hint in function.__annotations__.items():
        for extra in get_args(hint)[1:]:
            if isinstance(extra, ParameterInfo):
                yield name, extra


def _quiet(complete: Complete) -> Complete:
    """A TAB must never show a traceback: whatever goes wrong, nothing is offered."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return [word for word in complete(ctx, incomplete) if SAFE.fullmatch(word)]
        except Exception:
            return []

    return offered


def _begun(known: Iterable[str], incomplete: str) -> list[str]:
    return sorted(word for word in known if word.startswith(incomplete))


def _set(ctx: typer.Context) -> list[dict[str, str]]:
    """The tasks of a set, as its file has them."""
    given = ctx.params.get("tasks")
    folder = Path(str(given)) if given else _data("sets") / "m3"
    found: list[dict[str, str]] = json.loads((folder / "tasks.json").read_bytes())["tasks"]
    return found


def _data(folder: str) -> Path:
    """A folder of data that travels with the package, found without importing what reads it."""
    return Path(str(m3bench.tasks.__file__)).parent / "data" / folder
