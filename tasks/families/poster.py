"""A poster for a film night with the two films that are circled outside a cinema: one is another, one is told wrongly, lines stick out or overlap."""

import json
import random
from collections.abc import Mapping, Sequence

from m3bench.tasks.answers.fields import Field, Name, Number
from m3bench.tasks.answers.pages import NoOverlap, PageSays, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.movies import Movies, hang, plainly_titled, wall
from m3bench.tasks.families.revisions import SMALLEST, BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.studio.page import Element, Page, box, element, page_of, text

_WIDE, _HIGH = 600.0, 840.0
_CARD, _LARGEST, _BELOW = 460.0, 44.0, 316.0
"""Room for a title, its largest letters, and where the line below the first one is."""
_CARDS = (200.0, 398.0)
_FALLEN = 34.0
"""Pixels by which a line lies too high that covers the title."""
_SUITS = (("#1d2a44", "#e8b04a", "#f6f1e4"), ("#3a1f2e", "#e07a5f", "#f7eee9"), ("#14342b", "#bcd979", "#eef4e6"),
          ("#2b2d42", "#ef8354", "#eef0f4"), ("#40291b", "#f2c078", "#f8f1e7"))  # fmt: skip
"""Ground, accent and cards."""

Film = Record


_COLUMNS = 4


def _circled(rng: random.Random, kit: Kit) -> Composition:
    """Eight posters on a wall in two rows; two are circled, the first of them farther left."""
    films = plainly_titled(kit)
    columns = sorted(rng.sample(range(_COLUMNS), 2))
    chosen = rng.sample(films, 2)
    others = rng.sample([film for film in films if film not in chosen], 2 * _COLUMNS - 2)
    canvas = Canvas(kit.art, 1480, 1120)
    wall(canvas, rng)
    hung = {(column, rng.randrange(2)): film for column, film in zip(columns, chosen, strict=True)}
    left = [(column, row) for row in range(2) for column in range(_COLUMNS) if (column, row) not in hung]
    hung |= dict(zip(left, others, strict=True))
    places = [
        (film, 62 + column * 362 + rng.uniform(-8, 8), 64 + row * 530 + rng.uniform(-8, 8))
        for (column, row), film in hung.items()
    ]
    boxes = hang(canvas, rng, places, Movies.motifs, 270, 440)
    canvas.light(rng, 0.7)
    pen.circle(canvas, rng, boxes[:2], boxes[2:])
    return Composition.of(canvas, films=[film["title"] for film in chosen])


class PosterFamily(DraftFamily):
    """Look the circled films up and the draft over; then put the right ones in and mend what cannot be printed."""

    name = "poster"
    servers = ("studio", "tmdb", "math")
    headers = words()
    taglines = words()
    times = words()
    places = words()
    entries = words()
    footers = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight posters of which two are circled, and a poster for a night with two films."""
        composition = reduced(_circled(rng, kit), 0.58, colours=256)
        films = {film["title"]: film for film in kit.world("films")}
        right = [films[title] for title in rng.sample(composition.facts["films"], 2)]
        pool = [
            film
            for film in films.values()
            if film["title"].isascii() and 4 <= len(film["title"]) <= 24 and film not in right
        ]
        stray = rng.choice(pool)
        need(len({_line(film) for film in (*right, stray)}) == 3, "two films are told alike")
        return revisions.with_work(composition, _drafted(rng, self, right, stray), right=right, stray=stray)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The circled films are looked up; what is on the page decides what is changed."""
        facts = composition.facts
        work: Work = facts["work"]
        right: Sequence[Film] = facts["right"]
        told = await revisions.opened(
            work, play, *(call("tmdb/search_movies", {"query": film["title"]}, free=("page", "year")) for film in right)
        )
        found = [_found(film, one) for film, one in zip(right, told, strict=True)]
        await revisions.revised(work, play)
        goal = _GOALS[play.goal]
        figures = [_figure(film, goal.key) for film in found]
        need(figures[0] != figures[1], "there is no difference")
        (worked_out,) = await play.step(goal.worked_out(figures))
        result = round(float(worked_out), 2)
        missing, stray = right[0], facts["stray"]
        names = [*right, stray]
        return Solution(
            wording=f"Open the draft of the poster, render it, and compare it with the two films circled in red in {path} and with what a film database says of them. "
            "Put the circled film in the place of the one that is not, put a wrong year or rating right, make lettering smaller that sticks out of its box, move lines "
            f"apart that overlap, leave everything else as it is, and render it again. Then work out {goal.meaning}.",
            answer=f"The poster is revised: {missing['title']} was missing and {stray['title']} did not belong there. {goal.meaning.capitalize()}: {result:g}.",
            fields=(
                Field(name="missing", meaning="the circled film that was not on the poster", value=_name(missing, names)),
                Field(name="stray", meaning="the film on the draft that is not circled", value=_name(stray, names)),
                Field(name=play.goal, meaning=goal.meaning, value=Number(value=result), derived=tuple(figures)),
                revisions.field_of(work, "poster", "the revised poster"),
            ),
            alternatives=(play.varied("worked out without a tool", {len(play.steps) - 1: ()}),),
        )  # fmt: skip


