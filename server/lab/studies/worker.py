"""A worker: takes samples out of a queue, plays them as a study plays its cells, and hands in what came of them.

Any number of workers, on any number of machines, share a queue. Each plays one cell at a time, so many samples of it at
once, until nothing of the cell can be taken; then it looks for another. Ctrl-C gives back what is not finished; what a
killed worker had is taken by another when its leases have run out.

A thread of its own keeps the leases and hands in what is finished. Samples go on while the database is away: what is
finished meanwhile stays in the worker's folder until it can be handed in. A result that comes too late, because another
has the sample by then, is dropped.
"""

import math
import os
import secrets
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio

from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.forked_servers import forked_servers
from m3bench.server.lab.headless.inspect_run import run_model
from m3bench.server.lab.headless.inspect_seat import server_environment
from m3bench.server.lab.headless.plan import SampleAttempt
from m3bench.server.lab.results.resultset import Sample
from m3bench.server.lab.studies.study_queue import Wanted, text_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.serving import interrupts
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.queue import AWAY, Key, Queue, QueuedCell
from m3bench.server.store.transfer import pack
from m3bench.tasks.errors import M3Error, StoreError, first_cause


class FinishedSample(NamedTuple):
    """A sample that is over."""

    key: Key
    sample: Sample
    data: Path
    """The folder with the record of its run."""


class LeaseKeeper:
    """The leases of one worker.

    Args:
        place: Where the queue is.
        holder: The worker.
        beat: Seconds between two renewals.
        say: Is told when the database goes away and when it is back.
    """

    def __init__(self, place: RecordLocation, holder: str, beat: float, say: Callable[[str], None]) -> None:
        self._queue = Queue(place, say)
        self.holder = holder
        """The worker."""
        self._beat = beat
        self._held: set[Key] = set()
        self._done: deque[FinishedSample] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self.broken: StoreError | None = None
        """Why nothing can be handed in any more."""
        self.counts: Counter[str] = Counter()
        """Samples that were `scored`, `void`, or `late`: finished by another."""
        self._thread = threading.Thread(target=self._keep, name="m3bench-keeper", daemon=True)
        self._thread.start()

    def hold(self, key: Key) -> None:
        """A sample was taken: its lease is renewed from now on."""
        with self._changed:
            self._held.add(key)

    def hand_in(self, done: FinishedSample) -> None:
        """A sample is over: it is handed in as soon as the database takes it.

        Raises:
            StoreError: The database takes nothing any more.
        """
        if self.broken is not None:
            raise self.broken
        with self._changed:
            self._done.append(done)
            self._changed.notify_all()

    def drain(self, seconds: float = math.inf) -> None:
        """Wait until everything is handed in, or so long.

        Raises:
            StoreError: The database takes nothing any more.
        """
        end = time.monotonic() + seconds
        with self._changed:
            # In short turns, so that Ctrl-C is heard.
            while self._done and self.broken is None and time.monotonic() < end:
                self._changed.wait(0.5)
        if self.broken is not None:
            raise self.broken

    def close(self) -> None:
        """End; leases that are left run out, or are given back by whoever knows the worker's name."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._queue.close()
        self._thread.join(10)

    def _keep(self) -> None:
        due = time.monotonic() + self._beat
        try:
            while not self._closing:
                with self._changed:
                    if not self._done and not self._closing:
                        self._changed.wait(max(0.0, due - time.monotonic()))
                    one = self._done[0] if self._done else None
                    held = set(self._held)
                if one is not None:
                    self._send(one)
                if time.monotonic() >= due:
                    self._queue.beat(self.holder, held)
                    due = time.monotonic() + self._beat
        except StoreError as error:
            with self._changed:
                self.broken = None if self._closing else error
                self._changed.notify_all()

    def _send(self, done: FinishedSample) -> None:
        sample, run = done.sample, done.sample.run
        parcel = pack(done.data, run) if sample.state == "scored" and run is not None else None
        taken = self._queue.finish(done.key, self.holder, text_of(sample), parcel)
        with self._changed:
            self.counts[sample.state if taken else "late"] += 1
            self._held.discard(done.key)
            self._done.popleft()
            self._changed.notify_all()


LEASE_SECONDS = 60.0
"""How long the samples of a vanished worker wait for another one."""

BEATS = 6
"""Renewals in the time of a lease."""

LOOK_SECONDS = 0.5
"""Between two looks into a queue that has nothing to take."""

LEAVE_SECONDS = 5.0
"""For handing in what is finished, after Ctrl-C."""

PLACES = 32
"""Samples for each slot in one go of Inspect; starting one takes a moment."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a worker works."""

    place: RecordLocation
    """Where the queue is."""
    study: str | None = None
    """Only samples of this one."""
    slots: int = 4
    """Samples at a time."""
    until_empty: bool = False
    """Whether to end when nothing is left to play, by anybody."""
    lease: float = LEASE_SECONDS
    """Seconds after which others may take what this worker does not renew."""


