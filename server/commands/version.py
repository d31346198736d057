"""`m3bench --version`: the version, and the hashes of everything that makes two runs comparable."""

import typer

from m3bench.server.commands.screen import print_json
from m3bench.server.runs.versions import versions
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library


def show(json: bool) -> None:
    """Print the version and the hashes, a line for each or as JSON."""
    found = versions(Library(), load_catalog().ready)
    if json:
        print_json(found)
        return
    tasks = found.pop("tasks")
    typer.echo(f"m3bench {found.pop('m3bench')}")
    typer.echo(f"tasks    {tasks['name']} {tasks['version']}, {tasks['hash']}")
    for name, value in found.items():
        typer.echo(f"{name:8} {value}")
