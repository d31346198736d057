"""Runs of a solar wind model: where and when ejections are expected, computed some hours after they were seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.sun.effects import is_facing
from m3bench.sandboxes.world.sun.ejections import speed_class
from m3bench.sandboxes.world.sun.events import LAST, Ejection
from m3bench.sandboxes.world.sun.record import record

_FIRST_RUN = 28_500
_TARGETS = (("Mars", 1.52, 20), ("STEREO A", 0.96, 25), ("Solar Orbiter", 0.7, 120), ("BepiColombo", 0.45, 160))
"""Name, distance in astronomical units and how many degrees west of the Earth it stands (roughly)."""


@dataclass(frozen=True)
class Impact:
    """An expected arrival."""

    location: str
    arrival: datetime


@dataclass(frozen=True)
class Run:
    """One run of the model."""

    id: str
    completed: datetime
    ejection: Ejection
    impacts: Sequence[Impact]


@cache
def runs() -> Sequence[Run]:
    """Every run, in order of completion: one for each ejection that is fast or faces the Earth."""
    found = []
    for event in record().kinds["CME"]:
        assert isinstance(event, Ejection)
        if is_facing(event) or speed_class(event.speed) not in "SC":
            completed = event.start + timedelta(minutes=noise.integer(240, 900, "run", event.id))
            if completed.date() < LAST:
                found.append((completed, event))
    found.sort(key=lambda entry: (entry[0], entry[1].id))
    return [
        Run(f"WSA-ENLIL/{_FIRST_RUN + 2 * number}/1", completed, event, _impacts(event))
        for number, (completed, event) in enumerate(found)
    ]


def _impacts(ejection: Ejection) -> list[Impact]:
    impacts = []
    if is_facing(ejection):
        impacts.append(Impact("Earth", ejection.arrival.replace(second=0, microsecond=0)))
    for name, distance, west in _TARGETS:
        off = abs((ejection.lng - west + 180) % 360 - 180)
        if off < ejection.half_angle + 10:
            travelled = (ejection.arrival - ejection.start) * distance
            impacts.append(Impact(name, (ejection.start + travelled).replace(second=0, microsecond=0)))
    return impacts
