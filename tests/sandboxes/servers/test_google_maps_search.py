"""Search tools find what was meant: queries made by rule from the world."""

import json
from collections.abc import Callable

import pytest

from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

Prepare = Callable[[str], Bench]


def _landmarks() -> list[Entry]:
    return [Entry(record["map_id"], record["name"], tuple(record["aliases"])) for record in tables.load("landmarks")]


def _uniquely_named_places() -> list[Entry]:
    """Places that are the only ones of their name: a branch of a chain cannot be told by its name."""
    records = tables.load("places")
    names = [record["name"] for record in records]
    return [
        Entry(record["id"], record["name"])
        for record in records
        if names.count(record["name"]) == 1 and len(record["name"]) > 7 and "rating" in record
    ]


def _cities() -> list[Entry]:
    return [Entry(record["name"], record["name"], tuple(record["aliases"])) for record in tables.load("cities")]


def test_text_search_finds_landmarks(bench: Bench) -> None:
    def search(text: str) -> list[str]:
        answer = json.loads(bench.text("google-maps/places_text_search", query=text))
        return [result["place_id"] for result in answer["response"]["results"]]

    measure(queries(_landmarks(), "landmarks"), search).check()


def test_text_search_finds_businesses_and_institutions(bench: Bench) -> None:
    def search(text: str) -> list[str]:
        answer = json.loads(bench.text("google-maps/places_text_search", query=text))
        return [result["place_id"] for result in answer["response"]["results"]]

    measure(queries(_uniquely_named_places(), "places"), search).check()


def test_geocoding_finds_landmarks(bench: Bench) -> None:
    def search(text: str) -> list[str]:
        answer = json.loads(bench.text("google-maps/geocode", address=text))
        return [result["place_id"] for result in answer["response"]["results"]]

    measure(queries(_landmarks(), "geocode"), search).check()


def test_geocoding_finds_cities(bench: Bench) -> None:
    def search(text: str) -> list[str]:
        results = json.loads(bench.text("google-maps/geocode", address=text))["response"]["results"]
        return [
            component["long_name"]
            for result in results
            for component in result["address_components"]
            if "locality" in component["types"]
        ]

    measure(queries(_cities(), "cities"), search).check()


def test_weather_finds_cities(bench: Bench) -> None:
    def search(text: str) -> list[str]:
        reply = bench.reply("weather/get_weather", location=text)
        sentence = reply.result["content"][0]["text"]
        return [sentence.removeprefix("Current weather in ").split(",")[0]] if reply.outcome == "success" else []

    measure(queries(_cities(), "weather"), search).check()


@pytest.mark.parametrize("nothing", ["", "   ", "?!"])
def test_a_query_without_words_is_an_invalid_request_or_finds_nothing(bench: Bench, nothing: str) -> None:
    answer = json.loads(bench.text("google-maps/places_text_search", query=nothing))
    assert answer["response"]["status"] in ("INVALID_REQUEST", "ZERO_RESULTS")
    assert answer["response"]["results"] == []


@pytest.mark.parametrize(
    "address", ["Manasquan Inlet, NJ", "Manasquan Inlet, New Jersey", "Manasquan Inlet New Jersey"]
)
def test_geocoding_reads_a_state_short_and_written_out(bench: Bench, address: str) -> None:
    answer = json.loads(bench.text("google-maps/geocode", address=address))
    assert "Point Pleasant Beach" in answer["response"]["results"][0]["formatted_address"]


@pytest.mark.parametrize("query", ["Belmar Marina, NJ", "Belmar Marina, New Jersey"])
def test_text_search_finds_a_place_named_after_its_kind_with_its_state(bench: Bench, query: str) -> None:
    answer = json.loads(bench.text("google-maps/places_text_search", query=query))
    assert [result["name"] for result in answer["response"]["results"]] == ["Belmar Marina"]


@pytest.mark.parametrize(
    ("text", "lat", "lng"),
    [
        ("Cologne, Germany", 50.94, 6.96),
        ("Saigon", 10.78, 106.70),
        ("Bangalore", 12.97, 77.59),
        ("Constantinople", 41.01, 28.95),
        ("東京", 35.69, 139.69),
        ("Москва", 55.75, 37.62),
        ("Narita airport", 35.77, 140.39),
        ("Flughafen Wien", 48.11, 16.57),
        ("GVA", 46.24, 6.11),
        ("350 5th Ave, New York", 40.748, -73.986),
        ("Trafalger Square", 51.508, -0.128),
        ("Loch Ness, Scotland", 57.32, -4.42),
        ("Bali", -8.41, 115.19),
    ],
)
def test_other_names_codes_and_slips_lead_to_what_was_meant(bench: Bench, text: str, lat: float, lng: float) -> None:
    found = json.loads(bench.text("google-maps/geocode", address=text))["response"]["results"][0]
    assert "partial_match" not in found
    where = found["geometry"]["location"]
    assert abs(where["lat"] - lat) < 0.15
    assert abs(where["lng"] - lng) < 0.15


@pytest.mark.parametrize("text", ["Trafalgar Square, Chicago", "Zorblax airport", "Loch Quokka", "Cologne, Minnesota"])
def test_a_name_that_lies_elsewhere_is_not_taken_for_another(bench: Bench, text: str) -> None:
    reply = json.loads(bench.reply("google-maps/geocode", {"address": text}).result["content"][0]["text"])
    found = reply["response"]["results"]
    assert all(result.get("partial_match") for result in found)


def test_text_search_knows_well_known_spots(bench: Bench) -> None:
    for query, name in (("Central Park Zoo", "Central Park Zoo"), ("Uffizi Gallery", "Uffizi Gallery")):
        answer = json.loads(bench.text("google-maps/places_text_search", query=query))
        assert answer["response"]["results"][0]["name"].startswith(name)


@pytest.mark.parametrize("name", ["Echo Park Lodge", "Dodger Hill Inn", "Elysian Park"])
def test_a_name_with_its_town_is_found_before_what_one_of_its_words_is_a_kind_of(bench: Bench, name: str) -> None:
    answer = json.loads(bench.text("google-maps/places_text_search", query=f"{name}, Los Angeles"))
    assert answer["response"]["results"][0]["name"] == name
