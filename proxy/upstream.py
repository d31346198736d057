"""Real third-party MCP servers, fronted in place of the bundled ones or beside them.

Each is started once and kept: one link, any number of calls in flight, no handshake per call. A server that
dies fails the calls under way and is started again by the next one. Programs and images are spoken to in raw
lines; HTTP servers through the SDK's transport. All speak the handshake revisions, in which a session exists.
"""

import json
import logging
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from m3bench.proxy.descriptors import Descriptors
from m3bench.proxy.peer import Peer
from m3bench.proxy.sdk import create_mcp_http_client
from m3bench.tasks.errors import InputFileError, UpstreamError
from m3bench.tasks.lines import Lines

PROTOCOL_VERSION = "2025-11-25"
START_SECONDS = 60.0
STOP_SECONDS = 3.0
MAX_LINE_BYTES = 128 * 1024 * 1024

INHERITED = (
    *("APPDATA", "HOME", "LANG", "LOCALAPPDATA", "LOGNAME", "PATH", "PATHEXT", "SHELL"),
    *("SYSTEMROOT", "TEMP", "TERM", "TMPDIR", "USER", "USERPROFILE"),
)
"""Environment variables that a server gets without being asked; secrets must be given in its entry."""

ENVELOPE = frozenset(
    {PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY}
)
"""What the newest revision puts around each request. It speaks of the link to the client, not of ours."""

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

logger = logging.getLogger(__name__)


class Entry(BaseModel):
    """A server in the usual `mcpServers` form."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    image: str | None = None
    """A container image to run; `args` and `env` are for it."""
    egress: bool = False
    """Whether an image may reach public addresses; private ones it never reaches."""
    stateful: bool = False
    """Whether a call can change what a later one answers: such a server is never recorded on a cassette."""


def read_servers(path: Path) -> dict[str, Entry]:
    """The entries of a configuration file, by name."""
    try:
        data = json.loads(path.read_bytes())
        found = data["mcpServers"] if isinstance(data, dict) and "mcpServers" in data else data
        entries = {str(name): Entry.model_validate(entry) for name, entry in dict(found).items()}
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from error
    except (ValueError, TypeError) as error:
        raise InputFileError(path, 'is not of the form {"mcpServers": {"name": {"command": …}}}') from error
    for name, entry in entries.items():
        field = f"mcpServers.{name}"
        if [entry.command, entry.url, entry.image].count(None) != 2:
            raise InputFileError(path, "needs a command, a url or an image, one of them", field=field)
        if entry.egress and entry.image is None:
            raise InputFileError(
                path, "is about images: a command or a url goes wherever it likes", field=f"{field}.egress"
            )
    return entries


class Wire(Protocol):
    """A line to a server, in both directions."""

    def chunks(self) -> AsyncIterator[bytes]:
        """What arrives, until the other side closes."""
        ...

    async def send(self, data: bytes) -> None:
        """Write a line whole; raises `OSError` when nobody reads any more."""
        ...


Containers = Callable[[str, Entry], AbstractAsyncContextManager[Wire]]
"""Runs the image of an entry, by the server's name, for as long as the context lasts; raises `UpstreamError`."""


