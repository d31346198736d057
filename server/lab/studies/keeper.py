"""Keeps the leases of a worker and hands in what it finished, in a thread of its own.

Samples go on while the database is away: what is finished meanwhile stays in the worker's folder until it can be
handed in. A result that comes too late, because another has the sample by then, is dropped.
"""

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from m3bench.server.lab.results.resultset import Sample
from m3bench.server.lab.studies.queued import text_of
from m3bench.server.store.parcels import pack
from m3bench.server.store.place import Place
from m3bench.server.store.postgres.queue import Key, Queue
from m3bench.tasks.errors import StoreError


class Done(NamedTuple):
    """A sample that is over."""

    key: Key
    sample: Sample
    data: Path
    """The folder with the record of its run."""


class Keeper:
    """The leases of one worker.

    Args:
        place: Where the queue is.
        holder: The worker.
        beat: Seconds between two renewals.
        say: Is told when the database goes away and when it is back.
    """

    def __init__(self, place: Place, holder: str, beat: float, say: Callable[[str], None]) -> None:
        self._queue = Queue(place, say)
        self.holder = holder
        """The worker."""
        self._beat = beat
        self._held: set[Key] = set()
        self._done: deque[Done] = deque()
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

    def hand_in(self, done: Done) -> None:
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

    def _send(self, done: Done) -> None:
        sample, run = done.sample, done.sample.run
        parcel = pack(done.data, run) if sample.state == "scored" and run is not None else None
        taken = self._queue.finish(done.key, self.holder, text_of(sample), parcel)
        with self._changed:
            self.counts[sample.state if taken else "late"] += 1
            self._held.discard(done.key)
            self._done.popleft()
            self._changed.notify_all()
