"""An order form for the parks that are circled on brochures, filled in by somebody in a hurry: crosses, fees, labels and fields."""

import json
import random
from collections.abc import Mapping, Sequence

from m3bench.tasks.answers.fields import Field, Money, Name
from m3bench.tasks.answers.pages import PageSays
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import (
    Composition,
    Kit,
    Script,
    Solution,
    TableRow,
    call,
    need,
    product,
    reduced,
    words,
)
from m3bench.tasks.families.camping import brochure, core, has_brochure, search
from m3bench.tasks.families.revisions import BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.brochures import rack
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.studio.page import Element, Page, box, line, page_of, text
from m3bench.tasks.task import ReferenceCall

_WIDE, _HIGH = 760.0, 660.0
_BROCHURES, _CIRCLED, _ROWS = 16, 4, 6
_TOP, _STEP = 140.0, 38.0
"""Where the first park is, and how far the next is below it."""
_PAPERS = (("#f6f3ea", "#2e4a3b", "#dfe7d8"), ("#f3f5f8", "#23395b", "#dbe4f0"), ("#f8f2ee", "#6b3a2a", "#f0ded2"),
           ("#f4f2f7", "#47336b", "#e2dcef"), ("#f2f6f5", "#1f5257", "#d3e6e5"))  # fmt: skip
"""Ground, ink and head."""
_FIELDS = {
    "applicant": ("Name of the applicant", 48.0, 440.0, 320.0),
    "street": ("Street and number", 392.0, 440.0, 320.0),
    "town": ("Postcode and town", 48.0, 504.0, 320.0),
    "mail": ("E-mail address", 392.0, 504.0, 320.0),
    "vehicle": ("Make of the car and licence plate", 48.0, 568.0, 664.0),
}
"""What is asked for below the parks: the label, where the field is, and how wide it is."""
_ENTRANCE = "Entrance - Private Vehicle"


class _Row(TableRow):
    """A park on the form."""

    name: str
    telephone: str
    fee: float
    ordered: bool


class Form(DraftFamily):
    """Look the circled parks up and the form over; then mend what was filled in wrongly and leave the rest alone."""

    name = "form"
    servers = ("studio", "nationalparks", "math")
    titles = words()
    applicants = words()
    streets = words()
    towns = words()
    mails = words()
    vehicles = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Sixteen brochures of which four are circled, and a form with six parks of which the wrong ones are crossed."""
        parks = [park for park in kit.world("parks") if has_brochure(park) and _fee(park["fees"]) is not None]
        shown = rng.sample(parks, _BROCHURES)
        canvas = Canvas(kit.art, 1400, 1080)
        boxes = rack(canvas, rng, [brochure(park) for park in shown])
        meant = sorted(rng.sample(range(_BROCHURES), _CIRCLED))
        canvas.light(rng, 0.6)
        others = [number for number in range(_BROCHURES) if number not in meant]
        pen.circle(canvas, rng, [boxes[number] for number in meant], [boxes[number] for number in others])
        listed = rng.sample([*meant, *rng.sample(others, _ROWS - _CIRCLED)], _ROWS)
        rows = [_row(shown[number], number in meant) for number in listed]
        ordered = [number for number, row in enumerate(rows) if row.ordered]
        missed, wrong = rng.sample(ordered, 2)
        composition = reduced(Composition.of(canvas), 0.58, colours=256)
        work = _drafted(rng, self, rows, missed, wrong)
        return revisions.with_work(composition, work, rows=rows, missed=rows[missed], wrong=rows[wrong])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Every circled park is looked up; what the form looks like decides what is changed."""
        facts, goal = composition.facts, _GOALS[play.goal]
        work: Work = facts["work"]
        rows: Sequence[_Row] = facts["rows"]
        ordered = [row for row in rows if row.ordered]
        number = rng.choice(goal.numbers)
        told = await revisions.opened(work, play, *map(_find, ordered))
        need(all(_agrees(row, text) for row, text in zip(ordered, told, strict=True)), "the parks say something else")
        await revisions.revised(work, play)
        fees = [row.fee for row in ordered]
        (worked_out,) = await play.step(goal.worked_out(sum(fees), number))
        result = round(float(worked_out), 2)
        missed, wrong = facts["missed"], facts["wrong"]
        return Solution(
            wording=f"Open the draft of the order form, render it, compare it with the four brochures circled in red in {path} and with the parks' telephone "
            "numbers and entrance fees for a private vehicle, put right what is wrong (a cross that is missing or too many, an amount, a telephone number, the "
            "total, labels at each other's field, lettering that sticks out of its field), leave everything else as it is, and render it again. Then work out "
            f"{goal.meaning.format(number=number)}.",
            answer=f"The form is revised: {missed.name} had no cross, a line of {wrong.name} was wrong, and {goal.meaning.format(number=number)}: ${result:.2f}.",
            fields=(
                Field(name="missed", meaning="the circled park that had no cross", value=_name(missed, rows)),
                Field(name="wrong", meaning="the circled park, with a cross, whose amount or telephone number was not true", value=_name(wrong, rows)),
                Field(name=play.goal, meaning=goal.meaning.format(number=number), value=Money(value=result, unit="USD"), derived=tuple(fees)),
                revisions.field_of(work, "form", "the revised form; labels and fields are where they were, a park without a cross has no amount"),
            ),
            given={"number": str(number)},
            alternatives=(play.varied("worked out without a tool", {len(play.steps) - 1: ()}),),
        )  # fmt: skip


