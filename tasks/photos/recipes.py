"""What can be asked about somebody's photographs: each recipe says which facts it needs, and plays its task.

A recipe is a family whose pictures are not drawn: it takes what its photographs show as known, makes the calls that
lead on from there, and states what is to be handed in. The facts themselves are never in a question.
"""

import json
import math
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Protocol

from m3bench.tasks.answers.fields import Field, Integer, Money, Name, Number, Table
from m3bench.tasks.families import offers, sights
from m3bench.tasks.families.base import Kind, Script, Solution, call, need
from m3bench.tasks.families.nutrients import amount
from m3bench.tasks.photos.by_eye import BY_EYE
from m3bench.tasks.photos.facts import Photo

_METRES = 10
"""By how much the higher place must be higher."""
_INDEX = 3
"""By how much the air of the better place must be better."""


class Recipe(Kind, Protocol):
    """One kind of task about photographs."""

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """The photographs, by name, that a task can be made from."""
        ...

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Play the task; `rng` is for what the question adds."""
        ...


class Higher:
    """Which of two places lies higher."""

    name = "higher"
    servers = ("google-maps", "math")

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two places."""
        return combinations(_showing(photos, "place"), 2)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Both are looked for on the map; then their heights, and the difference."""
        points = await _points(photos, play)
        where = [f"{latitude},{longitude}" for latitude, longitude in points]
        (text,) = await play.step(call("google-maps/elevation_by_locations", {"locations": where}))
        heights = [round(float(one["elevation"]), 2) for one in json.loads(text)["response"]["results"]]
        need(len(heights) == 2 and abs(heights[0] - heights[1]) >= _METRES, "they lie about as high")
        high, low = (heights.index(pick(heights)) for pick in (max, min))
        (text,) = await play.step(
            call("math/subtract", {"minuend": heights[high], "subtrahend": heights[low]}, near={"minuend": 0.6, "subtrahend": 0.6})
        )  # fmt: skip
        gap, names = round(float(text), 2), _places(photos)
        rows = tuple(
            (name, Number(value=height, within=1, unit="m")) for name, height in zip(names, heights, strict=True)
        )
        return Solution(
            wording=f"Find the places in {' and '.join(paths)} on the map, look up their elevations, and subtract.",
            answer=f"{names[high].value} lies higher, at {heights[high]} m against {heights[low]} m: {gap} m more.",
            fields=(
                Field(name="higher", meaning="the place that lies higher", value=names[high],
                      compared=(heights[high], heights[low]), derived=tuple(heights)),
                Field(name="heights", meaning="each place and how high above the sea it lies",
                      value=Table(columns=("place", "metres"), rows=rows)),
                Field(name="difference", meaning="by how many metres it lies higher than the other",
                      value=Number(value=gap, within=1.5, unit="m"), derived=tuple(heights)),
            ),
            alternatives=(play.varied("subtracted without a tool", {2: ()}),),
        )  # fmt: skip


class Air:
    """Where the air is better, and how warm it is there."""

    name = "air"
    servers = ("google-maps", "google-air", "weather")

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two places."""
        return combinations(_showing(photos, "place"), 2)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Both are looked for on the map; the air decides in which town the weather is asked for."""
        metric = rng.random() < 0.5
        points = await _points(photos, play)
        texts = await play.step(
            *(
                call("google-air/current_conditions", {"lat": at[0], "lng": at[1]},
                     near={"lat": 0.01, "lng": 0.01})
                for at in points
            )
        )  # fmt: skip
        indexes = [_universal(text) for text in texts]
        need(abs(indexes[0] - indexes[1]) >= _INDEX, "the air is about as good")
        good = indexes.index(max(indexes))
        town, names = photos[good].town, _places(photos)
        (text,) = await play.step(sights.weather(town, metric))
        warmth = sights.temperature(text)
        return Solution(
            wording=f"Compare the air at the places in {' and '.join(paths)}, and look up the weather in the town of the better one.",
            answer=f"The air is better at {names[good].value} (index {max(indexes)} against {min(indexes)}); it is {warmth:g} degrees there.",
            fields=(
                Field(name="better", meaning="the place where the air is better now", value=names[good],
                      compared=(max(indexes), min(indexes)), derived=tuple(indexes)),
                Field(name="index", meaning="the Universal AQI there, where 100 is the best", value=Integer(value=max(indexes))),
                Field(name="temperature", meaning="how warm it is in its town now",
                      value=Number(value=warmth, within=0.5, unit="°C" if metric else "°F")),
            ),
            given={"degrees": "Celsius" if metric else "Fahrenheit"},
        )  # fmt: skip


class Meal:
    """What is in so many pieces of a food."""

    name = "meal"
    servers = ("food_nutrition_mcp", "math")

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """One food."""
        return ((name,) for name in _showing(photos, "food"))

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """The weight follows from how many there are."""
        (photo,), grams, people = photos, rng.randrange(60, 241, 10), rng.randint(2, 6)
        weight = photo.count * grams
        (text,) = await play.step(
            call("food_nutrition_mcp/get_nutrition", {"query": f"{weight} g {photo.food}"}, words={"query": (str(weight), _stem(photo.food))})
        )  # fmt: skip
        energy, protein = amount(text, "Energy"), amount(text, "Protein")
        (text,) = await play.step(call("math/division", {"numerator": energy, "denominator": people}))
        each = round(float(text), 2)
        need(len({energy, protein, each}) == 3 and each >= 2, "there is next to nothing in it")
        return Solution(
            wording=f"Count the {photo.food} in {paths[0]}, look up {photo.count} times {grams} g, and divide the energy by {people}.",
            answer=f"{photo.count} × {grams} g of {photo.food} have {energy} kcal and {protein} g of protein, {each} kcal for each of {people}.",
            fields=(
                Field(name="calories", meaning="the energy of all pieces together", value=Number(value=energy, within=0.51, unit="kcal")),
                Field(name="calories_each", meaning="the energy of one share", value=Number(value=each, within=0.51, unit="kcal"), derived=(energy, float(people))),
                Field(name="protein", meaning="the protein of all pieces together", value=Number(value=protein, within=0.06, unit="g")),
            ),
            given={"grams": str(grams), "people": str(people)},
            alternatives=(play.varied("divided without a tool", {1: ()}),),
        )  # fmt: skip


class Shopping:
    """What so many of two kinds of things cost."""

    name = "shopping"
    servers = ("amazon", "math")

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two kinds of things."""
        return combinations(_showing(photos, "thing"), 2)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """The first offer for each, times how many there are, and the sum."""
        texts = await play.step(
            *(
                call("amazon/search_products", {"keywords": photo.thing, "n": 1}, words={"keywords": [_stem(photo.thing)]}, free=("n",))
                for photo in photos
            )
        )  # fmt: skip
        prices = [offers.prices(text)[:1] for text in texts]
        need(all(prices), "it is not sold")
        products = await play.step(
            *(
                call("math/multiply", {"firstNumber": price[0], "SecondNumber": photo.count})
                for price, photo in zip(prices, photos, strict=True)
            )
        )
        costs = [round(float(text), 2) for text in products]
        (text,) = await play.step(call("math/sum", {"numbers": costs}))
        total = round(float(text), 2)
        need(len({*costs, total}) == 3, "two sums are alike")
        names = [
            Name(value=photo.thing, aliases=(*photo.also, f"{photo.thing}s"), others=(other.thing,))
            for photo, other in zip(photos, reversed(photos), strict=True)
        ]
        rows = tuple((name, Money(value=cost, unit="USD")) for name, cost in zip(names, costs, strict=True))
        told = "; ".join(f"{name.value}: {cost:.2f} dollars" for name, cost in zip(names, costs, strict=True))
        return Solution(
            wording=f"Count the things in {' and '.join(paths)}, find the first offer for each kind on amazon.com, multiply and add up.",
            answer=f"{told}; {total:.2f} dollars in all.",
            fields=(
                Field(name="costs", meaning="each kind of thing and what as many of it as there are cost",
                      value=Table(columns=("thing", "cost"), rows=rows), derived=tuple(price[0] for price in prices)),
                Field(name="total", meaning="what everything costs", value=Money(value=total, unit="USD"), derived=tuple(costs)),
            ),
            alternatives=(play.varied("multiplied and added up without a tool", {1: (), 2: ()}),),
        )  # fmt: skip


