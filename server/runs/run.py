"""The life of a run: working from `start_task` to `submit`, then sealed, then scored.

A run has its own workspace and, from its first tool call on, its own sandbox. It ends with its seat: whoever
leaves without submitting has abandoned it. The seat of a handle outlives the process, and its run with it: another
process goes on where this one stopped. Nothing of the task's references or checks is in a run.
"""

import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import anyio
import anyio.to_thread

from m3bench.proxy.logs import tell
from m3bench.proxy.protocol.tool_calls import ToolAnswer, ToolRequest
from m3bench.proxy.router import no_task
from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import FAIR, RunWeather, weather_of
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.sandboxes.workspace import RESULTS
from m3bench.server.runs.event import RankedEvent
from m3bench.server.runs.handin import Fields, send_back_once
from m3bench.server.store.contract import Store
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.records import OWN_TOOLS, CallRecord, Mode, Resumption, RunRecord, now
from m3bench.server.store.seal import file_hashes, seal
from m3bench.tasks.errors import PathError, RunError, SandboxError, StoreError, plain
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import Reply
from m3bench.tasks.picture_mark import new_mark
from m3bench.tasks.task import MEDIA, Task
from m3bench.tasks.trap import StrayOrder


@cache
def say_once(notice: str) -> None:
    """Tell what sandboxes lack, each thing once."""
    tell(f"m3bench: {notice}")


MAX_LOST = 20
"""Calls that could not be recorded which a run remembers: one is enough to make it void."""


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """What a run may use."""

    max_calls: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class RunUse:
    """What a run has used so far."""

    calls: int = 0
    seconds: float = 0.0


class Run:
    """A run that is under way.

    Args:
        id: Its handle.
        task: What is to be solved.
        lease: Its sandbox and workspace.
        limits: What it may use, with what it has used in an earlier process.
        used: What it has used there.
        mark: What the pictures that its client is sent carry; empty when there are none.
        shut: Says why nobody can play now, when it is so.
        weather: What happens to its calls; None in fair weather.
    """

    def __init__(
        self, *, id: str, task: Task, lease: Lease, limits: RunLimits, used: RunUse, mark: str = "",
        shut: Callable[[], str | None] = lambda: None, weather: RunWeather | None = None,
    ) -> None:  # fmt: skip
        self.id, self.mark, self.weather = id, mark, weather
        self.task = task
        self.lease = lease
        self._limits = limits
        self._shut = shut
        self._started = time.monotonic() - used.seconds
        self._calls = used.calls
        self.lost: list[tuple[ToolRequest, str, ToolAnswer]] = []
        """Calls that could not be put on record, with what they were answered."""
        self._under_way = 0
        self._idle: anyio.Event | None = None
        """Set when no call is under way any more; there is one while somebody waits for that."""
        self.submitting = False
        """Whether an answer is being put on record at this moment."""
        self.unseen = False
        """Whether its client may not have been told of it, because the server ended right after it began."""
        self.told_of_fields = False
        """Whether an answer was looked through for missing fields: that is done once, and the next one is sealed."""
        self.ended = False
        """Whether its sandbox is gone, so that an answer is all that it can still take."""
        self.seat: Seat | None = None
        """Where it is under way."""

    @property
    def order(self) -> StrayOrder | None:
        """What its task has tools tell the agent to do."""
        return self.task.order

    def enter(self) -> None:
        """A call of this run has arrived."""
        self._under_way += 1
        self.unseen = False

    def leave(self) -> None:
        """That call is answered and on record."""
        self._under_way -= 1
        if self._under_way == 0 and self._idle is not None:
            self._idle.set()
            self._idle = None

    async def settle(self) -> None:
        """Wait until no call is under way; each is bounded in time, so this is too."""
        if self._under_way:
            self._idle = self._idle or anyio.Event()
            await self._idle.wait()

    def admit(self) -> str | None:
        """Count a call; the reason when the run's limits allow no more."""
        if (why := self._shut()) is not None:
            return why
        if self._calls >= self._limits.max_calls:
            return f"This run has made its {self._limits.max_calls} calls: submit what you have."
        if time.monotonic() - self._started > self._limits.seconds:
            return f"This run has used its {self._limits.seconds / 60:g} minutes: submit what you have."
        self._calls += 1
        return None

    def lose(self, request: ToolRequest, tool: str, answer: ToolAnswer) -> None:
        """Remember a call that could not be put on record."""
        if len(self.lost) < MAX_LOST:
            self.lost.append((request, tool, answer))

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        """Run a tool in the sandbox, which starts now if it has not before."""
        reply = await self.lease.call(tool, arguments, seconds)
        for notice in self.lease.notices:
            say_once(notice)
        return reply

    def keep(self, call: int, result: bytes) -> str:
        """Put a result that is too large for a client into the workspace.

        Raises:
            SandboxError: It cannot be kept there.
        """
        name = f"{RESULTS}/{call:x}.json"
        try:
            self.lease.put(name, result)
        except (OSError, PathError) as error:
            raise SandboxError(f"The whole result could not be kept in the workspace: {plain(error)}") from error
        return f"./{name}"


