"""Fruit weighed out on a table: what is in it altogether and for each eater, and what health advice says of such food."""

import json
import random
import re
from typing import NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import laid_table
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall


class _Fruit(NamedTuple):
    name: str
    spellings: tuple[str, ...]
    stem: str
    """What every spelling of it contains."""
    low: int
    high: int
    """Grams that it may weigh."""


_NUTRIENTS = {
    "fibre": ("Fiber", "g"),
    "sugar": ("Sugars", "g"),
    "vitamin C": ("Vitamin C", "mg"),
    "carbohydrate": ("Carbohydrate", "g"),
    "protein": ("Protein", "g"),
    "calcium": ("Calcium", "mg"),
}


class _Tables(Tables):
    fruits: tuple[_Fruit, ...]
    concerns: tuple[str, ...]


_tables = tables("fruit_cal", _Tables)


class FruitCal:
    """Nutrients of each fruit beside a health topic, then totals and shares."""

    name = "fruit_cal"
    servers = ("food_nutrition_mcp", "healthcare-mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Four or five fruits on boards and plates, each with its weight on a card."""
        fruits = rng.sample(_tables().fruits, rng.choice((4, 4, 5)))
        weights = [rng.randrange(fruit.low, fruit.high + 1, 10) for fruit in fruits]
        canvas = Canvas(kit.art, 1320, 900)
        laid_table.laid(canvas, rng, 0.25)
        under = rng.choice((laid_table.plate, laid_table.board))
        back, front, size = rng.uniform(364, 376), rng.uniform(692, 702), rng.uniform(162, 174)
        many = len(fruits) - 2
        shift = rng.uniform(-30, 30)
        spots = [(canvas.width * (0.3 + 0.4 * n) + shift, back) for n in range(2)]
        spots += [
            (canvas.width * (n + 0.5) / many + (0 if many == 3 else (0.5 - n) * 130) - shift, front)
            for n in range(many)
        ]
        for fruit, weight, (x, foot) in zip(fruits, weights, spots, strict=True):
            under(canvas, rng, x, foot - size * 0.1, size * 1.7)
            canvas.place(
                fruit.name, x, foot, size, flip=rng.random() < 0.4, shadow=False, score=round(rng.uniform(0.86, 0.97), 2),
                aliases=(*fruit.spellings, "fruit"), description=f"{fruit.name}, {weight} g",
            )  # fmt: skip
            laid_table.card(canvas, rng, f"{weight} grams", x, foot + size * 0.24 + 80)
        canvas.light(rng, 0.8)
        return Composition.of(canvas, fruits=fruits, weights=weights)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Look all up at once, then add, then share out."""
        fruits: list[_Fruit] = composition.facts["fruits"]
        weights: list[int] = composition.facts["weights"]
        nutrient, concern, people = rng.choice(tuple(_NUTRIENTS)), rng.choice(_tables().concerns), rng.randint(3, 9)
        label, unit = _NUTRIENTS[nutrient]
        topic = call("healthcare-mcp/health_topics", {"topic": concern}, words={"topic": concern.split()})
        portions = list(zip(fruits, weights, strict=True))
        *texts, advice = await play.step(*(_portion("query", *portion) for portion in portions), topic)
        titles = [entry["title"] for entry in json.loads(advice)["health_topics"]]
        assert titles, f"no topic on {concern}"
        energies, amounts = [_amount(text, "Energy") for text in texts], [_amount(text, label) for text in texts]
        sums = await play.step(
            call("math/sum", {"numbers": energies}),
            call("math/sum", {"numbers": amounts}),
            call("math/max", {"numbers": amounts}),
        )
        energy, amount, most = (round(float(text), 2) for text in sums)
        parts = await play.step(
            *(
                call("math/division", {"numerator": total, "denominator": people}, near={"numerator": 0.51})
                for total in (energy, amount)
            )
        )
        each, bit = (round(float(text), 2) for text in parts)
        richest = [fruit for fruit, value in zip(fruits, amounts, strict=True) if value == most]
        named = ", ".join(f"{weight} g of {fruit.name}" for fruit, weight in portions)
        slack = 0.51 if unit == "mg" else 0.06
        return Solution(
            wording=f"For every fruit in {path} look up the nutrients of the weight on its card, and the health topic on {concern}; add "
            f"up energy and {nutrient}, find the largest share of {nutrient}, and divide both totals by {people}.",
            answer=f"{named} have {energy} kcal and {amount} {unit} of {nutrient} together, or {each} kcal and {bit} {unit} for each of "
            f'{people}. Most {nutrient} comes from the {richest[0].name} ({most} {unit}). The health topic is "{titles[0]}".',
            checks=(
                AnswerNumber(value=energy, tolerance=0.51, what="the calories together"),
                AnswerNumber(value=each, tolerance=0.51, what="the calories for each"),
                AnswerNumber(value=amount, tolerance=slack, what=f"the {nutrient} together"),
                AnswerNumber(value=bit, tolerance=slack, what=f"the {nutrient} for each"),
                AnswerNames(
                    all_of=(tuple(name for fruit in richest for name in (fruit.name, *fruit.spellings)), tuple(titles))
                ),
                CallMade(tool="food_nutrition_mcp/get_nutrition", times=len(fruits)),
                CallMade(tool="healthcare-mcp/health_topics"),
            ),
            given={"people": str(people), "nutrient": nutrient, "concern": concern},
            alternatives=(
                play.varied(
                    "The other name of the argument.",
                    {0: [*(_portion("food", *portion) for portion in portions), topic]},
                ),
            ),
        )


def _portion(argument: str, fruit: _Fruit, weight: int) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition", {argument: f"{weight} g {fruit.name}"}, words={argument: (str(weight), fruit.stem)}
    )  # fmt: skip


def _amount(text: str, label: str) -> float:
    found = re.search(rf"^- {label}[^:]*: ([\d.]+)", text, re.MULTILINE)
    assert found, text
    return float(found[1])
