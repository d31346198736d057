"""Cities on a departure board, a signpost or posters, three of them circled: compare their air now or later, or how high they lie."""

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from m3bench.tasks.answers.fields import Field, Integer, Name, Number, NumberPair, Table, Time
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, on, polygon, rect
from m3bench.tasks.scene import Box

Lines = Sequence[tuple[str, str]]
"""Cities with their countries."""

_POSTERS = (
    ("#1f4e79", "#f2a65a"),
    ("#7a2e3a", "#f4c989"),
    ("#20574f", "#f1d9a7"),
    ("#3b2f63", "#ef8f6b"),
    ("#84462a", "#f6d6a8"),
    ("#23406b", "#9fd3dc"),
)
_ARMS = ("#2f6f4f", "#1f5fa8", "#8a3b2a", "#6c3f8f", "#a8701f", "#16807f")


def departures(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """A board in a hall of departures; returns where each city stands."""
    backdrops.room(canvas, rng, floor=0.9)
    left, top, width, row = 90.0, 40.0, canvas.width - 180.0, 92.0
    height = 112 + row * len(cities)
    canvas.draw(
        *(rect(x, 0, 10, top, "#59626b") for x in (left + 160, left + width - 170)), rect(left + 8, top + 12, width, height, "#00000040", 12),
        rect(left, top, width, height, "#12161c", 12), rect(left, top, width, 76, "#f2c230", 12), rect(left, top + 50, width, 26, "#f2c230"),
    )  # fmt: skip
    canvas.text("DEPARTURES", left + 40, top + 56, 50, face="sans black", fill="#12161c")
    hour, minute = rng.randint(6, 14), rng.randrange(0, 60, 5)
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        y = top + 92 + number * row
        canvas.draw(rect(left + 20, y, width - 40, row - 8, "#1d232b", 8))
        canvas.text(f"{hour:02}:{minute:02}", left + 46, y + 56, 40, face="mono bold", fill="#f2c230")
        boxes.append(
            canvas.text(f"{city}, {country}", left + 230, y + 56, 40, face="sans bold", fill="#f7f8f9", width=640)
        )
        canvas.text(
            f"Gate {rng.choice('ABCDE')}{rng.randint(1, 48)}",
            left + width - 56,
            y + 56,
            38,
            face="sans bold",
            fill="#7fd6a2",
            anchor="end",
        )
        minute += rng.randrange(5, 55, 5)
        hour, minute = hour + minute // 60, minute % 60
    return boxes


def signpost(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """A post out of doors with an arm for each city, two on a level; returns where the arms are."""
    horizon = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand", "savanna")), horizon=0.7)
    middle, foot = canvas.width / 2, canvas.height - 50.0
    wood = rng.choice(("#7a5636", "#8d633f", "#5c5f66"))
    for name, x in zip(
        rng.sample(("tree", "evergreen", "bicycle", "backpack", "dog", "sheep"), 3), (140, 410, 1160), strict=True
    ):
        canvas.place(name, x + rng.uniform(-30, 30), horizon + rng.uniform(222, 260), rng.uniform(110, 140))
    canvas.draw(
        ellipse(middle, foot, 90, 16, "#00000040"), fade("post", mix(wood, "#ffffff", 0.2), mix(wood, "#000000", 0.25), across=True),
        rect(middle - 20, 40, 40, foot - 36, "url(#post)", 8), polygon([(middle - 26, 42), (middle, 14), (middle + 26, 42)], mix(wood, "#000000", 0.3)),
    )  # fmt: skip
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        side, colour = 1 if number % 2 else -1, rng.choice(_ARMS)
        y, tall = 66 + number // 2 * 176 + rng.uniform(-6, 6), 118.0
        back, tip = middle + side * 32, middle + side * (canvas.width / 2 - 120)
        point = tip + side * 60
        canvas.draw(
            polygon([(back + 5, y + 8), (tip + 5, y + 8), (point + 5, y + tall / 2 + 8), (tip + 5, y + tall + 8), (back + 5, y + tall + 8)], "#00000038"),
            polygon([(back, y), (tip, y), (point, y + tall / 2), (tip, y + tall), (back, y + tall)], colour, f'stroke="{mix(colour, "#ffffff", 0.6)}" stroke-width="5"'),
        )  # fmt: skip
        centre, wide = (back + tip) / 2 + side * 10, abs(tip - back) - 30
        canvas.text(city, centre, y + 60, 52, face="sans black", fill=on(colour), anchor="middle", width=wide)
        canvas.text(country, centre, y + 100, 32, face="sans bold", fill=on(colour), anchor="middle", width=wide)
        boxes.append((round(min(back, point)), round(y), round(max(back, point)), round(y + tall)))
    return boxes


def posters(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """Travel posters with a skyline, in two rows on a wall; returns their boxes."""
    backdrops.room(canvas, rng, floor=0.96)
    columns = (len(cities) + 1) // 2
    slot, height = canvas.width / columns, canvas.height * 0.4
    width = slot - 78
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        row, column = divmod(number, columns)
        dark, light = rng.choice(_POSTERS)
        left = slot * column + 39 + rng.uniform(-7, 7)
        top = 46 + row * (height + 62) + rng.uniform(-4, 4)
        canvas.draw(
            rect(left + 8, top + 12, width, height, "#00000038", 3), rect(left, top, width, height, "#fbf6ea", 3)
        )
        x, y, wide, tall = left + 12, top + 12, width - 24, height - 24
        key = f"poster{number}"
        canvas.draw(
            fade(key, light, mix(light, "#ffffff", 0.6)),
            rect(x, y, wide, tall, f"url(#{key})"),
            ellipse(x + wide * rng.uniform(0.25, 0.75), y + 76, 40, 40, mix(light, "#ffffff", 0.75)),
        )
        level = y + tall * 0.62
        for layer, share in enumerate((0.45, 0.2, 0.0)):
            _skyline(canvas, rng, x, level - 14 * (2 - layer), wide, 138 - 34 * layer, mix(dark, light, share))
        canvas.draw(rect(x, level - 2, wide, y + tall - level + 2, dark))
        canvas.text(
            city, x + wide / 2, level + 58, 50, face="narrow bold", fill="#fdf8ec", anchor="middle", width=wide - 24
        )
        canvas.draw(line(x + wide * 0.3, level + 74, x + wide * 0.7, level + 74, light, 3))
        canvas.text(
            country, x + wide / 2, level + 110, 30, face="sans bold", fill="#fdf8ec", anchor="middle", width=wide - 24
        )
        boxes.append((round(left), round(top), round(left + width), round(top + height)))
    return boxes


def _skyline(
    canvas: Canvas, rng: random.Random, left: float, foot: float, width: float, tall: float, colour: str
) -> None:
    x = left
    while x < left + width - 4:
        wide = min(rng.uniform(22, 52), left + width - x)
        high = tall * rng.uniform(0.3, 1.0)
        canvas.draw(rect(x, foot - high, wide + 0.5, high + 40, colour))
        if wide > 30 and rng.random() < 0.35:
            canvas.draw(
                polygon([(x + 6, foot - high), (x + wide / 2, foot - high - 34), (x + wide - 6, foot - high)], colour)
            )
        x += wide


_ZOOMS = range(6, 13)
_HOURS = range(3, 48)
_MARGIN = 2
"""By how much the best or worst air must differ from the next."""
_METRES = 15
"""By how much the highest must be higher than the next."""
_LAYERS = {"PM25_INDIGO_PERSIAN": "PM2.5", "US_AQI": "US AQI"}

Point = tuple[float, float]


class Heatmap(Family):
    """Find cities, compare them, and look closer at one."""

    name = "heatmap"
    servers = ("google-maps", "google-air", "math", "weather")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight cities, as travellers read them; red is drawn around three."""
        pool = [city for city in kit.world("cities") if city["people"] >= 100_000]
        listed = rng.sample(pool, 8)
        canvas = Canvas(kit.art, 1400, 920)
        lines = [(city["name"], sights.land_line(kit, city)) for city in listed]
        boxes = rng.choice((departures, signpost, posters))(canvas, rng, lines)
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
                    value=NumberPair(value=(x, y)),
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


def _index(hour: Record) -> int:
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
