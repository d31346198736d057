"""Cities on a departure board, a signpost or posters: maps of all, and heat maps of the one with the worst air."""

import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render import wayfinding
from m3bench.tasks.render.canvas import Canvas

_ZOOM = 10
_STYLES = {"roadmap": "road", "terrain": "terrain", "satellite": "satellite", "hybrid": "hybrid"}
_LAYERS = {"PM25_INDIGO_PERSIAN": "PM2.5", "US_AQI": "US AQI"}


class Heatmap:
    """Find cities, map them, and fetch heat-map tiles of the one with the worst air."""

    name = "heatmap"
    servers = ("google-maps", "google-air")
    questions = (
        "For every city in the photo I need a {style} map at zoom 10, centred on it. Then tell me which has the worst air at the moment, "
        "its universal index, and pull the PM2.5 and US AQI heat map tile covering that centre, same zoom; what are its x and y?",
        "Data journalism request. Draw {style} maps (level ten) of all places named here; compare live air quality; render fine-dust PM2.5 "
        "plus US AQI overlays, z=10, for whichever is dirtiest. Quote the score and the tile column and row.",
        "hey, can you map these towns for my dashboard? zoom=10, {style} style. dirtiest one additionally gets two heat layers, one PM2.5 and "
        "one US AQI, from the tile holding its middle. reply with name, aqi value, tile numbers x/y",
        "I'd like to see, in {style} view with zoom factor 10, where each destination lies. After that find out who suffers most from "
        "pollution today and show me that metropolis's heatmap squares: US AQI and PM2.5. Mention index and tile coordinates, please.",
        "Dispatcher here. Crew might need masks. Check present air scores for the listed stops, give one {style} chart apiece (zoom ten), "
        "identify the lowest score and attach its pollution tiles at z10 (particulates PM2.5; US AQI). Note down x, y and the figure.",
        "Geography teacher seeks help: print a {style} map per location shown, zoom step 10. Students then guess the smoggiest. Solution "
        "sheet should hold the city, the universal AQI, the web-map tile (x and y) and both of its heat tiles, PM2.5 as well as US AQI.",
        "Where would an air purifier salesman travel first? Rank what's visible by current air index, reveal the bottom candidate with "
        "number, tile column, tile row at zoom 10, load PM2.5 and US AQI heat imagery there. Everyone gets an ordinary {style} map (10 too).",
        "Building a slippy map demo with this list as input. Backdrop: {style} static image, zoom 10, centre of each entry. Overlay: "
        "heat tiles, types PM2.5 + US AQI, only over the entry whose air is poorest now. Report that entry, AQI and x/y indices.",
        "Before we choose a transfer, my partner wants proof about smog. Kindly produce zoom 10 {style} maps of these options, say which one "
        "breathes worst and its reading, and get the two colour tiles, PM2.5 and US AQI, on the spot, with their x and y position.",
        "Make me an atlas page: all the names you can read, a {style} cutout at zoom 10 around each. Footnote for the most polluted: "
        "air index at this hour, heat map tile address (x, y) at identical scale, rendered twice: once PM2.5, once US AQI.",
    )

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
        """Find the cities, map them and ask for their air together, then the tiles of the worst; of all that are equal."""
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
        worst = [number for number, index in enumerate(indexes) if index == min(indexes)]
        tiles = [sights.tile(points[number], _ZOOM) for number in worst]
        layers = [
            call("google-air/heatmap_tile", {"z": _ZOOM, "x": x, "y": y, "indexType": layer})
            for x, y in dict.fromkeys(tiles)
            for layer in _LAYERS
        ]
        await play.step(*layers)
        told = "; ".join(
            f"{names[number][0]} with an index of {indexes[number]}, on tile x {x}, y {y}"
            for number, (x, y) in zip(worst, tiles, strict=True)
        )
        return Solution(
            wording=f"Geocode the cities in {path}, get a {style} map of each at zoom {_ZOOM}, and the PM2.5 and US AQI heat-map tiles of the one with the worst air.",
            answer=f"The maps of {', '.join(spellings[0] for spellings in names)} are made. The worst air now is in {told}; its PM2.5 and US AQI tiles are fetched.",
            checks=(
                AnswerNames(all_of=tuple(tuple(names[number]) for number in worst)),
                AnswerNumber(value=min(indexes), tolerance=0, what="the index of the worst air"),
                *(AnswerNumber(value=part, tolerance=0, what="the tile") for place in tiles for part in place),
                CallMade(tool="google-maps/static_map", containing=style, times=len(cities)),
                *(
                    CallMade(tool="google-air/heatmap_tile", containing=layer, times=len(set(tiles)))
                    for layer in _LAYERS
                ),
            ),
            given={"style": _STYLES[style]},
            alternatives=(play.varied("asks for the maps at the end", {1: airs, 2: [*maps, *layers]}),),
        )
