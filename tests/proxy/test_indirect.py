"""Calls by way of `call_tool`, read as the calls they stand for."""

import pytest

from m3bench.proxy.indirect import inner, meant


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"name": "a", "arguments": {"x": 1}}, ("a", {"x": 1})),
        ({"name": "a"}, ("a", {})),
        ({"name": "a", "arguments": None}, ("a", {})),
        ({"name": "a", "wait_for_previous": True}, ("a", {"wait_for_previous": True})),
        ({"name": "a", "other": 1}, None),
        ({"name": 7}, None),
        ({"name": "a", "arguments": [1]}, None),
        ("a", None),
    ],
)
def test_the_tool_and_its_arguments_are_found_inside(arguments: object, found: object) -> None:
    assert inner(arguments) == found


def test_a_recorded_call_shows_the_arguments_of_the_tool_that_was_meant() -> None:
    params = {"name": "call_tool", "arguments": {"name": "math/sum", "arguments": {"numbers": [1]}}}
    assert meant("math/sum", params) == {"numbers": [1]}
    assert meant("call_tool", params) == params["arguments"]
    assert meant("math/sum", {"name": "math__sum", "arguments": {"a": 1}}) == {"a": 1}
    assert meant("math/sum", {"name": "call_tool", "arguments": 5}) == 5
