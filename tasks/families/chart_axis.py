"""A bar chart of the fruit that is circled in a picture, drafted by somebody in a hurry: axis, bars, figures and lettering."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from m3bench.tasks.answers.fields import Field, Name, Number
from m3bench.tasks.answers.pages import BarsTrue, PageSays
from m3bench.tasks.families import fruit_cal, revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, TableRow, call, need, reduced, table, words
from m3bench.tasks.families.revisions import BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.studio.page import Element, Page, box, line, page_of, text
from m3bench.tasks.task import ReferenceCall

_WIDE, _HIGH = 760.0, 560.0
_LEFT, _RIGHT, _FOOT, _TOP = 92.0, 716.0, 420.0, 140.0
_TICKS = 6
_MIDDLE = 0.34
"""How far below its line the writing of a tick is, for size 1."""
_PAPERS = (("#f7f4ec", "#2f5d73", "#e8b04a"), ("#f4f6f2", "#355f45", "#d98c5f"), ("#f6f1f4", "#5c3a63", "#5fa3a0"),
           ("#f1f4f8", "#27406b", "#d8734f"), ("#f8f2ea", "#7a3b2e", "#6d9a6f"))  # fmt: skip
"""Ground, ink and bars."""


class _Nutrient(TableRow):
    said: str
    label: str
    """In the answer of the table of nutrients."""
    key: str
    """In the world."""
    unit: str


class _Table(fruit_cal.FruitCal):
    circled = (5,)


class _Food(TableRow):
    name: str
    spellings: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class _Scale:
    """Numbers along the axis."""

    base: float
    step: float

    def height(self, value: float) -> float:
        return round((value - self.base) / (self.step * (_TICKS - 1)) * (_FOOT - _TOP), 1)

    def labels(self) -> list[str]:
        return [f"{self.base + self.step * number:g}" for number in range(_TICKS)]


class ChartAxis(DraftFamily):
    """Look the circled fruit up and the draft over; then mend what misleads and leave the rest alone."""

    name = "chart_axis"
    servers = ("studio", "food_nutrition_mcp", "math")
    nutrients = table(tuple[_Nutrient, ...])
    headings = words()
    subtitles = words()
    notes = words()
    tags = words()
    sources = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight fruits of which five are circled, and a chart of five bars, of which two are wrong or more."""
        composition = reduced(_Table().compose(rng, kit), 0.6, colours=256)
        foods = {food["name"].casefold(): food for food in kit.world("foods")}
        circled = composition.facts["fruits"]
        need(all(_known(fruit, foods) for fruit in circled), "nobody has looked at one of them")
        other = rng.choice([fruit for fruit in fruit_cal.fruits() if fruit not in circled and _known(fruit, foods)])
        fitting = [
            nutrient
            for nutrient in self.nutrients
            if _plottable([foods[_known(fruit, foods)][nutrient.key] for fruit in (*circled, other)])
        ]
        need(bool(fitting), "the figures make no chart")
        nutrient = rng.choice(fitting)
        *meant, stranger = (
            _Food(name=fruit.name, spellings=fruit.spellings, value=float(foods[_known(fruit, foods)][nutrient.key]))
            for fruit in (*circled, other)
        )
        order = rng.sample(meant, len(meant))
        missing, misdrawn = rng.sample(range(len(order)), 2)
        work = _drafted(rng, self, nutrient, order, stranger, missing, misdrawn)
        return revisions.with_work(
            composition,
            work,
            foods=order,
            label=nutrient.label,
            unit=nutrient.unit,
            missing=order[missing],
            misdrawn=order[misdrawn],
            stranger=stranger,
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything circled is looked up per 100 g; what is on the page decides what is changed."""
        facts = composition.facts
        work: Work = facts["work"]
        foods: Sequence[_Food] = facts["foods"]
        told = await revisions.opened(work, play, *(_looked_up(food) for food in foods))
        figures = [nutrient_amount(answer, facts["label"]) for answer in told]
        need(figures == [food.value for food in foods], "the table of nutrients says something else")
        await revisions.revised(work, play)
        goal = _GOALS[play.goal]
        (worked_out,) = await play.step(goal.worked_out(figures))
        result = round(float(worked_out), 2)
        by_head = {len(play.steps) - 1: ()}
        missing, misdrawn = facts["missing"], facts["misdrawn"]
        return Solution(
            wording=f"Open the draft of the bar chart, render it, compare it with the five fruits circled in red in {path} and with their figures per 100 g, "
            "put right what is wrong (a bar of a fruit that is not circled, a bar or figure that is not true, an axis that does not begin at zero, lettering "
            f"that sticks out of its box), leave everything else as it is, and render it again. Then work out {goal.meaning}.",
            answer=f"The chart is revised: {missing.name} was missing, {misdrawn.name} was wrong, and {goal.meaning}: {result:g} {facts['unit']}.",
            fields=(
                Field(name="missing", meaning="the circled fruit that had no bar", value=_name(missing, [*foods, facts["stranger"]])),
                Field(name="wrong", meaning="the circled fruit whose bar or figure was not true", value=_name(misdrawn, [*foods, facts["stranger"]])),
                Field(name=play.goal, meaning=goal.meaning, value=Number(value=result, unit=facts["unit"]), derived=tuple(figures)),
                revisions.field_of(work, "chart", "the revised chart"),
            ),
            alternatives=(play.varied("worked out without a tool", by_head),),
        )  # fmt: skip


def _plottable(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) >= 3 and len(set(values)) == len(values)


def _known(fruit: fruit_cal.Fruit, foods: Mapping[str, object]) -> str:
    return next((name.casefold() for name in (fruit.name, *fruit.spellings) if name.casefold() in foods), "")


def _looked_up(food: _Food) -> ReferenceCall:
    stem = min((food.name, *food.spellings), key=len)[:-1]
    return call("food_nutrition_mcp/get_nutrition", {"query": f"100 g {food.name}"}, words={"query": ("100", stem)})


def _name(food: _Food, all_of: Sequence[_Food]) -> Name:
    others = tuple(name for other in all_of if other.name != food.name for name in (other.name, *other.spellings))
    return Name(value=food.name, aliases=food.spellings, others=others)


def _drafted(
    rng: random.Random,
    family: ChartAxis,
    nutrient: _Nutrient,
    foods: Sequence[_Food],
    stranger: _Food,
    missing: int,
    misdrawn: int,
) -> Work:
    values = [food.value for food in foods]
    true = _scale(max(*values, stranger.value))
    cut = _cut(min(*values, stranger.value), max(*values, stranger.value)) if rng.random() < 0.6 else None
    shown, figures, heights = [food.name for food in foods], list(values), list(values)
    shown[missing], figures[missing], heights[missing] = stranger.name, stranger.value, stranger.value
    low, high = true.step * 0.4, true.step * (_TICKS - 1) * 0.97
    if cut is not None:
        low, high = max(low, cut.base * 1.1), min(high, cut.base + cut.step * (_TICKS - 1) * 0.97)
    false = _false(rng, values[misdrawn], low, high)
    heights[misdrawn] = false
    if rng.random() < 0.5:
        figures[misdrawn] = false
    colours = rng.choice(_PAPERS)
    said = nutrient.said
    lines = [
        BoxedLine("title", rng.choice(family.headings).format(said=said.capitalize()), "title-box", 656, 700, 50),
        BoxedLine("subtitle", rng.choice(family.subtitles).format(unit=nutrient.unit), "subtitle-box", 388, 400, 28),
        BoxedLine("tag", rng.choice(family.tags), "tag-box", 212, 600, 28),
        BoxedLine("note", rng.choice(family.notes), "note-box", 408, 400, 30),
        BoxedLine("source", rng.choice(family.sources), "source-box", 204, 400, 30),
    ]
    seen = cut is not None or figures[misdrawn] == values[misdrawn]
    lettering = Lettering.drawn(rng, lines, 0 if seen else 1)
    names = {f"name-{number}": food.name for number, food in enumerate(foods, 1)}
    right = _page(colours, lettering.lines, true, [food.name for food in foods], values, values)
    draft = _page(colours, lettering.lines, cut or true, shown, figures, heights)
    right = resized(right, lettering.right)
    return Work(
        name=family.file_name(rng),
        title=f"Bar chart, {said} of fruit",
        draft=resized(draft, lettering.drafted),
        right=right,
        holds=(
            PageSays(texts={**names, **lettering.texts, **{f"figure-{number}": f"{value:g}" for number, value in enumerate(values, 1)}}),
            BarsTrue(
                axis="axis",
                bars={f"bar-{number}": value for number, value in enumerate(values, 1)},
                ticks=tuple(f"tick-{number}" for number in range(_TICKS)),
                middle=_MIDDLE,
            ),
            lettering.fits(),
        ),
        asked=frozenset({*names, *(f"figure-{number}" for number in range(1, len(values) + 1))}),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose=lettering.loose(),
    )  # fmt: skip


def _false(rng: random.Random, value: float, low: float, high: float) -> float:
    """A figure that is clearly another."""
    for _ in range(20):
        found = float(f"{rng.uniform(low, high):.3g}")
        if abs(found - value) > 0.12 * high:
            return found
    need(False, "there is no room for another figure")
    raise AssertionError


def _scale(most: float) -> _Scale:
    """A scale from zero on that has room for the largest figure."""
    return _Scale(0.0, _nice(most * 1.03 / (_TICKS - 1)))


def _cut(least: float, most: float) -> _Scale | None:
    """A scale that begins above zero and still has room below the least figure; None when that would fool nobody."""
    step = _nice((most - least * 0.8) * 1.03 / (_TICKS - 1))
    base = step * int(least * 0.85 / step)
    while base > 0 and base + step * (_TICKS - 1) < most * 1.02:
        base -= step
    # Sums of decimal steps would be written with many digits.
    base = float(f"{base:.6g}")
    return _Scale(base, step) if base >= 0.2 * most and base + step * (_TICKS - 1) >= most * 1.02 else None


def _nice(least: float) -> float:
    """The smallest step people like that is no smaller."""
    power = 1.0
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    return float(
        f"{next(power * factor for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if power * factor >= least):.6g}"
    )


def _page(
    colours: tuple[str, str, str],
    lines: Sequence[BoxedLine],
    scale: _Scale,
    names: Sequence[str],
    figures: Sequence[float],
    heights: Sequence[float],
) -> Page:
    ground, ink, bar = colours
    written = {line.name: line for line in lines}
    slot = (_RIGHT - _LEFT) / len(names)
    ticks: list[Element] = []
    for number, label in enumerate(scale.labels()):
        y = round(_FOOT - (_FOOT - _TOP) * number / (_TICKS - 1), 1)
        ticks.append(line(f"grid-{number}", _LEFT, y, _RIGHT, y, "#c9c9c2", stroke_width=1))
        ticks.append(
            text(f"tick-{number}", _LEFT - 12, round(y + _MIDDLE * 15, 1), 15, label, "#5d6066", text_anchor="end")
        )
    bars: list[Element] = []
    for number, (name, figure, height) in enumerate(zip(names, figures, heights, strict=True), 1):
        middle, tall = _LEFT + slot * (number - 0.5), scale.height(height)
        bars += [
            box(f"bar-{number}", round(middle - 34, 1), round(_FOOT - tall, 1), 68, tall, bar, rx=3),
            text(
                f"figure-{number}",
                round(middle, 1),
                round(_FOOT + 46, 1),
                17,
                f"{figure:g}",
                ink,
                text_anchor="middle",
                font_weight=700,
            ),
            text(f"name-{number}", round(middle, 1), round(_FOOT + 24, 1), 16, name, "#33363b", text_anchor="middle"),
        ]
    return page_of(
        _WIDE, _HIGH,
        box("sheet", 0, 0, _WIDE, _HIGH, ground),
        box("title-box", 52, 18, 656, 54, ink, rx=10),
        text("title", _WIDE / 2, 55, 20, written["title"].text, "#ffffff", text_anchor="middle", font_weight=written["title"].weight),
        box("subtitle-box", 52, 82, 396, 34, "#ffffff", rx=8),
        text("subtitle", 60, 105, 12, written["subtitle"].text, ink),
        box("tag-box", 496, 82, 212, 34, bar, rx=17),
        text("tag", 602, 105, 12, written["tag"].text, "#ffffff", text_anchor="middle", font_weight=written["tag"].weight),
        ticks,
        line("axis", _LEFT, _FOOT, _RIGHT, _FOOT, ink, stroke_width=2),
        bars,
        box("note-box", 52, 494, 416, 40, "#ffffff", rx=8),
        text("note", 60, 520, 12, written["note"].text, "#4a4d52"),
        box("source-box", 496, 494, 212, 40, "#ffffff", rx=8),
        text("source", 504, 520, 12, written["source"].text, "#4a4d52"),
    )  # fmt: skip


_GOALS: Mapping[str, Goal[[Sequence[float]]]] = {
    "total": Goal("the five right figures added up", revisions.added_up),
    "mean": Goal("the average of the five right figures", revisions.averaged),
    "spread": Goal(
        "the largest of the five right figures less the smallest",
        revisions.spread,
    ),
}
