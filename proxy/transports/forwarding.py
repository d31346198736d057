"""Passing requests on to the server that has a seat, when several servers share a record.

Behind a load balancer a request may come to any of them, and a run's sandbox is at one. A request goes to where its
seat is, as it came, and the response comes back as it is written. A server that cannot be reached may be dead: then it
is asked again who has the seat, until somebody does.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import httpx2
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from m3bench.proxy.protocol.messages import error_bytes
from m3bench.proxy.transports.access import refusal
from m3bench.proxy.transports.http_calls import Bodies, again, read_body
from m3bench.tasks.errors import M3Error
from m3bench.tasks.jsonrpc import INTERNAL_ERROR

PATIENCE_SECONDS = 20.0
"""How long a request waits for a server that cannot be reached to come back, or to be taken for dead."""

AGAIN_SECONDS = 0.5
"""Between two tries."""

CONNECT_SECONDS = 5.0

FORWARDED = b"m3bench-forwarded"
"""Marks what was passed on: it is not passed on again."""

_OWN = frozenset({b"host", b"origin", b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"te",
                  b"trailer", b"upgrade", b"proxy-authorization", b"proxy-connection", FORWARDED})  # fmt: skip
"""Headers that speak of one connection, or were checked here."""

SeatAddress = Callable[[str, bool], Awaitable[str | None]]
"""Which server has a seat, by its handle; None when it is this one. The second argument says that the one which had it
may be dead."""


class Forwarding:
    """Answers requests for seats that are here, and passes the others on.

    Args:
        app: Answers here; its scope has the handle.
        seat_address: Knows which server has a seat.
        is_here: Whether a seat is known to be here, without asking anybody.
        known: Whether everybody can be told from everybody else.
    """

    def __init__(
        self, app: ASGIApp, seat_address: SeatAddress, is_here: Callable[[str], bool], *, known: bool = False
    ) -> None:
        self._app = app
        self._seat_address = seat_address
        self._is_here = is_here
        self._bodies = Bodies(known=known)
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def connections(self) -> AsyncIterator[None]:
        """Keeps connections to other servers while this lasts; the first request that is passed on makes them."""
        try:
            yield
        finally:
            if self._client is not None:
                await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle = scope["path_params"]["handle"]
        if self._is_here(handle):
            await self._app(scope, receive, send)
            return
        try:
            address = await self._seat_address(handle, False)
        except M3Error as error:
            await refusal(str(error), 503)(scope, receive, send)
            return
        if address is None:
            await self._app(scope, receive, send)
        elif FORWARDED in dict(scope["headers"]):
            await refusal("This seat has just moved to another server: try again", 503)(scope, receive, send)
        else:
            await self._pass_on(address, handle, scope, receive, send)

    async def _pass_on(self, address: str, handle: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(scope, receive, self._bodies)
        if body is None:
            return
        if isinstance(body, Response):
            await body(scope, receive, send)
            return
        to: str | None = address
        deadline = anyio.current_time() + PATIENCE_SECONDS
        while to is not None and anyio.current_time() < deadline:
            if await self._exchange(to, body, scope, receive, send):
                return
            await anyio.sleep(AGAIN_SECONDS)
            try:
                to = await self._seat_address(handle, True)
            except M3Error as error:
                await refusal(str(error), 503)(scope, receive, send)
                return
        if to is None:
            await self._app(scope, again(body, receive), send)
            return
        text = f"The server that has this seat cannot be reached from here ({to}): try again in a moment"
        await refusal(text, 503)(scope, receive, send)

    async def _exchange(self, address: str, body: bytes, scope: Scope, receive: Receive, send: Send) -> bool:
        """Send a request and hand back the response; False when nobody is there, and nothing was sent."""
        client = self._client = self._client or _connections()
        headers = [(name, value) for name, value in scope["headers"] if name not in _OWN]
        query = scope.get("query_string", b"").decode("latin-1")
        request = client.build_request(
            scope["method"], f"{address}{scope['path']}{'?' if query else ''}{query}", content=body,
            headers=[*headers, (FORWARDED, b"1")],
        )  # fmt: skip
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            try:
                response = await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                tasks.cancel_scope.cancel()
                return False
            except httpx2.TransportError:
                await _cut_off(body)(scope, receive, send)
            else:
                await _hand_back(response, send)
            tasks.cancel_scope.cancel()
        return True


def _connections() -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    return httpx2.AsyncClient(limits=limits, timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS), trust_env=False)


async def _hand_back(response: httpx2.Response, send: Send) -> None:
    """Send a response on while it arrives; one that breaks off ends where it did."""
    try:
        kept = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _OWN]
        await send({"type": "http.response.start", "status": response.status_code, "headers": kept})
        with suppress(httpx2.TransportError):
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()


async def _cancel_when_gone(receive: Receive, passing: anyio.CancelScope) -> None:
    """Give a request up when its client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    passing.cancel()


def _cut_off(body: bytes) -> Response:
    """What a client is told when the server that had its seat went away during its request."""
    try:
        id = json.loads(body).get("id")
    except (ValueError, AttributeError, RecursionError):
        id = None
    text = (
        "The server that had this seat ended during the request, which is not your fault: send it again. "
        "Another server continues the task if it can, and says so if not."
    )
    line = error_bytes(id if isinstance(id, str | int) else None, {"code": INTERNAL_ERROR, "message": text})
    return Response(line, status_code=502, media_type="application/json")
