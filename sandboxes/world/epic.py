"""Pictures of the whole sunlit Earth by the EPIC camera on DSCOVR, a million miles towards the Sun.

When the camera worked is true: from June 2015, with a gap of eight months from June 2019, until the spacecraft
fell silent in July 2025. A few lost days and the minutes of the pictures are seeded; what they show the middle of
follows from the position of the Sun.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Literal

from m3bench.sandboxes.world import noise, sky
from m3bench.sandboxes.world.geo import Point

Collection = Literal["natural", "enhanced"]

FIRST_SHOT_DAY = date(2015, 6, 13)
LAST_SHOT_DAY = date(2025, 7, 14)
_GAP = (date(2019, 6, 28), date(2020, 3, 1))
_LOST_SHARE = 0.015
_SUMMER = range(5, 9)
"""Months in which the ground station hears the spacecraft longer and more pictures come down."""


@dataclass(frozen=True)
class Shot:
    """One picture."""

    time: datetime
    centre: Point

    @property
    def id(self) -> str:
        """When it was taken, in digits."""
        return f"{self.time:%Y%m%d%H%M%S}"

    def name(self, collection: Collection) -> str:
        """The picture's name in a collection."""
        return f"epic_{'1b' if collection == 'natural' else 'RGB'}_{self.id}"

    def address(self, collection: Collection) -> str:
        """Where the archive keeps it."""
        name = self.name(collection)
        return f"https://api.nasa.gov/EPIC/archive/{collection}/{self.time:%Y/%m/%d}/png/{name}.png"


@cache
def days() -> Sequence[date]:
    """Every day with pictures."""
    span = (FIRST_SHOT_DAY + timedelta(days=number) for number in range((LAST_SHOT_DAY - FIRST_SHOT_DAY).days + 1))
    return [day for day in span if not _GAP[0] <= day <= _GAP[1] and not _is_lost(day)]


def shots(day: date) -> list[Shot]:
    """The pictures of a day; none when the camera was off."""
    if not was_on(day) or _is_lost(day):
        return []
    count = 22 if day.month in _SUMMER else 13
    every = timedelta(days=1) / (count + 0.2)
    first = datetime.combine(day, time(), UTC) + timedelta(seconds=noise.integer(300, 1500, "epic", day.isoformat()))
    times = [(first + number * every).replace(microsecond=0) for number in range(count)]
    return [Shot(taken, sky.subsolar(taken)) for taken in times]


def was_on(day: date) -> bool:
    """Whether the camera worked on a day."""
    return FIRST_SHOT_DAY <= day <= LAST_SHOT_DAY and not _GAP[0] <= day <= _GAP[1]


def _is_lost(day: date) -> bool:
    return day not in (FIRST_SHOT_DAY, LAST_SHOT_DAY) and noise.fraction("epic lost", day.isoformat()) < _LOST_SHARE
