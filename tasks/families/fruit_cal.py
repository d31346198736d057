"""Fruit weighed out on a table, some of it circled: what is in it, which has most of something, and what health advice fits."""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

from m3bench.tasks.answers.fields import Date, Field, Money, Name, Number
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.render import laid_table, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall


class Fruit(NamedTuple):
    """A fruit that may lie on a table."""

    name: str
    spellings: tuple[str, ...]
    stem: str
    """What every spelling of it contains."""
    low: int
    high: int
    """Grams that a portion may weigh."""
    piece: int
    """Grams of what one drawing of it shows, such as a pair of cherries."""


_NUTRIENTS = {
    "fibre": ("Fiber", "g"),
    "sugar": ("Sugars", "g"),
    "vitamin C": ("Vitamin C", "mg"),
    "carbohydrate": ("Carbohydrate", "g"),
    "protein": ("Protein", "g"),
    "calcium": ("Calcium", "mg"),
}


_COLUMNS = 4
_SIZE = 150.0
_HEAPS = {1: (150.0, ((0, 0),)), 2: (122.0, ((-56, 0), (56, 0))), 3: (104.0, ((0, 62), (-58, 0), (58, 0)))}
"""How tall the pieces of a small heap are, and where each lies: aside and up, the hindmost first."""
_MOST = 12
"""Pieces of a heap."""
_LIMITS = range(250, 751, 50)
"""Kilocalories."""
_MARGIN = 1.1
"""How many times the next the largest must be."""


def fruits() -> tuple[Fruit, ...]:
    """Every fruit that there is a picture of."""
    return FruitCal.fruits


