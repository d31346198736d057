"""Plans of a day drawn by hand: locate the places that the way leads to, then find an errand, the parts of the way, or how to go."""

import json
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, hypot, radians
from typing import Any, NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Name, Number
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.sketches import PLACES, SIZE, plan
from m3bench.tasks.task import ReferenceCall

_ENDS = (
    "hotel",
    "museum",
    "train_station",
    "library",
    "university",
    "park",
    "hospital",
    "cafe",
    "bakery",
    "movie_theater",
    "book_store",
)
"""Kinds of places where a day begins or ends."""
_METRES = (4000, 4500, 5000)
_MODES = {"on foot": ("WALK", "walking"), "by bike": ("BICYCLE", "bicycling"), "by car": ("DRIVE", "driving")}
_FEWEST, _MOST = 3, 6


class _Tables(Tables):
    titles: tuple[str, ...]


_tables = tables("routine", _Tables)


class Routine:
    """Geocoding, then routes: through shops, in parts, or as the weather has it."""

    name = "routine"
    servers = ("google-maps", "weather")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine places of a city, any of which might be a stop; a way leads through three of them."""
        towns = _towns(kit)
        record = rng.choice([city for city in kit.world("cities") if city["id"] in towns])
        start, middle, goal, *others = rng.sample(towns[record["id"]], PLACES)
        canvas = Canvas(kit.art, *SIZE)
        stops = [start, middle, goal]
        title = rng.choice(_tables().titles).format(record["name"])
        plan(canvas, rng, title, [one["name"] for one in stops], [one["name"] for one in others])
        canvas.light(rng, 0.7)
        return Composition.of(
            canvas,
            city=record["name"],
            town=sights.town_line(kit, record),
            stops=[{key: one[key] for key in ("name", "lat", "lng")} for one in stops],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Every position comes from the map."""
        plan = {"errand": _errand, "legs": _legs, "weather": _weather}[play.goal]
        return await plan(rng, composition, path, play)


