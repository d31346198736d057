"""Brochures of parks, one of them circled: where to camp, how far it is, who is on duty, and what it costs to get in."""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from m3bench.tasks.answers.fields import Choice, Date, Field, Integer, Money, Name, Number, Time
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, product, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.brochures import rack
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_BROCHURES = 16


def has_brochure(park: Record) -> bool:
    """Whether it is known what it looks like in a park."""
    return park["id"] in Camping.landscapes


def brochure(park: Record) -> tuple[str, str, str]:
    """What the brochure of a park shows: its name, its rank and a landscape."""
    name = core(park["name"])
    return name, park["name"].removeprefix(name).strip(), Camping.landscapes[park["id"]]


class Camping(Family):
    """Camps, visitor centres, fees and events of a park, roads and heights."""

    name = "camping"
    servers = ("nationalparks", "google-maps", "math")
    landscapes = table(dict[str, str])
    """What it looks like in a park; parks that no road of the mainland reaches are not here."""
    towns = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Brochures of parks; the one of a park whose largest campground is larger than the next is circled."""
        sites: dict[str, list[int]] = {}
        for camp in kit.world("park_campgrounds"):
            sites.setdefault(camp["park_id"], []).append(camp["sites"])
        parks = [
            park
            for park in kit.world("parks")
            if has_brochure(park) and Counter(sites[park["id"]])[max(sites[park["id"]])] == 1
        ]
        park = rng.choice(parks)
        others = rng.sample([other for other in parks if other is not park], _BROCHURES - 1)
        shown = rng.sample([park, *others], _BROCHURES)
        canvas = Canvas(kit.art, 1400, 1080)
        boxes = rack(canvas, rng, [brochure(item) for item in shown], [item["id"] for item in shown])
        canvas.light(rng, 0.6)
        meant = boxes[shown.index(park)]
        pen.circle(canvas, rng, [meant], [box for box in boxes if box is not meant])
        return Composition.of(canvas, park=park["name"])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The name on the brochure gives the code, and the code all there is in the park."""
        name = composition.facts["park"]
        (text,) = await play.step(search(name))
        park = json.loads(text)["parks"][0]
        assert park["name"] == name, f"{name} is not found by its name"
        goals = {"camp": self._camp, "rangers": self._rangers, "entrance": self._entrance}
        return await goals[play.goal](rng, park, path, play)

    async def _camp(self, rng: random.Random, park: Record, path: str, play: Script) -> Solution:
        """The largest campground, the way there and how high it lies."""
        start = rng.choice(self.towns)
        (text,) = await play.step(_listed("getCampgrounds", park))
        camps = _by_sites(text)
        camp, point = camps[0], _point(camps[0])
        route = call(
            "google-maps/compute_route",
            {"origin": {"address": start}, "destination": _there(camp), "fields": "routes.distanceMeters,routes.duration"},
            either={"origin": ({"address": start}, {"address": start.partition(",")[0]})}, free=("fields", "routingPreference"),
        )  # fmt: skip
        height = call(
            "google-maps/elevation_by_locations",
            {"locations": [point]},
            either={"locations": [[place] for place in _written(camp)]},
        )
        routed, up = await play.step(route, height)
        kilometres = round(int(json.loads(routed)["response"]["routes"][0]["distanceMeters"]) / 1000, 1)
        metres = round(float(json.loads(up)["response"]["results"][0]["elevation"]), 1)
        turns = call(
            "google-maps/directions_legacy",
            {"origin": start, "destination": point},
            either={"destination": _written(camp)},
            free=("departure_time",),
        )
        return Solution(
            given={"start": start},
            wording=f"Find the campground with the most sites in the park circled in red in {path}, the way by car from {start}, and its elevation.",
            answer=f"The largest campground of {park['name']} is {camp['name']} with {camp['totalSites']} sites, {metres} m above the sea and {kilometres} km from {start}.",
            fields=(
                _camp_field(camps, park),
                Field(name="sites", meaning="how many sites it has", value=Integer(value=int(camp["totalSites"]))),
                Field(name="distance", meaning="the way there by car", value=Number(value=kilometres, within=max(3.0, round(kilometres * 0.01, 1)), unit="km")),
                Field(name="elevation", meaning="how high it lies above the sea", value=Number(value=metres, within=6, unit="m")),
            ),
            alternatives=(play.varied("knows the park's code", {0: ()}), play.varied("turn by turn", {2: [turns, height]})),
        )  # fmt: skip

    async def _rangers(self, rng: random.Random, park: Record, path: str, play: Script) -> Solution:
        """The open visitor center that is nearest to the largest campground, and how many alerts there are."""
        lists = [_listed(tool, park) for tool in ("getCampgrounds", "getVisitorCenters", "getAlerts")]
        camp_text, center_text, alert_text = await play.step(*lists)
        camps = _by_sites(camp_text)
        centers = [center for center in json.loads(center_text)["visitorCenters"] if _hours(center)]
        need(len(centers) > 1, "at most one visitor center is open")
        alerts = json.loads(alert_text)["total"]
        ends = [_point(center) for center in centers]
        matrix = call(
            "google-maps/distance_matrix", {"origins": [_point(camps[0])], "destinations": ends},
            either={"origins": [[place] for place in _written(camps[0])]}, free=("departure_time", "mode"),
        )  # fmt: skip
        (text,) = await play.step(matrix)
        row = json.loads(text)["response"]["rows"][0]["elements"]
        metres = [float(element["distance"]["value"]) for element in row]
        order = sorted(range(len(centers)), key=lambda number: metres[number])
        need(metres[order[1]] >= 1.1 * metres[order[0]] + 500, "two visitor centers are equally near")
        nearest = centers[order[0]]
        hours = _hours(nearest)
        assert hours
        opens, closes = hours
        return Solution(
            wording=f"In the park circled in red in {path}, find the open visitor center nearest by road to the campground with the most sites, its hours, and the number of alerts.",
            answer=f"The largest campground of {park['name']} is {camps[0]['name']}. The nearest visitor center that is open is {nearest['name']}, "
            f"{opens} to {closes}. There are {alerts} alerts.",
            fields=(
                _camp_field(camps, park),
                Field(
                    name="visitor_center",
                    meaning="the open visitor center nearest to it by road",
                    value=Name(
                        value=nearest["name"],
                        aliases=(nearest["name"].replace("Center", "Centre"),),
                        others=tuple(center["name"] for center in json.loads(center_text)["visitorCenters"] if center is not nearest and center["name"] != nearest["name"]),
                        context=("visitor center museum station", park["name"]),
                    ),
                    compared=tuple(metres[number] for number in order),
                    derived=tuple(metres),
                ),
                Field(name="opens", meaning="when it opens", value=Time(value=opens)),
                Field(name="closes", meaning="when it closes", value=Time(value=closes)),
                Field(name="alerts", meaning="how many alerts the park has posted", value=Integer(value=alerts)),
            ),
            alternatives=(
                play.varied("knows the park's code", {0: ()}),
                play.varied("the alerts at the end", {1: lists[:2], 2: [matrix, lists[2]]}),
            ),
        )  # fmt: skip

    async def _entrance(self, rng: random.Random, park: Record, path: str, play: Script) -> Solution:
        """Whether single entries or a pass for all parks cost less, and what is on next."""
        visits = rng.choice(tuple(_VISITS))
        events = _listed("getEvents", park)
        page, text = await play.step(_page(park), events)
        details = json.loads(page)
        car, pass_price = _fee(details["entranceFees"], "Private Vehicle"), _fee(details["entrancePasses"], _PASS)
        single = round(float((await play.step(product(car, _VISITS[visits])))[0]), 2)
        need(single != pass_price, "both cost the same")
        shows = sorted(json.loads(text)["events"], key=lambda one: one["dateTime"]["dateStart"])
        need(bool(shows) and shows[0]["dateTime"]["dateStart"] > _TODAY, "an event has begun")
        need(len({event["dateTime"]["dateStart"] for event in shows}) == len(shows), "two events are on first")
        show = shows[0]
        cheaper = "single entries" if single < pass_price else "annual pass"
        return Solution(
            given={"visits": visits},
            wording=f"Compare {visits} entries by car to the park circled in red in {path} with the America the Beautiful pass, and find the park's next event.",
            answer=f"At {park['name']} {visits} entries by car cost ${single:.2f} and the pass ${pass_price:.2f}, so the {cheaper} cost less. "
            f"The next event is {show['title']} on {show['dateTime']['dateStart']}.",
            fields=(
                Field(name="entries", meaning="what all the single entries by car cost", value=Money(value=single, unit="USD"), derived=(car,)),
                Field(name="annual_pass", meaning="what the America the Beautiful pass costs", value=Money(value=pass_price, unit="USD")),
                Field(
                    name="cheaper",
                    meaning="which of the two costs less",
                    value=Choice(options=("single entries", "annual pass"), value=cheaper, aliases=_ASIDE[cheaper]),
                    compared=(min(single, pass_price), max(single, pass_price)),
                ),
                Field(name="event", meaning="the title of the next event in the park", value=Name(value=show["title"], others=tuple(event["title"] for event in shows[1:]))),
                Field(name="event_date", meaning="the first day of that event", value=Date(value=show["dateTime"]["dateStart"])),
            ),
            alternatives=(play.varied("knows the park's code", {0: ()}), play.varied("multiplied without a tool", {2: ()})),
        )  # fmt: skip


