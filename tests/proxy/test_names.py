"""Names that clients made of a tool's name stand for that tool; a guess between two is not made."""

import pytest

from m3bench.proxy.names import understood

KNOWN = ("google-maps__maps_geocode", "dinox-mcp__detect-all-objects", "math__sum", "start_task", "a-b", "a_b")


@pytest.mark.parametrize(
    ("sent", "meant"),
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
def test_a_name_is_taken_for_the_tool_that_is_meant(sent: str, meant: str) -> None:
    assert understood(sent, KNOWN) == meant


def test_a_name_that_could_be_two_tools_is_neither() -> None:
    assert understood("x_y_z", ("x-y_z", "x_y-z")) == "x_y_z"
