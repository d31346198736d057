"""Photographs of two sights: which is older or warmer, and where to eat or have coffee nearby."""

import json
import random
import re
from dataclasses import replace

from m3bench.tasks.answers.fields import Date, Field, Name, Number, Phone, Table, Time
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.json_types import Record

_RADII = range(1500, 3600, 100)
_DEGREES = 1.5
"""By how much the warmer one must be warmer."""
_YEARS = 20
"""By how much the older one must be older."""
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_YEAR = re.compile(r"(?<![\d.,])\d{4}(?![\d,])")


class Attraction(Family):
    """History, weather and places to eat of two sights."""

    name = "attraction"
    servers = ("wiki", "weather", "google-maps")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight photographs, of which two are circled; in most pictures both sights have a year in the encyclopedia."""
        pool = sights.with_best(kit, ("restaurant",), _RADII)
        articles = {
            name: article for article in kit.world("articles") for name in (article["title"], *article.get("aliases", ()))
        }  # fmt: skip
        dated = [
            sight for sight in pool if _year(articles.get(sight["name"], {}).get("extract", "")) == sight.get("year")
        ]
        # All eight could be meant: what an encyclopedia knows of them does not tell which are circled.
        shown = dated if rng.random() < 0.6 else pool
        made = sights.pair(rng, kit, shown, shown)
        known = {sight["name"] for sight in dated}
        return replace(
            made, facts={**made.facts, "dated": all(landmark["name"] in known for landmark in made.facts["landmarks"])}
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is looked up depends on the goal."""
        goals = {"older": self._older, "coffee": self._coffee, "dinner": self._dinner}
        return await goals[play.goal](rng, composition, path, play)

    async def _dinner(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Where both are, then their restaurants, then how to book and how to get there."""
        radius = rng.choice(_RADII)
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        codes = [sights.geocode(f"{landmark['name']}, {town}") for landmark, town in zip(landmarks, towns, strict=True)]
        points = [sights.position(text) for text in await play.step(*codes)]
        texts = await play.step(*(sights.nearby(point, radius, "restaurant") for point in points))
        found = [sights.ranked(text) for text in texts]
        texts = await play.step(
            *(sights.details(places[:1]) for places in found),
            *(sights.walk(point, places[0]) for point, places in zip(points, found, strict=True)),
        )
        phones, minutes = [sights.phone(text) for text in texts[:2]], [sights.minutes(text) for text in texts[2:]]
        need(abs(minutes[0] - minutes[1]) >= 2.5, "both ways are about as long")
        names = _names(composition)
        rows = tuple(
            (
                name,
                sights.best_place(places, town),
                Phone(value=phone),
                sights.on_foot(way),
            )
            for name, places, town, phone, way in zip(names, found, towns, phones, minutes, strict=True)
        )
        told = "; ".join(
            f"{name.value}: {sights.called(places[0])}, {phone}, {way:g} minutes on foot"
            for name, places, phone, way in zip(names, found, phones, minutes, strict=True)
        )
        return Solution(
            wording=f"For both landmarks in {path}: best-rated restaurant within {radius} m, its phone number, and the way on foot.",
            answer=f"{told}.",
            fields=(
                Field(
                    name="restaurants",
                    meaning="each sight, the best-rated restaurant in the given distance, its phone number, and the minutes on foot from the sight",
                    value=Table(columns=("sight", "restaurant", "phone", "minutes"), rows=rows),
                ),
            ),
            given={"radius": str(radius)},
        )

    async def _older(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The articles say which is older; only that one is looked for on the map."""
        need(composition.facts["dated"], "an article gives no year, or several")
        radius = rng.choice(_RADII)
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        stories = await play.step(
            *(
                call("wiki/summary", {"title": landmark["name"]}, either={"title": sights.names_of(landmark)})
                for landmark in landmarks
            )
        )
        years = [_year(story) for story in stories]
        need(abs(years[0] - years[1]) >= _YEARS, "it is not clear which is older")
        old = years.index(min(years))
        (text,) = await play.step(sights.geocode(f"{landmarks[old]['name']}, {towns[old]}"))
        point = sights.position(text)
        (text,) = await play.step(sights.nearby(point, radius, "restaurant"))
        places = sights.ranked(text)
        (text,) = await play.step(sights.walk(point, places[0]))
        minutes = sights.minutes(text, least=4)
        names = _names(composition)
        return Solution(
            wording=f"Read about both landmarks in {path}, and find the best-rated restaurant within {radius} m of the older one and the way there on foot.",
            answer=f"{names[old].value} is older, from {min(years)} (the other from {max(years)}). Eat at {sights.called(places[0])}, {minutes:g} minutes on foot.",
            fields=(
                Field(
                    name="years",
                    meaning="each sight and the year that an encyclopedia gives for it",
                    value=Table(
                        columns=("sight", "year"),
                        rows=tuple(
                            (name, Date(value=f"{year:04}", precision="year"))
                            for name, year in zip(names, years, strict=True)
                        ),
                    ),
                ),
                Field(
                    name="older",
                    meaning="the older one of the two",
                    value=names[old],
                    compared=(min(years), max(years)),
                    derived=tuple(years),
                ),
                sights.best_field(
                    "restaurant", "the best-rated restaurant in the given distance of the older one", places, towns[old]
                ),
                sights.walk_field("how long it takes to walk there from the sight, in minutes", minutes),
            ),
            given={"radius": str(radius)},
        )

    async def _coffee(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The weather decides where to go; then the café there and its hours on a day."""
        radius, metric, day = rng.choice(_RADII), rng.random() < 0.5, rng.choice(_DAYS)
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        warmths = [
            sights.temperature(text) for text in await play.step(*(sights.weather(town, metric) for town in towns))
        ]
        need(abs(warmths[0] - warmths[1]) >= _DEGREES * (1 if metric else 1.8), "it is as warm here as there")
        warm = warmths.index(max(warmths))
        (text,) = await play.step(sights.geocode(f"{landmarks[warm]['name']}, {towns[warm]}"))
        (text,) = await play.step(sights.nearby(sights.position(text), radius, "cafe"))
        places = sights.ranked(text)
        (text,) = await play.step(sights.details(places[:1]))
        opens, closes = _hours(text, day)
        names = _names(composition)
        return Solution(
            wording=f"Compare the weather at both landmarks in {path}; near the warmer one find the best-rated café within {radius} m and its hours on {day}.",
            answer=f"It is warmer at {names[warm].value}, {max(warmths):g} against {min(warmths):g} degrees. {sights.called(places[0])} is open from {opens} to {closes}.",
            fields=(
                Field(
                    name="warmer",
                    meaning="the sight where it is warmer now",
                    value=names[warm],
                    compared=(max(warmths), min(warmths)),
                    derived=tuple(warmths),
                ),
                Field(
                    name="temperatures",
                    meaning="each circled sight and how warm it is there now",
                    value=Table(
                        columns=("sight", "temperature"),
                        rows=tuple(
                            (name, Number(unit=_unit(metric), value=warmth, within=0.5))
                            for name, warmth in zip(names, warmths, strict=True)
                        ),
                    ),
                ),
                sights.best_field(
                    "cafe", "the best-rated café in the given distance of it", places, towns[warm], "coffee"
                ),
                Field(
                    name="opens", meaning=f"when it opens on a {day}", value=Time(zone="local", value=opens), derived=(day.casefold(),)
                ),
                Field(
                    name="closes", meaning=f"when it closes on a {day}", value=Time(zone="local", value=closes), derived=(day.casefold(),)
                ),
            ),
            given={"radius": str(radius), "degrees": "Celsius" if metric else "Fahrenheit", "day": day},
        )  # fmt: skip


def _names(composition: Composition) -> list[Name]:
    landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
    return [sights.name_of(landmark, landmarks, town) for landmark, town in zip(landmarks, towns, strict=True)]


def _unit(metric: bool) -> str:
    return "°C" if metric else "°F"


def _year(story: str) -> int:
    """The year in an article that has but one; 0 when it has none or several."""
    years = _YEAR.findall(story)
    return int(years[0]) if len(years) == 1 else 0


def _hours(text: str, day: str) -> tuple[str, str]:
    """When a place opens and closes on a day on which it is open once."""
    hours: Record = json.loads(text)["response"].get("currentOpeningHours", {})
    spans = [span for span in hours.get("periods", ()) if span["open"]["day"] == _DAYS.index(day)]
    need(len(spans) == 1 and "close" in spans[0], "it is not open once on that day")
    opens, closes = (f"{spans[0][end]['hour']:02}:{spans[0][end]['minute']:02}" for end in ("open", "close"))
    return opens, closes
