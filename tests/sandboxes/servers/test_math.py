"""The `math` server prints numbers as JavaScript does."""

import pytest

from tests.sandboxes.servers.conftest import Bench


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("add", {"firstNumber": 0.1, "secondNumber": 0.2}, "0.30000000000000004"),
        ("add", {"firstNumber": 1e21, "secondNumber": 0}, "1e+21"),
        ("add", {"firstNumber": 1e20, "secondNumber": 0}, "100000000000000000000"),
        ("add", {"firstNumber": 10**400, "secondNumber": 0}, "Infinity"),
        ("subtract", {"minuend": 0, "subtrahend": 1.5e-7}, "-1.5e-7"),
        ("subtract", {"minuend": 0, "subtrahend": 0.00001}, "-0.00001"),
        ("subtract", {"minuend": 0, "subtrahend": 0.0000123}, "-0.0000123"),
        ("multiply", {"firstNumber": -1, "SecondNumber": 0}, "0"),
        ("division", {"numerator": 1, "denominator": 0}, "Infinity"),
        ("division", {"numerator": -1, "denominator": 0}, "-Infinity"),
        ("division", {"numerator": 0, "denominator": 0}, "NaN"),
        ("modulo", {"numerator": -7, "denominator": 3}, "-1"),
        ("modulo", {"numerator": 7, "denominator": 0}, "NaN"),
        ("mean", {"numbers": [9, 10, 9.32]}, "9.44"),
        ("median", {"numbers": [9, 10]}, "9.5"),
        ("median", {"numbers": [3, 1, 2]}, "2"),
        ("mode", {"numbers": [17, 3, 17, 3, 1]}, "Entries (17, 3) appeared 2 times"),
        ("mode", {"numbers": []}, "Entries () appeared 0 times"),
        ("min", {"numbers": []}, "Infinity"),
        ("max", {"numbers": []}, "-Infinity"),
        ("floor", {"number": -1.5}, "-2"),
        ("round", {"number": 2.5}, "3"),
        ("round", {"number": -2.5}, "-2"),
        ("round", {"number": 0.49999999999999994}, "0"),
        ("arcsin", {"number": 2}, "NaN"),
        ("radiansToDegrees", {"number": 3.141592653589793}, "180"),
    ],
)
def test_numbers_are_printed_as_javascript_prints_them(
    bench: Bench, tool: str, arguments: dict[str, object], text: str
) -> None:
    assert bench.text(f"math/{tool}", arguments) == text


@pytest.mark.parametrize("tool", ["sum", "mean", "median"])
def test_an_empty_list_is_refused_where_it_has_no_meaning(bench: Bench, tool: str) -> None:
    assert "'numbers' has 0 items (expected at least 1)" in bench.error(f"math/{tool}", numbers=[])
