"""The writer of the record: a thread with a session of its own that commits rows, in groups.

Rows that belong together are a unit, committed whole or not at all; whoever waits for a unit is told what became of
that unit and of no other. Units that wait at the same time share a commit, and when it fails each is tried alone, so
that one that cannot be written costs itself only. When nothing can be written, every unit is told so at once, and the
next one tries again with a fresh session: the record recovers as soon as it can. Which database it is, only the session
knows.

To go to a thread and back takes longer than a commit that waits for no disk. Where a session can do without waiting,
whoever asks commits by itself while the thread has nothing to do, and leaves to the thread whatever would have to wait.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

import anyio

from m3bench.server.store.schema import Work
from m3bench.tasks.eager import Later, needs_task
from m3bench.tasks.errors import StoreError

GROUP = 64
"""The most units in one commit."""

SLOW_SECONDS = 0.02
"""A disk that takes longer for a commit is left to the thread."""

PATIENT_SECONDS = 5.0
"""For how long."""

CLOSE_SECONDS = 15.0
"""How long closing waits for what is still being written; longer than a lock is waited for."""


class WriteUnit:
    """Rows that are committed together or not at all, and what became of them.

    Args:
        prepare: Gives the statements; runs where they are written, and again if that has to be tried again elsewhere.
        failed: Is called there when they are not on record in the end.
        after: A unit submitted before, without which this one must not be on record.
        then: May be called there as soon as they are on record, before whoever waits is told.
    """

    def __init__(
        self, prepare: Callable[[], Work], failed: Callable[[], None] | None = None, after: "WriteUnit | None" = None,
        then: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.prepare = prepare
        self.failed = failed
        self.after = after
        self.then = then
        self.work: Work = ()
        self.error: StoreError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._later: Later[None] | None = None
        self._done: threading.Event | None = None

    def wait(self) -> None:
        """Wait until the rows are committed.

        Raises:
            StoreError: They are not.
        """
        assert self._done is not None
        self._done.wait()
        self.raise_if_failed()

    async def committed(self) -> None:
        """Wait until the rows are committed, without holding up the event loop; goes on through a cancellation.

        Raises:
            StoreError: They are not.
        """
        assert self._later is not None
        if needs_task():
            await self._later
        else:
            with anyio.CancelScope(shield=True):
                await self._later
        self.raise_if_failed()

    def from_thread(self) -> None:
        """Be waited for by a thread."""
        self._done = threading.Event()

    def from_loop(self) -> None:
        """Be waited for in the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._later = Later(shielded=True)

    def raise_if_failed(self) -> None:
        """Raise a `StoreError` if the rows are not on record."""
        if self.error is not None:
            raise self.error

    def settle(self) -> None:
        """Wake whoever waits for it in the event loop, which this runs in."""
        if self._later is not None:
            self._later.give(None)


class WriterSession(Protocol):
    """An open database, as the writer uses it."""

    def commit(self, work: Work) -> None:
        """Write rows in one transaction; may raise any error."""
        ...

    def tries_again(self, error: Exception, several: bool) -> bool:
        """Whether units that failed together are worth another try, each alone.

        Args:
            error: Why they failed.
            several: Whether there was more than one.
        """
        ...

    def waits(self, error: Exception) -> bool:
        """Whether what failed has only to wait for somebody else."""
        ...

    def undo(self, error: Exception) -> bool:
        """Make sure that nothing of a failed transaction stays; False when the session is of no more use."""
        ...

    def close(self) -> None:
        """Let go of the database; never raises."""
        ...


