"""A deck of four slides on the books that are circled on a table: one is another, one is told wrongly, lines leave their boxes, a picture covers writing."""

import json
import random
from collections.abc import Mapping, Sequence

from m3bench.tasks.answers.fields import Field, Name, Number
from m3bench.tasks.answers.pages import NoOverlap, PageSays, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families import revisions
from m3bench.tasks.families.barcode_lookup import BarcodeLookup
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.reading_list import shorter
from m3bench.tasks.families.revisions import SMALLEST, BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.json_types import Record
from m3bench.tasks.studio.page import Attribute, Element, Page, box, element, page_of, text

_WIDE, _HIGH = 640.0, 360.0
"""Of a slide."""
_SHOWN = 3
_TITLE, _LARGEST, _LEAST = 536.0, 30.0, 17.0
"""The room for the title of a book, and its largest and smallest letters."""
_BULLET, _ROOM = 20.0, 330.0
"""The size of a bullet's letters, and how wide it may be."""
_PICTURE = (470.0, 140.0)
"""The corner of a picture that is where it should be."""
_BOOK = ((0, 12), (52, 0), (64, 8), (76, 0), (128, 12), (128, 98), (76, 86), (64, 94), (52, 86), (0, 98))
"""The outline of an open book."""
_LINES = (150.0, 186.0, 222.0)
"""Where the bullets of a slide are."""
_SUITS = (("#fbf8f1", "#3a2e5c", "#d9822b"), ("#f4f8f7", "#1f4d4f", "#c8553d"), ("#f8f4f0", "#5a2d2d", "#3f7f8f"),
          ("#f3f5fa", "#22386b", "#b8732e"), ("#f6f7f0", "#38512b", "#8a3f7a"))  # fmt: skip
"""Ground, ink and accent."""

Book = Record


class _Books(BarcodeLookup):
    circled = (_SHOWN, _SHOWN)


class Slides(DraftFamily):
    """Look the circled books up and every slide over; then put right what it says and where it is."""

    name = "slides"
    servers = ("studio", "pyzbar-mcp", "openlibrary_mcp", "math")
    titles = words()
    subtitles = words()
    tags = words()
    lines = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six books face down of which three are circled, and a deck with a slide for each of three."""
        composition = reduced(_Books().compose(rng, kit), 1.0, colours=128)
        books = {book["id"]: book for book in kit.world("books")}
        meant = composition.facts["meant"]
        right = [books[number] for number in rng.sample(meant, _SHOWN)]
        stray = books[rng.choice([number for number in composition.facts["numbers"] if number not in meant])]
        shown = [*right, stray]
        need(
            all(_size(book) >= _LEAST and fonts.width(_by(book), _BULLET) <= _ROOM for book in shown), "it is too long"
        )
        need(all(len({str(book[key]) for book in shown}) == len(shown) for key in ("title", "authors", "pages", "year")), "two are told alike")  # fmt: skip
        missing, wrong = rng.sample(range(_SHOWN), 2)
        return revisions.with_work(
            composition,
            _drafted(rng, self, right, stray, missing, wrong),
            right=right,
            stray=stray,
            missing=missing,
            wrong=wrong,
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The circled books are looked up by their codes; what the slides look like decides what is changed."""
        facts, goal = composition.facts, _GOALS[play.goal]
        work: Work = facts["work"]
        right: Sequence[Book] = facts["right"]
        told = await revisions.opened(
            work, play, *(call("openlibrary_mcp/get_book_info", {"isbn": book["id"]}) for book in right)
        )
        need(all(_agrees(book, one) for book, one in zip(right, told, strict=True)), "the books say something else")
        await revisions.revised(work, play)
        figures = [int(book[goal.key]) for book in right]
        (worked_out,) = await play.step(goal.worked_out(figures))
        result = round(float(worked_out), 2)
        # Scanned as long as nobody reads the numbers below the codes, and only now: a picture that is not drawn has none.
        play.steps.insert(0, (call("pyzbar-mcp/scan_barcode", {"image_paths": path}),))
        missing, wrong = right[facts["missing"]], right[facts["wrong"]]
        names = [*right, facts["stray"]]
        return Solution(
            wording=f"Open the draft of the deck, render its four slides, and compare them with the three books circled in red in {path} and with their titles, authors, pages and "
            "years in a library catalogue. Put the circled book in the place of the one that is not, put a wrong number right, make lettering smaller that sticks out of its box, "
            f"move a picture that covers writing, leave everything else as it is, and render the slides again. Then work out {goal.meaning}.",
            answer=f"The deck is revised: {missing['title']} was missing, {wrong['title']} was told wrongly, and {goal.meaning}: {result:g}.",
            fields=(
                Field(name="missing", meaning="the title of the circled book that had no slide", value=_name(missing, names)),
                Field(name="wrong", meaning="the title of the circled book whose pages or year were not true on its slide", value=_name(wrong, names)),
                Field(name=play.goal, meaning=goal.meaning, value=Number(value=result), derived=tuple(float(figure) for figure in figures)),
                revisions.field_of(work, "deck", "the revised deck; titles and authors are as the library catalogue has them, pictures cover nothing and stay on their slide"),
            ),
            alternatives=(
                play.varied("worked out without a tool", {len(play.steps) - 1: ()}),
                play.varied("the numbers are read, not scanned", {0: ()}),
                play.varied("the numbers are read, and worked out without a tool", {0: (), len(play.steps) - 1: ()}),
            ),
        )  # fmt: skip