Manifest = Callable[[Seat], dict[str, object]]
"""Makes the manifest of a run that begins: what makes two runs comparable."""

Sealing = Callable[[RunRecord, list[CallRecord], dict[str, str], Callable[[], dict[str, int]]], None]
"""Takes a run with its seal, its calls, its files by hash, and what counts the runs of the record by state."""

ToolsChanged = Callable[[Seat], Awaitable[None]]
"""Has a seat show its tools as they are called now."""


async def _nobody(seat: Seat) -> None:
    pass


HANDLE_BYTES = 20
"""160 random bits."""


@dataclass(frozen=True, kw_only=True)
class RunHooks:
    """Who is told about runs."""

    changed: Callable[[str], None] = lambda run: None
    """Of every run whose state on record changed."""
    sealing: Sealing = lambda run, calls, files, states: None
    """Of every run that is about to be sealed."""
    tools_changed: ToolsChanged = _nobody
    """Of a seat whose tools have other names than before, because of the weather."""


class Runs:
    """The runs of this process.

    The store is given as a function, because a process that starts no run opens none.
    """

    def __init__(
        self,
        *,
        store: Callable[[], Store],
        library: Library,
        pool: SandboxPool,
        manifest: Manifest,
        mode: Mode,
        limits: RunLimits,
        hooks: RunHooks,
        event: RankedEvent | None = None,
        weather: str = FAIR,
    ) -> None:
        self.mode, self._weather = mode, weather
        self.event = event
        """What the runs are part of, when they are part of an event: then each seat has only its own runs."""
        self._open_store = store
        self._library = library
        self._pool = pool
        self._manifest = manifest
        self._limits = limits
        self._changed = hooks.changed
        self._sealing = hooks.sealing
        self._tools_changed = hooks.tools_changed
        self.touched = False
        """Whether anything was asked of the store yet; a client that only looks around must not open it."""
        self._running: dict[str, Run] = {}
        """Runs under way by seat."""
        self._starting: set[str] = set()
        """Seats on which a run is about to begin."""

    @property
    def _store(self) -> Store:
        self.touched = True
        return self._open_store()

    def shut(self) -> str | None:
        """Why nobody can play now; None when they can."""
        return self.event.shut() if self.event is not None else None

    def running(self, seat: Seat) -> Run | None:
        """The run under way on a seat."""
        return self._running.get(seat.id)

    def under_way(self, run: str) -> bool:
        """Whether a run of this process has not ended."""
        return any(run == each.id for each in self._running.values())

    async def start(self, seat: Seat, task: Task, *, abandon: bool = False) -> Run:
        """Begin a run in a fresh workspace.

        Raises:
            RunError: Another run is under way on this seat, and `abandon` was not asked for; or nobody can play now.
            SandboxError: No workspace can be made.
            StoreError: The run could not be put on record, and did not begin.
        """
        self._check_open()
        if seat.id in self._starting:
            raise RunError("A task is just being started on this seat: wait for the answer.")
        self._starting.add(seat.id)
        try:
            return await self._start(seat, task, abandon=abandon)
        finally:
            self._starting.discard(seat.id)

    async def _start(self, seat: Seat, task: Task, *, abandon: bool) -> Run:
        current = self.running(seat)
        if current is not None:
            if not abandon:
                raise RunError(
                    f"Task {current.task.id!r} is still running on this seat: submit an answer to it first, "
                    "or call start_task with abandon set to true to give it up."
                )
            await self.abandon(seat)
        id = secrets.token_hex(HANDLE_BYTES)
        lease = await self._lease(seat, task)
        try:
            self._furnish(lease, task)
            mark = new_mark() if task.pictures else ""
            manifest = {**await anyio.to_thread.run_sync(self._manifest, seat), "mark": mark}
            if lease.place is not None:
                manifest["host"] = lease.place
            record = RunRecord(
                id=id, seat=seat.id, task=task.id, state="working", mode=self.mode, started=now(), ended=None,
                answer=None, seal=None, manifest=manifest, scorecard=None,
            )  # fmt: skip
            resumption = self._resumption(lease) if seat.lasting else None
            await anyio.to_thread.run_sync(self._store.add_run, record, resumption)
        except BaseException:
            await lease.release()
            raise
        run = Run(
            id=id, task=task, lease=lease, limits=self._limits, used=RunUse(), mark=mark, shut=self.shut,
            weather=self.weather(task.id),
        )  # fmt: skip
        seat.notice = ""
        await self.take_in(seat, run)
        return run

    def weather(self, task: str) -> RunWeather | None:
        """The weather of a run of a task that begins; None when it is fair."""
        return weather_of(self._weather, task)

    async def take_in(self, seat: Seat, run: Run) -> None:
        """Have a run be under way on a seat, whether it begins now or began in another process."""
        self._running[seat.id] = run
        run.seat, seat.run = seat, run
        self._changed(run.id)
        await self._rename(seat, run)

    async def _rename(self, seat: Seat, run: Run) -> None:
        """Have a seat show what tools are called when a run begins or is over."""
        if run.weather is not None:
            await self._tools_changed(seat)

    async def suspend(self, seat: Seat) -> None:
        """Let go of a seat's run, if there is one, so that another process can continue it."""
        run = self._running.pop(seat.id, None)
        seat.run = None
        if run is not None:
            with suppress(StoreError):
                await self._record_lost(run)
            await run.lease.release(keep_files=True)

    async def lose(self, seat: Seat, run: str, why: str) -> None:
        """Make a run void that cannot continue, and tell its client.

        Raises:
            StoreError: That could not be put on record; this can be tried again.
        """
        await anyio.to_thread.run_sync(self._store.lose, run, now(), why)
        seat.notice = _void_words(why)
        self._changed(run)

    def lost(self, run: RunRecord) -> str:
        """What to tell of a run that is void."""
        return _void_words(self._store.lost(run.id) or "it could not go on")

    def _resumption(self, lease: Lease) -> Resumption:
        place = lease.workspace.relative_to(self._store.folder.resolve())
        return Resumption(workspace=str(place), max_calls=self._limits.max_calls, seconds=self._limits.seconds)

    async def submit(self, seat: Seat, answer: str, handle: str | None, fields: Fields = None) -> RunRecord:
        """End a run with an answer and seal its record.

        Raises:
            RunError: There is no run to submit, it was submitted before, fields are missing for the first time, or
                nobody can play now.
            StoreError: The answer could not be put on record; it can be submitted again.
        """
        self._check_open()
        run = self.running(seat)
        if handle is not None and (run is None or handle != run.id):
            elsewhere = next((each.seat for each in self._running.values() if each.id == handle), None)
            if elsewhere is not None and self.event is None:
                return await self.submit(elsewhere, answer, handle, fields)
            raise RunError(self._no_such_run(seat, handle, run))
        if run is None:
            latest = self.latest(seat)
            if latest is not None and latest.state == "void":
                raise RunError(self.lost(latest))
            if latest is not None and latest.state in ("submitted", "scored"):
                raise RunError("This run was submitted before, and a run takes one answer: call score, or start_task.")
            raise RunError(no_task(seat))
        if run.submitting:
            raise RunError("An answer is just being submitted on this seat: wait for it.")
        send_back_once(run, answer, fields)
        seat.run = None
        run.submitting = True
        try:
            # Calls sent together with the answer belong to the run: the seal waits for them.
            await run.settle()
            record = await self._end(run, answer, fields)
        except StoreError as error:
            raise StoreError(f"{error} Nothing was submitted: call submit again.") from error
        finally:
            run.submitting = False
            if not run.ended and self.running(seat) is run:
                seat.run = run  # It goes on as if nothing had been said.
        self._running.pop(seat.id, None)
        self._changed(run.id)
        await self._rename(seat, run)
        return record

    def _no_such_run(self, seat: Seat, handle: str, running: Run | None) -> str:
        """Why nothing can be submitted to the run of a handle."""
        match self.record(seat, handle):
            case RunRecord(state="submitted" | "scored"):
                return "That run was submitted before, and a run takes one answer: call score with its handle."
            case RunRecord(state="void") as found:
                return self.lost(found)
            case found if running is None:
                over = "is over: it was given up, or it ended with its session" if found else "is not known here"
                return f"The run of that handle {over}: call start_task.{seat.hint}"
        return "That handle belongs to another run than this seat's: leave it out, or give the one from start_task."

    def record(self, seat: Seat, handle: str) -> RunRecord | None:
        """A run by its whole handle, whatever became of it, on any seat; in an event only on its own."""
        found = self._store.run(handle)
        theirs = found is not None and (self.event is None or found.seat == seat.id)
        return found if theirs and found is not None and found.id == handle else None

    def _check_open(self) -> None:
        if (why := self.shut()) is not None:
            raise RunError(why)

    async def _end(self, run: Run, answer: str, fields: Fields) -> RunRecord:
        await anyio.to_thread.run_sync(self._store.catch_up)
        await self._record_lost(run)
        run.ended = True
        workspace = run_workspace(self._store.folder, run.id)
        try:
            if not workspace.exists():
                workspace.parent.mkdir(parents=True, exist_ok=True)
                await run.lease.finish(workspace)
        except OSError as error:
            raise explain(error, self._store.folder) from error
        # A thread goes on through a cancellation, and this returns when it is done.
        return await anyio.to_thread.run_sync(self._seal, run.id, workspace, answer, fields)

    async def _record_lost(self, run: Run) -> None:
        """Put on record what could not be recorded before: a run must not look whole that is not."""
        while run.lost:
            request, tool, answer = run.lost[0]
            number = await self._store.received(request, run.id, tool)
            await self._store.answered(number, answer)
            del run.lost[0]

    def _seal(self, run: str, workspace: Path, answer: str, fields: Fields) -> RunRecord:
        begun = self._store.run(run)
        if begun is None:
            raise StoreError(f"Run {run} is no longer on record: somebody deleted it.")
        calls, files, ended = self.tool_calls(run), file_hashes(workspace), now()
        link = seal(begun, calls, files, answer, fields)
        sealed = replace(begun, state="submitted", ended=ended, answer=answer, fields=fields, seal=link)
        self._sealing(sealed, calls, files, self._store.states)
        self._store.change_run(run, state="submitted", ended=ended, answer=answer, fields=fields, seal=link)
        return sealed

    def sent_back(self, run: str) -> bool:
        """Whether an answer to a run was handed in before and not taken."""
        return any(call.tool == "submit" for call in self._store.calls(run))

    def tool_calls(self, run: str) -> list[CallRecord]:
        """What the agent did in a run: its calls without those to the benchmark's own tools."""
        return [call for call in self._store.calls(run) if call.tool not in OWN_TOOLS]

    def latest(self, seat: Seat) -> RunRecord | None:
        """The newest run of a seat, whatever became of it."""
        return next(iter(self._store.runs(seat.id)), None)

    def attempts(self, seat: Seat) -> list[RunRecord]:
        """Every run that was started on a seat, newest first."""
        return self._store.runs(seat.id)

    async def abandon(self, seat: Seat) -> None:
        """Give up the run of a seat, when there is one.

        Raises:
            StoreError: That could not be put on record. The run is over all the same; this can be tried again.
        """
        run = self._running.get(seat.id)
        if run is None:
            return
        seat.run = None
        await run.lease.release()
        change = partial(self._store.change_run, run.id, state="abandoned", ended=now())
        await anyio.to_thread.run_sync(change)
        self._running.pop(seat.id, None)
        self._changed(run.id)
        await self._rename(seat, run)

    async def _lease(self, seat: Seat, task: Task) -> Lease:
        try:
            self._pool.root.mkdir(parents=True, exist_ok=True)
            scenes = self._library.scenes(task)
            return await self._pool.lease(servers=seat.servers, scenes=scenes, subject=task.family)
        except OSError as error:
            raise SandboxError(f"The run's workspace cannot be made: {plain(error)}") from error

    def _furnish(self, lease: Lease, task: Task) -> None:
        try:
            for name, data in self._library.media(task):
                lease.put(f"{MEDIA}/{name}", data)
        except OSError as error:
            raise SandboxError(f"The run's workspace cannot be made: {plain(error)}") from error


def _void_words(why: str) -> str:
    """What the client of a run that could not be resumed is told."""
    return f"The task that ran on this seat is void, and that is not your fault: {why}. Call start_task for a new one."
