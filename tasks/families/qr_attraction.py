"""Posters with QR codes: decode those that are circled, fetch the linked photographs, and find out about the places they show."""

import json
import random
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Field, Integer, Items, Name, Number, Phone, Table
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, on, rect
from m3bench.tasks.scene import Box

SIZE = (1500, 1010)
COLUMNS = 4
_COLOURS = ("#1f5c7a", "#8a3b4a", "#2f6b4f", "#6a4a8c", "#b0622a", "#274472", "#7a5a1e", "#a23e62")
_ORNAMENTS = ("camera", "airplane", "compass", "world map", "globe", "luggage")
_WIDE, _TALL, _PANEL = 292.0, 410.0, 244.0
"""A poster, and the white square behind its code."""


def handbills(canvas: Canvas, rng: random.Random, words: Sequence[str], links: Sequence[str]) -> list[Box]:
    """Posters in rows of four; returns their boxes.

    Args:
        canvas: Where: `SIZE`.
        rng: Chooses colours, faces, ornaments and small differences of place.
        words: What is written on each.
        links: What the code of each says, eight at most.
    """
    if rng.random() < 0.6:
        backdrops.room(canvas, rng, floor=0.95)
    else:
        backdrops.table(canvas, rng)
    gap = (canvas.width - _WIDE * COLUMNS) / (COLUMNS + 1)
    colours = rng.sample(_COLOURS, len(links))
    boxes = []
    for number, (text, link, colour) in enumerate(zip(words, links, colours, strict=True)):
        row, column = divmod(number, COLUMNS)
        left = gap + column * (_WIDE + gap) + rng.uniform(-6, 6)
        boxes.append(_handbill(canvas, rng, left, 52 + row * 482 + rng.uniform(-8, 8), colour, text, link))
    return boxes


def _handbill(canvas: Canvas, rng: random.Random, left: float, top: float, colour: str, text: str, link: str) -> Box:
    middle, key = left + _WIDE / 2, f"q{round(left)}-{round(top)}"
    canvas.draw(
        rect(left + 8, top + 11, _WIDE, _TALL, "#00000040", 8),
        fade(key, mix(colour, "#ffffff", 0.18), mix(colour, "#000000", 0.12)),
        rect(left, top, _WIDE, _TALL, f"url(#{key})", 8),
        rect(middle - _PANEL / 2, top + 80, _PANEL, _PANEL, "#ffffff", 12),
    )
    face = rng.choice(("round", "script", "sans black"))
    canvas.text(text, middle, top + 56, 40, face=face, fill=on(colour), anchor="middle", width=_WIDE - 40)
    code(canvas, link, middle, top + 80 + _PANEL / 2, kind="qr", scale=5)
    canvas.place(rng.choice(_ORNAMENTS), middle, top + _TALL - 14, 58, shadow=False, note=False)
    return (round(left), round(top), round(left + _WIDE), round(top + _TALL))


_HOURS = range(6, 50, 2)
_RADII = range(1500, 4100, 100)
_MARGIN = 2
"""Points by which the best air must be better than the next."""
_NORTH = 1.0
"""Degrees by which the northernmost place must be farther north than the next."""
_UNREADABLE = frozenset(("gO8wHb2YqEu",))
"""Photographs whose caption no engine reads."""
_POSTERS = 8


