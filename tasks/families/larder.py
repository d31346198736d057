"""A kitchen shelf, photographed twice: what is gone, or came, is looked up. Most of what stayed has changed places."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Items, Money, Name, Number
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.render.shapes import fade, line, mix, path, rect
from m3bench.tasks.task import ReferenceCall

_TILES = ("#dfe7e6", "#e9e1d2", "#d6dfe8", "#e4ddd9", "#d9e2d3")
_WOODS = ("#a97f5b", "#8d633f", "#c9a376", "#7d5b41", "#b3a28c")
_TOPS = ("#6b6f75", "#8a7f74", "#55504b", "#9b9a94")
_SIDE = 0.06
"""The share of the picture beside the cupboard: a phone may cut it off."""


def cupboard(canvas: Canvas, rng: random.Random, boards: int) -> list[float]:
    """Draw it; returns the height of each board's upper edge, from above."""
    width, height = canvas.width, canvas.height
    tile, wood, top = rng.choice(_TILES), rng.choice(_WOODS), rng.choice(_TOPS)
    canvas.draw(rect(0, 0, width, height, tile))
    _tiles(canvas, rng, tile)
    left, right, ceiling, floor = width * _SIDE, width * (1 - _SIDE), height * 0.05, height * 0.9
    inside, dark = mix(wood, "#ffffff", 0.5), mix(wood, "#000000", 0.25)
    canvas.draw(
        rect(left + 10, ceiling + 16, right - left, floor - ceiling, "#00000040", 8),
        rect(left - 22, ceiling - 22, right - left + 44, floor - ceiling + 44, wood, 6),
        fade("inside", mix(inside, "#000000", 0.22), inside),
        rect(left, ceiling, right - left, floor - ceiling, "url(#inside)"),
    )
    for share in (0.2, 0.4, 0.6, 0.8):
        x = left + (right - left) * share
        canvas.draw(line(x, ceiling, x, floor, dark, 3, 'opacity="0.28"'))
    _grain(canvas, rng, left, right, ceiling, floor, dark)
    edges = []
    for number in range(1, boards + 1):
        y = ceiling + (floor - ceiling) * number / boards - 22
        canvas.draw(
            rect(left, y - 26, right - left, 28, mix(wood, "#ffffff", 0.28)),
            rect(left, y, right - left, 22, wood),
            rect(left, y, right - left, 4, mix(wood, "#ffffff", 0.4)),
            rect(left, y + 22, right - left, 18, "#00000030") if number < boards else "",
        )
        edges.append(y - 6)
    canvas.draw(
        rect(0, height * 0.945, width, height * 0.055, top),
        rect(0, height * 0.945, width, 6, mix(top, "#ffffff", 0.35)),
    )
    return edges