class Reading:
    """How long a book takes."""

    name = "reading"
    servers = ("openlibrary_mcp", "math")

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """One book."""
        return ((name,) for name in _showing(photos, "isbn"))

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """The edition is looked up by its number; the rest is division."""
        pace = rng.randrange(15, 66, 5)
        (text,) = await play.step(call("openlibrary_mcp/get_book_info", {"isbn": photos[0].isbn}))
        book = json.loads(text)["metadata"]
        need(bool(book.get("pages") and book.get("publisher")), "the catalogue has no pages or no publisher of it")
        (text,) = await play.step(call("math/division", {"numerator": book["pages"], "denominator": pace}))
        (text,) = await play.step(call("math/ceiling", {"number": float(text)}, near={"number": 0.01}))
        days = int(float(text))
        need(days >= 3 and days not in (book["pages"], pace), "it is read at once")
        return Solution(
            wording=f"Look up the book in {paths[0]} by its number, and divide its pages by {pace}, rounded up.",
            answer=f"{book['title']}, published by {book['publisher'][0]}, has {book['pages']} pages: {days} days at {pace} a day.",
            fields=(
                Field(name="title", meaning="what the book is called", value=Name(value=book["title"], context=tuple(book.get("authors", ())))),
                Field(name="publisher", meaning="who published this edition", value=Name(value=book["publisher"][0])),
                Field(name="pages", meaning="how many pages this edition has", value=Integer(value=book["pages"])),
                Field(name="days", meaning="how many days it takes, the last one included", value=Integer(value=days), derived=(float(book["pages"]), float(pace))),
            ),
            given={"pages": str(pace)},
            alternatives=(play.varied("divided and rounded without a tool", {1: (), 2: ()}),),
        )  # fmt: skip


