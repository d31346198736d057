"""Real third-party MCP servers, fronted in place of the bundled ones or beside them.

Each works for a client, or for all of them, and is kept while that lasts: one link, any number of calls in flight, no
handshake per call. What it says and asks beside its answers goes to its client. A server that dies fails the calls
under way and is started again by the next one. Programs and images are spoken to in raw lines; HTTP servers through the
SDK's transport. All speak the handshake revisions, in which a session exists.
"""

import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from m3bench.proxy.protocol.messages import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, Json
from m3bench.proxy.protocol.messages import PROTOCOL_VERSION as VERSION_KEY
from m3bench.proxy.protocol.pipes import AtOnce, Pipes
from m3bench.proxy.protocol.tool_calls import Relay
from m3bench.proxy.upstreams.child_process import ChildProcess
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.jsonrpc_client import JsonRpcClient
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import UpstreamError
from m3bench.tasks.jsonrpc import INTERNAL_ERROR
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.lines import Lines

if TYPE_CHECKING:
    import mcp_types
    from mcp.client import streamable_http
    from mcp.shared import message

    from m3bench.proxy.protocol import sdk
else:
    # Without servers of others nothing here needs the SDK, which takes as long to load as all the rest.
    mcp_types = LazyModule("mcp_types")
    streamable_http = LazyModule("mcp.client.streamable_http")
    message = LazyModule("mcp.shared.message")
    sdk = LazyModule("m3bench.proxy.protocol.sdk")

PROTOCOL_VERSION = "2025-11-25"
START_SECONDS = 60.0
MAX_LINE_BYTES = 128 * 1024 * 1024

INHERITED = (
    *("APPDATA", "HOME", "LANG", "LOCALAPPDATA", "LOGNAME", "PATH", "PATHEXT", "SHELL"),
    *("SYSTEMROOT", "TEMP", "TERM", "TMPDIR", "USER", "USERPROFILE"),
)
"""Environment variables that a server gets without being asked; secrets must be given in its entry."""

ENVELOPE = frozenset({VERSION_KEY, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL})
"""What the newest revision puts around each request. It speaks of the link to the client, not of ours."""

logger = logging.getLogger(__name__)


class Wire(Protocol):
    """A line to a server, in both directions."""

    def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        """What arrives, until the other side closes; without what `at_once` took, where that can be asked."""
        ...

    async def send(self, data: bytes) -> None:
        """Write a line whole; raises `OSError` when nobody reads any more."""
        ...


Containers = Callable[[str, UpstreamEntry], AbstractAsyncContextManager[Wire]]
"""Runs the image of an entry, by the server's name, for as long as the context lasts; raises `UpstreamError`."""


class UpstreamClient(Protocol):
    """Whom a server works for."""

    @property
    def capabilities(self) -> Json:
        """What the server may ask of the client."""
        ...

    @property
    def shared(self) -> bool:
        """Whether there are several clients: what does not say whose it is, is then nobody's."""
        ...

    def notified(self, upstream: "Upstream", method: str, params: Json) -> None:
        """The server sent a notification that belongs to no call."""
        ...

    async def asked(self, method: str, params: Json, relay: Relay | None) -> Json:
        """The client's answer, result or error, to what the server asks; by way of the call it belongs to, if any."""
        ...


