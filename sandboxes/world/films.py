"""Films of the frozen world: what is known of each, and how one is found by its title.

Facts are public; overviews and taglines are our own. Votes are of the right order and stand still, and what the
world does not keep (popularity, the names of picture files) follows from a film's number. Of `more_films` only title,
year, people and genres are known; their numbers are ours, above all real ones.
"""

import math
import string
from collections.abc import Sequence
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
_USUAL_VOTES = 2000
"""What a film counts for that is well known and whose votes are not."""
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, kw_only=True)
class Movie:
    """One film."""

    id: int
    title: str
    original_title: str
    language: str
    """Of the original, in two letters; `cn` is Cantonese. Empty where it is not known."""
    released: str
    """The day, or the year where no more is known."""
    genres: tuple[str, ...]
    vote_average: float | None
    vote_count: int | None
    overview: str

    @property
    def year(self) -> int:
        """Of the first release."""
        return int(self.released[:4])

    @property
    def popularity(self) -> float | None:
        """How much a film is looked at now: many votes and a recent release make it high."""
        if self.vote_count is None:
            return None
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
    found = index.search(query, len(_records()), keep=lambda film: year is None or _released(film).startswith(released))
    return [_film(record) for _, record in found]


@cache
def _index(*, people: bool) -> SearchIndex[Record]:
    records = [
        {**record, "people": [*record["directors"], *record["cast"], *record.get("authors", ())]}
        for record in _records()
    ]
    fields = {"title": 3.0, "original_title": 3.0, "also": 2.8, **({"people": 1.0} if people else {})}
    return SearchIndex(
        records, fields, prior=lambda film: min(1.0, float(film.get("vote_count", _USUAL_VOTES)) / _FULL_VOTES)
    )


@cache
def _records() -> tuple[Record, ...]:
    return (*tables.load("films"), *tables.load("more_films"))


def _released(record: Record) -> str:
    return str(record.get("released", record.get("year")))


def _film(record: Record) -> Movie:
    return Movie(
        id=record["id"],
        title=record["title"],
        original_title=record.get("original_title", record["title"]),
        language=record.get("language", ""),
        released=_released(record),
        genres=tuple(record["genres"]),
        vote_average=record.get("vote_average"),
        vote_count=record.get("vote_count"),
        overview=record.get("overview") or _overview(record),
    )


def _overview(record: Record) -> str:
    """A sentence made of the facts."""
    kind = " and ".join(genre.lower() for genre in record["genres"])
    people = f", with {_listed(record['cast'])}" if record["cast"] else ""
    return f"A film of {record['year']} ({kind}), directed by {_listed(record['directors'])}{people}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