class Upstream(ABC):
    """One third-party server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.info: dict[str, Any] = {}
        """What the server said of itself when it was opened."""
        self._peer: Peer | None = None
        self._opening = anyio.Lock()
        self._listeners: dict[int, Any] = {}
        """Relays of the calls under way, by request id."""

    async def open(self, tasks: TaskGroup) -> None:
        """Start the server if it is not running."""
        async with self._opening:
            if self._peer is None:
                with anyio.move_on_after(START_SECONDS) as scope:
                    await tasks.start(self._keep)
                if scope.cancelled_caught:
                    raise UpstreamError(self.name, f"it did not start within {START_SECONDS:g} s")

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of any request."""
        result = json.loads(await self._link().request(method, params))
        assert isinstance(result, dict)
        return result

    async def call(self, params: Mapping[str, Any], relay: Any) -> bytes:
        """The raw result of a tool call."""
        mine: list[int] = []
        meta = {key: value for key, value in params.get("_meta", {}).items() if key not in ENVELOPE}
        params = {**params, "_meta": meta}

        def announce(id: int) -> None:
            mine.append(id)
            self._listeners[id] = (relay, meta.get("progressToken"))

        try:
            return await self._link().request("tools/call", params, announce=announce)
        finally:
            for id in mine:
                self._listeners.pop(id, None)

    async def pages(self, method: str, key: str) -> list[dict[str, Any]]:
        """All entries of a list method."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await self.request(method, cursor)
            found += [item for item in page.get(key, []) if isinstance(item, dict)]
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}

    async def _keep(self, *, task_status: TaskStatus[None]) -> None:
        """Run the link in the fleet's task group, which no server's failure may take down."""
        try:
            await self._run(task_status=task_status)
        except Exception as error:
            if self.info:
                logger.warning("The upstream server %r failed: %s", self.name, error)
            else:
                raise _reason(self.name, error) from error
        finally:
            self._peer = None

    @abstractmethod
    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        """Keep the link until it breaks; report the start when the handshake is done."""

    def _link(self) -> Peer:
        if self._peer is None:
            raise UpstreamError(self.name, "it is not running")
        return self._peer

    async def _shake_hands(self, peer: Peer, task_status: TaskStatus[None]) -> None:
        about = {"name": "m3bench", "version": "1"}
        params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": about}
        info = json.loads(await peer.request("initialize", params))
        await peer.notify("notifications/initialized")
        self.info, self._peer = info, peer
        task_status.started()

    async def _talk(self, wire: Wire, task_status: TaskStatus[None]) -> None:
        """Speak in lines until the other side closes."""
        peer = Peer(self.name, wire.send, self._notice)
        lines = Lines(MAX_LINE_BYTES)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._shake_hands, peer, task_status)
            try:
                async for chunk in wire.chunks():
                    for line in lines.feed(chunk):
                        await peer.feed(line)
            finally:
                self._peer = None
                peer.close(UpstreamError(self.name, "it ended"))

    async def _notice(self, method: str, params: dict[str, Any]) -> None:
        """Pass a notification on to the call it belongs to."""
        if method == "notifications/progress":
            relay, token = self._listeners.get(params.get("progressToken", -1), (None, None))
            if relay is not None and token is not None:
                await relay.notify(method, {**params, "progressToken": token})
        elif method == "notifications/message" and len(self._listeners) == 1:
            # A log message does not say which call it belongs to: with several under way it is nobody's.
            ((relay, _),) = self._listeners.values()
            if relay is not None:
                await relay.notify(method, params)


class StdioUpstream(Upstream):
    """A server that is a child process."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name)
        self._entry = entry

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        entry = self._entry
        assert entry.command is not None
        env = {key: os.environ[key] for key in INHERITED if key in os.environ} | entry.env
        pipe = subprocess.PIPE
        try:
            # Milliseconds, once per server; waiting for a thread would take as long.
            process = subprocess.Popen(  # noqa: ASYNC220
                [entry.command, *entry.args], stdin=pipe, stdout=pipe, bufsize=0, env=env, cwd=entry.cwd,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise UpstreamError(self.name, f"{entry.command!r} cannot be started ({error})") from error
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            await self._talk(Descriptors(process.stdout.fileno(), process.stdin.fileno()), task_status)
        finally:
            await _stop(process)


class ContainerUpstream(Upstream):
    """A server that is a container."""

    def __init__(self, name: str, entry: Entry, containers: Containers) -> None:
        super().__init__(name)
        self._entry = entry
        self._containers = containers

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        async with self._containers(self.name, self._entry) as wire:
            await self._talk(wire, task_status)


class HttpUpstream(Upstream):
    """A server behind a URL."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name)
        self._entry = entry

    async def _run(self, *, task_status: TaskStatus[None]) -> None:
        assert self._entry.url is not None
        async with (
            create_mcp_http_client(headers=self._entry.headers) as client,
            streamable_http_client(self._entry.url, http_client=client, max_sse_event_size=None) as streams,
            anyio.create_task_group() as tasks,
        ):
            read, write = streams

            async def send(line: bytes) -> None:
                await write.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))

            peer = Peer(self.name, send, self._notice)
            tasks.start_soon(self._shake_hands, peer, task_status)
            try:
                async for item in read:
                    if isinstance(item, SessionMessage):
                        await peer.feed(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            finally:
                self._peer = None
                peer.close(UpstreamError(self.name, "the connection ended"))


def _reason(name: str, error: BaseException) -> UpstreamError:
    """The first cause of a failure that speaks for itself."""
    if isinstance(error, UpstreamError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return _reason(name, error.exceptions[0])
    return UpstreamError(name, f"{type(error).__name__}: {error}")


def make_upstream(name: str, entry: Entry, containers: Containers | None = None) -> Upstream:
    """The upstream of an entry; images need somebody who runs them."""
    if entry.image is not None:
        assert containers is not None
        return ContainerUpstream(name, entry, containers)
    return StdioUpstream(name, entry) if entry.command is not None else HttpUpstream(name, entry)


async def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End a child and whatever it started; bounded, whatever it does."""
    assert process.stdin is not None
    assert process.stdout is not None
    with anyio.CancelScope(shield=True):
        with suppress(OSError):
            process.stdin.close()
        for kill in (None, signal.SIGTERM, _KILL):
            if kill is not None:
                _signal(process, kill)
            if await _ended(process):
                break
        # Whatever the server itself started is still in its group.
        _signal(process, _KILL)
        process.stdout.close()


async def _ended(process: "subprocess.Popen[bytes]") -> bool:
    def wait() -> bool:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    return await anyio.to_thread.run_sync(wait)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)


def capabilities(upstreams: Sequence[Upstream], name: str) -> list[Upstream]:
    """Those that declare a capability."""
    return [upstream for upstream in upstreams if name in upstream.info.get("capabilities", {})]
