"""The `tmdb` server: films by title.

The answer has the form of The Movie Database's search: pages of twenty, genres as numbers, pictures as path
fragments. Nothing found is an empty first page, not an error; a page or year that cannot be is one. What is not known
of a film is null, and named in a field that the public service does not have, `not_covered`.
"""

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import films
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.films import GENRES, Movie
from m3bench.tasks.errors import ToolError

server = ToolServer("tmdb", error="TMDB API error: {message}")

PAGE_SIZE = 20
_MOST_PAGES = 500
_YEARS = range(1874, NOW.year + 10)
"""From the first moving picture to what is announced."""


@server.tool
async def search_movies(query: str, year: float | None = None, page: float | None = None) -> dict[str, object]:
    number = _whole("page", 1 if page is None else page, _MOST_PAGES)
    wanted = None if year is None else _whole("year", year, 9999)
    found = films.search(query, wanted)
    start = (number - 1) * PAGE_SIZE
    answer = {
        "page": number,
        "results": [_card(film) for film in found[start : start + PAGE_SIZE]],
        "total_pages": max(1, -(-len(found) // PAGE_SIZE)),
        "total_results": len(found),
    }
    return covered(answer, found or (wanted is not None and wanted not in _YEARS), query)


def _whole(name: str, value: float, most: int) -> int:
    if not 1 <= value <= most or value != int(value):
        raise ToolError(
            f"Invalid {name}: it must be a whole number from 1 to {most}, not {value}.", outcome="invalid_arguments"
        )
    return int(value)


def _card(film: Movie) -> dict[str, object]:
    card: dict[str, object] = {
        "adult": False,
        "backdrop_path": None if film.vote_count is None else film.picture("backdrop"),
        "genre_ids": [GENRES[genre] for genre in film.genres],
        "id": film.id,
        "original_language": film.language or None,
        "original_title": film.original_title,
        "overview": film.overview,
        "popularity": film.popularity,
        "poster_path": None if film.vote_count is None else film.picture("poster"),
        "release_date": film.released,
        "title": film.title,
        "video": False,
        "vote_average": film.vote_average,
        "vote_count": film.vote_count,
    }
    if film.vote_count is None:
        card["not_covered"] = " ".join(name for name, value in card.items() if value is None)
    return card
