"""Sandboxes that are rooms on a few hosts: for episodes by the hundred, which are short and too many for a host each.

A host is a confined process as any other; what it may touch is one folder, and each sandbox is a room in it: a folder
of its own, to which every path of its tools is held. What a host has read of the world serves all of its rooms, and
what tools answer that only read is remembered for all of them. A host that dies takes the calls under way in its rooms
with it and nothing else: the next call starts another, which is told of its room first. After enough rooms a host is
replaced, when the last of them has closed.

The walls between rooms are those of `Workspace`, not of the kernel: one learner's runs are kept apart, not enemies.
"""

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from m3bench.sandboxes.backends.base import Guard, Prospect, SandboxSpec
from m3bench.sandboxes.backends.hosted import PING_SECONDS, HostedSandbox, RunningHost, purpose
from m3bench.sandboxes.backends.isolation import HostLimits, Isolation
from m3bench.sandboxes.backends.ownership import give, is_superuser
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.backends.result_cache import ResultCache, key_of, known_of
from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.outcome import Reply

ROOMS_PER_HOST = 1000
"""Rooms after which a host is replaced: libraries that never give memory back, and a limit of processor time."""

CALLS_AT_ONCE = 4
"""Calls at work in a host; what waits for its turn is not yet in its time."""

LIMITS = HostLimits(memory=4 * 1024**3, open_files=4096, processes=1024, cpu_seconds=36_000)
"""Of a host with many rooms."""

ROOT_LIMITS = WorkspaceLimits(bytes=8 * 1024**3, files=200_000)
"""Of all rooms together; each has those of any workspace besides."""


def shared_isolation() -> Isolation:
    """How a host with many rooms is held."""
    return Isolation(limits=LIMITS, workspace=ROOT_LIMITS)


logger = logging.getLogger(__name__)


class SharedHost:
    """A host and how many rooms it has had."""

    def __init__(self, sandbox: HostedSandbox) -> None:
        self.sandbox = sandbox
        self.open = 0
        """Rooms that are open now."""
        self.had = 0
        """Rooms that it has had, with those."""
        self.turns = anyio.CapacityLimiter(CALLS_AT_ONCE)


class SharedBackend:
    """Opens sandboxes that are rooms; an async context manager, as every backend.

    Args:
        backend: Starts the hosts; entered and left with this.
        root: The folder that the hosts work in and the rooms are made in.
        hosts: How many there are at a time; one per core when left out.
        rooms: How many rooms a host has before it is replaced.
        cache: What is known of earlier answers; none when left out.
    """

    name = "shared"
    is_spread = False

    def __init__(
        self, backend: ProcessBackend, root: Path, *, hosts: int | None = None, rooms: int = ROOMS_PER_HOST,
        cache: ResultCache | None = None,
    ) -> None:  # fmt: skip
        self.cache = cache
        self._backend = backend
        self._root = root.resolve()
        self._wanted = hosts or os.cpu_count() or 1
        self._rooms = rooms
        self._hosts: list[SharedHost] = []
        self._turn = anyio.Lock()
        self.asked: dict[bytes, anyio.Event] = {}
        """What a host is being asked for, by its key in the cache; set when it has answered."""

    async def __aenter__(self) -> Self:
        await self._backend.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Their backend closes the hosts.
        await self._backend.__aexit__(kind, error, trace)

    @property
    def limited_by(self) -> str:
        """What holds a host to its memory and processes."""
        return self._backend.limited_by

    def prospect(self) -> Prospect:
        """What will hold in the hosts."""
        return self._backend.prospect()

    async def open(self, spec: SandboxSpec) -> "RoomSandbox":
        """A room in the host that has fewest; starts a host when there are not enough."""
        if spec.workspace.resolve().parent != self._root:
            raise SandboxError(f"A shared sandbox works in a folder of {self._root}.")
        async with self._turn:
            host = await self._next()
            host.open += 1
            host.had += 1
        return RoomSandbox(self, host, spec)

    async def warm(self) -> None:
        """Start the hosts, if they are not up."""
        async with self._turn:
            while len(self._hosts) < self._wanted:
                await self._start()

    async def resume(self, workspace: Path) -> None:
        """Rooms do not outlive the process that opened them."""
        raise SandboxError("A room of a shared sandbox cannot be used again.")

    async def left(self, host: SharedHost) -> None:
        """A room has closed."""
        host.open -= 1
        if not host.open and host not in self._hosts:
            await host.sandbox.aclose()

    def kill(self) -> int:
        """Kill every host; how many there were. What is pending fails, the next calls start others."""
        for host in self._hosts:
            host.sandbox.kill()
        return len(self._hosts)

    async def _next(self) -> SharedHost:
        for host in [host for host in self._hosts if host.had >= self._rooms]:
            self._hosts.remove(host)
            if not host.open:
                await host.sandbox.aclose()
        if len(self._hosts) < self._wanted and all(host.open for host in self._hosts):
            await self._start()
        return min(self._hosts, key=lambda host: (host.open, host.had))

    async def _start(self) -> None:
        self._hosts.append(SharedHost(await self._backend.open(SandboxSpec(workspace=self._root))))


