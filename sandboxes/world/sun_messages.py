"""What was published about events on the Sun: notifications, weekly reports, and runs of a solar wind model.

Everything worth a warning has a notification, and every Wednesday a report. A model run (WSA-ENLIL) says where and when
ejections are expected, and is computed some hours after they were seen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.sun import (
    FIRST,
    LAST,
    Ejection,
    Flare,
    Kind,
    SolarEvent,
    Storm,
    is_facing,
    minute,
    record,
    speed_class,
)

_ALERTED_FLARE = 50.0
"""Flares of M5 and more are told."""
_TOLD: tuple[Kind, ...] = ("FLR", "CME", "SEP", "IPS", "GST", "MPC", "RBE")
_TITLES = {
    "SEP": "Solar Energetic Particle Event",
    "IPS": "Interplanetary Shock",
    "MPC": "Magnetopause Crossing",
    "RBE": "Radiation Belt Enhancement",
}
_SENTENCES = {
    "SEP": "Solar energetic particles above 10 MeV passed 10 pfu at GOES beginning at {time}.",
    "IPS": "The arrival of an interplanetary shock was detected at L1 at {time}.",
    "MPC": "Strong compression of the magnetosphere put the magnetopause inside geosynchronous orbit at {time}.",
    "RBE": "Electrons above 2 MeV at geosynchronous orbit rose over 1000 pfu at {time}.",
}
_REPORT_DAYS = 7


@dataclass(frozen=True)
class Notification:
    """One message."""

    id: str
    kind: str
    issued: datetime
    header: str
    body: str
    about: Sequence[str]
    """Ids of the events it tells of."""


@cache
def messages() -> Sequence[Notification]:
    """Every message, the oldest first."""
    drafts = sorted([*_alerts(), *_reports()], key=lambda draft: (draft.issued, draft.kind))
    used: Counter[str] = Counter()
    numbered = []
    for draft in drafts:
        stem = f"{draft.issued:%Y%m%d}-{'7D' if draft.kind == 'Report' else 'AL'}"
        used[stem] += 1
        number = f"{stem}-{used[stem]:03d}"
        numbered.append(Notification(number, draft.kind, draft.issued, draft.header, draft.body, draft.about))
    return numbered


def _alerts() -> Iterator[Notification]:
    for kind in _TOLD:
        for event in record().kinds[kind]:
            if not _is_told(event):
                continue
            issued = event.start + timedelta(minutes=noise.integer(35, 200, "issued", event.id))
            if issued.date() < LAST:
                title, text = _text(event)
                known = [other.id for other in event.links if other.start <= issued]
                related = f" Related events: {', '.join(sorted(known))}." if known else ""
                body = f"{text} Activity ID: {event.id}.{related}"
                yield Notification("", kind, issued, f"Space Weather Notification - {title}", body, [event.id])


def _is_told(event: SolarEvent) -> bool:
    if isinstance(event, Flare):
        return event.strength >= _ALERTED_FLARE
    if isinstance(event, Ejection):
        return is_facing(event) or speed_class(event.speed) not in "SC"
    return True


def _text(event: SolarEvent) -> tuple[str, str]:
    if isinstance(event, Flare):
        return (
            f"{event.size[0]}-class Flare",
            f"Flare of class {event.size} from active region {event.region} ({event.location}): "
            f"start {minute(event.start)}, peak {minute(event.peak)}, end {minute(event.end)}.",
        )
    if isinstance(event, Ejection):
        letter = speed_class(event.speed)
        told = (
            f"{letter}-type coronal mass ejection seen from {minute(event.start)}: about {event.speed} km/s, "
            f"half-angle {event.half_angle} degrees, direction {event.lng:.0f}/{event.lat:.0f} (longitude/latitude)."
        )
        expected = f" It may reach the Earth about {minute(event.arrival)}." if is_facing(event) else ""
        return f"CME ({letter}-type)", told + expected
    if isinstance(event, Storm):
        top = max(event.kp)
        return (
            f"Geomagnetic Storm (Kp {top:g})",
            f"Geomagnetic storm since {minute(event.start)}: the planetary Kp index reached {top:g}, which may expand "
            "the aurora and disturb spacecraft.",
        )
    return _TITLES[event.kind], _SENTENCES[event.kind].format(time=minute(event.start))


def _reports() -> Iterator[Notification]:
    day = FIRST + timedelta(days=(2 - FIRST.weekday()) % 7)
    while day < LAST:
        end = datetime.combine(day, time(), UTC)
        if day - timedelta(days=_REPORT_DAYS) >= FIRST:
            yield _report(end - timedelta(days=_REPORT_DAYS), end)
        day += timedelta(days=7)


def _report(start: datetime, end: datetime) -> Notification:
    during = {kind: record().between(kind, start, end) for kind in _TOLD}
    flares = [flare for flare in during["FLR"] if isinstance(flare, Flare)]
    large = [flare for flare in flares if flare.strength >= _ALERTED_FLARE]
    biggest = max(flares, key=lambda flare: flare.strength, default=None)
    lines = [
        f"Summary of space weather from {start:%Y-%m-%d} to {end:%Y-%m-%d}.",
        f"Flares of class M5 and above: {len(large)}."
        + (f" The largest flare was {biggest.size} at {minute(biggest.peak)}." if biggest else ""),
        f"Coronal mass ejections: {len(during['CME'])}. Geomagnetic storms: {len(during['GST'])}.",
        f"Particle events: {len(during['SEP'])}. Shocks at L1: {len(during['IPS'])}.",
    ]
    about = [event.id for kind in ("FLR", "GST") for event in during[kind] if _is_told(event)]
    issued = end + timedelta(minutes=noise.integer(14 * 60, 20 * 60, "report", end.isoformat()))
    return Notification("", "Report", issued, "Space Weather Summary Report", "\n".join(lines), about)


_FIRST_RUN = 28_500
_TARGETS = (("Mars", 1.52, 20), ("STEREO A", 0.96, 25), ("Solar Orbiter", 0.7, 120), ("BepiColombo", 0.45, 160))
"""Name, distance in astronomical units and how many degrees west of the Earth it stands (roughly)."""


@dataclass(frozen=True)
class Impact:
    """An expected arrival."""

    location: str
    arrival: datetime


@dataclass(frozen=True)
class ModelRun:
    """One run of the model."""

    id: str
    completed: datetime
    ejection: Ejection
    impacts: Sequence[Impact]


@cache
def runs() -> Sequence[ModelRun]:
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
        ModelRun(f"WSA-ENLIL/{_FIRST_RUN + 2 * number}/1", completed, event, _impacts(event))
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