class Upstream(ABC):
    """One third-party server."""

    def __init__(self, name: str, client: UpstreamClient) -> None:
        self.name = name
        self.client = client
        self.info: Json = {}
        """What the server said of itself when it was started."""
        self.ended_unnoticed = False
        """Whether it ended by itself while nobody waited for it, so that nobody was told."""
        self._rpc: JsonRpcClient | None = None
        self._began = False
        self._starting = anyio.Lock()
        self._life: anyio.CancelScope | None = None
        self._stopped = False
        self._calls: dict[int, tuple[Relay | None, str | int | None]] = {}
        """Relays and progress tokens of the requests under way, by request id."""
        self._asks: dict[str | int, anyio.CancelScope] = {}
        """Requests of the server's that the client is answering."""

    async def start(self, tasks: TaskGroup) -> bool:
        """Start the server if it is not running; whether it was started now.

        Raises:
            UpstreamError: It does not start, or was stopped for good.
        """
        if self._rpc is not None and not self._stopped:
            return False
        await in_task()
        async with self._starting:
            if self._stopped:
                raise UpstreamError(self.name, "what it was started for has ended")
            if self._rpc is not None:
                return False
            try:
                with anyio.move_on_after(START_SECONDS) as scope:
                    await tasks.start(self._keep)
            except RuntimeError as error:
                raise UpstreamError(self.name, "it was stopped while it started") from error
            if scope.cancelled_caught:
                raise UpstreamError(self.name, f"it did not start within {START_SECONDS:g} s")
            return True

    def stop(self) -> None:
        """End the server for good, without waiting for its end."""
        self._stopped = True
        if self._life is not None:
            self._life.cancel()

    def has(self, capability: str) -> bool:
        """Whether the server declares a capability."""
        return declares(self.info, capability)

    async def request(self, method: str, params: Mapping[str, object], relay: Relay | None = None) -> bytes:
        """The raw result of a request, a tool call or any other; progress of it goes to the relay."""
        mine: list[int] = []
        sent = params.get("_meta")
        meta = {key: value for key, value in sent.items() if key not in ENVELOPE} if isinstance(sent, dict) else {}
        params = {key: value for key, value in params.items() if key != "_meta"} | ({"_meta": meta} if meta else {})

        def announce(id: int) -> None:
            mine.append(id)
            self._calls[id] = (relay, meta.get("progressToken"))

        try:
            return await self._link().request(method, params, announce=announce if relay is not None else None)
        finally:
            for id in mine:
                self._calls.pop(id, None)

    async def ask(self, method: str, params: Mapping[str, object]) -> Json:
        """The result of a request that belongs to nobody's call."""
        result = json.loads(await self._link().request(method, params))
        assert isinstance(result, dict)
        return result

    async def tell(self, method: str) -> None:
        """Send a notification, if the server is running."""
        if self._rpc is not None:
            with suppress(UpstreamError):
                await self._rpc.notify(method)

    async def pages(self, method: str, key: str) -> list[Json]:
        """All entries of a list method."""
        found: list[Json] = []
        cursor: Json = {}
        while True:
            page = await self.ask(method, cursor)
            items = page.get(key)
            found += [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}

    async def _keep(self, *, task_status: TaskStatus[None]) -> None:
        """Run the link in the task group of all servers, which no server's failure may take down."""
        self._began = False
        try:
            with anyio.CancelScope() as self._life:
                await self._run(task_status=task_status)
        except Exception as error:
            if self._began:
                logger.warning("The upstream server %r failed: %s", self.name, error)
            else:
                raise _reason(self.name, error) from error
        finally:
            self._rpc = None

    @abstractmethod
    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        """Keep the link until it breaks; report the start when the handshake is done."""

    def _link(self) -> JsonRpcClient:
        if self._rpc is None:
            raise UpstreamError(self.name, "it is not running")
        return self._rpc

    async def _shake_hands(self, rpc: JsonRpcClient, task_status: TaskStatus[None]) -> None:
        about = {"name": "m3bench", "version": "1"}
        can = dict(self.client.capabilities)
        params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": can, "clientInfo": about}
        info = json.loads(await rpc.request("initialize", params))
        await rpc.notify("notifications/initialized")
        self.info, self._rpc, self._began = info, rpc, True
        task_status.started()

    async def _talk(self, wire: Wire, task_status: TaskStatus[None]) -> None:
        """Speak in lines until the other side closes."""
        lines = Lines(MAX_LINE_BYTES)
        async with anyio.create_task_group() as tasks:
            rpc = self._connect(wire.send, tasks)
            tasks.start_soon(self._shake_hands, rpc, task_status)
            try:
                async for chunk in wire.chunks(lambda chunk: rpc.take(chunk) if lines.empty else chunk):
                    for line in lines.feed(chunk):
                        await rpc.feed(line)
            finally:
                self._rpc, self.ended_unnoticed = None, not rpc.waiting
                rpc.close(UpstreamError(self.name, "it ended"))

    def _connect(self, send: Callable[[bytes], Awaitable[None]], tasks: TaskGroup) -> JsonRpcClient:
        """The other side of a link; what it asks is answered beside what it tells."""

        def asked(id: str | int, method: str, params: Json) -> None:
            tasks.start_soon(self._answer, rpc, id, method, params)

        rpc = JsonRpcClient(self.name, send, self._notice, asked)
        return rpc

    async def _answer(self, rpc: JsonRpcClient, id: str | int, method: str, params: Json) -> None:
        with anyio.CancelScope() as scope:
            self._asks[id] = scope
            try:
                body = await self.client.asked(method, params, self._relay())
            except Exception as error:
                logger.exception("What the upstream server %r asked could not be passed on", self.name)
                body = {"error": {"code": INTERNAL_ERROR, "message": f"m3bench failed: {type(error).__name__}"}}
            finally:
                self._asks.pop(id, None)
            await rpc.reply(id, body)

    def _relay(self) -> Relay | None:
        """The call that something belongs to which does not say so: the newest of the one client that there is."""
        relays = [relay for relay, _ in self._calls.values() if relay is not None]
        return relays[-1] if relays and (len(relays) == 1 or not self.client.shared) else None

    async def _notice(self, method: str, params: Json) -> None:
        """Pass a notification on to the call it belongs to."""
        if method == "notifications/progress":
            id = params.get("progressToken")
            relay, token = self._calls.get(id, (None, None)) if isinstance(id, int) else (None, None)
            if relay is not None and token is not None:
                await relay.notify(method, {**params, "progressToken": token})
        elif method == "notifications/cancelled":
            id = params.get("requestId")
            scope = self._asks.get(id) if isinstance(id, str | int) else None
            if scope is not None:
                scope.cancel()
        elif method == "notifications/message" and (relay := self._relay()) is not None:
            await relay.notify(method, params)
        else:
            self.client.notified(self, method, params)


