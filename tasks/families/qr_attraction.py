"""Posters with QR codes: decode them, fetch the linked photographs, find the places, and compare the air there."""

import json
import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, FileOpens
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, on, rect

_HOURS = range(6, 50, 2)
_UNREADABLE = frozenset(("gO8wHb2YqEu",))
"""Photographs whose caption no engine reads."""
_COLOURS = ("#1f5c7a", "#8a3b4a", "#2f6b4f", "#6a4a8c", "#b0622a", "#274472", "#7a5a1e", "#a23e62")


class _Tables(Tables):
    invitations: tuple[str, ...]


_tables = tables("qr_attraction", _Tables)


class QrAttraction:
    """Decode, fetch, read, find, and compare the air."""

    name = "qr_attraction"
    servers = ("pyzbar-mcp", "linkimage-mcp", "ocr", "google-maps", "google-air")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two to four small posters with a code each."""
        landmarks = {landmark["id"]: landmark for landmark in kit.world("landmarks")}
        pages = rng.sample(
            [page for page in kit.world("links") if page["id"] not in _UNREADABLE], rng.choice((2, 3, 3, 4))
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
        """One scan, then for every link its photograph, its caption, its place and its air; at last the outlook for the best."""
        hours = rng.choice(_HOURS)
        (text,) = await play.step(
            call("pyzbar-mcp/scan_barcode", {"image_paths": path}, either={"image_paths": (path, [path])})
        )
        links = [result["data"] for result in json.loads(text)["metadata"]["results"]]
        places = [composition.facts["places"][link[-11:]] for link in links]
        need(len(places) == len(composition.facts["places"]), "the codes must be legible")
        texts = await play.step(*(call("linkimage-mcp/fetch_unsplash_image", {"url": link}) for link in links))
        photos = [json.loads(text)["saved_path"] for text in texts]
        captions = await play.step(
            *(
                call(
                    "ocr/perform_ocr", {"input_data": photo}, either={"input_data": _spellings(photo)}, free=("config",)
                )
                for photo in photos
            )
        )
        for place, caption in zip(places, captions, strict=True):
            first = place["title"].split()[0].casefold()
            need(first in caption.casefold(), f"the caption of {place['title']} must be legible")
        points = [
            sights.position(text)
            for text in await play.step(*(sights.geocode(f"{place['name']}, {place['where']}") for place in places))
        ]
        airs = await play.step(*(sights.air_at(point) for point in points))
        indexes = [sights.index(text) for text in airs]
        cleanest = [number for number, index in enumerate(indexes) if index == max(indexes)]
        texts = await play.step(
            *(
                call(
                    "google-air/forecast",
                    {"lat": points[number][0], "lng": points[number][1], "hours": hours},
                    near={"lat": 0.002, "lng": 0.002},
                )
                for number in cleanest
            )
        )
        lows = [min(hour["indexes"][0]["aqi"] for hour in json.loads(text)["hourlyForecasts"]) for text in texts]
        told = "; ".join(
            f"{place['name']} ({place['title']}): {index}" for place, index in zip(places, indexes, strict=True)
        )
        return Solution(
            wording=f"Decode the codes in {path}, fetch and read the linked photos, geocode the places, compare their air and forecast {hours} hours for the cleanest.",
            answer=f"Air index now: {told}. The cleanest is {' and '.join(places[number]['name'] for number in cleanest)}; in the next {hours} hours it falls to {', '.join(map(str, lows))} at the lowest.",
            checks=(
                AnswerNames(all_of=tuple((*sights.names_of(place), place["title"]) for place in places)),
                *(
                    AnswerNumber(value=index, tolerance=0, what=f"the air index at {place['name']}")
                    for place, index in zip(places, indexes, strict=True)
                ),
                *(AnswerNumber(value=low, tolerance=0, what="the lowest index ahead") for low in lows),
                FileOpens(pattern="images/*.jpg", count=len(places)),
                CallMade(tool="google-air/forecast", containing=str(hours)),
            ),
            given={"hours": str(hours)},
            alternatives=(play.varied("knows the places by sight", {2: ()}),),
        )


def _spellings(photo: str) -> tuple[str, ...]:
    """The ways to name a file of the workspace."""
    inner = photo.removeprefix("/workspace/")
    return (photo, inner, f"./{inner}")
