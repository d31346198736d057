"""Geodesy agrees with known distances and with itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.sandboxes.world import geo
from m3bench.sandboxes.world.geo import Box, Point

PARIS, LONDON, SYDNEY = Point(48.8566, 2.3522), Point(51.5074, -0.1278), Point(-33.8688, 151.2093)

points = st.builds(Point, st.floats(-89.9, 89.9), st.floats(-180, 179.99))
mercator = st.builds(Point, st.floats(-85, 85), st.floats(-180, 179.99))


def test_known_distances_and_bearings() -> None:
    assert geo.distance(PARIS, LONDON) == pytest.approx(343_500, rel=0.005)
    assert geo.distance(LONDON, SYDNEY) == pytest.approx(16_994_000, rel=0.005)
    assert geo.bearing(PARIS, LONDON) == pytest.approx(330, abs=1)
    assert geo.compass(geo.bearing(PARIS, LONDON)) == "northwest"


@given(points, st.floats(0, 359), st.floats(1, 1e6))
def test_going_there_and_measuring_agree(start: Point, direction: float, metres: float) -> None:
    end = geo.destination(start, direction, metres)
    assert geo.distance(start, end) == pytest.approx(metres, rel=1e-6, abs=0.01)


@given(points, st.floats(1, 500_000), st.floats(0, 359), st.floats(0, 1))
def test_a_box_holds_its_circle(centre: Point, radius: float, direction: float, share: float) -> None:
    inside = geo.destination(centre, direction, radius * share * 0.999)
    assert Box.around(centre, radius).contains(inside)


@given(points, points)
def test_the_middle_is_as_far_from_both(a: Point, b: Point) -> None:
    middle = geo.between(a, b, 0.5)
    assert geo.distance(a, middle) == pytest.approx(geo.distance(middle, b), abs=5)


def test_the_published_polyline_example() -> None:
    line = [Point(38.5, -120.2), Point(40.7, -120.95), Point(43.252, -126.453)]
    assert geo.encode_polyline(line) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    assert geo.decode_polyline("_p~iF~ps|U_ulLnnqC_mqNvxq`@") == line


@given(st.lists(points, max_size=20))
def test_polylines_come_back_to_five_decimals(line: list[Point]) -> None:
    back = geo.decode_polyline(geo.encode_polyline(line))
    assert len(back) == len(line)
    for point, original in zip(back, line, strict=True):
        assert point == pytest.approx(original, abs=1e-5)


@pytest.mark.parametrize("text", ["_", "_p~iF", "not a line", "ø"])
def test_a_broken_polyline_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="polyline"):
        geo.decode_polyline(text)


def test_known_tiles() -> None:
    assert geo.tile(PARIS, 10) == (518, 352)
    assert geo.tile(Point(39.9042, 116.4074), 10) == (843, 388)
    assert geo.tile_box(0, 0, 0).north == pytest.approx(geo.MAX_MERCATOR_LAT)


@given(mercator, st.integers(0, 18))
def test_a_point_lies_on_its_tile(point: Point, zoom: int) -> None:
    box = geo.tile_box(*geo.tile(point, zoom), zoom)
    near = Box(box.south - 1e-6, box.west - 1e-6, box.north + 1e-6, box.east + 1e-6)
    assert near.contains(point)
    assert geo.unpixel(*geo.pixel(point, zoom), zoom) == pytest.approx(point, abs=1e-6)