def _fee(fees: Sequence[Record]) -> float | None:
    found = [fee["cost"] for fee in fees if fee["title"] == _ENTRANCE]
    return float(found[0].lstrip("$")) if len(found) == 1 else None


def _row(park: Record, ordered: bool) -> _Row:
    digits, fee = park["phone"], _fee(park["fees"])
    assert fee is not None
    telephone = f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"
    return _Row(name=core(park["name"]), telephone=telephone, fee=fee, ordered=ordered)


def _find(row: _Row) -> ReferenceCall:
    return search(row.name)


def _agrees(row: _Row, told: str) -> bool:
    parks = json.loads(told)["parks"]
    need(len(parks) == 1 and core(parks[0]["name"]) == row.name, "it is not found by its name")
    numbers = [phone["number"] for phone in parks[0]["contacts"]["phoneNumbers"]]
    return _fee(parks[0]["entranceFees"]) == row.fee and numbers == [row.telephone]


def _name(row: _Row, rows: Sequence[_Row]) -> Name:
    return Name(
        value=row.name, others=tuple(other.name for other in rows if other is not row), context=("National Park",)
    )


def _drafted(rng: random.Random, family: Form, rows: Sequence[_Row], missed: int, wrong: int) -> Work:
    crosses, amounts, telephones = (
        [row.ordered for row in rows],
        [row.fee for row in rows],
        [row.telephone for row in rows],
    )
    crosses[missed] = False
    if rng.random() < 0.6:
        crosses[rng.choice([number for number, row in enumerate(rows) if not row.ordered])] = True
    if rng.random() < 0.5:
        amounts[wrong] = rng.choice([fee for fee in (15.0, 20.0, 25.0, 30.0, 35.0, 40.0) if fee != rows[wrong].fee])
    else:
        telephones[wrong] = _misread(rng, telephones[wrong])
    swapped = rng.sample(tuple(_FIELDS), 2) if rng.random() < 0.6 else []
    lines = [
        BoxedLine("title", rng.choice(family.titles), "title-box", 664, 700, 46),
        *(
            BoxedLine(name, rng.choice(getattr(family, f"{name}s")), f"{name}-box", wide - 10, 400, 30)
            for name, (_, _, _, wide) in _FIELDS.items()
        ),
    ]
    lettering = Lettering.drawn(rng, lines, 0 if swapped else 1)
    colours = rng.choice(_PAPERS)
    labels = {name: label for name, (label, *_) in _FIELDS.items()}
    confused = {**labels, **dict(zip(swapped, [labels[name] for name in reversed(swapped)], strict=True))}
    written = {line.name: line for line in lettering.lines}
    right = resized(_page(colours, written, rows, [row.ordered for row in rows], [row.fee for row in rows],
                          [row.telephone for row in rows], labels), lettering.right)  # fmt: skip
    draft = _page(colours, written, rows, crosses, amounts, telephones, confused)
    filled = [f"{kind}-{number}" for kind in ("cross", "amount", "telephone") for number in range(1, _ROWS + 1)]
    said = [*filled, "total", *(f"{name}-label" for name in _FIELDS)]
    return Work(
        name=family.file_name(rng),
        title="Order form, entrance to parks",
        draft=resized(draft, lettering.drafted),
        right=right,
        holds=(PageSays(texts={**lettering.texts, **{name: right[name].text for name in said}}), lettering.fits()),
        asked=frozenset({*filled, "total"}),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose=lettering.loose(),
    )


