"""The tool calls of a client that the SDK has let in, which go past the SDK.

Calls go from here to the router and back as bytes: parsed once on the way in, not at all on the way out. stdio and
HTTP share it; they differ in how a response is framed and where notifications go. Everything that is not a plain
tool call of the settled revision stays with the SDK.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import anyio
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.front import Front, tool_request
from m3bench.proxy.protocol.messages import Id, Json, Message, dump, error_bytes
from m3bench.proxy.protocol.pipes import AT_ONCE_BYTES
from m3bench.proxy.protocol.tool_calls import Caller, Relay, ToolAnswer, error_object
from m3bench.proxy.seat import Seat
from m3bench.tasks.eager import Eager, needs_task
from m3bench.tasks.jsonrpc import INTERNAL_ERROR

logger = logging.getLogger(__name__)


class Response(NamedTuple):
    """The response to a call, as it goes over the wire, in one line without its end."""

    parts: tuple[bytes, ...]
    """Of the line: to put a large one together takes time."""
    code: int | None = None
    """Of the error, when it is one."""

    @property
    def line(self) -> bytes:
        """The line."""
        return b"".join(self.parts)


class _Delivery:
    """Sends the answer to a call from the thread that has put it on record.

    Args:
        response: Makes the response of the answer.
        send: Writes a line if that takes no waiting, and tells whether it did.
    """

    def __init__(self, response: Callable[[ToolAnswer], Response], send: Callable[[bytes], bool]) -> None:
        self.sent_ns = 0
        self._response = response
        self._send = send

    def send(self, answer: ToolAnswer) -> None:
        """Send it, unless that has to wait; the caller deals with a client that no longer reads."""
        if len(answer.result) > AT_ONCE_BYTES:
            # To put it into a line only to see that takes as long as a disk takes to write it.
            return
        line = self._response(answer).line
        # Before it leaves: the next call of the client must not seem to have come earlier.
        now = time.monotonic_ns()
        with suppress(OSError):
            if self._send(line + b"\n"):
                self.sent_ns = now


class _Question:
    """Something that the client is asked."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.body: Json = {}


