"""Words for the steps of a route: where to turn, on which road, towards which town.

Roads have names where the world knows them: the streets of its cities and the main roads between them. Where
it does not, a step says the direction or the next town, and no name is made up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from m3bench.sandboxes.servers.google_maps.reverse import nearest_street
from m3bench.sandboxes.world import geo, settlements, tables
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
