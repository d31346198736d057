"""What every store does the same way: takes in calls, puts answers on record, keeps seats and runs, tidies up.

An answer is on record, with its call, before it is sent; nothing is ever updated but the state of a run. Writing is
done by the writer's thread, reading by whoever asks. What cannot be written or read is said in a `StoreError`, with its
cause and its remedy. Knows no database: `sqlite` and `postgres` are the stores that there are.

A call that is answered at once is written together with its answer, in one commit; one that takes longer is written by
itself meanwhile. Clients see no difference.
"""

import asyncio
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, ToolAnswer, ToolRequest
from m3bench.server.store import schema, takeover
from m3bench.server.store.records import CallRecord, Damage, Resumption, RunRecord
from m3bench.server.store.rows import Rows
from m3bench.server.store.schema import Digested, Insert, Sound, Statement, Work
from m3bench.server.store.writer import Writer, WriteUnit, tell
from m3bench.tasks.errors import RunError, StoreError
from m3bench.tasks.jsonrpc import INTERNAL_ERROR

SECONDS = 0.03
"""How long a call may wait for its answer before it is written alone."""


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """A call as it arrived."""

    rows: Callable[[], Work]
    unit: WriteUnit | None
    """How it is being written, when it was written alone."""
    small: bool = True
    """Whether there is little to write of it with its answer."""

    def with_answer(self) -> Work:
        """The rows that are to be written together with the answer."""
        return self.rows() if self.unit is None else ()

    def missing(self) -> Work:
        """The rows that are not on record after the answer could not be written."""
        return self.rows() if self.unit is None or self.unit.error is not None else ()


ON_RECORD = PendingCall(rows=tuple, unit=None)
"""A call that was written before it was forwarded."""


class PendingCalls:
    """Calls under way, until they are answered."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: dict[int, tuple[Callable[[], Work], float, bool]] = {}
        """Their rows, from when on they wait no longer, whether they are small; in the order they arrived."""
        self._written: dict[int, PendingCall] = {}
        self._lock = threading.Lock()
        self._timed: asyncio.AbstractEventLoop | None = None

    def add(self, call: int, rows: Callable[[], Work], *, small: bool = False) -> None:
        """A call has arrived.

        Args:
            call: Its number.
            rows: Gives its rows.
            small: Whether they are small. They are asked for at the next turn of the event loop, when the call is on
                its way to its tool, unless there are others to be dealt with at that turn.
        """
        loop = asyncio.get_running_loop()
        if small and not self._waiting:
            rows = once = _Once(rows)
            loop.call_soon(once.prepare)
        with self._lock:
            due = loop.time() + SECONDS
            self._waiting[call] = rows, due, small
            if self._timed is not loop:
                self._timed = loop
                loop.call_at(due, self._due)

    def take(self, call: int) -> PendingCall:
        """A call that is answered."""
        with self._lock:
            waiting = self._waiting.pop(call, None)
            if waiting is None:
                return self._written.pop(call, ON_RECORD)
            return PendingCall(rows=waiting[0], unit=None, small=waiting[2])

    @property
    def any(self) -> bool:
        """Whether calls are under way."""
        return bool(self._waiting or self._written)

    def write(self) -> bool:
        """Have what waits written; tells whether some of it may not be on record yet: the writer takes all in order.

        Raises:
            StoreError: The record is closed.
        """
        with self._lock:
            for call, (rows, _, _) in list(self._waiting.items()):
                unit = self._writer.submit(WriteUnit(rows))
                self._written[call] = PendingCall(rows=rows, unit=unit)
                del self._waiting[call]
            return bool(self._written)

    def _due(self) -> None:
        """Write what waits when the first of it has waited long enough, all in one commit."""
        self._timed = None
        loop = asyncio.get_running_loop()
        with self._lock:
            first = next((due for _, due, _ in self._waiting.values()), None)
            if first is not None and first > loop.time():
                self._timed = loop
                loop.call_at(first, self._due)
                return
        with suppress(StoreError):
            self.write()


class _Once:
    """Rows that are put together once; `functools.cache` costs more than these."""

    def __init__(self, rows: Callable[[], Work]) -> None:
        self._rows = rows
        self._made: Work | None = None

    def __call__(self) -> Work:
        if self._made is None:
            self._made = self._rows()
        return self._made

    def prepare(self) -> None:
        with suppress(Exception):  # The writer asks again, and tells whoever waits.
            self()


class _Together:
    """Answers that come at the same turn of the event loop, which are written in one commit."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._units: list[WriteUnit] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def add(self, unit: WriteUnit) -> None:
        """An answer that the event loop waits for; it is written when all others of this turn are there."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._units and self._loop is not loop:
                self._writer.submit(unit)
                return
            self._units.append(unit)
            if len(self._units) == 1:
                self._loop = loop
                loop.call_soon(self._write)

    def hand_over(self) -> bool:
        """Leave what there is to the writer's thread, from any thread; tells whether there was anything."""
        units = self._taken()
        self._submit(units)
        return bool(units)

    def _write(self) -> None:
        units = self._taken()
        if not units:
            return
        if not self._writer.write_at_once(units):
            self._submit(units)
            return
        for unit in units:
            unit.settle()

    def _taken(self) -> list[WriteUnit]:
        with self._lock:
            units, self._units = self._units, []
        return units

    def _submit(self, units: list[WriteUnit]) -> None:
        for unit in units:
            try:
                self._writer.submit(unit)
            except StoreError as error:
                unit.error = error
                tell([unit])


