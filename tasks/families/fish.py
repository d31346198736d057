"""Catches on piers: what the fish are, and a day at the place in New Jersey where they were landed."""

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.catch import Look, catch
from m3bench.tasks.task import Reference

_SPECIES: dict[str, tuple[Look, int, int]] = {
    "Striped bass": (Look("#6f7f86", "#f1f0e6", 0.26, "stripes"), 62, 98),
    "Summer flounder": (Look("#8a7350", "#c9b48a", 0.4, "spots"), 42, 66),
    "Windowpane flounder": (Look("#a08a63", "#dccaa0", 0.46, "spots"), 25, 38),
    "Winter flounder": (Look("#6b5b45", "#b9a27c", 0.4, "plain"), 28, 46),
    "Weakfish": (Look("#7b7f9a", "#efe9dc", 0.25, "spots"), 38, 72),
    "Black sea bass": (Look("#2f3a48", "#6f7f8e", 0.34, "bars"), 32, 54),
    "Tautog": (Look("#4a443a", "#8a7f6c", 0.36, "bars"), 38, 62),
    "Bluefish": (Look("#4f7fa0", "#e9f1f2", 0.25, "plain"), 40, 84),
    "Atlantic bluefin tuna": (Look("#1f3f6b", "#dfe6ea", 0.28, "plain"), 88, 99),
    "Atlantic cod": (Look("#857a54", "#ede6cd", 0.25, "spots"), 52, 92),
    "Atlantic salmon": (Look("#66757c", "#ecebe6", 0.24, "spots"), 55, 88),
    "American eel": (Look("#5a5a38", "#c9c184", 0.11, "plain"), 44, 82),
    "Atlantic mackerel": (Look("#2f6f72", "#e8eeea", 0.19, "bars"), 26, 44),
}
"""How each looks, and its least and greatest length in centimetres."""
_SPOTS = (
    "Sandy Hook", "Gunnison Beach", "Atlantic Highlands Municipal Harbor", "Belmar Marina", "Shark River Inlet", "Manasquan Inlet",
    "Lighthouse Marina", "Barnegat Lighthouse State Park",
)  # fmt: skip
_STARTS = (
    "Newark Penn Station", "Princeton University", "Trenton, NJ", "Times Square, New York", "Philadelphia, PA", "Newark Liberty International Airport",
    "Jersey City, NJ", "Hoboken, NJ", "Edison, NJ", "Cherry Hill, NJ", "Allentown, PA", "Wilmington, DE", "New Brunswick, NJ", "Paterson, NJ",
    "Morristown, NJ", "Camden, NJ",
)  # fmt: skip
_METRES = (5000, 6000, 8000, 10000)


class Fish:
    """Species, the spot and its weather, the way there, and where to eat and to buy bait."""

    name = "fish"
    servers = ("wiki", "google-maps", "weather")
    questions = (
        "My uncle bragged with this photo. What are the Latin names of everything he caught? I want to go to the same spot in New "
        "Jersey: temperature there now in °F, kilometres by car from {start}, plus the best-rated restaurant and bait shop within "
        "{metres} metres, with their phone numbers.",
        "Looks like a good day out! Please identify each species scientifically, then plan my copycat trip: I leave {start} by car. "
        "How many km is it to where these were landed, how warm (Fahrenheit), and who has top stars for dinner and for tackle no "
        "farther than {metres} m away? I'd ring both ahead, so add phones.",
        "For the angling club bulletin: scientific name per fish pictured, present weather at their landing place (degrees F), road "
        "distance in km for members coming from {start}, highest-scoring eatery and highest-scoring bait store in a radius of "
        "{metres} metres, telephone included.",
        "hey can u tell me what these are in latin and whether its cold over there rn (°F)? driving from {start}, how many km. also "
        "hungry, so best restaurant around, and somewhere for bait, {metres} m max from the water, highest rating wins. phone nrs pls",
        "I'm writing a nature diary. Which binomial names belong to the animals on those boards? The notice mentions a location; "
        "report its current Fahrenheit reading, its distance in kilometres along the road out of {start}, and two recommendations "
        "by rating inside {metres} metres: food and fishing supplies, each with a telephone line.",
        "Grandson wants exactly this next Saturday. Kindly list what was hooked, using proper taxonomy, and help an old man get "
        "there: from {start}, how far in km? Is a coat needed, i.e. what's the thermometer saying (F)? Finest-rated lunch place "
        "and tackle dealer, {metres} metres tops? Numbers to call, please.",
        "Research request: (a) Latin binomials of all specimens visible; (b) weather in °F at the harbour or beach written below "
        "them; (c) driving length, km, origin {start}; (d) leading restaurant and leading bait-and-tackle business by customer "
        "score, search circle {metres} metres, phone given.",
        "We run charters and a guest forwarded his picture. Could you work out the scientific labels for his haul, check how chilly "
        "that shore is at present in Fahrenheit, compute what a guest starting at {start} drives (kilometres), and name the best "
        "reviewed diner and bait seller up to {metres} metres off, phones too?",
        "Teach me something about my dinner: genus and species for every one shown. Afterwards let's revisit the scene. Say how many "
        "kilometres my wife must steer from {start}, the °F outside, and which restaurant and which shop selling lures lead the "
        "ratings less than {metres} metres from it; phone them for me? No: just tell me the numbers.",
        "Settling a pub quiz dispute about a photograph: what would a zoologist call each of them? Winner gets a trip to the spot on "
        "the sign, departing {start}. State km on the road, air temperature (F), then the number-one rated meal and number-one rated "
        "bait counter, at most {metres} metres apart from it, and how to phone those.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two or three fish on boards, and a board that names the place."""
        names = rng.sample(sorted(_SPECIES), rng.choice((2, 3, 3)))
        spot = rng.choice(_SPOTS)
        canvas = Canvas(kit.art, 1280, 960)
        catch(
            canvas, rng, [(name, _SPECIES[name][0], rng.randint(*_SPECIES[name][1:])) for name in names], f"{spot}, NJ"
        )
        canvas.light(rng, 0.7)
        return Composition.of(canvas, names=names, spot=spot)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The spot's position and address, from the search, lead to everything else."""
        names, spot = composition.facts["names"], composition.facts["spot"]
        start, metres = rng.choice(_STARTS), rng.choice(_METRES)
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
