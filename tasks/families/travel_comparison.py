"""Two sights on postcards: whose air is cleaner, and where to sleep and see a film there."""

import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, Check
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution

_KILOMETRES = (3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8)


class TravelComparison:
    """Compare the air of two sights, then find cinemas and hotels near the cleaner one."""

    name = "travel_comparison"
    servers = ("google-maps", "google-air")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two postcards from two cities."""
        pool = sights.with_best(
            kit, ("lodging", "movie_theater"), [round(kilometres * 1000) for kilometres in _KILOMETRES]
        )
        return sights.pair(rng, kit, pool)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Find both, compare their air, then look around the cleaner one; both when they are equal."""
        radius, by_phone = rng.choice(_KILOMETRES), rng.random() < 0.5
        landmarks, towns = composition.facts["landmarks"], composition.facts["towns"]
        texts = await play.step(
            *(sights.geocode(f"{landmark['name']}, {town}") for landmark, town in zip(landmarks, towns, strict=True))
        )
        points = [sights.position(text) for text in texts]
        indexes = [sights.index(text) for text in await play.step(*(sights.air_at(point) for point in points))]
        cleaner = [number for number, index in enumerate(indexes) if index == max(indexes)]
        kinds = ("lodging", "movie_theater")
        texts = await play.step(
            *(sights.nearby(points[number], round(radius * 1000), kind) for number in cleaner for kind in kinds)
        )
        found = [sights.best(text) for text in texts]
        pairs = list(zip(found[::2], found[1::2], strict=True))
        if by_phone:
            texts = await play.step(*(sights.details(places) for pair in pairs for places in pair))
            extras = [sights.phone(text) for text in texts]
        else:
            texts = await play.step(*(sights.walk(_point(hotels[0]), cinemas[0]) for hotels, cinemas in pairs))
            extras = [f"{sights.minutes(text):g} minutes" for text in texts]
        names = [landmark["name"] for landmark in landmarks]
        checks: list[Check] = [
            *(
                AnswerNumber(value=index, tolerance=0, what=f"the air index at {name}")
                for name, index in zip(names, indexes, strict=True)
            ),
            AnswerNames(all_of=tuple(sights.names_of(landmarks[number]) for number in cleaner)),
            AnswerNames(all_of=tuple(tuple(place["displayName"]["text"] for place in places) for places in found)),
            CallMade(tool="google-air/current_conditions", times=2),
        ]
        if by_phone:
            checks.append(AnswerNames(all_of=tuple(sights.dialled(extra) for extra in extras)))
        else:
            checks += [
                AnswerNumber(value=float(extra.split()[0]), tolerance=1, what="the minutes on foot") for extra in extras
            ]
        told = "; ".join(
            f"{hotels[0]['displayName']['text']} to sleep and {cinemas[0]['displayName']['text']} for a film"
            for hotels, cinemas in pairs
        )
        return Solution(
            wording=f"Compare the air at the two landmarks in {path}; within {radius} km of the cleaner one find the best hotel and cinema and {'their phone numbers' if by_phone else 'the walk between them'}.",
            answer=f"{names[0]} has an air index of {indexes[0]}, {names[1]} of {indexes[1]}, so {' and '.join(names[number] for number in cleaner)} it is: {told} ({', '.join(extras)}).",
            checks=tuple(checks),
            given={
                "radius": str(radius),
                "extra": "the phone numbers of both"
                if by_phone
                else "the minutes it takes to walk from the hotel to the cinema",
            },
        )


def _point(place: dict[str, dict[str, float]]) -> tuple[float, float]:
    return place["location"]["latitude"], place["location"]["longitude"]
