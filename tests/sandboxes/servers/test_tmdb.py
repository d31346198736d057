"""The `tmdb` server finds films by title and answers in pages of twenty."""

import json
import unicodedata
from datetime import date
from typing import Any

import pytest

from m3bench.sandboxes.world import clock, tables
from m3bench.sandboxes.world.films import GENRES
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

FILMS = tables.load("films")
TOOL = "tmdb/search_movies"


def found(bench: Bench, **arguments: Any) -> Any:
    return json.loads(bench.text(TOOL, arguments))


def titles(bench: Bench, query: str) -> list[str]:
    return [film["title"] for film in found(bench, query=query)["results"]]


def test_a_title_gives_the_film_with_everything_a_result_has(bench: Bench) -> None:
    answer = found(bench, query="spirited away")
    assert list(answer) == ["page", "results", "total_pages", "total_results"]
    film = answer["results"][0]
    assert film.pop("popularity") > 0
    for kind in ("poster_path", "backdrop_path"):
        path = film.pop(kind)
        assert path.startswith("/")
        assert path.endswith(".jpg")
    record = next(record for record in FILMS if record["id"] == 129)
    assert film == {
        "adult": False,
        "genre_ids": [16, 10751, 14],
        "id": 129,
        "original_language": "ja",
        "original_title": "千と千尋の神隠し",
        "overview": record["overview"],
        "release_date": "2001-07-20",
        "title": "Spirited Away",
        "video": False,
        "vote_average": 8.5,
        "vote_count": record["vote_count"],
    }


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("千と千尋の神隠し", "Spirited Away"),
        ("le fabuleux destin d'amelie poulain", "Amélie"),
        ("the sorcerer's stone", "Harry Potter and the Philosopher's Stone"),
        ("dr strangelove", "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb"),
        ("wall e", "WALL·E"),
        ("seven samurai kurosawa", "Seven Samurai"),
        ("stephen king shining", "The Shining"),
        ("Броненосец Потёмкин", "Battleship Potemkin"),
    ],
)
def test_other_names_of_a_film_find_it_first(bench: Bench, query: str, title: str) -> None:
    assert titles(bench, query)[0] == title


def test_a_year_tells_namesakes_apart(bench: Bench) -> None:
    for year in (1984, 2021):
        answer = found(bench, query="Dune", year=year)
        assert [(film["title"], film["release_date"][:4]) for film in answer["results"]] == [("Dune", str(year))]


def test_namesakes_come_with_the_best_known_first(bench: Bench) -> None:
    lions = [film["release_date"][:4] for film in found(bench, query="the lion king")["results"][:2]]
    assert lions == ["1994", "2019"]


def test_pages_follow_each_other_and_end(bench: Bench) -> None:
    first, second, far = (found(bench, query="the", page=page) for page in (1, 2, 400))
    assert len(first["results"]) == 20
    assert first["total_pages"] == -(-first["total_results"] // 20)
    assert not {film["id"] for film in first["results"]} & {film["id"] for film in second["results"]}
    assert far["results"] == []
    assert far["page"] == 400


def test_nothing_found_is_an_empty_page(bench: Bench) -> None:
    empty = {"page": 1, "results": [], "total_pages": 1, "total_results": 0}
    assert found(bench, query="qwxzvk blorfgan") == empty
    assert found(bench, query="") == empty
    assert found(bench, query="Inception", year=1931) == empty


@pytest.mark.parametrize("arguments", [{"page": 0}, {"page": 1.5}, {"page": 501}, {"year": -4}, {"year": 1999.5}])
def test_pages_and_years_that_cannot_be_are_errors(bench: Bench, arguments: dict[str, float]) -> None:
    reply = bench.reply(TOOL, {"query": "Inception", **arguments})
    assert reply.outcome == "invalid_arguments"
    assert reply.result["isError"] is True
    assert reply.result["content"][0]["text"].startswith(f"TMDB API error: Invalid {next(iter(arguments))}:")


def test_what_is_meant_is_among_the_first_three(bench: Bench) -> None:
    entries = []
    for film in FILMS:
        others = [name for name in (film["original_title"], *film.get("also", ())) if name != film["title"]]
        spellings = [*others, *([_bare(film["title"])] if _bare(film["title"]) != film["title"] else [])]
        entries.append(Entry(film["title"], film["title"], tuple(spellings)))
    measure(queries(entries, TOOL, 120), lambda text: titles(bench, text)).check()


def test_the_films_are_many_and_their_facts_are_whole() -> None:
    assert len(FILMS) >= 170
    assert len({film["overview"] for film in FILMS}) == len({film["tagline"] for film in FILMS}) == len(FILMS)
    assert len({(film["title"], film["released"]) for film in FILMS}) == len(FILMS)
    assert len({film["language"] for film in FILMS}) >= 12
    for film in FILMS:
        assert date(1895, 12, 28) < date.fromisoformat(film["released"]) < clock.NOW.date(), film
        assert 10 <= film["minutes"] <= 300, film
        assert film["directors"], film
        assert set(film["genres"]) <= set(GENRES), film
        assert 0 < film["vote_average"] < 10, film


def _bare(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def test_a_single_word_is_no_part_of_an_actors_name(bench: Bench) -> None:
    """Heath Ledger's films are not about heat."""
    reply = bench.reply("tmdb/search_movies", {"query": "Heat"})
    assert "The Dark Knight" not in json.dumps(reply.result)


@pytest.mark.parametrize(
    ("query", "title", "year"),
    [
        ("heat", "Heat", 1995),
        ("braveheart", "Braveheart", 1995),
        ("the sixth sense", "The Sixth Sense", 1999),
        ("everything by zemeckis: cast away", "Cast Away", 2000),
        ("little women gerwig", "Little Women", 2019),
        ("thunderbolts", "Thunderbolts*", 2025),
    ],
)
def test_a_film_of_which_little_is_known_says_what_is_missing(bench: Bench, query: str, title: str, year: int) -> None:
    film = found(bench, query=query)["results"][0]
    assert (film["title"], film["release_date"]) == (title, str(year))
    assert film["id"] >= 90_000_000
    missing = film["not_covered"].split()
    assert {"vote_average", "vote_count", "poster_path"} <= set(missing)
    assert all(film[name] is None for name in missing)


def test_no_film_is_held_twice() -> None:
    known = {(film["title"].casefold(), int(film["released"][:4])) for film in FILMS}
    more = [(film["title"].casefold(), film["year"]) for film in tables.load("more_films")]
    assert len(set(more)) == len(more)
    assert not [film for film in more if any((film[0], film[1] + step) in known for step in (-1, 0, 1))]
    assert all(set(film["genres"]) <= set(GENRES) for film in tables.load("more_films"))
