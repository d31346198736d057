"""Plans of a day drawn by hand: locate the places that the way leads to, then find an errand, the parts of the way, or how to go."""

import json
import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from math import cos, hypot, radians
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Name, Number
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect
from m3bench.tasks.task import ReferenceCall

Point = tuple[float, float]

SIZE = (1440, 1010)
PLACES = 9
_PAPERS = ("#fdfcf7", "#fdf8ea", "#f6f8fb", "#fbf7f2")
_PENS = ("#2b3a67", "#7a2e3a", "#1f5c4a", "#4a3a68", "#33383f")
_COLUMNS, _ROWS, _STAGGER = (270.0, 720.0, 1170.0), (320.0, 576.0, 832.0), 44.0
"""Where the names stand; rows are shifted to the sides in turn."""
_LIFT = 64.0
"""How far a mark is above its name."""
_HALF = 148.0
"""Half of the width of the widest name."""
_TURN = 0.6
"""The least angle, in radians, between the two parts of a way."""
_AROUND = ("tree", "evergreen", "office building", "church", "bicycle", "fountain")


def plan(canvas: Canvas, rng: random.Random, title: str, stops: Sequence[str], others: Sequence[str]) -> None:
    """Fill a canvas of `SIZE` with a plan.

    A house, a star, a flag and the way between them say what the stops are; every other place has a dot. None of these
    marks is noted in the scene.

    Args:
        canvas: Where.
        rng: Chooses paper, pen, where the stops are and what stands along the streets.
        title: Above the plan.
        stops: The names of start, sight and goal.
        others: The names of six places that the way does not lead to.
    """
    backdrops.table(canvas, rng)
    pen = rng.choice(_PENS)
    backdrops.paper(canvas, rng, (36, 30, canvas.width - 36, canvas.height - 30), rng.choice(_PAPERS))
    spots = _spots(rng)
    meant = rng.choice(_ways(spots))
    _streets(canvas, rng, pen)
    _title(canvas, rng, title, pen)
    _drawn_way(canvas, rng, pen, [(*spots[number], name) for number, name in zip(meant, stops, strict=True)])
    rest = [number for number in range(PLACES) if number not in meant]
    marks = dict(zip(meant, (_house, _star, _flag), strict=True))
    for number, name in sorted(zip((*meant, *rest), (*stops, *others), strict=True)):
        x, y = spots[number]
        _label(canvas, x, y, name, pen)
        marks.get(number, _dot)(canvas, x, y - _LIFT, pen)
    basket = _shop(spots[meant[1]], spots[meant[2]], spots)
    assert basket
    canvas.draw(ellipse(*basket, 46, 46, "#fffdf5", f'stroke="{pen}" stroke-width="4" stroke-dasharray="10 7"'))
    canvas.place("shopping cart", basket[0], basket[1] + 29, 56, shadow=False, note=False)


def _spots(rng: random.Random) -> list[Point]:
    """Three rows of three places, not quite in line."""
    lean = rng.choice((-1, 1))
    return [
        (x + lean * (-1) ** row * _STAGGER + rng.uniform(-12, 12), y + rng.uniform(-9, 9))
        for row, y in enumerate(_ROWS)
        for x in _COLUMNS
    ]


def _ways(spots: Sequence[Point]) -> list[tuple[int, int, int]]:
    """The ways through three places that cross no fourth one, have room for a shop and do not come back beside themselves."""
    fit = {
        (one, two)
        for one, two in permutations(range(len(spots)), 2)
        if all(
            _clear(point, spot, 14)
            for other, spot in enumerate(spots)
            if other not in (one, two)
            for point in _between(spots[one], spots[two])
        )
    }
    return [
        (one, two, three)
        for one, two, three in permutations(range(len(spots)), 3)
        if (one, two) in fit
        and (two, three) in fit
        and _turn(spots[one], spots[two], spots[three]) > _TURN
        and _shop(spots[two], spots[three], spots) is not None
    ]


def _between(start: Point, end: Point) -> list[Point]:
    """Points on the way from one mark to another."""
    (x1, y1), (x2, y2) = start, end
    return [(x1 + (x2 - x1) * part / 20, y1 + (y2 - y1) * part / 20 - _LIFT) for part in range(21)]


def _clear(point: Point, spot: Point, air: float) -> bool:
    """Whether a point is away from the mark and the name of a place."""
    (x, y), (left, top) = point, spot
    return abs(x - left) > _HALF + air or not top - 2 * _LIFT + 8 - air < y < top + 96 + air


