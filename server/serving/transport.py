"""Runs an app over a transport until the client leaves or a signal ends it; either way everything is closed."""

import errno
import ipaddress
import logging
import os
import secrets
import signal
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import LOGGING_CONFIG

from m3bench.proxy.front import Front
from m3bench.proxy.logs import in_json, tell
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.access import check_token
from m3bench.proxy.transports.admission import Identities
from m3bench.proxy.transports.connections import BoundedProtocol, room
from m3bench.proxy.transports.http import HttpSettings, http_app
from m3bench.proxy.transports.instant import FirstMessages, InstantStart
from m3bench.proxy.transports.prepared import prepare
from m3bench.proxy.transports.stdio import serve_stdio
from m3bench.server.serving import interrupts
from m3bench.tasks.errors import M3Error, RunError, UserError, first_cause


class ServedApp(Protocol):
    """What can be put behind a transport: the benchmark, or the probe of a client."""

    @property
    def front(self) -> Front:
        """What transports serve."""
        ...

    def check(self) -> None:
        """Raise now what the first client would run into."""
        ...

    def open_seat(self, id: str | None = None, profile: str | None = None) -> Seat:
        """A new seat, its tools fixed from now on."""
        ...

    async def open_handle(self, handle: str, profile: str | None = None) -> Seat:
        """The seat of a handle, with the run that its client left there when the server ended."""
        ...

    async def seat_address(self, handle: str, doubted: bool) -> str | None:
        """Which server has the seat of a handle, by its address; None when it is this one."""
        ...

    def listening(self, address: str) -> None:
        """It is reached at this address now."""
        ...

    def load(self, seat: Seat) -> None:
        """Load, in a thread, what the first task needs."""
        ...

    async def close_seat(self, seat: Seat) -> None:
        """End what runs on a seat and forget it."""
        ...

    def stopping(self) -> None:
        """The process is about to end: whatever is cut off from now on was cut off by that."""
        ...

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Runs the process; what is open at the end is closed."""
        ...


class Pages(Protocol):
    """What people see in a browser, beside the door for clients."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...

    def opened(self, base: str) -> None:
        """They can be reached at this address from now on: whoever started the server is told."""
        ...

    def close(self) -> None:
        """End the streams that would continue."""
        ...


Make = Callable[[], ServedApp]
"""Builds what is served, inside the event loop."""

QUEUED = 2048
"""Connections that may wait to be accepted."""

SEAT_SECONDS = 30.0
"""How long a process waits for the seat of a handle that another one has."""

SEAT_AGAIN_SECONDS = 0.1

LOCAL_PROXIES = ("127.0.0.1", "::1")

PREPARED_AFTER = 2.0
"""Seconds from the start until the next one is prepared, so that this one is not slowed down."""

SWITCH_SECONDS = 0.001
"""How long a thread may keep the interpreter when another one wants it: an answer takes several turns of the loop, and
while a sandbox starts each of them waits for a thread that works on something else."""

PING_SECONDS = 600.0
"""Time for the other side of a WebSocket to answer a ping."""

ACCEPTED_AT_ONCE = 64
"""Accepted before open connections get another turn: a flood must not use up the process's open files."""


def serve_stdio_app(
    make: Make, first: FirstMessages | None = None, start: InstantStart | None = None, handle: str | None = None
) -> None:
    """Serve standard input and output; the process is the seat, unless that has a handle.

    Args:
        make: Builds what is served.
        first: What the client was told already.
        start: What a next start like this one can be prepared for.
        handle: Of the seat, whose run goes on in one process after the other.
    """

    async def serve(app: ServedApp) -> None:
        seat = app.open_seat() if handle is None else await _seat_of_handle(app, handle)
        seat.hint = _hint() if handle is None else ""
        if first is not None:
            # Reading the tasks holds the interpreter as long as a ping may take, so it is done while others answer.
            await anyio.to_thread.run_sync(app.load, seat)
        async with anyio.create_task_group() as tasks:
            if start is not None:
                tasks.start_soon(_prepare, app.front, seat, start)
            await until_signal(lambda: serve_stdio(app.front, seat, first))
            tasks.cancel_scope.cancel()
        if start is not None and handle is not None and first is None:
            # A process for each call never lives long enough to prepare the next one meanwhile.
            await prepare(app.front, seat, start)

    _run(make, serve)


