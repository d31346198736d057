"""The maps server: places, addresses, routes and ground agree with each other and with the globe."""

import io
import json
import tracemalloc
from base64 import b64decode
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from m3bench.sandboxes.world import geo, noise, tables
from m3bench.sandboxes.world.geo import Point
from tests.examples import examples
from tests.sandboxes.servers.conftest import Bench

PARIS, LYON = "48.8534,2.3488", "45.7485,4.8467"
anywhere = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)


def call(bench: Bench, tool: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(bench.text(f"google-maps/{tool}", **arguments))
    return answer


def response(bench: Bench, tool: str, **arguments: Any) -> Any:
    return call(bench, tool, **arguments)["response"]


def some(table: str, count: int) -> list[Any]:
    records = tables.load(table)
    return [records[noise.integer(0, len(records) - 1, "sample", table, number)] for number in range(count)]


def test_a_town_called_after_a_kind_of_thing_is_not_taken_for_such_a_thing(bench: Bench) -> None:
    assert "Queens, NY" in bench.text("google-maps/geocode", address="JFK airport")
    assert "ZERO_RESULTS" in bench.text("google-maps/geocode", address="Zwentibold airport")
    assert "Airport, HI" in bench.text("google-maps/geocode", address="Airport, Hawaii")


def test_geocoding_a_landmark_and_back_returns_it(bench: Bench) -> None:
    for record in some("landmarks", 25):
        found = response(bench, "geocode", address=f"{record['name']}, {record['address']}")["results"][0]
        assert found["place_id"] == record["map_id"], record["name"]
        back = response(bench, "reverse_geocode", **found["geometry"]["location"])["results"][0]
        assert back["place_id"] == record["map_id"], record["name"]


@pytest.mark.parametrize(
    ("address", "landmark"),
    [
        ("Mount Fuji, Japan", "mount-fuji"),
        ("Stonehenge, Wiltshire, England", "stonehenge"),
        ("Uluru, Northern Territory, Australia", "uluru"),
        ("Central Park, New York", "central-park"),
    ],
)
def test_a_sight_is_found_with_its_country_or_state(bench: Bench, address: str, landmark: str) -> None:
    record = next(record for record in tables.load("landmarks") if record["id"] == landmark)
    assert response(bench, "geocode", address=address)["results"][0]["place_id"] == record["map_id"]


def test_a_sight_is_not_found_in_the_wrong_state(bench: Bench) -> None:
    assert response(bench, "geocode", address="Big Ben, Texas")["results"][0]["formatted_address"] == "Texas, USA"


def test_geocoding_a_house_and_back_returns_the_house(bench: Bench) -> None:
    for record in some("streets", 25):
        number = (record["low"] + record["high"]) // 2
        found = response(bench, "geocode", address=f"{number} {record['name']}, {record['tail']}")["results"][0]
        point = found["geometry"]["location"]
        assert geo.distance(Point(record["lat"], record["lng"]), Point(point["lat"], point["lng"])) < record["length"]
        back = [result["formatted_address"] for result in response(bench, "reverse_geocode", **point)["results"]]
        assert found["formatted_address"] in back


def test_a_known_place_in_every_search_has_the_position_that_details_show(bench: Bench) -> None:
    found = response(bench, "places_text_search", query="museum in Paris", maxResultCount=5)["results"]
    assert found
    for result in found:
        details = response(bench, "place_details", place_id=result["place_id"])
        assert details["location"]["latitude"] == result["geometry"]["location"]["lat"]
        assert details["displayName"]["text"] == result["name"]


def test_an_address_is_understood_in_parts_and_says_so(bench: Bench) -> None:
    result = response(bench, "geocode", address="99 Quibblewick Crescent, Bristol, UK")["results"][0]
    assert result["partial_match"] is True
    assert result["types"] == ["locality", "political"]


@pytest.mark.parametrize(
    ("address", "lat", "lng"),
    [
        ("RGM9+4V, Sausalito, CA 94965", 37.8328, -122.4803),
        ("8FW4V75V+8Q", 48.8584, 2.2945),
        ("84767", 37.19, -113.0),
        ("48.5256,-113.9953", 48.5256, -113.9953),
        ("Paris, TX", 33.66, -95.56),
        ("Paris", 48.85, 2.35),
    ],
)
def test_codes_coordinates_and_namesakes_are_told_apart(bench: Bench, address: str, lat: float, lng: float) -> None:
    point = response(bench, "geocode", address=address)["results"][0]["geometry"]["location"]
    assert geo.distance(Point(point["lat"], point["lng"]), Point(lat, lng)) < 6000


def test_nothing_answers_to_nonsense(bench: Bench) -> None:
    assert response(bench, "geocode", address="xqzv blorfgan")["status"] == "ZERO_RESULTS"
    assert response(bench, "geocode", address=" ")["status"] == "INVALID_REQUEST"
    assert response(bench, "directions_legacy", origin="xqzv blorfgan", destination=PARIS)["status"] == "NOT_FOUND"
    rows = response(bench, "distance_matrix", origins=["xqzv blorfgan"], destinations=[PARIS])["rows"]
    assert rows == [{"elements": [{"status": "NOT_FOUND"}]}]


@anywhere
@given(latitudes, longitudes)
def test_any_position_on_earth_has_an_answer(bench: Bench, lat: float, lng: float) -> None:
    assert response(bench, "reverse_geocode", lat=lat, lng=lng)["status"] in ("OK", "ZERO_RESULTS")
    zone = response(bench, "timezone", lat=lat, lng=lng)
    assert zone["status"] == "OK"
    assert abs(zone["rawOffset"]) <= 14 * 3600
    height = response(bench, "elevation_by_locations", locations=[f"{lat},{lng}"])["results"][0]["elevation"]
    assert -12_000 < height < 8_900


@anywhere
@given(st.floats(-60, 70), longitudes, st.integers(1, 50_000))
def test_nearby_search_never_leaves_the_circle(bench: Bench, lat: float, lng: float, radius: int) -> None:
    centre = {"latitude": lat, "longitude": lng}
    found = response(bench, "places_nearby_search", location=centre, radiusMeters=radius)["places"]
    for place in found:
        there = Point(place["location"]["latitude"], place["location"]["longitude"])
        assert geo.distance(Point(lat, lng), there) <= radius


def test_nearby_search_keeps_to_circle_and_types_where_there_is_plenty(bench: Bench) -> None:
    for record in some("cities", 20):
        centre = Point(record["lat"], record["lng"])
        arguments = {"location": {"latitude": centre.lat, "longitude": centre.lng}, "radiusMeters": 2500}
        mask = "places.location,places.types"
        found = response(bench, "places_nearby_search", **arguments, includedTypes=["restaurant", "cafe"], fields=mask)
        for place in found["places"]:
            assert geo.distance(centre, Point(*place["location"].values())) <= 2500
            assert {"restaurant", "cafe"} & set(place["types"])


def test_both_forms_of_a_nearby_search_are_one(bench: Bench) -> None:
    circle = {"center": {"latitude": 43.2993, "longitude": 5.3647}, "radius": 3000}
    one = call(bench, "places_nearby_search", locationRestriction={"circle": circle}, includedTypes=["lodging"])
    other = call(bench, "places_nearby_search", location=circle["center"], radiusMeters=3000, includedTypes=["lodging"])
    assert one == other
    assert one["response"]["places"]


def test_a_field_mask_chooses_what_is_told(bench: Bench) -> None:
    place = "ChIJLU7jZClu5kcR4PcOOO6p3I0"
    assert response(bench, "place_details", place_id=place, fields="displayName.text,rating").keys() == {
        "displayName",
        "rating",
    }
    assert "No such" not in bench.error("google-maps/place_details", place_id=place, fields="colour")
    assert "HTTP 404 Not Found" in bench.error("google-maps/place_details", place_id="ChIJnothing")


def test_ids_of_towns_and_houses_resolve_too(bench: Bench) -> None:
    for address in ("Bologna, Italy", "12 Rue Oberkampf, Paris"):
        result = response(bench, "geocode", address=address)["results"][0]
        details = response(bench, "place_details", place_id=result["place_id"])
        assert details["formattedAddress"] == result["formatted_address"]


def test_who_avoids_tolls_drives_farther_where_there_are_any(bench: Bench) -> None:
    def metres(start: str, end: str, **given: Any) -> int:
        points = [tuple(map(float, at.split(","))) for at in (start, end)]
        origin, destination = ({"location": {"latLng": {"latitude": lat, "longitude": lng}}} for lat, lng in points)
        (route,) = response(bench, "compute_route", origin=origin, destination=destination, **given)["routes"]
        return int(route["distanceMeters"])

    berlin, munich = "52.5244,13.4105", "48.1374,11.5755"
    assert metres(PARIS, LYON, avoidTolls=True) > metres(PARIS, LYON, avoidTolls=False) == metres(PARIS, LYON)
    assert metres(PARIS, LYON, travelMode="WALK", avoidTolls=True) == metres(PARIS, LYON, travelMode="WALK")
    assert metres(berlin, munich, avoidTolls=True) == metres(berlin, munich)


def test_no_answer_shows_a_key(bench: Bench) -> None:
    texts = [
        bench.text("google-maps/geocode", address="Paris"),
        bench.text("google-maps/static_map", center="Paris", size="64x64"),
        bench.text("google-maps/geolocate_home"),
        bench.text("google-maps/street_view_image", location="Paris"),
    ]
    assert not any('"key"' in text or "key=" in text for text in texts)


def pairs_on_land() -> list[tuple[Point, Point]]:
    towns = [record for record in some("towns", 400) if record["country"] in ("FR", "DE", "US", "CN", "BR", "PL")]
    points = [Point(record["lat"], record["lng"]) for record in towns]
    close = [(a, b) for a, b in pairwise(points) if 1000 < geo.distance(a, b) < 3_000_000]
    return close[:25]


def text_of(point: Point) -> str:
    return f"{point.lat},{point.lng}"


@pytest.mark.slow
def test_matrix_route_and_line_agree(bench: Bench) -> None:
    compared = 0
    for a, b in pairs_on_land():
        line = geo.distance(a, b)
        matrix = response(bench, "distance_matrix", origins=[text_of(a)], destinations=[text_of(b)])
        element = matrix["rows"][0]["elements"][0]
        directions = response(bench, "directions_legacy", origin=text_of(a), destination=text_of(b))
        if element["status"] != "OK":
            assert directions["status"] == element["status"]
            continue
        compared += 1
        leg = directions["routes"][0]["legs"][0]
        assert leg["distance"] == element["distance"]
        assert leg["duration"] == element["duration"]
        assert line <= leg["distance"]["value"] <= 3 * line
        route = response(
            bench,
            "compute_route",
            origin={"location": {"latLng": {"latitude": a.lat, "longitude": a.lng}}},
            destination={"location": {"latLng": {"latitude": b.lat, "longitude": b.lng}}},
        )["routes"][0]
        assert route["distanceMeters"] == leg["distance"]["value"]
        assert route["duration"] == f"{leg['duration']['value']}s"
        drawn = geo.decode_polyline(route["polyline"]["encodedPolyline"])
        length = sum(geo.distance(p, q) for p, q in pairwise(drawn))
        assert length == pytest.approx(route["distanceMeters"], rel=0.03)
    assert compared >= 8


def test_ways_keep_the_triangle_inequality_nearly(bench: Bench) -> None:
    cities = [f"{record['lat']},{record['lng']}" for record in tables.load("cities") if record["country"] in "FRDEITES"]
    rows = response(bench, "distance_matrix", origins=cities[:10], destinations=cities[:10])["rows"]
    metres = [[element["distance"]["value"] for element in row["elements"]] for row in rows]
    for i in range(len(metres)):
        for j in range(len(metres)):
            for k in range(len(metres)):
                assert metres[i][k] <= 1.2 * (metres[i][j] + metres[j][k]) + 50


@pytest.mark.parametrize("destination", [LYON, "48.8584,2.2945", "48.8540,2.3490"])
def test_walking_is_slower_than_cycling_and_that_than_driving(bench: Bench, destination: str) -> None:
    seconds = []
    for mode in ("walking", "bicycling", "driving"):
        found = response(bench, "distance_matrix", origins=[PARIS], destinations=[destination], mode=mode)
        seconds.append(found["rows"][0]["elements"][0]["duration"]["value"])
    assert seconds == sorted(seconds, reverse=True)
    assert len(set(seconds)) == 3


def test_steps_add_up_and_join(bench: Bench) -> None:
    leg = response(bench, "directions_legacy", origin=PARIS, destination=LYON)["routes"][0]["legs"][0]
    assert sum(step["distance"]["value"] for step in leg["steps"]) == leg["distance"]["value"]
    assert sum(step["duration"]["value"] for step in leg["steps"]) == leg["duration"]["value"]
    for step, following in pairwise(leg["steps"]):
        assert step["end_location"] == following["start_location"]
    assert leg["steps"][0]["start_location"] == leg["start_location"]
    assert leg["steps"][-1]["end_location"] == leg["end_location"]


def test_no_road_crosses_an_ocean(bench: Bench) -> None:
    assert response(bench, "directions_legacy", origin=PARIS, destination="New York")["status"] == "ZERO_RESULTS"
    paris, york = {"address": "Paris"}, {"address": "New York"}
    assert response(bench, "compute_route", origin=paris, destination=york) == {}


def test_stops_between_are_visited_in_the_best_order_when_asked(bench: Bench) -> None:
    stops = [{"address": name} for name in ("Lyon, France", "Orléans, France", "Dijon, France")]
    arguments = {"origin": {"address": "Paris"}, "destination": {"address": "Marseille"}, "intermediates": stops}
    given_order = response(bench, "compute_route", **arguments)["routes"][0]
    best = response(bench, "compute_route", **arguments, optimizeWaypointOrder=True, fields="*")["routes"][0]
    assert best["optimizedIntermediateWaypointIndex"][0] == 1
    assert best["distanceMeters"] < given_order["distanceMeters"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"origin": {}, "destination": {"address": "Paris"}},
        {"origin": {"placeId": "ChIJnothing"}, "destination": {"address": "Paris"}},
        {"origin": {"address": "Lyon"}, "destination": {"location": {"latLng": {"latitude": 95, "longitude": 0}}}},
        {"origin": {"address": "Lyon"}, "destination": {"address": "Paris"}, "travelMode": "FLY"},
        {"origin": {"address": "Lyon"}, "destination": {"address": "Paris"}, "fields": "roads.length"},
        {
            "origin": {"address": "Lyon"},
            "destination": {"address": "Paris"},
            "travelMode": "WALK",
            "routingPreference": "TRAFFIC_AWARE",
        },
    ],
)
def test_a_route_that_makes_no_sense_is_refused(bench: Bench, arguments: dict[str, Any]) -> None:
    reply = bench.reply("google-maps/compute_route", arguments)
    assert reply.outcome == "invalid_arguments"
    assert "HTTP 400 Bad Request" in reply.result["content"][0]["text"]


