"""Serving one client over standard input and output, line by line.

Every line that is no message is answered with the error that JSON-RPC asks for, and nothing that a client writes
ends the server. The SDK answers everything but tool calls; once it has settled which revision the client speaks,
calls go past it (`client_calls`). Lines are cut in linear time and written without ever blocking the loop on a client
that does not read.
"""

import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from m3bench.proxy.front import Front, client_name
from m3bench.proxy.protocol.messages import Id, InvalidMessage, Json, Message, dump, message, read
from m3bench.proxy.protocol.pipes import AtOnce, Pipes
from m3bench.proxy.protocol.sdk import Context
from m3bench.proxy.seat import CAPABILITIES, Seat
from m3bench.proxy.transports.client_calls import ClientCalls
from m3bench.proxy.transports.handlers import is_wanted
from m3bench.proxy.transports.instant import FirstMessages
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.tasks.eager import Eager
from m3bench.tasks.jsonrpc import INVALID_REQUEST
from m3bench.tasks.lines import Lines

MAX_LINE_BYTES = 64 * 1024 * 1024

BATCH_REVISION = "2025-03-26"
"""The one revision that has batches."""

MAX_BATCH = 1000

REPEAT_SECONDS = 20.0
"""How long the SDK may take to be told what was said before it was there."""

Reads = MemoryObjectReceiveStream[SessionMessage | Exception]
Writes = MemoryObjectSendStream[SessionMessage]
Drive = Callable[[Reads, Writes], Awaitable[None]]
"""Serves an SDK server over a pair of streams until the first one ends."""

Sink = Callable[..., Awaitable[None]]
"""Takes a line without its end, in parts."""

logger = logging.getLogger(__name__)


class Stream(Protocol):
    """Where lines come from and go to."""

    def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        """What arrives, until the client closes; without what `at_once` took, where that can be asked."""
        ...

    async def send(self, *data: bytes) -> None:
        """Write a line whole, given in parts; raises `OSError` when nobody reads any more."""
        ...

    def send_at_once(self, data: bytes) -> bool:
        """Write a line whole, from any thread, if that takes no waiting; raises `OSError` as `send` does."""
        ...


async def serve_stdio(front: Front, seat: Seat, first: FirstMessages | None = None) -> None:
    """Serve until standard input closes; calls still under way then are cancelled."""
    wire = StandardStreams()
    try:
        await serve_stream(front, seat, wire, first)
    finally:
        wire.close()


async def serve_stream(front: Front, seat: Seat, stream: Stream, first: FirstMessages | None = None) -> None:
    """Serve one client over a stream of lines, from after its first messages when those are answered."""

    async def seat_of(context: Context) -> Seat:
        return seat

    drive = partial(serve_dual_era_loop, sdk_server(front, seat_of), lifespan_state={})
    await Pump(stream, drive, front, seat, first).run()


class StandardStreams(Pipes):
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
        self.stop_sending()
        os.close(self._output)


class Batch:
    """Gathers the responses to a batch, which one revision has, and sends them as one when the last is there."""

    def __init__(self, send: Sink) -> None:
        self._send = send
        self._parts: list[bytes] = []
        self._waiting = 1

    def expect(self) -> None:
        """One more response will come."""
        self._waiting += 1

    async def add(self, *parts: bytes) -> None:
        """A response in parts, none when there will be none."""
        if part := b"".join(parts):
            self._parts.append(part)
        self._waiting -= 1
        if self._waiting == 0 and self._parts:
            await self._send(b"[" + b",".join(self._parts) + b"]")

    async def close(self) -> None:
        """No more responses will be expected."""
        await self.add(b"")


@dataclass(eq=False)
class _Exchange:
    """The SDK serving one client in one era of the protocol; it holds on to the era of the first request."""

    into: MemoryObjectSendStream[SessionMessage | Exception]
    reads: Reads
    writes: Writes
    out: MemoryObjectReceiveStream[SessionMessage]
    modern: bool | None = None
    """The era, once there was a request."""

    @classmethod
    def make(cls) -> "_Exchange":
        return cls(
            *anyio.create_memory_object_stream[SessionMessage | Exception](8),
            *anyio.create_memory_object_stream[SessionMessage](8),
        )


