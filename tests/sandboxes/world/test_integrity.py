"""One entity, one truth: what tables say fits the ground, the clock, and what other tables say."""

import re

import pytest

from m3bench.sandboxes.world import clock, tables
from m3bench.sandboxes.world.geo import Point, distance
from m3bench.sandboxes.world.land import is_land

TODAY = clock.NOW.date().isoformat()

ON_LAND = ("cities", "parks", "park_campgrounds", "park_visitor_centers", "streets")
"""Tables whose positions are on firm ground; landmarks and places may be bridges, piers, lakes and reefs."""

NEAR_KM = 3.0
"""The land mask has cells of a kilometre, so a harbour town may fall into the water."""


@pytest.mark.parametrize("name", ON_LAND)
def test_positions_are_on_land_where_they_must_be(name: str) -> None:
    step = NEAR_KM / 111
    for record in tables.load(name):
        if "lat" in record:
            around = [(record["lat"] + i * step, record["lng"] + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            assert any(is_land(Point(lat, lng)) for lat, lng in around), record


def test_nothing_was_published_after_the_clock() -> None:
    for record in tables.load("papers"):
        assert record["published"] <= clock.NOW.isoformat(), record["id"]
    for record in tables.load("park_alerts"):
        assert record["date"] <= TODAY, record["id"]
    for record in tables.load("books"):
        assert record["year"] <= clock.NOW.year, record["id"]


def test_what_is_announced_lies_ahead() -> None:
    for record in tables.load("park_events"):
        assert all(day > TODAY for day in record["dates"]), record["id"]


def test_numbers_of_books_have_the_right_check_digit() -> None:
    for record in tables.load("books"):
        digits = [int(digit) for digit in str(record["id"])]
        assert sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0, record["id"]


def test_articles_link_to_articles_and_read_like_none_other() -> None:
    articles = tables.load("articles")
    titles = {record["title"] for record in articles}
    for record in articles:
        assert set(record.get("links", ())) <= titles, record["title"]
    extracts = [record["extract"] for record in articles if record.get("extract")]
    assert len(set(extracts)) == len(extracts)
    openings = [" ".join(extract.split()[:8]) for extract in extracts]
    assert len(set(openings)) >= 0.97 * len(openings)


def test_places_have_names_that_no_pattern_made() -> None:
    names = [str(record["name"]) for record in tables.load("places")]
    assert not [name for name in names if re.search(r"\b(no|number|place|restaurant|hotel) ?\d+$", name.casefold())]
    assert len(set(names)) >= 0.9 * len(names)


def test_parks_are_where_their_campgrounds_are() -> None:
    parks = {record["id"]: Point(record["lat"], record["lng"]) for record in tables.load("parks")}
    for name in ("park_campgrounds", "park_visitor_centers"):
        for record in tables.load(name):
            if "lat" in record:
                away = distance(parks[record["park_id"]], Point(record["lat"], record["lng"]))
                assert away < 160_000, record["id"]
