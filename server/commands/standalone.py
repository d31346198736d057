"""Bundled servers on their own: an ordinary MCP server with their tools, answered from a sandbox.

No run, no record and no profile: for trying a server in a client, and for whoever wants the tools without the
benchmark. Built on FastMCP, which takes more than a second to import: it is imported only when servers are started.
"""

import shutil
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool as FastTool
from fastmcp.tools import ToolResult
from fastmcp.utilities.logging import temporary_log_level
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from m3bench.proxy.transports.stdio import Pump, Reads, StandardStreams, Stream, Writes
from m3bench.sandboxes.backends.base import Sandbox, SandboxSpec
from m3bench.sandboxes.wire import dump
from m3bench.server.serving.backend import backend_of
from m3bench.server.serving.transport import address_of, run_alone, serve_asgi, until_signal
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import Server, Tool
from m3bench.tasks.errors import M3Error, UserError
from m3bench.tasks.outcome import CALL_SECONDS

PATH = "/mcp"


class SandboxedTool(FastTool):
    """A tool of the catalog, with the schema it has there."""

    tool: Any
    """The `Tool`."""
    place: Any
    """The `Sandbox` that answers."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer a call with the very result of the tool."""
        tool: Tool = self.tool
        place: Sandbox = self.place
        try:
            taken = tool.read(arguments).arguments
            reply = await place.call(tool.qualified, dump(taken), CALL_SECONDS)
        except (M3Error, ValueError, RecursionError) as error:
            said = TextContent(type="text", text=str(error))
            return ToolResult.from_mcp_result(CallToolResult(content=[said], is_error=True))
        return ToolResult.from_mcp_result(CallToolResult.model_validate_json(reply.result))


def tool_server(servers: Sequence[Server], place: Sandbox) -> FastMCP[object]:
    """The tools of some servers as one MCP server; those of a single one under their bare names.

    Args:
        servers: In the order their tools are listed.
        place: A sandbox that offers them.
    """
    alone = len(servers) == 1
    made: FastMCP[object] = FastMCP(name=servers[0].name if alone else "m3bench-tools", version=version("m3bench"))
    for server in servers:
        for tool in server.tools:
            made.add_tool(
                SandboxedTool(
                    name=tool.name if alone else tool.exposed,
                    description=tool.description,
                    parameters=dict(tool.input_schema),
                    annotations=ToolAnnotations.model_validate(dict(tool.annotations)),
                    tool=tool,
                    place=place,
                )
            )
    return made


def serve_tools(servers: Sequence[Server], sandbox: str, workspace: Path | None, http: str | None) -> None:
    """Serve the tools until the client goes or a signal says stop.

    Args:
        servers: Which ones.
        sandbox: Where they run.
        workspace: The folder they work in, kept; a temporary one, gone in the end, when left out.
        http: `HOST:PORT` to listen at; standard input and output when left out.
    """
    listen = address_of(http) if http is not None else None
    if listen is not None and not listen.loopback:
        raise UserError(
            f"Listening on {listen.host} lets others connect, and tools alone ask for no token: use 127.0.0.1."
        )
    backend = backend_of(Settings.of(sandbox=sandbox))
    folder = workspace or Path(mkdtemp(prefix="m3bench-"))

    pressed = False

    async def main() -> None:
        nonlocal pressed
        async with backend:
            place = await backend.open(SandboxSpec(workspace=folder, servers=tuple(server.name for server in servers)))
            served = tool_server(servers, place)
            if listen is None:
                await _serve_stdio(served)
            else:
                # Pages that a browser shows must not reach it: requests name this machine, or are refused.
                asgi = served.http_app(path=PATH, host_origin_protection=True, allowed_hosts=[listen.host])
                pressed = await serve_asgi(asgi, listen)

    try:
        run_alone(main)
    finally:
        if workspace is None:
            shutil.rmtree(folder, ignore_errors=True)
    if pressed:
        raise KeyboardInterrupt


async def serve_stream(served: FastMCP[object], stream: Stream) -> None:
    """Serve one client over a stream of lines as the benchmark does: whatever it writes is answered."""
    # FastMCP has no public way to serve streams of one's own.
    server = served._mcp_server

    async def drive(reads: Reads, writes: Writes) -> None:
        await server.run(reads, writes, server.create_initialization_options())

    with temporary_log_level("WARNING"):
        async with served._lifespan_manager():
            await Pump(stream, drive).run()


async def _serve_stdio(served: FastMCP[object]) -> None:
    wire = StandardStreams()
    try:
        await until_signal(lambda: serve_stream(served, wire))
    finally:
        wire.close()
