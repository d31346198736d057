"""A statement of a cash box after a receipt with circled lines: one line is another's, one is wrong or in the wrong column, sums do not hold, writing sticks out."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Money, Name
from m3bench.tasks.answers.pages import PageSays, TextFits
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, product, reduced, words
from m3bench.tasks.families.revisions import BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import line as drawn_line
from m3bench.tasks.studio.page import Element, Page, box, line, page_of, text

_BOUGHT, _OUT = 8, 4
"""Lines of the receipt with something bought, and how many of them are circled; one line of money back is, too."""
_TOP, _STEP = 208.0, 36.0
"""Where the first line of the statement is, and how far the next is below it."""
_COLUMNS = {"out": 572.0, "in": 700.0}
"""Where the amounts of each column end."""
_SUITS = (("#f6f3ea", "#2e4a3b", "#dfe7d8"), ("#f3f5f8", "#23395b", "#dbe4f0"), ("#f8f2ee", "#6b3a2a", "#f0ded2"),
          ("#f4f2f7", "#47336b", "#e2dcef"), ("#f2f6f5", "#1f5257", "#d3e6e5"))  # fmt: skip
"""Ground, ink and tint."""


class _Entry(NamedTuple):
    """A line of the receipt, or of the statement."""

    what: str
    cents: int
    column: str
    """`out` for what was bought, `in` for money back."""


class Balance(DraftFamily):
    """Compare the statement with the receipt, line by line and as a page; then make it hold and fit."""

    name = "balance"
    servers = ("studio", "math")
    shops = words()
    goods = words()
    returns = words()
    titles = words()
    subtitles = words()
    tags = words()
    notes = words()
    audits = words()
    feet = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A receipt of ten lines of which five are circled, and a statement of five lines."""
        bought = [_Entry(what, rng.randrange(215, 4990), "out") for what in rng.sample(self.goods, _BOUGHT)]
        back = [_Entry(what, rng.randrange(120, 1480), "in") for what in rng.sample(self.returns, 2)]
        need(len({entry.cents for entry in (*bought, *back)}) == _BOUGHT + 2, "two lines have one amount")
        meant = [*bought[:_OUT], back[0]]
        printed = rng.sample([*bought, *back], _BOUGHT + 2)
        composition = reduced(_receipt(rng, kit, rng.choice(self.shops), printed, meant), 0.74, colours=256)
        listed = rng.sample(meant, len(meant))
        purchases = [number for number, entry in enumerate(listed) if entry.column == "out"]
        missing = rng.choice(purchases)
        wrong = rng.choice([number for number in range(len(listed)) if number != missing])
        opening = rng.randrange(18000, 46000, 500)
        work = _drafted(rng, self, listed, bought[_OUT], missing, wrong, opening)
        return revisions.with_work(
            composition, work, listed=listed, printed=printed, missing=missing, wrong=wrong, opening=opening
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The circled lines are added up; what the statement looks like decides what is changed."""
        facts, goal = composition.facts, _GOALS[play.goal]
        work: Work = facts["work"]
        listed: Sequence[_Entry] = facts["listed"]
        number = rng.choice(goal.numbers)
        await revisions.opened(work, play)
        out = [entry.cents / 100 for entry in listed if entry.column == "out"]
        (back,) = (entry.cents / 100 for entry in listed if entry.column == "in")
        opening = facts["opening"] / 100
        spent, available = (
            round(float(told), 2)
            for told in await play.step(
                call("math/sum", {"numbers": out}),
                call(
                    "math/add",
                    {"firstNumber": opening, "secondNumber": back},
                    either={"firstNumber": (opening, back), "secondNumber": (back, opening)},
                ),
            )
        )
        (told,) = await play.step(call("math/subtract", {"minuend": available, "subtrahend": spent}))
        left = round(float(told), 2)
        await revisions.revised(work, play)
        (told,) = await play.step(goal.worked_out(left, spent, number))
        result = round(float(told), 2)
        need(result > 0 and result not in (left, spent, available), "there is nothing to work out")
        missing, wrong = listed[facts["missing"]], listed[facts["wrong"]]
        meaning = goal.meaning.format(number=number)
        printed = facts["printed"]
        return Solution(
            wording=f"Open the draft of the statement, render it, and compare it with the five lines circled in red on the receipt in {path}. Put right what is wrong (a line that is "
            "not circled, an amount that is not true or stands in the wrong column, the sums and what is left, lettering that sticks out of its box), leave everything else as it "
            f"is, and render it again. Then work out {meaning}.",
            answer=f"The statement is revised: {missing.what} had no line, the line of {wrong.what} was wrong, {left:.2f} are left, and {meaning}: {result:.2f}.",
            fields=(
                Field(name="missing", meaning="the circled thing that had no line", value=_name(missing, printed)),
                Field(name="wrong", meaning="the circled thing whose amount was not true or stood in the wrong column", value=_name(wrong, printed)),
                Field(name=play.goal, meaning=meaning, value=Money(value=result, unit="USD"), derived=(left, spent)),
                revisions.field_of(work, "statement", "the revised statement; things are called as on the receipt, money that came back stands under In"),
            ),
            given={"number": str(number)},
            alternatives=(play.varied("worked out without a tool", {3: (), 4: (), len(play.steps) - 1: ()}),),
        )  # fmt: skip


def _name(entry: _Entry, printed: Sequence[_Entry]) -> Name:
    return Name(value=entry.what, others=tuple(other.what for other in printed if other.what != entry.what))


def _receipt(
    rng: random.Random, kit: Kit, shop: str, printed: Sequence[_Entry], meant: Sequence[_Entry]
) -> Composition:
    """A long receipt on a table; red is drawn around the lines that are meant."""
    canvas = Canvas(kit.art, 980, 1130)
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (130, 20, 850, 1110))
    canvas.text(shop, 490, 96, 44, face="narrow bold", anchor="middle")
    canvas.text("Receipt, all prices with tax", 490, 142, 26, face="mono", anchor="middle")
    canvas.draw(drawn_line(180, 168, 800, 168, "#6b6b6b", 2, 'stroke-dasharray="8 6"'))
    boxes = {}
    for number, entry in enumerate(printed):
        y = 226 + 84 * number
        sign = "-" if entry.column == "in" else ""
        left = canvas.text(entry.what, 190, y, 30, face="mono", width=420)
        right = canvas.text(f"{sign}{entry.cents / 100:.2f}", 790, y, 30, face="mono", anchor="end")
        boxes[entry.what] = (left[0], min(left[1], right[1]), right[2], max(left[3], right[3]))
    canvas.text("Thank you, see you again", 490, 1080, 26, face="mono", anchor="middle")
    canvas.light(rng, 0.6)
    names = [entry.what for entry in meant]
    pen.circle(
        canvas, rng, [boxes[name] for name in names], [found for name, found in boxes.items() if name not in names]
    )
    return Composition.of(canvas)


def _drafted(
    rng: random.Random,
    family: Balance,
    listed: Sequence[_Entry],
    stray: _Entry,
    missing: int,
    wrong: int,
    opening: int,
) -> Work:
    drafted = list(listed)
    drafted[missing] = stray
    entry = listed[wrong]
    moved = rng.random() < 0.5
    if moved:
        drafted[wrong] = entry._replace(column="in" if entry.column == "out" else "out")
    else:
        drafted[wrong] = entry._replace(cents=_false(rng, entry.cents))
    slip = rng.choice((100, 1000, -100, 900)) if rng.random() < 0.5 else 0
    lines = [
        BoxedLine("title", rng.choice(family.titles), "title-box", 672, 700, 49),
        BoxedLine("subtitle", rng.choice(family.subtitles), "subtitle-box", 472, 400, 33),
        BoxedLine("tag", rng.choice(family.tags), "tag-box", 176, 600, 33),
        BoxedLine("note", rng.choice(family.notes), "note-box", 664, 400, 35),
        BoxedLine("audit", rng.choice(family.audits), "audit-box", 348, 400, 35),
        BoxedLine("foot", rng.choice(family.feet), "foot-box", 300, 400, 35),
    ]
    lettering = Lettering.drawn(rng, lines, 1)
    suit = rng.choice(_SUITS)
    written = lettering.texts
    page = _page(suit, written, drafted, opening, slip)
    right = resized(_page(suit, written, listed, opening, 0), lettering.right)
    need(all(page[name].text != right[name].text for name in ("sums", "sums-left")), "a fault makes up for another")
    numbers = range(1, len(listed) + 1)
    rows = [f"line-{number}{part}" for part in ("", "-amount") for number in numbers]
    told = [*rows, "sums", "sums-in", "sums-left"]
    return Work(
        name=family.file_name(rng),
        title="Statement of a cash box",
        draft=resized(page, lettering.drafted),
        right=right,
        holds=(
            PageSays(texts={**written, **{name: right[name].text for name in told}}),
            lettering.fits(),
            TextFits(
                boxes={f"line-{number}-amount": f"{entry.column}-{number}" for number, entry in enumerate(listed, 1)},
                least={f"line-{number}-amount": 14.0 for number in numbers},
            ),
        ),
        asked=frozenset(told),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose={**lettering.loose(), **({f"line-{wrong + 1}-amount": ("x", "text-anchor")} if moved else {})},
    )


def _false(rng: random.Random, cents: int) -> int:
    """An amount with two neighbouring digits exchanged, or one more where that changes nothing."""
    digits = str(cents)
    places = [at for at in range(len(digits) - 1) if digits[at] != digits[at + 1] and (at or digits[1] != "0")]
    if not places:
        return cents + 100
    at = rng.choice(places)
    return int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :])


def _page(
    suit: tuple[str, str, str], written: Mapping[str, str], entries: Sequence[_Entry], opening: int, slip: int
) -> Page:
    ground, ink, tint = suit
    rows: list[Element] = []
    for number, entry in enumerate(entries, 1):
        y = _TOP + _STEP * (number - 1)
        rows += [
            line(f"rule-{number}", 44, y + 31, 716, y + 31, "#cfcfc8", stroke_width=1),
            text(f"number-{number}", 58, y + 20, 16, str(number), "#6a6d73"),
            text(f"line-{number}", 96, y + 20, 17, entry.what, "#2f3136"),
            box(f"out-{number}", 464, y + 1, 116, 27, "#ffffff", rx=3),
            box(f"in-{number}", 592, y + 1, 116, 27, "#ffffff", rx=3),
            text(
                f"line-{number}-amount",
                _COLUMNS[entry.column],
                y + 20,
                17,
                _written(entry.cents),
                ink,
                text_anchor="end",
            ),
        ]
    out, back = (sum(entry.cents for entry in entries if entry.column == column) for column in _COLUMNS)
    return page_of(
        760, 600,
        box("sheet", 0, 0, 760, 600, ground),
        box("title-box", 44, 20, 672, 52, ink, rx=6),
        text("title", 380, 56, 20, written["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("subtitle-box", 44, 82, 480, 34, "#ffffff", rx=6),
        text("subtitle", 52, 105, 12, written["subtitle"], ink),
        box("tag-box", 540, 82, 176, 34, tint, rx=17),
        text("tag", 628, 105, 12, written["tag"], ink, text_anchor="middle", font_weight=600),
        box("head", 44, 130, 672, 30, tint, rx=4),
        text("head-number", 52, 150, 14, "No.", ink, font_weight=600),
        text("head-item", 96, 150, 14, "What", ink, font_weight=600),
        text("head-out", 572, 150, 14, "Out", ink, text_anchor="end", font_weight=600),
        text("head-in", 700, 150, 14, "In", ink, text_anchor="end", font_weight=600),
        text("opening-label", 96, 188, 17, "In the box before", "#2f3136", font_weight=600),
        text("opening", 700, 188, 17, _written(opening), ink, text_anchor="end"),
        rows,
        text("sums-label", 96, 410, 17, "Sums", ink, font_weight=700),
        text("sums", 572, 410, 17, _written(out), ink, text_anchor="end", font_weight=700),
        text("sums-in", 700, 410, 17, _written(opening + back), ink, text_anchor="end", font_weight=700),
        text("closing-label", 560, 450, 18, "In the box now", ink, text_anchor="end", font_weight=700),
        box("closing-box", 576, 426, 140, 36, "#ffffff", stroke=ink, stroke_width=2, rx=4),
        text("sums-left", 700, 451, 19, _written(opening + back - out + slip), ink, text_anchor="end", font_weight=700),
        box("note-box", 44, 484, 672, 40, tint, rx=6),
        text("note", 52, 510, 12, written["note"], "#4a4d52"),
        box("audit-box", 44, 538, 356, 40, "#ffffff", rx=6),
        text("audit", 52, 564, 12, written["audit"], "#1f3f8f"),
        box("foot-box", 416, 538, 300, 40, "#ffffff", rx=6),
        text("foot", 566, 564, 12, written["foot"], "#4a4d52", text_anchor="middle"),
    )  # fmt: skip


def _written(cents: int) -> str:
    return f"{cents / 100:.2f}"


_GOALS: Mapping[str, Goal[[float, float, int]]] = {
    "share": Goal(
        "what each of {number} members gets when what is in the box now is shared out",
        lambda left, spent, number: call("math/division", {"numerator": left, "denominator": number}),
        numbers=(3, 4, 5, 6, 7, 8, 9, 11, 12),
    ),
    "target": Goal(
        "how much is still missing in the box to {number} dollars",
        lambda left, spent, number: call("math/subtract", {"minuend": number, "subtrahend": left}),
        numbers=range(600, 990, 10),
    ),
    "weeks": Goal(
        "what {number} such purchases cost, each as much as was paid out this time",
        lambda left, spent, number: product(spent, number),
        numbers=range(3, 30),
    ),
}
