"""Posters outside a cinema, of which cues say which two are meant: look the films up, and compare them, count their votes or go out."""

import json
import random
from collections.abc import Mapping, Sequence
from math import comb

from m3bench.tasks.answers.fields import Date, Field, Integer, Name, Number, Table
from m3bench.tasks.answers.groups import Item
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.json_types import Record
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.selection import Thing, below, choose
from m3bench.tasks.render.shapes import ellipse, fade, mix, path, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

_MOODS = {
    "Science Fiction": (("#0b1d3a", "#3c6fb0"), ("rocket", "ringed planet", "satellite", "robot", "comet")),
    "Horror": (("#1c0d14", "#7a1f2b"), ("bat", "full moon", "candle", "spider", "urn")),
    "Romance": (("#5a1f3d", "#e58fa5"), ("rose", "bouquet", "ring", "violin", "moon")),
    "Comedy": (("#0f5f73", "#f2c14e"), ("masks", "balloon", "top hat", "taxi", "cocktail")),
    "Animation": (("#1c6e5a", "#a5d46a"), ("kite", "balloon", "teddy bear", "butterfly", "rainbow")),
    "War": (("#2b2f1e", "#8a8558"), ("helmet", "shield", "dove", "medal", "airplane")),
    "Western": (("#5a2f14", "#e0a458"), ("cactus", "horse", "boot", "desert", "sun")),
    "Crime": (("#15171d", "#5c6470"), ("magnifying glass", "key", "money bag", "police car", "dice")),
    "Fantasy": (("#2a1a52", "#8d6fd1"), ("castle", "crystal ball", "crown", "owl", "magic wand")),
    "Adventure": (("#0d4a52", "#e0b060"), ("compass", "world map", "sailboat", "mountain", "lantern")),
    "Family": (("#2b5d8a", "#f0c987"), ("house", "dog", "kite", "balloon", "umbrella")),
    "Music": (("#3d1147", "#e06fa0"), ("guitar", "piano", "trumpet", "drum", "microphone")),
    "Drama": (("#22333f", "#8fa8b5"), ("umbrella", "lantern", "cityscape", "mantel clock", "potted plant")),
}  # fmt: skip


def wall(canvas: Canvas, rng: random.Random) -> None:
    """The outside of a cinema: plaster, and a lamp above each half."""
    plaster = rng.choice(("#7d4a3a", "#5a5f68", "#8a6b4e", "#4d5a52", "#3f4a63"))
    width, height = canvas.width, canvas.height
    canvas.draw(
        fade("plaster", mix(plaster, "#ffffff", 0.12), mix(plaster, "#000000", 0.3)),
        rect(0, 0, width, height, "url(#plaster)"),
    )
    for share in (0.27, 0.73):
        canvas.draw(
            rect(width * share - 70, 0, 140, 16, "#2a2622", 6),
            path(
                f"M{width * share - 60} 16 L{width * share - 330} {height} H{width * share + 330} L{width * share + 60} 16 Z",
                "#fff3cf",
                'opacity="0.13"',
            ),
        )