def _found(film: Film, answer: str) -> Film:
    found = next((result for result in json.loads(answer)["results"] if result["title"] == film["title"]), None)
    need(found is not None, "the film is not found")
    assert found is not None
    need(
        _line({**film, "released": found["release_date"], "vote_average": found["vote_average"]}) == _line(film),
        "it is told otherwise",
    )
    first = json.loads(answer)["results"][0]
    need(first["title"] == film["title"], "another film comes first")
    result: Film = found
    return result


def _name(film: Film, names: Sequence[Film]) -> Name:
    own = (film["original_title"],) if film["original_title"] != film["title"] else ()
    return Name(value=film["title"], aliases=own, others=tuple(other["title"] for other in names if other is not film))


def _line(film: Film) -> str:
    return f"{film['released'][:4]}, rated {film['vote_average']:g}"


def _drafted(rng: random.Random, family: PosterFamily, right: Sequence[Film], stray: Film) -> Work:
    place = rng.randrange(2)
    shown = [right[1], right[1]]
    shown[place] = right[0]
    drafted = list(shown)
    drafted[place] = stray
    lines = [_line(film) for film in shown]
    told = [_line(film) for film in drafted]
    told[1 - place] = _line(_false(rng, right[1]))
    over = rng.randrange(2) if rng.random() < 0.5 else None
    lettering = Lettering.drawn(
        rng,
        [
            BoxedLine("header", rng.choice(family.headers), "header-box", 500, 700, 62),
            BoxedLine("tagline", rng.choice(family.taglines), "tagline-box", 440, 400, 34),
            BoxedLine("when", rng.choice(family.times), "when-box", 500, 600, 40),
            BoxedLine("where", rng.choice(family.places), "where-box", 500, 400, 40),
            BoxedLine("entry", rng.choice(family.entries), "entry-box", 500, 600, 40),
            BoxedLine("footer", rng.choice(family.footers), "footer-box", 360, 400, 30),
        ],
        0 if over is not None else 1,
    )
    suit = rng.choice(_SUITS)
    sizes = [_title_size(film["title"]) for film in drafted]
    page = _page(suit, lettering.lines, [film["title"] for film in drafted], sizes, told, over)
    sizes[place] = min(sizes[place], _title_size(right[0]["title"]))
    finished = _page(suit, lettering.lines, [film["title"] for film in shown], sizes, lines, None)
    finished = resized(finished, lettering.right)
    titles = {f"title-{number}": film["title"] for number, film in enumerate(shown, 1)}
    fall = {} if over is None else {f"facts-{over + 1}": ("x", "y", "font-size", "text-anchor")}
    return Work(
        name=family.file_name(rng),
        title="Poster for a film night",
        draft=resized(page, lettering.drafted),
        right=finished,
        holds=(
            PageSays(texts={**titles, **{f"facts-{number}": line for number, line in enumerate(lines, 1)}, **lettering.texts}),
            lettering.fits(),
            TextFits(
                boxes={f"{kind}-{number}": f"card-{number}" for kind in ("title", "facts") for number in (1, 2)},
                least={f"title-{number}": round(size * SMALLEST, 1) for number, size in enumerate(sizes, 1)} | {"facts-1": 18.0, "facts-2": 18.0},
            ),
            NoOverlap(names=("title-1", "facts-1", "title-2", "facts-2", "header", "tagline", "when", "where", "entry", "footer")),
        ),
        asked=frozenset({*titles, "facts-1", "facts-2"} if over is None else {*titles, f"facts-{2 - over}"}),
        everything=resized(finished, lettering.everything),
        estimated=resized(finished, lettering.estimated),
        loose={**lettering.loose(), **fall, f"title-{place + 1}": ("font-size", "text")},
    )  # fmt: skip


