"""Posters outside a cinema: read the titles, look the films up, and find a cinema in New York."""

import json
import random

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.posters import poster, wall

_METRES = (2000, 2500, 3000, 4000)


class _Tables(Tables):
    places: tuple[str, ...]


_tables = tables("movies", _Tables)


class Movies:
    """OCR, film search, cinemas nearby and their details."""

    name = "movies"
    servers = ("ocr", "tmdb", "google-maps")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two posters on a wall."""
        films = [
            film for film in kit.world("films")
            if film["title"].isascii() and 4 <= len(film["title"]) <= 24 and film["title"].replace(" ", "").replace("'", "").isalpha()
        ]  # fmt: skip
        chosen = rng.sample(films, 2)
        canvas = Canvas(kit.art, 1280, 960)
        wall(canvas, rng)
        for number, film in enumerate(chosen):
            poster(canvas, rng, 96 + number * 590 + rng.uniform(-16, 16), 70 + rng.uniform(-14, 14), 500, 800, film)
        canvas.light(rng)
        return Composition.of(canvas, films=[film["title"] for film in chosen])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The titles come from the picture's text; films and place are looked up together."""
        titles = composition.facts["films"]
        place, metres = rng.choice(_tables().places), rng.choice(_METRES)
        (text,) = await play.step(
            call("ocr/perform_ocr", {"input_data": path, "config": "--oem 3 --psm 11"}, free=("config", "language"))
        )
        read = " ".join(text.split()).casefold()
        if not all(word.casefold() in read for title in titles for word in title.split()):
            raise Unfit(f"{titles} cannot be read in {read!r}")
        *found, placed = await play.step(
            *(
                call("tmdb/search_movies", {"query": title}, free=("year", "page"), either={"query": (title,)})
                for title in titles
            ),
            call(
                "google-maps/geocode",
                {"address": f"{place}, New York"},
                words={"address": [place]},
                free=("region", "language"),
            ),
        )
        films = [
            next(film for film in json.loads(text)["results"] if film["title"] == title)
            for title, text in zip(titles, found, strict=True)
        ]
        (near,) = await play.step(sights.nearby(sights.position(placed), metres, "movie_theater"))
        cinema = max(json.loads(near)["response"]["places"], key=lambda one: one["rating"])
        (details,) = await play.step(call("google-maps/place_details", {"place_id": cinema["id"]}, free=("fields",)))
        address = json.loads(details)["response"]["formattedAddress"]
        better = max(films, key=lambda film: film["vote_average"])
        told = "; ".join(
            f"{film['title']} opened on {film['release_date']} and is rated {film['vote_average']}" for film in films
        )
        return Solution(
            given={"place": place, "metres": str(metres)},
            wording=f"Read the posters in {path}, look the films up, and find the best-rated cinema within {metres} m of {place}, New York.",
            answer=f"{told}. The better rated is {better['title']}. Go to {cinema['displayName']['text']}, {address}.",
            checks=(
                AnswerNames(all_of=tuple((film["title"],) for film in films)),
                AnswerNames(all_of=tuple((film["release_date"][:4], film["release_date"]) for film in films)),
                AnswerNames(all_of=((cinema["displayName"]["text"],),)),
                BackedByCall(any_of=(cinema["displayName"]["text"],)),
                CallMade(tool="tmdb/search_movies", times=2),
            ),
            alternatives=(
                play.varied("the posters read by eye", {0: ()}),
                play.varied("the address taken from the search", {3: ()}),
                play.varied("both", {0: (), 3: ()}),
            ),
        )
