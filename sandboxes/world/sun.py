"""The Sun in 2024 and 2025: flares, coronal mass ejections and what they do to the Earth, as one coherent record.

Well-known events are true and come from tables; the ordinary ones between them are seeded at the rates of those
months. Every effect has its cause in the record, and both name each other. Flares come from regions that cross the
disk; ejections go with flares, stand behind known storms, or are among the many others. Effects are energetic
particles, shocks, storms, crossings of the magnetopause and radiation belts; high speed streams come from coronal
holes that turn with the Sun and return about every 27 days.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import chain
from random import Random
from typing import Literal, NamedTuple

from m3bench.sandboxes.world import clock, noise, tables

Kind = Literal["FLR", "CME", "SEP", "IPS", "GST", "MPC", "RBE", "HSS"]

FIRST = date(2024, 1, 1)
LAST = clock.NOW.date()


@dataclass(eq=False, kw_only=True)
class SolarEvent:
    """One event. Its id is known when the record is complete."""

    kind: Kind
    start: datetime
    location: str = ""
    """Place on the solar disk such as N16E63; empty when there is none or it was not seen."""
    note: str = ""
    links: list["SolarEvent"] = field(default_factory=list)
    id: str = ""
    number: int = 0
    """What the event's page is called."""

    def link(self, other: "SolarEvent") -> None:
        """Say that two events belong together."""
        if other not in self.links:
            self.links.append(other)
            other.links.append(self)

    @property
    def related(self) -> list[str]:
        """Ids of the linked events, in order of time."""
        return [event.id for event in sorted(self.links, key=lambda event: (event.start, event.id))]


@dataclass(eq=False, kw_only=True)
class Flare(SolarEvent):
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
class Ejection(SolarEvent):
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
class Storm(SolarEvent):
    """A geomagnetic storm with the Kp index of each three hours from its start."""

    kp: Sequence[float]


_OUTWARD_KM = 20.5 * 695_700