def _tiles(canvas: Canvas, rng: random.Random, tile: str) -> None:
    side, joint = 96, mix(tile, "#8a8f96", 0.35)
    for row in range(canvas.height // side + 1):
        for column in range(canvas.width // side + 2):
            x = column * side - (side / 2 if row % 2 else 0)
            shade = mix(tile, rng.choice(("#ffffff", "#9aa0a6")), rng.uniform(0, 0.14))
            canvas.draw(rect(x, row * side, side, side, shade, 3, f'stroke="{joint}" stroke-width="3"'))


def _grain(
    canvas: Canvas, rng: random.Random, left: float, right: float, ceiling: float, floor: float, dark: str
) -> None:
    for _ in range(26):
        x, y, long = rng.uniform(left, right), rng.uniform(ceiling, floor - 120), rng.uniform(60, 160)
        bend = rng.uniform(-5, 5)
        canvas.draw(
            path(
                f"M{x:.0f} {y:.0f} q{bend:.0f} {long / 2:.0f} 0 {min(long, floor - y):.0f}",
                more=f'stroke="{dark}" stroke-width="2" opacity="0.16"',
            )
        )


_BOARDS, _SLOTS = 3, 6
_FOODS, _CLUTTER = 11, 4
_GRAMS = range(60, 260, 10)
_NUTRIENTS = {"protein": ("Protein", "g"), "carbohydrate": ("Carbohydrate", "g"), "calcium": ("Calcium", "mg")}
_MARGIN = 1.1
"""How many times the next the largest must be."""


class LarderFood(NamedTuple):
    """Something to eat that one knows by its look."""

    name: str
    spellings: tuple[str, ...]
    stem: str
    """What every spelling of it contains that a table of foods is asked with."""


Places = dict[tuple[int, int], str]
"""What stands where: an object of the art by board and slot."""


class Larder(Family):
    """Compare two photographs; then nutrients or offers of what differs, and sums."""

    name = "larder"
    servers = ("food_nutrition_mcp", "amazon", "math")
    foods = table(tuple[LarderFood, ...])
    clutter = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eleven foods among other things; later three or four are gone, two are new, and others stand elsewhere."""
        foods = [food.name for food in self.foods]
        spots = [(board, slot) for board in range(_BOARDS) for slot in range(_SLOTS)]
        rack, clutter = rng.randrange(1 << 30), rng.sample(self.clutter, _CLUTTER)
        there = rng.sample(foods, _FOODS)
        before = dict(zip(rng.sample(spots, _FOODS + _CLUTTER), [*there, *clutter], strict=True))
        first = _photograph(kit, rng, rack, before)
        gone = rng.sample(there, rng.choice((3, 3, 4)))
        came = rng.sample([food for food in foods if food not in there], 2)
        after = {spot: thing for spot, thing in before.items() if thing not in gone}
        for spot, thing in rng.sample(sorted(after.items()), 6):
            del after[spot]
            after[rng.choice([free for free in spots if free not in after and free != spot])] = thing
        for thing in came:
            after[rng.choice([free for free in spots if free not in after])] = thing
        second = _photograph(kit, rng, rack, after)
        return Composition.taken(first, second, meant=sorted(gone), came=sorted(came), seen=sorted({*there, *came}))

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What differs is looked up; the goal says how."""
        goals = {"eaten": self._eaten, "restock": self._restock, "exchange": self._exchange}
        return await goals[play.goal](rng, composition, path, play)

    async def _eaten(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The energy of what is gone, and the one with most of something."""
        gone, nutrient, grams = _known(composition.facts["meant"]), rng.choice(tuple(_NUTRIENTS)), rng.choice(_GRAMS)
        label, unit = _NUTRIENTS[nutrient]
        texts = await play.step(*(_looked_up(food, grams) for food in gone))
        energies, amounts = (
            [nutrient_amount(text, "Energy") for text in texts],
            [nutrient_amount(text, label) for text in texts],
        )
        (text,) = await play.step(call("math/sum", {"numbers": energies}))
        energy = round(float(text), 2)
        order = sorted(range(len(gone)), key=lambda number: -amounts[number])
        most, slack = amounts[order[0]], 0.51 if unit == "mg" else 0.06
        need(most >= amounts[order[1]] * _MARGIN and most > 3 * slack, "two have as much")
        need(abs(energy - most) > 1, "two numbers are one")
        return Solution(
            wording=f"Find out what is on the shelf in {path} and no longer in the second photograph, look up {grams} g of each, add up the energy, and tell which has the most {nutrient}.",
            answer=f"Gone are {_listed(gone)}: {energy} kcal together. The most {nutrient}, {most} {unit}, was in the {gone[order[0]].name}.",
            fields=(
                _names("gone", "what was on the shelf and no longer is", gone, composition),
                Field(name="calories", meaning="the energy of all that is gone", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="richest", meaning=f"which of what is gone had the most {nutrient}", value=_name(gone[order[0]], composition), compared=tuple(amounts[number] for number in order), derived=tuple(amounts)),
                Field(name="amount", meaning=f"how much {nutrient} that was", value=Number(value=most, within=slack, unit=unit)),
            ),
            given={"grams": str(grams), "nutrient": nutrient},
            alternatives=(play.varied("added up without a tool", {1: ()}),),
        )  # fmt: skip

    async def _restock(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What it costs to buy again what is gone, for each of some people."""
        gone, people = _known(composition.facts["meant"]), rng.randint(2, 9)
        texts = await play.step(*(_offer(food.name) for food in gone))
        found = [tool_answers.prices(text) for text in texts]
        need(all(found), "something is not sold")
        for food, one in zip(gone, found, strict=True):
            for spelling in food.spellings:
                (text,) = await play.play([_offer(spelling)])
                need(tool_answers.prices(text)[:1] == one[:1], "the offer depends on how the food is written")
        prices = [offers[0] for offers in found]
        order = sorted(range(len(gone)), key=lambda number: -prices[number])
        need(prices[order[0]] >= prices[order[1]] * 1.03, "two cost the same")
        (text,) = await play.step(call("math/sum", {"numbers": prices}))
        total = round(float(text), 2)
        (text,) = await play.step(call("math/division", {"numerator": total, "denominator": people}))
        each = round(float(text), 2)
        need(len({*prices, total, each}) == len(prices) + 2, "two sums are one")
        return Solution(
            wording=f"Find out what is on the shelf in {path} and no longer in the second photograph, take the first offer of each on amazon.com, add up the prices and divide by {people}.",
            answer=f"Gone are {_listed(gone)}. The first offers cost {total:.2f} dollars together, {each:.2f} for each of {people}; the dearest is that for the {gone[order[0]].name}.",
            fields=(
                Field(name="total", meaning="what the first offers for all that is gone cost together", value=Money(value=total, unit="USD"), derived=tuple(prices)),
                Field(name="share", meaning="what each of the people pays", value=Money(value=each, unit="USD"), derived=tuple(prices)),
                Field(name="dearest", meaning="which of what is gone costs the most", value=_name(gone[order[0]], composition), compared=tuple(prices[number] for number in order), derived=tuple(prices)),
            ),
            given={"people": str(people)},
            alternatives=(
                play.varied("divided without a tool", {2: ()}),
                play.varied("added up and divided without a tool", {1: (), 2: ()}),
            ),
        )  # fmt: skip

    async def _exchange(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Energy that left against energy that came."""
        gone, came = _known(composition.facts["meant"]), _known(composition.facts["came"])
        grams = rng.choice(_GRAMS)
        texts = await play.step(*(_looked_up(food, grams) for food in (*gone, *came)))
        energies = [nutrient_amount(text, "Energy") for text in texts]
        parts = energies[: len(gone)], energies[len(gone) :]
        lost, won = (
            round(float(text), 2)
            for text in await play.step(*(call("math/sum", {"numbers": list(part)}) for part in parts))
        )
        need(abs(lost - won) > 30 and abs(abs(lost - won) - min(lost, won)) > 2, "as much came as went")
        (text,) = await play.step(call("math/subtract", {"minuend": max(lost, won), "subtrahend": min(lost, won)}))
        difference = round(float(text), 2)
        return Solution(
            wording=f"Compare the shelf in {path} with the second photograph; look up {grams} g of everything that is gone and of everything that is new, add up the energy of both and subtract.",
            answer=f"Gone are {_listed(gone)} with {lost} kcal, new are {_listed(came)} with {won} kcal: a difference of {difference} kcal.",
            fields=(
                _names("new", "what is on the shelf and was not there before", came, composition),
                Field(name="calories_gone", meaning="the energy of all that is gone", value=Number(value=lost, within=0.51, unit="kcal"), derived=tuple(parts[0])),
                Field(name="calories_new", meaning="the energy of all that is new", value=Number(value=won, within=0.51, unit="kcal"), derived=tuple(parts[1])),
                Field(name="difference", meaning="how far the two are apart", value=Number(value=difference, within=0.51, unit="kcal"), derived=tuple(energies)),
            ),
            given={"grams": str(grams)},
            alternatives=(
                play.varied("subtracted without a tool", {2: ()}),
                play.varied("added up and subtracted without a tool", {1: (), 2: ()}),
            ),
        )  # fmt: skip


def _photograph(kit: Kit, rng: random.Random, rack: int, places: Places) -> Snapshot:
    """The shelf with what stands on it; the detector sees that something is food, and not which."""
    canvas = Canvas(kit.art, 1200, 900)
    # The same shelf looks the same twice.
    edges = cupboard(canvas, random.Random(rack), _BOARDS)
    clutter, slot = Larder.clutter, canvas.width * 0.84 / _SLOTS
    for (board, number), thing in sorted(places.items()):
        x = canvas.width * 0.08 + slot * (number + 0.5) + rng.uniform(-0.13, 0.13) * slot
        score = round(rng.uniform(0.7, 0.95), 2)
        canvas.place(
            thing, x, edges[board] + rng.uniform(0, 8), rng.uniform(145, 172), flip=rng.random() < 0.4,
            turn=rng.uniform(-7, 7), label=thing if thing in clutter else "food", score=score,
        )  # fmt: skip
    return snapshot(canvas, rng)


def _known(names: Sequence[str]) -> list[LarderFood]:
    return [food for food in Larder.foods if food.name in names]


def _listed(foods: Sequence[LarderFood]) -> str:
    return ", ".join(food.name for food in foods)


def _name(food: LarderFood, composition: Composition) -> Name:
    """One of the foods that can be seen, and none of the others."""
    others = [other for other in _known(composition.facts["seen"]) if other is not food]
    return Name(
        value=food.name,
        aliases=food.spellings,
        others=tuple(name for other in others for name in (other.name, *other.spellings)),
    )


def _names(name: str, meaning: str, foods: Sequence[LarderFood], composition: Composition) -> Field:
    return Field(name=name, meaning=meaning, value=Items(items=tuple(_name(food, composition) for food in foods)))


def _looked_up(food: LarderFood, grams: int) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{grams} g {food.name}"},
        words={"query": (str(grams), food.stem)},
    )


def _offer(words: str) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": words, "n": 1}, free=("n",))