def _by(book: Book) -> str:
    return f"by {', '.join(book['authors'])}"


def _agrees(book: Book, told: str) -> bool:
    found = json.loads(told)["metadata"]
    same = found["title"] == book["title"] and found["pages"] == book["pages"]
    return bool(same and found["authors"] == book["authors"] and str(book["year"]) in found["publish_date"])


def _name(book: Book, books: Sequence[Book]) -> Name:
    others = tuple(other["title"] for other in books if other is not book)
    return Name(value=book["title"], aliases=shorter(book["title"]), others=others, context=tuple(book["authors"]))


def _size(book: Book) -> float:
    return min(_LARGEST, round(0.95 * _TITLE / fonts.width(book["title"], 1.0, 700), 1))


def _drafted(
    rng: random.Random, family: Slides, right: Sequence[Book], stray: Book, missing: int, wrong: int
) -> Work:  # fmt: skip
    drafted = list(right)
    drafted[missing] = stray
    drafted[wrong] = _false(rng, right[wrong])
    covering = rng.randrange(_SHOWN) if rng.random() < 0.6 else None
    corners = [_PICTURE] * _SHOWN
    if covering is not None:
        place = rng.randrange(len(_LINES))
        written = fonts.width(_bullets(right[covering])[place], _BULLET)
        corners[covering] = (
            round(64 + written * rng.uniform(0.35, 0.7), 1),
            round(_LINES[place] - rng.uniform(40, 70)),
        )
    said = rng.sample(family.lines, _SHOWN)
    lines = [
        BoxedLine("title", rng.choice(family.titles), "title-box", 536, 700, 54),
        BoxedLine("subtitle", rng.choice(family.subtitles), "subtitle-box", 460, 400, 32),
        BoxedLine("tag", rng.choice(family.tags), "tag-box", 184, 600, 34),
        *(BoxedLine(f"line-{number}", one, f"line-{number}-box", 528, 400, 32) for number, one in enumerate(said, 1)),
    ]
    lettering = Lettering.drawn(rng, lines, 0 if covering is not None else 1)
    suit = rng.choice(_SUITS)
    spoken = lettering.texts
    sizes = [_size(book) for book in drafted]
    page = _page(suit, spoken, drafted, sizes, corners)
    sizes[missing] = min(sizes[missing], _size(right[missing]))
    finished = resized(_page(suit, spoken, right, sizes, [_PICTURE] * _SHOWN), lettering.right)
    numbers = range(1, _SHOWN + 1)
    told = [f"{kind}-{number}" for kind in ("book", "by", "pages", "year") for number in numbers]
    moved = {} if covering is None else {f"picture-{covering + 1}": ("points",)}
    return Work(
        name=family.file_name(rng),
        title="Slides on books, four pages",
        draft=resized(page, lettering.drafted),
        right=finished,
        holds=(
            PageSays(texts={**spoken, **{name: finished[name].text for name in told}}),
            lettering.fits(),
            TextFits(
                boxes={f"book-{number}": f"book-{number}-box" for number in numbers},
                least={f"book-{number}": round(sizes[number - 1] * SMALLEST, 1) for number in numbers},
            ),
            *(
                NoOverlap(
                    names=(*(f"{kind}-{number}" for kind in ("book", "by", "pages", "year", "line")), f"picture-{number}"),
                    within=(0.0, _HIGH * number, _WIDE, _HIGH * (number + 1)),
                    least={f"picture-{number}": _BOOK[5]},
                )
                for number in numbers
            ),
        ),
        asked=frozenset(told),
        everything=resized(finished, lettering.everything),
        estimated=resized(finished, lettering.estimated),
        loose={**lettering.loose(), **moved, f"book-{missing + 1}": ("font-size", "text")},
    )  # fmt: skip


