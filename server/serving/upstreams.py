"""Third-party servers as a person asked for them, and the seats that hear from them.

Servers that are images run under the same baseline as sandboxes: no network unless the entry asks for egress, a root
that cannot be written, no capability, a fixed user who is not root, bounded memory, processes and CPU, and nothing of
this machine mounted. Images are never pulled.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from m3bench.proxy.names import CALL_TOOL
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.pipes import AtOnce
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.cassette import Cassette
from m3bench.proxy.upstreams.configuration import UpstreamEntry, read_servers
from m3bench.proxy.upstreams.lifecycle import TOOLS_CHANGED
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.proxy.upstreams.upstream import Wire
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.container import discard
from m3bench.sandboxes.backends.docker.container_limits import NO_NETWORK, TEMPORARY, ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.backends.docker.leases import marks, new_name, reap
from m3bench.sandboxes.backends.docker.stream import OUTPUT, Frames, attach
from m3bench.server.serving.egress import NO_IPV6, close_way, open_way
from m3bench.server.settings import Settings
from m3bench.server.store.records import OWN_TOOLS
from m3bench.tasks.errors import SandboxError, UpstreamError, UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from docker import errors
else:
    errors = LazyModule("docker.errors")


_CHUNK = 256 * 1024


class Containers:
    """Starts images on the engine that the environment names; nothing is asked of it before the first one."""

    def __init__(self) -> None:
        self._engine = DockerEngine()

    @asynccontextmanager
    async def open(self, name: str, entry: UpstreamEntry) -> AsyncIterator[Wire]:
        """Run the image of an entry; the container is gone when the context ends.

        Raises:
            UpstreamError: It cannot be run; the message has the remedy.
        """
        container = new_name()
        # Cancelled half-way, this would leave a container to nobody.
        with anyio.CancelScope(shield=True):
            try:
                stream = await self._engine.ask(lambda client: self._start(client, name, entry, container))
                reader, writer = await asyncio.open_connection(sock=stream)
            except SandboxError as error:
                await discard(self._engine, container)
                raise UpstreamError(name, str(error).rstrip(".")) from error
            except BaseException:
                await discard(self._engine, container)
                raise
        try:
            yield _Stream(reader, writer)
        finally:
            with anyio.CancelScope(shield=True):
                await discard(self._engine, container)
                writer.close()
                if entry.egress:
                    await self._engine.ask(close_way)

    def _start(self, client: Client, name: str, entry: UpstreamEntry, container: str) -> Any:
        assert entry.image is not None
        reap(client)
        network = open_way(client, self._engine.address) if entry.egress else NO_NETWORK
        client.create_container_from_config(_config(client, name, entry, network), container)
        stream = attach(client, container)
        try:
            client.start(container)
        except BaseException:
            stream.close()
            raise
        return stream


def _config(client: Client, name: str, entry: UpstreamEntry, network: str) -> dict[str, Any]:
    try:
        id = client.inspect_image(entry.image)["Id"]
    except errors.ImageNotFound as error:
        raise SandboxError(f"the engine has no image {entry.image}: get it with docker pull {entry.image}") from error
    can_limit_time = bool(client.info().get("CpuCfsQuota", True))
    walls = host_config(ContainerLimits(), network=network, cpu_quota=can_limit_time)
    return {
        "Image": id,
        "Cmd": list(entry.args) or None,
        "Env": [f"{key}={value}" for key, value in {"HOME": TEMPORARY, **entry.env}.items()],
        "Labels": marks(f"upstream-{name}"),
        "User": f"{image.USER}:{image.GROUP}",
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": {**walls, "Sysctls": NO_IPV6} if entry.egress else walls,
    }


class _Stream:
    """The standard input and output of a container; what it complains of goes where ours does."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        """What the container writes, until it ends."""
        frames = Frames()
        while data := await self._reader.read(_CHUNK):
            for stream, written in frames.feed(data):
                if stream == OUTPUT:
                    yield written
                else:
                    sys.stderr.write(written.decode(errors="replace"))

    async def send(self, data: bytes) -> None:
        """Write a line."""
        self._writer.write(data)
        await self._writer.drain()


def open_upstreams(settings: Settings, prompts: Collection[str]) -> UpstreamServers:
    """The servers that settings name, live or recorded; nothing is started yet.

    Args:
        settings: What the person chose.
        prompts: The names of our own prompts.
    """
    entries = read_servers(settings.servers) if settings.servers is not None else {}
    cassette = None
    if settings.record is not None and settings.replay:
        raise UserError("A cassette is recorded or replayed, not both: give --record or --replay.")
    if settings.record is not None:
        cassette = Cassette(settings.record, replaying=False)
    elif settings.replay:
        cassette = Cassette(*settings.replay, replaying=True, live=settings.on_miss == "live")
    return UpstreamServers(
        entries,
        prefix=settings.prefix,
        cassette=cassette,
        reserved=OWN_TOOLS | {CALL_TOOL},
        prompts=prompts,
        containers=Containers().open,
    )


class UpstreamNotices:
    """Tells the seats what third-party servers change and announce, and what else becomes of their tools.

    Args:
        upstreams: The servers.
        seats: The seats that there are, by id.
        list_tools: Has a seat show the tools that there are for it now.
    """

    def __init__(
        self, upstreams: UpstreamServers, seats: Mapping[str, Seat], list_tools: Callable[[Seat], None]
    ) -> None:
        self._upstreams = upstreams
        self._seats = seats
        self._list_tools = list_tools
        upstreams.changed = self.tell

    async def prepare(self, seat: Seat) -> None:
        """Complete the tool list of a seat before it is shown."""
        if self._upstreams.names:
            await self._upstreams.prepare(seat)
            self._list_tools(seat)

    async def renamed(self, seat: Seat) -> None:
        """The tools of a seat have other names now."""
        await self.tell(seat, TOOLS_CHANGED, {})

    async def tell(self, seat: Seat | None, method: str, params: Json) -> None:
        """Pass on what a server said; a change of its tools only where a seat shows others now."""
        for each in [seat] if seat is not None else list(self._seats.values()):
            before = each.listing
            if method == TOOLS_CHANGED:
                self._list_tools(each)
            if method != TOOLS_CHANGED or each.listing != before:
                await each.announce(method, params)
