"""Cities on a departure board, a signpost or posters, three of them circled: compare their air now or later, or how high they lie."""

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from m3bench.tasks.answers.fields import Field, Integer, Name, Number, Pair, Table, Time
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.render import pen, wayfinding
from m3bench.tasks.render.canvas import Canvas

_ZOOMS = range(6, 13)
_HOURS = range(3, 48)
_MARGIN = 2
"""By how much the best or worst air must differ from the next."""
_METRES = 15
"""By how much the highest must be higher than the next."""
_LAYERS = {"PM25_INDIGO_PERSIAN": "PM2.5", "US_AQI": "US AQI"}

Point = tuple[float, float]


class Heatmap:
    """Find cities, compare them, and look closer at one."""

    name = "heatmap"
    servers = ("google-maps", "google-air", "math", "weather")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight cities, as travellers read them; red is drawn around three."""
        pool = [city for city in kit.world("cities") if city["people"] >= 100_000]
        listed = rng.sample(pool, 8)
        canvas = Canvas(kit.art, 1400, 920)
        lines = [(city["name"], sights.land_line(kit, city)) for city in listed]
        boxes = rng.choice((wayfinding.departures, wayfinding.signpost, wayfinding.posters))(canvas, rng, lines)
        meant = sorted(rng.sample(range(len(listed)), 3))
        canvas.light(rng, 0.6)
        others = [box for number, box in enumerate(boxes) if number not in meant]
        pen.circle(canvas, rng, [boxes[number] for number in meant], others)
        cities = [listed[number] for number in meant]
        return Composition.of(
            canvas,
            cities=[sights.town_line(kit, city) for city in cities],
            names=[(city["name"], *city["aliases"]) for city in cities],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Find the cities; what follows depends on the goal."""
        cities = composition.facts["cities"]
        points = [sights.position(text) for text in await play.step(*(sights.geocode(city) for city in cities))]
        goals = {"arrival": self._arrival, "height": self._height, "tile": self._tile}
        return await goals[play.goal](rng, composition, points, path, play)

    async def _tile(
        self, rng: random.Random, composition: Composition, points: Sequence[Point], path: str, play: Script
    ) -> Solution:
        """The air of all now, then the heat maps of the worst."""
        zoom = rng.choice(_ZOOMS)
        indexes = [sights.index(text) for text in await play.step(*(sights.air_at(point) for point in points))]
        order = sorted(range(len(points)), key=lambda number: indexes[number])
        need(indexes[order[1]] - indexes[order[0]] >= _MARGIN, "two cities have the worst air")
        worst = order[0]
        x, y = sights.tile(points[worst], zoom)
        await play.step(
            *(call("google-air/heatmap_tile", {"z": zoom, "x": x, "y": y, "indexType": layer}) for layer in _LAYERS)
        )
        name = _city(composition, worst)
        return Solution(
            wording=f"Geocode the cities circled in red in {path}, compare their air, and fetch the PM2.5 and US AQI heat-map tiles of the worst at zoom {zoom}.",
            answer=f"{_told(composition, indexes)} The worst air now is in {name.value}, on tile x {x}, y {y}.",
            fields=(
                _first("worst", "the circled city with the worst air at the moment", name, indexes, order),
                _listed("the circled cities, each with its universal air quality index now", composition, indexes),
                Field(
                    name="tile",
                    meaning=f"column and row of the heat map tile at zoom {zoom} that covers its centre",
                    value=Pair(value=(x, y)),
                    derived=points[worst],
                ),
            ),
            given={"zoom": str(zoom)},
        )

    async def _arrival(
        self, rng: random.Random, composition: Composition, points: Sequence[Point], path: str, play: Script
    ) -> Solution:
        """The air that is forecast for an hour, then the clock of the best city at that hour."""
        hours = rng.choice(_HOURS)
        texts = await play.step(
            *(
                call("google-air/forecast", {"lat": lat, "lng": lng, "hours": hours}, near={"lat": 0.002, "lng": 0.002})
                for lat, lng in points
            )
        )
        days = [json.loads(text)["hourlyForecasts"] for text in texts]
        indexes = [_index(day[-1]) for day in days]
        order = sorted(range(len(points)), key=lambda number: -indexes[number])
        best = order[0]
        need(indexes[best] - indexes[order[1]] >= _MARGIN, "two cities have the best air")
        need(_index(days[best][0]) != indexes[best], "the air does not change")
        lat, lng = points[best]
        (text,) = await play.step(
            call("google-maps/timezone", {"lat": lat, "lng": lng}, near={"lat": 0.1, "lng": 0.1}, free=("timestamp",))
        )
        zone = json.loads(text)["response"]
        seconds = zone["rawOffset"] + zone["dstOffset"]
        clock = datetime.fromisoformat(days[best][-1]["dateTime"]) + timedelta(seconds=seconds)
        need(
            seconds != 0 and zone["dstOffset"] == 0, "the clock must not be that of the forecast, nor change overnight"
        )
        name = _city(composition, best)
        return Solution(
            wording=f"Geocode the cities circled in red in {path}, compare the air that is forecast {hours} hours from now, and tell the best one's local time then.",
            answer=f"{_told(composition, indexes)} In {hours} hours {name.value} has the best air; it will be {clock:%H:%M} there.",
            fields=(
                _first("best", f"the circled city with the best air {hours} hours from now", name, indexes, order),
                _listed(
                    "the circled cities, each with the universal air quality index that is forecast for it then",
                    composition,
                    indexes,
                ),
                Field(
                    name="local_time",
                    meaning="the time on the clocks there then",
                    value=Time(zone="local", value=f"{clock:%H:%M}"),
                    derived=(zone["rawOffset"],),
                ),
            ),
            given={"hours": str(hours)},
        )

    async def _height(
        self, rng: random.Random, composition: Composition, points: Sequence[Point], path: str, play: Script
    ) -> Solution:
        """All heights at once, then the difference and the weather at the highest."""
        places = [f"{lat},{lng}" for lat, lng in points]
        (text,) = await play.step(call("google-maps/elevation_by_locations", {"locations": places}))
        heights = [float(result["elevation"]) for result in json.loads(text)["response"]["results"]]
        order = sorted(range(len(points)), key=lambda number: -heights[number])
        high, low = order[0], order[-1]
        need(heights[high] - heights[order[1]] >= _METRES, "two cities lie at one height")
        need(
            heights[low] >= 0 and heights[high] - heights[low] <= 0.97 * heights[high],
            "the height itself is the difference",
        )
        metric = rng.random() < 0.5
        town = composition.facts["cities"][high]
        difference, weather = await play.step(
            call("math/subtract", {"minuend": heights[high], "subtrahend": heights[low]}),
            call(
                "weather/get_weather", {"location": town, "units": "metric" if metric else "us"},
                words={"location": (town.split(",")[0],)}, free=("units",),
            ),
        )  # fmt: skip
        warmth = sights.temperature(weather)
        name = _city(composition, high)
        return Solution(
            wording=f"Geocode the cities circled in red in {path}, find the highest, by how much it lies above the lowest, and its weather now.",
            answer=f"{name.value} lies highest, {float(difference):.0f} m above the lowest; it is {warmth:g} degrees there now.",
            fields=(
                _first("highest", "the circled city that lies highest above the sea", name, heights, order),
                Field(
                    name="difference",
                    meaning="by how many metres it lies above the lowest of the circled ones",
                    value=Number(unit="m", value=float(difference), within=2.0),
                    derived=tuple(heights),
                ),
                Field(
                    name="temperature",
                    meaning="how warm it is in the highest one now",
                    value=Number(unit="°C" if metric else "°F", value=warmth, within=0.5),
                ),
            ),
            given={"degrees": "Celsius" if metric else "Fahrenheit"},
            alternatives=(play.varied("subtracted without a tool", {2: play.steps[2][1:]}),),
        )