def _misread(rng: random.Random, telephone: str) -> str:
    """A telephone number with one of its last two digits changed."""
    place = rng.choice((-1, -2))
    digit = rng.choice([figure for figure in "0123456789" if figure != telephone[place]])
    return telephone[:place] + digit + telephone[place:][1:]


def _page(
    colours: tuple[str, str, str],
    written: Mapping[str, BoxedLine],
    rows: Sequence[_Row],
    crosses: Sequence[bool],
    amounts: Sequence[float],
    telephones: Sequence[str],
    labels: Mapping[str, str],
) -> Page:
    ground, ink, head = colours
    parks: list[Element] = []
    for number, row in enumerate(rows, 1):
        y = _TOP + _STEP * (number - 1)
        crossed = crosses[number - 1]
        parks += [
            line(f"rule-{number}", 48, y + 27, 712, y + 27, "#cfcfc8", stroke_width=1),
            box(f"tick-{number}", 60, y, 20, 20, "#ffffff", stroke=ink, stroke_width=1.5, rx=2),
            text(f"cross-{number}", 70, y + 17, 22, "X" if crossed else "", ink, text_anchor="middle", font_weight=700),
            text(f"park-{number}", 104, y + 16, 17, row.name, "#2f3136"),
            text(f"telephone-{number}", 400, y + 16, 16, telephones[number - 1], "#54575d"),
            text(f"amount-{number}", 700, y + 16, 17, f"${amounts[number - 1]:.2f}" if crossed else "", ink, text_anchor="end", font_weight=600),
        ]  # fmt: skip
    total = sum(amount for amount, crossed in zip(amounts, crosses, strict=True) if crossed)
    fields: list[Element] = []
    for name, (_, x, y, wide) in _FIELDS.items():
        fields += [
            text(f"{name}-label", x, y - 7, 13, labels[name], "#54575d"),
            box(f"{name}-box", x, y, wide, 34, "#ffffff", stroke=ink, stroke_width=1, rx=4),
            text(name, x + 8, y + 23, 12, written[name].text, "#1f3f8f"),
        ]
    return page_of(
        _WIDE, _HIGH,
        box("sheet", 0, 0, _WIDE, _HIGH, ground),
        box("title-box", 44, 24, 672, 54, ink, rx=6),
        text("title", _WIDE / 2, 60, 20, written["title"].text, "#ffffff", text_anchor="middle", font_weight=700),
        box("head", 44, 92, 672, 32, head, rx=4),
        text("head-order", 52, 113, 14, "Order", ink, font_weight=600),
        text("head-park", 104, 113, 14, "Park", ink, font_weight=600),
        text("head-telephone", 400, 113, 14, "Telephone of the park", ink, font_weight=600),
        text("head-amount", 700, 113, 14, "One car", ink, text_anchor="end", font_weight=600),
        parks,
        text("total-label", 560, 392, 18, "Total", ink, text_anchor="end", font_weight=700),
        box("total-box", 576, 368, 136, 36, "#ffffff", stroke=ink, stroke_width=2, rx=4),
        text("total", 700, 393, 19, f"${total:.2f}", ink, text_anchor="end", font_weight=700),
        fields,
        text("small-print", 48, 636, 13, "One cross for each park. Entrance for one private vehicle with everybody in it, for seven days.", "#6a6d73"),
    )  # fmt: skip


_GOALS: Mapping[str, Goal[[float, int]]] = {
    "cars": Goal(
        "what {number} cars pay for all four parks together",
        product,
        numbers=range(3, 30),
    ),
    "change": Goal(
        "what is left of {number} dollars after the right total is paid",
        lambda total, number: call("math/subtract", {"minuend": number, "subtrahend": total}),
        numbers=range(160, 400, 5),
    ),
    "share": Goal(
        "what each of {number} passengers pays when they share the right total",
        lambda total, number: call("math/division", {"numerator": total, "denominator": number}),
        numbers=(3, 4, 5, 6, 7, 8, 9, 11, 12),
    ),
}
