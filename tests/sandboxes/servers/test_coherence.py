"""One world: two hundred towns drawn at random are the same towns for every server that knows them."""

import json
import random
import re
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from m3bench.sandboxes.world import clock, gazetteer_articles, geo, roads, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.settlements import Settlement, states
from tests.sandboxes.servers.conftest import Bench

NEAR_M = 25_000
LEAST_PEOPLE = 20_000


def _drawn(count: int) -> list[Settlement]:
    """Towns that their name, region and country tell from all others."""
    known = [
        town
        for town in settlements.settlements()
        if town.people >= LEAST_PEOPLE
        and settlements.exact(town.name, town.country, town.region if town.region else None) is town
        and settlements.exact(town.name, town.country) is town
    ]
    return random.Random(21).sample(known, count)


def _written(town: Settlement) -> str:
    region = states(town.country).get(town.region, "")
    return f"{town.name}, {region or settlements.countries()[town.country].name}"


@pytest.fixture(scope="module")
def towns() -> list[Settlement]:
    return _drawn(200)


@pytest.mark.slow
def test_the_map_finds_each_town_where_the_encyclopedia_says_it_is(bench: Bench, towns: list[Settlement]) -> None:
    for town in towns:
        said = bench.text("wiki/summary", title=_written(town))
        found = json.loads(bench.text("google-maps/geocode", address=_written(town)))["response"]["results"][0]
        where = Point(found["geometry"]["location"]["lat"], found["geometry"]["location"]["lng"])
        assert geo.distance(where, town.point) <= NEAR_M, town
        position = re.search(r"lies at ([\d.]+)° (north|south) and ([\d.]+)° (east|west)", said)
        if position:
            lat = float(position[1]) * (1 if position[2] == "north" else -1)
            lng = float(position[3]) * (1 if position[4] == "east" else -1)
            assert geo.distance(Point(lat, lng), town.point) <= 2000, town


@pytest.mark.slow
def test_height_and_clock_of_a_town_do_not_depend_on_who_is_asked(bench: Bench, towns: list[Settlement]) -> None:
    for town in towns[:100]:
        at = f"{town.point.lat},{town.point.lng}"
        stamp = int(clock.NOW.timestamp())
        given = {"lat": town.point.lat, "lng": town.point.lng, "timestamp": stamp}
        zone = json.loads(bench.text("google-maps/timezone", given))["response"]
        shown = zone["rawOffset"] + zone["dstOffset"]
        offset = datetime.fromtimestamp(stamp, UTC).astimezone(ZoneInfo(town.zone)).utcoffset()
        assert offset is not None
        assert shown == offset.total_seconds(), town
        alone = json.loads(bench.text("google-maps/elevation_by_locations", locations=[at]))["response"]["results"]
        both = json.loads(bench.text("google-maps/elevation_by_locations", locations=["0,0", at]))["response"][
            "results"
        ]
        assert alone[0] == both[1]
        assert -450 < alone[0]["elevation"] < 5500


def test_the_weather_is_that_of_the_town_asked_for(bench: Bench, towns: list[Settlement]) -> None:
    for town in towns[:60]:
        assert town.name in bench.text("weather/get_weather", location=_written(town)), town


def test_encyclopedia_and_tables_agree_on_every_town(towns: list[Settlement]) -> None:
    for town in towns:
        article = gazetteer_articles.article(_written(town))
        assert article is not None
        assert f"{town.people:,}" in article["extract"]
        assert town.zone in article["extract"]


def test_the_air_of_this_hour_is_the_same_now_and_as_history(bench: Bench, towns: list[Settlement]) -> None:
    hour = clock.NOW.strftime("%Y-%m-%dT%H:00:00Z")
    for town in towns[:60]:
        at = {"lat": town.point.lat, "lng": town.point.lng}
        now = json.loads(bench.text("google-air/current_conditions", at))
        past = json.loads(bench.text("google-air/history", {**at, "startTime": hour, "endTime": hour}))
        assert now["regionCode"] == past["regionCode"] == town.country.lower(), town
        assert [entry["indexes"] for entry in past["hoursInfo"] if entry["dateTime"] == hour] == [now["indexes"]], town


@pytest.mark.slow
def test_every_way_of_asking_for_a_road_gives_its_one_length(bench: Bench, towns: list[Settlement]) -> None:
    """From each town to the next one of its country, by route, directions and matrix, and the same way back."""
    ordered = sorted(towns, key=lambda town: (town.country, town.name))
    pairs = [
        (one, other)
        for one, other in pairwise(ordered)
        if one.country == other.country and roads.joined(one.point, other.point)
    ]
    assert len(pairs) >= 25
    for one, other in pairs[:25]:
        here, there = (f"{town.point.lat},{town.point.lng}" for town in (one, other))
        ends = {"origin": _stop(one), "destination": _stop(other), "travelMode": "DRIVE"}
        (route,) = json.loads(bench.text("google-maps/compute_route", ends))["response"]["routes"]
        asked = {"origin": here, "destination": there, "mode": "driving"}
        legs = json.loads(bench.text("google-maps/directions_legacy", asked))["response"]["routes"][0]["legs"]
        rows = json.loads(
            bench.text("google-maps/distance_matrix", origins=[here, there], destinations=[here, there], mode="driving")
        )["response"]["rows"]
        metres = rows[0]["elements"][1]["distance"]["value"]
        assert metres == route["distanceMeters"] == sum(leg["distance"]["value"] for leg in legs), (one, other)
        assert abs(metres - rows[1]["elements"][0]["distance"]["value"]) <= 1, (one, other)
        assert metres >= geo.distance(one.point, other.point) - 1, (one, other)


def _stop(town: Settlement) -> dict[str, object]:
    return {"location": {"latLng": {"latitude": town.point.lat, "longitude": town.point.lng}}}
