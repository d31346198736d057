"""The near end of the line to a host: requests out, replies in, matched by number.

Arguments go into a request and results come out of a reply as the bytes they are. A link knows nothing of
processes or containers: it is given a way to write, fed with what the host writes, and told when it is gone.
"""

import logging
from collections.abc import Callable
from itertools import count
from typing import Any

import anyio

from m3bench.sandboxes.dispatcher import NOT_AN_OBJECT, refusal
from m3bench.sandboxes.wire import decode, encode, encode_call, split_reply
from m3bench.tasks.errors import SandboxError, ToolCrashError, UnknownToolError
from m3bench.tasks.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from m3bench.tasks.lines import Lines
from m3bench.tasks.outcome import Reply

MAX_LINE_BYTES = 128 * 1024 * 1024
"""Far above what a host may send; a longer line is dropped as it arrives."""

logger = logging.getLogger(__name__)


class Pending:
    """A request on its way."""

    def __init__(self, link: "HostLink", request: int, tool: str = "") -> None:
        self.request = request
        self._link = link
        self._tool = tool
        self._done = anyio.Event()
        self._message: Reply | dict[str, object] | SandboxError | None = None

    def settle(self, message: Reply | dict[str, object] | SandboxError) -> None:
        """Store the outcome and wake whoever waits for it."""
        self._message = message
        self._done.set()

    async def message(self) -> Reply | dict[str, object]:
        """Wait for it. Whoever stops waiting, by cancellation or timeout, takes the request back."""
        try:
            await self._done.wait()
        finally:
            self._link.forget(self, cancel=not self._done.is_set())
        assert self._message is not None
        if isinstance(self._message, SandboxError):
            # Each waiter raises its own: a traceback belongs to one.
            raise SandboxError(str(self._message))
        return self._message

    async def reply(self) -> Reply:
        """What a call came to.

        Raises:
            SandboxError: The host ended, or cannot load the tool's server.
            ToolCrashError: The tool broke.
            UnknownToolError: The host has no such tool.
        """
        message = await self.message()
        if isinstance(message, Reply):
            return message
        if "error" not in message:
            raise SandboxError("The sandbox answered with something that is not a result.")
        problem: dict[str, Any] = message["error"]  # type: ignore[assignment]  # written by our host
        data = problem.get("data", {})
        if "nearest" in data:
            raise UnknownToolError(self._tool, data["nearest"])
        if problem.get("code") == INTERNAL_ERROR:
            raise (ToolCrashError if data.get("owner") == "tool" else SandboxError)(problem["message"])
        text = NOT_AN_OBJECT if problem.get("code") == INVALID_PARAMS else problem.get("message", "no result")
        return refusal(self._tool, text).render()


class HostLink:
    """Requests and replies over some line.

    Args:
        write: Takes whole lines for the host, at once and without waiting.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._lines = Lines(MAX_LINE_BYTES)
        self._numbers = count(1)
        self._pending: dict[int, Pending] = {}
        self._broken: SandboxError | None = None
        self._idle = anyio.Event()
        self._busy = anyio.Event()

    def feed(self, data: bytes) -> None:
        """Take what the host wrote, in pieces of any size."""
        for line in self._lines.feed(data):
            self._take(line)

    def fail(self, error: SandboxError) -> None:
        """Answer whatever waits, now and later, with an error; the first one given stays."""
        self._broken = self._broken or error
        for pending in list(self._pending.values()):
            pending.settle(self._broken)

    @property
    def broken(self) -> bool:
        """Whether the host is known to be gone."""
        return self._broken is not None

    def call(self, tool: str, arguments: bytes, room: str = "") -> Pending:
        """Send a call; `arguments` is a JSON object, raw. A host with several rooms is told in which one."""
        request = next(self._numbers)
        return self._send(Pending(self, request, tool), encode_call(request, tool, arguments, room))

    async def ask(self, method: str, params: object) -> dict[str, object]:
        """Send any other request and wait for its result.

        Raises:
            SandboxError: The host ended or refused.
        """
        request = next(self._numbers)
        line = encode({"jsonrpc": "2.0", "id": request, "method": method, "params": params})
        message = await self._send(Pending(self, request), line).message()
        answer = message.get("result") if isinstance(message, dict) else None
        if not isinstance(answer, dict):
            raise SandboxError(f"The host answers {method} with {message!r:.500}.")
        return answer

    def forget(self, pending: Pending, *, cancel: bool) -> None:
        """Expect no further answer; tell the host when it should stop."""
        self._pending.pop(pending.request, None)
        if cancel and not self.broken:
            notice = {"method": "notifications/cancelled", "params": {"requestId": pending.request}}
            self._write(encode({"jsonrpc": "2.0", **notice}))
        if not self._pending:
            self._idle.set()

    async def drained(self) -> None:
        """Wait until nothing is pending."""
        while self._pending:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def busy(self) -> None:
        """Wait until something is pending."""
        if not self._pending:
            self._busy = anyio.Event()
            await self._busy.wait()

    def _send(self, pending: Pending, line: bytes) -> Pending:
        if self._broken is not None:
            pending.settle(self._broken)
        else:
            self._pending[pending.request] = pending
            self._busy.set()
            self._write(line)
        return pending

    def _take(self, line: bytes) -> None:
        parts = split_reply(line)
        if parts is not None:
            number, reply = parts
            pending = self._pending.get(number)
            if pending is not None:
                pending.settle(reply)
            return
        try:
            message = decode(line)
        except ValueError:
            logger.warning("A host wrote a line that is no message: %.200r", line)
            return
        request = message.get("id") if isinstance(message, dict) else None
        pending = self._pending.get(request) if isinstance(request, int) else None
        if pending is not None:
            pending.settle(message)
