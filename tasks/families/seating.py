"""A seating plan with names in marker, and the laid table from above: who has which dish decides what is looked up."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Items, Name, Number
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.nutrients import amount
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.banquet import MARKERS, SEATS, SIZE, plan, table
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.task import ReferenceCall

_EACH = 3
"""How many have a colour."""
_COLOURS = ("red", "blue")
_GRAMS = range(110, 330, 10)
_NUTRIENTS = {"protein": ("Protein", "g"), "sodium": ("Sodium", "mg"), "calcium": ("Calcium", "mg")}
_MARGIN = 1.1
"""How many times the next the largest must be."""


class Dish(NamedTuple):
    """Something on a plate that one knows by its look."""

    name: str
    spellings: tuple[str, ...]
    stem: str
    """What every spelling of it contains that a table of foods is asked with."""


class _Tables(Tables):
    dishes: tuple[Dish, ...]
    names: tuple[str, ...]
    titles: tuple[str, ...]


_tables = tables("seating", _Tables)


class Seating:
    """Match the table with its plan by the flowers; then nutrients of what some guests have, and numbers from them."""

    name = "seating"
    servers = ("food_nutrition_mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Ten guests of whom three are marked yellow and three green; ten dishes; three napkins red and three blue."""
        known = _tables()
        names = rng.sample(known.names, SEATS)
        marked = rng.sample(names, _EACH * len(MARKERS))
        markers = dict(zip(marked, sorted([*MARKERS] * _EACH), strict=True))
        sheet = Canvas(kit.art, *SIZE)
        plan(sheet, rng, rng.choice(known.titles), names, markers)
        first = snapshot(sheet, rng)
        dishes = rng.sample([dish.name for dish in known.dishes], SEATS)
        white = SEATS - _EACH * len(_COLOURS)
        napkins = rng.sample([*_COLOURS * _EACH, *["white"] * white], SEATS)
        top = Canvas(kit.art, *SIZE)
        table(top, rng, dishes, napkins, turned=rng.random() < 0.6)
        second = snapshot(top, rng)
        plates = dict(zip(names, dishes, strict=True))
        return Composition.taken(
            first, second, plates=plates, markers=markers, meant=[plates[name] for name in sorted(marked)],
            napkins=dict(zip(names, napkins, strict=True)),
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What some guests have is looked up; the goal says whose."""
        goals = {"marked": self._marked, "napkins": self._napkins}
        return await goals[play.goal](rng, composition, path, play)

    async def _marked(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The dishes of those whose names have a colour: energy of all, and who gets most of something."""
        facts, colour = composition.facts, rng.choice(tuple(MARKERS))
        nutrient, grams = rng.choice(tuple(_NUTRIENTS)), rng.choice(_GRAMS)
        label, unit = _NUTRIENTS[nutrient]
        guests = sorted(name for name, marker in facts["markers"].items() if marker == colour)
        dishes = _had(guests, composition)
        texts = await play.step(*(_looked_up(dish, grams) for dish in dishes))
        energies, amounts = [amount(text, "Energy") for text in texts], [amount(text, label) for text in texts]
        (text,) = await play.step(call("math/sum", {"numbers": energies}))
        energy = round(float(text), 2)
        order = sorted(range(_EACH), key=lambda number: -amounts[number])
        most, slack = amounts[order[0]], 0.51 if unit == "mg" else 0.06
        need(most >= amounts[order[1]] * _MARGIN and most > 3 * slack, "two have as much")
        need(abs(energy - most) > 1, "two numbers are one")
        return Solution(
            wording=f"Read in {path} whose names are marked in {colour}, find their dishes in the second photograph by where they sit, look up {grams} g of each, add up the energy, and tell who has the most {nutrient}.",
            answer=f"{_told(guests, dishes)}: {energy} kcal together. {guests[order[0]]} has the most {nutrient}, {most} {unit}.",
            fields=(
                Field(name="dishes", meaning=f"what the guests marked in {colour} have on their plates", value=Items(items=tuple(_dish(dish, composition) for dish in dishes))),
                Field(name="calories", meaning="the energy of all those dishes", value=Number(value=energy, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="most", meaning=f"which of those guests has the most {nutrient}", value=_guest(guests[order[0]], composition), compared=tuple(amounts[number] for number in order), derived=tuple(amounts)),
                Field(name="amount", meaning=f"how much {nutrient} that is", value=Number(value=most, within=slack, unit=unit)),
            ),
            given={"grams": str(grams), "nutrient": nutrient, "colour": colour},
            alternatives=(play.varied("added up without a tool", {1: ()}),),
        )  # fmt: skip

    async def _napkins(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Who has a napkin of a colour: the mean energy of their dishes, and how far the largest is from the smallest."""
        facts, colour, grams = composition.facts, rng.choice(_COLOURS), rng.choice(_GRAMS)
        guests = sorted(name for name, napkin in facts["napkins"].items() if napkin == colour)
        dishes = _had(guests, composition)
        texts = await play.step(*(_looked_up(dish, grams) for dish in dishes))
        energies = [amount(text, "Energy") for text in texts]
        order = sorted(range(_EACH), key=lambda number: -energies[number])
        most, least = energies[order[0]], energies[order[-1]]
        need(most >= energies[order[1]] * _MARGIN, "two have as much")
        mean_text, gap_text = await play.step(
            call("math/mean", {"numbers": energies}), call("math/subtract", {"minuend": most, "subtrahend": least})
        )
        mean, gap = round(float(mean_text), 2), round(float(gap_text), 2)
        need(abs(mean - gap) > 2, "two numbers are one")
        return Solution(
            wording=f"Find the {colour} napkins in the second photograph and read in {path} who sits there; look up {grams} g of each of their dishes, and work out the mean of the energy and how far the largest is from the smallest.",
            answer=f"{_told(guests, dishes)}: {mean} kcal on average, and {gap} kcal between the most, which {guests[order[0]]} has, and the least.",
            fields=(
                Field(name="guests", meaning=f"who has a {colour} napkin", value=Items(items=tuple(_guest(name, composition) for name in guests))),
                Field(name="mean", meaning="the energy of their dishes on average", value=Number(value=mean, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="gap", meaning="how far the largest of those energies is from the smallest", value=Number(value=gap, within=0.51, unit="kcal"), derived=tuple(energies)),
                Field(name="most", meaning="which of those guests has the most energy", value=_guest(guests[order[0]], composition), compared=tuple(energies[number] for number in order), derived=tuple(energies)),
            ),
            given={"grams": str(grams), "colour": colour},
            alternatives=(
                play.varied("averaged without a tool", {1: play.steps[1][1:]}),
                play.varied("subtracted without a tool", {1: play.steps[1][:1]}),
                play.varied("worked out without a tool", {1: ()}),
            ),
        )  # fmt: skip


def _had(guests: Sequence[str], composition: Composition) -> list[Dish]:
    known = {dish.name: dish for dish in _tables().dishes}
    return [known[composition.facts["plates"][guest]] for guest in guests]


def _told(guests: Sequence[str], dishes: Sequence[Dish]) -> str:
    return ", ".join(f"{guest} has {dish.name}" for guest, dish in zip(guests, dishes, strict=True))


def _looked_up(dish: Dish, grams: int) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{grams} g {dish.name}"},
        words={"query": (str(grams), dish.stem)},
    )


def _guest(name: str, composition: Composition) -> Name:
    return Name(value=name, others=tuple(other for other in composition.facts["plates"] if other != name))


def _dish(dish: Dish, composition: Composition) -> Name:
    """One of the dishes on the table, and none of the others."""
    others = [other for other in _had(tuple(composition.facts["plates"]), composition) if other is not dish]
    return Name(
        value=dish.name,
        aliases=dish.spellings,
        others=tuple(name for other in others for name in (other.name, *other.spellings)),
    )