def _false(rng: random.Random, film: Film) -> Film:
    """A film told wrongly: its year or its rating."""
    if rng.random() < 0.5:
        year = int(film["released"][:4]) + rng.choice((-12, -9, -7, -4, 4, 6, 8))
        return {**film, "released": f"{min(year, 2025)}{film['released'][4:]}"}
    low = film["vote_average"] > 7
    return {
        **film,
        "vote_average": round(film["vote_average"] + (-1 if low else 1) * rng.choice((0.4, 0.6, 0.9, 1.3)), 1),
    }


def _title_size(title: str) -> float:
    return min(_LARGEST, round(0.95 * _CARD / fonts.width(title, 1.0, 700), 1))


def _page(
    suit: tuple[str, str, str],
    lines: Sequence[BoxedLine],
    titles: Sequence[str],
    sizes: Sequence[float],
    told: Sequence[str],
    over: int | None,
) -> Page:
    ground, accent, paper = suit
    words = {line.name: line for line in lines}
    cards: list[Element] = []
    for number, (top, title, size, facts) in enumerate(zip(_CARDS, titles, sizes, told, strict=True)):
        low = top + _BELOW - _CARDS[0] - (_FALLEN if over == number else 0)
        cards += [
            box(f"card-{number + 1}", 60, top, 480, 150, paper, rx=16),
            box(f"band-{number + 1}", 60, round(top + 134, 1), 480, 6, accent),
            text(
                f"title-{number + 1}",
                _WIDE / 2,
                round(top + 74, 1),
                size,
                title,
                ground,
                text_anchor="middle",
                font_weight=700,
            ),
            text(f"facts-{number + 1}", _WIDE / 2, round(low, 1), 25, facts, "#4a4550", text_anchor="middle"),
        ]
    holes = [
        box(f"hole-{number}-{side}", 18 + 48 * number, y, 28, 18, paper, rx=4, opacity=0.35)
        for side, y in (("top", 16.0), ("foot", 806.0))
        for number in range(12)
    ]
    return page_of(
        _WIDE, _HIGH,
        box("sheet", 0, 0, _WIDE, _HIGH, ground),
        holes,
        box("header-box", 50, 52, 500, 76, accent, rx=12),
        text("header", _WIDE / 2, 106, 20, words["header"].text, ground, text_anchor="middle", font_weight=700),
        box("tagline-box", 80, 140, 440, 42, ground, stroke=accent, stroke_width=2, rx=21),
        text("tagline", _WIDE / 2, 168, 12, words["tagline"].text, paper, text_anchor="middle"),
        cards,
        element("circle", "plus-disc", {"cx": 300, "cy": 374, "r": 19, "fill": accent}),
        text("plus", 300, 385, 32, "+", ground, text_anchor="middle", font_weight=700),
        box("when-box", 50, 572, 500, 50, accent, rx=8),
        text("when", _WIDE / 2, 606, 12, words["when"].text, ground, text_anchor="middle", font_weight=600),
        box("where-box", 50, 632, 500, 50, paper, rx=8),
        text("where", _WIDE / 2, 666, 12, words["where"].text, ground, text_anchor="middle"),
        box("entry-box", 50, 692, 500, 50, paper, rx=8),
        text("entry", _WIDE / 2, 726, 12, words["entry"].text, ground, text_anchor="middle", font_weight=600),
        box("footer-box", 120, 756, 360, 36, ground, stroke=paper, stroke_width=1, rx=6),
        text("footer", _WIDE / 2, 780, 12, words["footer"].text, paper, text_anchor="middle"),
    )  # fmt: skip


def _figure(film: Film, key: str) -> float:
    """A figure of a film; a date counts by its year."""
    return float(film[key][:4] if key == "release_date" else film[key])


_GOALS: Mapping[str, Goal[[Sequence[float]]]] = {
    "years_apart": Goal(
        "how many years lie between the years in which the two films came out",
        revisions.spread,
        key="release_date",
    ),
    "mean_rating": Goal("the average of the ratings of the two films", revisions.averaged, key="vote_average"),
    "votes": Goal("how many votes the two films have together", revisions.added_up, key="vote_count"),
}
