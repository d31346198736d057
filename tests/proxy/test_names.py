"""Which tool a call means: names that clients made of a tool's, and calls by way of `call_tool`."""

import pytest

from m3bench.proxy.names import inner, meant, understood

KNOWN = ("google-maps__maps_geocode", "dinox-mcp__detect-all-objects", "math__sum", "start_task", "a-b", "a_b")


@pytest.mark.parametrize(
    ("sent", "tool"),
    [
        ("math__sum", "math__sum"),
        ("google_maps__maps_geocode", "google-maps__maps_geocode"),
        ("dinox_mcp__detect_all_objects", "dinox-mcp__detect-all-objects"),
        ("mcp__m3bench__math__sum", "math__sum"),
        ("mcp__m3bench__dinox_mcp__detect_all_objects", "dinox-mcp__detect-all-objects"),
        ("mcp_m3bench_start_task", "start_task"),
        ("m3bench__math__sum", "math__sum"),
        ("m3bench-start_task", "start_task"),
        ("m3bench.math__sum", "math__sum"),
        ("mcp__my-bench__math__sum", "math__sum"),
        ("math__sum_mcp_m3bench", "math__sum"),
        ("a-b", "a-b"),
        ("a_b", "a_b"),
        ("m3bench__a-b", "a-b"),
        ("math_sum", "math_sum"),
        ("sum", "sum"),
        ("other__math__sum", "other__math__sum"),
        ("m3bench__", "m3bench__"),
    ],
)
def test_a_name_is_taken_for_the_tool_that_is_meant(sent: str, tool: str) -> None:
    assert understood(sent, KNOWN) == tool


def test_a_name_that_could_be_two_tools_is_neither() -> None:
    assert understood("x_y_z", ("x-y_z", "x_y-z")) == "x_y_z"


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
