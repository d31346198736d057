"""Near-Earth asteroids: what passes in a week, one asteroid, the catalogue."""

import re
from datetime import timedelta

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, api_error, day_of, server
from m3bench.sandboxes.world.asteroids import Asteroid, Passage, find, numbered, passing

_SPK_ID = re.compile(r"[1235]\d{6,8}")
_MOST_DAYS = 7
_PAGE = 20
_SHOWN = 10
_SHOWN_PASSAGES = 5


@server.tool
async def get_asteroids_feed(start_date: str, end_date: str | None = None) -> str:
    start = day_of(start_date, "start_date")
    end = day_of(end_date, "end_date") if end_date else start + timedelta(days=_MOST_DAYS)
    if not timedelta() <= end - start <= timedelta(days=_MOST_DAYS):
        raise api_error(400, {"code": 400, "error_message": "end_date must be 0 to 7 days after start_date"})
    days = [start + timedelta(days=number) for number in range((end - start).days + 1)]
    found = {day: passing(day) for day in days}
    lines = [f"Total asteroids found: {sum(map(len, found.values()))}"]
    for day, entries in found.items():
        lines += ["", f"Date: {day}", f"Number of asteroids: {len(entries)}"]
        for asteroid, passage in entries:
            smallest, largest = asteroid.diameters_km
            lines += [
                "",
                f"  ID: {asteroid.id}",
                f"  Name: {asteroid.name}",
                f"  Estimated diameter (min): {smallest:.10f} km",
                f"  Estimated diameter (max): {largest:.10f} km",
                f"  Potentially hazardous: {_yes(asteroid.hazardous)}",
                f"  Approach date: {_moment(passage)}",
                f"  Distance (km): {passage.distance_km:.6f}",
                f"  Relative velocity (km/h): {passage.speed_km_h:.6f}",
                *_synthetic(asteroid, passage),
            ]
    return covered("\n".join(lines), any(found.values()))


@server.tool
async def get_asteroid_lookup(asteroid_id: str) -> str:
    asteroid = find(asteroid_id.strip())
    if asteroid is None:
        problem = f"no asteroid of SPK-ID {asteroid_id!r} is known; browse_asteroids shows known ones"
        raise api_error(404, problem, possible=_SPK_ID.fullmatch(asteroid_id.strip()) is not None)
    smallest, largest = asteroid.diameters_km
    lines = [
        f"ID: {asteroid.id}",
        f"Name: {asteroid.name}",
        f"Designation: {asteroid.designation}",
        f"NASA JPL URL: https://ssd.jpl.nasa.gov/tools/sbdb_lookup.html#/?sstr={asteroid.id}",
        f"Absolute magnitude: {asteroid.magnitude}",
        "",
        "Estimated diameter:",
        f"  Minimum (km): {smallest:.10f}",
        f"  Maximum (km): {largest:.10f}",
        "",
        f"Potentially hazardous: {_yes(asteroid.hazardous)}",
        f"Sentry Object: {_yes(asteroid.sentry)}",
        "",
        "Close approaches:",
    ]
    for number, passage in enumerate(asteroid.passages[:_SHOWN_PASSAGES], 1):
        lines += [
            "",
            f"  Approach {number}:",
            f"  Date: {_moment(passage)}",
            "  Orbiting body: Earth",
            f"  Distance (km): {passage.distance_km:.6f}",
            f"  Relative velocity (km/h): {passage.speed_km_h:.6f}",
            *_synthetic(asteroid, passage),
        ]
    if len(asteroid.passages) > _SHOWN_PASSAGES:
        lines += ["", f"  ... and {len(asteroid.passages) - _SHOWN_PASSAGES} more approaches."]
    lines += [
        "",
        "Orbital data:",
        f"  Orbit determination date: {asteroid.orbit_determined}",
        f"  Semi-major axis: {asteroid.axis_au} AU",
        f"  Eccentricity: {asteroid.eccentricity}",
        f"  Inclination: {asteroid.inclination} degrees",
        f"  Orbital period: {asteroid.period_days:.4f} days",
    ]
    return "\n".join(lines)


@server.tool
async def browse_asteroids() -> str:
    known = numbered()
    page = known[:_PAGE]
    lines = [f"Page 0 of {-(-len(known) // _PAGE)}", f"Total elements: {len(known)}", ""]
    for asteroid in page[:_SHOWN]:
        lines += [*_basics(asteroid), RULE]
    return "\n".join([*lines, "", f"... and {len(page) - _SHOWN} more asteroids on this page."])


def _basics(asteroid: Asteroid) -> list[str]:
    smallest, largest = asteroid.diameters_km
    return [
        f"ID: {asteroid.id}",
        f"Name: {asteroid.name}",
        f"Absolute magnitude: {asteroid.magnitude}",
        f"Estimated diameter (min): {smallest:.10f} km",
        f"Estimated diameter (max): {largest:.10f} km",
        f"Potentially hazardous: {_yes(asteroid.hazardous)}",
    ]


def _synthetic(asteroid: Asteroid, passage: Passage) -> list[str]:
    """The line that names what is made up, where something is."""
    if passage.known:
        return []
    return [f"  Synthetic: {'approach' if asteroid in numbered() else 'object and approach'}"]


def _moment(passage: Passage) -> str:
    return f"{passage.time:%Y-%b-%d %H:%M}"


def _yes(value: bool) -> str:
    return "Yes" if value else "No"
