"""Time zones: which one holds at a point, and what it is called.

On land and near the coast it is the zone of the nearest settlement, but for pockets and islands where that has another;
out at sea the nautical zone by longitude.
"""

from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from m3bench.sandboxes.world import geo, settlements, tables
from m3bench.sandboxes.world.geo import Point

COAST_M = 350_000.0


def zone_at(point: Point) -> str:
    """The name of the zone in the time zone database."""
    for pocket in tables.load("zone_pockets"):
        if pocket["south"] <= point.lat <= pocket["north"] and pocket["west"] <= point.lng <= pocket["east"]:
            return str(pocket["zone"])
    place = settlements.around(point, 1)[0]
    if geo.distance(point, place.point) <= COAST_M or point.lat < -60:
        return place.zone
    hours = round(point.lng / 15)
    return "Etc/GMT" if hours == 0 else f"Etc/GMT{-hours:+d}"


def offsets(zone: str, when: datetime) -> tuple[int, int]:
    """Seconds of standard offset from UTC and of daylight saving at a moment."""
    local = when.astimezone(ZoneInfo(zone))
    saving = int((local.dst() or timedelta()).total_seconds())
    return int((local.utcoffset() or timedelta()).total_seconds()) - saving, saving


def name(zone: str, standard: int, saving: int) -> str:
    """What the zone is called in English, given its `offsets`."""
    names = _names().get(zone)
    if names:
        return names[1 if saving else 0]
    seconds = standard + saving
    sign = "-" if seconds < 0 else "+"
    return (
        f"GMT{sign}{abs(seconds) // 3600:02d}:{abs(seconds) // 60 % 60:02d}"
        if seconds
        else "Coordinated Universal Time"
    )


@cache
def _names() -> dict[str, tuple[str, str]]:
    return {record["id"]: (record["standard"], record["daylight"]) for record in tables.load("zones")}