class ClientCalls:
    """One client's calls.

    Args:
        front: Who answers.
        revision: The protocol revision that was settled on.
        client: Name and version of the client.
    """

    def __init__(self, front: Front, revision: str, client: str) -> None:
        self.revision = revision
        self.client = client
        self._front = front
        self._running: dict[Id, anyio.CancelScope | Eager] = {}
        self._closed = False
        self._questions: dict[Id, _Question] = {}

    def takes(self, message: Message) -> bool:
        """Whether a message is a plain tool call of the settled revision; anything else is for the SDK."""
        if message.method != "tools/call" or message.id is None or message.id in self._running:
            return False
        sent = message.params.get("_meta")
        meta: Json = sent if isinstance(sent, dict) else {}
        envelope = meta.get(PROTOCOL_VERSION_META_KEY)
        if self.revision not in MODERN_PROTOCOL_VERSIONS:
            return envelope is None
        return envelope == self.revision and isinstance(meta.get(CLIENT_CAPABILITIES_META_KEY), dict)

    def cancel(self, id: Id | None) -> bool:
        """Cut off a call by its id; False when no call with that id is in progress here."""
        scope = self._running.get(id) if id is not None else None
        if scope is not None:
            scope.cancel()
        return scope is not None

    async def ask(self, send: Callable[[bytes], Awaitable[None]], method: str, params: Mapping[str, object]) -> Json:
        """Ask the client something while a call of its is under way.

        Args:
            send: Sends a line to the client.
            method: The method.
            params: Its parameters.
        """
        id, question = f"m3bench-{secrets.token_hex(8)}", _Question()
        self._questions[id] = question
        try:
            await send(dump({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            await question.answered.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(1, shield=True):
                taken_back = {"requestId": id, "reason": "given up"}
                await send(dump({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back}))
            raise
        finally:
            del self._questions[id]
        return question.body

    def settle(self, message: Message) -> bool:
        """Take the client's answer to what it was asked here; False when the message is not such an answer."""
        question = self._questions.get(message.id) if message.method is None and message.id is not None else None
        if question is not None:
            question.body = {key: message.body[key] for key in ("result", "error") if key in message.body}
            question.answered.set()
        return question is not None

    def close(self) -> None:
        """Cut off whatever is under way or begins from now on: the client is gone."""
        self._closed = True
        for scope in list(self._running.values()):
            scope.cancel()

    async def answer(
        self, seat: Seat, message: Message, raw: bytes | None, relay: Relay,
        send: Callable[[bytes], bool] | None = None, received_ns: int = 0,
    ) -> Response | None:  # fmt: skip
        """The response to a call that is taken; None when the client took it back, or has it already.

        Args:
            seat: Where the client sits.
            message: The call.
            raw: Its bytes as they came, when the transport has them.
            relay: Where notifications of the call go.
            send: Writes a line to the client, from any thread, if that takes no waiting; tells whether it did.
            received_ns: When the call arrived, where that was long ago.
        """
        assert message.id is not None
        with anyio.CancelScope() as scope:
            self._running[message.id] = scope
            if self._closed:
                scope.cancel()
            try:
                return await self._answered(seat, message, raw, relay, send, received_ns)
            finally:
                # A second call with the same id, sent before this one was taken up, keeps its place.
                if self._running.get(message.id) is scope:
                    del self._running[message.id]
        return None

    def begin(
        self, seat: Seat, message: Message, raw: bytes | None, relay: Relay, sink: Callable[..., Awaitable[None]],
        send: Callable[[bytes], bool] | None, received_ns: int, calls: set[Eager],
    ) -> None:  # fmt: skip
        """Answer a call that is taken, beginning at this moment, and write the response.

        Args:
            seat: Where the client sits.
            message: The call.
            raw: Its bytes as they came, when the transport has them.
            relay: Where notifications of the call go.
            sink: Takes the response in parts; there are none when the client took the call back or has it already.
            send: Writes a line to the client, from any thread, if that takes no waiting; tells whether it did.
            received_ns: When the call arrived, where that was long ago.
            calls: Has the call for as long as it lasts.
        """
        id = message.id
        assert id is not None

        async def answer() -> None:
            response = None
            try:
                response = await self._answered(seat, message, raw, relay, send, received_ns)
            except asyncio.CancelledError:
                if not call.cancelled:
                    raise
            finally:
                if self._running.get(id) is call:
                    del self._running[id]
            parts = response.parts if response is not None else ()
            if needs_task():
                await sink(*parts)
            else:
                with anyio.CancelScope(shield=True):
                    await sink(*parts)

        call = Eager(answer(), calls.discard)
        self._running[id] = call
        calls.add(call)
        call.go_on()
        if self._closed:
            call.cancel()

    async def _answered(
        self, seat: Seat, message: Message, raw: bytes | None, relay: Relay, send: Callable[[bytes], bool] | None,
        received_ns: int,
    ) -> Response | None:  # fmt: skip
        assert message.id is not None
        response = partial(self._response, message.id)
        delivery = _Delivery(response, send) if send is not None else None
        caller = Caller(seat=seat.id, revision=self.revision, client=self.client)
        try:
            # On record, calls are in the order in which they arrived.
            came = max(received_ns, seat.latest_ns) if received_ns else 0
            request = tool_request(caller, message.id, message.params, raw, came)
            seat.latest_ns = request.received_ns
            answer = await self._front.router.call(seat, request, relay, delivery)
            return response(answer) if delivery is None or not delivery.sent_ns else None
        except Exception as error:
            logger.exception("A call failed inside the proxy")
            text = f"m3bench failed on this call ({type(error).__name__}); its log on standard error has the details"
            return Response((error_bytes(message.id, {"code": INTERNAL_ERROR, "message": text}),), INTERNAL_ERROR)

    def _response(self, id: Id, answer: ToolAnswer) -> Response:
        if answer.error is not None:
            return Response((error_bytes(id, error_object(answer.error)),), answer.error[0])
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % json.dumps(id).encode()
        return Response((head, self._front.result(answer, self.revision), b"}"))
