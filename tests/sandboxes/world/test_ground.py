"""Terrain, land, climate and air are steady and agree with what is known."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.sandboxes.world import air, climate, geo, land, roads, settlements, tables, terrain, zones
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Point
from tests.examples import examples

anywhere = settings(max_examples=examples(60), deadline=None)


def test_known_heights_are_met() -> None:
    for record in tables.load("peaks"):
        assert terrain.elevation(Point(record["lat"], record["lng"])) == pytest.approx(record["metres"], abs=8), record


def test_cities_are_as_high_as_they_are() -> None:
    off = [
        abs(terrain.elevation(Point(record["lat"], record["lng"])) - record["elevation"])
        for record in tables.load("cities")
    ]
    assert np.median(off) < 5
    assert max(off) < 120


@pytest.mark.slow
def test_well_known_cities_are_about_as_high_as_they_are() -> None:
    records = tables.load("city_heights")
    assert len(records) >= 250
    for record in records:
        found = terrain.elevation(Point(record["lat"], record["lng"]))
        assert found == pytest.approx(record["metres"], abs=25, rel=0.03), record


@pytest.mark.slow
def test_no_town_lies_under_the_sea() -> None:
    """Some are below its level, behind dikes or by the Caspian and the Dead Sea."""
    towns = settlements.settlements()
    points = [town.point for town in towns]
    found = terrain.elevations(np.array([point.lat for point in points]), np.array([point.lng for point in points]))
    wet = ~land.sea_mask(np.array([point.lat for point in points]), np.array([point.lng for point in points]))
    assert found[wet].min() > 0
    low = {town.name: metres for town, metres in zip(towns, found, strict=True) if metres < -8}
    assert set(low) <= {"Rasht", "Atyrau", "Astrakhan", "Balkanabat", "Jericho"}, low


def test_a_town_on_the_shore_is_dry() -> None:
    for name, lat, lng in (("Nice", 43.7031, 7.2661), ("Kiel", 54.3213, 10.1349), ("Tromsø", 69.6489, 18.9551)):
        assert 0 < terrain.elevation(Point(lat, lng)) <= 60, name
    assert terrain.elevation(Point(43.5, 7.6)) < 0, "the sea off Nice"


@pytest.mark.slow
def test_ways_between_well_known_cities_have_their_true_length() -> None:
    records = tables.load("road_lengths")
    assert len(records) >= 400
    for record in records:
        start, end = Point(record["lat"], record["lng"]), Point(record["to_lat"], record["to_lng"])
        assert roads.way(start, end).metres == pytest.approx(record["metres"], rel=1e-6), record
        assert roads.joined(start, end), record
        # From the edge of the town it is not much farther or nearer.
        edge = Point(start.lat + 0.04, start.lng)
        assert roads.way(edge, end).metres == pytest.approx(record["metres"], rel=0.25, abs=12_000), record


@anywhere
@given(st.floats(-89, 89), st.floats(-179, 179))
def test_the_ground_has_no_cliffs_of_a_kilometre_within_ten_steps(lat: float, lng: float) -> None:
    one, other = terrain.elevation(Point(lat, lng)), terrain.elevation(Point(lat + 1e-4, lng))
    if land.is_land(Point(lat, lng)) == land.is_land(Point(lat + 1e-4, lng)):
        assert abs(one - other) < 120


def test_many_points_at_once_are_the_same_as_one_by_one() -> None:
    lats, lngs = np.linspace(-70, 75, 90), np.linspace(-170, 170, 90)
    together = terrain.elevations(lats, lngs)
    alone = [terrain.elevation(Point(lat, lng)) for lat, lng in zip(lats, lngs, strict=True)]
    assert together == pytest.approx(alone, abs=0.02)


@pytest.mark.parametrize(
    ("lat", "lng", "dry"),
    [(48.85, 2.35, True), (0.0, -30.0, False), (43.5, -78.0, False), (-80.0, 0.0, True), (21.32, -157.83, True)],
)
def test_land_and_water_are_told_apart(lat: float, lng: float, dry: bool) -> None:
    assert land.is_land(Point(lat, lng)) is dry


def test_climate_is_true_to_the_cities() -> None:
    for record in tables.load("cities"):
        normal = climate.normals(Point(record["lat"], record["lng"]))
        assert normal.january == pytest.approx(record["january"], abs=6), record["id"]
        assert normal.july == pytest.approx(record["july"], abs=7), record["id"]


@anywhere
@given(st.floats(-85, 85), st.floats(-180, 180), st.integers(-700, 90))
def test_weather_and_air_change_little_within_an_hour(lat: float, lng: float, hours: int) -> None:
    point, when = Point(lat, lng), NOW + timedelta(hours=hours)
    now, later = climate.weather(point, when), climate.weather(point, when + timedelta(hours=1))
    assert abs(now.celsius - later.celsius) < 4
    assert abs(air.air(point, when).index - air.air(point, when + timedelta(hours=1)).index) <= 12


def test_dust_is_true_to_the_cities_over_a_year() -> None:
    moments = [NOW + timedelta(days=29 * month) for month in range(12)]
    for record in tables.load("cities")[::8]:
        point = Point(record["lat"], record["lng"])
        mean = sum(air.air(point, when).pm25 for when in moments) / len(moments)
        assert record["pm25"] / 2.6 < mean < record["pm25"] * 2.6 + 3, record["id"]


@anywhere
@given(st.floats(-90, 90), st.floats(-180, 180))
def test_every_point_has_a_zone_with_a_name(lat: float, lng: float) -> None:
    zone = zones.zone_at(Point(lat, lng))
    standard, saving = zones.offsets(zone, NOW)
    assert abs(standard) <= 14 * 3600
    assert saving in (0, 1800, 3600, -3600)
    assert zones.name(zone, standard, saving)


@anywhere
@given(st.floats(40, 52), st.floats(0, 28), st.floats(40, 52), st.floats(0, 28))
def test_ways_are_longer_than_lines_and_the_same_back(a: float, b: float, c: float, d: float) -> None:
    start, end = Point(a, b), Point(c, d)
    line, there, back = geo.distance(start, end), roads.way(start, end), roads.way(end, start)
    assert line <= there.metres <= 3 * line + 1
    assert there.metres == pytest.approx(back.metres, rel=1e-6, abs=0.01)
