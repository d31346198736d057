"""A host in a container, and the connection to it: standard input and output over the engine's attach stream.

The engine closes the host's input when this process lets go of the stream or dies, and removes the container
when the host has ended; so whatever becomes of us, nothing is left.
"""

import asyncio
import logging
import signal
import time
from typing import Protocol

import anyio

from m3bench.sandboxes.backends.base import Guard
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine, is_gone, is_missing
from m3bench.sandboxes.backends.docker.leases import HELD
from m3bench.sandboxes.backends.docker.stream import OUTPUT, Frames
from m3bench.sandboxes.backends.watch import ResourceWatch
from m3bench.sandboxes.link import HostLink
from m3bench.tasks.errors import SandboxError

LAST_WORDS_SECONDS = 2.0
"""Time for the engine to say how a container ended."""
REMOVAL_SECONDS = 20.0
"""Time for a container that is being removed to be gone."""
PAUSE_SECONDS = 0.05
TAIL_BYTES = 4096

logger = logging.getLogger(__name__)


class ContainerOwner(Protocol):
    """The backend that a container belongs to."""

    @property
    def engine(self) -> DockerEngine:
        """Where it runs."""
        ...

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in every container there."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What does not, in plain words."""
        ...

    @property
    def memory(self) -> int:
        """Bytes a container may use."""
        ...

    def soon(self, container: "HostContainer") -> None:
        """Remove it without waiting."""
        ...


class HostContainer(asyncio.Protocol):
    """A container that runs a host.

    Args:
        owner: The backend it belongs to.
        name: What the engine knows it by.
        watch: What of it can be looked at from outside.
    """

    def __init__(self, owner: ContainerOwner, name: str, watch: ResourceWatch) -> None:
        self.name = name
        self.watch = watch
        self._owner = owner
        self._frames = Frames()
        self._silent = anyio.Event()
        self._ending = anyio.Lock()
        self._is_gone = False
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The stream is ours."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.link = HostLink(transport.write)

    def data_received(self, data: bytes) -> None:
        """Messages on standard output, complaints on standard error."""
        for stream, written in self._frames.feed(data):
            if stream == OUTPUT:
                self.link.feed(written)
            else:
                self._tail = (self._tail + written)[-TAIL_BYTES:]

    def eof_received(self) -> bool:
        """The container ended; our side of the stream is closed too."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The stream ended, with the container or with the engine."""
        self._silent.set()

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds in this container."""
        filtered: set[Guard] = {"sockets", "kernel"}
        return self._owner.guards - (filtered - confined)

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """What does not hold, in plain words."""
        return self._owner.notices

    async def run(self) -> None:
        """Wait for the end of the stream, then fail what is pending and clean up."""
        try:
            await self._silent.wait()
            if not self.link.broken:
                self.link.fail(await self._end())
        finally:
            await self.aclose()

    def kill(self) -> None:
        """Kill the container, soon."""
        self.link.fail(SandboxError("The host was killed."))
        self._owner.soon(self)

    async def aclose(self) -> None:
        """Have the engine kill and remove it; every wait is bounded."""
        with anyio.CancelScope(shield=True):
            async with self._ending:
                if self._is_gone:
                    return
                self.link.fail(SandboxError("The sandbox was closed."))
                self._is_gone = await discard(self._owner.engine, self.name)
                self._transport.close()

    async def _end(self) -> SandboxError:
        how = await self._story()
        words = self._tail.decode(errors="replace")
        if words:
            logger.warning("The last words of a host that %s: %s", how, words[-1000:])
        last = words.strip().splitlines()[-1:] or [""]
        return SandboxError(f"The host {how}.{f' It said: {last[0][:300]}.' if last[0] else ''}")

    async def _story(self) -> str:
        """How the container ended, as far as the engine tells."""
        with anyio.move_on_after(LAST_WORDS_SECONDS):
            while True:
                try:
                    told = await self._owner.engine.ask(self._events)
                except SandboxError:
                    return "is gone, and so is the Docker engine: it may have been restarted"
                if "oom" in told:
                    return f"needed more than the {self._owner.memory // 1024**2} MB of memory a sandbox has"
                if "die" in told:
                    return _ending(told["die"])
                await anyio.sleep(PAUSE_SECONDS)
        return "closed its output unexpectedly"

    def _events(self, client: Client) -> dict[str, str]:
        """What the engine remembers of this container: kinds of events, with the exit code if there is one."""
        found = client.events(
            since=0, until=f"{time.time():.6f}", filters={"container": [self.name], "type": ["container"]}, decode=True
        )
        return {event["Action"]: event["Actor"]["Attributes"].get("exitCode", "") for event in found}


async def discard(engine: DockerEngine, name: str) -> bool:
    """Have a container killed and removed; False when the engine could not be asked and the reaper has to do it."""

    def remove(client: Client) -> None:
        end = time.monotonic() + REMOVAL_SECONDS
        while time.monotonic() < end:
            try:
                client.remove_container(name, force=True, v=True)
            except OSError as error:
                if is_missing(error):
                    return
                # Conflict: its removal is under way, as the engine does by itself when a host has ended.
                if not is_gone(error):
                    raise
                time.sleep(PAUSE_SECONDS)

    try:
        await engine.ask(remove)
    except SandboxError as error:
        logger.warning("Container %s could not be removed now: %s", name, error)
        return False
    finally:
        HELD.discard(name)
    return True


def _ending(code: str) -> str:
    number = int(code) if code.isdigit() else -1
    if number > 128:
        try:
            return f"was killed unexpectedly ({signal.Signals(number - 128).name})"
        except ValueError:
            pass
    return f"ended ({code}) unexpectedly"
