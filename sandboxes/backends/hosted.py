"""Sandboxes whose tools live in a host somewhere else, reached over a link; hosts come and go.

What is the same for child processes and containers: starting a few at a time, telling the host what it is
for, starting another one when it died or hangs, giving up on calls. A backend adds how a host is launched and
ended. A call is never repeated, since nobody knows what a host did before it died.
"""

import logging
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from m3bench.sandboxes.backends.base import Guard, Prospect, SandboxSpec
from m3bench.sandboxes.backends.watch import ResourceWatch
from m3bench.sandboxes.dispatcher import MAX_ARGUMENT_BYTES, oversized, refusal
from m3bench.sandboxes.link import HostLink
from m3bench.sandboxes.offer import offer
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.outcome import Reply

STARTS = 4
"""Hosts being started at the same time."""

START_SECONDS = 30.0
PING_SECONDS = 2.0
"""Time for a host to answer a ping, after a call was cut off."""
SETTLE_SECONDS = 1.0
"""Time for a tool to end after its call was cut off."""
DRAIN_SECONDS = 60.0
"""Time for the other calls of a host that is to be replaced."""

LOOK_SECONDS = 0.1
"""Between two looks at what a sandbox uses while it has something to do."""
IDLE_LOOK_SECONDS = 0.5
"""And while it has not; a thorough look is not taken more often."""
QUICK_SECONDS = 0.02
"""A call that took less cannot have used much."""

logger = logging.getLogger(__name__)


class RunningHost(Protocol):
    """A host that was launched."""

    @property
    def link(self) -> HostLink:
        """The connection to it."""
        ...

    @property
    def watch(self) -> ResourceWatch:
        """What it may use, and how to see what it does."""
        ...

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds in there, given what the host says of itself."""
        ...

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """What does not hold, in plain words."""
        ...

    def kill(self) -> None:
        """Kill it at once."""
        ...

    async def aclose(self) -> None:
        """End it and whatever it started; returns within bounds, whatever happens."""
        ...


class Room(Protocol):
    """A part of a host: a folder of its workspace, and what tools know there."""

    @property
    def name(self) -> str:
        """The folder's name."""
        ...

    async def enter(self, host: RunningHost) -> None:
        """See to it that a host has the room.

        Raises:
            SandboxError: It will not.
        """
        ...


class HostBackend(ABC):
    """Opens sandboxes with a host of their own.

    Args:
        starts: How many hosts may be starting at the same time.
    """

    name: str
    remedy = "To see what is wrong, run: python -m m3bench.sandboxes.host --workspace ."
    """What to do when no host can be started."""
    is_spread = False
    place: str | None = None
    """The machine that hosts are on, where there are several to choose from."""

    def __init__(self, *, starts: int = STARTS) -> None:
        self.starting = anyio.Semaphore(starts)
        self._sandboxes: set[HostedSandbox] = set()
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as closing:
                for sandbox in list(self._sandboxes):
                    closing.start_soon(sandbox.aclose)
        self.tasks.cancel_scope.cancel()
        await self._stack.aclose()

    @property
    def tasks(self) -> TaskGroup:
        """Where everything that watches a host runs."""
        assert self._tasks is not None, "enter the backend first: async with backend"
        return self._tasks

    async def open(self, spec: SandboxSpec) -> "HostedSandbox":
        """A sandbox whose host is up."""
        offer(spec.servers)
        sandbox = HostedSandbox(self, spec)
        self._sandboxes.add(sandbox)
        try:
            await sandbox.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()
            raise
        return sandbox

    def closed(self, sandbox: "HostedSandbox") -> None:
        """Forget a sandbox."""
        self._sandboxes.discard(sandbox)

    @abstractmethod
    def prospect(self) -> Prospect:
        """What will hold in the sandboxes opened here, found out without opening one; blocks the first time."""

    def may_recover(self) -> bool:
        """Whether a start that failed is worth another try at once."""
        return True

    @abstractmethod
    async def launch(self, workspace: Path) -> RunningHost:
        """Start a host; it need not be ready.

        Raises:
            SandboxError: It cannot be started; the message has the remedy.
        """

    async def take(self, workspace: Path, names: Sequence[str]) -> None:
        """Take in files that were put into a workspace from outside; nothing to do where hosts see the folder."""
        return

    async def resume(self, workspace: Path) -> None:
        """Get ready for a workspace that another process has used; its hosts end with it, where they are processes."""
        return

    async def leave(self, workspace: Path) -> None:
        """The last host of a workspace has ended: have its files in the folder, if they are elsewhere."""
        return