class Pump:
    """Moves messages between a stream, the SDK and the router.

    Args:
        stream: The client.
        drive: Serves the SDK's part.
        front: Answers tool calls past the SDK, when given; then `seat` is where the client sits.
        seat: See `front`.
        first: What the client was told already.
    """

    def __init__(
        self, stream: Stream, drive: Drive, front: Front | None = None, seat: Seat | None = None,
        first: FirstMessages | None = None,
    ) -> None:  # fmt: skip
        self._stream = stream
        self._first = first
        self._said: dict[Id, bytes] = {}
        """Answers to the first messages that the SDK still has to give, to nobody."""
        self._heard = anyio.Event()
        self._called = False
        """Whether a tool was called: from then on the era stays what it is."""
        self._drive = drive
        self._front = front
        self._seat = seat
        self._revision = ""
        """Set when the SDK has accepted the client; until then nothing goes past it."""
        self._client_calls: ClientCalls | None = None
        self._handshakes: dict[Id, tuple[str, str, Json]] = {}
        """Requests that settle the revision when they succeed: id to revision, client and what it can be asked for."""
        self._batched: dict[Id, Batch] = {}
        """Requests of batches that the SDK answers."""
        self._exchanges: list[_Exchange] = []
        self._calls: set[Eager] = set()

    async def run(self) -> None:
        """Serve until the client closes, or cannot be written to any more."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self._begin()
            try:
                await self._read()
            finally:
                for exchange in self._exchanges:
                    exchange.into.close()
                if self._client_calls is not None:
                    self._client_calls.close()
                with anyio.CancelScope(shield=True):
                    for call in list(self._calls):
                        await call.ends()

    def _begin(self) -> None:
        """Have the SDK serve the client from now on as one that has said nothing yet."""
        self._exchange = _Exchange.make()
        self._exchanges.append(self._exchange)
        self._tasks.start_soon(self._serve, self._exchange)

    async def _serve(self, exchange: _Exchange) -> None:
        with exchange.into, exchange.reads, exchange.writes, exchange.out:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write_sdk, exchange)
                await self._drive(exchange.reads, exchange.writes)
                tasks.cancel_scope.cancel()
        if exchange is self._exchange:
            self._tasks.cancel_scope.cancel()

    async def _read(self) -> None:
        lines = Lines(MAX_LINE_BYTES)
        if self._first is not None:
            await self._repeat(self._first)
            await anyio.to_thread.run_sync(self._first.close)
            await self._feed(lines, self._first.rest)
            self._first.cause = b""
        async for chunk in self._stream.chunks(lambda chunk: self._take_calls(chunk) if lines.empty else chunk):
            await self._feed(lines, chunk)

    def _take_calls(self, chunk: bytes) -> bytes:
        """Begin the plain calls that stand whole at the front of a chunk, as long as there are only such."""
        start = 0
        while self._client_calls is not None and (end := chunk.find(b"\n", start)) >= 0:
            line = chunk[start:end]
            found = read(line)
            if not isinstance(found, Message) or not self._client_calls.takes(found):
                break
            self._begin_call(self._client_calls, found, line, self._send)
            start = end + 1
        return chunk[start:]

    async def _feed(self, lines: Lines, chunk: bytes) -> None:
        for line in lines.feed(chunk):
            if line.strip():
                await self._take(line)
        while lines.dropped:
            lines.dropped -= 1
            await self._refuse(InvalidMessage(INVALID_REQUEST, f"Message over {MAX_LINE_BYTES} bytes dropped"))

    async def _repeat(self, first: FirstMessages) -> None:
        """Tell the SDK what was said before it was there; its answers go to nobody, the client has them."""
        self._said = dict(first.said)
        for line in first.lines:
            await self._take(line)
        if self._said:
            with anyio.move_on_after(REPEAT_SECONDS):
                await self._heard.wait()

    async def _take(self, line: bytes) -> None:
        found = read(line)
        if isinstance(found, InvalidMessage):
            await self._refuse(found)
        elif isinstance(found, Message):
            await self._dispatch(found, line, self._send)
        elif self._revision != BATCH_REVISION:
            text = f"Invalid request: only revision {BATCH_REVISION} has batches; send one message per line"
            await self._refuse(InvalidMessage(INVALID_REQUEST, text))
        elif not 0 < len(found) <= MAX_BATCH:
            text = f"Invalid request: a batch has 1 to {MAX_BATCH} messages, this one has {len(found)}"
            await self._refuse(InvalidMessage(INVALID_REQUEST, text))
        else:
            batch = Batch(self._send)
            for value in found:
                await self._take_member(message(value), batch)
            await batch.close()

    async def _take_member(self, member: Message | InvalidMessage, batch: Batch) -> None:
        if isinstance(member, Message) and member.method is not None and member.id is not None:
            if member.method == "initialize":
                member = InvalidMessage(INVALID_REQUEST, "Invalid request: initialize cannot be in a batch", member.id)
            elif member.id in self._batched:
                member = InvalidMessage(INVALID_REQUEST, "Invalid request: the id is in use", member.id)
        if isinstance(member, InvalidMessage):
            batch.expect()
            await batch.add(member.line())
            return
        if member.method is not None and member.id is not None:
            batch.expect()
            if self._client_calls is None or not self._client_calls.takes(member):
                self._batched[member.id] = batch
        await self._dispatch(member, None, batch.add)

    async def _dispatch(self, found: Message, raw: bytes | None, sink: Sink) -> None:
        """Send a message the way it has to go."""
        client_calls = self._client_calls
        if client_calls is not None and client_calls.takes(found):
            self._begin_call(client_calls, found, raw, sink)
            return
        cancelled = found.cancels
        if client_calls is not None and (client_calls.cancel(cancelled) or client_calls.settle(found)):
            return
        if cancelled is not None and cancelled in self._batched:
            # The SDK is silent about what was taken back, and the rest of the batch must not wait for it.
            await self._batched.pop(cancelled).add(b"")
        self._settle_era(found)
        self._note_handshake(found)
        try:
            packed = jsonrpc_message_adapter.validate_python(found.body, by_name=False)
        except ValueError:
            await self._refuse(
                InvalidMessage(INVALID_REQUEST, "Invalid request: not a message of this protocol", found.id)
            )
            return
        await self._exchange.into.send(SessionMessage(packed))

    def _settle_era(self, found: Message) -> None:
        """The first request decides the era. Only a client that then asks for the handshake, as it may that looked
        for the newest revision and waited in vain or got no answer it likes, begins again."""
        if found.method is None or found.id is None:
            return
        self._called = self._called or found.method == "tools/call"
        if found.method == "initialize" and self._exchange.modern and not self._called:
            self._revision, self._client_calls = "", None
            self._handshakes.clear()
            self._begin()
        if self._exchange.modern is None:
            meta = found.params.get("_meta")
            enveloped = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
            self._exchange.modern = found.method != "initialize" and enveloped

    async def _write_sdk(self, exchange: _Exchange) -> None:
        async for item in exchange.out:
            answer = item.message
            id = answer.id if isinstance(answer, JSONRPCResponse | JSONRPCError) else None
            if exchange is not self._exchange and id is not None and id in self._handshakes:
                continue  # Too late, and the client uses the id again.
            if id is not None and id in self._handshakes:
                revision, client, can = self._handshakes.pop(id)
                if isinstance(answer, JSONRPCResponse):
                    self._settle(answer.result.get("protocolVersion", revision), client, can)
            if id is not None and id in self._said:
                if _dump(answer) != self._said.pop(id):
                    logger.warning("What the client was told at the start differs from what it would be told now")
                if not self._said:
                    self._heard.set()
                continue
            batch = self._batched.pop(id, None) if id is not None else None
            await (batch.add if batch is not None else self._send)(_dump(answer))

    def _begin_call(self, client_calls: ClientCalls, found: Message, raw: bytes | None, sink: Sink) -> None:
        assert self._seat is not None
        since = self._first.cause_ns if self._first is not None and raw == self._first.cause else 0
        relay = _Relay(self._send, client_calls, found.params.get("_meta"))
        alone = self._stream.send_at_once if sink == self._send else None
        client_calls.begin(self._seat, found, raw, relay, sink, alone, since, self._calls)

    def _note_handshake(self, found: Message) -> None:
        """Remember a request whose success settles the revision."""
        if self._revision or found.method is None or found.id is None:
            return
        meta, can = found.params.get("_meta"), None
        if found.method == "initialize":
            revision, client = found.params.get("protocolVersion"), found.params.get("clientInfo")
            can = found.params.get("capabilities")
        elif isinstance(meta, dict):
            revision, client = meta.get(PROTOCOL_VERSION_META_KEY), meta.get(CLIENT_INFO_META_KEY)
        else:
            return
        if revision:
            self._handshakes[found.id] = (str(revision), client_name(client), can if isinstance(can, dict) else {})

    def _settle(self, revision: str, client: str, can: Json) -> None:
        self._revision = revision
        if self._seat is not None:
            # Before the first call, which may overtake what the SDK makes of the handshake.
            self._seat.client = {key: value for key, value in can.items() if key in CAPABILITIES}
        self._handshakes.clear()
        if self._front is not None:
            self._client_calls = ClientCalls(self._front, revision, client)

    async def _refuse(self, refusal: InvalidMessage) -> None:
        await self._send(refusal.line())

    async def _send(self, *data: bytes) -> None:
        """Write a line, given in parts; a client that reads no more has left."""
        if not data:
            return
        try:
            await self._stream.send(*data, b"\n")
        except OSError as error:
            logger.info("The client no longer reads: %s", error)
            self._tasks.cancel_scope.cancel()


class _Relay:
    """Carries notifications of a call under way to the client."""

    def __init__(self, send: Sink, client_calls: ClientCalls, meta: object) -> None:
        self._send = send
        self._client_calls = client_calls
        self._meta: Mapping[str, object] = meta if isinstance(meta, dict) else {}

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        if is_wanted(method, params, self._client_calls.revision, self._meta):
            await self._send(dump({"jsonrpc": "2.0", "method": method, "params": params}))

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        return await self._client_calls.ask(self._send, method, params)


def _dump(answer: JSONRPCMessage) -> bytes:
    try:
        return answer.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        # Half a surrogate pair, which a client may send.
        return dump(answer.model_dump(mode="python", by_alias=True, exclude_unset=True))
