"""The air server answers for any place and hour it covers, and draws its tiles."""

import io
import json
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.examples import examples
from tests.sandboxes.servers.conftest import Bench

anywhere = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def call(bench: Bench, tool: str, **arguments: Any) -> Any:
    return json.loads(bench.text(f"google-air/{tool}", **arguments))


@anywhere
@given(st.floats(-90, 90), st.floats(-180, 180))
def test_any_position_on_earth_has_air(bench: Bench, lat: float, lng: float) -> None:
    index = call(bench, "current_conditions", lat=lat, lng=lng)["indexes"][0]
    assert index["code"] == "uaqi"
    assert 0 <= index["aqi"] <= 100
    assert index["category"].endswith("air quality")
    assert all(0 < part <= 1 for part in index["color"].values())


def test_crowded_cities_breathe_worse_than_islands(bench: Bench) -> None:
    delhi = call(bench, "current_conditions", lat=28.65, lng=77.23)["indexes"][0]["aqi"]
    ocean = call(bench, "current_conditions", lat=-45.0, lng=-120.0)["indexes"][0]["aqi"]
    assert delhi < 50 < 80 < ocean


def test_history_ends_where_the_forecast_begins(bench: Bench) -> None:
    spot = {"lat": 48.137, "lng": 11.576}
    past = call(bench, "history", **spot, startTime="2025-11-01T09:00:00Z", endTime="2025-11-01T12:00:00Z")["hoursInfo"]
    assert [hour["dateTime"][11:13] for hour in past] == ["12", "11", "10", "09"]
    assert past[0]["indexes"] == call(bench, "current_conditions", **spot)["indexes"]
    ahead = call(bench, "forecast", **spot, hours=3)["hourlyForecasts"]
    assert [hour["dateTime"][11:13] for hour in ahead] == ["13", "14", "15"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("current_conditions", {"lat": 91, "lng": 0}),
        ("forecast", {"lat": 0, "lng": 0, "hours": 97}),
        ("history", {"lat": 0, "lng": 0, "startTime": "yesterday", "endTime": "2025-11-01T00:00:00Z"}),
        ("history", {"lat": 0, "lng": 0, "startTime": "2020-01-01T00:00:00Z", "endTime": "2025-11-01T00:00:00Z"}),
        ("heatmap_tile", {"z": 2, "x": 4, "y": 0}),
        ("heatmap_tile", {"z": 17, "x": 0, "y": 0}),
        ("heatmap_tile", {"z": 2, "x": 0, "y": 0, "indexType": "RAINBOW"}),
    ],
)
def test_what_is_not_covered_is_refused_with_a_reason(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    reply = bench.reply(f"google-air/{tool}", arguments)
    assert reply.outcome == "invalid_arguments"
    text = reply.result["content"][0]["text"]
    assert text.startswith(f"Error executing tool {tool}: Client error '400 Bad Request' for url")
    assert "key=" not in text


@pytest.mark.parametrize("kind", ["US_AQI", "UAQI_RED_GREEN", "PM25_INDIGO_PERSIAN", "UNIVERSAL_AQI"])
def test_a_tile_is_a_half_transparent_png(bench: Bench, kind: str) -> None:
    reply = bench.reply("google-air/heatmap_tile", z=6, x=53, y=26, indexType=kind)
    image = Image.open(io.BytesIO(b64decode(reply.result["content"][0]["data"])))
    assert (image.format, image.size, image.mode) == ("PNG", (256, 256), "RGBA")
    extremes: Any = image.getchannel("A").getextrema()
    low, high = extremes
    assert 0 < low == high < 255


def test_neighbouring_tiles_meet_without_a_seam(bench: Bench) -> None:
    left, right = (
        Image.open(
            io.BytesIO(b64decode(bench.reply("google-air/heatmap_tile", z=10, x=x, y=388).result["content"][0]["data"]))
        )
        for x in (843, 844)
    )
    for y in range(0, 256, 16):
        here, there = left.getpixel((255, y)), right.getpixel((0, y))
        assert isinstance(here, tuple)
        assert isinstance(there, tuple)
        assert max(abs(a - b) for a, b in zip(here, there, strict=True)) <= 8