class QrAttraction(Family):
    """Decode, fetch, read and find; then compare, or look around one place."""

    name = "qr_attraction"
    servers = ("pyzbar-mcp", "linkimage-mcp", "ocr", "google-maps", "google-air")
    invitations = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight small posters with a code each: three or four have a red loop, one a blue one."""
        landmarks = {landmark["id"]: landmark for landmark in kit.world("landmarks")}
        pages = rng.sample([page for page in kit.world("links") if page["id"] not in _UNREADABLE], _POSTERS)
        canvas = Canvas(kit.art, *SIZE)
        links = [f"https://unsplash.com/photos/{page['slug']}-{page['id']}" for page in pages]
        boxes = handbills(canvas, rng, rng.sample(self.invitations, _POSTERS), links)
        canvas.light(rng, 0.5)
        meant = rng.sample(range(_POSTERS), rng.choice((4, 4, 5)))
        alone = meant.pop()
        for number in meant:
            pen.loop(canvas, rng, boxes[number])
        pen.loop(canvas, rng, boxes[alone], pen.BLUE)
        facts = [
            dict(landmarks[page["landmark_id"]])
            | {"title": page["title"], "subtitle": page["subtitle"], "page": page["id"]}
            for page in pages
        ]
        places = {page["page"]: page | {"where": sights.country_of(kit, page["country"])} for page in facts}
        return Composition.of(
            canvas, places=places, red=[pages[number]["id"] for number in sorted(meant)], blue=pages[alone]["id"]
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """One scan of all; which links are followed, and what is asked of the places, depends on the goal."""
        (text,) = await play.step(
            call("pyzbar-mcp/scan_barcode", {"image_paths": path}, either={"image_paths": (path, [path])})
        )
        links = {result["data"][-11:]: result["data"] for result in json.loads(text)["metadata"]["results"]}
        need(links.keys() == composition.facts["places"].keys(), "the codes must be legible")
        if play.goal == "one_poster":
            return await self._one_poster(rng, composition, links[composition.facts["blue"]], path, play)
        plan = {"north": self._north, "outlook": self._outlook}[play.goal]
        return await plan(rng, composition, [links[page] for page in composition.facts["red"]], path, play)

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
        names = _names(places, composition)
        told = "; ".join(f"{name.value}: {index}" for name, index in zip(names, indexes, strict=True))
        return Solution(
            wording=f"Decode the codes with a red loop in {path}, fetch and read the linked photos, geocode the places, compare their air and forecast {hours} hours for the cleanest.",
            answer=f"Air index now: {told}. The cleanest is {names[best].value}; in the next {hours} hours it falls to {low} at the lowest.",
            fields=(
                Field(
                    name="places",
                    meaning="each place behind a code with a red loop, and its universal air quality index now",
                    value=Table(
                        columns=("place", "index"),
                        rows=tuple((name, Integer(value=index)) for name, index in zip(names, indexes, strict=True)),
                    ),
                ),
                Field(
                    name="cleanest",
                    meaning="the one of them with the best air now",
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
        names = _names(places, composition)
        return Solution(
            wording=f"Decode the codes with a red loop in {path}, fetch and read the linked photos, geocode the places, and tell the air at the northernmost.",
            answer=f"The places are {', '.join(name.value for name in names)}. The northernmost is {names[north].value} "
            f"at {points[north][0]:.1f} degrees; the air index there is {index}.",
            fields=(
                Field(
                    name="places",
                    meaning="all the places behind the codes with a red loop",
                    value=Items(items=tuple(names)),
                ),
                Field(
                    name="northernmost",
                    meaning="the one of them that is farthest north",
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
        self, rng: random.Random, composition: Composition, link: str, path: str, play: Script
    ) -> Solution:
        """The poster with the blue loop alone; then where to eat there."""
        radius = rng.choice(_RADII)
        (place,), (point,) = await _found(composition, (link,), play)
        (text,) = await play.step(sights.nearby(point, radius, "restaurant"))
        found = sights.ranked(text)
        (text,) = await play.step(sights.details(found[:1]))
        (name,) = _names((place,), composition)
        return Solution(
            wording=f"Decode the code with the blue loop in {path}, fetch and read the photo, and find the best-rated restaurant within {radius} m.",
            answer=f"It shows {name.value}. The best-rated restaurant there is {sights.called(found[0])}, {sights.phone(text)}.",
            fields=(
                Field(name="place", meaning="the place that its photo shows", value=name),
                sights.best_field(
                    "restaurant", "the best-rated restaurant in the given distance", found, place["title"]
                ),
                Field(name="phone", meaning="its phone number", value=Phone(value=sights.phone(text))),
            ),
            given={"radius": str(radius)},
            alternatives=(play.varied("knows the place by sight", {2: ()}),),
        )


async def _found(
    composition: Composition, links: Sequence[str], play: Script
) -> tuple[list[Record], list[tuple[float, float]]]:
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


def _names(meant: Sequence[Record], composition: Composition) -> list[Name]:
    """The names of some places; the town alone is enough where no other place of the picture is in it."""
    places = list(composition.facts["places"].values())
    titles = [place["title"] for place in places]
    spelled = {
        place["page"]: (*sights.names_of(place), *((place["title"],) if titles.count(place["title"]) == 1 else ()))
        for place in places
    }
    return [
        Name(
            value=names[0],
            aliases=tuple(dict.fromkeys(names[1:])),
            others=tuple(name for other in spelled.values() for name in other if name not in names),
            context=(place["title"], place["subtitle"], place["where"]),
        )
        for place in meant
        for names in (spelled[place["page"]],)
    ]


def _spellings(photo: str) -> tuple[str, ...]:
    """The ways to name a file of the workspace."""
    inner = photo.removeprefix("/workspace/")
    return (photo, inner, f"./{inner}")
