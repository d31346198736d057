"""Plans of a day drawn by hand: locate the stops, find supermarkets on the way, and choose the fastest of the routes."""

import json
import random
from collections.abc import Mapping, Sequence
from math import cos, hypot, radians
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.sketches import plan

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
    """Geocoding, supermarkets around the sight, one route through each, and the shop on the fastest."""

    name = "routine"
    servers = ("google-maps",)

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A sight with a few supermarkets around it, and two other places of its city."""
        cities = {city["id"]: city["name"] for city in kit.world("cities")}
        places = kit.world("places")
        fit = [
            sight
            for sight in kit.world("landmarks")
            if _plain(sight) and sight.get("city_id") in cities and _served(sight, places)
        ]
        sight = rng.choice(fit)
        city = cities[sight["city_id"]]
        others = [
            place for place in places
            if place.get("city_id") == sight["city_id"] and place["types"][0] in _ENDS and _plain(place) and 0.5 < _apart(sight, place) < 6
        ]  # fmt: skip
        start, goal = rng.sample(others, 2)
        canvas = Canvas(kit.art, 1280, 860)
        stops = [
            (role, one["name"]) for role, one in zip(("Start", "See", "Finish"), (start, sight, goal), strict=True)
        ]
        plan(canvas, rng, rng.choice(_tables().titles).format(city), stops)
        canvas.light(rng, 0.7)
        return Composition.of(
            canvas, city=city, stops=[{key: one[key] for key in ("name", "lat", "lng")} for one in (start, sight, goal)]
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Every position comes from the map; the fastest must be clearly so."""
        city, stops = composition.facts["city"], composition.facts["stops"]
        (mode, (travel, legacy)), metres = rng.choice(sorted(_MODES.items())), rng.choice(_METRES)
        located = await play.step(
            *(
                call(
                    "google-maps/geocode",
                    {"address": f"{stop['name']}, {city}"},
                    words={"address": [stop["name"]]},
                    free=("region", "language"),
                )
                for stop in stops
            )
        )
        points = []
        for stop, text in zip(stops, located, strict=True):
            results = json.loads(text)["response"]["results"]
            point = results[0]["geometry"]["location"] if results else {"lat": 0.0, "lng": 0.0}
            if _apart(stop, point) > 0.3:
                raise Unfit(f"{stop['name']} is not found in {city}")
            points.append(point)
        start, sight, goal = points
        (around,) = await play.step(
            call(
                "google-maps/places_nearby_search",
                {"location": {"latitude": sight["lat"], "longitude": sight["lng"]}, "radiusMeters": metres, "includedTypes": ["supermarket"]},
                free=("languageCode", "regionCode", "fields"),
            )
        )  # fmt: skip
        shops = json.loads(around)["response"]["places"]
        names = [shop["displayName"]["text"] for shop in shops]
        if not _FEWEST <= len(set(names)) == len(shops) <= _MOST:
            raise Unfit(f"supermarkets around {stops[1]['name']}: {names}")
        spots = [{"lat": shop["location"]["latitude"], "lng": shop["location"]["longitude"]} for shop in shops]
        routes = [
            call(
                "google-maps/compute_route",
                {
                    "origin": _waypoint(start), "destination": _waypoint(goal), "travelMode": travel,
                    "intermediates": [_waypoint(sight), _waypoint(spot)], "fields": "routes.distanceMeters,routes.duration",
                },
                free=("fields", "routingPreference", "optimizeWaypointOrder"),
                either={"intermediates": ([_waypoint(sight), _waypoint(spot)], [_waypoint(sight), {"placeId": shop["id"]}])},
            )
            for spot, shop in zip(spots, shops, strict=True)
        ]  # fmt: skip
        ways = [json.loads(text)["response"]["routes"][0] for text in await play.step(*routes)]
        seconds = [int(way["duration"].rstrip("s")) for way in ways]
        first, second = sorted(seconds)[:2]
        if second - first < 20:
            raise Unfit("two routes are nearly as fast")
        best = seconds.index(first)
        (text,) = await play.step(call("google-maps/place_details", {"place_id": shops[best]["id"]}, free=("fields",)))
        shop = json.loads(text)["response"]
        kilometres, minutes = ways[best]["distanceMeters"] / 1000, first / 60
        street = shop["formattedAddress"].split(",")[0]
        turns = [
            call(
                "google-maps/directions_legacy",
                {"origin": _text(start), "destination": _text(goal), "mode": legacy, "waypoints": [_text(sight), _text(spot)]},
                free=("departure_time",),
            )
            for spot in spots
        ]  # fmt: skip
        compared = "; ".join(f"{name} {took / 60:.0f} min" for name, took in zip(names, seconds, strict=True))
        return Solution(
            given={"mode": mode, "metres": str(metres)},
            wording=f"Geocode the three places of the plan in {path}; find supermarkets within {metres} m of the sight; compute the way {mode} "
            "from the start by the sight and each supermarket to the end; choose the fastest.",
            answer=f"From {stops[0]['name']} by {stops[1]['name']} to {stops[2]['name']}, {mode}: {compared}. The fastest is by {names[best]}, "
            f"{shop['formattedAddress']}: {minutes:.0f} minutes and {kilometres:.1f} km. {_open(shop)}",
            checks=(
                AnswerNames(all_of=((names[best], names[best].replace("'", "’")), (street, shop["formattedAddress"]))),
                AnswerNumber(value=round(minutes, 1), tolerance=1.0, what="the minutes of the fastest way"),
                AnswerNumber(value=round(kilometres, 2), tolerance=0.15, what="the kilometres of the fastest way"),
                CallMade(tool="google-maps/places_nearby_search", containing="supermarket"),
                CallMade(tool="google-maps/geocode", times=3),
            ),
            alternatives=(play.varied("turn by turn", {2: turns}),),
        )


def _plain(place: Mapping[str, Any]) -> bool:
    """Whether a name is easily read."""
    return place["name"].isascii() and len(place["name"]) <= 30


def _served(sight: Mapping[str, Any], places: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are a few supermarkets around, however wide the question looks, and places to begin and to end."""
    near = [place for place in places if place.get("city_id") == sight["city_id"] and _apart(sight, place) < 6]
    shops = [_apart(sight, place) for place in near if "supermarket" in place["types"]]
    ends = [place for place in near if place["types"][0] in _ENDS and _plain(place) and _apart(sight, place) > 0.5]
    return all(_FEWEST <= sum(off < metres / 1000 for off in shops) <= _MOST for metres in _METRES) and len(ends) >= 5


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Kilometres between two places, nearly."""
    return hypot((one["lat"] - other["lat"]) * 111.2, (one["lng"] - other["lng"]) * 111.2 * cos(radians(one["lat"])))


def _waypoint(point: Mapping[str, float]) -> dict[str, Any]:
    return {"location": {"latLng": {"latitude": point["lat"], "longitude": point["lng"]}}}


def _text(point: Mapping[str, float]) -> str:
    return f"{point['lat']},{point['lng']}"


def _open(shop: Mapping[str, Any]) -> str:
    hours = shop.get("currentOpeningHours", {})
    return "" if "openNow" not in hours else f"It is {'open' if hours['openNow'] else 'closed'} now."
