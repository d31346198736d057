"""Posters outside a cinema: read the titles, look the films up, and find a cinema in New York."""

import json
import random
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.answers.fields import Date, Field, Name, Number, Table
from m3bench.tasks.answers.single import Item
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.posters import poster, wall

_METRES = (2000, 2500, 3000, 4000)
_MARGIN = 0.1
"""By how much the best must be better than the next."""


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
        cinemas = sorted(json.loads(near)["response"]["places"], key=lambda one: -one["rating"])
        need(len(cinemas) > 1 and cinemas[0]["rating"] - cinemas[1]["rating"] >= _MARGIN, "two cinemas are rated alike")
        cinema = cinemas[0]
        (details,) = await play.step(call("google-maps/place_details", {"place_id": cinema["id"]}, free=("fields",)))
        address = json.loads(details)["response"]["formattedAddress"]
        worse, better = sorted(films, key=lambda film: film["vote_average"])
        need(better["vote_average"] - worse["vote_average"] >= _MARGIN, "two films are rated alike")
        told = "; ".join(
            f"{film['title']} came out in {film['release_date'][:4]} and is rated {film['vote_average']}"
            for film in films
        )
        return Solution(
            given={"place": place, "metres": str(metres)},
            wording=f"Read the posters in {path}, look the films up, and find the best-rated cinema within {metres} m of {place}, New York.",
            answer=f"{told}. The better rated is {better['title']}. Go to {_name(cinema)}, {address}.",
            fields=(
                Field(
                    name="films",
                    meaning="both films: title, year of release, average vote",
                    value=Table(columns=("title", "year", "rating"), rows=tuple(map(_row, films))),
                ),
                Field(
                    name="better_rated",
                    meaning="the title of the film with the higher average vote",
                    value=_title(better, worse),
                    compared=(better["vote_average"], worse["vote_average"]),
                    derived=tuple(film["vote_average"] for film in films),
                ),
                Field(
                    name="cinema",
                    meaning="the best-rated cinema in the given distance",
                    compared=tuple(one["rating"] for one in cinemas),
                    value=Name(
                        value=_name(cinema),
                        others=tuple(map(_name, cinemas[1:])),
                        context=(address, "New York Manhattan Brooklyn"),
                    ),
                ),
                Field(name="cinema_address", meaning="its street address", value=sights.address(address)),
            ),
            alternatives=(
                play.varied("the posters read by eye", {0: ()}),
                play.varied("the address taken from the search", {3: ()}),
                play.varied("both", {0: (), 3: ()}),
            ),
        )


def _name(place: Mapping[str, Any]) -> str:
    return str(place["displayName"]["text"])


def _title(film: Mapping[str, Any], other: Mapping[str, Any]) -> Name:
    return Name(value=film["title"], others=(other["title"],), context=(film["release_date"][:4],))


def _row(film: Mapping[str, Any]) -> tuple[Item, ...]:
    year, votes = film["release_date"], film["vote_average"]
    return (
        Name(value=film["title"], context=(year[:4],)),
        Date(value=year, precision="year"),
        Number(value=votes, within=0.05),
    )
