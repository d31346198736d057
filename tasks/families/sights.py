"""Sights and cities of the world as the families about travel need them: where they are and what is around."""

import json
import math
import random
from collections.abc import Iterable, Sequence

from m3bench.tasks.answers.fields import Field, Name, Number
from m3bench.tasks.families.base import Composition, Kit, call, need
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen, postcards
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

MARGIN = 0.1
"""Stars by which the best place must be rated better than the next."""


def city_of(kit: Kit, landmark: Record) -> Record:
    """The city a landmark is in."""
    return next(city for city in kit.world("cities") if city["id"] == landmark["city_id"])


def country_of(kit: Kit, code: str) -> str:
    """The name of a country."""
    return next((str(country["name"]) for country in kit.world("countries") if country["id"] == code), code)


def town_line(kit: Kit, city: Record) -> str:
    """A city as people write it: with its state in the United States, with its country elsewhere."""
    return f"{city['name']}, {city['region'] if city['country'] == 'US' else country_of(kit, city['country'])}"


def land_line(kit: Kit, city: Record) -> str:
    """What is printed below a city's name: its country, with the state in the United States, where names recur."""
    return f"{city['region']}, USA" if city["country"] == "US" else country_of(kit, city["country"])


def pair(rng: random.Random, kit: Kit, pool: Sequence[Record], beside: Sequence[Record] = ()) -> Composition:
    """Eight photographs of sights on a board, a table or a wall; two that are far apart are circled.

    Args:
        rng: Chooses.
        kit: What pictures are made from.
        pool: What may be circled.
        beside: What else may be on the photographs; every sight in a city when left out.
    """
    chosen = rng.sample(pool, 2)
    while not apart(chosen):
        chosen = rng.sample(pool, 2)
    known = [sight for sight in beside or kit.world("landmarks") if sight.get("city_id") and sight not in chosen]
    cards = [*chosen, *rng.sample(known, 6)]
    canvas = Canvas(kit.art, 1520, 960)
    cities = [city_of(kit, landmark) for landmark in cards]
    towns = [town_line(kit, city) for city in cities[:2]]
    lines = [f"{city['name']}, {land_line(kit, city)}" for city in cities]
    boxes = postcards.rows(canvas, rng, list(zip(cards, lines, strict=True)))
    canvas.light(rng, 0.4)
    pen.circle(canvas, rng, boxes[:2], boxes[2:])
    return Composition.of(canvas, landmarks=[dict(sight) for sight in chosen], towns=towns)


def with_best(kit: Kit, kinds: Iterable[str], radii: Sequence[int]) -> list[Record]:
    """Landmarks of a city that have one best-rated place of each kind, whichever of the radii in metres one looks in."""
    found = [landmark for landmark in kit.world("landmarks") if landmark.get("city_id")]
    for kind in kinds:
        places = [place for place in kit.world("places") if kind in place["types"] and "rating" in place]
        found = [landmark for landmark in found if _one_best(landmark, places, radii)]
    return found


def _one_best(landmark: Record, places: Sequence[Record], radii: Sequence[int]) -> bool:
    near = [(metres(landmark, place), place["rating"]) for place in places if abs(place["lat"] - landmark["lat"]) < 0.2]
    for radius in radii:
        ratings = [rating for distance, rating in near if distance < radius - 30]
        if not ratings or ratings.count(max(ratings)) > 1:
            return False
    return True


def metres(one: Record, other: Record) -> float:
    """The way between two records with positions, as the crow flies."""
    north = math.radians(other["lat"] - one["lat"])
    east = math.radians(other["lng"] - one["lng"]) * math.cos(math.radians((one["lat"] + other["lat"]) / 2))
    return math.hypot(north, east) * 6_371_000


def apart(chosen: Iterable[Record]) -> bool:
    """Whether the chosen landmarks are in different cities."""
    cities = [landmark["city_id"] for landmark in chosen]
    return len(set(cities)) == len(cities)


def names_of(landmark: Record) -> tuple[str, ...]:
    """The spellings of a landmark's name."""
    return (landmark["name"], *landmark.get("aliases", ()))


def geocode(address: str) -> ReferenceCall:
    """A search for an address; the name that it begins with matters, the rest may be written otherwise."""
    words = address.split(",")[0].split()
    return call("google-maps/geocode", {"address": address}, words={"address": words}, free=("language", "region"))


def position(text: str) -> tuple[float, float]:
    """Latitude and longitude of the first result of a geocoding."""
    found = json.loads(text)["response"]["results"][0]["geometry"]["location"]
    return float(found["lat"]), float(found["lng"])


def weather(town: str, metric: bool) -> ReferenceCall:
    """A look at the weather in a town; the country may be written otherwise."""
    return call(
        "weather/get_weather", {"location": town, "units": "metric" if metric else "us"},
        words={"location": (town.split(",")[0],)}, either={} if metric else {"units": ("us", None)},
    )  # fmt: skip


def temperature(text: str) -> float:
    """How warm it is, in the degrees that were asked for."""
    return float(text.partition(": ")[2].partition("°")[0])