def test_mountains_are_higher_than_coasts(bench: Bench) -> None:
    places = ["37.7456,-119.5936", "44.4605,-110.8281", "33.7701,-118.1937", "25.7743,-80.1937"]
    heights = [r["elevation"] for r in response(bench, "elevation_by_locations", locations=places)["results"]]
    assert min(heights[:2]) > max(heights[2:]) + 500
    along = response(bench, "elevation_along_path", path=["46.0207,7.7491", "45.9764,7.6586"], samples=3)["results"]
    assert along[0]["elevation"] == pytest.approx(1608, abs=5)
    assert along[-1]["elevation"] == pytest.approx(4478, abs=5)


def test_the_middle_of_the_ocean_is_not_land(bench: Bench) -> None:
    spots = ["30,-40", "-40,-120", "0,-25", "15,65"]
    assert all(r["elevation"] <= 0 for r in response(bench, "elevation_by_locations", locations=spots)["results"])


def test_daylight_saving_follows_the_moment(bench: Bench) -> None:
    summer = response(bench, "timezone", lat=48.85, lng=2.35, timestamp=1751371200)
    winter = response(bench, "timezone", lat=48.85, lng=2.35)
    assert (summer["dstOffset"], winter["dstOffset"]) == (3600, 0)
    assert summer["timeZoneName"] == "Central European Summer Time"
    assert winter["timeZoneId"] == "Europe/Paris"


