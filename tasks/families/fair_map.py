"""The map of a travel fair with a way drawn on it, and the list of its stands: the parks on the way, in order, are looked up."""

import json
import random
from collections.abc import Sequence
from itertools import pairwise

from m3bench.tasks.answers.fields import Field, Integer, Name, Number
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.camping import core, has_brochure, search
from m3bench.tasks.families.park_tour import campgrounds, code_of
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.fair_map import LIST_SIZE, PINS, SIZE, drawn, grounds, stands, walk
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.task import ReferenceCall

_STOPS, _OTHERS = (4, 5, 5), 3
_MARGIN = 1.05
"""How many times the next the largest must be."""


class _Tables(Tables):
    fairs: tuple[str, ...]


_tables = tables("fair_map", _Tables)


class FairMap:
    """Follow the way, read who is where; then campgrounds of the parks or the roads between them, and sums."""

    name = "fair_map"
    servers = ("nationalparks", "google-maps", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Sixteen stands; one way in red, and another in blue or black through others."""
        fair = rng.choice(_tables().fairs)
        paper = Canvas(kit.art, *SIZE)
        pins = grounds(paper, rng, fair)
        way = walk(rng, pins, rng.choice(_STOPS))
        drawn(paper, rng, pins, walk(rng, pins, _OTHERS, way), rng.choice((pen.BLUE, "#16181d")))
        drawn(paper, rng, pins, way, pen.RED)
        first = snapshot(paper, rng)
        parks = rng.sample([park["name"] for park in kit.world("parks") if has_brochure(park)], PINS)
        names = dict(zip(sorted(pins), parks, strict=True))
        sheet = Canvas(kit.art, *LIST_SIZE)
        stands(sheet, rng, fair, names)
        second = snapshot(sheet, rng)
        return Composition.taken(first, second, meant=[names[number] for number in way], listed=sorted(parks))

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The parks on the way in their order; the goal says what of them."""
        goals = {"camp": self._camp, "drive": self._drive}
        return await goals[play.goal](composition, path, play)

    async def _camp(self, composition: Composition, path: str, play: Script) -> Solution:
        """The sites of all campgrounds, of which park most, and of how many at the end."""
        stops = composition.facts["meant"]
        codes = [code_of(text) for text in await play.step(*map(search, stops))]
        sites = [_sites(text) for text in await play.step(*map(campgrounds, codes))]
        (text,) = await play.step(call("math/sum", {"numbers": sites}))
        total = round(float(text))
        order = sorted(range(len(stops)), key=lambda number: -sites[number])
        need(sites[order[0]] >= _MARGIN * sites[order[1]], "two have as many")
        need(order[0] != len(stops) - 1, "the last has the most")
        return Solution(
            wording=f"Follow the red way on the map in {path}, read in the second photograph whose stands it joins, add up the sites of all campgrounds of those parks, and tell which has the most and how many the last has.",
            answer=f"The way leads to {_listed(stops)}: {total} sites together, most of them in {stops[order[0]]}; {stops[-1]} at the end has {sites[-1]}.",
            fields=(
                Field(name="sites", meaning="how many sites all campgrounds of all those parks have together", value=Integer(value=total), derived=tuple(map(float, sites))),
                Field(name="largest", meaning="the park with the most sites", value=_name(stops[order[0]], composition), compared=tuple(float(sites[number]) for number in order), derived=tuple(map(float, sites))),
                Field(name="last", meaning="the park at the end of the way", value=_name(stops[-1], composition)),
                Field(name="last_sites", meaning="how many sites all campgrounds of that last park have together", value=Integer(value=sites[-1])),
            ),
            alternatives=(
                play.varied("knows the codes of the parks", {0: ()}),
                play.varied("added up without a tool", {2: ()}),
            ),
        )  # fmt: skip

    async def _drive(self, composition: Composition, path: str, play: Script) -> Solution:
        """The way by car through the parks themselves, in the same order."""
        stops = composition.facts["meant"]
        legs = list(pairwise(stops))
        routed = await play.step(*(_route(*leg) for leg in legs))
        metres = [int(json.loads(text)["response"]["routes"][0]["distanceMeters"]) for text in routed]
        kilometres = [round(one / 1000, 1) for one in metres]
        (text,) = await play.step(call("math/sum", {"numbers": kilometres}))
        total = round(float(text), 1)
        order = sorted(range(len(legs)), key=lambda number: -kilometres[number])
        longest = kilometres[order[0]]
        need(longest >= _MARGIN * kilometres[order[1]], "two legs are as long")
        need(min(kilometres) > 40, "two parks are neighbours")
        begin = legs[order[0]][0]
        need(begin != stops[0], "the first leg is the longest")
        matrix = [_matrix(*leg) for leg in legs]
        for text, one in zip(await play.play(matrix), metres, strict=True):
            (row,) = json.loads(text)["response"]["rows"]
            need(abs(row["elements"][0]["distance"]["value"] - one) < 1000, "the tools for roads do not agree")
        return Solution(
            wording=f"Follow the red way on the map in {path}, read in the second photograph whose stands it joins, and find out how long the way by car is through those parks in this order, and which part of it is the longest.",
            answer=f"By car through {_listed(stops)} it is {total} km. The longest part, {longest} km, begins at {begin}; the first park is {stops[0]}.",
            fields=(
                Field(name="distance", meaning="the way by car through all those parks in this order", value=Number(value=total, within=max(5.0, round(total * 0.01, 1)), unit="km"), derived=tuple(kilometres)),
                Field(name="longest", meaning="how long the longest part between two of the parks is", value=Number(value=longest, within=max(3.0, round(longest * 0.01, 1)), unit="km")),
                Field(name="longest_from", meaning="the park where that longest part begins", value=_name(begin, composition), compared=tuple(kilometres[number] for number in order), derived=tuple(kilometres)),
                Field(name="first", meaning="the park where the way begins", value=_name(stops[0], composition)),
            ),
            alternatives=(
                play.varied("added up without a tool", {1: ()}),
                play.varied("a table of distances for each part", {0: matrix}),
                play.varied("a table of distances for each part, added up without a tool", {0: matrix, 1: ()}),
            ),
        )  # fmt: skip


def _sites(text: str) -> int:
    camps = json.loads(text)["campgrounds"]
    need(bool(camps), "the park has no campground")
    return sum(int(camp["totalSites"]) for camp in camps)


def _route(start: str, end: str) -> ReferenceCall:
    return call(
        "google-maps/compute_route",
        {
            "origin": {"address": start},
            "destination": {"address": end},
            "fields": "routes.distanceMeters,routes.duration",
        },
        either={"origin": _written(start), "destination": _written(end)},
        free=("fields", "routingPreference"),
    )


def _written(park: str) -> list[dict[str, str]]:
    return [{"address": name} for name in (park, core(park), f"{park}, USA")]


def _matrix(start: str, end: str) -> ReferenceCall:
    return call(
        "google-maps/distance_matrix", {"origins": [start], "destinations": [end]}, free=("departure_time", "mode")
    )


def _listed(parks: Sequence[str]) -> str:
    return ", ".join(map(core, parks))


def _name(park: str, composition: Composition) -> Name:
    """One of the parks on the list, and none of the others."""
    others = tuple(core(other) for other in composition.facts["listed"] if other != park)
    return Name(value=core(park), aliases=(park,), others=others, context=("National Park",))