def _turn(one: Point, two: Point, three: Point) -> float:
    """The angle at the middle of three places."""
    back, on = (math.atan2(y - two[1], x - two[0]) for x, y in (one, three))
    return abs((on - back + math.pi) % math.tau - math.pi)


def _shop(start: Point, end: Point, spots: Sequence[Point]) -> Point | None:
    """The place nearest to the middle of a way where a shop covers nothing."""
    points = [point for point in _between(start, end) if all(_clear(point, spot, 50) for spot in spots)]
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - _LIFT)
    return min(points, key=lambda point: math.dist(point, middle), default=None)


def _title(canvas: Canvas, rng: random.Random, title: str, pen: str) -> None:
    middle = canvas.width / 2
    canvas.text(title, middle, 112, 58, face="round", fill=pen, anchor="middle", width=1000)
    wobble = 118 + rng.uniform(2, 8)
    half = canvas.art.width(title, 58, "round") / 2
    canvas.draw(
        path(
            f"M{middle - half:.0f} {wobble + 10:.0f} q{half:.0f} {rng.uniform(-8, 10):.0f} {2 * half:.0f} 0",
            more=f'stroke="{pen}" stroke-width="5" stroke-linecap="round"',
        )
    )


def _streets(canvas: Canvas, rng: random.Random, pen: str) -> None:
    """Pale streets, a river, and two things above them at the sides."""
    pale = mix(pen, "#ffffff", 0.88)
    for y in (196, 450, 706, 950):
        bend = rng.uniform(-26, 26)
        canvas.draw(
            path(
                f"M60 {y + bend:.0f} C460 {y - bend:.0f} 980 {y + bend:.0f} 1380 {y - bend:.0f}",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    for x in (110, 500, 950, 1340):
        bend = rng.uniform(-40, 40)
        canvas.draw(
            path(
                f"M{x + bend:.0f} 170 C{x - bend:.0f} 440 {x + bend:.0f} 700 {x - bend:.0f} 966",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    start = rng.uniform(420, 760)
    canvas.draw(
        path(
            f"M40 {start:.0f} C360 {start + rng.uniform(-70, 70):.0f} 1010 {start + rng.uniform(-60, 60):.0f} 1400 {start + rng.uniform(-60, 20):.0f}",
            more='stroke="#d5e9f4" stroke-width="34"',
        )
    )
    for name, x in zip(rng.sample(_AROUND, 2), (120, 1320), strict=True):
        canvas.place(name, x + rng.uniform(-14, 14), 150, rng.uniform(70, 84), shadow=False, score=0.7)


def _drawn_way(canvas: Canvas, rng: random.Random, pen: str, stops: Sequence[tuple[float, float, str]]) -> None:
    """The dotted way through the stops, around the name of the one that it leaves downwards."""
    more = f'stroke="{mix(pen, "#ffffff", 0.1)}" stroke-width="9" stroke-dasharray="3 19" stroke-linecap="round"'
    for one, two in pairwise(stops):
        bend = rng.uniform(-0.03, 0.03)
        (x1, y1, name), (x2, y2, _) = sorted((one, two), key=lambda stop: stop[1])
        y1, y2 = y1 - _LIFT, y2 - _LIFT
        wide, tall, _ = _size(canvas, name)
        foot = y1 + _LIFT - 8 + tall
        # The way would leave the name through its side or its foot.
        beside = x1 + math.copysign(wide / 2 + 24, x2 - x1)
        if y2 - y1 > _LIFT and y1 + (beside - x1) * (y2 - y1) / ((x2 - x1) or 1) > y1 + _LIFT - 30:
            d = f"M{x1:.0f} {y1:.0f} Q{beside:.0f} {y1:.0f} {beside:.0f} {foot - 30:.0f} L{x2:.0f} {y2:.0f}"
        else:
            middle = ((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend)
            d = f"M{x1:.0f} {y1:.0f} Q{middle[0]:.0f} {middle[1]:.0f} {x2:.0f} {y2:.0f}"
        canvas.draw(path(d, more=more))


def _size(canvas: Canvas, name: str) -> tuple[float, float, list[str]]:
    """Width, height and lines of the label with a name."""
    lines = canvas.lines(name, 262, 34, "sans bold")
    wide = min(2 * _HALF, max(canvas.art.width(text, 34, "sans bold") for text in lines) + 36)
    return wide, 24.0 + 40 * len(lines), lines


def _label(canvas: Canvas, x: float, y: float, name: str, pen: str) -> None:
    wide, tall, lines = _size(canvas, name)
    canvas.draw(
        rect(x - wide / 2, y - 8, wide, tall, "#fffefa", 14, f'stroke="{mix(pen, "#ffffff", 0.55)}" stroke-width="2"')
    )
    for number, text in enumerate(lines):
        canvas.text(
            text, x, y + 32 + 40 * number, 34, face="sans bold", fill="#22262e", anchor="middle", width=wide - 24
        )


def _dot(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(ellipse(x, y + 32, 13, 13, mix(pen, "#ffffff", 0.35), f'stroke="{pen}" stroke-width="4"'))


def _house(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        rect(x - 26, y - 14, 52, 44, "#fffefa", 3, f'stroke="{pen}" stroke-width="5"'),
        polygon(
            [(x - 38, y - 12), (x, y - 46), (x + 38, y - 12)],
            "#e07a5f",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        rect(x - 8, y + 6, 16, 24, pen, 2),
    )


def _star(canvas: Canvas, x: float, y: float, pen: str) -> None:
    rim = ((0, -46), (12, -14), (46, -14), (18, 6), (28, 38), (0, 18), (-28, 38), (-18, 6), (-46, -14), (-12, -14))
    canvas.draw(
        polygon(
            [(x + dx, y + dy - 4) for dx, dy in rim],
            "#f2c14e",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        )
    )


def _flag(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        polygon(
            [(x - 18, y - 46), (x + 40, y - 28), (x - 18, y - 8)],
            "#81b29a",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        line(x - 20, y - 48, x - 20, y + 34, pen, 6, 'stroke-linecap="round"'),
    )


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


class Routine(Family):
    """Geocoding, then routes: through shops, in parts, or as the weather has it."""

    name = "routine"
    servers = ("google-maps", "weather")
    titles = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine places of a city, any of which might be a stop; a way leads through three of them."""
        towns = _towns(kit)
        record = rng.choice([city for city in kit.world("cities") if city["id"] in towns])
        start, middle, goal, *others = rng.sample(towns[record["id"]], PLACES)
        canvas = Canvas(kit.art, *SIZE)
        stops = [start, middle, goal]
        title = rng.choice(self.titles).format(record["name"])
        plan(canvas, rng, title, [place["name"] for place in stops], [place["name"] for place in others])
        canvas.light(rng, 0.7)
        return Composition.of(
            canvas,
            city=record["name"],
            town=sights.town_line(kit, record),
            stops=[{key: stop[key] for key in ("name", "lat", "lng")} for stop in stops],
            spelled=[tuple(stop.get("aliases", ())) for stop in stops],
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
    metres = [float(result["elevation"]) for result in json.loads(above)["response"]["results"]]
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
                    value=names[order[0]],
                    aliases=composition.facts["spelled"][order[0]],
                    others=tuple(names[number] for number in order[1:]),
                    context=(composition.facts["town"],),
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


def _points(stops: Sequence[Record], located: Sequence[str]) -> list[dict[str, float]]:
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
    either: Sequence[object] = (),
) -> ReferenceCall:
    arguments: dict[str, object] = {
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


def _plain(place: Record) -> bool:
    """Whether a name is easily read."""
    return place["name"].isascii() and len(place["name"]) <= 30


def _towns(kit: Kit) -> dict[str, list[Record]]:
    """The places of each city that can be any stop of a plan, where there are enough."""
    found: dict[str, list[Record]] = {}
    shops: dict[str, list[Record]] = {}
    for place in kit.world("places"):
        if "supermarket" in place["types"]:
            shops.setdefault(place.get("city_id", ""), []).append(place)
    ends = [place for place in kit.world("places") if place["types"][0] in _ENDS]
    for place in (*kit.world("landmarks"), *ends):
        town = place.get("city_id", "")
        known = {place["name"] for place in found.get(town, ())}
        if _plain(place) and place["name"] not in known and _served(place, shops.get(town, ())):
            found.setdefault(town, []).append(place)
    return {town: places for town, places in found.items() if len(places) >= PLACES}


def _served(place: Record, shops: Sequence[Record]) -> bool:
    """Whether there are a few supermarkets around, however wide the question looks."""
    off = [_apart(place, shop) * 1000 for shop in shops]
    return all(_FEWEST <= sum(distance < metres for distance in off) <= _MOST for metres in _METRES)


def _apart(one: Record, other: Record) -> float:
    """Kilometres between two places, nearly."""
    return hypot((one["lat"] - other["lat"]) * 111.2, (one["lng"] - other["lng"]) * 111.2 * cos(radians(one["lat"])))


def _waypoint(point: Mapping[str, float]) -> Record:
    return {"location": {"latLng": {"latitude": point["lat"], "longitude": point["lng"]}}}


def _text(point: Mapping[str, float]) -> str:
    return f"{point['lat']},{point['lng']}"
