"""The weather server: one sentence, for ZIP codes, US cities and cities elsewhere."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.sandboxes.world.climate import weather
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Point
from tests.examples import examples
from tests.sandboxes.servers.conftest import Bench

SENTENCE = re.compile(r"Current weather in (.+): (-?\d+\.\d)°([CF]), wind (\d+\.\d) (mph|km/h), code (\d+)\.")
WMO = {0, 1, 2, 3, 45, 48, 51, 53, 55, 61, 63, 65, 71, 73, 75, 80, 81, 82, 95}


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("Highlands, NJ", "Highlands, NJ"),
        ("10001", "New York, NY 10001"),
        ("84767-1234", "Springdale, UT 84767"),
        ("springfield, illinois", "Springfield, IL"),
        ("Frenchtown, NJ", "Frenchtown, NJ"),
        ("London, UK", "London, United Kingdom"),
        ("Paris, FR", "Paris, France"),
        ("Paris, TX", "Paris, TX"),
        ("Washington, D.C.", "Washington, DC"),
    ],
)
def test_the_sentence_names_the_place(bench: Bench, location: str, place: str) -> None:
    match = SENTENCE.fullmatch(bench.text("weather/get_weather", location=location))
    assert match is not None
    assert match[1] == place
    assert int(match[6]) in WMO


def test_units_change_the_numbers_not_the_weather(bench: Bench) -> None:
    american = SENTENCE.fullmatch(bench.text("weather/get_weather", location="Tokyo, Japan"))
    metric = SENTENCE.fullmatch(bench.text("weather/get_weather", location="Tokyo, Japan", units="metric"))
    assert american is not None
    assert metric is not None
    assert (american[3], metric[3]) == ("F", "C")
    assert float(american[2]) == pytest.approx(float(metric[2]) * 1.8 + 32, abs=0.1)
    assert american[6] == metric[6]


@pytest.mark.parametrize("location", ["99999", "Xqzvblorf", "", ", NJ"])
def test_an_unknown_place_is_an_error_that_names_it(bench: Bench, location: str) -> None:
    text = bench.error("weather/get_weather", location=location)
    assert text == f"Error executing tool get_weather: Geocoding failed for '{location}'"


@settings(max_examples=examples(60), deadline=None)
@given(st.floats(-90, 90), st.floats(-180, 180))
def test_any_position_on_earth_has_plausible_weather(lat: float, lng: float) -> None:
    now = weather(Point(lat, lng), NOW)
    assert -75 < now.celsius < 50
    assert 0 < now.wind_kmh < 150
    assert now.code in WMO


def test_the_poles_are_colder_than_the_tropics_and_heights_than_plains() -> None:
    assert weather(Point(-85, 0), NOW).celsius < -20 < 15 < weather(Point(1.3, 103.8), NOW).celsius
    assert weather(Point(27.98, 86.92), NOW).celsius < weather(Point(26.4, 86.9), NOW).celsius - 15
