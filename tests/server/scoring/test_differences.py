"""Per-argument differences."""

import pytest

from m3bench.server.scoring.differences import differences
from m3bench.tasks.trajectory import JSON


@pytest.mark.parametrize(
    ("reference", "actual", "expected"),
    [
        ({}, {}, []),
        (None, {}, []),
        (None, {"x": 1}, [("x", "extra")]),
        ({"x": 1}, {"x": 1.0}, []),
        ({"x": 1}, {"x": True}, [("x", "changed")]),
        ({"x": [1, {"y": 2}]}, {"x": [1, {"y": 2}]}, []),
        ({"x": [1, True]}, {"x": [1, 1]}, [("x", "changed")]),
        ({"x": {"y": 1, "z": 2}}, {"x": {"y": 1, "w": 3}}, [("x.z", "missing"), ("x.w", "extra")]),
        ({"x": {"y": 1}}, {"x": 5}, [("x", "changed")]),
        ({"x": None}, {}, [("x", "missing")]),
    ],
)
def test_what_differs_is_named(reference: JSON, actual: JSON, expected: list[tuple[str, str]]) -> None:
    assert [(found.argument, found.kind) for found in differences(reference, actual)] == expected


def test_the_json_form_has_only_the_sides_there_are() -> None:
    found = differences({"a": 1, "b": 2}, {"a": 3, "c": 4})
    assert [entry.to_json() for entry in found] == [
        {"argument": "a", "kind": "changed", "reference": 1, "actual": 3},
        {"argument": "b", "kind": "missing", "reference": 2},
        {"argument": "c", "kind": "extra", "actual": 4},
    ]