def nearby(at: tuple[float, float], radius: int, kind: str) -> ReferenceCall:
    """A search for places of a type around a point."""
    arguments = {"location": {"latitude": at[0], "longitude": at[1]}, "radiusMeters": radius, "includedTypes": [kind]}
    return call("google-maps/places_nearby_search", arguments, free=("languageCode", "regionCode", "fields"))


def best(text: str) -> list[Record]:
    """The best rated of the places found; several when they are equal, the most reviewed first."""
    found = _rated(text)
    top = max(place["rating"] for place in found)
    return sorted((place for place in found if place["rating"] == top), key=lambda place: -place["userRatingCount"])


def _rated(text: str) -> list[Record]:
    """The places found that have a rating: well-known hotels are held without one."""
    return [place for place in json.loads(text)["response"].get("places", ()) if "rating" in place]


def ranked(text: str) -> list[Record]:
    """The places found, the best-rated first; there must be one best."""
    found = sorted(_rated(text), key=lambda place: -place["rating"])
    need(bool(found), "there is no such place")
    need(len(found) == 1 or found[0]["rating"] - found[1]["rating"] >= MARGIN, "two places are rated alike")
    return found


def called(place: Record) -> str:
    """What a place is called."""
    return str(place["displayName"]["text"])


def best_place(found: Sequence[Record], *context: str) -> Name:
    """The name of the first of the places found, which is none of the others."""
    name = called(found[0])
    others = tuple(called(place) for place in found[1:] if called(place) != name)
    return Name(value=name, others=others, context=(found[0]["formattedAddress"], *context))


def best_field(name: str, meaning: str, found: Sequence[Record], *context: str) -> Field:
    """The field for the first of the places found, which are compared by their ratings."""
    ratings = tuple(place["rating"] for place in found)
    return Field(name=name, meaning=meaning, value=best_place(found, *context), compared=ratings)


def name_of(landmark: Record, others: Iterable[Record], *context: str) -> Name:
    """The name of a sight, which is none of the others."""
    wrong = tuple(name for other in others if other is not landmark for name in names_of(other))
    return Name(value=landmark["name"], aliases=names_of(landmark)[1:], others=wrong, context=context)


def details(places: Sequence[Record]) -> ReferenceCall:
    """What is known of the first of places that are equally good."""
    ids = [place["id"] for place in places]
    return call("google-maps/place_details", {"place_id": ids[0]}, either={"place_id": ids}, free=("fields",))


def phone(text: str) -> str:
    """The telephone number in what is known of a place."""
    return str(json.loads(text)["response"]["internationalPhoneNumber"])


def address(text: str) -> Name:
    """A street address: the street and its number are enough, the town and the rest may follow."""
    parts = [part.strip() for part in text.split(",")]
    numbered = next((place for place, part in enumerate(parts, 1) if any(sign.isdigit() for sign in part)), 1)
    street = ", ".join(parts[:numbered])  # "Calle de Santa Isabel, 3"
    return Name(value=text, aliases=(street,), context=(text,))


def dialled(number: str) -> tuple[str, ...]:
    """The ways a telephone number may be written."""
    return (number, number.replace(" ", ""), number.replace(" ", "-"), number.lstrip("+"))


def walk(start: tuple[float, float], goal: Record) -> ReferenceCall:
    """The way on foot to a place."""
    arguments = {
        "origin": {"location": {"latLng": {"latitude": start[0], "longitude": start[1]}}},
        "destination": {"location": {"latLng": goal["location"]}},
        "travelMode": "WALK",
    }
    return call("google-maps/compute_route", arguments, free=("fields", "routingPreference"))


def minutes(text: str, least: float = 0.0) -> float:
    """How long the first route takes, which must be at least so long."""
    found = round(int(json.loads(text)["response"]["routes"][0]["duration"].removesuffix("s")) / 60, 1)
    need(found >= least, "the way is too short to be told apart from others")
    return found


def on_foot(minutes: float) -> Number:
    """How long a walk takes."""
    return Number(unit="minutes", value=minutes, within=1.0)


def walk_field(meaning: str, minutes: float) -> Field:
    """The field for how long a walk takes."""
    return Field(name="walk", meaning=meaning, value=on_foot(minutes))


def air_at(at: tuple[float, float]) -> ReferenceCall:
    """The air at a point now."""
    return call("google-air/current_conditions", {"lat": at[0], "lng": at[1]}, near={"lat": 0.002, "lng": 0.002})


def index(text: str) -> int:
    """The universal index in what is said of the air now; higher is cleaner."""
    return int(json.loads(text)["indexes"][0]["aqi"])


def tile(at: tuple[float, float], zoom: int) -> tuple[int, int]:
    """Column and row of the web-map tile that a point lies on."""
    count = 2**zoom
    row = (1 - math.asinh(math.tan(math.radians(at[0]))) / math.pi) / 2 * count
    return int((at[1] + 180) / 360 * count), int(row)
