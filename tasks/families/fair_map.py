"""The map of a travel fair with a way drawn on it, and the list of its stands: the parks on the way, in order, are looked up."""

import json
import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

from m3bench.tasks.answers.fields import Field, Integer, Name, Number
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.families.camping import core, has_brochure, search
from m3bench.tasks.families.park_tour import campgrounds, code_of
from m3bench.tasks.render import pen
from m3bench.tasks.render.backdrops import folded_paper, tabletop
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.render.shapes import ellipse, line, mix, on, path, polygon, rect
from m3bench.tasks.task import ReferenceCall

SIZE, LIST_SIZE = (1360, 1060), (1000, 1240)
"""Of canvases for a map and for a list."""
PINS = 16
_COLUMNS = 4
_LEFT, _TOP, _WIDE, _TALL = 100, 180, 1160, 790
"""Where the grounds are on the map."""
_CLEAR, _FAR, _AIR = 78, 560, 48
"""How near a leg may come to pins that it does not join, how long it may be, and how far from its own pins it ends."""
_GRASS = ("#cfe0b4", "#d9e2bf", "#c5dcb9", "#dde0b8")
_COLOURS = ("#8a3b2f", "#2f5f7d", "#5a4a86", "#2f6b50", "#7d5a1f")
_TRIES = 400

Point = tuple[float, float]


def grounds(canvas: Canvas, rng: random.Random, title: str) -> dict[int, Point]:
    """Draw the map on a canvas of `SIZE`; returns where the pins are, by number."""
    tabletop(canvas, rng)
    folded_paper(canvas, rng, (64, 60, canvas.width - 64, canvas.height - 54))
    colour, grass = rng.choice(_COLOURS), rng.choice(_GRASS)
    canvas.text(title, canvas.width / 2, 140, 52, face="serif bold", fill=colour, anchor="middle", width=1100)
    canvas.draw(rect(_LEFT, _TOP, _WIDE, _TALL, grass, 14, f'stroke="{mix(grass, "#4f6b3a", 0.5)}" stroke-width="4"'))
    spots = _spots(rng)
    _scenery(canvas, rng, spots, grass)
    numbers = rng.sample(range(1, PINS + 1), PINS)
    pins = dict(zip(numbers, spots, strict=True))
    for number, (x, y) in sorted(pins.items()):
        canvas.draw(
            ellipse(x + 3, y + 40, 14, 5, "#000000", 'opacity="0.3"'),
            polygon([(x - 21, y + 12), (x + 21, y + 12), (x, y + 42)], colour),
            ellipse(x, y - 2, 25, 25, colour, 'stroke="#ffffff" stroke-width="3"'),
        )
        canvas.text(str(number), x, y + 7, 27, face="sans bold", fill=on(colour), anchor="middle")
    return pins


def walk(rng: random.Random, pins: Mapping[int, Point], stops: int, avoided: Sequence[int] = ()) -> list[int]:
    """Pins that are visited one after another: no leg comes near a pin between its ends, and none crosses another.

    Raises:
        ValueError: There is no such way.
    """
    for _ in range(_TRIES):
        way = [rng.choice([number for number in sorted(pins) if number not in avoided])]
        while len(way) < stops:
            near = [number for number in sorted(pins) if number not in avoided and _may_follow(pins, way, number)]
            if not near:
                break
            way.append(rng.choice(near))
        if len(way) == stops:
            return way
    raise ValueError("no way keeps clear of the pins")


def drawn(canvas: Canvas, rng: random.Random, pins: Mapping[int, Point], way: Sequence[int], colour: str) -> None:
    """The way by hand: an arrow for each leg, and a loop around the pin that it begins at; nothing is noted."""
    x, y = pins[way[0]]
    pen.loop(canvas, rng, (x - 26, y - 28, x + 26, y + 40), colour, air=12, width=7)
    for one, other in pairwise(way):
        (x1, y1), (x2, y2) = pins[one], pins[other]
        air = _AIR / math.dist(pins[one], pins[other])
        dx, dy = (x2 - x1) * air, (y2 - y1) * air
        pen.arrow(canvas, rng, (x2 - dx, y2 - dy), (x1 + dx, y1 + dy), colour)


def stands(canvas: Canvas, rng: random.Random, title: str, entries: Mapping[int, str]) -> None:
    """Fill a canvas of `LIST_SIZE` with the list of stands."""
    tabletop(canvas, rng)
    folded_paper(canvas, rng, (66, 74, canvas.width - 66, canvas.height - 74))
    colour = rng.choice(_COLOURS)
    left, right = 120, canvas.width - 120
    canvas.text(title, left, 160, 48, face="serif bold", fill=colour, width=right - left)
    canvas.text("Who is where: the stands by number", left, 208, 28, fill="#54575d")
    canvas.draw(line(left, 230, right, 230, colour, 4))
    for place, (number, name) in enumerate(sorted(entries.items())):
        y = 284 + place * 54
        if place % 2:
            canvas.draw(rect(left - 10, y - 37, right - left + 20, 52, mix(colour, "#ffffff", 0.9)))
        canvas.text(str(number), left + 50, y, 33, face="sans bold", fill=colour, anchor="end")
        canvas.text(name, left + 84, y, 33, width=right - left - 100)


