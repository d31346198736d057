"""Tool calls that arrive by POST, answered past the SDK.

A layer before one of the SDK's session managers. It reads the body, bounded, answers what is no message at all, and
takes the plain tool calls of clients that the SDK has let in, and their cancellations; everything else, and whatever
is doubtful, goes on to the SDK as it came. The response is one JSON document, or a stream of events once a
notification precedes it or it takes long.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
    validate_mcp_param_headers,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.responses import Response as HttpResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from m3bench.proxy.front import Front, client_name
from m3bench.proxy.protocol.messages import InvalidMessage, Json, Message, dump, error_bytes, read
from m3bench.proxy.protocol.sdk import in_use, session_transport
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.access import refusal
from m3bench.proxy.transports.admission import IDENTITY, Share, come_again
from m3bench.proxy.transports.client_calls import ClientCalls, Response
from m3bench.proxy.transports.handle_seats import HandleSeats
from m3bench.proxy.transports.handlers import is_wanted

MAX_BODY_BYTES = 16 * 1024 * 1024

MAX_BODIES_BYTES = 8 * MAX_BODY_BYTES
"""Of all bodies that are being read at a time."""

PING_SECONDS = 15.0
"""A response that takes longer becomes a stream, so that nobody between takes the connection for dead."""

BODY = "m3bench.body"
"""Where the scope has the body, for the record."""

FIRST_CAME = "m3bench.first-came"
"""Where the scope has what tells when a body came for the first time, if it was refused then; 0 when it is new."""

_SESSION, _REVISION = MCP_SESSION_ID_HEADER.encode(), MCP_PROTOCOL_VERSION_HEADER.lower().encode()
_WANTED = ("tools/call", "notifications/cancelled")

SeatOf = Callable[[Scope], Awaitable[Seat]]


@dataclass(frozen=True)
class HttpSession:
    """A session that the SDK has let in."""

    id: str
    client_calls: ClientCalls
    seat: Seat


@dataclass(frozen=True)
class _PostedCall:
    client_calls: ClientCalls
    message: Message
    session: str | None = None
    """None in the revisions without sessions, where a client that goes away has taken its call back."""


class Bodies(Share):
    """What all layers together hold of bodies that are not complete, in bytes."""

    def __init__(self, *, known: bool) -> None:
        super().__init__(MAX_BODIES_BYTES, known=known)


class HttpCalls:
    """The layer.

    Args:
        app: Answers whatever is not taken here: the manager, behind its own layers.
        manager: Knows which sessions are open.
        front: Answers calls.
        seat_of: Finds the seat of a request.
        handles: The seats that handles name.
        bodies: What is being read.
    """

    def __init__(
        self,
        app: ASGIApp,
        manager: StreamableHTTPSessionManager,
        front: Front,
        seat_of: SeatOf,
        handles: HandleSeats,
        bodies: Bodies,
    ) -> None:
        self.sessions: dict[str, HttpSession] = {}
        """Sessions that were let in; the SDK's side puts them here and takes them out."""
        self._app = app
        self._manager = manager
        self._front = front
        self._seat_of = seat_of
        self._handles = handles
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(scope, receive, self._bodies)
        if body is None:
            return
        if isinstance(body, HttpResponse):
            await body(scope, receive, send)
            return
        scope[BODY] = body
        found = self._find(scope, body)
        if found is None:
            await self._app(scope, again(body, receive), send)
        elif isinstance(found, HttpResponse):
            await found(scope, receive, send)
        else:
            await self._answer(found, scope, receive, send)

    def _find(self, scope: Scope, body: bytes) -> _PostedCall | HttpResponse | None:
        """The call in a body, or what to answer at once; None when it is for the SDK."""
        headers = dict(scope["headers"])
        accept, kind = headers.get(b"accept", b""), headers.get(b"content-type", b"")
        if kind.partition(b";")[0].strip() != b"application/json":
            return None
        if b"application/json" not in accept or b"text/event-stream" not in accept:
            return None
        message = read(body)
        if isinstance(message, InvalidMessage):
            return HttpResponse(message.line(), status_code=400, media_type="application/json")
        if not isinstance(message, Message) or message.method not in (*_WANTED, None):
            return None
        revision = headers.get(_REVISION, b"").decode("latin-1")
        if revision in MODERN_PROTOCOL_VERSIONS:
            return self._modern(scope, message)
        session = self.sessions.get(headers.get(_SESSION, b"").decode("latin-1"))
        if session is None or (revision and revision not in HANDSHAKE_PROTOCOL_VERSIONS):
            return None
        if session_transport(self._manager, session.id) is None:
            return None
        if session.client_calls.cancel(message.cancels) or session.client_calls.settle(message):
            return HttpResponse(status_code=202)
        return _PostedCall(session.client_calls, message, session.id) if session.client_calls.takes(message) else None

    def _modern(self, scope: Scope, message: Message) -> _PostedCall | None:
        """A call of a revision without sessions, when the SDK has nothing against it."""
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = dict(pairs)
        route = classify_inbound_request(message.body, headers=headers)
        if not isinstance(route, InboundModernRoute) or find_duplicated_routing_header(pairs) is not None:
            return None
        name, arguments = message.params.get("name"), message.params.get("arguments")
        schema = self._front.router.schema(name) if isinstance(name, str) else None
        if schema is not None and validate_mcp_param_headers(
            schema, arguments if isinstance(arguments, Mapping) else {}, headers
        ):
            return None
        client_calls = ClientCalls(self._front, route.protocol_version, client_name(route.client_info))
        return _PostedCall(client_calls, message) if client_calls.takes(message) else None

    async def _answer(self, call: _PostedCall, scope: Scope, receive: Receive, send: Send) -> None:
        reply = _Reply(call, send)
        with ExitStack() as stack:
            transport = session_transport(self._manager, call.session) if call.session is not None else None
            if transport is not None:
                stack.enter_context(in_use(transport))
            try:
                seat = await self._seat_of(scope)
            except MCPError as error:
                line = error_bytes(call.message.id, error.error.model_dump(exclude_none=True))
                await reply.finish(Response((line,), error.error.code))
                return
            stack.enter_context(self._handles.in_use(scope["path_params"].get("handle", "")))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(reply.attend, receive, tasks.cancel_scope)
                came = scope[FIRST_CAME](scope[BODY]) if FIRST_CAME in scope else 0
                response = await call.client_calls.answer(seat, call.message, scope[BODY], reply, received_ns=came)
                await reply.finish(response)
                tasks.cancel_scope.cancel()


