"""Posters with QR codes: decode them, fetch the linked photographs, and find out about the places they show."""

import json
import random
from collections.abc import Sequence
from typing import Any

from m3bench.tasks.answers.fields import Field, Integer, Items, Name, Number, Phone, Table
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, on, rect

_HOURS = range(6, 50, 2)
_RADII = range(1500, 4100, 100)
_MARGIN = 2
"""Points by which the best air must be better than the next."""
_NORTH = 1.0
"""Degrees by which the northernmost place must be farther north than the next."""
_UNREADABLE = frozenset(("gO8wHb2YqEu",))
"""Photographs whose caption no engine reads."""
_COLOURS = ("#1f5c7a", "#8a3b4a", "#2f6b4f", "#6a4a8c", "#b0622a", "#274472", "#7a5a1e", "#a23e62")


class _Tables(Tables):
    invitations: tuple[str, ...]


_tables = tables("qr_attraction", _Tables)


class QrAttraction:
    """Decode, fetch, read and find; then compare, or look around one place."""

    name = "qr_attraction"
    servers = ("pyzbar-mcp", "linkimage-mcp", "ocr", "google-maps", "google-air")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four small posters with a code each."""
        landmarks = {landmark["id"]: landmark for landmark in kit.world("landmarks")}
        pages = rng.sample(
            [page for page in kit.world("links") if page["id"] not in _UNREADABLE], rng.choice((3, 3, 4))
        )
        canvas = Canvas(kit.art, 1500, 860)
        if rng.random() < 0.6:
            backdrops.room(canvas, rng, floor=0.9)
        else:
            backdrops.table(canvas, rng)
        wide = 330.0 if len(pages) == 4 else 400.0
        gap = (canvas.width - wide * len(pages)) / (len(pages) + 1)
        invitations, colours = rng.sample(_tables().invitations, len(pages)), rng.sample(_COLOURS, len(pages))
        for number, page in enumerate(pages):
            left, top, tall = gap + number * (wide + gap), rng.uniform(60, 120), 560.0
            colour = colours[number]
            canvas.draw(
                rect(left + 9, top + 13, wide, tall, "#00000040", 8), fade(f"q{number}", mix(colour, "#ffffff", 0.18), mix(colour, "#000000", 0.12)),
                rect(left, top, wide, tall, f"url(#q{number})", 8), rect(left + wide / 2 - 150, top + 122, 300, 300, "#ffffff", 14),
            )  # fmt: skip
            canvas.text(
                invitations[number],
                left + wide / 2,
                top + 84,
                50,
                face=rng.choice(("round", "script", "sans black")),
                fill=on(colour),
                anchor="middle",
                width=wide - 48,
            )
            code(
                canvas,
                f"https://unsplash.com/photos/{page['slug']}-{page['id']}",
                left + wide / 2,
                top + 272,
                kind="qr",
                scale=6,
            )
            canvas.place(
                rng.choice(("camera", "airplane", "compass", "world map", "globe", "luggage")),
                left + wide / 2,
                top + tall - 22,
                96,
                shadow=False,
                note=False,
            )
        for name, x in zip(
            rng.sample(("potted plant", "bicycle", "backpack", "luggage", "umbrella", "cat"), 2),
            (rng.uniform(140, 500), rng.uniform(900, 1350)),
            strict=True,
        ):
            canvas.place(name, x, 846, rng.uniform(110, 140))
        canvas.light(rng, 0.5)
        facts = [
            dict(landmarks[page["landmark_id"]])
            | {"title": page["title"], "subtitle": page["subtitle"], "page": page["id"]}
            for page in pages
        ]
        places = {page["page"]: page | {"where": sights.country_of(kit, page["country"])} for page in facts}
        return Composition.of(canvas, places=places)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """One scan; which links are followed, and what is asked of the places, depends on the goal."""
        (text,) = await play.step(
            call("pyzbar-mcp/scan_barcode", {"image_paths": path}, either={"image_paths": (path, [path])})
        )
        results = sorted(json.loads(text)["metadata"]["results"], key=lambda result: result["rect"]["x"])
        need(len(results) == len(composition.facts["places"]), "the codes must be legible")
        links = [result["data"] for result in results]
        goals = {"north": self._north, "one_poster": self._one_poster, "outlook": self._outlook}
        return await goals[play.goal](rng, composition, links, path, play)

    async def _outlook(
        self, rng: random.Random, composition: Composition, links: Sequence[str], path: str, play: Script
    ) -> Solution:
        """The air of all now, then the forecast of the best."""
        hours = rng.choice(_HOURS)
        places, points = await _found(composition, links, play)
        indexes = [sights.index(text) for text in await play.step(*(sights.air_at(point) for point in points))]
        order = sorted(range(len(places)), key=lambda number: -indexes[number])
        best = order[0]
        need(indexes[best] - indexes[order[1]] >= _MARGIN, "two places have the best air")
        (text,) = await play.step(
            call(
                "google-air/forecast", {"lat": points[best][0], "lng": points[best][1], "hours": hours},
                near={"lat": 0.002, "lng": 0.002},
            )
        )  # fmt: skip
        low = min(hour["indexes"][0]["aqi"] for hour in json.loads(text)["hourlyForecasts"])
        need(low not in indexes, "the outlook is what the air is now")
        names = _names(places)
        told = "; ".join(f"{name.value}: {index}" for name, index in zip(names, indexes, strict=True))
        return Solution(
            wording=f"Decode the codes in {path}, fetch and read the linked photos, geocode the places, compare their air and forecast {hours} hours for the cleanest.",
            answer=f"Air index now: {told}. The cleanest is {names[best].value}; in the next {hours} hours it falls to {low} at the lowest.",
            fields=(
                Field(
                    name="places",
                    meaning="each place and its universal air quality index now",
                    value=Table(
                        columns=("place", "index"),
                        rows=tuple((name, Integer(value=index)) for name, index in zip(names, indexes, strict=True)),
                    ),
                ),
                Field(
                    name="cleanest",
                    meaning="the place with the best air now",
                    value=names[best],
                    compared=tuple(float(indexes[number]) for number in order),
                    derived=tuple(float(index) for index in indexes),
                ),
                Field(
                    name="lowest_ahead",
                    meaning=f"the lowest index that is forecast there for the next {hours} hours",
                    value=Integer(value=low),
                ),
            ),
            given={"hours": str(hours)},
            alternatives=(play.varied("knows the places by sight", {2: ()}),),
        )

    async def _north(
        self, rng: random.Random, composition: Composition, links: Sequence[str], path: str, play: Script
    ) -> Solution:
        """Where all are, then the air at the northernmost."""
        places, points = await _found(composition, links, play)
        order = sorted(range(len(places)), key=lambda number: -points[number][0])
        north = order[0]
        need(points[north][0] - points[order[1]][0] >= max(_NORTH, 1 - points[north][0]), "two places are as far north")
        (text,) = await play.step(sights.air_at(points[north]))
        index = sights.index(text)
        names = _names(places)
        return Solution(
            wording=f"Decode the codes in {path}, fetch and read the linked photos, geocode the places, and tell the air at the northernmost.",
            answer=f"The places are {', '.join(name.value for name in names)}. The northernmost is {names[north].value} "
            f"at {points[north][0]:.1f} degrees; the air index there is {index}.",
            fields=(
                Field(name="places", meaning="all the places that the photos show", value=Items(items=tuple(names))),
                Field(
                    name="northernmost",
                    meaning="the place that is farthest north",
                    value=names[north],
                    compared=tuple(points[number][0] for number in order),
                    derived=tuple(point[0] for point in points),
                ),
                Field(
                    name="latitude",
                    meaning="its latitude in degrees, to one decimal",
                    value=Number(unit="degrees", value=points[north][0], decimals=1, within=0.11),
                ),
                Field(name="index", meaning="its universal air quality index now", value=Integer(value=index)),
            ),
            alternatives=(play.varied("knows the places by sight", {2: ()}),),
        )

    async def _one_poster(
        self, rng: random.Random, composition: Composition, links: Sequence[str], path: str, play: Script
    ) -> Solution:
        """One of the posters alone, told by where it hangs; then where to eat there."""
        radius, side = rng.choice(_RADII), rng.choice(("left", "right"))
        link = links[0 if side == "left" else -1]
        (place,), (point,) = await _found(composition, (link,), play)
        (text,) = await play.step(sights.nearby(point, radius, "restaurant"))
        found = sights.ranked(text)
        (text,) = await play.step(sights.details(found[:1]))
        everywhere = [composition.facts["places"][one[-11:]] for one in links]
        name = _names(everywhere)[links.index(link)]
        return Solution(
            wording=f"Decode the code of the {side}most poster in {path}, fetch and read the photo, and find the best-rated restaurant within {radius} m.",
            answer=f"It shows {name.value}. The best-rated restaurant there is {sights.called(found[0])}, {sights.phone(text)}.",
            fields=(
                Field(name="place", meaning="the place that its photo shows", value=name),
                sights.best_field(
                    "restaurant", "the best-rated restaurant in the given distance", found, place["title"]
                ),
                Field(name="phone", meaning="its phone number", value=Phone(value=sights.phone(text))),
            ),
            given={"radius": str(radius), "side": side},
            alternatives=(play.varied("knows the place by sight", {2: ()}),),
        )


async def _found(
    composition: Composition, links: Sequence[str], play: Script
) -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
    """The places behind some links and where they are: photographs, captions, positions."""
    places = [composition.facts["places"][link[-11:]] for link in links]
    texts = await play.step(*(call("linkimage-mcp/fetch_unsplash_image", {"url": link}) for link in links))
    photos = [json.loads(text)["saved_path"] for text in texts]
    captions = await play.step(
        *(
            call("ocr/perform_ocr", {"input_data": photo}, either={"input_data": _spellings(photo)}, free=("config",))
            for photo in photos
        )
    )
    for place, caption in zip(places, captions, strict=True):
        first = place["title"].split()[0].casefold()
        need(first in caption.casefold(), f"the caption of {place['title']} must be legible")
    codes = await play.step(*(sights.geocode(f"{place['name']}, {place['where']}") for place in places))
    return places, [sights.position(text) for text in codes]


def _names(places: Sequence[dict[str, Any]]) -> list[Name]:
    """The names of the places; the town alone is enough where no other place is in it."""
    titles = [place["title"] for place in places]
    spelled = [
        (*sights.names_of(place), *((place["title"],) if titles.count(place["title"]) == 1 else ())) for place in places
    ]
    return [
        Name(
            value=names[0],
            aliases=tuple(dict.fromkeys(names[1:])),
            others=tuple(name for other in spelled if other is not names for name in other if name not in names),
            context=(place["title"], place["subtitle"], place["where"]),
        )
        for place, names in zip(places, spelled, strict=True)
    ]


def _spellings(photo: str) -> tuple[str, ...]:
    """The ways to name a file of the workspace."""
    inner = photo.removeprefix("/workspace/")
    return (photo, inner, f"./{inner}")