def test_snapped_points_lie_near_and_have_speed_limits(bench: Bench) -> None:
    path = ["48.8570,2.3062", "40.7480,-73.9855", "0,-140"]
    snapped = response(bench, "roads_snap_to_roads", path=path)["snappedPoints"]
    assert [point["originalIndex"] for point in snapped] == [0, 1]
    for point, text in zip(snapped, path, strict=False):
        there = Point(*map(float, text.split(",")))
        assert geo.distance(Point(*point["location"].values()), there) < 200
    ids = [point["placeId"] for point in snapped]
    limits = response(bench, "roads_speed_limits", placeIds=ids, units="MPH")["speedLimits"]
    assert [limit["placeId"] for limit in limits] == ids
    assert all(15 <= limit["speedLimit"] <= 70 for limit in limits)
    assert "HTTP 400" in bench.error("google-maps/roads_snap_to_roads", path=["1,1"] * 101)


@pytest.mark.parametrize("style", ["roadmap", "satellite", "terrain", "hybrid"])
def test_a_static_map_is_a_picture_of_the_size_asked_for(bench: Bench, style: str) -> None:
    reply = bench.reply("google-maps/static_map", center="Sydney", zoom=10, size="320x200", maptype=style)
    text, picture = reply.result["content"]
    assert json.loads(text["text"])["image_url"].startswith(
        "https://maps.googleapis.com/maps/api/staticmap?size=320x200"
    )
    image = Image.open(io.BytesIO(b64decode(picture["data"])))
    assert (image.format, image.size) == ("PNG", (640, 400)), "the scale is 2 when nothing is said"
    colours = image.convert("RGB").getcolors(64_000)
    assert colours is not None
    assert len(colours) > 10