class StdioUpstream(Upstream):
    """A server that is a child process."""

    def __init__(self, name: str, entry: UpstreamEntry, client: UpstreamClient) -> None:
        super().__init__(name, client)
        self._entry = entry

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        entry = self._entry
        assert entry.command is not None
        env = {key: os.environ[key] for key in INHERITED if key in os.environ} | entry.env
        try:
            # Milliseconds, once per server; waiting for a thread would take as long.
            child = ChildProcess([entry.command, *entry.args], env, entry.cwd)
        except (OSError, ValueError) as error:
            raise UpstreamError(self.name, f"{entry.command!r} cannot be started ({error})") from error
        try:
            await self._talk(Pipes(child.reading, child.writing), task_status)
        finally:
            await child.stop()


class ContainerUpstream(Upstream):
    """A server that is a container."""

    def __init__(self, name: str, entry: UpstreamEntry, client: UpstreamClient, containers: Containers) -> None:
        super().__init__(name, client)
        self._entry = entry
        self._containers = containers

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        async with self._containers(self.name, self._entry) as wire:
            await self._talk(wire, task_status)


class HttpUpstream(Upstream):
    """A server behind a URL."""

    def __init__(self, name: str, entry: UpstreamEntry, client: UpstreamClient) -> None:
        super().__init__(name, client)
        self._entry = entry

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        assert self._entry.url is not None
        async with (
            sdk.create_mcp_http_client(headers=self._entry.headers) as client,
            streamable_http.streamable_http_client(
                self._entry.url, http_client=client, max_sse_event_size=None
            ) as streams,
            anyio.create_task_group() as tasks,
        ):
            read, write = streams

            async def send(line: bytes) -> None:
                await in_task()
                await write.send(
                    message.SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
                )

            rpc = self._connect(send, tasks)
            tasks.start_soon(self._shake_hands, rpc, task_status)
            try:
                async for item in read:
                    if isinstance(item, message.SessionMessage):
                        await rpc.feed(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            finally:
                self._rpc, self.ended_unnoticed = None, not rpc.waiting
                rpc.close(UpstreamError(self.name, "the connection ended"))


def declares(about: Json, capability: str) -> bool:
    """Whether what a server said of itself declares a capability."""
    declared = about.get("capabilities")
    return isinstance(declared, dict) and capability in declared


def _reason(name: str, error: BaseException) -> UpstreamError:
    """The first cause of a failure that speaks for itself."""
    if isinstance(error, UpstreamError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return _reason(name, error.exceptions[0])
    return UpstreamError(name, f"{type(error).__name__}: {error}")


def make_upstream(
    name: str, entry: UpstreamEntry, client: UpstreamClient, containers: Containers | None = None
) -> Upstream:
    """A server of an entry that works for somebody; images need somebody who runs them."""
    if entry.image is not None:
        assert containers is not None
        return ContainerUpstream(name, entry, client, containers)
    return StdioUpstream(name, entry, client) if entry.command is not None else HttpUpstream(name, entry, client)
