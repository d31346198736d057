"""Distances and times as the services say them."""

from m3bench.sandboxes.servers.google_maps.reverse import reverse
from m3bench.sandboxes.world import settlements
from m3bench.sandboxes.world.geo import Point

MILE_COUNTRIES = frozenset(("US", "GB", "LR", "MM"))


def in_miles(point: Point) -> bool:
    """Whether people at a point measure in miles."""
    place = settlements.nearest(point, 400_000)
    return place is not None and place.country in MILE_COUNTRIES


def distance_text(metres: float, miles: bool) -> str:
    """`1.2 km`, `350 m`, `0.7 mi`, `420 ft`."""
    if miles:
        feet = metres / 0.3048
        return f"{round(feet)} ft" if feet < 528 else _short(metres / 1609.344, "mi")
    return f"{round(metres)} m" if metres < 1000 else _short(metres / 1000, "km")


def duration_text(seconds: int) -> str:
    """`1 min`, `25 mins`, `2 hours 5 mins`, `1 day 3 hours`."""
    minutes = max(1, round(seconds / 60))
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    if days:
        parts = [_count(days, "day"), _count(hours, "hour") if hours else ""]
    else:
        parts = [_count(hours, "hour") if hours else "", _count(minutes, "min") if minutes or not hours else ""]
    return " ".join(part for part in parts if part)


def place_text(point: Point) -> str:
    """The address of a position, or its coordinates where there is none."""
    found = reverse(point)
    return found[0].address if found else f"{point.lat:.6f},{point.lng:.6f}"


def _short(value: float, unit: str) -> str:
    return f"{value:.1f} {unit}" if value < 100 else f"{round(value):,} {unit}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
