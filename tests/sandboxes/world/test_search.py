"""Search finds what was meant, in whatever spelling."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.sandboxes.world.search import SearchIndex, fold, words

RECORDS: list[Mapping[str, Any]] = [
    {"title": "Eiffel Tower", "aliases": ["La Tour Eiffel", "埃菲尔铁塔"], "text": "An iron tower in Paris from 1889."},
    {"title": "Tower Bridge", "aliases": [], "text": "A bridge over the Thames in London."},
    {"title": "Golden Gate Bridge", "aliases": [], "text": "A suspension bridge at San Francisco."},
    {
        "title": "Neuschwanstein Castle",
        "aliases": ["Schloß Neuschwanstein"],
        "text": "A castle of king Ludwig in Bavaria.",
    },
    {"title": "Charles Bridge", "aliases": ["Karlův most"], "text": "A stone bridge over the Vltava in Prague."},
    {"title": "São Paulo Museum of Art", "aliases": ["MASP"], "text": "A museum in Brazil."},
    {"title": "Gyeongbokgung", "aliases": ["경복궁"], "text": "A palace in Seoul."},
    {"title": "City of Bath", "aliases": [], "text": "Roman baths in England."},
]
INDEX: SearchIndex[Mapping[str, Any]] = SearchIndex(RECORDS, {"title": 3, "aliases": 2, "text": 1})


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Eiffel Tower", "Eiffel Tower"),
        ("eifel towr", "Eiffel Tower"),
        ("tower eiffel", "Eiffel Tower"),
        ("tour eiffel", "Eiffel Tower"),
        ("埃菲尔铁塔", "Eiffel Tower"),
        ("goldengate", "Golden Gate Bridge"),
        ("golden gat", "Golden Gate Bridge"),
        ("schloss neuschwanstein", "Neuschwanstein Castle"),
        ("neuschwan", "Neuschwanstein Castle"),
        ("karluv most", "Charles Bridge"),
        ("charls brige", "Charles Bridge"),
        ("sao paulo museum", "São Paulo Museum of Art"),
        ("masp", "São Paulo Museum of Art"),
        ("경복궁", "Gyeongbokgung"),
        ("bridge thames", "Tower Bridge"),
        ("tower bridge", "Tower Bridge"),
        ("TOWER  BRIDGE!", "Tower Bridge"),
        ("bath cities", "City of Bath"),
    ],
)
def test_a_query_finds_the_record_first(query: str, title: str) -> None:
    assert INDEX.search(query, 3)[0][1]["title"] == title


@pytest.mark.parametrize("query", ["", "   ", "?!", "xqzv blorfgan", "wubbalubba", "qqqq"])
def test_nonsense_finds_nothing(query: str) -> None:
    assert INDEX.search(query, 3) == []


def test_a_record_that_answers_a_small_part_is_no_result() -> None:
    assert INDEX.search("xqzv blorfgan wubbalubba bridge", 3) == []


def test_more_prominent_records_win_between_equals() -> None:
    cities: list[dict[str, Any]] = [{"name": "Springfield", "size": 1}, {"name": "Springfield", "size": 9}]
    index = SearchIndex(cities, {"name": 1}, prior=lambda city: city["size"] / 10)
    assert [city["size"] for _, city in index.search("springfield", 2)] == [9, 1]


def test_only_kept_records_are_results() -> None:
    found = INDEX.search("bridge", 10, keep=lambda record: "Prague" in record["text"])
    assert [record["title"] for _, record in found] == ["Charles Bridge"]


def test_the_limit_holds() -> None:
    assert len(INDEX.search("bridge", 2)) == 2
    assert INDEX.search("bridge", 0) == []


def test_folding_forgets_case_accents_and_apostrophes() -> None:
    assert fold("Łódź St. Peter’s Straße Ærø İzmir") == "lodz st. peters strasse aero izmir"
    assert words("京都タワー hotel") == ["京都", "都タ", "タワ", "ワー", "hotel"]


@given(st.text(max_size=60))
def test_any_text_is_a_query_and_scores_fall(query: str) -> None:
    scores = [score for score, _ in INDEX.search(query, 20)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.parametrize(
    ("query", "title", "found"),
    [
        ("json", "Jason", False),
        ("java", "Javan rhinoceros", True),
        ("rust", "Ruse", False),
        ("mars", "Marsh", True),
        ("lmia", "Lima", True),
        ("parma", "Palma", False),
        ("linux", "Linus", False),
        ("redis", "Reds", False),
        ("tokio", "Tokyo", True),
        ("lodon", "London", True),
        ("pariss", "Paris", True),
        ("rooma", "Roma", True),
    ],
)
def test_a_short_word_is_found_misspelt_and_not_as_another_word(query: str, title: str, found: bool) -> None:
    assert bool(SearchIndex([{"name": title}], {"name": 1.0}).search(query)) is found


def test_a_short_word_that_is_there_stands_for_no_other() -> None:
    index = SearchIndex([{"name": "Nice"}, {"name": "Niece"}, {"name": "Pizza"}, {"name": "Piazza"}], {"name": 1.0})
    assert [record["name"] for _, record in index.search("nice")] == ["Nice"]
    assert [record["name"] for _, record in index.search("pizza")] == ["Pizza"]