class FruitCal(Family):
    """Nutrients of each fruit, then totals and shares, an offer, or a page of health advice."""

    name = "fruit_cal"
    servers = ("food_nutrition_mcp", "healthcare-mcp", "math", "amazon")
    fruits = table(tuple[Fruit, ...])
    concerns = words()
    circled: tuple[int, ...] = (3, 3, 4)
    """How many fruits red may be drawn around."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight fruits on boards or plates, each with its weight on a card; red is drawn around three or four."""
        fruits = rng.sample(self.fruits, 2 * _COLUMNS)
        weights = [rng.randrange(fruit.low, fruit.high + 1, 10) for fruit in fruits]
        canvas = Canvas(kit.art, 1480, 960)
        laid_table.laid(canvas, rng, 0.14)
        under = rng.choice((laid_table.plate, laid_table.board))
        boxes = [
            _weighed_out(canvas, rng, under, number, fruit, weight)
            for number, (fruit, weight) in enumerate(zip(fruits, weights, strict=True))
        ]
        meant = sorted(rng.sample(range(len(fruits)), rng.choice(self.circled)))
        canvas.light(rng, 0.6)
        others = [box for number, box in enumerate(boxes) if number not in meant]
        pen.circle(canvas, rng, [boxes[number] for number in meant], others)
        shown = [fruit.name for fruit in fruits]
        fruits, weights = [fruits[number] for number in meant], [weights[number] for number in meant]
        pages = [topic["title"] for topic in kit.world("health_topics")]
        return Composition.of(canvas, fruits=fruits, weights=weights, pages=pages, shown=shown)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything is looked up by its weight; what follows depends on the goal."""
        goals = {"shares": self._shares, "richest": self._richest, "advice": self._advice}
        return await goals[play.goal](rng, composition, path, play)

    async def _shares(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is circled, together and for each eater."""
        portions = _portions(composition)
        nutrient, people = rng.choice(tuple(_NUTRIENTS)), rng.randint(3, 9)
        label, unit = _NUTRIENTS[nutrient]
        texts = await play.step(*(_looked_up("query", *portion) for portion in portions))
        energies, amounts = (
            [nutrient_amount(text, "Energy") for text in texts],
            [nutrient_amount(text, label) for text in texts],
        )
        sums = await play.step(call("math/sum", {"numbers": energies}), call("math/sum", {"numbers": amounts}))
        energy, together = (round(float(text), 2) for text in sums)
        parts = await play.step(
            *(
                call("math/division", {"numerator": total, "denominator": people}, near={"numerator": 0.51})
                for total in (energy, together)
            )
        )
        each, bit = (round(float(text), 2) for text in parts)
        slack = 0.51 if unit == "mg" else 0.06
        need(bit >= 2 * slack, "there is next to nothing in it")
        numbers = (energy, each, together, bit)
        need(
            min(abs(number - other) for number in numbers for other in numbers if number is not other) > 1,
            "two are alike",
        )
        return Solution(
            wording=f"Look up the nutrients of each fruit circled in red in {path} by the weight on its card; add up energy and {nutrient} and divide both by {people}.",
            answer=f"{_listed(portions)} have {energy} kcal and {together} {unit} of {nutrient} together, or {each} kcal and {bit} {unit} for each of {people}.",
            fields=(
                Field(name="calories", meaning="the energy of the circled portions together", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="calories_each", meaning="the energy of one share", value=Number(value=each, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name=_field(nutrient), meaning=f"the {nutrient} in the circled portions together", value=Number(value=together, within=slack, unit=unit), derived=tuple(amounts)),
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
        amounts = [nutrient_amount(text, label) for text in texts]
        order = sorted(range(len(portions)), key=lambda number: -amounts[number])
        need(amounts[order[0]] >= amounts[order[1]] * _MARGIN, "two fruits give as much")
        richest, most = portions[order[0]][0], amounts[order[0]]
        added, sold = await play.step(call("math/sum", {"numbers": amounts}), _offer(richest, richest.name))
        together, slack = round(float(added), 2), 0.51 if unit == "mg" else 0.06
        need(together - most >= 4 * slack, "the others have next to nothing")
        prices = tool_answers.prices(sold)
        need(bool(prices), "it is not sold")
        for spelling in richest.spellings:
            (other,) = await play.play([_offer(richest, spelling)])
            need(tool_answers.prices(other)[:1] == prices[:1], "the offer depends on how the fruit is written")
        others = tuple(
            name for number in order[1:] for name in (portions[number][0].name, *portions[number][0].spellings)
        )
        return Solution(
            wording=f"Look up the nutrients of every fruit circled in red in {path} by the weight on its card, add up the {nutrient}, find the one with the most of it, and the price of the first offer for it on amazon.com.",
            answer=f"Of {_listed(portions)}, most {nutrient} is in the {richest.name}: {most} {unit} of {together} {unit} in all. The first offer costs ${prices[0]:.2f}.",
            fields=(
                Field(
                    name="richest",
                    meaning=f"the circled fruit whose portion has the most {nutrient}",
                    value=Name(value=richest.name, aliases=richest.spellings, others=others, context=("fruit",)),
                    compared=tuple(amounts[number] for number in order),
                    derived=tuple(amounts),
                ),
                Field(name="amount", meaning=f"how much {nutrient} that portion has", value=Number(value=most, within=slack, unit=unit)),
                Field(name="together", meaning=f"how much {nutrient} the circled portions have together", value=Number(value=together, within=slack, unit=unit), derived=tuple(amounts)),
                Field(name="price", meaning="what the first offer for it costs", value=Money(value=prices[0], unit="USD")),
            ),
            given={"nutrient": nutrient},
            alternatives=(
                play.varied("the other name of the argument", {0: [_looked_up("food", *portion) for portion in portions]}),
                play.varied("added up without a tool", {1: play.steps[1][1:]}),
            ),
        )  # fmt: skip

    async def _advice(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """How much it is altogether decides which page of advice is wanted."""
        portions = _portions(composition)
        limit = rng.choice(_LIMITS)
        over, under = rng.sample(self.concerns, 2)
        texts = await play.step(*(_looked_up("query", *portion) for portion in portions))
        energies = [nutrient_amount(text, "Energy") for text in texts]
        energy = round(float((await play.step(call("math/sum", {"numbers": energies})))[0]), 2)
        need(abs(energy - limit) >= 0.05 * limit, "it is neither much nor little")
        concern = over if energy > limit else under
        (advice,) = await play.step(
            call("healthcare-mcp/health_topics", {"topic": concern}, words={"topic": concern.split()}, free=("language",))
        )  # fmt: skip
        (page,) = json.loads(advice)["health_topics"]
        others = tuple(title for title in composition.facts["pages"] if title != page["title"])
        return Solution(
            wording=f"Add up the energy of every fruit circled in red in {path} by the weight on its card; above {limit} kcal find the health page on {over}, else the one on {under}.",
            answer=f'{_listed(portions)} have {energy} kcal together. The page is "{page["title"]}", last updated on {page["last_updated"]}.',
            fields=(
                Field(name="calories", meaning="the energy of the circled portions together", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="page", meaning="the title of the health page to read", value=Name(value=page["title"], others=others)),
                Field(name="updated", meaning="the day on which that page was last updated", value=Date(value=page["last_updated"])),
            ),
            given={"limit": str(limit), "over": over, "under": under},
            alternatives=(
                play.varied("the other name of the argument", {0: [_looked_up("food", *portion) for portion in portions]}),
                play.varied("added up without a tool", {1: ()}),
            ),
        )  # fmt: skip


def _portions(composition: Composition) -> list[tuple[Fruit, int]]:
    """Each circled fruit with its weight."""
    return list(zip(composition.facts["fruits"], composition.facts["weights"], strict=True))


def _weighed_out(
    canvas: Canvas, rng: random.Random, under: Callable[..., None], number: int, fruit: Fruit, weight: int
) -> Box:
    """A fruit on its plate with its card before it; returns the box of all three."""
    row, column = divmod(number, _COLUMNS)
    x = canvas.width * (column + 0.5) / _COLUMNS + rng.uniform(-14, 14)
    foot = 286 + row * 428 + rng.uniform(-8, 8)
    under(canvas, rng, x, foot - _SIZE * 0.1, _SIZE * 1.7)
    flip, score = rng.random() < 0.4, round(rng.uniform(0.86, 0.97), 2)
    _heap(canvas, fruit, weight, x, foot, flip, score)
    card = laid_table.card(canvas, rng, f"{weight} grams", x, foot + _SIZE * 0.24 + 80)
    half = max(_SIZE * 0.86, (card[2] - card[0]) / 2 + 12)
    return (round(x - half), round(foot - _SIZE), round(x + half), card[3])


def _heap(canvas: Canvas, fruit: Fruit, weight: int, x: float, foot: float, flip: bool, score: float) -> None:
    """As many pieces of a fruit as weigh about so much; a detector sees them as one portion."""
    count = max(1, min(_MOST, round(weight / fruit.piece)))
    tall, places = _HEAPS.get(count) or (84.0, _piled(count))
    drawn = canvas.art.object(fruit.name)
    tall = min(tall, 1.2 * tall * drawn.height / drawn.width)
    if count == 1:
        tall *= min(1.0, max(0.66, (weight / fruit.piece) ** (1 / 3)))
    boxes = [
        canvas.place(
            fruit.name, x + aside, foot - up, tall, flip=flip is (number % 2 == 0), shadow=False, note=False
        )
        for number, (aside, up) in enumerate(places)
    ]  # fmt: skip
    left, top = (min(box[side] for box in boxes) for side in (0, 1))
    right, bottom = (max(box[side] for box in boxes) for side in (2, 3))
    canvas.note(fruit.name, (left, top, right, bottom), score=score, aliases=(*fruit.spellings, "fruit"))


def _piled(count: int) -> tuple[tuple[float, float], ...]:
    """Places of many pieces: rows that are shorter the higher they lie, the uppermost first."""
    rows = [count // 2, count - count // 2] if count < 8 else [count // 4, count // 3, count - count // 4 - count // 3]
    return tuple(
        (46.0 * (number - (row - 1) / 2), 40.0 * (len(rows) - 1 - level))
        for level, row in enumerate(rows)
        for number in range(row)
    )


def _field(nutrient: str) -> str:
    return nutrient.lower().replace(" ", "_")


def _listed(portions: list[tuple[Fruit, int]]) -> str:
    return ", ".join(f"{weight} g of {fruit.name}" for fruit, weight in portions)


def _looked_up(argument: str, fruit: Fruit, weight: int) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition", {argument: f"{weight} g {fruit.name}"}, words={argument: (str(weight), fruit.stem)}
    )  # fmt: skip


def _offer(fruit: Fruit, words: str) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": words, "n": 1}, words={"keywords": [fruit.stem]}, free=("n",))
