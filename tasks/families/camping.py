"""Signs at the entrances of parks: find the camps, the warnings and the rangers, and how far it is for two parties."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.parks import entrance


class _Tables(Tables):
    landscapes: dict[str, str]
    """What it looks like in a park; parks that no road of the mainland reaches are not here."""
    towns: tuple[str, ...]


_tables = tables("camping", _Tables)


class Camping:
    """Camps, alerts and visitor centres of a park, then roads and heights."""

    name = "camping"
    servers = ("nationalparks", "google-maps")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """The entrance of a park whose largest campground is larger than the next."""
        sites: dict[str, list[int]] = {}
        for camp in kit.world("park_campgrounds"):
            sites.setdefault(camp["park_id"], []).append(camp["sites"])
        parks = [
            park
            for park in kit.world("parks")
            if park["id"] in _tables().landscapes and Counter(sites[park["id"]])[max(sites[park["id"]])] == 1
        ]
        park = rng.choice(parks)
        canvas = Canvas(kit.art, 1280, 860)
        entrance(
            canvas,
            rng,
            _tables().landscapes[park["id"]],
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
        start, friend = rng.sample(_tables().towns, 2)
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
