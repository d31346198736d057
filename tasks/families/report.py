"""A report of two pages on the companies that are circled on a board: a wrong row, figures that disagree, captions at other figures, a table over the margin."""

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Name, Number
from m3bench.tasks.answers.pages import NoOverlap, PageSays, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, TableRow, call, need, reduced, table, words
from m3bench.tasks.families.revisions import SMALLEST, BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.families.stock_growth import StockGrowth
from m3bench.tasks.json_types import Record
from m3bench.tasks.studio.page import Attribute, Element, Page, box, element, line, page_of, text


def _columns(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    heights = (38, 52, 47, 70, 84, 96)
    bars = [
        box(f"{name}-part-{number}", x + 26 + 35 * number, y + 116 - high, 24, high, accent)
        for number, high in enumerate(heights)
    ]
    return [*bars, line(f"{name}-part-6", x + 16, y + 116, x + 240, y + 116, ink, stroke_width=2)]


def _curve(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    heights = (30, 44, 34, 58, 50, 76, 66, 98)
    points = [(x + 26 + 29 * number, y + 116 - high) for number, high in enumerate(heights)]
    outline = "M " + " L ".join(f"{left:g} {top:g}" for left, top in points)
    drawn: dict[str, Attribute] = {
        "d": outline,
        "fill": "none",
        "stroke": accent,
        "stroke-width": 4,
        "stroke-linejoin": "round",
    }
    dots = [
        element("circle", f"{name}-part-{number}", {"cx": left, "cy": top, "r": 4, "fill": ink})
        for number, (left, top) in enumerate(points, 1)
    ]
    axis = line(f"{name}-part-9", x + 16, y + 116, x + 240, y + 116, ink, stroke_width=2)
    return [element("path", f"{name}-part-0", drawn), *dots, axis]


def _pie(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    middle, radius = (x + 128, y + 66), 52.0
    cuts, found = (0.0, 0.42, 0.7, 0.88, 1.0), []
    for number, (start, end) in enumerate(pairwise(cuts)):
        (x1, y1), (x2, y2) = (
            (middle[0] + radius * math.sin(math.tau * share), middle[1] - radius * math.cos(math.tau * share))
            for share in (start, end)
        )
        outline = f"M {middle[0]:g} {middle[1]:g} L {x1:.1f} {y1:.1f} A {radius:g} {radius:g} 0 0 1 {x2:.1f} {y2:.1f} Z"
        paint = (accent, ink, "#a9adb5", "#d7d9de")[number]
        found.append(element("path", f"{name}-part-{number}", {"d": outline, "fill": paint, "stroke": "#ffffff"}))
    return found


FIGURES: Mapping[str, Callable[[str, float, float, str, str], list[Element]]] = {
    "columns": _columns,
    "curve": _curve,
    "pie": _pie,
}
"""By the way that a figure is drawn: given a name, a corner and two colours, its parts on 256 by 132 pixels."""


_WIDE, _HIGH = 640.0, 640.0
"""Of one of the two sheets."""
_LEFT, _RIGHT = 56.0, 584.0
"""The margins."""
_TABLE, _STEP, _CELL = 268.0, 36.0, 224.0
"""Where the table begins, how far its rows are apart, and the room for a company's name."""
_LEAST = 11.0
"""The smallest letters of a company's name."""
_OVER = (14.0, 44.0)
"""Pixels by which the head of the table may run over the margin."""
_SUITS = (("#ffffff", "#27406b", "#d8734f", "#e6ebf4"), ("#fffdf8", "#2f5d4a", "#c98a2b", "#e4ede6"), ("#fdfcff", "#533a6b", "#3f8f8a", "#ebe5f1"),
          ("#fbfdfe", "#1f5257", "#c0673a", "#dcebec"), ("#fffcfa", "#6b3a2a", "#4a7fb0", "#f1e4dd"))  # fmt: skip
"""Paper, ink, accent and tint."""


class _Row(TableRow):
    """A company in the table."""

    ticker: str
    name: str
    city: str
    people: int


class ReportFamily(DraftFamily):
    """Look the circled companies up and both pages over; then mend the table, the text, captions and lettering."""

    name = "report"
    servers = ("studio", "yahoo-finance", "math")
    titles = words()
    subtitles = words()
    tags = words()
    notes = words()
    closings = words()
    feet = words()
    openings = words()
    sums = words()
    seconds = words()
    thirds = words()
    captions = table(dict[str, tuple[str, ...]])
    """By the way that a figure is drawn."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board of nine companies, some circled, and a report whose table has one that is not."""
        composition = reduced(StockGrowth().compose(rng, kit), 0.6, colours=256)
        companies = {company["id"]: company for company in kit.world("companies")}
        red = composition.facts["red"]
        rows = [_row(companies[ticker]) for ticker in rng.sample(red, len(red))]
        stray = _row(companies[rng.choice([ticker for ticker in composition.facts["names"] if ticker not in red])])
        need(all(_size(row.name) >= _LEAST for row in (*rows, stray)), "a name is too long for its cell")
        missing, wrong = rng.sample(range(len(rows)), 2)
        return revisions.with_work(
            composition,
            _drafted(rng, self, rows, stray, missing, wrong),
            rows=rows,
            stray=stray,
            missing=rows[missing],
            wrong=rows[wrong],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The circled companies are looked up and added up; what is on the pages decides what is changed."""
        facts, goal = composition.facts, _GOALS[play.goal]
        work: Work = facts["work"]
        rows: Sequence[_Row] = facts["rows"]
        info = [call("yahoo-finance/get_stock_info", {"ticker": row.ticker}) for row in rows]
        told = await revisions.opened(work, play, *info)
        need(all(_agrees(row, one) for row, one in zip(rows, told, strict=True)), "the companies say something else")
        figures = [row.people for row in rows]
        await play.step(call("math/sum", {"numbers": figures}))
        summed = len(play.steps) - 1
        await revisions.revised(work, play)
        (worked_out,) = await play.step(goal.worked_out(figures))
        result = round(float(worked_out), 2)
        missing, wrong = facts["missing"], facts["wrong"]
        names = [*rows, facts["stray"]]
        return Solution(
            wording=f"Open the draft of the report, render both pages, and compare them with the companies circled in red in {path} and with their cities and numbers of "
            "employees. Put right what is wrong (a row of a company that is not circled, a number that is not true, a sum in the text that disagrees with the table, captions at "
            "each other's figure, the head of the table over the margin, lettering that sticks out of its box), leave everything else as it is, and render both pages again. "
            f"Then work out {goal.meaning}.",
            answer=f"The report is revised: {missing.ticker} was missing, the number of {wrong.ticker} was wrong, and {goal.meaning}: {result:g}.",
            fields=(
                Field(name="missing", meaning="the ticker of the circled company that had no row", value=_name(missing, names, facts["spelled"])),
                Field(name="wrong", meaning="the ticker of the circled company whose number of employees was not true", value=_name(wrong, names, facts["spelled"])),
                Field(name=play.goal, meaning=goal.meaning, value=Number(value=result), derived=tuple(float(figure) for figure in figures)),
                revisions.field_of(work, "report", "the revised report; figures and captions are where they were, a caption gets the words of its figure, companies have their full names"),
            ),
            alternatives=(play.varied("worked out without a tool", {summed: (), len(play.steps) - 1: ()}),),
        )  # fmt: skip


def _row(company: Record) -> _Row:
    return _Row(ticker=company["id"], name=company["name"], city=company["city"], people=company["employees"])


def _agrees(row: _Row, told: str) -> bool:
    found = json.loads(told)
    said = (found.get("longName"), found.get("city"), found.get("fullTimeEmployees"))
    return said == (row.name, row.city, row.people)


def _name(row: _Row, rows: Sequence[_Row], spelled: Mapping[str, tuple[str, ...]]) -> Name:
    wrong = [other.ticker for other in rows if other.ticker != row.ticker]
    others = tuple(name for ticker in wrong for name in (ticker, *spelled[ticker]))
    return Name(value=row.ticker, aliases=spelled[row.ticker], others=others)


def _drafted(
    rng: random.Random, family: ReportFamily, rows: Sequence[_Row], stray: _Row, missing: int, wrong: int
) -> Work:  # fmt: skip
    drafted = list(rows)
    drafted[missing] = stray
    drafted[wrong] = rows[wrong].model_copy(update={"people": _false(rng, rows[wrong].people)})
    total = sum(row.people for row in rows)
    kinds = rng.sample(sorted(FIGURES), len(FIGURES))
    captions = [f"Figure {number}: {rng.choice(family.captions[kind])}" for number, kind in enumerate(kinds, 1)]
    confused = list(captions)
    if rng.random() < 0.6:
        one, other = rng.sample(range(len(kinds)), 2)
        confused[one], confused[other] = (
            f"{captions[place].partition(':')[0]}:{captions[taken].partition(':')[2]}"
            for place, taken in ((one, other), (other, one))
        )
    over = rng.uniform(*_OVER) if rng.random() < 0.5 else 0.0
    lines = [
        BoxedLine("title", rng.choice(family.titles), "title-box", 528, 700, 40),
        BoxedLine("subtitle", rng.choice(family.subtitles), "subtitle-box", 352, 400, 26),
        BoxedLine("tag", rng.choice(family.tags), "tag-box", 160, 600, 26),
        BoxedLine("note", rng.choice(family.notes), "note-box", 520, 400, 30),
        BoxedLine("closing", rng.choice(family.closings), "closing-box", 528, 600, 30),
        BoxedLine("foot", rng.choice(family.feet), "foot-box", 300, 400, 26),
    ]
    lettering = Lettering.drawn(rng, lines, 0 if over or confused != captions else 1)
    suit = rng.choice(_SUITS)
    written = lettering.texts
    said = rng.choice(family.sums)
    texts = [rng.choice(part) for part in (family.openings, family.seconds, family.thirds)]
    sizes = [_size(row.name) for row in drafted]
    looks = _Looks(suit, written, texts, kinds)
    page = _page(looks, said.format(total=f"{_false(rng, total):,}"), drafted, sizes, confused, over)
    sizes[missing] = min(sizes[missing], _size(rows[missing].name))
    right = _page(looks, said.format(total=f"{total:,}"), rows, sizes, captions, 0.0)
    right = resized(right, lettering.right)
    numbers = range(1, len(rows) + 1)
    cells = [f"{kind}-{number}" for kind in ("ticker", "company", "city", "people") for number in numbers]
    heads = [f"head-{kind}" for kind in ("ticker", "company", "city", "people")]
    spoken = [*cells, "sum", *(f"caption-{number}" for number in range(1, len(kinds) + 1))]
    return Work(
        name=family.file_name(rng),
        title="Report on companies, two pages",
        draft=resized(page, lettering.drafted),
        right=right,
        holds=(
            PageSays(texts={**written, **{name: right[name].text for name in spoken}}),
            lettering.fits(),
            TextFits(
                boxes={**{f"company-{number}": f"cell-{number}" for number in numbers}, **dict.fromkeys(heads, "table-head")},
                least={f"company-{number}": round(sizes[number - 1] * SMALLEST, 1) for number in numbers},
            ),
            NoOverlap(names=("table-head",), within=(_LEFT, 0.0, _RIGHT, _HIGH)),
        ),
        asked=frozenset({*cells, "sum"}),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose={**lettering.loose(), f"company-{missing + 1}": ("font-size", "text")},
    )  # fmt: skip


def _false(rng: random.Random, number: int) -> int:
    """A number with two of its digits exchanged, or another first digit where that changes nothing."""
    digits = str(number)
    places = [
        place for place in range(len(digits) - 1) if digits[place] != digits[place + 1] and digits[place + 1] != "0"
    ]
    if not places:
        return number + int("1".ljust(len(digits), "0"))
    place = rng.choice(places)
    swapped = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    return int(swapped)


def _size(name: str) -> float:
    return min(16.0, round(0.95 * (_CELL - 8) / fonts.width(name, 1.0), 1))


class _Looks(NamedTuple):
    """What the draft and the right report have in common."""

    suit: tuple[str, str, str, str]
    written: Mapping[str, str]
    texts: Sequence[str]
    kinds: Sequence[str]
    """Of the figures."""


def _table(suit: tuple[str, str, str, str], rows: Sequence[_Row], sizes: Sequence[float]) -> list[Element]:
    _, ink, _, tint = suit
    table: list[Element] = []
    for number, (row, size) in enumerate(zip(rows, sizes, strict=True), 1):
        y = _TABLE + _STEP * number
        table += [
            line(f"rule-{number}", _LEFT, y + 31, _RIGHT, y + 31, "#c9ccd2", stroke_width=1),
            text(f"ticker-{number}", 66, y + 20, 16, row.ticker, ink, font_weight=700),
            box(f"cell-{number}", 128, y + 2, _CELL, 26, tint, rx=3),
            text(f"company-{number}", 132, y + 20, size, row.name, "#2f3136"),
            text(f"city-{number}", 364, y + 20, 15, row.city, "#54575d"),
            text(f"people-{number}", 574, y + 20, 16, f"{row.people:,}", ink, text_anchor="end", font_weight=600),
        ]
    return table


def _page(
    looks: _Looks, said: str, rows: Sequence[_Row], sizes: Sequence[float], captions: Sequence[str], over: float
) -> Page:
    suit, written, texts, kinds = looks
    paper, ink, accent, tint = suit
    places = ((_LEFT, 464.0), (_LEFT, _HIGH + 150.0), (328.0, _HIGH + 150.0))
    figures: list[Element] = []
    for number, (kind, caption, (x, y)) in enumerate(zip(kinds, captions, places, strict=True), 1):
        figures += [
            box(f"frame-{number}", x, y, 256, 132, tint, rx=4),
            *FIGURES[kind](f"figure-{number}", x, y, ink, accent),
            text(f"caption-{number}", x, y + 150, 13, caption, "#3c3f45"),
        ]
    second = _HIGH + 40
    return page_of(
        _WIDE, 2 * _HIGH,
        box("sheet-1", 0, 0, _WIDE, _HIGH, paper),
        box("sheet-2", 0, _HIGH, _WIDE, _HIGH, paper),
        box("title-box", _LEFT, 36, 528, 52, ink, rx=4),
        text("title", _WIDE / 2, 71, 20, written["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("subtitle-box", _LEFT, 96, 360, 32, tint, rx=4),
        text("subtitle", 64, 118, 12, written["subtitle"], ink),
        box("tag-box", 424, 96, 160, 32, accent, rx=4),
        text("tag", 504, 118, 12, written["tag"], "#ffffff", text_anchor="middle", font_weight=600),
        text("heading-1", _LEFT, 162, 21, "1  Who we looked at", ink, font_weight=700),
        _paragraph("opening", texts[0], 188),
        text("sum", _LEFT, 256, 16, said, "#2f3136", font_weight=600),
        box("table-head", _LEFT, _TABLE, round(_RIGHT - _LEFT + over, 1), 32, ink, rx=3),
        text("head-ticker", 66, _TABLE + 21, 14, "Ticker", "#ffffff", font_weight=600),
        text("head-company", 132, _TABLE + 21, 14, "Company", "#ffffff", font_weight=600),
        text("head-city", 364, _TABLE + 21, 14, "Head office", "#ffffff", font_weight=600),
        text("head-people", 574, _TABLE + 21, 14, "Employees", "#ffffff", text_anchor="end", font_weight=600),
        _table(suit, rows, sizes),
        text("number-1", _RIGHT, _HIGH - 14, 13, "1", "#6a6d73", text_anchor="end"),
        text("heading-2", _LEFT, second + 16, 21, "2  What we asked them", ink, font_weight=700),
        _paragraph("second", texts[1], second + 44),
        figures,
        box("note-box", _LEFT, _HIGH + 330, 528, 42, tint, rx=4),
        text("note", 64, _HIGH + 357, 12, written["note"], "#3c3f45"),
        box("closing-box", _LEFT, _HIGH + 384, 528, 42, accent, rx=4),
        text("closing", _WIDE / 2, _HIGH + 411, 12, written["closing"], "#ffffff", text_anchor="middle", font_weight=600),
        _paragraph("third", texts[2], _HIGH + 462),
        box("foot-box", _LEFT, 2 * _HIGH - 56, 308, 32, tint, rx=4),
        text("foot", 64, 2 * _HIGH - 34, 12, written["foot"], "#54575d"),
        text("number-2", _RIGHT, 2 * _HIGH - 24, 13, "2", "#6a6d73", text_anchor="end"),
        sheets=2,
    )  # fmt: skip


def _paragraph(name: str, words: str, top: float) -> list[Element]:
    """A text in lines between the margins."""
    found = [""]
    for word in words.split():
        longer = f"{found[-1]} {word}".strip()
        if fonts.width(longer, 15.0) > _RIGHT - _LEFT:
            found.append(word)
        else:
            found[-1] = longer
    return [
        text(f"{name}-{number}", _LEFT, top + 21 * number, 15, said, "#2f3136") for number, said in enumerate(found)
    ]


_GOALS: Mapping[str, Goal[[Sequence[float]]]] = {
    "mean": Goal(
        "the average number of employees of the circled companies",
        revisions.averaged,
    ),
    "spread": Goal(
        "how many employees the largest of the circled companies has more than the smallest",
        revisions.spread,
    ),
    "times": Goal(
        "how many times as many employees the largest of the circled companies has as the smallest, to two decimals",
        lambda figures: call("math/division", {"numerator": max(figures), "denominator": min(figures)}),
    ),
}