async def _errand(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """Supermarkets around the middle stop, one way through each, and the shop on the fastest."""
    stops = composition.facts["stops"]
    (mode, (travel, legacy)), metres = rng.choice(sorted(_MODES.items())), rng.choice(_METRES)
    start, middle, goal = _points(stops, await play.step(*_geocodes(composition)))
    (around,) = await play.step(sights.nearby((middle["lat"], middle["lng"]), metres, "supermarket"))
    shops = json.loads(around)["response"]["places"]
    names = [shop["displayName"]["text"] for shop in shops]
    need(_FEWEST <= len(set(names)) == len(shops) <= _MOST, f"supermarkets around {stops[1]['name']}: {names}")
    spots = [{"lat": shop["location"]["latitude"], "lng": shop["location"]["longitude"]} for shop in shops]
    routes = [
        _route(start, goal, travel, [middle, spot], either=[[_waypoint(middle), {"placeId": shop["id"]}]])
        for spot, shop in zip(spots, shops, strict=True)
    ]
    ways = [_way(text) for text in await play.step(*routes)]
    order = sorted(range(len(ways)), key=lambda number: ways[number].minutes)
    best, way = order[0], ways[order[0]]
    need(ways[order[1]].minutes - way.minutes > max(0.5, 0.01 * way.minutes), "two ways are nearly as fast")
    (text,) = await play.step(sights.details([shops[best]]))
    address = json.loads(text)["response"]["formattedAddress"]
    turns = [
        call(
            "google-maps/directions_legacy",
            {
                "origin": _text(start),
                "destination": _text(goal),
                "mode": legacy,
                "waypoints": [_text(middle), _text(spot)],
            },
            free=("departure_time",),
        )
        for spot in spots
    ]
    compared = "; ".join(f"{name} {one.minutes:.0f} min" for name, one in zip(names, ways, strict=True))
    return Solution(
        given={"mode": mode, "metres": str(metres)},
        wording=f"Geocode the three places on the way that is drawn in {path}; find supermarkets within {metres} m of the middle one; compute the way {mode} "
        "from the start by the middle one and each supermarket to the end; choose the fastest.",
        answer=f"{mode.capitalize()}: {compared}. The fastest is by {names[best]}, {address}: {way.minutes:.0f} minutes and {way.kilometres:.1f} km.",
        fields=(
            Field(
                name="supermarket",
                meaning="the one that makes the whole way shortest in time",
                value=Name(value=names[best], others=tuple(names[number] for number in order[1:]), context=(address,)),
                compared=tuple(ways[number].minutes for number in order),
            ),
            Field(name="address", meaning="where it is", value=sights.address(address)),
            Field(name="minutes", meaning="how long the whole way takes", value=_minutes(way)),
            Field(name="kilometres", meaning="how long the whole way is", value=_kilometres(way)),
        ),
        alternatives=(
            play.varied("turn by turn", {2: turns}),
            play.varied("the address taken from the search", {3: ()}),
        ),
    )  # fmt: skip


async def _legs(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """The two parts of the way, and which stop lies highest."""
    stops = composition.facts["stops"]
    mode, (travel, legacy) = rng.choice(sorted(_MODES.items()))
    points = _points(stops, await play.step(*_geocodes(composition)))
    heights = call("google-maps/elevation_by_locations", {"locations": [_text(point) for point in points]})
    *texts, above = await play.step(_route(points[0], points[1], travel), _route(points[1], points[2], travel), heights)
    first, second = map(_way, texts)
    metres = [float(one["elevation"]) for one in json.loads(above)["response"]["results"]]
    order = sorted(range(3), key=lambda number: -metres[number])
    need(metres[order[0]] - metres[order[1]] >= 2, "two stops lie about as high")
    need(abs(first.kilometres - second.kilometres) > 0.3, "both parts are about as long")
    need(abs(first.minutes - second.minutes) > 2, "both parts take about as long")
    names = [stop["name"] for stop in stops]
    turns = [
        call(
            "google-maps/directions_legacy",
            {"origin": _text(one), "destination": _text(two), "mode": legacy},
            free=("departure_time",),
        )
        for one, two in pairwise(points)
    ]
    return Solution(
        given={"mode": mode},
        wording=f"Geocode the three places on the way that is drawn in {path}; compute both parts of the way {mode}, and the elevation of the places.",
        answer=f"{mode.capitalize()} it is {first.kilometres:.1f} km ({first.minutes:.0f} min) to {names[1]} and {second.kilometres:.1f} km "
        f"({second.minutes:.0f} min) from there to {names[2]}. {names[order[0]]} lies highest, at {metres[order[0]]:.0f} m.",
        fields=(
            Field(name="first_minutes", meaning="how long the first part takes", value=_minutes(first)),
            Field(name="first_kilometres", meaning="how long the first part is", value=_kilometres(first)),
            Field(name="second_minutes", meaning="how long the second part takes", value=_minutes(second)),
            Field(name="second_kilometres", meaning="how long the second part is", value=_kilometres(second)),
            Field(
                name="highest_stop",
                meaning="which of the three places lies highest",
                value=Name(
                    value=names[order[0]], others=tuple(names[number] for number in order[1:]), context=(composition.facts["town"],)
                ),
                compared=tuple(metres[number] for number in order),
            ),
            Field(name="elevation", meaning="how high it lies above sea level", value=Number(value=metres[order[0]], unit="m", within=0.51)),
        ),
        alternatives=(play.varied("turn by turn", {1: [*turns, heights]}),),
    )  # fmt: skip


async def _weather(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """How warm it is decides how to go."""
    stops, town = composition.facts["stops"], composition.facts["town"]
    limit = rng.randint(7, 22)
    report = call(
        "weather/get_weather",
        {"location": town, "units": "metric"},
        words={"location": town.split(",")[0].split()},
        either={"units": ["metric", "us", None]},
    )
    *located, text = await play.step(*_geocodes(composition), report)
    start, middle, goal = _points(stops, located)
    degrees = sights.temperature(text)
    need(abs(degrees - limit) >= 1, "the weather is on the edge")
    mode = "on foot" if degrees >= limit else "by car"
    travel, legacy = _MODES[mode]
    (text,) = await play.step(_route(start, goal, travel, [middle]))
    way = _way(text)
    turns = call(
        "google-maps/directions_legacy",
        {"origin": _text(start), "destination": _text(goal), "mode": legacy, "waypoints": [_text(middle)]},
        free=("departure_time",),
    )
    return Solution(
        given={"limit": str(limit)},
        wording=f"Geocode the three places on the way that is drawn in {path} and get the weather of the city; from {limit} °C on compute the way on foot, "
        "else by car.",
        answer=f"It is {degrees} °C, so you go {mode}: {way.minutes:.0f} minutes and {way.kilometres:.1f} km.",
        fields=(
            Field(name="temperature", meaning="how warm it is in that city now", value=Number(value=degrees, unit="°C", within=0.51)),
            Field(
                name="mode",
                meaning="how they go",
                value=Choice(
                    value=mode,
                    options=("on foot", "by car"),
                    aliases=("walking", "walk", "foot") if mode == "on foot" else ("driving", "drive", "car"),
                ),
                derived=(degrees,),
            ),
            Field(name="minutes", meaning="how long the whole way takes", value=_minutes(way)),
            Field(name="kilometres", meaning="how long the whole way is", value=_kilometres(way)),
        ),
        alternatives=(play.varied("turn by turn", {1: [turns]}),),
    )  # fmt: skip


class _Way(NamedTuple):
    minutes: float
    kilometres: float


def _way(text: str) -> _Way:
    way = json.loads(text)["response"]["routes"][0]
    return _Way(int(way["duration"].rstrip("s")) / 60, way["distanceMeters"] / 1000)


def _minutes(way: _Way) -> Number:
    return Number(value=round(way.minutes, 2), unit="min", within=1.0)


def _kilometres(way: _Way) -> Number:
    return Number(value=round(way.kilometres, 3), unit="km", within=0.051)


def _geocodes(composition: Composition) -> list[ReferenceCall]:
    return [sights.geocode(f"{stop['name']}, {composition.facts['city']}") for stop in composition.facts["stops"]]


def _points(stops: Sequence[Mapping[str, Any]], located: Sequence[str]) -> list[dict[str, float]]:
    """Where the map has the stops, which must be where they are."""
    points = []
    for stop, text in zip(stops, located, strict=True):
        results = json.loads(text)["response"]["results"]
        need(bool(results), f"{stop['name']} is not found")
        points.append(results[0]["geometry"]["location"])
        need(_apart(stop, points[-1]) <= 0.3, f"{stop['name']} is found elsewhere")
    need(all(_apart(one, two) > 0.4 for one, two in pairwise(points)), "two stops are next to each other")
    return points


def _route(
    start: Mapping[str, float],
    goal: Mapping[str, float],
    travel: str,
    between: Sequence[Mapping[str, float]] = (),
    either: Sequence[Any] = (),
) -> ReferenceCall:
    arguments: dict[str, Any] = {
        "origin": _waypoint(start), "destination": _waypoint(goal), "travelMode": travel,
        "fields": "routes.distanceMeters,routes.duration",
    }  # fmt: skip
    through = [_waypoint(point) for point in between]
    if through:
        arguments["intermediates"] = through
    ways = {"intermediates": (through, *either)} if either else None
    return call(
        "google-maps/compute_route",
        arguments,
        free=("fields", "routingPreference", "optimizeWaypointOrder"),
        either=ways,
    )


def _plain(place: Mapping[str, Any]) -> bool:
    """Whether a name is easily read."""
    return place["name"].isascii() and len(place["name"]) <= 30


def _towns(kit: Kit) -> dict[str, list[Mapping[str, Any]]]:
    """The places of each city that can be any stop of a plan, where there are enough."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    shops: dict[str, list[Mapping[str, Any]]] = {}
    for place in kit.world("places"):
        if "supermarket" in place["types"]:
            shops.setdefault(place.get("city_id", ""), []).append(place)
    ends = [place for place in kit.world("places") if place["types"][0] in _ENDS]
    for place in (*kit.world("landmarks"), *ends):
        town = place.get("city_id", "")
        known = {one["name"] for one in found.get(town, ())}
        if _plain(place) and place["name"] not in known and _served(place, shops.get(town, ())):
            found.setdefault(town, []).append(place)
    return {town: places for town, places in found.items() if len(places) >= PLACES}


def _served(place: Mapping[str, Any], shops: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are a few supermarkets around, however wide the question looks."""
    off = [_apart(place, shop) * 1000 for shop in shops]
    return all(_FEWEST <= sum(one < metres for one in off) <= _MOST for metres in _METRES)


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Kilometres between two places, nearly."""
    return hypot((one["lat"] - other["lat"]) * 111.2, (one["lng"] - other["lng"]) * 111.2 * cos(radians(one["lat"])))


def _waypoint(point: Mapping[str, float]) -> dict[str, Any]:
    return {"location": {"latLng": {"latitude": point["lat"], "longitude": point["lng"]}}}


def _text(point: Mapping[str, float]) -> str:
    return f"{point['lat']},{point['lng']}"
