"""Calls, steps and trajectories: values with a versioned JSON form."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.tasks.errors import TrajectoryError
from m3bench.tasks.trajectory import MAX_DEPTH, SCHEMA, Call, Step, Trajectory

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    Call,
    tool=st.sampled_from(["wiki/summary", "math/sum", "lonely"]),
    arguments=st.dictionaries(st.text(max_size=5), values, max_size=3),
) | st.just(Call(tool="math/sum", bare=True))
steps = st.builds(Step, calls=st.lists(calls, max_size=3).map(tuple))
trajectories = st.builds(Trajectory, steps=st.lists(steps, max_size=3).map(tuple))


@given(trajectories)
def test_a_trajectory_survives_the_way_to_json_and_back(trajectory: Trajectory) -> None:
    text = json.dumps(trajectory.to_json(), allow_nan=False)
    assert Trajectory.from_json(json.loads(text)) == trajectory


def test_the_json_form_is_this_one() -> None:
    trajectory = Trajectory(
        steps=(Step(calls=(Call(tool="wiki/summary", arguments={"title": "Owl"}), Call(tool="a/b", bare=True))), Step())
    )
    assert trajectory.to_json() == {
        "schema": SCHEMA,
        "steps": [
            {"calls": [{"tool": "wiki/summary", "arguments": {"title": "Owl"}}, {"tool": "a/b"}]},
            {"calls": []},
        ],
    }


def test_calls_are_flattened_in_order() -> None:
    first, second, third = (Call(tool=f"math/{name}") for name in ("sum", "mean", "max"))
    trajectory = Trajectory(steps=(Step(calls=(first,)), Step(), Step(calls=(second, third))))
    assert trajectory.calls == (first, second, third)


@pytest.mark.parametrize(
    ("tool", "server", "name"),
    [("wiki/summary", "wiki", "summary"), ("lonely", "", "lonely"), ("a/b/c", "a", "b/c")],
)
def test_a_tool_name_splits_at_the_first_slash(tool: str, server: str, name: str) -> None:
    call = Call(tool=tool)
    assert (call.server, call.name) == (server, name)


def test_absent_arguments_are_not_the_same_as_none_given() -> None:
    assert Call.from_json({"tool": "a/b"}) == Call(tool="a/b", bare=True)
    assert Call.from_json({"tool": "a/b", "arguments": {}}) == Call(tool="a/b")


def test_a_bare_call_cannot_have_arguments() -> None:
    with pytest.raises(ValueError, match="bare"):
        Call(tool="a/b", arguments={"x": 1}, bare=True)


def test_values_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Call(tool="a/b").tool = "c/d"  # type: ignore[misc]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("data", "field", "problem"),
    [
        (5, "trajectory", "expected an object"),
        ({"steps": []}, "schema", "is absent"),
        ({"schema": SCHEMA + 1, "steps": []}, "schema", f"this version reads {SCHEMA}"),
        ({"schema": SCHEMA}, "steps", "is absent"),
        ({"schema": SCHEMA, "steps": [], "tasks": 1}, "trajectory", "unknown field the string 'tasks'"),
        ({"schema": SCHEMA, "steps": {"0": []}}, "steps", "is an object"),
        ({"schema": SCHEMA, "steps": [7]}, "steps[0]", "is 7"),
        ({"schema": SCHEMA, "steps": [{"calls": "x"}]}, "steps[0].calls", "the string 'x'"),
        ({"schema": SCHEMA, "steps": [{"calls": [None]}]}, "steps[0].calls[0]", "is absent"),
        ({"schema": SCHEMA, "steps": [{"calls": [{"tool": 3}]}]}, "steps[0].calls[0].tool", "is 3"),
        ({"schema": SCHEMA, "steps": [{"calls": [{"tool": " "}]}]}, "steps[0].calls[0].tool", "is empty"),
        (
            {"schema": SCHEMA, "steps": [{"calls": [{"tool": "a/b", "arguments": [1]}]}]},
            "steps[0].calls[0].arguments",
            "is an array (expected an object)",
        ),
        (
            {"schema": SCHEMA, "steps": [{"calls": [{"tool": "a/b", "arguments": {"x": float("nan")}}]}]},
            "steps[0].calls[0].arguments",
            "not a JSON number",
        ),
        (
            {"schema": SCHEMA, "steps": [{"calls": [{"tool": "a/b", "arguments": {"x": nested(MAX_DEPTH + 1)}}]}]},
            "steps[0].calls[0].arguments",
            "levels deep",
        ),
    ],
)
def test_what_is_not_a_trajectory_is_refused_by_field(data: object, field: str, problem: str) -> None:
    with pytest.raises(TrajectoryError) as caught:
        Trajectory.from_json(data)
    assert caught.value.field == field
    assert problem in caught.value.problem


def test_a_huge_string_is_refused_without_being_shown() -> None:
    call = {"tool": "a/b", "arguments": {"text": "x" * 10_000_001}}
    with pytest.raises(TrajectoryError) as caught:
        Call.from_json(call)
    assert "10000001 characters" in str(caught.value)
    assert len(str(caught.value)) < 200
