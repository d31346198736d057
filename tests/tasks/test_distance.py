"""Distances on Earth."""

from m3bench.tasks.distance import metres


def test_metres_are_those_of_the_globe() -> None:
    assert abs(metres((0, 0), (0, 1)) - 111_195) < 5
