"""A seating plan with names in marker, and the laid table from above: who has which dish decides what is looked up."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Items, Name, Number
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.render.backdrops import folded_paper, tabletop
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.render.shapes import ellipse, line, mix, path, rect
from m3bench.tasks.task import ReferenceCall

SIZE = 1400, 1000
"""Of a canvas for either."""
SEATS = 10
MARKERS = {"yellow": "#f7e03a", "green": "#8fe07a"}
NAPKINS = {"red": "#c4302b", "blue": "#2f62b8", "white": "#f4f2ec"}
_COLUMNS = (372.0, 591.0, 809.0, 1028.0)
_CLOTHS = ("#d9cfbd", "#c9d3d6", "#d8c7c2", "#c8d2bf", "#cfc8d8")
_FLOORS = ("#6d5640", "#5c5f66", "#7d6b58", "#4f4a45")

Point = tuple[float, float]


def _places(top: float, bottom: float, left: float, right: float) -> list[Point]:
    """Where people sit, clockwise from the upper left; the fifth and the last are at the ends."""
    middle = (top + bottom) / 2
    return [
        *((x, top) for x in _COLUMNS),
        (right, middle),
        *((x, bottom) for x in reversed(_COLUMNS)),
        (left, middle),
    ]


def plan(canvas: Canvas, rng: random.Random, title: str, names: Sequence[str], marked: Mapping[str, str]) -> None:
    """Draw the plan; names are noted, and that they are marked is not.

    Args:
        canvas: Of `SIZE`.
        rng: Moves the hand.
        title: Stands above.
        names: Clockwise from the upper left; the flowers are at the last.
        marked: Colours of `MARKERS` by name.
    """
    tabletop(canvas, rng)
    folded_paper(canvas, rng, (84, 84, canvas.width - 84, canvas.height - 84))
    canvas.text(title, 700, 172, 48, face="script", fill="#5a4632", anchor="middle", width=1100)
    canvas.text("Seating plan", 700, 218, 28, fill="#6a6d73", anchor="middle")
    canvas.draw(rect(270, 350, 860, 400, "#f3ecdf", 34, 'stroke="#6b5a45" stroke-width="5"'))
    canvas.place("bouquet", 424, 592, 84, shadow=False, note=False)
    canvas.text("flowers", 424, 624, 24, fill="#6b5a45", anchor="middle")
    for number, (x, y) in enumerate(_places(316, 806, 186, 1214)):
        name, size = names[number], 35
        wide = canvas.art.width(name, size, "sans bold")
        if name in marked:
            colour, sway = MARKERS[marked[name]], [rng.uniform(-4, 4) for _ in range(4)]
            for level in (-17, -3):
                canvas.draw(
                    path(
                        f"M{x - wide / 2 - 9 + sway[0]:.1f} {y + level + sway[1]:.1f} L{x + wide / 2 + 9 + sway[2]:.1f} {y + level + sway[3]:.1f}",
                        more=f'stroke="{colour}" stroke-width="20" stroke-linecap="round" opacity="0.85"',
                    )
                )
        canvas.text(name, x, y, size, face="sans bold", anchor="middle")
    for x, y in _places(388, 712, 314, 1086):
        canvas.draw(ellipse(x, y, 25, 25, "#ffffff", 'stroke="#6b5a45" stroke-width="3"'))


def laid_table(
    canvas: Canvas, rng: random.Random, dishes: Sequence[str], napkins: Sequence[str], *, turned: bool = False
) -> None:
    """Draw the table from above; the detector sees plates and food, and not which.

    Args:
        canvas: Of `SIZE`.
        rng: Chooses cloth and floor.
        dishes: Clockwise as on the plan: objects of the art.
        napkins: Colours of `NAPKINS`, as well.
        turned: The photograph is taken from the opposite side.
    """
    cloth = _room(canvas, rng)
    spots = _places(272, 728, 238, 1162)
    if turned:
        spots = [*spots[SEATS // 2 :], *spots[: SEATS // 2]]
    canvas.place("bouquet", 975 if turned else 425, 575, 160, turn=rng.uniform(-20, 20), score=0.9)
    for x in (620.0, 780.0):
        canvas.draw(
            ellipse(x + 4, 506, 21, 21, "#000000", 'opacity="0.2"'),
            ellipse(x, 500, 20, 20, "#fffbe8", f'stroke="{mix(cloth, "#000000", 0.35)}" stroke-width="3"'),
            ellipse(x, 500, 5, 5, "#e0902f"),
        )
    for (x, y), dish, napkin in zip(spots, dishes, napkins, strict=True):
        x, y = x + rng.uniform(-6, 6), y + rng.uniform(-6, 6)
        _setting(canvas, rng, x, y, NAPKINS[napkin], 300 < y < 700)
        score = round(rng.uniform(0.75, 0.95), 2)
        canvas.place(dish, x, y + 46, rng.uniform(88, 98), label="food", score=score, turn=rng.uniform(-9, 9))


def _setting(canvas: Canvas, rng: random.Random, x: float, y: float, napkin: str, end: bool) -> None:
    """A plate on a napkin, and a fork to its left; at the ends of the table above."""
    turn, edge = rng.uniform(-14, 14), mix(napkin, "#000000", 0.25)
    group = f'transform="rotate(90 {x:.0f} {y:.0f})"' if end else ""
    canvas.draw(
        rect(x - 70, y - 70, 140, 140, napkin, 4, f'stroke="{edge}" stroke-width="2" transform="rotate({turn:.1f} {x:.1f} {y:.1f})"'),
        f"<g {group}>",
        line(x - 103, y - 34, x - 103, y + 40, "#9aa0a6", 6, 'stroke-linecap="round"'),
        *(line(x - 103 + gap, y - 48, x - 103 + gap, y - 28, "#9aa0a6", 3) for gap in (-7, 0, 7)),
        "</g>",
    )  # fmt: skip
    canvas.thing(
        "plate",
        ellipse(x + 3, y + 5, 71, 71, "#000000", 'opacity="0.2"'),
        ellipse(x, y, 70, 70, "#fcfbf8", 'stroke="#d5d2ca" stroke-width="3"'),
        ellipse(x, y, 50, 50, "#f1efe9"),
        score=round(rng.uniform(0.8, 0.95), 2),
    )


def _room(canvas: Canvas, rng: random.Random) -> str:
    """Floor, chairs and the table with its cloth; returns the colour of the cloth."""
    floor, cloth, chair = rng.choice(_FLOORS), rng.choice(_CLOTHS), rng.choice(("#3f3a36", "#8a6a48", "#5a4a3a"))
    canvas.draw(rect(0, 0, canvas.width, canvas.height, floor))
    for number in range(1, 12):
        y = canvas.height * number / 12 + rng.uniform(-6, 6)
        canvas.draw(line(0, y, canvas.width, y, mix(floor, "#000000", 0.3), 3, 'opacity="0.6"'))
    for x, y in _places(140, 860, 96, 1304):
        canvas.draw(
            rect(x - 62, y - 60, 124, 120, mix(floor, "#000000", 0.4), 22),
            rect(x - 58, y - 58, 116, 112, chair, 20),
        )
    canvas.draw(
        rect(134, 176, 1150, 672, "#00000055", 22),
        rect(126, 164, 1148, 672, cloth, 18, f'stroke="{mix(cloth, "#ffffff", 0.4)}" stroke-width="6"'),
        rect(300, 430, 800, 140, mix(cloth, "#ffffff", 0.45), 6),
    )
    return cloth


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


class SeatingFamily(Family):
    """Match the table with its plan by the flowers; then nutrients of what some guests have, and numbers from them."""

    name = "seating"
    servers = ("food_nutrition_mcp", "math")
    dishes = table(tuple[Dish, ...])
    names = words()
    titles = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Ten guests of whom three are marked yellow and three green; ten dishes; three napkins red and three blue."""
        names = rng.sample(self.names, SEATS)
        marked = rng.sample(names, _EACH * len(MARKERS))
        markers = dict(zip(marked, sorted([*MARKERS] * _EACH), strict=True))
        sheet = Canvas(kit.art, *SIZE)
        plan(sheet, rng, rng.choice(self.titles), names, markers)
        first = snapshot(sheet, rng)
        dishes = rng.sample([dish.name for dish in self.dishes], SEATS)
        white = SEATS - _EACH * len(_COLOURS)
        napkins = rng.sample([*_COLOURS * _EACH, *["white"] * white], SEATS)
        top = Canvas(kit.art, *SIZE)
        laid_table(top, rng, dishes, napkins, turned=rng.random() < 0.6)
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
        energies, amounts = (
            [nutrient_amount(text, "Energy") for text in texts],
            [nutrient_amount(text, label) for text in texts],
        )
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
        energies = [nutrient_amount(text, "Energy") for text in texts]
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
    known = {dish.name: dish for dish in SeatingFamily.dishes}
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