def hang(
    canvas: Canvas,
    rng: random.Random,
    films: Sequence[tuple[Record, float, float]],
    motifs: Mapping[str, tuple[str, str]],
    width: float,
    height: float,
) -> list[Box]:
    """Posters in their frames; returns the boxes of the frames.

    Args:
        canvas: Where.
        rng: Chooses what is not said here.
        films: Each with its left and its upper edge.
        motifs: What is on the poster of a film, large and small, by its title; others have things of their genre.
        width: Of a poster.
        height: Of a poster.
    """
    panel = height * 0.32
    boxes: list[Box] = []
    for film, left, top in films:
        colours, _ = _mood(film)
        key = f"poster{round(left)}-{round(top)}"
        canvas.draw(
            rect(left - 16, top - 16, width + 32, height + 32, "#2a2622", 8), rect(left - 10, top - 10, width + 20, height + 20, "#d8b56a", 6),
            fade(key, *colours), rect(left, top, width, height, f"url(#{key})"),
            ellipse(left + width * rng.uniform(0.38, 0.62), top + height * 0.36, width * 0.36, width * 0.36, mix(colours[1], "#ffffff", 0.35), 'opacity="0.55"'),
            rect(left, top + height - panel, width, panel, mix(colours[0], "#000000", 0.45)),
        )  # fmt: skip
        boxes.append((round(left - 16), round(top - 16), round(left + width + 16), round(top + height + 16)))
    for film, left, top in films:
        of_genre = rng.sample(_mood(film)[1], 2)
        large, small = motifs.get(film["title"], of_genre)
        x, y = left + width * rng.uniform(0.42, 0.58), top + height * 0.6
        canvas.place(large, x, y, height * 0.34, shadow=False, note=False)
        x, y = left + width * rng.choice((0.2, 0.8)), top + height * 0.64
        canvas.place(small, x, y, height * 0.14, shadow=False, note=False)
    for film, left, top in films:
        _write(canvas, film, left + width / 2, top, top + height - panel, width)
    return boxes


def _mood(film: Record) -> tuple[tuple[str, str], tuple[str, ...]]:
    return next((_MOODS[genre] for genre in film["genres"] if genre in _MOODS), _MOODS["Drama"])


def _write(canvas: Canvas, film: Record, x: float, top: float, panel: float, width: float) -> None:
    """The promise above, and the title and the director in the panel below."""
    size = width * 0.072
    for number, text in enumerate(canvas.lines(film["tagline"], width - 40, size, "serif")[:2]):
        y = top + size * (1.7 + 1.17 * number)
        canvas.text(text, x, y, size, face="serif", fill="#ffffff", anchor="middle", note=False)
    lines = canvas.lines(film["title"], width - 24, 38, "sans bold")
    size = (38, 34, 29)[len(lines[:3]) - 1]
    y = panel + size * 1.25
    for text in lines:
        canvas.text(text, x, y, size, face="sans bold", fill="#ffffff", anchor="middle", width=width - 24)
        y += size * 1.06
    made = f"a film by {film['directors'][0]}"
    canvas.text(made, x, y + 2, 21, fill="#e9e4da", anchor="middle", width=width - 30)


_METRES = range(1500, 4100, 100)
_COLUMNS = 5
_WIDE, _TALL = 236, 392
"""Of a poster."""
_CUE = 98
_MARGIN = 0.1
"""By how much the best must be better than the next."""
_CLEAR = 0.02
"""How far the average of all votes must be from what somebody gets who counts films: enough to tell, and few pairs fail."""

Film = Record


def plainly_titled(kit: Kit) -> list[Film]:
    """Films whose titles are short and easy to read."""
    return [
        film for film in kit.world("films")
        if film["title"].isascii() and 4 <= len(film["title"]) <= 24 and film["title"].replace(" ", "").replace("'", "").isalpha()
    ]  # fmt: skip