@dataclass(kw_only=True)
class WorkerTally:
    """What a worker did."""

    worker: str
    scored: int = 0
    void: int = 0
    late: int = 0
    """Finished when another had done so."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Why cells could not be played here, by name."""
    stopped: bool = False
    """Whether somebody stopped it."""


def work(terms: Terms, say: Callable[[str], None]) -> WorkerTally:
    """Play samples until there are none, or somebody presses Ctrl-C.

    Raises:
        StoreError: The queue cannot be used.
    """
    tally = WorkerTally(worker=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    speaker = _Speaker(say)
    with closing(Queue(terms.place, speaker.say)) as queue:
        keeper = LeaseKeeper(terms.place, tally.worker, terms.lease / BEATS, speaker.say)
        try:
            with TemporaryDirectory(prefix="m3bench-worker-", ignore_cleanup_errors=True) as scratch:
                with forked_servers(server_environment()):
                    _work(terms, queue, keeper, tally, Path(scratch), say)
        except KeyboardInterrupt:
            tally.stopped = True
            keeper.drain(LEAVE_SECONDS)
            keeper.close()
            queue.give_back(tally.worker)
        finally:
            keeper.close()
            tally.scored, tally.void, tally.late = (keeper.counts[name] for name in ("scored", "void", "late"))
    return tally


def _work(
    terms: Terms, queue: Queue, keeper: LeaseKeeper, tally: WorkerTally, scratch: Path, say: Callable[[str], None]
) -> None:
    barred: list[tuple[str, str]] = []
    known: dict[tuple[str, str], tuple[str, Wanted]] = {}
    while True:
        found = queue.next_cell(terms.study, barred)
        if found is None:
            if terms.until_empty and queue.is_empty(terms.study, barred):
                return
            time.sleep(LOOK_SECONDS)
            continue
        cell, free = found
        name = cell.study, cell.cell
        try:
            if name not in known or known[name][0] != cell.wanted:
                folder = scratch / str(len(known)) / secrets.token_hex(2)
                folder.mkdir(parents=True)
                known[name] = cell.wanted, Wanted(queue, cell, folder, terms.slots)
            _play(known[name][1], cell, min(free, PLACES * terms.slots), _Taking(terms, queue, keeper, cell))
            keeper.drain()
        except StoreError:
            raise
        except M3Error as error:
            # Others may be able to, or the next cell may be another matter.
            barred.append(name)
            tally.troubles[cell.cell] = str(error)
            keeper.drain()
            queue.give_back(tally.worker)
            queue.trouble(cell, f"{tally.worker}: {error}")
            say(f"{cell.cell}: {error}")


def _play(wanted: Wanted, cell: QueuedCell, count: int, taking: "_Taking") -> None:
    """Play samples of a cell until none can be taken."""
    plan = wanted.places(count)

    def done(sample: Sample, card: ScoreCard | None) -> None:
        key = Key(cell.study, cell.cell, sample.task, sample.repeat)
        taking.keeper.hand_in(FinishedSample(key, sample, plan.settings.data))

    if wanted.options is not None:
        run_model(plan, wanted.options, done, taking)
        return
    assert wanted.agent is not None
    try:
        interrupts.run(play_plan, plan, wanted.agent, done, taking)
    except BaseExceptionGroup as group:
        raise first_cause(group) from group


class _Taking:
    """Takes samples of a cell, one at a time."""

    def __init__(self, terms: Terms, queue: Queue, keeper: LeaseKeeper, cell: QueuedCell) -> None:
        self._terms = terms
        self._queue = queue
        self.keeper = keeper
        self._cell = cell

    async def __call__(self) -> SampleAttempt | None:
        """The next sample; a provider that has its fill is waited for."""
        # Others make room, on other machines: there is no event to wait for.
        while (taken := await anyio.to_thread.run_sync(self._take, abandon_on_cancel=True)) is None:  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)
        return SampleAttempt(taken[0].task, taken[0].repeat) if taken else None

    def _take(self) -> list[Key] | None:
        taken = self._queue.take(self._cell, self.keeper.holder, self._terms.lease)
        for key in taken or ():
            self.keeper.hold(key)
        return taken


class _Speaker:
    """Says once what two connections notice of one database: it is away, it is back."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._away = False
        self._turn = threading.Lock()

    def say(self, text: str) -> None:
        """Say something, unless it was said last."""
        with self._turn:
            away = text.endswith(AWAY)
            if away != self._away:
                self._away = away
                self._say(text)
