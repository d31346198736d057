"""The search over all tables: it reads little of them and finds what a search of everything would find."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.sandboxes.world import catalogue, tables
from m3bench.sandboxes.world.catalogue import reader
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record
from tests.examples import examples

TABLES = ("articles", "companies", "films", "landmarks", "products")


def whole(name: str) -> SearchIndex[Record]:
    """An index of all records of a table."""
    records = tables.load(name)
    return SearchIndex(records, catalogue.fields_of(records))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", TABLES)
def test_what_is_found_is_what_a_search_of_everything_finds(name: str) -> None:
    dice = random.Random(name)
    index, records = whole(name), tables.load(name)
    known = [word for record in dice.sample(records, 12) for value in record.values() for word in words(str(value))]
    queries = ["eiffel tower", "10115", "the", "newyork", "o'hare", 'a "b"', "München", "東京", "Москва", "zzzz", ""]
    queries += [" ".join(dice.sample(known, dice.randint(1, 3))) for _ in range(6)]
    for query in [*queries, *(misspelt(query, dice) for query in queries[-6:])]:
        wanted = [(score, name, record) for score, record in index.search(query, 5)]
        assert catalogue.search(query, [name], 5) == sorted(wanted, key=lambda one: (-one[0], one[1])), query


def misspelt(text: str, dice: random.Random) -> str:
    """A text with a letter more, less, other, or two that changed places."""
    at = dice.randrange(max(1, len(text) - 1))
    middle = dice.choice(
        [text[at : at + 2][::-1], text[at + 1 : at + 2], f"q{text[at : at + 2]}", f"q{text[at + 1 :][:1]}"]
    )
    return text[:at] + middle + text[at + 2 :]


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.text("abcdé -'\"", min_size=1, max_size=24), st.text("abcdé ", min_size=1, max_size=14))
def test_no_text_that_answers_is_passed_over(text: str, query: str) -> None:
    found = SearchIndex([{"id": "1", "name": text}], {"name": 1.0}).search(query)
    if found:
        assert reader(query)(text)


def test_the_lines_of_a_table_are_its_records() -> None:
    for name in tables.names():
        assert len(tables.lines(name)) == len(tables.load(name)), name