class RoomSandbox:
    """A sandbox that is a room."""

    place = None

    def __init__(self, backend: SharedBackend, host: SharedHost, spec: SandboxSpec) -> None:
        self.name = spec.workspace.name
        self._backend = backend
        self._host = host
        self._spec = spec
        self._known = known_of(spec)
        self._in: RunningHost | None = None
        self._turn = anyio.Lock()
        self._closed = False
        self._hand_over()

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in its host."""
        return self._host.sandbox.guards

    @property
    def notices(self) -> tuple[str, ...]:
        """What does not hold there."""
        return self._host.sandbox.notices

    async def call(self, tool: str, arguments: bytes, seconds: float | None = None) -> Reply:
        """Call a tool, unless it is known what it will answer; see `Sandbox`."""
        if self._closed:
            raise SandboxError("The sandbox is closed.")
        cache, asked = self._backend.cache, self._backend.asked
        key = key_of(tool, arguments, self._spec.workspace, self._known) if cache is not None else None
        if cache is None or key is None:
            return await self._ask(tool, arguments, seconds)
        if key in asked:
            # The members of a group ask for the same at the same time.
            await asked[key].wait()
        found = cache.get(key)
        if found is not None:
            return found
        answered = asked.setdefault(key, anyio.Event())
        try:
            reply = await self._ask(tool, arguments, seconds)
            cache.put(key, reply, tool)
        finally:
            answered.set()
            if asked.get(key) is answered:
                del asked[key]
        return reply

    async def _ask(self, tool: str, arguments: bytes, seconds: float | None) -> Reply:
        async with self._host.turns:
            return await self._host.sandbox.call(tool, arguments, seconds, self)

    async def enter(self, host: RunningHost) -> None:
        """See to it that a host has the room; one that took the place of another has none yet."""
        if self._in is host:
            return
        async with self._turn:
            if self._in is not host:
                await host.link.ask("m3bench/open", {"room": self.name, **purpose(self._spec)})
                self._in = host

    async def configure(self, spec: SandboxSpec) -> None:
        """Change what the room is for."""
        self._spec, self._known, self._in = spec, known_of(spec), None

    async def take(self, names: Sequence[str]) -> None:
        """Let the tools have files that were put into the room from outside."""
        self._hand_over()

    async def aclose(self) -> None:
        """Leave the room; its files stay."""
        if self._closed:
            return
        self._closed = True
        with anyio.CancelScope(shield=True):
            if self._in is not None and not self._in.link.broken:
                with anyio.move_on_after(PING_SECONDS), suppress(SandboxError):
                    await self._in.link.ask("m3bench/leave", {"room": self.name})
            await self._backend.left(self._host)

    def _hand_over(self) -> None:
        """Give the files of the room to the user that its host runs as, when that is another one."""
        owner = self._spec.workspace.parent.stat()
        if is_superuser() and owner.st_uid:
            give(self._spec.workspace, owner.st_uid, owner.st_gid)
