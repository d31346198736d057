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
    questions = (
        "We stop at both of these on our honeymoon! Could you write a little encyclopedia-style background on each, say how "
        "warm it is there at the moment ({degrees}), and find the top-rated restaurant within {radius} metres, with {extra}?",
        "My pen pal mailed me pictures again. Research what I'm looking at, check today's temperature in {degrees} outside, "
        "and pick one highly starred eatery per location, no further than {radius} m off. Add {extra}.",
        "tour guide homework: identify these, some history from a reference article, current weather ({degrees} please), "
        "plus best dinner option inside a {radius} metre circle around every sight and {extra}",
        "Grandpa keeps such cards in a shoebox and asks me things. Help: where was this, which facts does an encyclopaedia "
        "give, is it cold right now in {degrees}, who serves the best-reviewed food up to {radius} m away? Also {extra}.",
        "I'm writing captions for the office wall. Per image: landmark name, two solid facts with a source behind them, "
        "degrees {degrees} at this hour, finest restaurant by rating ({radius} m radius), {extra}.",
        "Planning a blog post about famous spots. For everything shown, summarise its story, report live conditions "
        "(thermometer in {degrees}), then recommend the restaurant having most stars closer than {radius} metres; include {extra}.",
        "Quiz night prep! Name what you see, tell us something documented about them, and as bonus questions: the "
        "temperature over there now, {degrees}; the highest scoring place for lunch, {radius} m at most; {extra}.",
        "Hi, two business trips coming up, only these snapshots as a hint. What should I know about either attraction, what "
        "will I wear (actual {degrees} reading), and where do I eat well under {radius} metres from it? I need {extra} too.",
        "Our kids' geography club wants fact sheets from this picture: origin story, momentary weather in {degrees}, and, for "
        "hungry parents, whichever restaurant leads the ratings in a range of {radius} m. Put {extra} beneath.",
        "Please be my concierge. Look at the sights here, brief me on their past, mention how hot or chilly those cities are "
        "this minute using {degrees}, and book-worthy dining: best score, maximum distance {radius} metres, complete with {extra}.",
    )

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
