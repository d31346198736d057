"""Two sights on postcards: whose air is or was cleaner, whose hotel is nearer, and what is around the one to visit."""

import json
import random
from datetime import date, timedelta

from m3bench.tasks.answers.fields import Field, Integer, Name, Number, Phone, Table
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need

_KILOMETRES = (3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8)
_MARGIN = 2
"""Points by which the air must be cleaner."""
_MINUTES = 3
"""By how much one way must be shorter than the other."""
_LAST_DAY = date(2025, 10, 30)
"""A day that is over wherever somebody is."""

Point = tuple[float, float]


class TravelComparison(Family):
    """Compare two sights, then look around the better one."""

    name = "travel_comparison"
    servers = ("google-maps", "google-air")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two postcards from two cities."""
        pool = sights.with_best(kit, ("lodging",), [round(kilometres * 1000) for kilometres in _KILOMETRES])
        return sights.pair(rng, kit, pool)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Find both; what is compared depends on the goal."""
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        texts = await play.step(
            *(sights.geocode(f"{landmark['name']}, {town}") for landmark, town in zip(landmarks, towns, strict=True))
        )
        points = [sights.position(text) for text in texts]
        names = [sights.name_of(landmark, landmarks, town) for landmark, town in zip(landmarks, towns, strict=True)]
        goals = {"stay": self._stay, "past": self._past, "nearer": self._nearer}
        return await goals[play.goal](rng, names, towns, points, path, play)

    async def _stay(
        self, rng: random.Random, names: list[Name], towns: list[str], points: list[Point], path: str, play: Script
    ) -> Solution:
        """The air now decides; then hotel and restaurant there, and how to call them."""
        radius = rng.choice(_KILOMETRES)
        indexes = [sights.index(text) for text in await play.step(*(sights.air_at(point) for point in points))]
        need(abs(indexes[0] - indexes[1]) >= _MARGIN, "the air is as clean here as there")
        best = indexes.index(max(indexes))
        kinds = ("lodging", "cafe")
        texts = await play.step(*(sights.nearby(points[best], round(radius * 1000), kind) for kind in kinds))
        hotels, cafes = map(sights.ranked, texts)
        texts = await play.step(sights.details(hotels[:1]), sights.details(cafes[:1]))
        phones = [sights.phone(text) for text in texts]
        need(phones[0] != phones[1], "hotel and café have one number")
        return Solution(
            wording=f"Compare the air at the two landmarks in {path}; within {radius} km of the cleaner one find the best hotel and café and their phone numbers.",
            answer=f"{_told(names, indexes)}, so {names[best].value} it is: {sights.called(hotels[0])} ({phones[0]}) and {sights.called(cafes[0])} ({phones[1]}).",
            fields=(
                _indexes("each sight and its universal air quality index now", names, indexes),
                _cleaner("the sight with the cleaner air now", names, indexes),
                sights.best_field("hotel", "the best-rated hotel in the given distance of it", hotels, towns[best]),
                Field(name="hotel_phone", meaning="its phone number", value=Phone(value=phones[0])),
                sights.best_field(
                    "cafe", "the best-rated café in the given distance of it", cafes, towns[best], "coffee"
                ),
                Field(name="cafe_phone", meaning="the phone number of the café", value=Phone(value=phones[1])),
            ),
            given={"radius": str(radius)},
        )

    async def _past(
        self, rng: random.Random, names: list[Name], towns: list[str], points: list[Point], path: str, play: Script
    ) -> Solution:
        """The air of some hours in the past decides; then the hotel there and the way to it."""
        radius, day = rng.choice(_KILOMETRES), _LAST_DAY - timedelta(days=rng.randrange(20))
        start = rng.randrange(13)
        end = start + rng.randint(6, 10)
        texts = await play.step(
            *(
                call(
                    "google-air/history",
                    {"lat": lat, "lng": lng, "startTime": f"{day}T{start:02}:00:00Z", "endTime": f"{day}T{end:02}:00:00Z"},
                    near={"lat": 0.002, "lng": 0.002},
                )
                for lat, lng in points
            )
        )  # fmt: skip
        hours = [[hour["indexes"][0]["aqi"] for hour in json.loads(text)["hoursInfo"]] for text in texts]
        lows = [min(values) for values in hours]
        need(abs(lows[0] - lows[1]) >= _MARGIN, "the air was as clean here as there")
        need(all(len(values) == end - start + 1 for values in hours), "an hour is missing")
        need(
            all(min(values[1:-1]) == low for values, low in zip(hours, lows, strict=True)),
            "the first or last hour decides",
        )
        best = lows.index(max(lows))
        (text,) = await play.step(sights.nearby(points[best], round(radius * 1000), "lodging"))
        hotels = sights.ranked(text)
        (text,) = await play.step(sights.walk(points[best], hotels[0]))
        minutes = sights.minutes(text, least=5)
        return Solution(
            wording=f"Compare the lowest air index at the two landmarks in {path} on {day} from {start}:00 to {end}:00 UTC; find the best hotel within {radius} km of the better one and the way on foot.",
            answer=f"{_told(names, lows)} at the lowest, so {names[best].value} was better. Stay at {sights.called(hotels[0])}, {minutes:g} minutes on foot.",
            fields=(
                _indexes("each sight and its lowest universal air quality index in those hours", names, lows),
                _cleaner("the sight whose lowest index in those hours was higher", names, lows),
                sights.best_field("hotel", "the best-rated hotel in the given distance of it", hotels, towns[best]),
                sights.walk_field("how long it takes to walk from the sight to the hotel, in minutes", minutes),
            ),
            given={
                "radius": str(radius),
                "day": f"{day.day} {day:%B %Y}",
                "start": f"{start:02}:00",
                "end": f"{end:02}:00",
            },
        )

    async def _nearer(
        self, rng: random.Random, names: list[Name], towns: list[str], points: list[Point], path: str, play: Script
    ) -> Solution:
        """The best hotel of each and the way there; how to call the nearer one."""
        radius = rng.choice(_KILOMETRES)
        texts = await play.step(*(sights.nearby(point, round(radius * 1000), "lodging") for point in points))
        found = [sights.ranked(text) for text in texts]
        ways = await play.step(*(sights.walk(point, hotels[0]) for point, hotels in zip(points, found, strict=True)))
        minutes = [sights.minutes(text) for text in ways]
        need(abs(minutes[0] - minutes[1]) >= _MINUTES and min(minutes) >= 3, "both ways are about as long")
        near = minutes.index(min(minutes))
        (text,) = await play.step(sights.details(found[near][:1]))
        rows: list[tuple[Name, Name, Number]] = [
            (name, sights.best_place(hotels, town), sights.on_foot(value))
            for name, hotels, town, value in zip(names, found, towns, minutes, strict=True)
        ]
        told = "; ".join(
            f"{name.value}: {sights.called(hotels[0])}, {value:g} minutes"
            for name, hotels, value in zip(names, found, minutes, strict=True)
        )
        return Solution(
            wording=f"For the two landmarks in {path} find the best hotel within {radius} km and the walk to it; the phone number where the walk is shorter.",
            answer=f"{told}. The walk is shorter at {names[near].value}; call {sights.phone(text)}.",
            fields=(
                Field(
                    name="hotels",
                    meaning="each sight, the best-rated hotel in the given distance, and the minutes on foot from the sight to it",
                    value=Table(columns=("sight", "hotel", "minutes"), rows=tuple(rows)),
                ),
                Field(
                    name="shorter_walk",
                    meaning="the sight with the shorter walk",
                    value=names[near],
                    compared=(min(minutes), max(minutes)),
                    derived=tuple(minutes),
                ),
                Field(
                    name="phone", meaning="the phone number of the hotel there", value=Phone(value=sights.phone(text))
                ),
            ),
            given={"radius": str(radius)},
        )


def _told(names: list[Name], indexes: list[int]) -> str:
    return f"{names[0].value} has an air index of {indexes[0]}, {names[1].value} of {indexes[1]}"


def _indexes(meaning: str, names: list[Name], indexes: list[int]) -> Field:
    rows = tuple((name, Integer(value=index)) for name, index in zip(names, indexes, strict=True))
    return Field(name="air", meaning=meaning, value=Table(columns=("sight", "index"), rows=rows))


def _cleaner(meaning: str, names: list[Name], indexes: list[int]) -> Field:
    best = indexes.index(max(indexes))
    numbers = (float(max(indexes)), float(min(indexes)))
    return Field(name="cleaner", meaning=meaning, value=names[best], compared=numbers, derived=numbers)