@pytest.mark.parametrize("scale", [1, 2])
def test_the_scale_gives_the_same_map_more_pixels(bench: Bench, scale: int) -> None:
    reply = bench.reply("google-maps/static_map", center="Sydney", zoom=10, size="64x40", scale=scale)
    image = Image.open(io.BytesIO(b64decode(reply.result["content"][1]["data"])))
    assert image.size == (64 * scale, 40 * scale)


@pytest.mark.sample(1)
@pytest.mark.parametrize("zoom", [19, 20, 22])
def test_a_map_of_one_house_takes_no_more_memory_than_another(bench: Bench, zoom: int) -> None:
    tracemalloc.start()
    try:
        reply = bench.reply("google-maps/static_map", center="43.7,7.27", zoom=zoom, maptype="satellite")
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert reply.outcome == "success"


def test_water_and_land_are_where_they_are(bench: Bench) -> None:
    reply = bench.reply("google-maps/static_map", center="-33.86,151.5", zoom=8, size="400x200")
    image = Image.open(io.BytesIO(b64decode(reply.result["content"][1]["data"]))).convert("RGB")
    assert image.getpixel((780, 200)) == (170, 211, 236)
    assert image.getpixel((20, 200)) != (170, 211, 236)


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": "big"},
        {},
        {"center": "Paris", "maptype": "painting"},
        {"center": "Paris", "zoom": 40},
        {"center": "Paris", "scale": 3},
        {"path": "enc:_"},
    ],
)
def test_a_map_of_nothing_is_refused(bench: Bench, arguments: dict[str, Any]) -> None:
    assert bench.reply("google-maps/static_map", arguments).outcome == "invalid_arguments"


def test_photos_are_pictures_within_the_limits(bench: Bench) -> None:
    mask = "photos.name"
    photo = response(bench, "place_details", place_id="ChIJLU7jZClu5kcR4PcOOO6p3I0", fields=mask)["photos"][0]["name"]
    media = response(bench, "place_photo_media", photo_resource=photo, maxWidthPx=200, maxHeightPx=200)
    image = Image.open(io.BytesIO(b64decode(media["data_url"].split(",")[1])))
    assert image.format == "JPEG"
    assert max(image.size) <= 200
    assert "HTTP 404" in bench.error("google-maps/place_photo_media", photo_resource="places/x/photos/y")


def test_radio_signals_tell_a_position(bench: Bench) -> None:
    tower = {"cellId": 4711, "mobileCountryCode": 262}
    found = response(bench, "geolocate_home", cellTowers=[tower], considerIp=False)
    country = response(bench, "reverse_geocode", **found["location"])["results"][-1]["formatted_address"]
    assert country == "Germany"
    assert "HTTP 404" in bench.error("google-maps/geolocate_home", considerIp=False)