_VISITS = {"two": 2, "three": 3, "four": 4}
_PASS = "America the Beautiful - Annual Pass"
_TODAY = "2025-11-01"
"""When it is in the world, for what comes next."""
_ASIDE = {
    "single entries": ("single entry", "entries", "single tickets", "paying each time", "entries by car"),
    "annual pass": ("pass", "America the Beautiful", "America the Beautiful pass", "annual"),
}


def search(name: str) -> ReferenceCall:
    """The search for one park by its name."""
    free = ("limit", "start", "stateCode", "activities")
    return call("nationalparks/findParks", {"q": name, "limit": 1}, words={"q": [core(name).split()[0]]}, free=free)


def _listed(tool: str, park: Record) -> ReferenceCall:
    arguments = {"parkCode": park["code"], "limit": 50}
    return call(
        f"nationalparks/{tool}",
        arguments,
        free=("limit", "start", "q", "dateStart", "dateEnd")[: 5 if tool == "getEvents" else 3],
    )


def _page(park: Record) -> ReferenceCall:
    return call("nationalparks/getParkDetails", {"parkCode": park["code"]})


def _by_sites(text: str) -> list[Record]:
    """Campgrounds, the largest first, which must be clear."""
    camps = sorted(json.loads(text)["campgrounds"], key=lambda one: -int(one["totalSites"]))
    need(len(camps) > 1 and int(camps[0]["totalSites"]) > int(camps[1]["totalSites"]), "no campground is the largest")
    return camps


