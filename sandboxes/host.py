"""The program inside a sandbox: serves the chosen servers over stdio as one MCP server.

It speaks the few methods a tool server needs in a lean loop of its own, because the SDK costs a second and
fifty megabytes to import and this program starts once per run. Any MCP client can talk to it. Beside the
protocol it takes `m3bench/configure`, sent once before the first call, with what this sandbox offers and what
the detector knows of the run's pictures, and `m3bench/settle`, answered when a call that was cancelled is
really over. `m3bench/open` and `m3bench/leave` begin and end a room: a folder of the workspace that calls which
name it work in, with pictures of its own. Each call's outcome goes next to the result for the link on the other side.

Messages go over private copies of stdin and stdout; the real ones point to nowhere and to stderr, so that
nothing a library reads or prints can break the stream.
"""

import argparse
import asyncio
import gc
import json
import logging
import os
from base64 import b64decode
from collections import deque
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from m3bench.sandboxes.backends.confinement import Confinement, confine
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import MAX_ARGUMENT_BYTES, Dispatcher, oversized, refusal
from m3bench.sandboxes.offer import load, offer
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.wire import caller, decode, encode, encode_reply, error
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import Catalog
from m3bench.tasks.errors import SandboxError, UnknownToolError
from m3bench.tasks.fault import owner_of_error
from m3bench.tasks.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from m3bench.tasks.lines import Lines
from m3bench.tasks.scene import Scene

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

CHUNK_BYTES = 256 * 1024
MANY_OBJECTS = 50_000
"""New objects between two searches for circles: tables of the world are a million of them, and none goes."""
MAX_LINE_BYTES = 128 * 1024 * 1024
"""A line larger than this is dropped unread."""


