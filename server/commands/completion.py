"""What a shell offers after a TAB: ids of tasks, families, servers, tools, profiles, runs and clients.

Attached to the commands by the names of their parameters, and only while a shell asks, so that no command knows of it.
A completer reads the one file it needs, imports nothing heavy and never fails: it offers nothing instead.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import typer
from typer.models import ParameterInfo

VARIABLE = "_M3BENCH_COMPLETE"
"""Set by the shell that asks."""

PROFILES = ("full", "wide", "compact", "mini", "retrieve", "max-scale")

SAFE = re.compile(r"[\w./:@+-]+")
"""What a shell takes as one word, as it is."""

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
            found += [f"{kind}:{one}" for one in known(ctx, name)]
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
    import sqlite3

    from platformdirs import user_data_path

    from m3bench.server.store.layout import database

    given = ctx.params.get("data") or os.environ.get("M3BENCH_DATA") or user_data_path("m3bench")
    path = database(Path(str(given)))
    if not path.is_file():
        return []
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)
    try:
        rows = connection.execute("SELECT id FROM runs ORDER BY started DESC, id LIMIT 50").fetchall()
    finally:
        connection.close()
    return [one for one in ("latest", *(row[0] for row in rows)) if one.startswith(incomplete)]


def clients(ctx: typer.Context, incomplete: str) -> list[str]:
    """Clients of the table."""
    from m3bench.server.clients.table import clients

    return _begun(clients(), incomplete)


def agents(ctx: typer.Context, incomplete: str) -> list[str]:
    """Baseline agents."""
    from m3bench.server.lab.headless.agents.registry import AGENTS

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
    "what": runs,
    "client": clients,
    "agent": agents,
    "sandbox": sandboxes,
}
"""By the name of the parameter."""

OTHERWISE = {"score": {"profile"}, "compare": {"profile"}, "judge": {"what"}}
"""Parameters that mean something else, by command."""


def attach(app: typer.Typer) -> None:
    """Let the parameters of all commands complete, unless they know how to by themselves."""
    for command in app.registered_commands:
        called: str = command.name or getattr(command.callback, "__name__", "") or ""
        for parameter, info in _parameters(command.callback):
            known = parameter in COMPLETERS and parameter not in OTHERWISE.get(called, ())
            if known and info.autocompletion is None:
                info.autocompletion = _quiet(COMPLETERS[parameter])
    for group in app.registered_groups:
        if group.typer_instance is not None:
            attach(group.typer_instance)


def _parameters(callback: Callable[..., Any] | None) -> Iterator[tuple[str, ParameterInfo]]:
    for name, hint in getattr(callback, "__annotations__", {}).items():
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


def _set(ctx: typer.Context) -> list[dict[str, Any]]:
    """The tasks of a set, as its file has them."""
    given = ctx.params.get("tasks")
    folder = Path(str(given)) if given else _data("sets") / "m3"
    found: list[dict[str, Any]] = json.loads((folder / "tasks.json").read_bytes())["tasks"]
    return found


def _data(folder: str) -> Path:
    """A folder of data that travels with the package, found without importing what reads it."""
    import m3bench.tasks

    return Path(str(m3bench.tasks.__file__)).parent / "data" / folder
