"""Fruit weighed out on a table: what is in it, which has most of something, and what health advice fits."""

import json
import random
import re
from typing import NamedTuple

from m3bench.tasks.answers.fields import Date, Field, Money, Name, Number
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
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


_LIMITS = range(500, 1101, 50)
"""Kilocalories."""
_MARGIN = 1.1
"""How many times the next the largest must be."""


class _Tables(Tables):
    fruits: tuple[_Fruit, ...]
    concerns: tuple[str, ...]


_tables = tables("fruit_cal", _Tables)


class FruitCal:
    """Nutrients of each fruit, then totals and shares, an offer, or a page of health advice."""

    name = "fruit_cal"
    servers = ("food_nutrition_mcp", "healthcare-mcp", "math", "amazon")

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
                aliases=(*fruit.spellings, "fruit"),
            )  # fmt: skip
            laid_table.card(canvas, rng, f"{weight} grams", x, foot + size * 0.24 + 80)
        canvas.light(rng, 0.8)
        pages = [topic["title"] for topic in kit.world("health_topics")]
        return Composition.of(canvas, fruits=fruits, weights=weights, pages=pages)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything is looked up by its weight; what follows depends on the goal."""
        goals = {"shares": self._shares, "richest": self._richest, "advice": self._advice}
        return await goals[play.goal](rng, composition, path, play)

    async def _shares(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What stands in the front row, together and for each eater."""
        portions = _portions(composition)[2:]
        nutrient, people = rng.choice(tuple(_NUTRIENTS)), rng.randint(3, 9)
        label, unit = _NUTRIENTS[nutrient]
        texts = await play.step(*(_looked_up("query", *portion) for portion in portions))
        energies, amounts = [_amount(text, "Energy") for text in texts], [_amount(text, label) for text in texts]
        sums = await play.step(call("math/sum", {"numbers": energies}), call("math/sum", {"numbers": amounts}))
        energy, amount = (round(float(text), 2) for text in sums)
        parts = await play.step(
            *(
                call("math/division", {"numerator": total, "denominator": people}, near={"numerator": 0.51})
                for total in (energy, amount)
            )
        )
        each, bit = (round(float(text), 2) for text in parts)
        slack = 0.51 if unit == "mg" else 0.06
        need(bit >= 2 * slack, "there is next to nothing in it")
        numbers = (energy, each, amount, bit)
        need(min(abs(one - other) for one in numbers for other in numbers if one is not other) > 1, "two are alike")
        return Solution(
            wording=f"Look up the nutrients of each fruit in the front row of {path} by the weight on its card; add up energy and {nutrient} and divide both by {people}.",
            answer=f"{_listed(portions)} have {energy} kcal and {amount} {unit} of {nutrient} together, or {each} kcal and {bit} {unit} for each of {people}.",
            fields=(
                Field(name="calories", meaning="the energy of the front row together", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="calories_each", meaning="the energy of one share", value=Number(value=each, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name=_field(nutrient), meaning=f"the {nutrient} in the front row together", value=Number(value=amount, within=slack, unit=unit), derived=tuple(amounts)),
                Field(name=f"{_field(nutrient)}_each", meaning=f"the {nutrient} in one share", value=Number(value=bit, within=slack, unit=unit), derived=tuple(amounts)),
            ),
            given={"people": str(people), "nutrient": nutrient},
            alternatives=(
                play.varied("the other name of the argument", {0: [_looked_up("food", *portion) for portion in portions]}),
                play.varied("added up and divided without a tool", {1: (), 2: ()}),
            ),
        )  # fmt: skip

    async def _richest(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The fruit with the most of something, and what an offer of it costs."""
        portions = _portions(composition)
        nutrient = rng.choice(tuple(_NUTRIENTS))
        label, unit = _NUTRIENTS[nutrient]
        texts = await play.step(*(_looked_up("query", *portion) for portion in portions))
        amounts = [_amount(text, label) for text in texts]
        order = sorted(range(len(portions)), key=lambda number: -amounts[number])
        need(amounts[order[0]] >= amounts[order[1]] * _MARGIN, "two fruits give as much")
        richest, most = portions[order[0]][0], amounts[order[0]]
        (sold,) = await play.step(_offer(richest, richest.name))
        prices = offers.prices(sold)
        need(bool(prices), "it is not sold")
        for spelling in richest.spellings:
            (other,) = await play.play([_offer(richest, spelling)])
            need(offers.prices(other)[:1] == prices[:1], "the offer hangs on how the fruit is written")
        others = tuple(
            name for number in order[1:] for name in (portions[number][0].name, *portions[number][0].spellings)
        )
        return Solution(
            wording=f"Look up the nutrients of every fruit in {path} by the weight on its card, find the one with the most {nutrient}, and the price of the first offer for it on amazon.com.",
            answer=f"Of {_listed(portions)}, most {nutrient} is in the {richest.name}: {most} {unit}. The first offer costs ${prices[0]:.2f}.",
            fields=(
                Field(
                    name="richest",
                    meaning=f"the fruit whose portion has the most {nutrient}",
                    value=Name(value=richest.name, aliases=richest.spellings, others=others, context=("fruit",)),
                    compared=tuple(amounts[number] for number in order),
                    derived=tuple(amounts),
                ),
                Field(name="amount", meaning=f"how much {nutrient} that portion has", value=Number(value=most, within=0.51 if unit == "mg" else 0.06, unit=unit)),
                Field(name="price", meaning="what the first offer for it costs", value=Money(value=prices[0], unit="USD")),
            ),
            given={"nutrient": nutrient},
            alternatives=(play.varied("the other name of the argument", {0: [_looked_up("food", *portion) for portion in portions]}),),
        )  # fmt: skip

    async def _advice(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """How much it is altogether decides which page of advice is wanted."""
        portions = _portions(composition)
        limit = rng.choice(_LIMITS)
        over, under = rng.sample(_tables().concerns, 2)
        texts = await play.step(*(_looked_up("query", *portion) for portion in portions))
        energies = [_amount(text, "Energy") for text in texts]
        energy = round(float((await play.step(call("math/sum", {"numbers": energies})))[0]), 2)
        need(abs(energy - limit) >= 0.05 * limit, "it is neither much nor little")
        concern = over if energy > limit else under
        (advice,) = await play.step(
            call("healthcare-mcp/health_topics", {"topic": concern}, words={"topic": concern.split()}, free=("language",))
        )  # fmt: skip
        (page,) = json.loads(advice)["health_topics"]
        others = tuple(title for title in composition.facts["pages"] if title != page["title"])
        return Solution(
            wording=f"Add up the energy of every fruit in {path} by the weight on its card; above {limit} kcal find the health page on {over}, else the one on {under}.",
            answer=f'{_listed(portions)} have {energy} kcal together. The page is "{page["title"]}", last updated on {page["last_updated"]}.',
            fields=(
                Field(name="calories", meaning="the energy of everything together", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="page", meaning="the title of the health page to read", value=Name(value=page["title"], others=others)),
                Field(name="updated", meaning="the day on which that page was last updated", value=Date(value=page["last_updated"])),
            ),
            given={"limit": str(limit), "over": over, "under": under},
            alternatives=(
                play.varied("the other name of the argument", {0: [_looked_up("food", *portion) for portion in portions]}),
                play.varied("added up without a tool", {1: ()}),
            ),
        )  # fmt: skip


def _portions(composition: Composition) -> list[tuple[_Fruit, int]]:
    """Each fruit with its weight: two in the back row, the others in front."""
    return list(zip(composition.facts["fruits"], composition.facts["weights"], strict=True))


def _field(nutrient: str) -> str:
    return nutrient.lower().replace(" ", "_")


def _listed(portions: list[tuple[_Fruit, int]]) -> str:
    return ", ".join(f"{weight} g of {fruit.name}" for fruit, weight in portions)


def _looked_up(argument: str, fruit: _Fruit, weight: int) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition", {argument: f"{weight} g {fruit.name}"}, words={argument: (str(weight), fruit.stem)}
    )  # fmt: skip


def _offer(fruit: _Fruit, words: str) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": words, "n": 1}, words={"keywords": [fruit.stem]}, free=("n",))


def _amount(text: str, label: str) -> float:
    found = re.search(rf"^- {label}[^:]*: ([\d.]+)", text, re.MULTILINE)
    assert found, text
    return float(found[1])
