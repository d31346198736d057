"""The complete record: all events with their ids, model runs and messages, made once and kept."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.sun.effects import effects
from m3bench.sandboxes.world.sun.ejections import ejections
from m3bench.sandboxes.world.sun.events import Event, Kind
from m3bench.sandboxes.world.sun.flares import flares

_FIRST_PAGE = 28_200


@dataclass(frozen=True)
class Record:
    """All events by kind, each kind in order of time."""

    kinds: Mapping[Kind, Sequence[Event]]

    def between(self, kind: Kind, start: datetime, end: datetime) -> list[Event]:
        """The events of a kind that start in [start, end)."""
        events = self.kinds[kind]
        first = bisect_left(events, start, key=lambda event: event.start)
        last = bisect_left(events, end, lo=first, key=lambda event: event.start)
        return list(events[first:last])


@cache
def record() -> Record:
    """The record of 2024 and 2025 up to the world's instant."""
    seen = flares()
    thrown = ejections(seen)
    followed = effects(seen, thrown)
    kinds: dict[Kind, Sequence[Event]] = {
        "FLR": seen,
        "CME": thrown,
        "SEP": followed.particles,
        "IPS": followed.shocks,
        "GST": followed.storms,
        "MPC": followed.crossings,
        "RBE": followed.belts,
        "HSS": followed.streams,
    }
    page, pages = _FIRST_PAGE, noise.generator_of("pages")
    used: Counter[str] = Counter()
    for event in sorted(chain.from_iterable(kinds.values()), key=lambda event: (event.start, event.kind)):
        name = f"{event.start:%Y-%m-%dT%H:%M}:00-{event.kind}"
        used[name] += 1
        page += pages.randint(1, 4)
        event.id, event.number = f"{name}-{used[name]:03d}", page
    return Record(kinds)
