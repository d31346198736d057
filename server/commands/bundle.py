"""`m3bench client bundle`: one file that Claude Desktop installs by a double click."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.clients.bundle import write
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import console, print_json
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of


def bundle(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")] = Path("m3bench.mcpb"),
    uv: Annotated[
        bool, typer.Option("--uv", help="For other machines: uv fetches the libraries there at the first start.")
    ] = False,
    profile: Annotated[str, typer.Option(help="The tools to suggest to the user.")] = "full",
    json: Json = False,
) -> None:
    """Make an .mcpb bundle that Claude Desktop installs with a double click.

    \b
    m3bench client bundle -o m3bench.mcpb

    The bundle holds all of m3bench, with its tasks and its world. By default it uses the Python and the libraries of
    this installation, so it works on this machine only. With --uv it works on any machine that has uv and, at the first
    start, a network.
    """
    tools_of(profile, load_catalog(), Library())
    manifest = write(out, "uv" if uv else "python", profile)
    size = out.stat().st_size
    if json:
        print_json({"path": str(out), "bytes": size, "manifest": manifest})
        return
    needs = "uv, and a network at its first start" if uv else manifest["server"]["mcp_config"]["command"]
    screen = console()
    screen.print(f"{out}: {size / 1e6:.1f} MB. It needs {needs}.", soft_wrap=True)
    screen.print("Open it with Claude Desktop, or drag it into Settings → Extensions.")
