"""Sandboxes for runs: leased with a workspace of their own, some kept warm for the next runs.

A spare is a sandbox that is up and waiting, in a workspace that is still empty; leasing it gives the run that
very folder for its files, because what a sandbox sees is fixed when it starts. Without spares nothing
is started before the first call. The backend bounds how many hosts start at the same time.

For trusted agents a sandbox can serve one run after the other: what it has read of the world
stays, and the files of a run go with the run. What tools answer that only read can be remembered for all of them.
"""

import logging
import os
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import NamedTuple, Self

import anyio
import anyio.lowlevel
import anyio.to_thread

from m3bench.sandboxes.backends.base import Backend, Guard, Sandbox, SandboxSpec
from m3bench.sandboxes.backends.ownership import give, is_superuser
from m3bench.sandboxes.backends.result_cache import ResultCache, key_of, known_of
from m3bench.sandboxes.offer import offer
from m3bench.sandboxes.workspace import STATE, Workspace
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.outcome import Reply
from m3bench.tasks.scene import Scene

logger = logging.getLogger(__name__)

REMEMBERED_BYTES = 64 * 1024 * 1024
"""Of answers that are remembered for later runs."""

_PREFIX = "run-"
"""What the name of a workspace begins with."""


class Lease:
    """A run's sandbox and workspace, until it is released."""

    def __init__(
        self, pool: "SandboxPool", spec: SandboxSpec, sandbox: Sandbox | None, served: int = 0,
        subjects: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.served = served
        """Runs that the sandbox has served before this one."""
        self.subjects = subjects
        """What the runs of the sandbox were about, this one included."""
        self.workspace = spec.workspace
        self._pool = pool
        self._spec = spec
        self._sandbox = sandbox
        self._known = known_of(spec) if pool.cache is not None else b""
        self._turn = anyio.Lock()
        self._released = False
        self._put: list[str] = []
        """Files that have not been copied into the sandbox yet."""

    @property
    def started(self) -> bool:
        """Whether there is a sandbox."""
        return self._sandbox is not None

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in the sandbox; empty while nothing was started."""
        return self._sandbox.guards if self._sandbox is not None else frozenset()

    @property
    def notices(self) -> tuple[str, ...]:
        """What does not hold, in plain words; empty while nothing was started."""
        return self._sandbox.notices if self._sandbox is not None else ()

    @property
    def place(self) -> str | None:
        """The machine that the sandbox is on, where there are several."""
        return self._sandbox.place if self._sandbox is not None else None

    async def start(self) -> Sandbox:
        """The sandbox, started now if it was not before; any number of callers cause one start."""
        async with self._turn:
            if self._released:
                raise SandboxError("The sandbox was given back: its run is over.")
            if self._sandbox is None:
                self._sandbox = await self._pool.backend.open(self._spec)
            return self._sandbox

    def put(self, name: str, content: bytes) -> None:
        """Put a file into the workspace; the next call finds it there.

        Args:
            name: Its path, relative to the workspace.
            content: What is in it.
        """
        Workspace(self.workspace).put(name, content)
        if self._sandbox is not None:
            self._put.append(name)

    async def call(self, tool: str, arguments: bytes, seconds: float | None = None) -> Reply:
        """Call a tool; see `Sandbox`. The time a first call waits for the start is part of its time."""
        cache = self._pool.cache
        key = key_of(tool, arguments, self.workspace, self._known) if cache is not None else None
        if cache is None or key is None or self._released:
            return await self._ask(tool, arguments, seconds)
        found = cache.get(key)
        if found is None:
            found = await self._ask(tool, arguments, seconds)
            cache.put(key, found)
        else:
            # What was sent together with this call arrives first, as it would if the tool had to be asked.
            await anyio.lowlevel.checkpoint()
        return found

    async def _ask(self, tool: str, arguments: bytes, seconds: float | None) -> Reply:
        """Have the sandbox carry out a call."""
        begin = anyio.current_time()
        sandbox = self._sandbox or await self._start_within(seconds)
        if self._put:
            async with self._turn:
                names = tuple(self._put)
                await sandbox.take(names)
                # Only now: calls that come meanwhile have to wait too.
                del self._put[: len(names)]
        left = None if seconds is None else max(0.0, begin + seconds - anyio.current_time())
        return await sandbox.call(tool, arguments, left)

    async def _start_within(self, seconds: float | None) -> Sandbox:
        with anyio.move_on_after(seconds):
            return await self.start()
        raise SandboxError(f"The sandbox was not ready within {seconds:g} seconds.")

    async def finish(self, folder: Path) -> None:
        """End the lease and move its files to a folder that is not there yet; the sandbox may serve another run."""
        async with self._turn:
            sandbox = self._sandbox
            if sandbox is not None and self._pool.keeps(self):
                self._released, self._sandbox = True, None
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_empty, self.workspace, folder)
                self._pool.give_back(self, sandbox)
                return
        await self.release(keep_files=True)
        self.workspace.rename(folder)

    async def release(self, *, keep_files: bool = False) -> None:
        """End the sandbox and remove the workspace, unless its files are to be kept. Doing it twice is fine."""
        self._released = True
        with anyio.CancelScope(shield=True):
            async with self._turn:
                sandbox, self._sandbox = self._sandbox, None
                if sandbox is not None:
                    await sandbox.aclose()
            if not keep_files:
                await anyio.to_thread.run_sync(_remove, self.workspace)
        self._pool.returned(self)


class Spare(NamedTuple):
    """A sandbox that waits for a run."""

    workspace: Path
    sandbox: Sandbox
    served: int = 0
    """Runs that it has served."""
    subjects: frozenset[str] = frozenset()
    """What those runs were about."""


class SandboxPool:
    """Leases sandboxes of one backend; an async context manager, at whose end every lease is released.

    Args:
        backend: Opens the sandboxes; entered before the pool and left after it.
        root: Where workspaces are made; exists by the time one is needed.
        spares: How many sandboxes to keep warm.
        runs: How many runs a sandbox may serve.
        remembers: Whether later runs are told what earlier ones were, where a tool only reads.
    """

    def __init__(
        self, backend: Backend, root: Path, *, spares: int = 0, runs: int = 1, remembers: bool = False
    ) -> None:
        self.backend = backend
        self.root = root
        self.cache = ResultCache(REMEMBERED_BYTES) if remembers else None
        """What tools answered in earlier runs; None where nothing is remembered."""
        self._wanted = spares
        self._runs = runs
        self._spares: list[Spare] = []
        self._leases: set[Lease] = set()
        self._short = anyio.Event()
        self._settled = anyio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(tasks.cancel_scope.cancel)
        tasks.start_soon(self._fill)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._stack.aclose()
        finally:
            # Ctrl-C cancels the task itself, and then even leaving a group of tasks raises.
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as tasks:
                    for spare in self._spares:
                        tasks.start_soon(Lease(self, SandboxSpec(workspace=spare.workspace), spare.sandbox).release)
                    for lease in list(self._leases):
                        tasks.start_soon(lease.release)

    async def lease(
        self,
        *,
        servers: tuple[str, ...] | None = None,
        scenes: tuple[Scene, ...] = (),
        links: Mapping[str, bytes] | None = None,
        subject: str = "",
    ) -> Lease:
        """An empty workspace with a sandbox around it: a spare when there is one, else one started on first need.

        Of several spares it is one that served runs about the same subject: it has read what those runs ask for.
        Where sandboxes are on several machines it is started now, so that the run can say where it is.

        Raises:
            SandboxError: It cannot be started now.
            UnknownToolError: There is no server of that name.
        """
        offer(servers)
        spare = self._take(subject)
        workspace = _make(self.root) if spare is None else spare.workspace
        spec = SandboxSpec(workspace=workspace, servers=servers, scenes=scenes, links=links or {})
        served, subjects = (spare.served, spare.subjects) if spare is not None else (0, frozenset[str]())
        lease = Lease(self, spec, spare and spare.sandbox, served, subjects | {subject})
        self._leases.add(lease)
        try:
            if spare is not None:
                await spare.sandbox.configure(spec)
            elif self.backend.is_spread:
                await lease.start()
        except BaseException:
            await lease.release()
            raise
        return lease

    async def resume(
        self, workspace: Path, *, servers: tuple[str, ...] | None = None, scenes: tuple[Scene, ...] = ()
    ) -> Lease:
        """A workspace that a run of another process has worked in, with a sandbox around it from its first call on.

        Raises:
            SandboxError: The workspace is not available.
            UnknownToolError: There is no server of that name.
        """
        offer(servers)
        if not workspace.is_absolute() or not workspace.name.startswith(_PREFIX):
            # A released workspace is removed with all that is in it.
            raise SandboxError(f"{str(workspace)!r} is no workspace of a run.")
        await self.backend.resume(workspace)
        lease = Lease(self, SandboxSpec(workspace=workspace, servers=servers, scenes=scenes), None)
        self._leases.add(lease)
        return lease

    @property
    def in_use(self) -> int:
        """Sandboxes that are up for a run."""
        return sum(lease.started for lease in self._leases)

    @property
    def waiting(self) -> int:
        """Sandboxes that are up and wait for a run."""
        return len(self._spares)

    async def settled(self) -> None:
        """Wait until the spares are up, or could not be started."""
        await self._settled.wait()

    def keeps(self, lease: Lease) -> bool:
        """Whether the sandbox of a lease may serve one more run."""
        return lease.served + 1 < self._runs

    def give_back(self, lease: Lease, sandbox: Sandbox) -> None:
        """Take the sandbox of a finished lease, in its emptied workspace, for another run."""
        self._spares.append(Spare(lease.workspace, sandbox, lease.served + 1, lease.subjects))
        self.returned(lease)

    def returned(self, lease: Lease) -> None:
        """Forget a lease."""
        self._leases.discard(lease)

    def _take(self, subject: str) -> Spare | None:
        if not self._spares:
            return None
        self._settled = anyio.Event()
        self._short.set()
        # The one that knows the subject, else the one that knows least; of equals the one that waits longest.
        found = min(self._spares, key=lambda spare: (subject not in spare.subjects, len(spare.subjects)))
        self._spares.remove(found)
        return found

    async def _fill(self) -> None:
        """Keep as many spares as wanted; after a failure, wait for the next lease before trying again."""
        while True:
            self._short = anyio.Event()
            try:
                while len(self._spares) < self._wanted:
                    self._spares.append(await self._spare())
            except SandboxError as error:
                logger.warning("No spare sandbox can be had: %s", error)
            if not self._short.is_set():
                self._settled.set()
            await self._short.wait()

    async def _spare(self) -> Spare:
        workspace = _make(self.root)
        try:
            return Spare(workspace, await self.backend.open(SandboxSpec(workspace=workspace)))
        except BaseException:
            _remove(workspace)
            raise


def _make(root: Path) -> Path:
    return Path(mkdtemp(prefix=_PREFIX, dir=root)).resolve()


def _empty(workspace: Path, folder: Path) -> None:
    """Move what is in a workspace to a new folder. The workspace itself stays: it is what its sandbox sees."""
    folder.mkdir()
    for entry in list(workspace.iterdir()):
        entry.rename(folder / entry.name)
    # Where hosts put their temporary files.
    temporary = Path(STATE) / "tmp"
    if (folder / temporary).is_dir():
        (workspace / temporary).mkdir(parents=True)
    if is_superuser():
        owner = workspace.stat()
        give(workspace, owner.st_uid, owner.st_gid)
        give(folder, 0, 0)


def _remove(folder: Path) -> None:
    """Remove a folder, even one whose parts were made unwritable."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError:
        for place, _, _ in os.walk(folder):
            os.chmod(place, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
