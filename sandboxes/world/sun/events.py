"""What happens on the Sun and near the Earth, as things that can be linked to each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from m3bench.sandboxes.world import clock

Kind = Literal["FLR", "CME", "SEP", "IPS", "GST", "MPC", "RBE", "HSS"]

FIRST = date(2024, 1, 1)
LAST = clock.NOW.date()


@dataclass(eq=False, kw_only=True)
class Event:
    """One event. Its id is known when the record is complete."""

    kind: Kind
    start: datetime
    location: str = ""
    """Place on the solar disk such as N16E63; empty when there is none or it was not seen."""
    note: str = ""
    links: list["Event"] = field(default_factory=list)
    id: str = ""
    number: int = 0
    """What the event's page is called."""

    def link(self, other: "Event") -> None:
        """Say that two events belong together."""
        if other not in self.links:
            self.links.append(other)
            other.links.append(self)

    @property
    def related(self) -> list[str]:
        """Ids of the linked events, in order of time."""
        return [event.id for event in sorted(self.links, key=lambda event: (event.start, event.id))]


@dataclass(eq=False, kw_only=True)
class Flare(Event):
    """A flare; `start` is when it begins."""

    peak: datetime
    end: datetime
    size: str
    """Class such as X1.2."""
    region: int

    @property
    def strength(self) -> float:
        """The size as a number: C1 is 1, M1 is 10, X1 is 100."""
        return float(self.size[1:]) * {"C": 1, "M": 10, "X": 100}[self.size[0]]


@dataclass(eq=False, kw_only=True)
class Ejection(Event):
    """A coronal mass ejection with its measurements, the best first."""

    speeds: Sequence[int]
    """Kilometres per second."""
    lat: float
    lng: float
    half_angle: int

    @property
    def speed(self) -> int:
        """The best measurement."""
        return self.speeds[0]

    def leaves(self, speed: int) -> datetime:
        """When the front is 21.5 solar radii out, for a measured speed."""
        return self.start + timedelta(seconds=_OUTWARD_KM / speed)

    @property
    def arrival(self) -> datetime:
        """When it would reach the Earth: fast ones are slowed on the way, slow ones carried along."""
        return self.start + timedelta(hours=max(22.0, 203 - 20.77 * math.log(self.speed)))


@dataclass(eq=False, kw_only=True)
class Storm(Event):
    """A geomagnetic storm with the Kp index of each three hours from its start."""

    kp: Sequence[float]


_OUTWARD_KM = 20.5 * 695_700


def moment(text: str) -> datetime:
    """A time of the tables, such as 2025-01-03T11:39Z."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)


def minute(time: datetime) -> str:
    """A time as the record writes it."""
    return f"{time:%Y-%m-%dT%H:%MZ}"
