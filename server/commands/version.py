"""`m3bench --version`: the version, and the hashes of everything that makes two runs comparable."""

from typing import Annotated

import typer


def version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and what results depend on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --version: print JSON.")] = False,
) -> None:
    """A benchmark that is an MCP server: connect any MCP client and measure how well it uses tools."""
    if version:
        _show(json)
        raise typer.Exit
    if json or context.invoked_subcommand is None:
        raise typer.BadParameter("Missing command." if not json else "--json goes with --version, or after a command.")


def _show(json: bool) -> None:
    from m3bench.server.commands.screen import print_json
    from m3bench.server.runs.versions import versions
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.library import Library

    found = versions(Library(), load_catalog().ready)
    if json:
        print_json(found)
        return
    tasks = found.pop("tasks")
    typer.echo(f"m3bench {found.pop('m3bench')}")
    typer.echo(f"tasks    {tasks['name']} {tasks['version']}, {tasks['hash']}")
    for name, value in found.items():
        typer.echo(f"{name:8} {value}")