def _index(hour: dict[str, Any]) -> int:
    return int(hour["indexes"][0]["aqi"])


def _first(name: str, meaning: str, city: Name, values: Sequence[float], order: Sequence[int]) -> Field:
    """The field for the first of the cities in an order by some value of theirs."""
    compared = tuple(float(values[number]) for number in order)
    return Field(name=name, meaning=meaning, value=city, compared=compared, derived=tuple(map(float, values)))


def _listed(meaning: str, composition: Composition, indexes: Sequence[int]) -> Field:
    """Every circled city with its index."""
    rows = tuple((_city(composition, number), Integer(value=index)) for number, index in enumerate(indexes))
    return Field(name="indexes", meaning=meaning, value=Table(columns=("city", "index"), rows=rows))


def _told(composition: Composition, indexes: Sequence[int]) -> str:
    names = [spellings[0] for spellings in composition.facts["names"]]
    return "".join(f"{name} has {index}. " for name, index in zip(names, indexes, strict=True)).strip()


def _city(composition: Composition, number: int) -> Name:
    """One of the cities of a picture, which is none of the others."""
    names = composition.facts["names"]
    return Name(
        value=names[number][0],
        aliases=tuple(names[number][1:]),
        others=tuple(name for other, spellings in enumerate(names) if other != number for name in spellings),
        context=(composition.facts["cities"][number],),
    )
