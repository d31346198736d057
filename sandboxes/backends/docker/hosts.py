"""Sandboxes on several Docker hosts: each new one goes to the host with the most free memory.

Every host is a backend of its own; this one looks at all of them from time to time and chooses. A host that does not
answer, or cannot run sandboxes of this m3bench, is left out with one line and used again when that has changed. A
sandbox stays where it was opened: its files are there.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from m3bench.sandboxes.backends.base import Prospect, SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.docker.leases import LEASE_SECONDS
from m3bench.sandboxes.backends.hosted import HostedSandbox
from m3bench.tasks.errors import SandboxError

LOOK_SECONDS = 5.0
"""Between two looks at a host."""

FIRST_SECONDS = 5.0
"""How long the first sandboxes wait until every host was looked at."""

BARRED_SECONDS = 30.0
"""How long a host that answers, and on which a sandbox could not be opened, is left out."""

logger = logging.getLogger(__name__)


class DockerHosts:
    """Opens sandboxes whose host is a container on one of several machines.

    Args:
        addresses: Where the engines are, as in `DOCKER_HOST`, or names of Docker contexts.
        runtime: Another OCI runtime than an engine's default, such as `runsc`.
        lease: Seconds after which anybody may remove what belongs to a sandbox.
    """

    name = "docker"
    limited_by = "container"
    is_spread = True

    def __init__(self, addresses: Sequence[str], *, runtime: str | None = None, lease: float = LEASE_SECONDS) -> None:
        # A host that is named twice has no more room than it has.
        unique = dict.fromkeys(addresses)
        self._hosts = [_Host(DockerBackend(address=address, runtime=runtime, lease=lease)) for address in unique]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for host in self._hosts:
            await self._stack.enter_async_context(host.backend)
            host.backend.tasks.start_soon(host.keep_looking)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def close(self) -> None:
        """Let go of the connections."""
        for host in self._hosts:
            host.backend.close()

    def prospect(self) -> Prospect:
        """What will hold on every host that answers."""
        with ThreadPoolExecutor(len(self._hosts)) as threads:
            found = list(threads.map(_prospect, self._hosts))
        good = [prospect for prospect in found if isinstance(prospect, Prospect)]
        if not good:
            raise SandboxError(" ".join(str(problem) for problem in found))
        guards = reduce(frozenset.intersection, (prospect.guards for prospect in good))
        return Prospect(guards, tuple(dict.fromkeys(line for prospect in good for line in prospect.notices)))

    async def open(self, spec: SandboxSpec) -> HostedSandbox:
        """A sandbox on the host with most room; on the next one, where it cannot be opened there."""
        if not spec.workspace.is_dir():
            raise SandboxError(f"There is no folder {str(spec.workspace)!r} to work in: make it first.")
        with anyio.move_on_after(FIRST_SECONDS):
            for host in self._hosts:
                await host.looked.wait()
        left = list(self._hosts)
        while usable := [host for host in left if host.trouble is None]:
            # The first of those that have as much room: the order is the operator's.
            chosen = max(usable, key=lambda host: host.free)
            left.remove(chosen)
            try:
                with chosen.expecting():
                    return await chosen.backend.open(spec)
            except SandboxError as error:
                chosen.bar(error)
        raise SandboxError(
            "No Docker host takes a sandbox now. " + " ".join(str(host.trouble) for host in self._hosts if host.trouble)
        )

    async def resume(self, workspace: Path) -> None:
        """Have the files of a workspace back from whichever host they are on.

        Raises:
            SandboxError: They are on none that answers, and one does not answer.
        """
        found, troubles = False, []
        for host in self._hosts:
            try:
                found = await host.backend.recover(workspace) or found
            except SandboxError as error:
                troubles.append(error)
        if troubles and not found:
            raise troubles[0]


class _Host:
    """An engine, and how much room it has."""

    def __init__(self, backend: DockerBackend) -> None:
        self.backend = backend
        self.looked = anyio.Event()
        """Set when it was looked at for the first time."""
        self.trouble: SandboxError | None = None
        """Why it is left out."""
        self._room = 0
        self._expected = 0
        self._barred_until = 0.0

    @property
    def free(self) -> int:
        """Sandboxes that it has room for, without those that are on their way; less than none when it has too many."""
        return self._room - self._expected

    @contextmanager
    def expecting(self) -> Iterator[None]:
        """Count a sandbox that is being opened: the engine cannot know of it yet."""
        self._expected += 1
        try:
            yield
            # Until the next look, the one that was opened.
            self._room -= 1
        finally:
            self._expected -= 1

    def bar(self, error: SandboxError) -> None:
        """Leave it out for a while."""
        self._barred_until = time.monotonic() + BARRED_SECONDS
        self._is_in(error)

    async def keep_looking(self) -> None:
        """Look at it from time to time."""
        while True:
            try:
                room = await self.backend.room()
            except SandboxError as error:
                self._is_in(error)
            else:
                self._room = room
                if time.monotonic() >= self._barred_until:
                    self._is_well()
            self.looked.set()
            await anyio.sleep(LOOK_SECONDS)

    def _is_in(self, trouble: SandboxError) -> None:
        if self.trouble is None:
            logger.warning("%s Until then sandboxes go to the other hosts.", trouble)
        self.trouble = trouble

    def _is_well(self) -> None:
        if self.trouble is not None:
            logger.warning("The Docker engine at %s takes sandboxes again.", self.backend.engine.address)
        self.trouble = None


def _prospect(host: _Host) -> Prospect | SandboxError:
    try:
        return host.backend.prospect()
    except SandboxError as error:
        return error
