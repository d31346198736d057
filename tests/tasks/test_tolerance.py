"""Values that are as good as the reference's are read as the reference's, and no others."""

import pytest
from pydantic import ValidationError

from m3bench.tasks.tolerance import Tolerance, read_as


def test_a_free_argument_may_be_anything_or_absent():
    free = {"path": Tolerance(free=True)}
    for actual in ({"path": "b"}, {"path": 3}, {}):
        assert read_as({"path": "a"}, free, actual) == {"path": "a"}


@pytest.mark.parametrize(("value", "accepted"), [(500, True), (450, True), (400.0, True), (399, False), ("500", False)])
def test_a_number_may_be_near(value, accepted):
    assert Tolerance(within=100).accepts(500, value) is accepted


@pytest.mark.parametrize(("value", "accepted"), [("METRIC", True), ("imperial", True), (None, True), ("k", False)])
def test_one_of_several_in_any_case_or_left_out(value, accepted):
    assert Tolerance(one_of=("metric", "imperial", None)).accepts("metric", value) is accepted


def test_one_is_not_true():
    assert not Tolerance(one_of=(1,)).accepts(1, True)


@pytest.mark.parametrize(("value", "accepted"), [("History of the Eiffel Tower", True), ("the tower", False)])
def test_a_text_may_say_more(value, accepted):
    assert Tolerance(words=("eiffel", "tower")).accepts("Eiffel Tower", value) is accepted


@pytest.mark.parametrize("fields", [{}, {"free": True, "within": 1}, {"words": ("a",), "one_of": (1,)}])
def test_a_tolerance_is_of_one_kind(fields):
    with pytest.raises(ValidationError):
        Tolerance(**fields)
