"""`m3bench tool-server`: bundled servers without the benchmark around them."""

from pathlib import Path
from typing import Annotated

import typer


def tool_server(
    names: Annotated[list[str], typer.Argument(metavar="SERVER…", help="The servers, by name.")],
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Listen there, on this machine; stdio by default.")
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            "-w",
            metavar="DIR",
            help="The folder the tools work in, made if missing; a temporary one by default.",
        ),
    ] = None,
    sandbox: Annotated[str, typer.Option(help="Where the tools run: process, docker or inprocess.")] = "process",
) -> None:
    """Run bundled servers on their own, as an MCP server with their tools and nothing else.

    \b
    m3bench tool-server wiki                       # one server: its tools have their own names
    m3bench tool-server math excel -w work         # several: server__tool
    m3bench tool-server weather --http 127.0.0.1:8710

    There is no task, no run and no record; the answers are those that a run would get.
    """
    from m3bench.server.commands.call import folder_of
    from m3bench.server.commands.manual import find_server
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.errors import UserError

    chosen = load_catalog().select([find_server(name).name for name in names])
    for server in chosen.servers:
        if not server.ready:
            raise UserError(f"The server {server.name!r} is not built yet: m3bench servers lists those that are.")
    from m3bench.server.commands.standalone import serve_tools

    serve_tools(chosen.servers, sandbox, folder_of(workspace) if workspace is not None else None, http)
