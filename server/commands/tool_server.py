"""`m3bench tools serve`: bundled servers without the benchmark around them."""

from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.call import Workspace, folder_of
from m3bench.server.commands.manual import find_server
from m3bench.server.commands.options import Sandbox
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# FastMCP takes more than a second to import: help and completion do without it.
if TYPE_CHECKING:
    from m3bench.server.commands import standalone
else:
    standalone = LazyModule("m3bench.server.commands.standalone")


def tool_server(
    names: Annotated[list[str], typer.Argument(metavar="SERVER...", help="The servers, by name.")],
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Listen there, on this machine; stdio by default.")
    ] = None,
    workspace: Workspace = None,
    sandbox: Sandbox = "process",
) -> None:
    """Run bundled servers on their own, without the benchmark.

    \b
    m3bench tools serve wiki                 # its tools have their own names
    m3bench tools serve math excel -w work   # several: server__tool
    m3bench tools serve weather --http 127.0.0.1:8710

    It is an MCP server with their tools and nothing else: there is no task, no run and no record. The answers are
    those that a run would get.
    """
    chosen = load_catalog().select([find_server(name).name for name in names])
    for server in chosen.servers:
        if not server.ready:
            raise UserError(f"The server {server.name!r} is not built yet: `m3bench servers` lists those that are.")
    standalone.serve_tools(chosen.servers, sandbox, folder_of(workspace) if workspace is not None else None, http)