def _camp_field(camps: Sequence[Record], park: Record) -> Field:
    name = camps[0]["name"]
    return Field(
        name="campground",
        meaning="the campground with the most sites",
        value=Name(
            value=name,
            aliases=(name.removesuffix(" Campground").removesuffix(" RV Park"),),
            others=tuple(camp["name"] for camp in camps[1:]),
            context=("campground", park["name"]),
        ),
        compared=tuple(float(camp["totalSites"]) for camp in camps),
    )


def _point(place: Record) -> str:
    return f"{place['location']['latitude']},{place['location']['longitude']}"


def _written(place: Record) -> list[str]:
    """The ways to write a place's position."""
    lat, lng = place["location"]["latitude"], place["location"]["longitude"]
    return [f"{lat},{lng}", f"{float(lat)},{float(lng)}", f"{lat}, {lng}"]


def _there(place: Record) -> Record:
    lat, lng = place["location"]["latitude"], place["location"]["longitude"]
    return {"location": {"latLng": {"latitude": float(lat), "longitude": float(lng)}}}


def _hours(center: Record) -> tuple[str, str] | None:
    """When a visitor center opens and closes, the same every day; None when it is closed."""
    days = {day.partition(": ")[2] for times in center["operatingHours"] for day in times["standardHours"]}
    found = re.fullmatch(r"(\d+:\d\d[AP]M) - (\d+:\d\d[AP]M)", next(iter(days))) if len(days) == 1 else None
    if found is None:
        return None
    opens, closes = (datetime.strptime(part, "%I:%M%p").strftime("%H:%M") for part in found.groups())
    return opens, closes


def _fee(fees: Sequence[Record], kind: str) -> float:
    found = [fee["cost"] for fee in fees if fee["title"].endswith(kind)]
    need(len(found) == 1, "the park has no such fee")
    return float(found[0].lstrip("$"))


def core(name: str) -> str:
    """A park's name without its rank."""
    for rank in (" National Park & Preserve", " National and State Parks", " National Parks", " National Park"):
        name = name.removesuffix(rank)
    return name
