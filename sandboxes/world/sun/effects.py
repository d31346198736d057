"""What flares and ejections do: energetic particles, shocks, storms, crossings of the magnetopause, radiation belts.

High speed streams come from coronal holes that turn with the Sun and return about every 27 days.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.sun.events import FIRST, LAST, Ejection, Event, Flare, Storm, moment
from m3bench.sandboxes.world.sun.flares import position

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

    particles: list[Event]
    shocks: list[Event]
    storms: list[Storm]
    crossings: list[Event]
    belts: list[Event]
    streams: list[Event]


def effects(flares: Sequence[Flare], ejections: Sequence[Ejection]) -> Effects:
    """Everything that followed from the flares and ejections."""
    streams = list(_streams())
    shocks = list(_shocks(ejections))
    known = list(_known_storms(ejections, streams, shocks))
    storms = sorted([*known, *_ordinary_storms([*shocks, *streams], known)], key=lambda storm: storm.start)
    particles = list(_particles(flares))
    crossings = list(_crossings(storms))
    belts = list(_belts(storms, streams))
    everything: list[list[Event]] = [particles, shocks, crossings, belts, streams]
    for events in everything:
        events.sort(key=lambda event: event.start)
    return Effects(particles, shocks, storms, crossings, belts, streams)


def is_facing(ejection: Ejection) -> bool:
    """Whether an ejection comes towards the Earth fast enough to matter."""
    near = abs(ejection.lng) < _FACING_DEGREES and abs(ejection.lat) < _FACING_DEGREES
    return near and ejection.speed >= _GEOEFFECTIVE_KM_S


def _streams() -> Iterator[Event]:
    for rotation in range(26):
        for hole, (day, share) in enumerate(_HOLES):
            drift = noise.between(-1.2, 1.2, "stream drift", rotation, hole)
            start = datetime.combine(FIRST, time(), UTC) + timedelta(days=rotation * _ROTATION_DAYS + day + drift)
            if start.date() < LAST and noise.fraction("stream", rotation, hole) < share:
                yield Event(kind="HSS", start=start.replace(second=0, microsecond=0))


def _shocks(ejections: Sequence[Ejection]) -> Iterator[Event]:
    for ejection in ejections:
        if not is_facing(ejection) or noise.fraction("arrives", ejection.start.isoformat()) > 0.5:
            continue
        late = noise.between(-5, 8, "late", ejection.start.isoformat())
        start = ejection.arrival + timedelta(hours=late)
        if start.date() < LAST:
            shock = Event(kind="IPS", start=start.replace(second=0, microsecond=0), location="Earth")
            shock.link(ejection)
            yield shock


def _known_storms(ejections: Sequence[Ejection], streams: list[Event], shocks: list[Event]) -> Iterator[Storm]:
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
                    shock = Event(kind="IPS", start=storm.start, location="Earth")
                    shock.link(ejection)
                    shocks.append(shock)
                shock.start = storm.start - timedelta(
                    minutes=noise.integer(35, 170, "shock before storm", record["start"])
                )
                shock.link(storm)
        else:
            early = timedelta(hours=noise.integer(3, 9, "stream", record["start"]))
            stream = Event(kind="HSS", start=storm.start - early)
            streams.append(stream)
            stream.link(storm)
        yield storm


def _ordinary_storms(causes: Sequence[Event], known: Sequence[Storm]) -> Iterator[Storm]:
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


def _particles(flares: Sequence[Flare]) -> Iterator[Event]:
    for flare in flares:
        _, lng = position(flare.location)
        western = lng > 15
        share = 0.0 if flare.strength < 40 else 0.65 if western else 0.25
        ejection = next((event for event in flare.links if isinstance(event, Ejection)), None)
        if ejection is None or noise.fraction("particles", flare.peak.isoformat()) >= share:
            continue
        delay = noise.integer(35, 90, "particle delay", flare.peak.isoformat()) * (1 if western else 4)
        event = Event(kind="SEP", start=flare.peak + timedelta(minutes=delay))
        event.link(flare)
        event.link(ejection)
        yield event


def _crossings(storms: Sequence[Storm]) -> Iterator[Event]:
    for storm in storms:
        if max(storm.kp) >= 7:
            later = noise.integer(10, 150, "crossing", storm.start.isoformat())
            crossing = Event(kind="MPC", start=storm.start + timedelta(minutes=later))
            crossing.link(storm)
            for cause in [event for event in storm.links if event.kind in ("IPS", "CME", "HSS")]:
                crossing.link(cause)
            yield crossing


def _belts(storms: Sequence[Storm], streams: Sequence[Event]) -> Iterator[Event]:
    for cause in (*storms, *streams):
        key = f"{cause.kind} {cause.start.isoformat()}"
        doubled = cause.kind == "HSS" and any(event.kind == "GST" for event in cause.links)
        if doubled or noise.fraction("belts fill", key) >= 0.45:
            continue
        start = cause.start + timedelta(hours=noise.integer(20, 50, "belts", key))
        start = start.replace(minute=noise.integer(0, 11, "belts minute", key) * 5)
        if start.date() < LAST:
            enhancement = Event(kind="RBE", start=start)
            enhancement.link(cause)
            yield enhancement