class Movies(Family):
    """Film search; then cinemas nearby, the way to one, or arithmetic."""

    name = "movies"
    servers = ("tmdb", "google-maps", "math")
    places = table(dict[str, str])
    """Where somebody may be, as one says it, and as one looks it up."""
    motifs = table(dict[str, tuple[str, str]])
    """What is on the poster of a film, large and small."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Ten posters on a wall in two rows, each above a shelf with cues; two are meant, in different columns."""
        films = plainly_titled(kit)
        columns = sorted(rng.sample(range(_COLUMNS), 2))
        hung = rng.sample(films, 2 * _COLUMNS)
        canvas = Canvas(kit.art, 1560, 1270)
        wall(canvas, rng)
        places = [
            (
                film,
                62 + number % _COLUMNS * 296 + rng.uniform(-8, 8),
                56 + number // _COLUMNS * 600 + rng.uniform(-6, 6),
            )
            for number, film in enumerate(hung)
        ]
        boxes = hang(canvas, rng, places, self.motifs, _WIDE, _TALL)
        meant = [column + _COLUMNS * rng.randrange(2) for column in columns]
        things = []
        for film, (left, top, right, bottom) in zip(hung, boxes, strict=True):
            canvas.draw(rect(left - 8, bottom + 116, right - left + 16, 12, "#2a2622", 4))
            spots = below((left, top, right, bottom), _CUE, drop=1.16)
            words = (film["title"].casefold(), str(film["id"]))
            things.append(Thing(name=film["title"], words=words, box=(left, top, right, bottom), spots=spots))
        canvas.light(rng, 0.7)
        return Composition.shown(
            canvas,
            rng,
            choose(rng, kit.cues(self.name), len(hung), meant),
            things,
            choices=comb(_COLUMNS, 2) * 4,
            films=[hung[number]["title"] for number in meant],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The titles are read by eye; what is looked up next depends on the goal."""
        titles = composition.facts["films"]
        goals = {"votes": self._votes, "night_out": self._night_out, "cinema": self._cinema}
        return await goals[play.goal](rng, titles, path, play)

    async def _cinema(self, rng: random.Random, titles: Sequence[str], path: str, play: Script) -> Solution:
        """Films and place are looked up together, then the cinemas around, then the best one."""
        place, metres = rng.choice(tuple(self.places)), rng.choice(_METRES)
        *found, placed = await play.step(*map(_search, titles), sights.geocode(self.places[place]))
        films = _films(titles, found)
        (near,) = await play.step(sights.nearby(sights.position(placed), metres, "movie_theater"))
        cinemas = sights.ranked(near)
        need(len(cinemas) > 1, "there is one cinema alone")
        (details,) = await play.step(
            call("google-maps/place_details", {"place_id": cinemas[0]["id"]}, free=("fields",))
        )
        address = json.loads(details)["response"]["formattedAddress"]
        told = "; ".join(
            f"{film['title']} came out in {film['release_date'][:4]} and is rated {film['vote_average']}"
            for film in films
        )
        better, field = _better(films)
        return Solution(
            given={"place": place, "metres": str(metres)},
            wording=f"Read the two posters that are meant in {path}, look the films up, and find the best-rated cinema within {metres} m of {place}.",
            answer=f"{told}. The better rated is {better['title']}. Go to {sights.called(cinemas[0])}, {address}.",
            fields=(
                Field(
                    name="films",
                    meaning="both films: title, year of release, average vote",
                    value=Table(columns=("title", "year", "rating"), rows=tuple(map(_row, films))),
                ),
                field,
                sights.best_field("cinema", "the best-rated cinema in the given distance", cinemas, place),
                Field(name="cinema_address", meaning="its street address", value=sights.address(address)),
            ),
            alternatives=(play.varied("the address taken from the search", {2: ()}),),
        )

    async def _night_out(self, rng: random.Random, titles: Sequence[str], path: str, play: Script) -> Solution:
        """Which film is better rated decides where to go; then the way there on foot."""
        place, metres = rng.choice(tuple(self.places)), rng.choice(_METRES)
        *found, placed = await play.step(*map(_search, titles), sights.geocode(self.places[place]))
        films = _films(titles, found)
        better, field = _better(films)
        start, goes = sights.position(placed), better is films[0]
        (near,) = await play.step(sights.nearby(start, metres, "movie_theater" if goes else "restaurant"))
        goals = sights.ranked(near)
        need(len(goals) > 1, "there is one place alone")
        (way,) = await play.step(sights.walk(start, goals[0]))
        minutes = sights.minutes(way, least=5)
        kind = "cinema" if goes else "restaurant"
        return Solution(
            given={"place": place, "metres": str(metres)},
            wording=f"Read the two posters that are meant in {path} and compare the films' ratings; within {metres} m of {place} find the best-rated "
            "cinema when the left one is rated higher, else the best-rated restaurant; walking time.",
            answer=f"{better['title']} is rated higher, so it is a {kind}: {sights.called(goals[0])}, {minutes:g} minutes on foot.",
            fields=(
                field,
                sights.best_field(
                    "destination",
                    "the cinema or restaurant to go to: the best-rated one in the given distance",
                    goals,
                    place,
                ),
                sights.walk_field("how long it takes to walk there, in minutes", minutes),
            ),
        )

    async def _votes(self, rng: random.Random, titles: Sequence[str], path: str, play: Script) -> Solution:
        """All votes for both films taken together."""
        films = _films(titles, await play.step(*map(_search, titles)))
        counts, votes = ([film[key] for film in films] for key in ("vote_count", "vote_average"))
        products = [call("math/multiply", {"firstNumber": vote, "SecondNumber": count}) for vote, count in zip(votes, counts, strict=True)]  # fmt: skip
        *weights, total = map(float, await play.step(*products, call("math/sum", {"numbers": counts})))
        (whole,) = await play.step(call("math/sum", {"numbers": weights}))
        (text,) = await play.step(call("math/division", {"numerator": float(whole), "denominator": int(total)}))
        pooled = float(text)
        need(abs(pooled - sum(votes) / 2) >= _CLEAR, "the mean of the two is nearly the same")
        need(min(abs(pooled - vote) for vote in votes) >= _CLEAR, "one film outweighs the other")
        more, fewer = sorted(films, key=lambda film: -film["vote_count"])
        return Solution(
            wording=f"Read the two posters that are meant in {path}, look the films up, and average all votes for both, weighted by their numbers.",
            answer=f"More people voted on {more['title']}. Both have {int(total)} votes, with an average of {pooled:.2f}.",
            fields=(
                Field(
                    name="more_votes",
                    meaning="the title of the film that more people have voted on",
                    value=_title(more, fewer),
                    compared=(more["vote_count"], fewer["vote_count"]),
                    derived=tuple(counts),
                ),
                Field(name="total_votes", meaning="how many votes both have together", value=Integer(value=int(total))),
                Field(
                    name="overall_average",
                    meaning="the average over all those single votes, to two decimals",
                    value=Number(value=pooled, decimals=2),
                    derived=(*counts, *votes),
                ),
            ),
            alternatives=(play.varied("worked out without a tool", {1: (), 2: (), 3: ()}),),
        )


def _search(title: str) -> ReferenceCall:
    return call("tmdb/search_movies", {"query": title}, free=("year", "page"), either={"query": (title,)})


def _films(titles: Sequence[str], texts: Sequence[str]) -> list[Record]:
    """The films that were found, in the order of their posters."""
    films = []
    for title, text in zip(titles, texts, strict=True):
        named = [film for film in json.loads(text)["results"] if film["title"] == title]
        need(len(named) == 1, f"several films are called {title}")
        films += named
    return films


def _better(films: Sequence[Film]) -> tuple[Film, Field]:
    """The film that is rated higher, and the field that asks for it."""
    worse, better = sorted(films, key=lambda film: film["vote_average"])
    votes = better["vote_average"], worse["vote_average"]
    need(votes[0] - votes[1] >= _MARGIN, "two films are rated alike")
    field = Field(
        name="better_rated",
        meaning="the title of the film with the higher average vote",
        value=_title(better, worse),
        compared=votes,
        derived=votes,
    )
    return better, field


def _title(film: Film, other: Film) -> Name:
    return Name(value=film["title"], others=(other["title"],), context=(film["release_date"][:4],))


def _row(film: Film) -> tuple[Item, ...]:
    year, votes = film["release_date"], film["vote_average"]
    return (
        Name(value=film["title"], context=(year[:4],)),
        Date(value=year, precision="year"),
        Number(value=votes, within=0.05),
    )
