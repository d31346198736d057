"""Photographs of two sights: what they are, the weather there, and where to eat nearby."""

import random
import re

from m3bench.tasks.checks import AnswerNames, AnswerNumber, BackedByCall, Check
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call

_RADII = range(1500, 3600, 100)
_WORDS = re.compile(r"\b(?:\d[\d,.]*\d|[A-Z][\w'’-]{3,})\b")


class Attraction:
    """Background, weather and the best restaurant of two sights."""

    name = "attraction"
    servers = ("wiki", "weather", "google-maps")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two photographs on a board, a table or a wall."""
        known = {name for article in kit.world("articles") for name in (article["title"], *article.get("aliases", ()))}
        pool = [sight for sight in sights.with_best(kit, ("restaurant",), _RADII) if sight["name"] in known]
        return sights.pair(rng, kit, pool)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything that needs only names at once, then the restaurants, then what was asked about the best."""
        radius, metric, by_phone = rng.choice(_RADII), rng.random() < 0.5, rng.random() < 0.5
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        articles = [
            call("wiki/summary", {"title": landmark["name"]}, either={"title": sights.names_of(landmark)})
            for landmark in landmarks
        ]
        weathers = [
            call(
                "weather/get_weather",
                {"location": town, "units": "metric" if metric else "us"},
                words={"location": (town.split(",")[0],)},
                either={} if metric else {"units": ("us", None)},
            )
            for town in towns
        ]
        codes = [sights.geocode(f"{landmark['name']}, {town}") for landmark, town in zip(landmarks, towns, strict=True)]
        texts = await play.step(*articles, *weathers, *codes)
        stories, temperatures = texts[:2], [_temperature(text) for text in texts[2:4]]
        points = [sights.position(text) for text in texts[4:]]
        searches = [sights.nearby(point, radius, "restaurant") for point in points]
        tables = [sights.best(text) for text in await play.step(*searches)]
        if by_phone:
            extras = [sights.phone(text) for text in await play.step(*(sights.details(table) for table in tables))]
        else:
            texts = await play.step(
                *(sights.walk(point, table[0]) for point, table in zip(points, tables, strict=True))
            )
            extras = [f"{sights.minutes(text):g} minutes on foot" for text in texts]
        told, checks = [], []
        for landmark, story, temperature, table, extra in zip(
            landmarks, stories, temperatures, tables, extras, strict=True
        ):
            told.append(
                f"{landmark['name']}: {_lead(story)} It is {temperature:g} degrees there now. Eat at {_name(table[0])}, {extra}."
            )
            checks += _checks(landmark, story, temperature, table, extra, by_phone)
        return Solution(
            wording=f"For both landmarks in {path}: encyclopedia summary, current weather in their cities, best-rated restaurant within {radius} m and {'its phone number' if by_phone else 'the walk to it'}.",
            answer="\n".join(told),
            checks=tuple(checks),
            given={
                "degrees": "Celsius" if metric else "Fahrenheit",
                "radius": str(radius),
                "extra": "its phone number" if by_phone else "the minutes on foot to reach it from the sight",
            },
            alternatives=(
                play.varied("finds the sights on the map first", {0: [*codes], 1: [*articles, *weathers, *searches]}),
            ),
        )


def _temperature(text: str) -> float:
    found = re.search(r": (-?\d+(?:\.\d+)?)°", text)
    assert found is not None
    return float(found[1])


def _lead(story: str) -> str:
    return story.split("\n\n", 1)[1]


def _name(place: dict[str, dict[str, str]]) -> str:
    return place["displayName"]["text"]


def _checks(
    landmark: sights.Record,
    story: str,
    temperature: float,
    table: list[dict[str, dict[str, str]]],
    extra: str,
    by_phone: bool,
) -> list[Check]:
    named = {word.casefold() for name in sights.names_of(landmark) for word in re.findall(r"[\w'’-]+", name)}
    facts = [word for word in _WORDS.findall(_lead(story)) if word.casefold() not in named]
    return [
        AnswerNames(all_of=(sights.names_of(landmark),)),
        BackedByCall(any_of=tuple(dict.fromkeys(facts or [_lead(story).split(".")[0]]))),
        AnswerNumber(value=temperature, tolerance=0.5, what=f"the temperature at {landmark['name']}"),
        AnswerNames(all_of=(tuple(_name(place) for place in table),)),
        AnswerNames(all_of=(sights.dialled(extra),))
        if by_phone
        else AnswerNumber(value=float(extra.split()[0]), tolerance=1, what="the minutes on foot"),
    ]
