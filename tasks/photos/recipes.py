"""What can be asked about somebody's photographs: each recipe says which facts it needs, and plays its task.

A recipe is a family whose pictures are not drawn: it takes what its photographs show as known, makes the calls that
lead on from there, and states what is to be handed in. The facts themselves are never in a question. Some recipes ask for
what only eyes can tell: where a named part is, or how many there are. A part that is to be cut out, hidden or circled is
judged by its place in the photograph, roughly, as people point at things. Numbers that are counted go into sums, so that
one lucky guess is not enough.
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

from m3bench.tasks.answers.drawings import Box, PictureMarked, PicturePart
from m3bench.tasks.answers.fields import Code, Field, File, Integer, Money, Name, Number, Table
from m3bench.tasks.checks import PictureChanged
from m3bench.tasks.families import sights, tool_answers
from m3bench.tasks.families.base import Script, Solution, TaskKind, call, need
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.photos.facts import Detail, Photo
from m3bench.tasks.task import ReferenceCall

_LARGEST = 0.35
"""The share of a photograph that a part may take: of more, the whole photograph would have half in common with it."""
_COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0)}
_STYLES = ("solid-rounded", "solid-sharp", "solid-standard", "stroke-rounded", "stroke-sharp", "stroke-standard")
"""Styles that have one glyph for each icon."""


class Cut:
    """Two parts, of two photographs, cut out."""

    name = "cut"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two photographs with parts."""
        return combinations(_having(photos, "parts"), 2)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Two crops, by eye."""
        parts = [rng.choice(photo.parts) for photo in photos]
        boxes = [_box(part) for part in parts]
        need(parts[0].what != parts[1].what, "both are called the same")
        files = [f"./cut_{number}.png" for number in (1, 2)]
        await play.step(*(_crop(path, box, file) for path, box, file in zip(paths, boxes, files, strict=True)))
        return Solution(
            wording=f"Crop {parts[0].what} out of {paths[0]} and {parts[1].what} out of {paths[1]}.",
            answer=f"{parts[0].what.capitalize()} is in {files[0]}, {parts[1].what} in {files[1]}.",
            fields=tuple(
                Field(name=name, meaning=f"the picture of {part.what} alone, from edge to edge", value=File(
                    form="png", value=file,
                    holds=(PicturePart(source=path.removeprefix("./"), box=box),),
                ))
                for name, part, path, box, file in zip(("first_cut", "second_cut"), parts, paths, boxes, files, strict=True)
            ),
            given={"first": parts[0].what, "second": parts[1].what},
        )  # fmt: skip


class Hide:
    """One part made unrecognisable, and another left as it is."""

    name = "hide"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """A photograph with two parts or more."""
        return ((name,) for name in _having(photos, "parts") if len(photos[name].parts) > 1)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """One part is blurred, with a little around it."""
        hidden, kept = rng.sample(photos[0].parts, 2)
        (path,), source, end = paths, paths[0].removeprefix("./"), "./hidden.png"
        box = _box(hidden)
        others = tuple(_shrunk(_box(part)) for part in photos[0].parts if part is not hidden)
        corners = dict(zip(("x1", "y1", "x2", "y2"), box, strict=True))
        await play.step(
            call("imagesorcery-mcp/blur", {"input_path": path, "areas": [{**corners, "blur_strength": 75}], "output_path": end},
                 free=("areas", "output_path"))
        )  # fmt: skip
        reach = max(40, max(box[2] - box[0], box[3] - box[1]) // 3)
        return Solution(
            wording=f"Blur {hidden.what} in {path} and leave {kept.what} as it is.",
            answer=f"In {end}, {hidden.what} cannot be made out any more; the rest is as it was.",
            fields=(
                Field(name="picture", meaning=f"the picture, with {hidden.what} hidden and nothing else changed", value=File(
                    form="png", value=end, holds=(
                        PictureChanged(source=source, pattern="*.png", boxes=(box,), margin=reach, kept=others),
                        PictureMarked(source=source, colour=(0, 0, 0), hidden=(_shrunk(box),)),
                    ),
                )),
            ),
            given={"hidden": hidden.what, "kept": kept.what},
        )  # fmt: skip


class Ring:
    """A circle around one part, in a colour."""

    name = "ring"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """A photograph with a part."""
        return ((name,) for name in _having(photos, "parts"))

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """One circle, by eye."""
        part, colour = rng.choice(photos[0].parts), rng.choice(sorted(_COLOURS))
        (path,), source, end = paths, paths[0].removeprefix("./"), "./circled.png"
        left, top, right, bottom = box = _box(part)
        radius = max(right - left, bottom - top) // 2 + 10
        red, green, blue = _COLOURS[colour]
        circle = {"center_x": (left + right) // 2, "center_y": (top + bottom) // 2, "radius": radius,
                  "color": [blue, green, red], "thickness": 8}  # fmt: skip
        await play.step(
            call("imagesorcery-mcp/draw_circles", {"input_path": path, "circles": [circle], "output_path": end},
                 free=("circles", "output_path"))
        )  # fmt: skip
        others = tuple(_box(other) for other in photos[0].parts if other is not part)
        return Solution(
            wording=f"Draw a {colour} circle around {part.what} in {path}.",
            answer=f"In {end} there is a {colour} circle around {part.what}.",
            fields=(
                Field(name="picture", meaning=f"the picture with a {colour} circle around {part.what}, and nothing else drawn", value=File(
                    form="png", value=end, holds=(
                        PictureChanged(source=source, pattern="*.png", boxes=(_grown(box, 20),), margin=radius + 40),
                        PictureMarked(source=source, colour=_COLOURS[colour], rings=(box,), bare=others),
                    ),
                )),
            ),
            given={"part": part.what, "colour": colour},
        )  # fmt: skip


class TallyRecipe:
    """What is counted in three photographs, each at a price, and the sum."""

    name = "tally"
    servers = ("math",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Three photographs with something to count."""
        return combinations(_having(photos, "counts"), 3)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Three products and their sum."""
        counted = [rng.choice(sorted(photo.counts.items())) for photo in photos]
        names = [name for name, _ in counted]
        need(len(set(names)) == len(names), "two are called the same")
        prices = rng.sample(range(13, 98), len(names))
        texts = await play.step(
            *(
                call("math/multiply", {"firstNumber": count, "SecondNumber": price})
                for (_, count), price in zip(counted, prices, strict=True)
            )
        )
        costs = [round(float(text), 2) for text in texts]
        (text,) = await play.step(call("math/sum", {"numbers": costs}))
        total = round(float(text), 2)
        need(len({*costs, total}) == len(costs) + 1, "two sums are alike")
        rows = tuple(
            (Name(value=name, others=tuple(other for other in names if other != name)), Number(value=cost, within=0.005))
            for name, cost in zip(names, costs, strict=True)
        )  # fmt: skip
        told = "; ".join(
            f"{count} {name} at {price} points make {cost:g}"
            for (name, count), price, cost in zip(counted, prices, costs, strict=True)
        )
        return Solution(
            wording=f"Count {', '.join(names)} in {', '.join(paths)}, multiply by {', '.join(map(str, prices))}, and add up.",
            answer=f"{told}; {total:g} in all.",
            fields=(
                Field(name="kinds", meaning="each kind of thing that is counted, as the question calls it, and the points that all of it gives",
                      value=Table(columns=("kind", "points"), rows=rows)),
                Field(name="total", meaning="all points together", value=Number(value=total, within=0.005), derived=tuple(costs)),
            ),
            given={f"{place}_{part}": str(value) for place, name, price in zip(("first", "second", "third"), names, prices, strict=True)
                   for part, value in (("things", name), ("points", price))},
            alternatives=(play.varied("added up without a tool", {1: ()}),),
        )  # fmt: skip


class Icons:
    """An icon for what each of two photographs shows."""

    name = "icons"
    servers = ("hugeicons-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two photographs of two subjects."""
        named = _having(photos, "subject")
        return ((one, other) for one, other in combinations(named, 2) if photos[one].subject != photos[other].subject)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """The first icon that a search for each finds, and its glyph."""
        style = rng.choice(_STYLES)
        subjects = [photo.subject for photo in photos]
        texts = await play.step(
            *(
                call("hugeicons-mcp/search_icons", {"query": subject}, words={"query": [subject]})
                for subject in subjects
            )
        )
        found = [json.loads(text) for text in texts]
        need(all(found), "there is no icon of it")
        icons = [str(some[0]["name"]) for some in found]
        need(
            all(subject in icon for subject, icon in zip(subjects, icons, strict=True)),
            "the first icon shows something else",
        )
        texts = await play.step(
            *(call("hugeicons-mcp/get_icon_glyph_by_style", {"icon_name": icon, "style": style}) for icon in icons)
        )
        glyphs = [str(json.loads(text)["primary"]["glyph"]) for text in texts]
        names = [
            Name(value=photo.subject, aliases=(*photo.also, f"{photo.subject}s"), others=(other.subject,))
            for photo, other in zip(photos, reversed(photos), strict=True)
        ]
        rows = tuple(
            (name, Code(form="icon", value=icon, aliases=(f"{icon}-icon",)), _glyph(glyph))
            for name, icon, glyph in zip(names, icons, glyphs, strict=True)
        )
        return Solution(
            wording=f"Find the first icon for what {' and '.join(paths)} show, and the {style} glyph of each.",
            answer="; ".join(f"{name.value}: {icon}, {glyph}" for name, icon, glyph in zip(names, icons, glyphs, strict=True)),
            fields=(
                Field(name="icons", meaning="what each picture shows, the name of the first icon that a search for it finds, and its glyph in the given style",
                      value=Table(columns=("subject", "icon", "glyph"), rows=rows)),
            ),
            given={"style": style},
        )  # fmt: skip


