"""Serving one client over standard input and output.

The SDK answers everything but tool calls. Once it has settled which protocol era the client speaks, calls
take a shorter way past it: one line in, parsed once, one line out, the result's bytes spliced in as the tool
gave them. Lines are cut in linear time and written without ever blocking the loop on a client that does not
read.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.call import Caller, ToolRequest, error_object
from m3bench.proxy.descriptors import Descriptors
from m3bench.proxy.front import Front, is_wanted, tool_request
from m3bench.proxy.seat import Seat
from m3bench.tasks.lines import Lines

MAX_LINE_BYTES = 64 * 1024 * 1024


async def serve_stdio(front: Front, seat: Seat) -> None:
    """Serve until standard input closes; calls still under way then are cancelled."""
    wire = Wire()
    try:
        await _Pump(front, seat, wire).run()
    finally:
        wire.close()


class Wire(Descriptors):
    """The process's standard streams, taken away from everybody else: stray prints go to stderr."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        super().__init__(self._input, self._output)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def close(self) -> None:
        """Give the streams back."""
        sys.stdout.flush()
        os.dup2(self._input, 0)
        os.dup2(self._output, 1)
        os.close(self._input)
        os.close(self._output)


class _Pump:
    """Moves messages between the wire, the SDK and the router."""

    def __init__(self, front: Front, seat: Seat, wire: Wire) -> None:
        self._front = front
        self._seat = seat
        self._wire = wire
        self._revision = ""
        """Set when the SDK has accepted the client; until then nothing takes the short way."""
        self._client = ""
        self._opening: dict[object, tuple[str, str]] = {}
        """Requests that settle the era when they succeed: id to revision and client."""
        self._running: dict[object, anyio.CancelScope] = {}

    async def run(self) -> None:
        async def seat_of(context: Any) -> Seat:
            return self._seat

        server = self._front.server(seat_of)
        self._stamp = server.server_info_stamp
        into_sdk, sdk_reads = anyio.create_memory_object_stream[SessionMessage | Exception](8)
        sdk_writes, out_of_sdk = anyio.create_memory_object_stream[SessionMessage](8)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_sdk, out_of_sdk)
            tasks.start_soon(self._read, into_sdk, tasks)
            await serve_dual_era_loop(server, sdk_reads, sdk_writes, lifespan_state={})
            tasks.cancel_scope.cancel()

    async def _read(self, into_sdk: MemoryObjectSendStream[SessionMessage | Exception], tasks: Any) -> None:
        lines = Lines(MAX_LINE_BYTES)
        async with into_sdk:
            async for chunk in self._wire.chunks():
                for line in lines.feed(chunk):
                    message = _parse(line)
                    if self._is_short(message):
                        tasks.start_soon(self._call, message, line)
                    elif not self._cancels(message):
                        self._note_opening(message)
                        await into_sdk.send(_session_message(line))
                while lines.dropped:
                    lines.dropped -= 1
                    await self._wire.send(_refusal(f"Message over {MAX_LINE_BYTES} bytes dropped"))
        for scope in self._running.values():
            scope.cancel()

    async def _write_sdk(self, out_of_sdk: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for item in out_of_sdk:
            message = item.message
            if isinstance(message, JSONRPCResponse) and message.id in self._opening:
                self._revision, self._client = self._opening.pop(message.id)
                self._revision = message.result.get("protocolVersion", self._revision)
            await self._wire.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def _call(self, message: Mapping[str, Any], line: bytes) -> None:
        id, params = message["id"], message["params"]
        caller = Caller(seat=self._seat.id, revision=self._revision, client=self._client)
        with anyio.CancelScope() as scope:
            self._running[id] = scope
            try:
                request = tool_request(caller, id, params, line)
                answer = await self._front.router.call(self._seat, request, _Relay(self._wire, request))
            finally:
                self._running.pop(id, None)
            head = b'{"jsonrpc":"2.0","id":' + json.dumps(id).encode()
            if answer.error is not None:
                error = json.dumps(error_object(answer.error))
                await self._wire.send(head + b',"error":' + error.encode() + b"}\n")
            else:
                await self._wire.send(head + b',"result":' + self._envelope(self._front.shape(answer.result)) + b"}\n")

    def _envelope(self, result: bytes) -> bytes:
        if self._revision not in MODERN_PROTOCOL_VERSIONS:
            return result
        stamp = json.dumps(self._stamp).encode()
        if b'"_meta"' not in result:
            meta = b'{"resultType":"complete","_meta":{"%b":%b},' % (SERVER_INFO_META_KEY.encode(), stamp)
            return meta + result[1:]
        data = json.loads(result)
        data = {
            "resultType": "complete",
            **data,
            "_meta": {**(data.get("_meta") or {}), SERVER_INFO_META_KEY: self._stamp},
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()

    def _is_short(self, message: Any) -> bool:
        """Whether a message is a plain tool call of the era the client has settled on."""
        if not self._revision or not isinstance(message, dict) or message.get("method") != "tools/call":
            return False
        id, params = message.get("id"), message.get("params")
        if type(id) not in (int, str) or id in self._running or not isinstance(params, dict):
            return False
        meta = params.get("_meta")
        envelope = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
        if self._revision in HANDSHAKE_PROTOCOL_VERSIONS:
            return envelope is None
        return envelope == self._revision and isinstance(meta.get(CLIENT_CAPABILITIES_META_KEY), dict)  # type: ignore[union-attr]

    def _cancels(self, message: Any) -> bool:
        """Carry out a cancellation of a call that took the short way."""
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": id}} if id in self._running:
                self._running[id].cancel()
                return True
            case _:
                return False

    def _note_opening(self, message: Any) -> None:
        """Remember a request whose success settles the era."""
        if self._revision:
            return
        match message:
            case {"method": "initialize", "id": id, "params": {"protocolVersion": revision, **rest}}:
                self._opening[id] = (str(revision), _client(rest.get("clientInfo")))
            case {"id": id, "params": {"_meta": {**meta}}} if meta.get(PROTOCOL_VERSION_META_KEY):
                self._opening[id] = (str(meta[PROTOCOL_VERSION_META_KEY]), _client(meta.get(CLIENT_INFO_META_KEY)))


class _Relay:
    """Carries notifications of a call under way to the client."""

    def __init__(self, wire: Wire, request: ToolRequest) -> None:
        self._wire = wire
        self._request = request

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        if not is_wanted(method, params, self._request.caller.revision, self._request.meta):
            return
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        await self._wire.send(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _parse(line: bytes) -> Any:
    """The message of a line for choosing its way; None when it is not JSON, which the SDK then reports."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _session_message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


def _client(info: object) -> str:
    return f"{info.get('name', '')} {info.get('version', '')}".strip() if isinstance(info, dict) else ""


def _refusal(text: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": text}}).encode() + b"\n"