class Writer:
    """Commits units.

    Args:
        connect: Opens the database for writing; called again after it failed. May raise any error.
        verify: Raises when the open database is no longer the one at its place.
        explain: Turns an error into what people read.
        impatient: Opens the database for commits that wait for nobody, where there are such.
    """

    def __init__(
        self,
        connect: Callable[[], WriterSession],
        verify: Callable[[], None],
        explain: Callable[[BaseException], StoreError],
        impatient: Callable[[], WriterSession] | None = None,
    ) -> None:
        self._connect = connect
        self._verify = verify
        self._explain = explain
        self._impatient = impatient
        self._at_once: WriterSession | None = None
        self._here = threading.Lock()
        """Held while a commit is made outside of the thread."""
        self._stale = False
        """Whether the thread has let go of the database since it was opened for commits at once."""
        self._patient_until = 0.0
        self._outstanding = 0
        """Units that the thread has not done with."""
        self._session: WriterSession | None = None
        self._queue: SimpleQueue[WriteUnit | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._turn = threading.Lock()
        self._failed = False

    @property
    def failing(self) -> bool:
        """Whether something of what was written last is not on record, or nothing is written any more."""
        return self._failed or self._closed

    @property
    def queued(self) -> int:
        """Units that wait."""
        return self._queue.qsize()

    def submit(self, unit: WriteUnit) -> WriteUnit:
        """Put a unit behind those that wait."""
        with self._turn:
            if self._closed:
                raise StoreError("The record is closed: this server is stopping.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="m3bench-writer", daemon=True)
                self._thread.start()
            self._outstanding += 1
            self._queue.put(unit)
        return unit

    def write_at_once(self, units: Sequence[WriteUnit]) -> bool:
        """Commit units here and now, and do what follows them; False, with nothing done, when that would have to wait.

        Nothing overtakes what the thread has yet to do.
        """
        if self._impatient is None or self._outstanding or self.failing or time.monotonic() < self._patient_until:
            return False
        if not self._here.acquire(blocking=False):
            return False
        try:
            return not self._closed and self._written_here(units)
        finally:
            self._here.release()

    def _written_here(self, units: Sequence[WriteUnit]) -> bool:
        ready = [unit for unit in units if self._is_prepared(unit)]
        begun = time.monotonic()
        session = self._session_here() if ready else None
        if ready and session is None:
            return False
        try:
            if session is not None:
                session.commit([change for unit in ready for change in unit.work])
        except Exception as error:
            assert session is not None
            self._give_up_here(error)
            if session.waits(error) or len(ready) > 1:
                return False
            ready[0].error = self._explain(error)
        if time.monotonic() - begun > SLOW_SECONDS:
            self._patient_until = time.monotonic() + PATIENT_SECONDS
        self._failed = any(unit.error is not None for unit in units)
        for unit in units:
            if unit.error is not None and unit.failed is not None:
                unit.failed()
            _go_on(unit)
        return True

    def _session_here(self) -> WriterSession | None:
        """The database as the thread has it open; None where the thread has to find out what is wrong."""
        assert self._impatient is not None
        try:
            if self._stale:
                self._stale = False
                self._give_up_here()
            if self._at_once is None:
                self._at_once = self._impatient()
            self._verify()
        except Exception:
            self._give_up_here()
        return self._at_once

    def _give_up_here(self, error: Exception | None = None) -> None:
        """Leave nothing of a transaction; without an error, or where that is impossible, let go of the database."""
        session = self._at_once
        if session is not None and (error is None or not session.undo(error)):
            self._at_once = None
            session.close()

    def close(self) -> None:
        """Commit what waits and let go of the database."""
        with self._turn:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)
        with self._here:
            self._give_up_here()

    def _work(self) -> None:
        ending = False
        while not ending:
            units, ending = self._next()
            try:
                self._write(units)
            except BaseException as error:  # Whoever waits must hear, whatever broke.
                for unit in units:
                    unit.error = unit.error or self._explain(error)
            self._failed = any(unit.error is not None for unit in units)
            for unit in units:
                if unit.error is not None and unit.failed is not None:
                    unit.failed()
            if len(units) == 1:
                _go_on(units[0])
            with self._turn:
                self._outstanding -= len(units)
            tell(units)
        self._disconnect()

    def _next(self) -> tuple[list[WriteUnit], bool]:
        """The units that wait, at least one of them, and whether the writer is to end after these."""
        first = self._queue.get()
        if first is None:
            return [], True
        units = [first]
        with suppress(Empty):
            while len(units) < GROUP:
                unit = self._queue.get_nowait()
                if unit is None:
                    return units, True
                units.append(unit)
        return units, False

    def _write(self, units: list[WriteUnit]) -> None:
        ready = [unit for unit in units if self._is_prepared(unit)]
        if not ready:
            return
        session = self._opened(ready)
        if session is None:
            return
        why = self._commit(session, ready)
        if why is None:
            return
        if not session.tries_again(why, len(ready) > 1):
            for unit in ready:
                unit.error = self._explain(why)
            return
        for number, unit in enumerate(ready):
            alone = self._opened(ready[number:])
            if alone is None:
                return
            unit.error = self._commit_alone(alone, unit)

    def _opened(self, units: Sequence[WriteUnit]) -> WriterSession | None:
        """The session; None when there is none, which all units are told at once.

        No row is at fault then: they would wait for the same thing again, one after the other.
        """
        try:
            return self._open()
        except Exception as error:
            self._undo(error)
            for unit in units:
                unit.error = self._explain(error)
            return None

    def _is_prepared(self, unit: WriteUnit) -> bool:
        try:
            unit.error = unit.after.error if unit.after is not None else None
            if unit.error is None:
                unit.work = unit.prepare()
        except Exception as error:
            unit.error = self._explain(error)
        return unit.error is None

    def _open(self) -> WriterSession:
        if self._session is None:
            self._session = self._connect()
        self._verify()
        return self._session

    def _commit(self, session: WriterSession, units: Sequence[WriteUnit]) -> Exception | None:
        """Write units in one transaction; the reason when they are not on record."""
        try:
            session.commit([change for unit in units for change in unit.work])
        except Exception as error:
            self._undo(error)
            return error
        return None

    def _commit_alone(self, session: WriterSession, unit: WriteUnit) -> StoreError | None:
        if unit.after is not None and unit.after.error is not None:
            return unit.after.error
        why = self._commit(session, [unit])
        return None if why is None else self._explain(why)

    def _undo(self, error: Exception) -> None:
        if self._session is not None and not self._session.undo(error):
            self._disconnect()

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        self._stale = True
        if session is not None:
            session.close()


def _go_on(unit: WriteUnit) -> None:
    """What follows a unit that was committed alone, and would have to wait for a turn of the event loop.

    Where several were committed the loop is busy, and two threads that work at once get in each other's way.
    """
    if unit.error is None and unit.then is not None:
        with suppress(Exception):  # Whoever waits for it goes on by itself.
            unit.then()


def tell(units: Sequence[WriteUnit]) -> None:
    """Wake whoever waits for one of these units, with one signal to each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[WriteUnit]] = {}
    for unit in units:
        if unit._done is not None:
            unit._done.set()
        if unit._loop is not None:
            loops.setdefault(unit._loop, []).append(unit)
    for loop, theirs in loops.items():
        with suppress(RuntimeError):  # A loop that was closed has nobody who waits.
            loop.call_soon_threadsafe(_settle_all, theirs)


def _settle_all(units: Sequence[WriteUnit]) -> None:
    for unit in units:
        unit.settle()
