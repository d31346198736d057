"""Coronal mass ejections: those that go with flares, those behind known storms, and the many others."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from random import Random

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.sun.events import FIRST, LAST, Ejection, Flare, moment
from m3bench.sandboxes.world.sun.flares import place, position

_CADENCE_MINUTES = 12
"""Coronagraph pictures come this often; an ejection starts with the first that shows it."""
_RATES = {2024: 3.0, 2025: 2.6}
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
"""Before, the last of the views was not to be had."""
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
        for _ in range(round(draws.gauss(_RATES[day.year], 1.0))):
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
