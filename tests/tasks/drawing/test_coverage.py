"""Shapes cover the pixels that their geometry says, in whole numbers, wherever they lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from m3bench.tasks.drawing import coverage
from m3bench.tasks.drawing.coverage import Patch, joined, line, polygon
from tests.examples import examples

SIZE = (60, 50)
coordinates = st.integers(-30, 90)
points = st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=8)


def covered(patch: Patch | None) -> np.ndarray:
    whole = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    if patch is not None:
        high, wide = patch.mask.shape
        whole[patch.top : patch.top + high, patch.left : patch.left + wide] = patch.mask
    return whole


def test_a_rectangle_covers_its_pixels_and_its_edges() -> None:
    found = covered(polygon([(10, 5), (20, 5), (20, 15), (10, 15)], SIZE))
    assert found.sum() == 11 * 11
    assert found[5:16, 10:21].all()


@settings(max_examples=examples(60), deadline=None)
@given(points)
def test_a_polygon_is_that_of_pillow_but_for_its_edge(corners: list[tuple[int, int]]) -> None:
    image = Image.new("L", SIZE)
    ImageDraw.Draw(image).polygon(corners, fill=1)
    apart = covered(polygon(corners, SIZE)) != np.asarray(image)
    edge = Image.new("L", SIZE)
    ImageDraw.Draw(edge).line([*corners, corners[0]], fill=1, width=4)
    assert not (apart & (np.asarray(edge) == 0)).any()


@settings(max_examples=examples(60), deadline=None)
@given(points, st.tuples(st.floats(-0.02, 0.02), st.floats(-0.02, 0.02)))
def test_the_last_digits_of_a_coordinate_do_not_move_an_edge(
    corners: list[tuple[int, int]], error: tuple[float, float]
) -> None:
    moved = [(x + error[0], y + error[1]) for x, y in corners]
    assert (covered(polygon(corners, SIZE)) == covered(polygon(moved, SIZE))).all()
    assert (covered(joined(line(corners, 3, SIZE))) == covered(joined(line(moved, 3, SIZE)))).all()


@pytest.mark.parametrize("width", [1, 2, 3, 6, 7])
def test_a_straight_line_is_as_wide_as_it_was_asked_for(width: int) -> None:
    assert (covered(joined(line([(5, 20), (40, 20)], width, SIZE)))[:, 20]).sum() == width
    assert (covered(joined(line([(20, 5), (20, 40)], width, SIZE)))[20]).sum() == width


@settings(max_examples=examples(60), deadline=None)
@given(points, st.integers(2, 12))
def test_a_line_is_the_same_in_however_many_parts_it_is_drawn(corners: list[tuple[int, int]], width: int) -> None:
    whole = covered(joined(line(corners, width, SIZE)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage, "_SLAB", 7)
        assert (covered(joined(line(corners, width, SIZE))) == whole).all()


def test_a_bend_is_round() -> None:
    found = covered(joined(line([(5, 25), (30, 25), (5, 10)], 9, SIZE)))
    assert found[25, 33] == 1
    assert found[25, 36] == 0


def test_what_lies_outside_covers_nothing_and_what_begins_far_away_is_still_exact() -> None:
    assert polygon([(100, 100), (120, 100), (110, 130)], SIZE) is None
    assert line([(5, 5), (5, 5)], 3, SIZE) == []
    far = 4_000_000_000
    assert covered(joined(line([(-far, -far), (far, far)], 1, SIZE))).diagonal().all()
    assert covered(polygon([(-far, -far), (far, -far), (far, far), (-far, far)], SIZE)).all()
    assert covered(joined(line([(-far, 20), (far, 20)], 5, SIZE))).sum() == 5 * SIZE[0]