async def _seat_of_handle(app: ServedApp, handle: str) -> Seat:
    """The seat of a handle, once the process before this one has let go of it."""
    with anyio.move_on_after(SEAT_SECONDS):
        while True:
            try:
                return await app.open_handle(handle)
            except RunError:
                await anyio.sleep(SEAT_AGAIN_SECONDS)
    seat = app.open_seat()
    seat.notice = (
        f"Another server has had the seat of this handle for {SEAT_SECONDS:.0f} seconds: end the client that started "
        "it, or make one call at a time."
    )
    return seat


def _hint() -> str:
    """Frameworks that start a server for every call, as LlamaIndex does, are told how to keep a run."""
    return (
        " If you did call it, your client starts a new server for every call, and a run ends with its server: have it "
        f"start `m3bench serve --seat {secrets.token_hex(16)}` instead, with this or any other random handle of 22 to "
        "64 letters and digits, and every call continues the run of that seat."
    )


async def _prepare(front: Front, seat: Seat, start: InstantStart) -> None:
    """Make the next start instant, once this one is over."""
    await anyio.sleep(PREPARED_AFTER)
    await prepare(front, seat, start)


def serve_http_app(make: Make, listen: HttpSettings, pages: Callable[[Any, HttpSettings], Pages] | None = None) -> None:
    """Serve HTTP; port 0 takes a free one.

    Args:
        make: Builds what is served.
        listen: Where to listen, and to whom.
        pages: Makes the pages of what is served, when it has some.
    """

    pressed = False

    async def serve(app: ServedApp) -> None:
        nonlocal pressed
        shown = pages(app, listen) if pages is not None else None
        asgi = http_app(app.front, listen, app.open_seat, app.close_seat, shown, app.open_handle, app.seat_address)
        pressed = await serve_asgi(asgi, listen, shown, app.stopping, app.listening)

    _run(make, serve)
    if pressed:
        raise KeyboardInterrupt


def address_of(
    address: str,
    token: str | None = None,
    operator_token: str | None = None,
    *,
    allow_hosts: Sequence[str] = (),
    allow_origins: Sequence[str] = (),
) -> HttpSettings:
    """Where to listen, from `HOST:PORT`, and to whom."""
    host, _, port = address.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise UserError(f"{address!r} is not an address: write HOST:PORT, such as 127.0.0.1:8000.")
    check_token(token, "The token")
    check_token(operator_token, "The operator's token")
    if operator_token is not None and operator_token == token:
        raise UserError("Clients have the token: choose another one for the operator.")
    return HttpSettings(
        host=host.strip("[]") or "127.0.0.1", port=int(port), token=token, operator_token=operator_token,
        allow_hosts=tuple(allow_hosts), allow_origins=tuple(allow_origins),
    )  # fmt: skip


def own_address(listen: HttpSettings) -> str:
    """The address that is listened on, as browsers write it.

    Raises:
        UserError: It is not known before the server has started, or leads nowhere.
    """
    if not listen.port or not (listen.loopback or listen.certificate):
        raise UserError("--auth needs --public-url: the address that clients use, such as https://bench.example.")
    return f"{'https' if listen.certificate else 'http'}://{_bracketed(listen.host)}:{listen.port}"


def certificate_of(certificate: Path | None, key: Path | None) -> tuple[str, str] | None:
    """The files of a certificate and its key, which fit together; None when none were named.

    Raises:
        UserError: They cannot be used.
    """
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise UserError("A certificate needs its private key: give both --tls-cert and --tls-key.")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"--tls-cert and --tls-key cannot be used: {error.strerror or error}.") from error
    return str(certificate), str(key)


def trusted_proxies(given: Sequence[str]) -> tuple[str, ...]:
    """Addresses and networks of proxies.

    Raises:
        UserError: One is neither: whoever connects could be trusted, or nobody.
    """
    for proxy in given:
        try:
            everybody = not ipaddress.ip_network(proxy).prefixlen
        except ValueError:
            everybody = True
        if everybody:
            raise UserError(
                f"--trust-proxy cannot be {proxy!r}: give the proxy's address, or its network as 10.0.0.0/8."
            )
    return tuple(given)


