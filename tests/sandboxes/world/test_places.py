"""The places of the world: enough of them, where they say they are, each with one id."""

import math
from collections import Counter

import pytest

from m3bench.sandboxes.world import geo, hours, land, placeids, places, settlements, tables
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.streets import streets

WATERSIDE_M = 3500.0


def test_the_world_is_as_large_as_promised() -> None:
    cities = tables.load("cities")
    assert len(cities) >= 60
    assert {settlements.countries()[city["country"]].continent for city in cities} == {
        *("AF", "AN", "AS", "EU", "NA", "OC", "SA"),
    }
    assert len(tables.load("landmarks")) >= 90
    assert len(tables.load("places")) >= 1500
    assert sum(count >= 5 for count in Counter(place.types[0] for place in places.places()).values()) >= 25


def test_ids_are_unique_across_places_and_landmarks() -> None:
    assert len(places.by_id()) == len(places.places())
    assert all(place.id.startswith("ChIJ") for place in places.places())


def test_every_city_and_landmark_names_countries_that_exist() -> None:
    known = set(settlements.countries())
    for table in ("cities", "towns", "landmarks", "streets", "peaks", "places"):
        assert {record["country"] for record in tables.load(table)} <= known, table


def test_landmarks_and_places_lie_near_their_city() -> None:
    for place in places.places():
        if place.city_id is not None:
            city = settlements.by_city()[place.city_id]
            assert geo.distance(place.point, city.point) < 62_000, place.name


def test_places_lie_on_land_or_by_the_water() -> None:
    for place in places.places():
        if {"natural_feature", "airport"} & set(place.types) or land.is_land(place.point):
            continue
        ring = [
            geo.destination(place.point, angle, WATERSIDE_M * share)
            for angle in range(0, 360, 30)
            for share in (0.3, 1)
        ]
        assert any(land.is_land(point) for point in ring), (place.name, place.point)


def test_cities_lie_on_land_and_people_live_there() -> None:
    for city in tables.load("cities"):
        assert city["people"] > 0
        point = Point(city["lat"], city["lng"])
        ring = [geo.destination(point, angle, 2000) for angle in range(0, 360, 30)]
        assert land.is_land(point) or any(land.is_land(near) for near in ring), city["id"]


def test_facts_are_not_from_the_future_and_not_out_of_scale() -> None:
    for record in tables.load("landmarks"):
        assert record.get("year", 0) <= 2025
        assert 0 < record.get("height", 1) < 9000
        assert 20 < len(record["fact"]) < 220


def test_ratings_hours_and_prices_vary_like_real_ones() -> None:
    eating = [place for place in places.places() if "restaurant" in place.types]
    assert len({place.rating for place in eating}) > 8
    assert len({place.hours for place in eating}) > 15
    assert {place.price for place in eating} == {1, 2, 3, 4}
    assert all(2 <= (place.rating or 3) <= 5 for place in places.places())


def test_names_are_no_pattern() -> None:
    names = Counter(place.name for place in places.places())
    assert max(names.values()) <= 8
    firsts = Counter(place.name.split()[0] for place in places.places() if "restaurant" in place.types)
    assert firsts.most_common(1)[0][1] < 40


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "place", [place for place in places.places() if place.hours][::40], ids=lambda place: place.name
)
def test_hours_can_be_read(place: places.Place) -> None:
    assert len(hours.descriptions(place.hours)) == 7
    assert hours.periods(place.hours)


def test_house_numbers_and_positions_are_each_others_inverse() -> None:
    for street in streets():
        for number in (street.low, (street.low + street.high) // 2, street.high):
            point = street.position(number)
            assert abs(street.number_at(point) - number) <= 1, street.id
            assert street.distance(point) < 12


def test_an_id_speaks_for_its_position() -> None:
    for place in places.places()[::50]:
        there = placeids.position(placeids.point_id(place.point, "address"), "address")
        assert there is not None
        assert geo.distance(there, place.point) < 0.1
        assert placeids.position(place.id, "address") is None


def test_the_known_distance_between_two_landmarks() -> None:
    named = {place.name: place for place in places.places()}
    off = geo.distance(named["Eiffel Tower"].point, named["Big Ben"].point)
    assert math.isclose(off, 341_000, rel_tol=0.01)
