"""Goes on with a run of a process that is gone: same task, workspace, calls so far and limits."""

import shutil
from functools import partial
from pathlib import Path

import anyio.to_thread

from m3bench.proxy.seat import Seat
from m3bench.sandboxes.pool import Pool
from m3bench.server.runs import obstacles
from m3bench.server.runs.current import Run
from m3bench.server.runs.run import Manifest, Runs
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.records import Resumption, RunRecord
from m3bench.server.store.trouble import explain
from m3bench.tasks.library import Library


class Resuming:
    """Takes runs of other processes into the runs of this one.

    Args:
        runs: The runs of this process.
        library: The tasks.
        pool: Where sandboxes come from.
        manifest: Makes the manifest that a run would have if it began now.
        folder: The data folder.
        forgetful: Servers that know no more of a run when a process ends.
    """

    def __init__(
        self, runs: Runs, *, library: Library, pool: Pool, manifest: Manifest, folder: Path,
        forgetful: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self._runs = runs
        self._library = library
        self._pool = pool
        self._manifest = manifest
        self._folder = folder
        self._forgetful = forgetful

    async def resume(self, seat: Seat, record: RunRecord, resumption: Resumption) -> None:
        """Go on with a run on its seat; one that cannot go on is void, and its client is told why.

        Raises:
            SandboxError: Its workspace cannot be had now; this can be tried again.
            StoreError: The record cannot be read or written now; this too.
        """
        if self._runs.running(seat) is not None:
            return
        workspace = (self._folder / resumption.workspace).resolve()
        why = await anyio.to_thread.run_sync(self._obstacle, seat, record, workspace)
        if why is not None:
            await self._runs.lose(seat, record.id, why)
            await anyio.to_thread.run_sync(partial(shutil.rmtree, workspace, ignore_errors=True))
            return
        task = self._library.task(record.task)
        calls = await anyio.to_thread.run_sync(self._runs.tool_calls, record.id)
        lease = await self._pool.resume(workspace, servers=seat.servers, scenes=self._library.scenes(task))
        run = Run(
            id=record.id, task=task, lease=lease, max_calls=resumption.max_calls, seconds=resumption.seconds,
            calls=obstacles.calls_used(calls), used=obstacles.seconds_used(record),
            mark=record.manifest.get("mark", ""), shut=self._runs.shut,
        )  # fmt: skip
        run.unseen = not calls
        self._runs.take_in(seat, run)

    def _obstacle(self, seat: Seat, record: RunRecord, workspace: Path) -> str | None:
        """Why a run cannot go on; files that were on their way to where they are kept are put back first."""
        moved = run_workspace(self._folder, record.id)
        if moved.is_dir() and not workspace.exists():
            try:
                workspace.parent.mkdir(parents=True, exist_ok=True)
                moved.rename(workspace)
            except OSError as error:
                raise explain(error, self._folder) from error
        why = obstacles.obstacle(record, self._manifest(seat), workspace)
        return why or obstacles.forgotten(self._runs.tool_calls(record.id), self._forgetful)