UNRECORDED = "the answer could not be recorded, and the client was given an error in its place"
"""The error of a call whose answer failed to be written; written when that is possible again."""

AHEAD_BYTES = 4096
"""The rows of a request up to this size are put together while the tool works."""

AT_ONCE_BYTES = 16 * 1024
"""Answers up to this size are written where they arrive; packing and writing larger ones takes time."""

DEPARTURES = 32
"""Departure times that are written together."""

DEPARTURES_KEPT = 4096
"""How many are kept while nothing can be written."""


class Owned(Protocol):
    """This process, as the store knows it."""

    @property
    def id(self) -> str:
        """Its name; no other process has it."""
        ...

    def close(self) -> None:
        """Be gone; doing it twice is fine."""
        ...


class Packing(Protocol):
    """How large values are kept."""

    def pack(self, value: bytes) -> bytes | str:
        """What stands in a row for a value."""
        ...


class RecordingStore(ABC):
    """Runs and calls of m3bench processes.

    Args:
        folder: Where the files of runs lie.
        owner: This process.
        rows: Reads the record.
        writer: Writes it.
        blobs: Keeps large values.
    """

    def __init__(self, folder: Path, *, owner: Owned, rows: Rows, writer: Writer, blobs: Packing) -> None:
        self.folder = folder
        self.owner = owner
        self._rows = rows
        self._writer = writer
        self._blobs = blobs
        self._pending = PendingCalls(self._writer)
        # Several processes write to one record: each takes a range of numbers of its own.
        self._next = takeover.numbers()
        self._seats: dict[str, tuple[Statement, ...]] = {}
        """Seats that are put on record with their first call."""
        self._seated = False
        self._together = _Together(self._writer)
        self._put_off = threading.Lock()
        self._departures: list[tuple[int, int]] = []
        """When answers left: nice to have, so they wait until there are some or somebody reads."""
        self._last: WriteUnit | None = None
        """The last of the units that nobody waits for; the writer takes them in order."""
        self._unrecorded: dict[int, tuple[Callable[[], Work], str]] = {}
        """Calls whose answer could not be written, with the rows of the call where they are missing too, and why."""
        with suppress(StoreError):  # Somebody who only reads can do without, and the next to open tries again.
            self.mend()

    # What each store does in its own way

    @abstractmethod
    def _alone(self) -> AbstractContextManager[None]:
        """While this holds, no other process tidies up or takes over a run; raises a `StoreError` if it cannot."""

    @abstractmethod
    def _gone(self, unsettled: set[str]) -> set[str]:
        """The processes that are dead: of those whose seats are not settled, and of those that left files here."""

    @abstractmethod
    def _forget_blobs(self) -> None:
        """Remove large values that no call refers to any more."""

    @property
    def failing(self) -> bool:
        """Whether something of what was to be written last is not on record."""
        return self._writer.failing

    @property
    def queued(self) -> int:
        """Writes that wait for the writer."""
        return self._writer.queued

    # The journal of calls

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Take in a call, to be on record with its answer at the latest; returns its number.

        When the record could not be written a moment ago, the call is on record before this returns.

        Raises:
            StoreError: The record cannot be written: do not forward it.
        """
        self._next += 1
        number, caller = self._next, request.caller
        seat = self._seats.get(caller.seat, ())

        def rows() -> Work:
            values = (
                number, run, caller.seat, _text(tool), json.dumps(request.id), self._blobs.pack(request.raw),
                _text(caller.revision), _text(caller.client), request.wall, request.received_ns,
            )  # fmt: skip
            return [schema.insert("calls", values), *seat]

        if seat or self._writer.failing:
            await self._written_soon(WriteUnit(rows))
            self._seat_recorded(caller.seat)
        else:
            self._pending.add(number, rows, small=len(request.raw) <= AHEAD_BYTES)
        if self._unrecorded:
            self._last = self._submit(*self._put_right())
        return number

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Put an answer on record; it survives the death of this process when this returns.

        Args:
            call: The number of the call.
            answer: Its answer.
            delivery: Is given the answer by the writer when it is on record, if no other was written with it.

        Raises:
            StoreError: It is not on record: do not send it.
        """
        pending = self._pending.take(call)

        def rows() -> Work:
            values = (
                call, answer.outcome, answer.owner, self._blobs.pack(answer.result) if answer.result else None,
                json.dumps(answer.error) if answer.error else None,
                self._blobs.pack(answer.full) if answer.full else None, answer.forwarded_ns, answer.returned_ns,
            )  # fmt: skip
            return [*pending.with_answer(), schema.insert("answers", values)]

        def failed() -> None:
            with self._put_off:
                self._unrecorded[call] = pending.missing, f"{UNRECORDED}: {unit.error}"

        then = partial(delivery.send, answer) if delivery is not None else None
        unit = WriteUnit(rows, failed, after=pending.unit, then=then)
        if not pending.small or len(answer.result) + len(answer.full) > AT_ONCE_BYTES:
            await self._written_soon(unit)
        elif not self._pending.any and self._writer.write_at_once([unit]):
            unit.raise_if_failed()
        else:
            unit.from_loop()
            self._together.add(unit)
            await unit.committed()

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when an answer left; written later, and nothing depends on it: never raises."""
        with self._put_off:
            self._departures.append((call, sent_ns))
            many = len(self._departures) % DEPARTURES == 0
        if many:
            with suppress(StoreError):
                self._last = self._submit(*self._depart())

    # Seats and runs

    def add_seat(self, seat: str, profile: str, opened: str) -> None:
        """Note a seat of this process; it is put on record together with its first call."""
        values = (seat, self.owner.id, profile, opened)
        self._seats[seat] = (("INSERT OR REPLACE INTO seats VALUES (?,?,?,?)", values),)

    def add_run(self, run: RunRecord, resumption: Resumption | None = None) -> None:
        """Put a run that begins on record, and how to go on with it if it is to outlive this process."""
        values = (
            run.id, run.seat, run.task, run.state, run.mode, run.started, run.ended, run.answer, run.seal,
            json.dumps(run.manifest), json.dumps(run.scorecard) if run.scorecard is not None else None,
            json.dumps(run.fields) if run.fields is not None else None,
        )  # fmt: skip
        lasting = takeover.resumable(run.id, resumption) if resumption is not None else ()
        self._write(schema.insert("runs", values), *self._seats.get(run.seat, ()), *lasting)
        self._seat_recorded(run.seat)

    def change_run(self, run: str, **changes: object) -> None:
        """Set fields of a run: its state, answer, seal, end or score card."""
        values = [json.dumps(value) if isinstance(value, dict) else value for value in changes.values()]
        columns = ", ".join(f"{name} = ?" for name in changes)
        change = f"UPDATE runs SET {columns} WHERE id = ?", (*values, run)
        row = "runs", "id = ?", (run,)
        self._write(Sound(*row), change, Digested(*row), takeover.over(run))

    def run(self, prefix: str) -> RunRecord | None:
        """The run whose handle begins so, when there is exactly one.

        Raises:
            StoreError: Its record is damaged.
        """
        return self._rows.run(prefix)

    def runs(self, seat: str | None = None) -> list[RunRecord]:
        """The runs of a seat, or every run, newest first; without those whose record is damaged."""
        return self._rows.runs(seat)[0]

    @property
    def writer_name(self) -> str:
        """What this process is called on record."""
        return self.owner.id

    def states(self) -> dict[str, int]:
        """How many runs there are in each state."""
        return self._rows.states()

    def damaged_runs(self) -> list[Damage]:
        """The runs that `runs` leaves out."""
        return self._rows.runs(None)[1]

    def calls(self, run: str) -> list[CallRecord]:
        """A run's calls in the order they arrived.

        Raises:
            StoreError: One of them is damaged; it says which.
        """
        found, damage = self.sound_calls(run)
        if damage:
            raise StoreError(f"The record is damaged: {damage[0]}. `m3bench store check` says more.")
        return found

    def sound_calls(self, run: str) -> tuple[list[CallRecord], list[Damage]]:
        """A run's calls in the order they arrived, as far as they can be read, and what cannot."""
        with suppress(StoreError):
            self.catch_up()
        return self._rows.calls(run)

    def client(self, run: str) -> str:
        """What the client of a run calls itself; empty when it made no call."""
        return self._rows.client(run)

    def delete_run(self, *runs: str) -> None:
        """Forget runs and their calls. Blobs that no call refers to any more go with them."""
        mine = "(SELECT id FROM calls WHERE run = ?)"
        for run in runs:
            self._write(
                (f"DELETE FROM sent WHERE call IN {mine}", (run,)),
                (f"DELETE FROM answers WHERE call IN {mine}", (run,)),
                ("DELETE FROM calls WHERE run = ?", (run,)),
                ("DELETE FROM resumptions WHERE run = ?", (run,)),
                ("DELETE FROM runs WHERE id = ?", (run,)),
            )
        if runs:
            self._forget_blobs()

    def catch_up(self) -> None:
        """Write what was put off.

        Raises:
            StoreError: It cannot be written yet.
        """
        if self._together.hand_over() or self._pending.write():
            self._write()
        if self._last is not None:
            with suppress(StoreError):  # Then it is among what was put off again.
                self._last.wait()
        with self._put_off:
            waiting = [self._depart] * bool(self._departures) + [self._put_right] * bool(self._unrecorded)
        for unit in [self._submit(*work()) for work in waiting]:
            unit.wait()

    def close(self) -> None:
        """Write what was put off, as far as possible, and let go."""
        with suppress(StoreError):
            self.catch_up()
        self._writer.close()
        self._rows.close()
        try:
            # Otherwise another process that opens the store now might see this one half gone.
            with self._alone():
                self.owner.close()
        except StoreError:
            self.owner.close()

    def mend(self) -> None:
        """Tidy up after dead owners: their calls were cut off, their runs wait for their clients or are abandoned."""
        with self._alone():
            unsettled = self._rows.owners() - {self.owner.id}
            gone = self._gone(unsettled) - {self.owner.id}
        for owner in sorted(gone & unsettled):
            self._write(*takeover.settled(owner, self._rows.unanswered(owner)))
        waiting = self._rows.waiting()
        late = takeover.overdue(waiting)
        if late:
            self._write(*takeover.abandoned(late))
        kept = {self.folder / run.resumption.workspace for run in waiting if run.id not in late}
        for owner in sorted(gone):
            takeover.clear(self.folder, owner, kept)

    def take_over(self, seat: str) -> tuple[RunRecord, Resumption] | None:
        """The run that waits on a seat for its client, from now on this process's; None when there is none.

        Raises:
            RunError: Another process that lives has it.
            StoreError: The record cannot be read or written.
        """
        if self._rows.unfinished(seat) is None:
            return None
        self.mend()
        with self._alone():
            found = self._rows.unfinished(seat)
            if found is None:
                return None
            if found.owner not in ("", self.owner.id):
                raise RunError(takeover.ELSEWHERE)
            self._write(("UPDATE seats SET owner = ? WHERE id = ?", (self.owner.id, seat)))
        self._next = max(self._next, takeover.numbers_after(self._rows.last_call(found.id)))
        record = self._rows.run(found.id)
        assert record is not None
        return record, found.resumption

    def lose(self, run: str, ended: str, why: str) -> None:
        """Put on record that a run is void, because it could not be resumed."""
        self._write(*takeover.lost(run, ended, why))

    def lost(self, run: str) -> str | None:
        """Why a run could not be resumed; None when it was, or never had to be."""
        return self._rows.lost(run)

    # Inside

    def _seat_recorded(self, seat: str) -> None:
        if self._seats.pop(seat, None) is not None:
            self._seated = True

    def _write(self, *work: Insert | Sound | Digested | Statement) -> None:
        """Write now, together, and wait for it."""
        self._submit(lambda: work).wait()

    async def _written_soon(self, unit: WriteUnit) -> None:
        unit.from_loop()
        self._writer.submit(unit)
        await unit.committed()

    def _submit(self, rows: Callable[[], Work], failed: Callable[[], None] | None = None) -> WriteUnit:
        unit = WriteUnit(rows, failed)
        unit.from_thread()
        return self._writer.submit(unit)

    def _depart(self) -> tuple[Callable[[], Work], Callable[[], None]]:
        """The departures that were put off, and what to do when they cannot be written."""
        with self._put_off:
            rows, self._departures = self._departures, []

        def failed() -> None:
            with self._put_off:
                self._departures = [*rows, *self._departures][-DEPARTURES_KEPT:]

        return lambda: [schema.insert("sent", row) for row in rows], failed

    def _put_right(self) -> tuple[Callable[[], Work], Callable[[], None]]:
        """What the clients of calls saw whose answers could not be written, as rows; and what to do if it fails."""
        with self._put_off:
            calls, self._unrecorded = self._unrecorded, {}

        def rows() -> Work:
            found: list[Insert | Sound | Digested | Statement] = []
            for call, (missing, why) in sorted(calls.items()):
                error = json.dumps((INTERNAL_ERROR, why))
                found += [*missing(), schema.insert("answers", (call, "failed", "proxy", None, error, None, 0, 0))]
            return found

        def failed() -> None:
            with self._put_off:
                self._unrecorded |= calls

        return rows, failed


def _text(text: str) -> str:
    """JSON can carry half a character, which no database takes."""
    return text.encode(errors="replace").decode()
