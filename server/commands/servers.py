"""`m3bench servers`: what there is to use, what it needs, and whether it works here.

A check starts a server in a sandbox of its own and makes one real call: the first of the server's examples, in a
workspace prepared as they ask. It is for a person who wants to know whether an installation is whole; the tests drive
every tool.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.text import Text

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.server.commands.manual import find_server
from m3bench.server.commands.options import Json, Sandbox
from m3bench.server.commands.screen import console, plain_table, print_json, progress
from m3bench.server.lab.authoring.replay import play
from m3bench.server.scoring.words import printable
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import Catalog, Server, load_catalog
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.trajectory import Call, Step, Trajectory


@dataclass(frozen=True, kw_only=True)
class ServerCheck:
    """What became of checking one server."""

    server: str
    tool: str
    """The tool that was called."""
    seconds: float
    """From nothing to the answer: the start of the sandbox and the loading of the server count."""
    problem: str = ""
    """Why it does not work; empty when it does."""

    @property
    def ok(self) -> bool:
        """Whether the server works."""
        return not self.problem

    def to_json(self) -> dict[str, object]:
        """The check as JSON data."""
        return {
            "server": self.server,
            "tool": self.tool,
            "ok": self.ok,
            "seconds": round(self.seconds, 3),
            "problem": self.problem,
        }


def servers(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SERVER]", help="Only these; all by default.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Start each one and make a real call.")] = False,
    sandbox: Sandbox = "process",
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/servers.md.")] = False,
) -> None:
    """List the tool servers, and check that they work here.

    \b
    m3bench servers                        # all of them, and what they need
    m3bench servers --check                # start each one, make a real call
    m3bench servers excel math --check

    A check shows a tick, or the reason why a server does not work; nothing goes over the network. The exit code is 1
    when a server does not work.

    `m3bench tools call SERVER` shows a server's tools, `m3bench tools call SERVER/TOOL` how to try one.
    """
    catalog = load_catalog()
    if names:
        catalog = catalog.select([find_server(name).name for name in names])
    if check:
        _check(catalog.servers, sandbox, json=json)
    elif json:
        print_json([_row(server) for server in catalog.servers])
    elif markdown:
        typer.echo(page(catalog), nl=False)
    else:
        _list(catalog)


def _row(server: Server) -> dict[str, object]:
    return {
        "server": server.name,
        "tools": [tool.name for tool in server.tools],
        "category": server.category,
        "ready": server.ready,
    }


def _list(catalog: Catalog) -> None:
    table = plain_table("server", "tools", "category", "state", "needs", right=("tools",))
    for server in catalog.servers:
        table.add_row(server.name, str(len(server.tools)), server.category, _state(server), server.needs or "–")
    screen = console()
    screen.print(table)
    screen.print(f"{len(catalog.ready.tools)} of {len(catalog.tools)} tools are ready.")


def _state(server: Server) -> str:
    return "ready" if server.ready else "not built yet"


def _check(servers: Sequence[Server], sandbox: str, *, json: bool) -> None:
    checks = interrupts.run(_checks, servers, sandbox, json)
    failed = [check for check in checks if not check.ok]
    if json:
        print_json([check.to_json() for check in checks])
    else:
        waiting = len(servers) - len(checks)
        screen = console()
        screen.print(
            f"{len(checks) - len(failed)} of {len(checks)} servers work"
            + (f"; {waiting} {'is' if waiting == 1 else 'are'} not built yet." if waiting else ".")
        )
    if failed:
        raise typer.Exit(1)


async def _checks(servers: Sequence[Server], sandbox: str, quiet: bool) -> list[ServerCheck]:
    ready = [server for server in servers if server.ready]
    width = max((len(server.name) for server in ready), default=0)
    checks = []
    async with backend_of(Settings.of(sandbox=sandbox)) as backend:
        # Lines that appear one by one are progress enough; a bar is for those who wait for JSON.
        for server in progress(ready, len(ready), "Checking") if quiet else ready:
            checks.append(await _check_one(server, backend))
            if not quiet:
                _show(checks[-1], width)
    return checks


async def _check_one(server: Server, backend: Backend) -> ServerCheck:
    """Start a server and call one of its tools."""
    examples = load_examples(server.name)
    tool, arguments = next(iter(examples.calls.items()))
    calls = [*examples.setup, (f"{server.name}/{tool}", arguments)]
    trajectory = Trajectory(steps=tuple(Step(calls=(Call(tool=name, arguments=given),)) for name, given in calls))

    def furnish(workspace: Path) -> SandboxSpec:
        examples.write_files(workspace)
        return SandboxSpec(workspace=workspace, servers=(server.name,), scenes=examples.scenes)

    began = perf_counter()
    problem = ""
    try:
        async for played in play(server.name, trajectory, backend=backend, catalog=Catalog((server,)), furnish=furnish):
            if not (played.succeeded or problem):
                text = " ".join(played.text.split()) or "no text"
                problem = f"{played.call.tool}: {played.outcome.replace('_', ' ')}: {text}"
    except SandboxError as error:
        problem = str(error)
    return ServerCheck(server=server.name, tool=tool, seconds=perf_counter() - began, problem=problem)


def _show(check: ServerCheck, width: int) -> None:
    mark = ("✓ ", "green") if check.ok else ("✗ ", "bold red")
    outcome = f"{check.tool}, {check.seconds:.1f} s" if check.ok else printable(check.problem)
    line = Text.assemble(mark, f"{check.server:{width}}  ", (outcome, "dim" if check.ok else "red"))
    console().print(line, soft_wrap=True)


def page(catalog: Catalog) -> str:
    """The page that lists every server and tool."""
    lines = [
        "# Servers",
        "",
        f"{len(catalog.servers)} servers, {len(catalog.tools)} tools; {len(catalog.ready.tools)} tools are built. "
        "Generated by `m3bench servers --markdown`.",
        "",
        "Clients get them through the benchmark. `m3bench tools serve SERVER…` runs any of them on their own, as an "
        "MCP server over stdio or `--http`, without tasks and without a record.",
        "",
        "| server | tools | category | state |",
        "|---|---|---|---|",
    ]
    for server in catalog.servers:
        lines.append(f"| {server.name} | {len(server.tools)} | {server.category} | {_state(server)} |")
    for server in catalog.ready.servers:
        lines += ["", f"## {server.name}", "", f"{server.title}.", "", "| tool | what it does |", "|---|---|"]
        lines += [f"| `{tool.name}` | {tool.description.replace('|', '&#124;')} |" for tool in server.tools]
    return "\n".join(lines) + "\n"
