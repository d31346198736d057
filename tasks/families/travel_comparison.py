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
    questions = (
        "Mum has asthma and we can only visit one of the two. Which sight has cleaner air right now (give me the universal index "
        "for each)? Around the winner, up to {radius} km, what is the best-rated hotel and the best-rated cinema, and {extra}?",
        "Settle an argument: my wife likes the left card, I like the right. Compare current air quality figures, choose whichever "
        "breathes better, then name its top lodging plus favourite movie theatre by stars, {radius} kilometres at most. Tell us {extra}.",
        "weekend getaway, undecided. pollution index at both spots please. for the fresher one: highest scoring place to sleep, "
        "highest scoring film house, search circle {radius} km, and finally {extra}. thanks!!",
        "As a runner I pick destinations by their lungs-friendliness. Look at these postcards, report the air index numbers, declare a "
        "champion, and suggest accommodation and an evening screening venue nearby ({radius} km radius, most stars wins) including {extra}.",
        "Found in a thrift store frame. Suppose I travel to either location today: where does the atmosphere measure healthier, by what "
        "values? I'd stay there, so find me a hotel and cinema with the best reviews less than {radius} km away; I want {extra}.",
        "Dear assistant, kindly examine the photographs, establish the present air readings at each landmark, and for the superior "
        "one recommend a hotel together with a picture palace, ratings decide, distance limit {radius} km. Do mention {extra}.",
        "School project 'clean travel': two attractions, one table. Columns: name, air quality index (0 to 100). Below it the better "
        "site's leading hotel and leading cinema according to guest scores within a {radius} km reach; note {extra}.",
        "I collect smog statistics, humour me. Measure what people inhale at those monuments at this moment. Then pamper me at the least "
        "polluted: finest bed, finest big screen, nothing beyond {radius} kilometres, sorted on rating. Oh, and {extra}.",
        "Client brief: she'll fly wherever breathing is easier. Deliver both index values, our pick, then top hotel & top movie theater "
        "close to it (max {radius} km) with {extra}, no fluff.",
        "Can you tell from this image which holiday would irritate my allergies less? State scores on the universal scale, go with the "
        "higher, and arrange my night: a well rated room, a well rated film theatre, not over {radius} km off, {extra} as well.",
    )

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
