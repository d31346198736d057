"""Films of the frozen world: what is known of each, and how one is found by its title.

Facts are public; overviews and taglines are our own. Votes are of the right order and stand still, and what the
world does not keep (popularity, the names of picture files) follows from a film's number.
"""

import math
import string
from dataclasses import dataclass
from functools import cache

from m3bench.sandboxes.world import clock, noise, tables
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record

GENRES = {
    "Action": 28,
    "Adventure": 12,
    "Animation": 16,
    "Comedy": 35,
    "Crime": 80,
    "Documentary": 99,
    "Drama": 18,
    "Family": 10751,
    "Fantasy": 14,
    "History": 36,
    "Horror": 27,
    "Music": 10402,
    "Mystery": 9648,
    "Romance": 10749,
    "Science Fiction": 878,
    "Thriller": 53,
    "War": 10752,
    "Western": 37,
}
"""A genre's name to the number that stands for it in search results."""

_FULL_VOTES = 40_000
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, kw_only=True)
class Movie:
    """One film."""

    id: int
    title: str
    original_title: str
    language: str
    """Of the original, in two letters; `cn` is Cantonese."""
    released: str
    genres: tuple[str, ...]
    vote_average: float
    vote_count: int
    overview: str

    @property
    def year(self) -> int:
        """Of the first release."""
        return int(self.released[:4])

    @property
    def popularity(self) -> float:
        """How much a film is looked at now: many votes and a recent release make it high."""
        age = clock.NOW.year - self.year
        base = 4 * math.log10(1 + self.vote_count) + 60 / (1 + age) ** 2
        return round(base * noise.between(0.8, 1.2, "popularity", self.id), 4)

    def picture(self, kind: str) -> str:
        """The path of a poster or a backdrop, below the address of the picture store."""
        return f"/{noise.token(27, _LETTERS, kind, self.id)}.jpg"


def search(query: str, year: int | None = None) -> list[Movie]:
    """The films a title may mean, best first; names of people beside a title help to tell films apart.

    A single word is looked for in titles alone, as on the public site: `Heat` is no film with Heath Ledger.
    """
    index = _index(people=len(words(query)) > 1)
    released = str(year)
    found = index.search(
        query, len(tables.load("films")), keep=lambda film: year is None or film["released"].startswith(released)
    )
    return [_film(record) for _, record in found]


@cache
def _index(*, people: bool) -> SearchIndex[Record]:
    records = [
        {**record, "people": [*record["directors"], *record["cast"], *record.get("authors", ())]}
        for record in tables.load("films")
    ]
    fields = {"title": 3.0, "original_title": 3.0, "also": 2.8, **({"people": 1.0} if people else {})}
    return SearchIndex(records, fields, prior=lambda film: min(1.0, float(film["vote_count"]) / _FULL_VOTES))


def _film(record: Record) -> Movie:
    return Movie(
        id=record["id"],
        title=record["title"],
        original_title=record["original_title"],
        language=record["language"],
        released=record["released"],
        genres=tuple(record["genres"]),
        vote_average=record["vote_average"],
        vote_count=record["vote_count"],
        overview=record["overview"],
    )
