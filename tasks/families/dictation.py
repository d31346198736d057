"""A spoken note: fruit with its weight, one item taken back; what is left is looked up and added up."""

import json
import random
from collections.abc import Sequence

from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.sound_and_film import VOICES, Speech
from m3bench.tasks.task import ReferenceCall

_ITEMS = 5
_UNIT = "grams"


class Dictation(Family):
    """Write the note down, leave out what was taken back, look the rest up by its weight."""

    name = "dictation"
    servers = ("recordings", "food_nutrition_mcp", "math")
    fruits = table(dict[str, tuple[str, ...]])
    """Other spellings by name."""
    openings = words()
    taken_back = words()
    """What somebody says who does not want the last item after all."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Five kinds of fruit with their weights; one is taken back at once."""
        fruits = rng.sample(list(self.fruits), _ITEMS)
        weights = [rng.randrange(110, 590, 10) for _ in fruits]
        gone = rng.randrange(1, _ITEMS)
        lines = [rng.choice(self.openings)]
        for number, (fruit, weight) in enumerate(zip(fruits, weights, strict=True)):
            lines += [fruit, f"{tally.in_words(weight)} {_UNIT}"]
            if number == gone:
                lines.append(rng.choice(self.taken_back))
        speech = Speech(
            lines=tuple(lines), voice=rng.choice(VOICES), words_a_minute=rng.choice((125, 130, 135)), seed=rng.randrange(1000)
        )  # fmt: skip
        kept = [number for number in range(_ITEMS) if number != gone]
        return Composition.recorded(
            speech, fruits=[fruits[number] for number in kept], weights=[weights[number] for number in kept]
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The note in writing must be the one that was spoken."""
        words = [*self.fruits, *tally.NUMBER_WORDS, _UNIT, *self.openings, *self.taken_back]
        (text,) = await play.step(
            call("recordings/transcribe", {"path": path, "words": words}, free=("words", "start", "end"))
        )
        things = [
            TalliedThing(fruit, self.fruits[fruit], weight)
            for fruit, weight in zip(composition.facts["fruits"], composition.facts["weights"], strict=True)
        ]
        passages = [passage["text"] for passage in json.loads(text)["passages"]]
        need(_items(passages) == [(thing.name, thing.many) for thing in things], "the note is not understood")
        others = [name for name in self.fruits if name not in {thing.name for thing in things}]
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


def _items(passages: Sequence[str]) -> list[tuple[str, int]]:
    """The items of a note that was written down, without those that were taken back."""
    found: list[tuple[str, int]] = []
    name = ""
    for passage in passages:
        words = passage.split()
        if passage in Dictation.fruits:
            name = passage
        elif words[-1] == _UNIT and (weight := tally.number_of(words[:-1])) is not None and name:
            found.append((name, weight))
            name = ""
        elif passage in Dictation.taken_back and found:
            found.pop()
        else:
            need(passage in Dictation.openings and not found, "the note is not understood")
    return found


def _looked_up(thing: TalliedThing) -> ReferenceCall:
    stem = min((thing.name, *thing.spellings), key=len)[:-1]
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{thing.many} g {thing.name}"},
        words={"query": (str(thing.many), stem)},
    )


_TALLIES = {
    "energy": TallyGoal(
        look_up=_looked_up,
        figure=lambda text: nutrient_amount(text, "Energy"),
        unit="kcal",
        within=0.51,
        meant=("wanted", "the fruit that is still wanted at the end of the note"),
        most=("richest", "the one of those whose portion has the most energy"),
        total=("calories", "the energy of all those portions together"),
        wording="Write down the spoken note, leave out what is taken back, look up each portion of fruit by its weight, and add up the energy.",
    ),
    "carbohydrate": TallyGoal(
        look_up=_looked_up,
        figure=lambda text: nutrient_amount(text, "Carbohydrate"),
        unit="g",
        within=0.06,
        meant=("listed", "the fruit that remains on the list"),
        most=("highest", "the one of those whose portion has the most carbohydrate"),
        total=("carbohydrate", "the carbohydrate of all those portions together"),
        wording="Write down the spoken list, leave out what is taken back, look up each portion of fruit by its weight, and add up the carbohydrate.",
    ),
}
