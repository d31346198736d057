"""Runs third-party servers that are images, under the same baseline as sandboxes.

No network unless the entry asks for a way out, a root that cannot be written, no capability, a fixed user who is
not root, bounded memory, processes and CPU, and nothing of this machine mounted. Images are never pulled.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from m3bench.proxy.protocol.pipes import AtOnce
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.upstream import Wire
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.container import discard
from m3bench.sandboxes.backends.docker.container_limits import NO_NETWORK, TEMPORARY, ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.backends.docker.leases import marks, new_name
from m3bench.sandboxes.backends.docker.reaper import reap
from m3bench.sandboxes.backends.docker.stream import OUTPUT, Frames, attach
from m3bench.server.serving.egress import NO_IPV6, close_way, open_way
from m3bench.tasks.errors import SandboxError, UpstreamError
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
