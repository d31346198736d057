"""Counts what a server does, for whoever measures it: calls by what they came to, and how long they took.

Plain numbers, so that a call pays next to nothing for them; `metrics` writes them out when somebody asks. Nothing that
a client chose is a key here: what is counted apart are words of ours, of which there are few.
"""

import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from m3bench.proxy.call import Answer, ToolRequest
from m3bench.server.store.contract import Store
from m3bench.server.store.records import OWN_TOOLS

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0)
"""Seconds: the upper ends of the ranges that calls are counted in; the last is all that a tool may take."""


@dataclass
class Durations:
    """How long calls of one kind took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """By range; the last one has no end."""
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a call."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Tally:
    """An `Observer` that counts."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        """By outcome and owner."""
        self.durations = {"benchmark": Durations(), "tool": Durations()}
        """From the arrival of a call until its answer is on record: of our own tools, and of all others."""
        self.unrecorded = 0
        """Calls that were answered with an error, because they or their answers could not be recorded."""
        self.store: Store | None = None
        """The record, from the first call on."""
        self._begun: dict[int, tuple[int, str]] = {}

    @property
    def under_way(self) -> int:
        """Calls that have no answer yet."""
        return len(self._begun)

    def opened(self, store: Store) -> None:
        """The record is open."""
        self.store = store

    def seats_changed(self) -> None:
        """Seats are counted when somebody asks."""

    def run_changed(self, run: str) -> None:
        """Runs are counted when somebody asks."""

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived."""
        self._begun[call] = request.received_ns, "benchmark" if tool in OWN_TOOLS else "tool"

    def answered(self, call: int, answer: Answer) -> None:
        """A call was answered."""
        self.calls[answer.outcome, answer.owner] += 1
        begun = self._begun.pop(call, None)
        if begun is not None:
            received_ns, kind = begun
            self.durations[kind].add((time.monotonic_ns() - received_ns) / 1e9)

    def withheld(self, call: int | None) -> None:
        """A call, or the answer of one, could not be recorded."""
        self.unrecorded += 1
        if call is not None:
            self._begun.pop(call, None)