BY_EYE = (Cut(), Hide(), Ring(), TallyRecipe(), Icons())


def _having(photos: Mapping[str, Photo], fact: str) -> list[str]:
    return [name for name, photo in sorted(photos.items()) if getattr(photo, fact)]


def _box(part: Detail) -> Box:
    left, top, right, bottom = (round(edge) for edge in part.box)
    return left, top, right, bottom


def _shrunk(box: Box) -> Box:
    """The middle of a box: where its edges are is a matter of opinion."""
    across, down = (box[2] - box[0]) // 5, (box[3] - box[1]) // 5
    return box[0] + across, box[1] + down, box[2] - across, box[3] - down


def _grown(box: Box, by: int) -> Box:
    return max(0, box[0] - by), max(0, box[1] - by), box[2] + by, box[3] + by


def _crop(path: str, box: Box, file: str) -> ReferenceCall:
    """A part cut out; its edges may be off by a quarter of its size."""
    left, top, right, bottom = box
    across, down = (right - left) / 4, (bottom - top) / 4
    return call(
        "imagesorcery-mcp/crop",
        {"input_path": path, "x1": left, "y1": top, "x2": right, "y2": bottom, "output_path": file},
        near={"x1": across, "x2": across, "y1": down, "y2": down},
        free=("output_path",),
    )


def _glyph(entity: str) -> Code:
    """A glyph, which people also write as its code point."""
    point = entity.removeprefix("&#x").removesuffix(";")
    return Code(form="glyph", value=entity, aliases=(point, f"U+{point}", f"0x{point}"))


_METRES = 10
"""By how much the higher place must be higher."""
_INDEX = 3
"""By how much the air of the better place must be better."""


class Recipe(TaskKind, Protocol):
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
        heights = [round(float(result["elevation"]), 2) for result in json.loads(text)["response"]["results"]]
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


class AirRecipe:
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
        energy, protein = nutrient_amount(text, "Energy"), nutrient_amount(text, "Protein")
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
        prices = [tool_answers.prices(text)[:1] for text in texts]
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


class ReadingRecipe:
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


RECIPES: tuple[Recipe, ...] = (Higher(), AirRecipe(), Meal(), Shopping(), ReadingRecipe(), *BY_EYE)


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
    (index,) = (index["aqi"] for index in json.loads(text)["indexes"] if index["code"] == "uaqi")
    return int(index)


def _stem(name: str) -> str:
    """What the name and its plural have in common: the last word without its ending."""
    word = name.split()[-1]
    return word[:-1] if word.endswith(("y", "e")) else word
