"""Signs at the entrances of parks: find the camps, the warnings and the rangers, and how far it is for two parties."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.parks import entrance

_LANDSCAPES = {
    "acad": "coast", "arch": "canyon", "badl": "badlands", "bibe": "desert", "blca": "canyon", "cany": "canyon", "care": "canyon",
    "crla": "lake", "deva": "desert", "ever": "wetland", "glac": "peaks", "grca": "canyon", "grte": "lake", "grba": "peaks",
    "grsa": "desert", "grsm": "woods", "gumo": "desert", "indu": "coast", "jotr": "desert", "lavo": "lake", "maca": "woods",
    "meve": "canyon", "mora": "peaks", "noca": "peaks", "olym": "coast", "redw": "coast", "romo": "peaks", "seki": "woods",
    "shen": "woods", "wica": "badlands", "yell": "woods", "yose": "peaks", "zion": "canyon",
}  # fmt: skip
"""What it looks like in a park; parks that no road of the mainland reaches are not here."""
_TOWNS = (
    "Salt Lake City, UT", "Denver, CO", "Las Vegas, NV", "Phoenix, AZ", "Albuquerque, NM", "Portland, OR", "Seattle, WA", "San Francisco, CA",
    "Los Angeles, CA", "Sacramento, CA", "San Diego, CA", "Boise, ID", "Dallas, TX", "Houston, TX", "Austin, TX", "Chicago, IL",
    "Minneapolis, MN", "Kansas City, MO", "Nashville, TN", "Atlanta, GA", "Charlotte, NC", "Washington, DC", "Philadelphia, PA", "New York, NY",
    "Boston, MA", "Cleveland, OH", "Detroit, MI", "Omaha, NE", "Oklahoma City, OK", "Tucson, AZ", "Reno, NV", "Spokane, WA", "Billings, MT",
    "Memphis, TN", "Pittsburgh, PA", "Milwaukee, WI", "Indianapolis, IN", "New Orleans, LA", "Miami, FL", "El Paso, TX",
)  # fmt: skip


class Camping:
    """Camps, alerts and visitor centres of a park, then roads and heights."""

    name = "camping"
    servers = ("nationalparks", "google-maps")
    questions = (
        "We want three days of camping where this was taken. Which campground there has the most sites, how high above sea "
        "level is it in metres, and how many road kilometres is it for me from {start} and for my cousin from {friend}? Give a "
        "Day 1 to Day 3 outline with a visitor center stop and current warnings.",
        "Dad sent a snapshot of his dream holiday spot. Plan it: biggest campground by number of sites, its elevation (m), "
        "driving distance in km leaving {start}, the same for Grandma coming out of {friend}, a visitor center with opening "
        "hours, any closures, then an itinerary labelled Day 1, Day 2, Day 3.",
        "Scout leader here! Our troop saw the sign in the picture and is hooked. Could you draft a Day 1/2/3 programme around "
        "the campground of that place with most sites? Buses depart {start} and {friend}: state each one's kilometres by car, "
        "metres of altitude up there, alerts, plus a visitor center with rangers.",
        "need a long weekend plan (day 1, day 2, day 3) for the park shown. stay = whichever campground counts most sites. tell "
        "me km by road from {start}, km from {friend} where bea lives, altitude in meters, what's closed or dangerous right "
        "now, and one visitor center w/ hours",
        "Please act as our trip planner. The photo reveals the destination. Book us into its campground with the most sites, "
        "mention how many kilometres separate it from {start} and from {friend} along highways, its height in metres, official "
        "alerts, a visitor centre, and sketch Day 1 through Day 3.",
        "For a school newsletter I'm describing an outing to the location on the board in my image. Needed: its campground "
        "holding the most sites, elevation there (metres), travel lengths in kilometres starting at {start} respectively "
        "{friend}, active notices, a visitor center. Close by listing Day 1, Day 2 and Day 3 ideas.",
        "Two families, one meeting point: see attached. The Ortegas set off at {start}, the Lindqvists at {friend}. Who drives "
        "how many km to the campground offering the greatest number of sites? Add its metres above the sea, present hazards, a "
        "visitor center for maps, and our timetable: Day 1, Day 2, Day 3.",
        "Surprise anniversary trip! She only gave me this picture as a hint. Work out what it is, then where to pitch (go for "
        "the one with the highest site total), how elevated that lies in m, km behind the wheel between {start} and it, "
        "likewise {friend} as backup start, visitor center, alerts, Day 1 to 3.",
        "Can our old camper van manage this? I'd roll out of {start}; a mate follows later from {friend}. Tell us both road "
        "figures in kilometres to the place's number-one campground in terms of site count, altitude in metres so I can judge "
        "the climb, restrictions announced, a visitor center, and day 1–day 3 suggestions.",
        "Reading a sign is easy, organising isn't. Let the board in the photograph decide: identify the campground with the "
        "most sites, look up posted alerts and one visitor centre, compute distances (km, car) for {start} and {friend}, check "
        "its elevation in metres. Output: short briefing followed by Day 1, Day 2, Day 3.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """The entrance of a park whose largest campground is larger than the next."""
        sites: dict[str, list[int]] = {}
        for camp in kit.world("park_campgrounds"):
            sites.setdefault(camp["park_id"], []).append(camp["sites"])
        parks = [
            park
            for park in kit.world("parks")
            if park["id"] in _LANDSCAPES and Counter(sites[park["id"]])[max(sites[park["id"]])] == 1
        ]
        park = rng.choice(parks)
        canvas = Canvas(kit.art, 1280, 860)
        entrance(
            canvas,
            rng,
            _LANDSCAPES[park["id"]],
            [
                *canvas.lines(_core(park["name"]), 620, 66, "serif bold"),
                park["name"].removeprefix(_core(park["name"])).strip(),
            ],
        )
        canvas.light(rng)
        return Composition.of(canvas, park=park["name"])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The name gives the code, the code all there is in the park, the largest camp the roads to it."""
        name = composition.facts["park"]
        start, friend = rng.sample(_TOWNS, 2)
        core = _core(name)
        (text,) = await play.step(
            call(
                "nationalparks/findParks",
                {"q": name, "limit": 1},
                words={"q": [core.split()[0]]},
                free=("limit", "start", "stateCode", "activities"),
            )
        )
        park = json.loads(text)["parks"][0]
        assert park["name"] == name, f"{name} is not found by its name"
        camps, alerts, centers = await play.step(
            *(
                call(f"nationalparks/{tool}", {"parkCode": park["code"], "limit": 50}, free=("limit", "start", "q"))
                for tool in ("getCampgrounds", "getAlerts", "getVisitorCenters")
            )
        )
        camp = max(json.loads(camps)["campgrounds"], key=lambda one: int(one["totalSites"]))
        notices, offices = json.loads(alerts)["alerts"], json.loads(centers)["visitorCenters"]
        lat, lng = camp["location"]["latitude"], camp["location"]["longitude"]
        point = f"{lat},{lng}"
        same = [point, f"{float(lat)},{float(lng)}", f"{lat}, {lng}"]
        there = {"location": {"latLng": {"latitude": float(lat), "longitude": float(lng)}}}
        ways, heights = (
            call(
                "google-maps/distance_matrix", {"origins": [start, friend], "destinations": [point]},
                either={"origins": ([start, friend], [friend, start]), "destinations": [[one] for one in same]}, free=("departure_time",),
            ),
            call("google-maps/elevation_by_locations", {"locations": [point]}, either={"locations": [[one] for one in same]}),
        )  # fmt: skip
        route = call(
            "google-maps/compute_route",
            {"origin": {"address": start}, "destination": there, "fields": "routes.distanceMeters,routes.duration"},
            either={"origin": ({"address": start}, {"address": start.partition(",")[0]})}, free=("fields", "routingPreference"),
        )  # fmt: skip
        routed, matrix, height = await play.step(route, ways, heights)
        metres = int(json.loads(routed)["response"]["routes"][0]["distanceMeters"])
        seconds = int(json.loads(routed)["response"]["routes"][0]["duration"].rstrip("s"))
        rows = json.loads(matrix)["response"]["rows"]
        mine, theirs = metres / 1000, rows[1]["elements"][0]["distance"]["value"] / 1000
        up = float(json.loads(height)["response"]["results"][0]["elevation"])
        return Solution(
            given={"start": start, "friend": friend},
            wording=f"Read the park's name on the sign in {path}; list its campgrounds, alerts and visitor centers; for the campground with the "
            f"most sites give the way from {start}, the distances from {start} and {friend} and the elevation; make a plan for three days.",
            answer=f"The sign is that of {name}. The largest campground is {camp['name']} with {camp['totalSites']} sites, {up:.0f} m above the sea. "
            f"It is {mine:.0f} km ({seconds / 3600:.1f} hours) from {start} and {theirs:.0f} km from {friend}. Alerts: {_titles(notices)}. "
            f"Day 1: arrive and ask at {offices[0]['name']} ({_hours(offices[0])}). Day 2: {park['activities'][0].lower()} in the park. "
            f"Day 3: {park['activities'][1].lower()}, then home.",
            checks=(
                AnswerNames(all_of=((name, core, core.replace("&", "and")),)),
                AnswerNames(all_of=((camp["name"], camp["name"].removesuffix(" Campground").removesuffix(" RV Park")),)),
                AnswerNumber(value=round(mine, 1), tolerance=max(3.0, round(mine * 0.01, 1)), what=f"the kilometres from {start}"),
                AnswerNumber(value=round(theirs, 1), tolerance=max(3.0, round(theirs * 0.01, 1)), what=f"the kilometres from {friend}"),
                AnswerNumber(value=round(up, 1), tolerance=6, what="the elevation in metres"),
                AnswerNames(all_of=(tuple(spelled for office in offices for spelled in (office["name"], office["name"].replace("Center", "Centre"))),)),
                AnswerNames(all_of=(("Day 3", "Day three", "third day", "3rd day", "last day", "final day"),)),
                CallMade(tool="nationalparks/getAlerts", containing=park["code"]),
            ),
            alternatives=(
                play.varied("knows the park's code", {0: ()}),
                play.varied("turn by turn", {2: [call("google-maps/directions_legacy", {"origin": start, "destination": point}, either={"destination": same}, free=("departure_time",)), ways, heights]}),
            ),
        )  # fmt: skip


def _core(name: str) -> str:
    """A park's name without its rank."""
    for rank in (" National Park & Preserve", " National and State Parks", " National Parks", " National Park"):
        name = name.removesuffix(rank)
    return name


def _titles(alerts: list[Mapping[str, Any]]) -> str:
    return "; ".join(str(alert["title"]) for alert in alerts) or "none"


def _hours(office: Mapping[str, Any]) -> str:
    return str(office["operatingHours"][0]["standardHours"][0]) if office["operatingHours"] else "hours not given"
