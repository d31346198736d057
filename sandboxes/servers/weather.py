"""The `weather` server: the weather of the world's instant for a ZIP code or a city, in one sentence.

A ZIP code is looked up first, then the town before the first comma; a US state after it narrows the choice, any
other ending is dropped unless it is the country of a town of that name.
"""

import re

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import postcodes, settlements
from m3bench.sandboxes.world.climate import Weather
from m3bench.sandboxes.world.climate import weather as weather_at
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.search import fold
from m3bench.sandboxes.world.settlements import Settlement, states
from m3bench.tasks.errors import ToolError

server = ToolServer("weather")

KM_PER_MILE = 1.609344
_ZIP = re.compile(r"\s*(\d{5})(?:-\d{4})?\s*")


@server.tool
def get_weather(location: str, units: str = "us") -> str:
    place, point = _resolve(location)
    return _sentence(place, weather_at(point, NOW), metric=units == "metric")


def _sentence(place: str, now: Weather, *, metric: bool) -> str:
    if metric:
        warmth, wind = f"{now.celsius:.1f}°C", f"{now.wind_kmh:.1f} km/h"
    else:
        warmth, wind = f"{now.celsius * 1.8 + 32:.1f}°F", f"{now.wind_kmh / KM_PER_MILE:.1f} mph"
    return f"Current weather in {place}: {warmth}, wind {wind}, code {now.code}."


def _resolve(location: str) -> tuple[str, Point]:
    """What to call the place, and where it is."""
    code = _ZIP.fullmatch(location)
    if code:
        entry = postcodes.zip_entry(code[1])
        if entry:
            return f"{entry.town}, {entry.state} {entry.code}", entry.point
        raise _unknown(location)
    name, _, ending = (part.strip() for part in location.partition(","))
    state = _state(ending.split(",")[0].strip())
    town = _town(name, ending, state)
    if town is not None:
        return _called(town), town.point
    if state:
        entry = postcodes.post_town(name, state)
        if entry:
            return f"{entry.town}, {entry.state}", entry.point
    raise _unknown(location)


def _town(name: str, ending: str, state: str | None) -> Settlement | None:
    if not name:
        return None
    if state:
        return settlements.exact(name, "US", state) or next(
            iter(settlements.find(name, 1, country="US", region=state)), None
        )
    country = settlements.country_names().get(fold(ending)) or (
        ending.upper() if ending.upper() in settlements.countries() else None
    )
    if country:
        inside = settlements.exact(name, country) or next(iter(settlements.find(name, 1, country=country)), None)
        if inside:
            return inside
    return settlements.exact(name) or next(iter(settlements.find(name, 1)), None)


def _state(text: str) -> str | None:
    text = re.sub(r"\s*\d{5}(-\d{4})?$", "", text).replace(".", "")
    for short, long in states("US").items():
        if text.upper() == short or fold(text) == fold(long):
            return short
    return None


def _called(town: Settlement) -> str:
    if town.country == "US":
        return f"{town.name}, {town.region}"
    return f"{town.name}, {settlements.countries()[town.country].name}"


def _unknown(location: str) -> ToolError:
    code = _ZIP.fullmatch(location)
    possible = "00501" <= code[1] <= "99950" if code else any(character.isalpha() for character in location)
    return ToolError(f"Geocoding failed for '{location}'", outcome="gap" if possible else "not_found")
