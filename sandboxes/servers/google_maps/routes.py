"""Routes: legs over the road metric, their line on the ground, their steps and how long they take.

The line wanders around the straight one so that it is as long as the way is; the steps cut it into pieces that
are short near both ends. Their lengths and times add up to the leg's, the legs' to the route's.

A step says where to turn, on which road, towards which town. Roads have names where the world knows them: the streets
of its cities and the main roads between them. Elsewhere a step says the direction or the next town, and no name is made
up.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import pairwise, permutations
from zoneinfo import ZoneInfo

import numpy as np

from m3bench.sandboxes.servers.google_maps.geocoder import nearest_street
from m3bench.sandboxes.world import geo, noise, roads, settlements, tables, zones
from m3bench.sandboxes.world.geo import Point

STREET_M = 220.0
HIGHWAY_M = 22_000.0
LONG_STEP_M = 4_000
_TAGS = re.compile(r"<div[^>]*>|</?[a-z]+>")


@dataclass(frozen=True)
class Instruction:
    """What to do at the start of a step."""

    html: str
    manoeuvre: str
    """In the words of the legacy service, such as turn-left; empty for the first step."""
    road: str

    @property
    def text(self) -> str:
        """The same without markup."""
        return _TAGS.sub(lambda tag: "\n" if tag.group().startswith("<div") else "", self.html)


class Guide:
    """Writes the instructions of one leg, step by step."""

    def __init__(self, *, walking: bool) -> None:
        self._walking = walking
        self._heading: float | None = None
        self._road = ""
        self._town = ""

    def next(self, line: Sequence[Point], metres: int, *, last: bool) -> Instruction:
        """The instruction for the step that follows the last one."""
        heading = geo.bearing(line[0], line[-1])
        road = self._road_on(line, metres)
        towards = self._towards(line[-1]) if metres >= LONG_STEP_M and not self._walking else ""
        html, manoeuvre = self._words(heading, road, towards, metres)
        if last:
            side = "right" if round(line[-1].lat * 1e5 + line[-1].lng * 1e5) % 2 else "left"
            html += f'<div style="font-size:0.9em">Destination will be on the {side}</div>'
        self._heading, self._road = heading, road or self._road
        return Instruction(html, manoeuvre, road)

    def _words(self, heading: float, road: str, towards: str, metres: int) -> tuple[str, str]:
        to = f" toward <b>{towards}</b>" if towards else ""
        if self._heading is None:
            on = f" on <b>{road}</b>" if road else ""
            return f"Head <b>{geo.compass(heading)}</b>{on}{to}", ""
        onto = f" onto <b>{road}</b>" if road else ""
        if road and road == self._road:
            return f"Continue on <b>{road}</b>{to}", "straight"
        if road and metres >= LONG_STEP_M and not self._walking:
            return f"Merge onto <b>{road}</b>{to}", "merge"
        turn = (heading - self._heading + 180) % 360 - 180
        side = "right" if turn > 0 else "left"
        if abs(turn) < 12:
            return (f"Continue{onto}{to}" if onto or to else "Continue straight"), "straight"
        if abs(turn) < 45:
            return f"Slight <b>{side}</b>{onto}{to}", f"turn-slight-{side}"
        if abs(turn) > 125:
            return f"Sharp <b>{side}</b>{onto}{to}", f"turn-sharp-{side}"
        return f"Turn <b>{side}</b>{onto}{to}", f"turn-{side}"

    def _road_on(self, line: Sequence[Point], metres: int) -> str:
        middle = line[len(line) // 2] if len(line) > 2 else geo.between(line[0], line[-1], 0.5)
        if metres >= LONG_STEP_M and not self._walking:
            return _highway(middle, geo.bearing(line[0], line[-1]))
        street = nearest_street(middle, STREET_M)
        return street.name if street else ""

    def _towards(self, point: Point) -> str:
        town = max(settlements.around(point, 4), key=lambda place: place.people)
        if geo.distance(point, town.point) > 40_000 or town.name == self._town:
            return ""
        self._town = town.name
        return town.name


def _highway(point: Point, heading: float) -> str:
    """The main road that runs here in this direction; empty when none is known."""
    best = (HIGHWAY_M, "")
    for name, line in _highways():
        for a, b in pairwise(line):
            if not (min(a.lat, b.lat) - 0.4 <= point.lat <= max(a.lat, b.lat) + 0.4):
                continue
            whole = geo.distance(a, b)
            to_a, to_b = geo.distance(point, a), geo.distance(point, b)
            if to_a + to_b > 1.15 * whole + 10_000:
                continue
            off = abs((geo.bearing(a, b) - heading + 90) % 180 - 90)
            # Height of the triangle over the stretch between two towns.
            half = (to_a + to_b + whole) / 2
            area = max(0.0, half * (half - to_a) * (half - to_b) * (half - whole)) ** 0.5
            away = 2 * area / whole if whole else to_a
            if off < 40 and away < best[0]:
                best = (away, name)
    return best[1]


@cache
def _highways() -> tuple[tuple[str, tuple[Point, ...]], ...]:
    return tuple(
        (record["name"], tuple(Point(lat, lng) for lat, lng in record["line"])) for record in tables.load("highways")
    )


MODES = ("driving", "walking", "bicycling", "transit", "two_wheeler")
TOLL_M = 40_000.0
"""Shorter drives find a way without a toll anyhow."""
_TOLLED = frozenset(["FR", "IT", "ES", "PT", "GR", "HR", "RS", "JP", "KR", "CN", "TW", "MY", "MX", "AR", "CL", "MA"])
WALK_KMH = 4.8
BICYCLE_KMH = 15.0
DRIVE_KMH = 98.0
DRIVE_START_S = 520.0
"""What slow streets at both ends cost a car, reached after some kilometres."""
MAX_LINE_POINTS = 72


@dataclass(frozen=True, kw_only=True)
class RouteStep:
    """A part of a leg on one road."""

    metres: int
    seconds: int
    line: tuple[Point, ...]
    instruction: Instruction


@dataclass(frozen=True, kw_only=True)
class Leg:
    """The way from one stop to the next."""

    start: Point
    end: Point
    metres: int
    seconds: int
    """Without traffic."""
    traffic_seconds: int
    line: tuple[Point, ...]
    steps: tuple[RouteStep, ...]


@dataclass(frozen=True, kw_only=True)
class Route:
    """A way through all stops."""

    legs: tuple[Leg, ...]
    summary: str
    order: tuple[int, ...]
    """Where each stop between was in the question."""

    @property
    def metres(self) -> int:
        """Length."""
        return sum(leg.metres for leg in self.legs)

    @property
    def seconds(self) -> int:
        """Time without traffic."""
        return sum(leg.seconds for leg in self.legs)

    @property
    def traffic_seconds(self) -> int:
        """Time with traffic."""
        return sum(leg.traffic_seconds for leg in self.legs)

    @property
    def line(self) -> tuple[Point, ...]:
        """The whole line, each corner once."""
        points = [self.legs[0].line[0]]
        for leg in self.legs:
            points += leg.line[1:]
        return tuple(points)


def plan(
    stops: Sequence[Point], mode: str, when: datetime, *, optimise: bool = False, variant: int = 0
) -> Route | None:
    """The route through stops in order, or in the best order; None when no road joins them.

    Args:
        stops: From the origin to the destination.
        mode: One of `MODES`.
        when: Departure, for the traffic.
        optimise: Whether the stops between may change places.
        variant: 0 for the best route, 1 … for others that are a little longer.
    """
    if any(not roads.joined(a, b) for a, b in pairwise(stops)):
        return None
    order = _best_order(stops, mode) if optimise else tuple(range(len(stops) - 2))
    arranged = [stops[0], *(stops[index + 1] for index in order), stops[-1]]
    legs = tuple(_leg(a, b, mode, when, variant) for a, b in pairwise(arranged))
    names = [step.instruction.road for leg in legs for step in leg.steps if step.instruction.road]
    longest = max((step for leg in legs for step in leg.steps if step.instruction.road), key=_length, default=None)
    return Route(legs=legs, summary=longest.instruction.road if longest else (names[0] if names else ""), order=order)


def has_tolls(stops: Sequence[Point], mode: str) -> bool:
    """Whether the best way is likely to cost a toll: a long drive where motorways are tolled throughout the country."""
    if mode not in ("driving", "two_wheeler") or max(geo.distance(a, b) for a, b in pairwise(stops)) < TOLL_M:
        return False
    town = settlements.nearest(stops[0], 60_000)
    return town is not None and town.country in _TOLLED


def measure(a: Point, b: Point, mode: str, when: datetime) -> tuple[int, int, int] | None:
    """Metres, seconds and seconds with traffic, as `plan` has them; None when no road joins the points."""
    if not roads.joined(a, b):
        return None
    metres, seconds = _cost(a, b, mode, 0)
    return metres, seconds, _with_traffic(seconds, metres, a, b, mode, when)


def _cost(a: Point, b: Point, mode: str, variant: int) -> tuple[int, int]:
    way = roads.way(a, b)
    metres = way.metres * (0.94 if mode == "walking" else 0.98 if mode == "bicycling" else 1.0)
    metres = max(metres, geo.distance(a, b)) * (1 + 0.06 * variant)
    slope = 1 + 0.45 * way.rough
    kilometres = metres / 1000
    match mode:
        case "walking":
            seconds = kilometres / WALK_KMH * 3600
        case "bicycling":
            seconds = kilometres / BICYCLE_KMH * 3600
        case _:
            seconds = kilometres / DRIVE_KMH * 3600 + DRIVE_START_S * (1 - math.exp(-kilometres / 6))
            if mode == "transit":
                seconds = 1.7 * seconds + 300 * (1 - math.exp(-kilometres))
            if mode == "two_wheeler":
                seconds *= 0.95
    return round(metres), round(seconds * slope * (1 + 0.03 * variant))


def _with_traffic(seconds: int, metres: int, a: Point, b: Point, mode: str, when: datetime) -> int:
    if mode not in ("driving", "two_wheeler"):
        return seconds
    local = when.astimezone(ZoneInfo(zones.zone_at(a)))
    hour = local.hour + local.minute / 60
    rush = math.exp(-(((hour - 8.3) / 1.3) ** 2)) + math.exp(-(((hour - 17.6) / 1.8) ** 2)) + 0.25 * (9 < hour < 19)
    town = settlements.nearest(a, 60_000)
    crowd = min(1.0, math.log10(1 + town.people / 20_000) / 2.5) if town else 0.0
    local_share = 1 / (1 + metres / 60_000)
    mood = noise.between(0.97, 1.06, "traffic", round(a.lat, 3), round(b.lng, 3), local.toordinal(), local.hour)
    weekend = 0.5 if local.weekday() >= 5 else 1.0
    return round(seconds * (mood + 0.4 * rush * weekend * crowd * (0.3 + 0.7 * local_share)))


def _leg(a: Point, b: Point, mode: str, when: datetime, variant: int) -> Leg:
    metres, seconds = _cost(a, b, mode, variant)
    line = _line(a, b, metres, variant)
    return Leg(
        start=a,
        end=b,
        metres=metres,
        seconds=seconds,
        traffic_seconds=_with_traffic(seconds, metres, a, b, mode, when),
        line=line,
        steps=_steps(line, metres, seconds, mode),
    )


def _line(a: Point, b: Point, metres: int, variant: int) -> tuple[Point, ...]:
    """Points from a to b whose line is about so many metres long."""
    straight = geo.distance(a, b)
    if straight < 2:
        return (a, b)
    count = max(4, min(MAX_LINE_POINTS, int(4 + metres / 60)))
    shares = np.linspace(0, 1, count + 1)
    key = f"{a.lat:.5f},{a.lng:.5f},{b.lat:.5f},{b.lng:.5f},{variant}"
    knots = max(2, count // 5)
    wander = np.array(
        [
            noise.value_noise_1d(share * knots, "line", key) + 0.5 * noise.value_noise_1d(share * count / 2, key)
            for share in shares
        ]
    )
    wander *= np.minimum(1, 5 * np.minimum(shares, 1 - shares))
    along = np.diff(shares) * straight
    low, high = 0.0, 0.6 * straight
    for _ in range(22):
        middle = (low + high) / 2
        if np.hypot(along, np.diff(wander * middle)).sum() < metres:
            low = middle
        else:
            high = middle
    off = wander * low
    points = [a]
    for share, metres_off in zip(shares[1:-1], off[1:-1], strict=True):
        base = geo.between(a, b, float(share))
        point = geo.destination(base, geo.bearing(base, b) + 90, float(metres_off))
        points.append(Point(round(point.lat, 5), round(point.lng, 5)))
    return (*points, b)


def _steps(line: tuple[Point, ...], metres: int, seconds: int, mode: str) -> tuple[RouteStep, ...]:
    count = 1 if metres < 120 else max(2, min(15, round(1 + 1.35 * math.log2(metres / 150))))
    key = f"{line[0]}{line[-1]}"
    weights = [1.9 ** min(i, count - 1 - i) * noise.between(0.6, 1.5, "step", key, i) for i in range(count)]
    pieces = _pieces(line, weights)
    lengths = _parts(metres, weights)
    times = _parts(seconds, [weight / (1 if mode in ("walking", "bicycling") else weight**0.3) for weight in weights])
    guide = Guide(walking=mode == "walking")
    return tuple(
        RouteStep(
            metres=length, seconds=time, line=piece, instruction=guide.next(piece, length, last=number == count - 1)
        )
        for number, (piece, length, time) in enumerate(zip(pieces, lengths, times, strict=True))
    )


def _pieces(line: tuple[Point, ...], weights: Sequence[float]) -> list[tuple[Point, ...]]:
    """The line cut in proportion to the weights."""
    far = [0.0]
    for a, b in pairwise(line):
        far.append(far[-1] + geo.distance(a, b))
    total, pieces, index, start, gone = sum(weights), [], 0, line[0], 0.0
    for weight in weights:
        gone += weight / total * far[-1]
        piece = [start]
        while index + 1 < len(line) - 1 and far[index + 1] < gone:
            index += 1
            piece.append(line[index])
        span = far[index + 1] - far[index]
        share = min(1.0, max(0.0, (gone - far[index]) / span)) if span else 1.0
        a, b = line[index], line[index + 1]
        start = Point(round(a.lat + (b.lat - a.lat) * share, 5), round(a.lng + (b.lng - a.lng) * share, 5))
        pieces.append((*piece, start))
    pieces[-1] = (*pieces[-1][:-1], line[-1])
    return pieces


def _parts(total: int, weights: Sequence[float]) -> list[int]:
    """A whole number in parts by weight, which add up to it."""
    whole, parts, given, gone = sum(weights), [], 0, 0.0
    for weight in weights:
        gone += weight
        upto = round(total * gone / whole)
        parts.append(upto - given)
        given = upto
    return parts


def _best_order(stops: Sequence[Point], mode: str) -> tuple[int, ...]:
    """The order of the stops between (travelling salesman): exact for up to six, else by the nearest neighbour."""
    between = range(1, len(stops) - 1)
    cost = {
        (i, j): _cost(stops[i], stops[j], mode, 0)[1] for i in range(len(stops)) for j in range(len(stops)) if i != j
    }

    def total(order: Sequence[int]) -> int:
        return sum(cost[pair] for pair in pairwise((0, *order, len(stops) - 1)))

    if len(between) <= 6:
        best = min(permutations(between), key=lambda order: (total(order), order), default=())
    else:
        left, here, walk = set(between), 0, []
        while left:
            here = min(left, key=lambda stop: (cost[here, stop], stop))
            left.remove(here)
            walk.append(here)
        best = tuple(walk)
    return tuple(stop - 1 for stop in best)


def _length(step: RouteStep) -> int:
    return step.metres