class _Call:
    """A call that is being carried out."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.over = anyio.Event()


class Host:
    """Answers the messages of one client.

    Args:
        catalog: What is offered until the client says otherwise.
        workspace: The folder the tools work in.
        write: Takes whole lines.
        guards: What this process is kept from, for the client to know.
        loader: Finds a server's code by name.
    """

    def __init__(
        self,
        catalog: Catalog,
        workspace: Workspace,
        write: Callable[[bytes], None],
        guards: tuple[str, ...] = (),
        loader: Callable[[str], ToolServer] = load,
    ) -> None:
        self._catalog = catalog
        self._workspace = workspace
        self._write = write
        self._guards = guards
        self._loader = loader
        self._calls: dict[int | str, _Call] = {}
        self._dispatcher = Dispatcher(catalog, Context(workspace=workspace), loader)
        self._rooms: dict[str, Dispatcher] = {}

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
        known = caller(line)
        if known is not None and len(line) > MAX_ARGUMENT_BYTES:
            self._write(encode_reply(known, refusal("(unread)", oversized(len(line))).render()))
            return
        try:
            message = decode(line)
        except ValueError as problem:
            self._write(encode(error(known, PARSE_ERROR, f"Not JSON: {problem}")))
            return
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            self._write(encode(error(None, INVALID_REQUEST, "A message needs a method")))
            return
        request, method, params = message.get("id"), message["method"], message.get("params")
        params = {} if params is None else params
        if request is None:
            self._notice(method, params)
        elif not isinstance(request, int | str) or not isinstance(params, dict):
            self._write(encode(error(None, INVALID_REQUEST, "The id must be a number or a string, params an object")))
        elif method == "tools/call":
            await self._call(request, params, len(line))
        elif method == "m3bench/settle":
            await self._settle(request, params)
        else:
            self._write(encode(self._respond(request, method, params)))

    async def _call(self, request: int | str, params: dict[str, object], size: int) -> None:
        name, arguments = params.get("name"), params.get("arguments")
        arguments = {} if arguments is None else arguments
        if not isinstance(name, str) or not isinstance(arguments, dict):
            self._write(encode(error(request, INVALID_PARAMS, "tools/call needs a name and an object of arguments")))
            return
        if size > MAX_ARGUMENT_BYTES:
            self._write(encode_reply(request, refusal(name, oversized(size)).render()))
            return
        room = str(params.get("room") or "")
        dispatcher = self._rooms.get(room) if room else self._dispatcher
        if dispatcher is None:
            self._write(encode(error(request, INTERNAL_ERROR, f"There is no room {room!r} in this sandbox.")))
            return
        call = self._calls[request] = _Call()
        try:
            with call.scope:
                reply = await dispatcher.call(name, arguments)
                self._write(encode_reply(request, reply.render()))
        except UnknownToolError as problem:
            self._write(encode(error(request, INVALID_PARAMS, str(problem), {"nearest": problem.nearest})))
        except SandboxError as problem:
            self._write(encode(error(request, INTERNAL_ERROR, str(problem), {"owner": owner_of_error(problem)})))
        finally:
            self._calls.pop(request, None)
            call.over.set()

    async def _settle(self, request: int | str, params: dict[str, object]) -> None:
        call = self._find(params)
        if call is not None:
            await call.over.wait()
        self._write(encode({"jsonrpc": "2.0", "id": request, "result": {}}))

    def _respond(self, request: int | str, method: str, params: dict[str, object]) -> dict[str, object]:
        match method:
            case "initialize":
                asked = params.get("protocolVersion")
                answer: dict[str, object] = {
                    "protocolVersion": asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "m3bench-host", "version": "1"},
                }
            case "tools/list":
                answer = {"tools": [tool.wire() for tool in self._catalog.tools]}
            case "ping":
                answer = {}
            case "m3bench/configure" | "m3bench/open":
                try:
                    if method == "m3bench/open":
                        self._open(params)
                    else:
                        self._configure(params)
                except (UnknownToolError, AttributeError, LookupError, TypeError, ValueError) as problem:
                    return error(request, INVALID_PARAMS, f"Cannot be configured so: {problem}")
                answer = {"guards": self._guards}
            case "m3bench/leave":
                self._rooms.pop(str(params.get("room")), None)
                answer = {}
            case _:
                return error(request, METHOD_NOT_FOUND, f"Unknown method {method!r}")
        return {"jsonrpc": "2.0", "id": request, "result": answer}

    def _configure(self, params: dict[str, Any]) -> None:
        if "servers" in params:
            self._catalog = offer(params["servers"])
        self._dispatcher = Dispatcher(self._catalog, _context(self._workspace, params), self._loader)

    def _open(self, params: dict[str, Any]) -> None:
        name = str(params["room"])
        if Path(name).name != name or name.startswith("."):
            raise ValueError(f"{name!r} is no name of a room")
        place = Workspace(self._workspace.root / name)
        self._rooms[name] = Dispatcher(offer(params.get("servers")), _context(place, params), self._loader)

    def _notice(self, method: str, params: object) -> None:
        if method == "notifications/cancelled":
            call = self._find(params)
            if call is not None:
                call.scope.cancel()

    def _find(self, params: object) -> _Call | None:
        request = params.get("requestId") if isinstance(params, dict) else None
        return self._calls.get(request) if isinstance(request, int | str) else None


def _context(workspace: Workspace, params: dict[str, Any]) -> Context:
    """What tools work on, as the client describes it."""
    scenes = tuple(Scene.from_json(scene) for scene in params.get("scenes", ()))
    links = {page: b64decode(picture, validate=True) for page, picture in params.get("links", {}).items()}
    return Context(workspace=workspace, scenes=scenes, links=links)


async def receive(descriptor: int) -> AsyncIterator[bytes]:
    """What arrives on a descriptor, as it arrives."""
    # A reader that stays costs a third less per message than waiting anew each time.
    loop, arrived, chunks = asyncio.get_running_loop(), asyncio.Event(), deque[bytes]()

    def read() -> None:
        chunks.append(os.read(descriptor, CHUNK_BYTES))
        arrived.set()
        if not chunks[-1]:
            loop.remove_reader(descriptor)

    try:
        loop.add_reader(descriptor, read)
    except (NotImplementedError, PermissionError):
        # Windows can wait for nothing but sockets, and nobody can wait for a plain file.
        while chunk := await anyio.to_thread.run_sync(os.read, descriptor, CHUNK_BYTES, abandon_on_cancel=True):
            yield chunk
        return
    while True:
        await arrived.wait()
        arrived.clear()
        while chunks:
            chunk = chunks.popleft()
            if not chunk:
                return
            yield chunk


async def _receive_and_leave(descriptor: int) -> AsyncIterator[bytes]:
    async for chunk in receive(descriptor):
        yield chunk
    # Worker threads may hang in a tool; nothing of this process is worth waiting for.
    os._exit(0)


def private_streams() -> tuple[int, Callable[[bytes], None]]:
    """Standard input and a writer on standard output that nobody else has.

    From now on descriptor 0 gives nothing and descriptor 1 is stderr, for libraries and child processes alike.
    """
    reading, writing, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]

    return reading, write


def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(prog="m3bench-host", description="Serve tool servers over stdio.")
    parser.add_argument("--workspace", type=Path, required=True, help="the folder the tools work in")
    parser.add_argument("--servers", help="comma-separated server names (default: every server that is ready)")
    parser.add_argument("--confine", metavar="JSON", help="what this process gives up before it serves")
    options = parser.parse_args()
    gc.freeze()
    gc.set_threshold(MANY_OBJECTS)
    reading, write = private_streams()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    guards: tuple[str, ...] = ()
    if options.confine is not None:
        guards = confine(Confinement(**json.loads(options.confine)), options.workspace, reading)
    names = None if options.servers is None else [name for name in options.servers.split(",") if name]
    host = Host(offer(names), Workspace(options.workspace), write, guards)
    anyio.run(host.serve, _receive_and_leave(reading))


if __name__ == "__main__":
    main()