async def serve_asgi(
    asgi: ASGIApp,
    listen: HttpSettings,
    pages: Pages | None = None,
    stopping: Callable[[], None] | None = None,
    listening: Callable[[str], None] | None = None,
    *,
    websockets: bool = False,
) -> bool:
    """Serve an application over HTTP until a signal ends it; returns whether that was Ctrl-C.

    Args:
        asgi: The application.
        listen: Where to listen.
        pages: What ends when a signal comes.
        stopping: Is told then, before anything else.
        listening: Is told the address before the first request.
        websockets: Whether the application takes them.
    """

    class Protocol(BoundedProtocol):
        identities = Identities(listen.guests)
        max_connections = room()

    config = uvicorn.Config(
        asgi,
        http=Protocol,
        ws="websockets-sansio" if websockets else "none",
        # Answers are small, and a trainer is near: packing them costs more than it saves.
        ws_per_message_deflate=False,
        # While it computes, it may answer no ping.
        ws_ping_timeout=PING_SECONDS,
        backlog=max(1, min(ACCEPTED_AT_ONCE, Protocol.max_connections // 8)),
        log_level="warning",
        log_config=None if in_json() else LOGGING_CONFIG,
        timeout_graceful_shutdown=3,
        # Given here, because otherwise an environment variable could make uvicorn trust everybody.
        forwarded_allow_ips=list(listen.proxies or LOCAL_PROXIES),
        **_tls(listen),
    )
    listeners = _listen(listen)
    if listening is not None:
        listening(
            f"{'https' if listen.certificate else 'http'}://{_bracketed(listen.host)}:{listeners[0].getsockname()[1]}"
        )
    server = _Uvicorn(config, pages)

    pressed = False

    def stop(number: int) -> None:
        nonlocal pressed
        pressed = pressed or number == signal.SIGINT
        if stopping is not None:
            stopping()
        server.stop()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(on_signal, stop)
        await server.serve(listeners)
        tasks.cancel_scope.cancel()
    return pressed


async def until_signal(serve: Callable[[], Awaitable[None]]) -> None:
    """Serve until it ends by itself or a signal ends it."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(on_signal, lambda _: tasks.cancel_scope.cancel())
        await serve()
        tasks.cancel_scope.cancel()


def _tls(listen: HttpSettings) -> dict[str, Any]:
    if listen.certificate is None:
        return {}
    return {"ssl_certfile": listen.certificate[0], "ssl_keyfile": listen.certificate[1]}


class _Uvicorn(uvicorn.Server):
    """Leaves signals to this module, and prints where it listens."""

    def __init__(self, config: uvicorn.Config, pages: Pages | None) -> None:
        super().__init__(config)
        self._pages = pages

    def stop(self) -> None:
        self.should_exit = True
        if self._pages is not None:
            self._pages.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # The event loop takes the same number for how many may queue and how many it accepts in one go.
            listener.listen(QUEUED)
            host, port = listener.getsockname()[:2]
            base = f"{'https' if self.config.is_ssl else 'http'}://{_bracketed(host)}:{port}"
            if self._pages is None:
                tell(f"m3bench serves {base}/mcp")
            else:
                self._pages.opened(base)


def _listen(listen: HttpSettings) -> list[socket.socket]:
    """Bound sockets for an address, all of one port; raises `UserError` when there can be none."""
    made: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            # With the protocol named, asyncio turns off Nagle's delay of 40 ms on accepted connections.
            opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            try:
                if os.name == "posix":
                    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                port = made[0].getsockname()[1] if made else listen.port
                opened.bind((address[0], port, *address[2:]))
            except OSError:
                opened.close()
                # A name such as localhost may have an address of a kind that this machine does not use.
                if not made:
                    raise
            else:
                made.append(opened)
    except OSError as error:
        where = f"{_bracketed(listen.host)}:{listen.port}"
        why = "another program uses the port" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        raise UserError(f"Cannot listen on {where}: {why}.") from error
    return made


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _run(make: Make, serve: Callable[[ServedApp], Awaitable[None]]) -> None:
    async def main() -> None:
        app = make()
        app.check()
        async with app.lifespan():
            await serve(app)

    run_alone(main)


def run_alone(main: Callable[[], Awaitable[None]]) -> None:
    """Run what this process is for; an `M3Error` is raised as it is, not in a group."""
    sys.setswitchinterval(SWITCH_SECONDS)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="m3bench: %(name)s: %(message)s")
    try:
        interrupts.run(main)
    except BaseExceptionGroup as group:
        # What a task group wraps is still one mistake of one person.
        ours = group.subgroup(M3Error)
        if ours is None:
            raise
        raise first_cause(ours) from None


async def on_signal(stop: Callable[[int], None]) -> None:
    """Call `stop` with every signal that asks this process to end."""
    if sys.platform == "win32":
        return  # the event loop there takes no handlers: Ctrl-C raises KeyboardInterrupt by itself
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            stop(number)