RECIPES: tuple[Recipe, ...] = (Higher(), Air(), Meal(), Shopping(), Reading(), *BY_EYE)


@cache
def phrasings(recipe: str) -> tuple[str, ...]:
    """The ways in which a recipe asks."""
    text = (files("m3bench.tasks") / "data" / "photos.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)[recipe]["questions"])


def _showing(photos: Mapping[str, Photo], kind: str) -> list[str]:
    return [name for name, photo in sorted(photos.items()) if getattr(photo, kind)]


async def _points(photos: Sequence[Photo], play: Script) -> list[tuple[float, float]]:
    """Where the places are; the map has to know both, in the towns that were said."""
    texts = await play.step(*(sights.geocode(f"{photo.place}, {photo.town}") for photo in photos))
    for photo, text in zip(photos, texts, strict=True):
        need(bool(json.loads(text)["response"]["results"]), f"the map does not know {photo.place}, {photo.town}")
    points = [sights.position(text) for text in texts]
    need(math.dist(*points) > 0.01, "both are the same place")
    return points


def _places(photos: Sequence[Photo]) -> list[Name]:
    return [
        Name(value=photo.place, aliases=photo.also, others=other.names("place"), context=(photo.town,))
        for photo, other in zip(photos, reversed(photos), strict=True)
    ]


def _universal(text: str) -> int:
    (index,) = (one["aqi"] for one in json.loads(text)["indexes"] if one["code"] == "uaqi")
    return int(index)


def _stem(name: str) -> str:
    """What the name and its plural have in common: the last word without its ending."""
    word = name.split()[-1]
    return word[:-1] if word.endswith(("y", "e")) else word
