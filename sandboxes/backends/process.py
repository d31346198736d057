"""The default backend: a host is a child process, kept to its workspace as well as the platform can.

A host is an ordinary `exec` of Python, the same on every platform. It ends when its standard input closes,
when it is told, when it is killed, and with the process that started it.
"""

import logging
import sys
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import Process

from m3bench.sandboxes.backends.base import Guard
from m3bench.sandboxes.backends.hosted import STARTS, HostBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.tree import Tree, options
from m3bench.sandboxes.link import Link
from m3bench.tasks.errors import SandboxError

# Not from the folder it works in: a tool could have put modules there.
PROGRAM = (sys.executable, "-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.host")

LEAVE_SECONDS = 1.0
"""Time for a host to end by itself, and again to end when asked to."""
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

    async def launch(self, workspace: Path) -> "HostProcess":
        """Start a host process."""
        isolation = self._isolation
        await anyio.to_thread.run_sync(_prepare, isolation, workspace)
        try:
            # Cancelled half-way, this would leave a process and its pipes to nobody.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    isolation.command(PROGRAM, workspace),
                    cwd=workspace,
                    env=isolation.environment(workspace),
                    **options(),
                )
        except OSError as error:
            raise SandboxError(f"A process cannot be started: {error}. Free some memory or processes.") from error
        # No await before the host is watched over.
        host = HostProcess(process, isolation)
        self.tasks.start_soon(host.run)
        return host


class HostProcess:
    """A host process and the line to it."""

    def __init__(self, process: Process, isolation: Isolation) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        limits = isolation.limits
        self.link = Link(process.stdout, process.stdin)
        self._process = process
        self._isolation = isolation
        self._tree = (
            Tree(process.pid, memory=limits.memory, processes=limits.processes)
            if isolation.rlimits
            else Tree(process.pid)
        )
        self._ending = anyio.Lock()
        self._ended = False
        self._tail = b""

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds for this process."""
        limited: set[Guard] = {"memory", "forks"} if self._tree.is_limited and self._isolation.rlimits else set()
        return self._isolation.guards(confined | limited)

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """What does not hold, in plain words."""
        return self._isolation.notices(guards)

    async def run(self) -> None:
        """Carry messages until the process ends, then fail what is pending and clean up."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._drain)
                tasks.start_soon(self._wait, tasks.cancel_scope)
                await self.link.run()
                with anyio.move_on_after(LAST_WORDS_SECONDS):
                    await self._process.wait()
                tasks.cancel_scope.cancel()
        except Exception:
            logger.exception("The line to a host broke")
        finally:
            if not self.link.broken:
                self.link.fail(self._end())
            await self.aclose()

    def kill(self) -> None:
        """Kill the process and its children."""
        self._tree.kill()
        self.link.fail(SandboxError("The host was killed."))

    async def aclose(self) -> None:
        """Close its input, ask, then insist; every wait is bounded."""
        with anyio.CancelScope(shield=True):
            async with self._ending:
                if not self._ended:
                    self.link.fail(SandboxError("The sandbox was closed."))
                    await self._stop()
                    self._ended = True

    async def _stop(self) -> None:
        process = self._process
        assert process.stdin is not None
        await process.stdin.aclose()
        if not await self._gone(LEAVE_SECONDS):
            self._tree.terminate()
            if not await self._gone(LEAVE_SECONDS):
                self._tree.kill()
                await self._gone(REAP_SECONDS)
        self._tree.close()
        if process.returncode is None:
            logger.warning("Host process %d does not end although it was killed", process.pid)
        else:
            await process.aclose()

    async def _gone(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None

    async def _wait(self, scope: anyio.CancelScope) -> None:
        """Stop listening some time after the process ended: a child may hold its output open."""
        await self._process.wait()
        await anyio.sleep(LAST_WORDS_SECONDS)
        scope.cancel()

    async def _drain(self) -> None:
        assert self._process.stderr is not None
        try:
            async for chunk in self._process.stderr:
                self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    def _end(self) -> SandboxError:
        code = self._process.returncode
        how = (
            "closed its output" if code is None else f"was killed by signal {-code}" if code < 0 else f"ended ({code})"
        )
        words = self._tail.decode(errors="replace")
        if words:
            logger.warning("The last words of a host that %s: %s", how, words[-1000:])
        last = words.strip().splitlines()[-1:] or [""]
        return SandboxError(f"The host {how} unexpectedly.{f' It said: {last[0][:300]}.' if last[0] else ''}")


def _prepare(isolation: Isolation, workspace: Path) -> None:
    """What blocks for a moment: looking at the disk and trying bubblewrap the first time."""
    if not workspace.is_dir():
        raise SandboxError(f"There is no folder {str(workspace)!r} to work in: make it first.")
    _ = isolation.lacking_bubblewrap