class HostedSandbox:
    """A sandbox that always has a working host, as far as one can be started."""

    def __init__(self, backend: HostBackend, spec: SandboxSpec) -> None:
        self.guards: frozenset[Guard] = frozenset()
        self.notices: tuple[str, ...] = ()
        self._backend = backend
        self._spec = spec
        self._host: RunningHost | None = None
        self._retired: set[RunningHost] = set()
        self._turn = anyio.Lock()
        self._starting = anyio.CancelScope()
        self._doubts = 0
        """Calls that were cut off and not looked into yet; new calls wait for the verdict."""
        self._verdict = anyio.Event()
        self._excess: tuple[RunningHost, str] | None = None
        """The last host that exceeded a limit, and which one."""
        self._closed = False

    @property
    def place(self) -> str | None:
        """The machine it is on, where there are several."""
        return self._backend.place

    async def start(self) -> None:
        """Have a host, if there is none."""
        await self._ready()

    async def call(self, tool: str, arguments: bytes, seconds: float | None = None, room: Room | None = None) -> Reply:
        """Call a tool; see `Sandbox`. With a room, in that part of the host."""
        if len(arguments) > MAX_ARGUMENT_BYTES:
            return refusal(tool, oversized(len(arguments))).render()
        host, pending = None, None
        with anyio.move_on_after(seconds):
            host = await self._ready()
            begin = anyio.current_time()
            if room is not None:
                await room.enter(host)
            pending = host.link.call(tool, arguments, room.name if room is not None else "")
            reply = await pending.reply()
            if anyio.current_time() - begin > QUICK_SECONDS:
                await self._hold_to_limits(host)
            return reply
        if host is None or pending is None:
            raise SandboxError(f"The sandbox was not ready within {seconds:g} seconds.")
        self._doubts += 1
        self._backend.tasks.start_soon(self._examine, host, pending.request)
        raise SandboxError(f"{tool} gave no answer within {seconds:g} seconds and was cut off.")

    async def configure(self, spec: SandboxSpec) -> None:
        """Change what the sandbox is for."""
        offer(spec.servers)
        async with self._turn:
            self._spec = spec
            if self._host is None:
                return
            with anyio.move_on_after(PING_SECONDS), suppress(SandboxError):
                await self._introduce(self._host)
                return
            # It does not listen: the next call starts another, which will know.
            await self._host.aclose()

    async def take(self, names: Sequence[str]) -> None:
        """Take in files that were put into the workspace from outside."""
        await self._backend.take(self._spec.workspace, names)

    def kill(self) -> None:
        """Kill the host; what is pending fails, the next call starts another."""
        if self._host is not None:
            self._host.kill()

    async def aclose(self) -> None:
        """End every host of this sandbox."""
        self._closed = True
        self._starting.cancel()
        with anyio.CancelScope(shield=True):
            async with self._turn:
                hosts = [*self._retired, *([self._host] if self._host else [])]
                async with anyio.create_task_group() as closing:
                    for host in hosts:
                        closing.start_soon(host.aclose)
                self._host = None
                try:
                    await self._backend.leave(self._spec.workspace)
                except SandboxError as error:
                    logger.error("The files of a sandbox are lost. %s", error)
        self._backend.closed(self)

    async def _ready(self) -> RunningHost:
        """The host; single flight when one must be started."""
        while self._doubts:
            await self._verdict.wait()
        if self._host is not None and not self._host.link.broken:
            return self._host
        async with self._turn:
            if self._host is not None and not self._host.link.broken:
                return self._host
            if not self._closed:
                with anyio.CancelScope() as self._starting:
                    self._host = await self._start()
                    return self._host
        raise SandboxError("The sandbox is closed.")

    async def _start(self) -> RunningHost:
        try:
            return await self._try()
        except SandboxError as error:
            if not self._backend.may_recover():
                raise
            logger.warning("A host did not start, trying once more: %s", error)
        try:
            return await self._try()
        except SandboxError as error:
            raise SandboxError(f"A host cannot be started. {error} {self._backend.remedy}") from error

    async def _try(self) -> RunningHost:
        async with self._backend.starting:
            host = await self._backend.launch(self._spec.workspace)
            try:
                with anyio.fail_after(START_SECONDS):
                    await self._introduce(host)
            except TimeoutError as error:
                await host.aclose()
                raise SandboxError(f"A host gave no sign of life within {START_SECONDS:g} seconds.") from error
            except BaseException:
                await host.aclose()
                raise
        self._backend.tasks.start_soon(self._watch, host)
        return host

    async def _watch(self, host: RunningHost) -> None:
        """Stop a host that exceeds a limit."""
        thorough = 0.0
        while not host.link.broken:
            with anyio.move_on_after(IDLE_LOOK_SECONDS):
                await host.link.busy()
                await anyio.sleep(LOOK_SECONDS)
            due = anyio.current_time() - thorough >= IDLE_LOOK_SECONDS
            thorough = anyio.current_time() if due else thorough
            with suppress(SandboxError):
                await self._hold_to_limits(host, mapped=due)

    async def _hold_to_limits(self, host: RunningHost, *, mapped: bool = False) -> None:
        """Check what a host uses; one that exceeds a limit is ended, and what it wrote beyond it is removed.

        Args:
            host: The host.
            mapped: Whether the look is a thorough one.

        Raises:
            SandboxError: It does.
        """
        problem = await anyio.to_thread.run_sync(partial(host.watch.problem, mapped=mapped))
        if self._excess is not None and self._excess[0] is host:
            # Whoever looked first has stopped it; an answer that came just before is no better for it.
            raise SandboxError(self._excess[1])
        if problem is None or host.link.broken:
            return
        self._excess = host, problem
        logger.warning("%s", problem)
        host.link.fail(SandboxError(problem))
        # The next host must find the workspace in order.
        with anyio.CancelScope(shield=True):
            async with self._turn:
                host.kill()
                await host.aclose()
                await anyio.to_thread.run_sync(host.watch.trim)
        raise SandboxError(problem)

    async def _introduce(self, host: RunningHost) -> None:
        answer = await host.link.ask("m3bench/configure", purpose(self._spec))
        self.guards = host.guards(frozenset(cast("list[Guard]", answer["guards"])))
        self.notices = host.notices(self.guards)

    async def _examine(self, host: RunningHost, request: int) -> None:
        """Replace a host that hangs, after one of its calls was cut off.

        One whose event loop stands still is ended at once. One in which only the tool is still running keeps its other
        calls, but gets no new ones: the tool's server would never come to them.
        """
        alive = await _answers(host, PING_SECONDS, "ping", {})
        settled = alive and await _answers(host, SETTLE_SECONDS, "m3bench/settle", {"requestId": request})
        if not settled and self._host is host:
            self._host = None
            self._retired.add(host)
        self._doubts -= 1
        self._verdict.set()
        self._verdict = anyio.Event()
        if not settled:
            if alive:
                with anyio.move_on_after(DRAIN_SECONDS):
                    await host.link.drained()
            else:
                host.kill()
            await host.aclose()
            self._retired.discard(host)


async def _answers(host: RunningHost, seconds: float, method: str, params: object) -> bool:
    """Whether a host answers in time."""
    with anyio.move_on_after(seconds), suppress(SandboxError):
        await host.link.ask(method, params)
        return True
    return False


def purpose(spec: SandboxSpec) -> dict[str, Any]:
    """What a sandbox is for, as its host is told."""
    return {
        "servers": spec.servers,
        "scenes": [scene.to_json() for scene in spec.scenes],
        "links": {page: b64encode(picture).decode() for page, picture in spec.links.items()},
    }
