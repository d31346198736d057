"""Near-Earth asteroids: numbered ones with true orbits, and the small ones that pass unnamed every day.

Orbits, brightness and some famous passages are true. All other passages are seeded and say so: a numbered asteroid
comes by about once per synodic period, and each day has a handful of small objects whose facts follow from their
number. Ids and designations of these are higher than those of any real object.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache

from m3bench.sandboxes.world import clock, noise, tables

FIRST = date(1950, 1, 1)
LAST = date(2099, 12, 31)

_FIRST_NUMBERED = datetime(2000, 1, 1, tzinfo=UTC)
"""Passages of numbered asteroids are told from here on."""
_NUMBERED_IDS = 2_000_000
_SMALL_IDS = 59_000_000
_SMALL_CYCLES = 9000
"""Real designations have counted to some hundreds within half a month."""
_SLOTS = 16
"""Small objects a day, at most."""
_AU_KM = 149_597_870.7
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_DARK, _BRIGHT = 0.05, 0.25
"""Shares of light that asteroids throw back."""


@dataclass(frozen=True)
class Passage:
    """A close approach to the Earth."""

    time: datetime
    distance_km: float
    speed_km_h: float
    known: bool = False
    """Whether it took place, or will, as it is told."""


@dataclass(frozen=True, kw_only=True)
class Asteroid:
    """An asteroid and its passages, in order of time."""

    id: str
    name: str
    designation: str
    magnitude: float
    axis_au: float
    eccentricity: float
    inclination: float
    hazardous: bool
    sentry: bool
    orbit_determined: str
    passages: Sequence[Passage]

    @property
    def diameters_km(self) -> tuple[float, float]:
        """The smallest and largest diameter its brightness allows."""
        base = 1329 * 10 ** (-self.magnitude / 5)
        return base / math.sqrt(_BRIGHT), base / math.sqrt(_DARK)

    @property
    def period_days(self) -> float:
        """How long it takes around the Sun."""
        return 365.25 * float(self.axis_au**1.5)


@cache
def numbered() -> Sequence[Asteroid]:
    """The numbered asteroids, by number."""
    return [_numbered(record) for record in tables.load("asteroids")]


def find(id_: str) -> Asteroid | None:
    """The asteroid of an id. Numbered ones also answer to the longer form of theirs, 20000433 for 2000433."""
    if not id_.isascii() or not id_.isdigit() or len(id_) > 9:
        return None
    number = int(id_)
    known = _by_id().get(id_) or _by_id().get(str(number - 9 * _NUMBERED_IDS))
    if known is not None:
        return known
    day, slot = divmod(number - _SMALL_IDS, _SLOTS)
    when = FIRST + timedelta(days=day) if 0 <= day <= (LAST - FIRST).days else None
    return _small(when, slot) if when is not None and slot < _count(when) else None


def passing(day: date) -> list[tuple[Asteroid, Passage]]:
    """What passes the Earth on a day, in order of time."""
    small = [_small(day, slot) for slot in range(_count(day))] if FIRST <= day <= LAST else []
    found = [*_numbered_by_day()[day], *((asteroid, asteroid.passages[0]) for asteroid in small)]
    return sorted(found, key=lambda entry: entry[1].time)


@cache
def _by_id() -> Mapping[str, Asteroid]:
    return {asteroid.id: asteroid for asteroid in numbered()}


@cache
def _numbered_by_day() -> defaultdict[date, list[tuple[Asteroid, Passage]]]:
    days: defaultdict[date, list[tuple[Asteroid, Passage]]] = defaultdict(list)
    for asteroid in numbered():
        for passage in asteroid.passages:
            days[passage.time.date()].append((asteroid, passage))
    return days


def _numbered(record: tables.Record) -> Asteroid:
    number = record["number"]
    name = f"{number} {record['name']} ({record['designation']})" if "name" in record else ""
    return Asteroid(
        id=str(_NUMBERED_IDS + number),
        name=name or f"{number} ({record['designation']})",
        designation=str(number),
        magnitude=record["magnitude"],
        axis_au=record["axis_au"],
        eccentricity=record["eccentricity"],
        inclination=record["inclination"],
        hazardous=record["hazardous"],
        sentry=record.get("sentry", False),
        orbit_determined=_determined(number),
        passages=_passages(record),
    )


def _passages(record: tables.Record) -> list[Passage]:
    """The famous passages and, well away from them in time, seeded ones."""
    known = [
        Passage(datetime.fromisoformat(entry["time"]), entry["distance_km"], entry["speed_km_h"], known=True)
        for entry in record.get("approaches", ())
    ]
    draws = noise.generator_of("passages", record["number"])
    every = timedelta(days=365.25 * min(9.0, max(1.1, 1 / abs(1 - record["axis_au"] ** -1.5))))
    nearest = 0.03 if record["hazardous"] else 0.09
    usual = _speed(record["axis_au"], record["eccentricity"], record["inclination"])
    moment = _FIRST_NUMBERED + every * draws.random()
    found = []
    while moment.date() <= LAST:
        passed = (moment + every * draws.uniform(-0.2, 0.2)).replace(second=0, microsecond=0)
        distance = min(0.5, nearest * math.exp(abs(draws.gauss(0, 1))))
        speed = usual * draws.uniform(0.9, 1.1)
        if passed.date() <= LAST and all(abs(passed - other.time) > every / 2 for other in known):
            found.append(Passage(passed, distance * _AU_KM, speed))
        moment += every
    return sorted([*known, *found], key=lambda passage: passage.time)


@lru_cache(maxsize=512)
def _small(day: date, slot: int) -> Asteroid:
    """A small object whose passage on a day is what it is known for."""
    number = (day - FIRST).days * _SLOTS + slot
    key = ("small asteroid", number)
    magnitude = round(22 + 7 * noise.fraction(*key, "size") ** 0.8, 2)
    axis = round(0.85 + 1.9 * noise.fraction(*key, "axis") ** 1.6, 4)
    eccentricity = round(max(abs(1 - 1 / axis), 0.02) + 0.35 * noise.fraction(*key, "eccentricity"), 4)
    inclination = round(0.5 + 22 * noise.fraction(*key, "inclination") ** 2, 3)
    distance = math.exp(noise.between(math.log(0.0009), math.log(0.48), *key, "distance")) * _AU_KM
    passed = datetime.combine(day, time(), UTC) + timedelta(minutes=noise.integer(0, 1439, *key, "time"))
    speed = _speed(axis, eccentricity, inclination) * noise.between(0.9, 1.1, *key, "speed")
    designation = _designation(day, slot)
    return Asteroid(
        id=str(_SMALL_IDS + number),
        name=f"({designation})",
        designation=designation,
        magnitude=magnitude,
        axis_au=axis,
        eccentricity=min(0.9, eccentricity),
        inclination=inclination,
        hazardous=False,
        sentry=False,
        orbit_determined=_determined(_SMALL_IDS + number),
        passages=[Passage(passed, distance, speed)],
    )


def _count(day: date) -> int:
    return noise.integer(5, 13, "small asteroids", day.isoformat())


def _designation(day: date, slot: int) -> str:
    """The provisional designation: from the weeks of the passage when that was watched, else from another year."""
    if date(2016, 1, 1) <= day <= clock.NOW.date():
        year, half = day.year, (day.month - 1) * 2 + (day.day > 15)
        # Spread over the half month's 256 places, so that one day's finds do not follow one another.
        order = ((day.day - 1 - 15 * (day.day > 15)) * _SLOTS + slot) * 97 % 256
    else:
        key = ("designation", day.isoformat(), slot)
        year, half = noise.integer(1998, 2015, *key, "year"), noise.integer(0, 23, *key, "half")
        order = noise.integer(0, 399, *key, "order")
    return f"{year} {_LETTERS[half]}{_LETTERS[order % 25]}{_SMALL_CYCLES + order // 25}"


def _speed(axis: float, eccentricity: float, inclination: float) -> float:
    """Speed relative to the Earth in kilometres per hour: grows with the shape and tilt of the orbit."""
    across = 29.8 * 2 * math.sin(math.radians(inclination) / 2)
    along = 29.8 * abs(math.sqrt(max(0.1, 2 - 1 / axis)) - 1) + 16 * eccentricity
    return 3600 * math.hypot(across, along)


def _determined(number: int) -> str:
    minutes = noise.integer(0, 900_000, "orbit determined", number)
    return f"{clock.NOW - timedelta(minutes=minutes):%Y-%m-%d %H:%M}:{minutes % 60:02d}"
