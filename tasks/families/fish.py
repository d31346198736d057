"""Catches on piers: what the fish are, and a day at the place in New Jersey where they were landed."""

import json
import random
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.catch import Look, catch
from m3bench.tasks.task import Reference

_SPOTS = (
    "Sandy Hook", "Gunnison Beach", "Atlantic Highlands Municipal Harbor", "Belmar Marina", "Shark River Inlet", "Manasquan Inlet",
    "Lighthouse Marina", "Barnegat Lighthouse State Park",
)  # fmt: skip
_METRES = (5000, 6000, 8000, 10000)


class _Species(NamedTuple):
    """How a fish looks, and how long it may be in centimetres."""

    look: Look
    shortest: int
    longest: int


class _Tables(Tables):
    species: dict[str, _Species]
    starts: tuple[str, ...]


_tables = tables("fish", _Tables)


class Fish:
    """Species, the spot and its weather, the way there, and where to eat and to buy bait."""

    name = "fish"
    servers = ("wiki", "google-maps", "weather")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two or three fish on boards, and a board that names the place."""
        names = rng.sample(sorted(_tables().species), rng.choice((2, 3, 3)))
        spot = rng.choice(_SPOTS)
        canvas = Canvas(kit.art, 1280, 960)
        catch(
            canvas,
            rng,
            [(name, _tables().species[name][0], rng.randint(*_tables().species[name][1:])) for name in names],
            f"{spot}, NJ",
        )
        canvas.light(rng, 0.7)
        return Composition.of(canvas, names=names, spot=spot)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The spot's position and address, from the search, lead to everything else."""
        names, spot = composition.facts["names"], composition.facts["spot"]
        start, metres = rng.choice(_tables().starts), rng.choice(_METRES)
        articles = [
            call("wiki/summary", {"title": name}, either={"title": (name, name.replace(" ", "_"))}) for name in names
        ]
        search = call(
            "google-maps/places_text_search",
            {"query": f"{spot}, NJ"},
            words={"query": [spot]},
            free=("languageCode", "regionCode", "maxResultCount", "fields"),
        )
        *texts, found = await play.step(*articles, search)
        latin = [re.findall(r"\(([A-Z][a-z]+ [a-z]+)\)", text)[0] for text in texts]
        place = next(one for one in json.loads(found)["response"]["results"] if one["name"] == spot)
        lat, lng = place["geometry"]["location"]["lat"], place["geometry"]["location"]["lng"]
        *_, town, state, _ = (part.strip() for part in place["formatted_address"].split(","))
        sky = call(
            "weather/get_weather",
            {"location": f"{town}, NJ"},
            either={"location": (f"{town}, NJ", f"{town}, New Jersey", state.split()[-1])},
        )
        route = call(
            "google-maps/compute_route",
            {"origin": {"address": start}, "destination": {"location": {"latLng": {"latitude": lat, "longitude": lng}}}, "fields": "routes.distanceMeters,routes.duration"},
            either={"destination": ({"location": {"latLng": {"latitude": lat, "longitude": lng}}}, {"placeId": place["place_id"]})},
            free=("fields", "routingPreference"),
        )  # fmt: skip
        weather, way = await play.step(sky, route)
        warm = float(re.findall(r"(-?\d+(?:\.\d+)?)°F", weather)[0])
        kilometres = json.loads(way)["response"]["routes"][0]["distanceMeters"] / 1000
        minutes = int(json.loads(way)["response"]["routes"][0]["duration"].rstrip("s")) / 60
        nearby = [
            call(
                "google-maps/places_nearby_search",
                {"location": {"latitude": lat, "longitude": lng}, "radiusMeters": metres, "includedTypes": [kind]},
                free=("languageCode", "regionCode", "fields"),
            )
            for kind in ("restaurant", "fishing_store")
        ]  # fmt: skip
        eat, bait = (_best(json.loads(text)["response"]["places"]) for text in await play.step(*nearby))
        cards = [
            call("google-maps/place_details", {"place_id": best[0]["id"]}, free=("fields",)) for best in (eat, bait)
        ]
        details = [json.loads(text)["response"] for text in await play.step(*cards)]
        phones = [
            one["internationalPhoneNumber"]
            for one, best in zip(details, (eat, bait), strict=True)
            if len(best) == 1 and "internationalPhoneNumber" in one
        ]
        placed = call(
            "google-maps/geocode", {"address": f"{spot}, NJ"}, words={"address": [spot]}, free=("region", "language")
        )
        fish = "; ".join(f"{name} is {known}" for name, known in zip(names, latin, strict=True))
        return Solution(
            given={"start": start, "metres": str(metres)},
            wording=f"Read the tags and the board in {path}; look the species up; find the spot, its weather, the way there from {start}, and "
            f"the best-rated restaurant and bait shop within {metres} m of it.",
            answer=f"{fish}. They were landed at {spot}, {kilometres:.1f} km ({minutes:.0f} minutes) from {start}; it is {warm} °F there now. "
            f"Eat at {_contact(details[0])}. Buy bait at {_contact(details[1])}.",
            checks=(
                AnswerNames(all_of=tuple((known,) for known in latin)),
                AnswerNumber(value=warm, tolerance=0.6, what="the temperature in °F"),
                AnswerNumber(value=round(kilometres, 1), tolerance=1.5, what=f"the kilometres from {start}"),
                AnswerNames(all_of=(_spelled(_names(eat)), _spelled(_names(bait)))),
                CallMade(tool="google-maps/places_nearby_search", containing="fishing_store"),
                *(AnswerNames(all_of=((phone, phone[-8:]),)) for phone in phones),
                CallMade(tool="wiki/summary", times=len(names)),
            ),
            alternatives=(
                play.varied("all about the spot at once", {1: [sky, route, *nearby], 2: ()}),
                play.varied("the spot as an address", {0: [*articles, placed]}),
                Reference(note="weather first", steps=(tuple(play.steps[0]), (sky,), (route,), *play.steps[2:])),
            ),
        )


def _best(places: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best rated, more than one when they are equal."""
    top = max(place["rating"] for place in places)
    return [place for place in places if place["rating"] == top]


def _names(places: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(str(place["displayName"]["text"]) for place in places)


def _spelled(names: tuple[str, ...]) -> tuple[str, ...]:
    """With either kind of apostrophe."""
    return names + tuple(name.replace("'", "’") for name in names if "'" in name)


def _contact(details: dict[str, Any]) -> str:
    phone = details.get("internationalPhoneNumber")
    return f"{details['displayName']['text']}, {details['formattedAddress']}" + (f", {phone}" if phone else "")
