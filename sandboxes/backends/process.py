"""The default backend: a host is a child process, kept to its workspace as well as the platform can.

A host is an ordinary `exec` of Python, the same on every platform. It ends when its standard input closes,
when it is told, when it is killed, and with the process that started it, and so does whatever it has started.
"""

import asyncio
import logging
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from m3bench.sandboxes.backends.base import Guard, Prospect
from m3bench.sandboxes.backends.cgroup import ControlGroup
from m3bench.sandboxes.backends.hosted import STARTS, HostBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.ownership import give, is_superuser, user_of
from m3bench.sandboxes.backends.tree import Tree
from m3bench.sandboxes.link import HostLink
from m3bench.tasks.errors import SandboxError

# Not from the folder it works in: a tool could have put modules there.
PROGRAM = (sys.executable, "-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.host")

LEAVE_SECONDS = 1.0
"""Time for a host to end by itself."""
REAP_SECONDS = 5.0
"""Time for the system to end a process that was killed."""
LAST_WORDS_SECONDS = 1.0
"""Time for the output of a host that ended, and for the exit code of one that closed its output."""
TAIL_BYTES = 4096

logger = logging.getLogger(__name__)


class ProcessBackend(HostBackend):
    """Opens sandboxes whose host is a child process.

    Args:
        isolation: Which mechanisms may be used.
        starts: How many hosts may be starting at the same time.
    """

    name = "process"

    def __init__(self, isolation: Isolation | None = None, *, starts: int = STARTS) -> None:
        super().__init__(starts=starts)
        self._isolation = isolation or Isolation()

    def prospect(self) -> Prospect:
        """What will hold for hosts here."""
        return self._isolation.prospect()

    @property
    def limited_by(self) -> str:
        """What holds a host to its memory and processes."""
        return self._isolation.limited_by

    async def take(self, workspace: Path, names: Sequence[str]) -> None:
        """Let the tools have files that root put into a workspace."""
        if is_superuser() and self._isolation.own_user:
            await anyio.to_thread.run_sync(_hand_over, workspace)

    async def leave(self, workspace: Path) -> None:
        """Take the files back from the user who had them."""
        if is_superuser() and self._isolation.own_user:
            with suppress(FileNotFoundError):
                await anyio.to_thread.run_sync(give, workspace, 0, 0)

    async def launch(self, workspace: Path) -> "HostProcess":
        """Start a host process."""
        isolation = self._isolation
        user, group = await anyio.to_thread.run_sync(_prepare, isolation, workspace)
        tree = isolation.tree()
        command = tree.command(isolation.command(PROGRAM, workspace, user))
        try:
            # Cancelled half-way, this would leave a process and its pipes to nobody.
            with anyio.CancelScope(shield=True):
                _, host = await asyncio.get_running_loop().subprocess_exec(
                    lambda: HostProcess(isolation, workspace, tree, group),
                    *(command if group is None else group.command(command)),
                    cwd=workspace,
                    env=isolation.environment(workspace),
                    **tree.options(),
                )
        except OSError as error:
            tree.close()
            if group is not None:
                group.close()
            raise SandboxError(f"A process cannot be started: {error}. Free some memory or processes.") from error
        # No await before the host is watched over.
        self.tasks.start_soon(host.run)
        return host


class HostProcess(asyncio.SubprocessProtocol):
    """A host process and the line to it.

    Bytes go straight from the pipe to whoever waits for them: with a task in between a call would cost half
    as much again.
    """

    def __init__(self, isolation: Isolation, workspace: Path, tree: Tree, group: ControlGroup | None = None) -> None:
        self._isolation = isolation
        self._tree = tree
        self._group = group
        self._workspace = workspace
        self._ending = anyio.Lock()
        self._exited = anyio.Event()
        self._silent = anyio.Event()
        self._over = anyio.Event()
        """Set by whichever of the two comes first."""
        self._is_closed = False
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process was started."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self._tree.started(transport.get_pid())
        self.watch = self._isolation.watch(transport.get_pid(), self._workspace, self._group)
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin
        self.link = HostLink(stdin.write)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Messages on standard output, complaints on standard error."""
        if fd == 1:
            self.link.feed(data)
        else:
            self._tail = (self._tail + data)[-TAIL_BYTES:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe was closed, by either side."""
        if fd == 1:
            self._silent.set()
            self._over.set()

    def process_exited(self) -> None:
        """The process ended."""
        self._exited.set()
        self._over.set()

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds for this process."""
        limited: set[Guard] = {"memory", "forks"} if self._tree.is_limited and self._isolation.limited else set()
        return self._isolation.guards(confined | limited)

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """What does not hold, in plain words."""
        return self._isolation.notices(guards)

    async def run(self) -> None:
        """Wait for the end of the process, then fail what is pending and clean up."""
        try:
            await self._over.wait()
            # A child may hold its output open, or its output end before it does.
            with anyio.move_on_after(LAST_WORDS_SECONDS):
                await self._silent.wait()
                await self._exited.wait()
        finally:
            if not self.link.broken:
                self.link.fail(self._end())
            await self.aclose()

    def kill(self) -> None:
        """Kill the process and its children."""
        self._tree.kill()
        if self._group is not None:
            self._group.kill()
        self.link.fail(SandboxError("The host was killed."))

    async def aclose(self) -> None:
        """Close its input, then insist; every wait is bounded."""
        with anyio.CancelScope(shield=True):
            async with self._ending:
                if not self._is_closed:
                    self.link.fail(SandboxError("The sandbox was closed."))
                    await self._stop()
                    self._is_closed = True

    async def _stop(self) -> None:
        self._stdin.close()
        if not await self._gone(LEAVE_SECONDS):
            self._tree.kill()
            if not await self._gone(REAP_SECONDS):
                logger.warning("Host process %d was killed but does not end", self._transport.get_pid())
        self._tree.close()
        # Whatever was inside holds the output open until it is gone too.
        with anyio.move_on_after(LEAVE_SECONDS):
            await self._silent.wait()
        self._transport.close()
        if self._group is not None:
            self._group.close()

    async def _gone(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    def _end(self) -> SandboxError:
        stopped = self._group.problem() if self._group is not None else None
        if stopped is not None:
            return SandboxError(stopped)
        code = self._transport.get_returncode()
        how = (
            "closed its output" if code is None else f"was killed by signal {-code}" if code < 0 else f"ended ({code})"
        )
        words = self._tail.decode(errors="replace")
        if words:
            logger.warning("The last words of a host that %s: %s", how, words[-1000:])
        last = words.strip().splitlines()[-1:] or [""]
        return SandboxError(f"The host {how} unexpectedly.{f' It said: {last[0][:300]}.' if last[0] else ''}")


def _prepare(isolation: Isolation, workspace: Path) -> tuple[int, ControlGroup | None]:
    """What blocks for a moment: looking at the disk, trying bubblewrap the first time.

    Gives the user to become, or 0, and the control group to be in.
    """
    if not workspace.is_dir():
        raise SandboxError(f"There is no folder {str(workspace)!r} to work in: make it first.")
    _ = isolation.lacking_bubblewrap
    user = _hand_over(workspace) if isolation.own_user and isolation.lets_others_in else 0
    return user, isolation.group()


def _hand_over(workspace: Path) -> int:
    """Give a workspace to the user its tools run as, when we are root; who that is."""
    user = user_of(workspace)
    if user:
        try:
            give(workspace, user, user)
        except OSError as error:
            logger.warning("The workspace cannot be given to another user, tools run as root: %s", error)
            return 0
    return user