def _spots(rng: random.Random) -> list[Point]:
    """Rows of four, not quite in line."""
    across, down = _WIDE / _COLUMNS, _TALL / (PINS // _COLUMNS)
    return [
        (
            _LEFT + across * (column + 0.5) + rng.uniform(-0.28, 0.28) * across,
            _TOP + down * (row + 0.5) + rng.uniform(-0.24, 0.24) * down,
        )
        for row in range(PINS // _COLUMNS)
        for column in range(_COLUMNS)
    ]


def _may_follow(pins: Mapping[int, Point], way: Sequence[int], number: int) -> bool:
    start, end = pins[way[-1]], pins[number]
    if number in way or not 150 <= math.dist(start, end) <= _FAR:
        return False
    others = [spot for pin, spot in pins.items() if pin not in (way[-1], number)]
    if any(_distance(spot, start, end) < _CLEAR for spot in others):
        return False
    legs = list(pairwise(way))
    if legs and _angle(pins[legs[-1][0]], start, end) < 0.6:
        return False
    return not any(_cross(pins[one], pins[other], start, end) for one, other in legs[:-1])


def _distance(spot: Point, start: Point, end: Point) -> float:
    """How far a spot is from a leg."""
    (x, y), (x1, y1), (x2, y2) = spot, start, end
    along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / math.dist(start, end) ** 2
    share = min(1.0, max(0.0, along))
    return math.dist(spot, (x1 + share * (x2 - x1), y1 + share * (y2 - y1)))


def _angle(one: Point, middle: Point, other: Point) -> float:
    first, second = (math.atan2(end[1] - middle[1], end[0] - middle[0]) for end in (one, other))
    turn = abs(first - second)
    return min(turn, math.tau - turn)


def _cross(one: Point, other: Point, start: Point, end: Point) -> bool:
    def side(a: Point, b: Point, c: Point) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

    return side(one, other, start) != side(one, other, end) and side(start, end, one) != side(start, end, other)


def _scenery(canvas: Canvas, rng: random.Random, spots: Sequence[Point], grass: str) -> None:
    """Paths from pin to pin, a pond and trees."""
    sand = mix(grass, "#f7edd6", 0.75)
    for number, (x, y) in enumerate(spots):
        for other in (number + 1, number + _COLUMNS):
            if other < PINS and (other % _COLUMNS or other == number + _COLUMNS) and rng.random() < 0.8:
                x2, y2 = spots[other]
                bend = rng.uniform(-40, 40)
                canvas.draw(
                    path(
                        f"M{x:.0f} {y:.0f} Q{(x + x2) / 2 + bend:.0f} {(y + y2) / 2 + bend:.0f} {x2:.0f} {y2:.0f}",
                        more=f'stroke="{sand}" stroke-width="18" stroke-linecap="round"',
                    )
                )
    gaps = [(_LEFT + _WIDE * i / _COLUMNS, _TOP + _TALL * j / _COLUMNS) for i in (1, 2, 3) for j in (1, 2, 3)]
    pond, *rest = rng.sample(gaps, len(gaps))
    canvas.draw(
        ellipse(*pond, rng.uniform(60, 90), rng.uniform(34, 48), "#a9cfe0", 'stroke="#7fb0c6" stroke-width="3"')
    )
    for x, y in rest:
        kind = rng.choice(("tree", "evergreen", "tree", "tent", "fountain", "carousel"))
        canvas.place(kind, x, y + 26, rng.uniform(44, 60), shadow=False, note=False)


_STOPS, _OTHERS = (4, 5, 5), 3
_MARGIN = 1.05
"""How many times the next the largest must be."""


class FairMap(Family):
    """Follow the way, read who is where; then campgrounds of the parks or the roads between them, and sums."""

    name = "fair_map"
    servers = ("nationalparks", "google-maps", "math")
    fairs = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Sixteen stands; one way in red, and another in blue or black through others."""
        fair = rng.choice(self.fairs)
        folded_paper = Canvas(kit.art, *SIZE)
        pins = grounds(folded_paper, rng, fair)
        way = walk(rng, pins, rng.choice(_STOPS))
        drawn(folded_paper, rng, pins, walk(rng, pins, _OTHERS, way), rng.choice((pen.BLUE, "#16181d")))
        drawn(folded_paper, rng, pins, way, pen.RED)
        first = snapshot(folded_paper, rng)
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
        kilometres = [round(leg / 1000, 1) for leg in metres]
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
