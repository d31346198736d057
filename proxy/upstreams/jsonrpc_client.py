"""The client side of newline-delimited JSON-RPC, without models: requests out, raw results back.

A result's bytes are cut out of the line in the layouts that the SDKs write, so that they reach the client as
the server sent them; any other layout is parsed and written again. Who owns the streams is none of its
business: lines are fed in, and a function sends them.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import anyio

from m3bench.proxy.protocol.messages import Json
from m3bench.tasks.eager import Later
from m3bench.tasks.errors import UpstreamError
from m3bench.tasks.jsonrpc import METHOD_NOT_FOUND

_RESULT_LAST = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+)\s*,\s*"result"\s*:\s*(?=\{)')
_RESULT_FIRST = re.compile(rb'\s*\{\s*"result"\s*:\s*(?=\{)')
_TAIL = re.compile(rb'\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+)\s*\}\s*$')

Send = Callable[[bytes], Awaitable[None]]
Notice = Callable[[str, Json], Awaitable[None]]
Asked = Callable[[str | int, str, Json], None]

logger = logging.getLogger(__name__)


class JsonRpcClient:
    """Correlates requests and answers.

    Args:
        name: What the other side is called in messages.
        send: Sends a line.
        notice: Is told of notifications: method and parameters.
        asked: Is told of requests: id, method and parameters; whoever takes one calls `reply`.
    """

    def __init__(self, name: str, send: Send, notice: Notice, asked: Asked | None = None) -> None:
        self._name = name
        self._send = send
        self._notice = notice
        self._asked = asked
        self._last = 0
        self._pending: dict[int, Later[bytes]] = {}
        self._closed: UpstreamError | None = None

    async def request(
        self, method: str, params: Mapping[str, object], *, announce: Callable[[int], None] | None = None
    ) -> bytes:
        """The raw result of a request; a request that is given up is cancelled on the other side.

        Args:
            method: The method.
            params: Its parameters. A progress token in `_meta` is replaced by the request's id.
            announce: Is told the request's id before it is sent.

        Raises:
            UpstreamError: The other side answered with an error, or is gone.
        """
        if self._closed is not None:
            raise self._closed
        self._last += 1
        id = self._last
        pending = Later[bytes]()
        self._pending[id] = pending
        if announce is not None:
            announce(id)
        meta = params.get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta:
            params = {**params, "_meta": {**meta, "progressToken": id}}
        try:
            await self._write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            return await pending
        except asyncio.CancelledError:
            with anyio.move_on_after(1, shield=True):
                reason = {"requestId": id, "reason": "given up"}
                await self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason})
            raise
        finally:
            del self._pending[id]

    async def notify(self, method: str, params: Mapping[str, object] | None = None) -> None:
        """Send a notification."""
        await self._write({"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {}))

    async def reply(self, id: object, body: Mapping[str, object]) -> None:
        """Answer a request of the other side with a result or an error."""
        with suppress(UpstreamError):
            await self._write({"jsonrpc": "2.0", "id": id, **body})

    def take(self, chunk: bytes) -> bytes:
        """Take answers that stand whole at the front of a chunk, as long as there are only such; returns the rest."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            found = split(chunk[start:end])
            if found is None:
                break
            self._settle(*found)
            start = end + 1
        return chunk[start:]

    async def feed(self, line: bytes) -> None:
        """Take a line from the other side. What is not a message is skipped: some servers print."""
        found = split(line)
        if found is not None:
            self._settle(*found)
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            logger.debug("%s: skipped a line that is not JSON", self._name)
            return
        if isinstance(message, dict):
            await self._take(message)

    @property
    def waiting(self) -> bool:
        """Whether anything was asked that is not answered yet."""
        return bool(self._pending)

    def close(self, error: UpstreamError) -> None:
        """Fail what waits, and whatever is asked from now on."""
        self._closed = error
        for pending in list(self._pending.values()):
            pending.fail(error)

    async def _take(self, message: Json) -> None:
        id, method, error = message.get("id"), message.get("method"), message.get("error")
        if isinstance(method, str):
            params = message.get("params")
            if id is None:
                await self._notice(method, params if isinstance(params, dict) else {})
            elif method == "ping":
                await self.reply(id, {"result": {}})
            elif self._asked is not None and isinstance(id, str | int):
                self._asked(id, method, params if isinstance(params, dict) else {})
            else:
                text = f"{method} is not supported by m3bench"
                await self.reply(id, {"error": {"code": METHOD_NOT_FOUND, "message": text}})
        elif isinstance(error, dict):
            problem = UpstreamError(
                self._name, str(error.get("message", "")), code=int(error.get("code", 0)), data=error.get("data")
            )
            pending = self._pending.get(id) if isinstance(id, int) else None
            if pending is not None:
                pending.fail(problem)
        elif isinstance(id, int) and isinstance(message.get("result"), dict):
            self._settle(id, json.dumps(message["result"], ensure_ascii=False, separators=(",", ":")).encode())

    def _settle(self, id: int, result: bytes) -> None:
        pending = self._pending.get(id)
        if pending is not None:
            pending.give(result)

    async def _write(self, message: Mapping[str, object]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        try:
            await self._send(line)
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._closed or UpstreamError(self._name, "the connection is closed") from error


def split(line: bytes) -> tuple[int, bytes] | None:
    """Id and raw result of a successful answer in a layout we know; None for any other line."""
    head = _RESULT_LAST.match(line)
    if head is not None:
        end = line.rstrip()
        return (int(head[1]), end[head.end() : -1].rstrip()) if end.endswith(b"}") else None
    head = _RESULT_FIRST.match(line)
    if head is not None:
        tail = _TAIL.search(line, max(head.end(), len(line) - 200))
        if tail is not None:
            return int(tail[1]), line[head.end() : tail.start()]
    return None