class _Reply:
    """The response to one call on its way, and the notifications before it."""

    def __init__(self, call: _PostedCall, send: Send) -> None:
        self._call = call
        self._send = send
        self._streams = False
        self._is_finished = False
        self._turn = anyio.Lock()
        session = call.session
        self._headers = [(_SESSION, session.encode())] if session is not None else []
        meta = call.message.params.get("_meta")
        self._meta: Mapping[str, object] = meta if isinstance(meta, dict) else {}

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification of the call."""
        if is_wanted(method, params, self._call.client_calls.revision, self._meta):
            await self._write(_event(dump({"jsonrpc": "2.0", "method": method, "params": params})))

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        """Ask the client something, on the stream of its call; the answer comes by another POST."""

        async def send(line: bytes) -> None:
            await self._write(_event(line))

        return await self._call.client_calls.ask(send, method, params)

    async def attend(self, receive: Receive, call: anyio.CancelScope) -> None:
        """Keep the connection alive, and notice when the client goes."""
        while True:
            with anyio.move_on_after(PING_SECONDS):
                while (await receive())["type"] != "http.disconnect":
                    pass
                if self._call.session is None:
                    call.cancel()
                # In the revisions with sessions a lost connection takes nothing back.
                return
            await self._write(b": ping\r\n\r\n")

    async def finish(self, response: Response | None) -> None:
        """Send the response; that the client took the call back, when there is none."""
        if response is None:
            error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
            response = Response((error_bytes(self._call.message.id, error),), REQUEST_CANCELLED)
        async with self._turn:
            # A ping that is due at this very moment finds that there is nothing to keep alive.
            self._is_finished = True
            if self._streams:
                await self._send({"type": "http.response.body", "body": _event(response.line)})
                return
            status = 200
            if self._call.session is None and response.code is not None:
                status = ERROR_CODE_HTTP_STATUS.get(response.code, 200)
            line = response.line
            size = str(len(line)).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", size), *self._headers]
            await self._send({"type": "http.response.start", "status": status, "headers": headers})
            await self._send({"type": "http.response.body", "body": line})

    async def _write(self, data: bytes) -> None:
        async with self._turn:
            if self._is_finished:
                return
            if not self._streams:
                self._streams = True
                headers = [
                    (b"content-type", b"text/event-stream"),
                    (b"cache-control", b"no-cache, no-transform"),
                    (b"x-accel-buffering", b"no"),
                    *self._headers,
                ]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send({"type": "http.response.body", "body": data, "more_body": True})


async def read_body(scope: Scope, receive: Receive, bodies: Bodies) -> bytes | HttpResponse | None:
    """The body, or what to answer when it cannot be taken; None when the client went away."""
    declared = dict(scope["headers"]).get(b"content-length", b"")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        return _too_large()
    parts: list[bytes] = []
    size = 0
    who = scope.get(IDENTITY, "")
    try:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part = message.get("body", b"")
            if size + len(part) > MAX_BODY_BYTES:
                return _too_large()
            if not bodies.admits(who, len(part)):
                return come_again("Too many large requests at a time: try again in a moment", 503)
            parts.append(part)
            size += len(part)
            bodies.take(who, len(part))
            if not message.get("more_body", False):
                return b"".join(parts)
    finally:
        bodies.give_back(who, size)


def again(body: bytes, receive: Receive) -> Receive:
    """Gives a body again that was read, then what comes after it."""
    first = True

    async def listen() -> AsgiMessage:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return listen


def _too_large() -> HttpResponse:
    return refusal(f"The request has more than the {MAX_BODY_BYTES} bytes that are accepted", 413)


def _event(line: bytes) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % line
