"""`m3bench servers`: what there is to use, what it needs, and whether it works here."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from m3bench.server.commands.checkup import Finding
    from m3bench.tasks.catalog import Catalog, Server


def servers(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SERVER]", help="Only these; all by default.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Start each one and make a real call.")] = False,
    sandbox: Annotated[str, typer.Option(help="Where --check runs them: process, docker or inprocess.")] = "process",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/servers.md.")] = False,
) -> None:
    """List the tool servers: tools, category, whether they are built and what they need.

    With --check, start each server, make one real call and show a tick or the reason. Nothing goes over the network.
    Exit code 1 when a server does not work.

    `m3bench call SERVER` shows a server's tools, `m3bench call SERVER/TOOL` how to try one.
    """
    from m3bench.server.commands.manual import find_server
    from m3bench.server.commands.screen import print_json
    from m3bench.tasks.catalog import load_catalog

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


def _row(server: "Server") -> dict[str, object]:
    return {
        "server": server.name,
        "tools": [tool.name for tool in server.tools],
        "category": server.category,
        "ready": server.ready,
    }


def _list(catalog: "Catalog") -> None:
    from rich.table import Table

    from m3bench.server.commands.screen import console

    table = Table(box=None, pad_edge=False)
    for heading in ("server", "tools", "category", "state", "needs"):
        table.add_column(heading, justify="right" if heading == "tools" else "left")
    for server in catalog.servers:
        table.add_row(server.name, str(len(server.tools)), server.category, _state(server), server.needs or "–")
    screen = console()
    screen.print(table)
    screen.print(f"{len(catalog.ready.tools)} of {len(catalog.tools)} tools are ready.")


def _state(server: "Server") -> str:
    return "ready" if server.ready else "not built yet"


def _check(servers: "Sequence[Server]", sandbox: str, *, json: bool) -> None:
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.serving import interrupts

    findings = interrupts.run(_findings, servers, sandbox, json)
    failed = [finding for finding in findings if not finding.ok]
    if json:
        print_json([finding.to_json() for finding in findings])
    else:
        waiting = len(servers) - len(findings)
        screen = console()
        screen.print(
            f"{len(findings) - len(failed)} of {len(findings)} servers work"
            + (f"; {waiting} {'is' if waiting == 1 else 'are'} not built yet." if waiting else ".")
        )
    if failed:
        raise typer.Exit(1)


async def _findings(servers: "Sequence[Server]", sandbox: str, quiet: bool) -> "list[Finding]":
    from m3bench.server.commands.checkup import check
    from m3bench.server.commands.screen import progress
    from m3bench.server.serving.backend import backend_of
    from m3bench.server.settings import Settings

    ready = [server for server in servers if server.ready]
    width = max((len(server.name) for server in ready), default=0)
    findings = []
    async with backend_of(Settings.of(sandbox=sandbox)) as backend:
        # Lines that appear one by one are progress enough; a bar is for those who wait for JSON.
        for server in progress(ready, len(ready), "Checking") if quiet else ready:
            findings.append(await check(server, backend))
            if not quiet:
                _show(findings[-1], width)
    return findings


def _show(finding: "Finding", width: int) -> None:
    from rich.text import Text

    from m3bench.server.commands.screen import console
    from m3bench.server.scoring.words import printable

    mark = ("✓ ", "green") if finding.ok else ("✗ ", "bold red")
    outcome = f"{finding.tool}, {finding.seconds:.1f} s" if finding.ok else printable(finding.problem)
    line = Text.assemble(mark, f"{finding.server:{width}}  ", (outcome, "dim" if finding.ok else "red"))
    console().print(line, soft_wrap=True)


def page(catalog: "Catalog") -> str:
    """The page that lists every server and tool."""
    lines = [
        "# Servers",
        "",
        f"{len(catalog.servers)} servers, {len(catalog.tools)} tools; {len(catalog.ready.tools)} tools are built. "
        "Generated by `m3bench servers --markdown`.",
        "",
        "Clients get them through the benchmark. `m3bench tool-server SERVER…` runs any of them on their own, as an "
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
