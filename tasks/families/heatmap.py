"""Cities on a departure board, a signpost or posters: maps of all, and heat maps of the one with the worst air."""

import random

from m3bench.tasks.answers.fields import Field, Integer, Name, Pair
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.render import wayfinding
from m3bench.tasks.render.canvas import Canvas

_ZOOM = 10
_MARGIN = 2
"""By how much the worst air must be worse than the next."""
_STYLES = {"roadmap": "road", "terrain": "terrain", "satellite": "satellite", "hybrid": "hybrid"}
_LAYERS = {"PM25_INDIGO_PERSIAN": "PM2.5", "US_AQI": "US AQI"}


class Heatmap:
    """Find cities, map them, and fetch heat-map tiles of the one with the worst air."""

    name = "heatmap"
    servers = ("google-maps", "google-air")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two or three cities, as travellers read them."""
        pool = [city for city in kit.world("cities") if city["people"] >= 100_000]
        cities = rng.sample(pool, rng.choice((2, 3, 3)))
        canvas = Canvas(kit.art, 1280, 860)
        lines = [(city["name"], sights.land_line(kit, city)) for city in cities]
        rng.choice((wayfinding.departures, wayfinding.signpost, wayfinding.posters))(canvas, rng, lines)
        canvas.light(rng, 0.6)
        return Composition.of(
            canvas,
            cities=[sights.town_line(kit, city) for city in cities],
            names=[(city["name"], *city["aliases"]) for city in cities],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Find the cities, map them and ask for their air together, then the tiles of the worst."""
        style = rng.choice(tuple(_STYLES))
        cities, names = composition.facts["cities"], composition.facts["names"]
        points = [sights.position(text) for text in await play.step(*(sights.geocode(city) for city in cities))]
        maps = [
            call(
                "google-maps/static_map", {"center": f"{point[0]},{point[1]}", "zoom": _ZOOM, "maptype": style}, free=("size", "scale", "markers"),
                either={"center": (f"{point[0]},{point[1]}", f"{point[0]}, {point[1]}", city, spellings[0])},
            )
            for point, city, spellings in zip(points, cities, names, strict=True)
        ]  # fmt: skip
        airs = [sights.air_at(point) for point in points]
        texts = await play.step(*maps, *airs)
        indexes = [sights.index(text) for text in texts[len(maps) :]]
        order = sorted(range(len(cities)), key=lambda number: indexes[number])
        need(indexes[order[1]] - indexes[order[0]] >= _MARGIN, "two cities have the worst air")
        worst, *others = order
        x, y = sights.tile(points[worst], _ZOOM)
        layers = [
            call("google-air/heatmap_tile", {"z": _ZOOM, "x": x, "y": y, "indexType": layer}) for layer in _LAYERS
        ]
        await play.step(*layers)
        return Solution(
            wording=f"Geocode the cities in {path}, get a {style} map of each at zoom {_ZOOM}, and the PM2.5 and US AQI heat-map tiles of the one with the worst air.",
            answer=f"The maps of {', '.join(spellings[0] for spellings in names)} are made. The worst air now is in {names[worst][0]} "
            f"with an index of {indexes[worst]}, on tile x {x}, y {y}; its PM2.5 and US AQI tiles are fetched.",
            fields=(
                Field(
                    name="city",
                    meaning="the city with the worst air at the moment",
                    value=Name(
                        value=names[worst][0],
                        aliases=tuple(names[worst][1:]),
                        others=tuple(name for number in others for name in names[number]),
                        context=(cities[worst],),
                    ),
                    compared=tuple(float(indexes[number]) for number in order),
                    derived=tuple(float(index) for index in indexes),
                ),
                Field(name="index", meaning="its universal air quality index now", value=Integer(value=indexes[worst])),
                Field(
                    name="tile",
                    meaning=f"column and row of the heat map tile at zoom {_ZOOM} that covers its centre",
                    value=Pair(value=(x, y)),
                    derived=points[worst],
                ),
            ),
            given={"style": _STYLES[style]},
            alternatives=(play.varied("asks for the maps at the end", {1: airs, 2: [*maps, *layers]}),),
        )
