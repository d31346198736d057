"""Goes on with a run of a process that is gone: same task, workspace, calls so far and limits.

A run is resumed when everything that its manifest names is as it was and its workspace is still there. Otherwise it is
void: half of it would have been played in another world than the other half.
"""

import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio.to_thread

from m3bench.proxy.names import without_injected
from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import kind_of
from m3bench.sandboxes.pool import SandboxPool
from m3bench.server.runs.run import Manifest, Run, RunLimits, Runs, RunUse
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import WORKSPACES, run_workspace
from m3bench.server.store.records import BESIDE, CallRecord, Resumption, RunRecord
from m3bench.tasks.library import Library

_WORDS = {
    "m3bench": "another version of m3bench",
    "tasks": "another set of tasks",
    "catalog": "other tools",
    "world": "another world",
    "encoder": "another encoder",
    "steps": "other rules for steps",
    "scores": "other rules for scores",
    "profile": "another choice of profiles",
    "tools": "another number of tools",
    "sandbox": "another kind of sandbox",
    "upstream": "other third-party servers",
    "content_only": "another setting of --content-only",
    "weather": "other weather",
}
"""What a server has when its manifest differs."""

_NEVER_ADMITTED = frozenset({"unknown_tool", "illegal_format"})


def obstacle(run: RunRecord, manifest: Mapping[str, object], workspace: Path) -> str | None:
    """Why a run cannot continue, as the end of a sentence; None when it can.

    Args:
        run: The run, as it began.
        manifest: What a run that begins now would have.
        workspace: Where its files were.
    """
    # What sandboxes lack is found out by trying, and an engine may be slow to come up.
    names = sorted((run.manifest.keys() | manifest.keys()) - BESIDE)
    changed = [name for name in names if run.manifest.get(name) != manifest.get(name)]
    if changed:
        return f"the server was started again with {_listed([_WORDS.get(name, f'another {name}') for name in changed])}"
    if not workspace.is_dir():
        return f"its workspace {workspace.name} is gone"
    return None


def forgotten(calls: Iterable[CallRecord], forgetful: frozenset[str]) -> str | None:
    """Why a run cannot continue that used third-party servers started for it alone."""
    used = sorted({call.tool.partition("/")[0] for call in calls} & forgetful)
    return f"what it did with {_listed(used)} was lost with the process that was started for it" if used else None


def seconds_used(run: RunRecord) -> float:
    """The time since a run began, by the wall clock: the only one that keeps running while a server is down."""
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(run.started)).total_seconds())


def calls_used(calls: Iterable[CallRecord]) -> int:
    """The calls of a run that count against its limit: not those that the server cut off by ending or weather took."""
    return sum(
        call.outcome not in _NEVER_ADMITTED and call.error != CUT_OFF and call.owner != "weather" for call in calls
    )


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


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
        self, runs: Runs, *, library: Library, pool: SandboxPool, manifest: Manifest, folder: Path,
        forgetful: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self._runs = runs
        self._library = library
        self._pool = pool
        self._manifest = manifest
        self._folder = folder
        self._forgetful = forgetful

    async def resume(self, seat: Seat, record: RunRecord, resumption: Resumption) -> None:
        """Continue a run on its seat; one that cannot continue is void, and its client is told why.

        Raises:
            SandboxError: Its workspace is not available now; this can be tried again.
            StoreError: The record cannot be read or written now; this too.
        """
        if self._runs.running(seat) is not None:
            return
        workspace = (self._folder / resumption.workspace).resolve()
        why = await anyio.to_thread.run_sync(self._obstacle, seat, record, workspace)
        if why is not None:
            await self._runs.lose(seat, record.id, why)
            # The record may have been tampered with: only what lies among the workspaces is removed.
            if (self._folder / WORKSPACES).resolve() in workspace.parents:
                await anyio.to_thread.run_sync(partial(shutil.rmtree, workspace, ignore_errors=True))
            return
        task = self._library.task(record.task)
        calls = await anyio.to_thread.run_sync(self._runs.tool_calls, record.id)
        lease = await self._pool.resume(workspace, servers=seat.servers, scenes=self._library.scenes(task))
        run = Run(
            id=record.id, task=task, lease=lease, mark=record.setup.mark, shut=self._runs.shut,
            limits=RunLimits(max_calls=resumption.max_calls, seconds=resumption.seconds),
            used=RunUse(calls=calls_used(calls), seconds=seconds_used(record)),
            weather=self._runs.weather(task.id),
        )  # fmt: skip
        if run.weather is not None:
            for call in calls:
                old = kind_of(call.result_json.get("_meta")) == "replaced"
                run.weather.count(call.tool, without_injected(call.arguments), old=old)
        run.unseen = not calls
        run.told_of_fields = await anyio.to_thread.run_sync(self._runs.sent_back, record.id)
        await self._runs.take_in(seat, run)

    def _obstacle(self, seat: Seat, record: RunRecord, workspace: Path) -> str | None:
        """Why a run cannot continue; files that were being moved to where they are kept are put back first."""
        moved = run_workspace(self._folder, record.id)
        if moved.is_dir() and not workspace.exists():
            try:
                workspace.parent.mkdir(parents=True, exist_ok=True)
                moved.rename(workspace)
            except OSError as error:
                raise explain(error, self._folder) from error
        why = obstacle(record, self._manifest(seat), workspace)
        return why or forgotten(self._runs.tool_calls(record.id), self._forgetful)
