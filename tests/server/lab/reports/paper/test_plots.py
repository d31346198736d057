"""Names in a figure can be told apart, however close its points are."""

from itertools import combinations
from random import Random

import pytest

from m3bench.server.lab.reports.paper.plots import place_labels

PLOT, EDGE, SIZE = (57.0, 18.0, 490.0, 309.0), 628.0, 12.0

Point = tuple[float, float, str]


def scattered(seed: int, count: int) -> list[Point]:
    dice = Random(seed)
    return [(dice.uniform(360, 480), dice.uniform(100, 180), f"model-number-{one}") for one in range(count)]


@pytest.mark.parametrize(
    "points",
    [
        [(54.0, 170.0, f"same-{one}") for one in range(9)],
        [(490.0, 30.0, f"at the right end {one}") for one in range(6)],
        [(110.0 + one, 310.0, f"nothing solved {one}") for one in range(8)],
        *(scattered(seed, 20) for seed in range(4)),
    ],
)
def test_no_name_covers_another_or_leaves_the_figure_and_one_that_is_off_its_point_has_a_line(
    points: list[Point],
) -> None:
    labels = place_labels(points, SIZE, PLOT, EDGE)
    assert [label.point for label in labels] == [(x, y) for x, y, _ in points]
    for one, other in combinations([label.box for label in labels], 2):
        apart = one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
        assert apart, (one, other)
    for label in labels:
        left, top, right, bottom = label.box
        assert PLOT[0] <= left
        assert right <= EDGE
        assert top >= 0
        assert bottom <= PLOT[3] + SIZE
        assert label.led or abs(label.y - label.point[1]) < SIZE


def test_a_point_with_room_has_its_name_right_beside_it() -> None:
    (label,) = place_labels([(200.0, 100.0, "alone")], SIZE, PLOT, EDGE)
    assert (label.led, label.anchor, label.x) == (False, "start", 208.0)