def _false(rng: random.Random, book: Book) -> Book:
    """A book told wrongly: its pages or its year."""
    if rng.random() < 0.5:
        return {**book, "year": min(2024, book["year"] + rng.choice((-11, -8, -6, -3, 3, 5, 9)))}
    return {**book, "pages": max(20, book["pages"] + rng.choice((-90, -60, -24, 18, 36, 72, 110)))}


def _bullets(book: Book) -> tuple[str, str, str]:
    return _by(book), f"{book['pages']} pages", f"this edition: {book['year']}"


def _page(
    suit: tuple[str, str, str],
    spoken: Mapping[str, str],
    books: Sequence[Book],
    sizes: Sequence[float],
    corners: Sequence[tuple[float, float]],
) -> Page:
    ground, ink, accent = suit
    slides: list[Element] = []
    for number, (book, size, (left, top)) in enumerate(zip(books, sizes, corners, strict=True), 1):
        down = _HIGH * number
        points = " ".join(f"{left + x:g},{down + top + y:g}" for x, y in _BOOK)
        slides += [
            box(f"ground-{number}", 0, down, _WIDE, _HIGH, ground),
            box(f"book-{number}-box", 40, down + 36, 560, 60, ink, rx=6),
            text(f"book-{number}", 52, down + 75, size, book["title"], "#ffffff", font_weight=700),
        ]
        for kind, place, said in zip(("by", "pages", "year"), _LINES, _bullets(book), strict=True):
            dot: dict[str, Attribute] = {"cx": 50, "cy": down + place - 6, "r": 4, "fill": accent}
            slides += [
                element("circle", f"dot-{kind}-{number}", dot),
                text(f"{kind}-{number}", 64, down + place, _BULLET, said, "#2f3136"),
            ]
        slides += [
            element(
                "polygon", f"picture-{number}", {"points": points, "fill": accent, "stroke": ink, "stroke-width": 2}
            ),
            box(f"line-{number}-box", 40, down + 272, 544, 44, "#ffffff", rx=6),
            text(f"line-{number}", 56, down + 301, 12, spoken[f"line-{number}"], "#3c3f45"),
            text(f"number-{number}", 600, down + 342, 13, str(number + 1), ink, text_anchor="end"),
        ]
    return page_of(
        _WIDE, _HIGH * (_SHOWN + 1),
        box("ground-0", 0, 0, _WIDE, _HIGH, ink),
        box("title-box", 52, 84, 536, 76, accent, rx=8),
        text("title", _WIDE / 2, 134, 20, spoken["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("subtitle-box", 90, 176, 460, 48, ground, rx=8),
        text("subtitle", _WIDE / 2, 208, 12, spoken["subtitle"], ink, text_anchor="middle"),
        box("tag-box", 228, 244, 184, 44, ground, rx=22),
        text("tag", _WIDE / 2, 273, 12, spoken["tag"], ink, text_anchor="middle", font_weight=600),
        text("number-0", 600, 342, 13, "1", "#ffffff", text_anchor="end"),
        slides,
        sheets=_SHOWN + 1,
    )  # fmt: skip


_GOALS: Mapping[str, Goal[[Sequence[float]]]] = {
    "pages": Goal("how many pages the three circled books have together", revisions.added_up, key="pages"),
    "mean": Goal("how many pages the three circled books have on average", revisions.averaged, key="pages"),
    "apart": Goal(
        "how many years lie between the oldest and the newest edition of the three circled books",
        revisions.spread,
        key="year",
    ),
}
