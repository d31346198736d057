"""The program inside a sandbox: serves the chosen servers over stdio as one MCP server.

It speaks the few methods a tool server needs in a lean loop of its own, because the SDK costs a second and
fifty megabytes to import and this program starts once per run. Any MCP client can talk to it. Beside the
protocol it takes `m3bench/configure`, sent once before the first call, with what the detector knows of the
run's pictures, and puts each call's outcome next to the result for the link on the other side.

Output goes to a private copy of stdout; the real one points to stderr, so that nothing a library prints can
break the stream.
"""

import argparse
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from m3bench.sandboxes.content import result
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher
from m3bench.sandboxes.servers import load
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Lines,
    decode,
    encode,
    encode_reply,
    error,
)
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.errors import UnknownToolError
from m3bench.tasks.scene import Scene

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""A call larger than this gets an error result."""
MAX_LINE_BYTES = 128 * 1024 * 1024
"""A line larger than this is dropped unread."""


class Host:
    """Answers the messages of one client."""

    def __init__(
        self,
        catalog: Catalog,
        workspace: Workspace,
        write: Callable[[bytes], None],
        loader: Callable[[str], ToolServer] = load,
    ) -> None:
        self._catalog = catalog
        self._workspace = workspace
        self._write = write
        self._loader = loader
        self._running: dict[object, anyio.CancelScope] = {}
        self._dispatcher = Dispatcher(catalog, Context(workspace=workspace), loader)

    async def serve(self, chunks: AsyncIterator[bytes]) -> None:
        """Answer until the stream ends; what still runs then is abandoned."""
        lines = Lines(MAX_LINE_BYTES)
        async with anyio.create_task_group() as tasks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    tasks.start_soon(self._answer, line)
                while lines.dropped:
                    lines.dropped -= 1
                    self._write(encode(error(None, INVALID_REQUEST, f"Message over {MAX_LINE_BYTES} bytes dropped")))
            tasks.cancel_scope.cancel()

    async def _answer(self, line: bytes) -> None:
        try:
            message = decode(line)
        except ValueError as problem:
            self._write(encode(error(None, PARSE_ERROR, f"Not JSON: {problem}")))
            return
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            self._write(encode(error(None, INVALID_REQUEST, "A message needs a method")))
            return
        request, method, params = message.get("id"), message["method"], message.get("params") or {}
        if request is None:
            self._notice(method, params)
        elif method == "tools/call":
            await self._call(request, params, len(line))
        else:
            self._write(encode(self._respond(request, method, params)))

    async def _call(self, request: int | str, params: Any, size: int) -> None:
        name = params.get("name") if isinstance(params, dict) else None
        arguments = params.get("arguments") or {} if isinstance(params, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            self._write(encode(error(request, INVALID_PARAMS, "tools/call needs a name and an object of arguments")))
            return
        if size > MAX_REQUEST_BYTES:
            text = f"Invalid arguments for tool {name}: {size} bytes, more than the {MAX_REQUEST_BYTES} allowed"
            self._write(encode_reply(request, "invalid_arguments", result(text, is_error=True)))
            return
        with anyio.CancelScope() as scope:
            self._running[request] = scope
            try:
                reply = await self._dispatcher.call(name, arguments)
                self._write(encode_reply(request, reply.outcome, reply.result))
            except UnknownToolError as problem:
                self._write(encode(error(request, INVALID_PARAMS, str(problem))))
            finally:
                del self._running[request]

    def _respond(self, request: int | str, method: str, params: Any) -> dict[str, Any]:
        match method:
            case "initialize":
                asked = params.get("protocolVersion") if isinstance(params, dict) else None
                answer: dict[str, Any] = {
                    "protocolVersion": asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "m3bench-host", "version": "1"},
                }
            case "tools/list":
                answer = {"tools": [tool.wire() for tool in self._catalog.tools]}
            case "ping":
                answer = {}
            case "m3bench/configure":
                scenes = tuple(Scene.from_json(scene) for scene in params.get("scenes", ()))
                context = Context(workspace=self._workspace, scenes=scenes)
                self._dispatcher = Dispatcher(self._catalog, context, self._loader)
                answer = {}
            case _:
                return error(request, METHOD_NOT_FOUND, f"Unknown method {method!r}")
        return {"jsonrpc": "2.0", "id": request, "result": answer}

    def _notice(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            scope = self._running.get(params.get("requestId"))
            if scope is not None:
                scope.cancel()


async def read_stdin() -> AsyncIterator[bytes]:
    """What arrives on standard input, as it arrives."""
    descriptor = sys.stdin.fileno()
    while True:
        if os.name == "posix":
            await anyio.wait_readable(descriptor)
            chunk = os.read(descriptor, 1 << 20)
        else:
            chunk = await anyio.to_thread.run_sync(os.read, descriptor, 1 << 20, abandon_on_cancel=True)
        if not chunk:
            return
        yield chunk


def private_stdout() -> Callable[[bytes], None]:
    """A writer on standard output that nobody else has: from now on fd 1 is stderr."""
    descriptor = os.dup(1)
    os.dup2(2, 1)

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    return write


def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(prog="m3bench-host", description="Serve tool servers over stdio.")
    parser.add_argument("--workspace", type=Path, required=True, help="the folder the tools work in")
    parser.add_argument("--servers", help="comma-separated server names (default: every server that is ready)")
    options = parser.parse_args()
    write = private_stdout()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    catalog = load_catalog().ready
    if options.servers is not None:
        catalog = catalog.select(name for name in options.servers.split(",") if name)
    host = Host(catalog, Workspace(options.workspace), write)
    anyio.run(host.serve, read_stdin())
    # Worker threads may hang in a tool; nothing of this process is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    main()