def moment(text: str) -> datetime:
    """A time of the tables, such as 2025-01-03T11:39Z."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)


def minute(time: datetime) -> str:
    """A time as the record writes it."""
    return f"{time:%Y-%m-%dT%H:%MZ}"


_FLARE_RATES = {
    2024: (2.0, 2.4, 2.0, 2.6, 4.6, 2.4, 3.2, 4.4, 2.6, 3.4, 2.6, 3.0),
    2025: (2.6, 2.4, 1.5, 1.5, 1.8, 1.8, 0.5, 1.8, 1.1, 1.6, 0.0, 0.0),
}
"""Ordinary flares a day, by month."""
_LARGEST = 4.9
"""Ordinary flares are smaller than M5: what is larger is known."""
_FIRST_REGION, _REGIONS_A_DAY = 13_536, 1.12
_DEGREES_A_DAY = 13.2
_DAYS_ON_DISK = 14


def flares() -> list[Flare]:
    """Every flare, in order of time."""
    known = [
        _flare(
            moment(record["peak"]),
            record["class"],
            record["region"],
            record["location"],
            noise.generator_of("flare", record["peak"]),
        )
        for record in tables.load("solar_flares")
    ]
    taken = {flare.peak.replace(minute=0) for flare in known}
    ordinary = [flare for flare in _ordinary() if flare.peak.replace(minute=0) not in taken]
    return sorted([*known, *ordinary], key=lambda flare: flare.start)


def _ordinary() -> Iterator[Flare]:
    day = FIRST
    while day < LAST:
        draws = noise.generator_of("flares", day.isoformat())
        expected = _FLARE_RATES[day.year][day.month - 1]
        chance, count = draws.random(), 0
        # A count with the given mean: as many exponential waits as fit into the day.
        waited = draws.expovariate(expected) if expected else 2.0
        while waited < 1:
            count += 1
            waited += draws.expovariate(expected)
        for number in range(count):
            peak = datetime.combine(day, time(), UTC) + timedelta(minutes=draws.randrange(24 * 60))
            size = 1 + (draws.paretovariate(1.4) - 1) % (_LARGEST - 1)
            named = f"C{7 + 2.9 * draws.random():.1f}" if number == 0 and chance < 0.25 else f"M{size:.1f}"
            region, location = _region(peak, draws.randrange(_DAYS_ON_DISK))
            yield _flare(peak, named, region, location, draws)
        day += timedelta(days=1)


def _region(peak: datetime, days_ago: int) -> tuple[int, str]:
    """The active region that came over the limb so many days ago, and where it stands now."""
    appeared = peak.date() - timedelta(days=days_ago)
    number = _FIRST_REGION + int((appeared - FIRST).days * _REGIONS_A_DAY)
    lat = noise.pick((-1, 1), "region side", number) * noise.integer(5, 27, "region latitude", number)
    edge = datetime.combine(appeared, time(), UTC)
    lng = -88 + (peak - edge) / timedelta(days=1) * _DEGREES_A_DAY
    return number, place(lat, min(89, round(lng)))


def _flare(peak: datetime, size: str, region: int, location: str, draws: Random) -> Flare:
    slow = 2 if size[0] == "X" else 1
    return Flare(
        kind="FLR",
        start=peak - timedelta(minutes=draws.randint(5, 14 * slow)),
        peak=peak,
        end=peak + timedelta(minutes=draws.randint(5, 18 * slow)),
        size=size,
        region=region,
        location=location,
    )


def place(lat: float, lng: float) -> str:
    """A place on the disk as observers write it: N16E63. East is where regions appear."""
    north = "N" if lat >= 0 else "S"
    east = "W" if lng > 0 else "E"
    return f"{north}{abs(round(lat)):02d}{east}{abs(round(lng)):02d}"


def position(location: str) -> tuple[int, int]:
    """Latitude and longitude of a written place, west positive."""
    lat, lng = int(location[1:3]), int(location[4:])
    return lat if location[0] == "N" else -lat, lng if location[3] == "W" else -lng


_CADENCE_MINUTES = 12
"""Coronagraph pictures come this often; an ejection starts with the first that shows it."""
_EJECTION_RATES = {2024: 3.0, 2025: 2.6}
"""Ejections a day that go with no flare."""
_SHARES = {"X": 0.85, "M": 0.28, "C": 0.08}
"""How often a flare of a class goes with an ejection."""
_CERTAIN = 15.0
"""Flares of M1.5 and more have twice the share."""
_ON_DISK = (
    "The source was most likely a filament eruption",
    "A faint dimming in the extreme ultraviolet marks where it came from",
    "Post-eruptive arcades rise soon after",
    "Field lines open over a quiet part of the disk",
)
_ON_LIMB = (
    "Opening field lines at the limb betray the source",
    "Moving loops on the limb precede it",
    "A prominence lifts off the limb shortly before",
)
_UNSEEN = (
    "No source is visible on the Earth-facing disk, so it probably comes from the far side",
    "The eruption seems to lie well behind the limb",
    "Nothing on the visible disk explains it",
)
_VIEWS = (
    "in the SOHO LASCO coronagraphs",
    "by SOHO LASCO C2 and C3 and by STEREO A COR2",
    "in STEREO A COR2 and faintly in SOHO LASCO C3",
    "in GOES CCOR-1 and SOHO LASCO C2",
)
_NEW_VIEW = datetime(2025, 3, 1, tzinfo=UTC)
"""Before this moment the last of the views was not available."""
_LIMB_DEGREES = 65


def ejections(flares: Sequence[Flare]) -> list[Ejection]:
    """Every ejection, in order of time, linked to its flare where there is one."""
    by_peak = {flare.peak: flare for flare in flares}
    found: list[Ejection] = []
    behind: set[Flare] = set()
    for storm in tables.load("geomagnetic_storms"):
        if "ejection_km_s" in storm:
            flare = by_peak.get(moment(storm["flare_peak"])) if "flare_peak" in storm else None
            start = flare.peak if flare else moment(storm["start"]) - timedelta(hours=70)
            if start.date() >= FIRST:
                found.append(_of_flare(flare, storm["ejection_km_s"]) if flare else _towards(start, storm))
                behind |= {flare} if flare else set()
    for flare in flares:
        share = _SHARES[flare.size[0]] * (2 if flare.size[0] == "M" and flare.strength >= _CERTAIN else 1)
        if flare not in behind and noise.fraction("flare ejects", flare.peak.isoformat()) < share:
            found.append(_of_flare(flare, _speed(flare)))
    found += _others()
    return sorted(found, key=lambda ejection: ejection.start)


def _of_flare(flare: Flare, speed: int) -> Ejection:
    draws = noise.generator_of("ejection", flare.peak.isoformat())
    lat, lng = position(flare.location)
    start = _seen(flare.peak + timedelta(minutes=draws.randint(4, 30)))
    note = (
        f"Seen to the {_side(lat, lng)} {draws.choice(_views(start))}. It goes with the {flare.size} flare "
        f"of active region {flare.region} that peaked at {flare.peak:%H:%M} UT."
    )
    ejection = _ejection(start, flare.location, note, speed, (lat, lng), draws)
    ejection.link(flare)
    return ejection


def _towards(start: datetime, storm: tables.Record) -> Ejection:
    """The eruption without a flare that a known storm goes back to."""
    draws = noise.generator_of("filament", start.isoformat())
    lat, lng = draws.randint(-18, 18), draws.randint(-12, 12)
    note = (
        f"A partial halo {draws.choice(_views(start))}. A large filament near the centre of the disk "
        "lifted off in the hours before."
    )
    return _ejection(_seen(start), place(lat, lng), note, storm["ejection_km_s"], (lat, lng), draws)


def _others() -> Iterator[Ejection]:
    day = FIRST
    while day < LAST:
        draws = noise.generator_of("ejections", day.isoformat())
        for _ in range(round(draws.gauss(_EJECTION_RATES[day.year], 1.0))):
            start = _seen(datetime.combine(day, time(), UTC) + timedelta(minutes=draws.randrange(24 * 60)))
            speed = int(min(1400, max(140, draws.lognormvariate(5.98, 0.42))))
            lat, lng = draws.gauss(0, 24), draws.uniform(-180, 180)
            visible = abs(lng) < 90
            told = draws.choice(_ON_DISK if abs(lng) < _LIMB_DEGREES else _ON_LIMB if visible else _UNSEEN)
            note = f"Seen to the {_side(lat, lng)} {draws.choice(_views(start))}. {told}."
            yield _ejection(start, place(lat, lng) if visible else "", note, speed, (lat, lng), draws)
        day += timedelta(days=1)


def _ejection(
    start: datetime, location: str, note: str, speed: int, towards: tuple[float, float], draws: Random
) -> Ejection:
    second = int(speed * draws.uniform(0.86, 1.12))
    return Ejection(
        kind="CME",
        start=start,
        location=location,
        note=note,
        speeds=(speed, second) if draws.random() < 0.35 else (speed,),
        lat=towards[0],
        lng=towards[1],
        half_angle=min(80, int(draws.uniform(8, 30) + speed / 60)),
    )


def _speed(flare: Flare) -> int:
    base = {"X": 900, "M": 520, "C": 380}[flare.size[0]] + 1.2 * flare.strength
    return int(base * noise.between(0.65, 1.5, "ejection speed", flare.peak.isoformat()))


def _seen(time_: datetime) -> datetime:
    """The next coronagraph picture."""
    return time_ + timedelta(minutes=-time_.minute % _CADENCE_MINUTES)


def _views(time_: datetime) -> Sequence[str]:
    return _VIEWS if time_ >= _NEW_VIEW else _VIEWS[:-1]


def _side(lat: float, lng: float) -> str:
    """Where around the Sun it shows, as seen from the Earth: east is left."""
    north = "N" if lat > 12 else "S" if lat < -12 else ""
    east = "E" if lng < 0 else "W"
    return north + east if north else east


def speed_class(speed: int) -> str:
    """The letter for a speed: S, C, O, R or ER."""
    bounds = ((500, "S"), (1000, "C"), (2000, "O"), (3000, "R"))
    return next((letter for bound, letter in bounds if speed < bound), "ER")


_ROTATION_DAYS = 27.27
_HOLES = ((3.2, 0.75), (9.8, 0.6), (16.4, 0.85), (22.9, 0.5))
"""Day of the rotation on which a stream of each coronal hole arrives, and how often it does."""
_FACING_DEGREES = 35
_GEOEFFECTIVE_KM_S = 450
_STORM_SHARE = 0.11
"""How often an ordinary shock or stream brings a storm."""
_STORM_APART = timedelta(hours=36)


class Effects(NamedTuple):
    """What followed, each in order of time."""

    particles: list[SolarEvent]
    shocks: list[SolarEvent]
    storms: list[Storm]
    crossings: list[SolarEvent]
    belts: list[SolarEvent]
    streams: list[SolarEvent]


def effects(flares: Sequence[Flare], ejections: Sequence[Ejection]) -> Effects:
    """Everything that followed from the flares and ejections."""
    streams = list(_streams())
    shocks = list(_shocks(ejections))
    known = list(_known_storms(ejections, streams, shocks))
    storms = sorted([*known, *_ordinary_storms([*shocks, *streams], known)], key=lambda storm: storm.start)
    particles = list(_particles(flares))
    crossings = list(_crossings(storms))
    belts = list(_belts(storms, streams))
    everything: list[list[SolarEvent]] = [particles, shocks, crossings, belts, streams]
    for events in everything:
        events.sort(key=lambda event: event.start)
    return Effects(particles, shocks, storms, crossings, belts, streams)


def is_facing(ejection: Ejection) -> bool:
    """Whether an ejection comes towards the Earth fast enough to matter."""
    near = abs(ejection.lng) < _FACING_DEGREES and abs(ejection.lat) < _FACING_DEGREES
    return near and ejection.speed >= _GEOEFFECTIVE_KM_S


def _streams() -> Iterator[SolarEvent]:
    for rotation in range(26):
        for hole, (day, share) in enumerate(_HOLES):
            drift = noise.between(-1.2, 1.2, "stream drift", rotation, hole)
            start = datetime.combine(FIRST, time(), UTC) + timedelta(days=rotation * _ROTATION_DAYS + day + drift)
            if start.date() < LAST and noise.fraction("stream", rotation, hole) < share:
                yield SolarEvent(kind="HSS", start=start.replace(second=0, microsecond=0))


def _shocks(ejections: Sequence[Ejection]) -> Iterator[SolarEvent]:
    for ejection in ejections:
        if not is_facing(ejection) or noise.fraction("arrives", ejection.start.isoformat()) > 0.5:
            continue
        late = noise.between(-5, 8, "late", ejection.start.isoformat())
        start = ejection.arrival + timedelta(hours=late)
        if start.date() < LAST:
            shock = SolarEvent(kind="IPS", start=start.replace(second=0, microsecond=0), location="Earth")
            shock.link(ejection)
            yield shock


def _known_storms(
    ejections: Sequence[Ejection], streams: list[SolarEvent], shocks: list[SolarEvent]
) -> Iterator[Storm]:
    for record in tables.load("geomagnetic_storms"):
        storm = Storm(kind="GST", start=moment(record["start"]), kp=tuple(record["kp"]))
        if "ejection_km_s" in record:
            speed = record["ejection_km_s"]
            days = timedelta(days=6)
            causes = [e for e in ejections if storm.start - days < e.start < storm.start and e.speed == speed]
            for ejection in causes[-1:]:
                storm.link(ejection)
                shock = next((event for event in shocks if ejection in event.links), None)
                if shock is None:
                    shock = SolarEvent(kind="IPS", start=storm.start, location="Earth")
                    shock.link(ejection)
                    shocks.append(shock)
                shock.start = storm.start - timedelta(
                    minutes=noise.integer(35, 170, "shock before storm", record["start"])
                )
                shock.link(storm)
        else:
            early = timedelta(hours=noise.integer(3, 9, "stream", record["start"]))
            stream = SolarEvent(kind="HSS", start=storm.start - early)
            streams.append(stream)
            stream.link(storm)
        yield storm


def _ordinary_storms(causes: Sequence[SolarEvent], known: Sequence[Storm]) -> Iterator[Storm]:
    taken = [storm.start for storm in known]
    for cause in causes:
        key = cause.start.isoformat()
        start = cause.start + timedelta(hours=noise.integer(4, 12, "storm delay", key))
        start = start.replace(hour=start.hour // 3 * 3, minute=0)
        alone = all(abs(start - other) > _STORM_APART for other in taken)
        if not alone or start.date() >= LAST or noise.fraction("storm follows", key) >= _STORM_SHARE:
            continue
        taken.append(start)
        count = noise.integer(1, 2, "storm length", key)
        kp = tuple(noise.pick((6.0, 6.33, 6.67), "kp", key, number) for number in range(count))
        storm = Storm(kind="GST", start=start, kp=kp)
        storm.link(cause)
        yield storm


def _particles(flares: Sequence[Flare]) -> Iterator[SolarEvent]:
    for flare in flares:
        _, lng = position(flare.location)
        western = lng > 15
        share = 0.0 if flare.strength < 40 else 0.65 if western else 0.25
        ejection = next((event for event in flare.links if isinstance(event, Ejection)), None)
        if ejection is None or noise.fraction("particles", flare.peak.isoformat()) >= share:
            continue
        delay = noise.integer(35, 90, "particle delay", flare.peak.isoformat()) * (1 if western else 4)
        event = SolarEvent(kind="SEP", start=flare.peak + timedelta(minutes=delay))
        event.link(flare)
        event.link(ejection)
        yield event


def _crossings(storms: Sequence[Storm]) -> Iterator[SolarEvent]:
    for storm in storms:
        if max(storm.kp) >= 7:
            later = noise.integer(10, 150, "crossing", storm.start.isoformat())
            crossing = SolarEvent(kind="MPC", start=storm.start + timedelta(minutes=later))
            crossing.link(storm)
            for cause in [event for event in storm.links if event.kind in ("IPS", "CME", "HSS")]:
                crossing.link(cause)
            yield crossing


def _belts(storms: Sequence[Storm], streams: Sequence[SolarEvent]) -> Iterator[SolarEvent]:
    for cause in (*storms, *streams):
        key = f"{cause.kind} {cause.start.isoformat()}"
        doubled = cause.kind == "HSS" and any(event.kind == "GST" for event in cause.links)
        if doubled or noise.fraction("belts fill", key) >= 0.45:
            continue
        start = cause.start + timedelta(hours=noise.integer(20, 50, "belts", key))
        start = start.replace(minute=noise.integer(0, 11, "belts minute", key) * 5)
        if start.date() < LAST:
            enhancement = SolarEvent(kind="RBE", start=start)
            enhancement.link(cause)
            yield enhancement


_FIRST_PAGE = 28_200


@dataclass(frozen=True)
class SolarRecord:
    """All events by kind, each kind in order of time."""

    kinds: Mapping[Kind, Sequence[SolarEvent]]

    def between(self, kind: Kind, start: datetime, end: datetime) -> list[SolarEvent]:
        """The events of a kind that start in [start, end)."""
        events = self.kinds[kind]
        first = bisect_left(events, start, key=lambda event: event.start)
        last = bisect_left(events, end, lo=first, key=lambda event: event.start)
        return list(events[first:last])


@cache
def record() -> SolarRecord:
    """The record of 2024 and 2025 up to the world's instant."""
    seen = flares()
    thrown = ejections(seen)
    followed = effects(seen, thrown)
    kinds: dict[Kind, Sequence[SolarEvent]] = {
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
    return SolarRecord(kinds)
