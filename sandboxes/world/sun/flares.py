"""Flares: the well-known ones, and ordinary ones of class M and high C from regions that cross the disk."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from random import Random

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.sun.events import FIRST, LAST, Flare, moment

_RATES = {
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
        expected = _RATES[day.year][day.month - 1]
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
