"""Our validator says yes and no where jsonschema does."""

import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.schema import problems
from tests.examples import examples

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats(-5, 5, allow_nan=False)
    | st.sampled_from(["", "a", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "latitude"]), inner, max_size=3)
    ),
    max_leaves=6,
)

SCHEMAS = [tool.input_schema for tool in load_catalog().tools if tool.input_schema.get("properties")]


@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_arguments_fit_exactly_when_jsonschema_agrees(data: st.DataObject) -> None:
    schema = data.draw(st.sampled_from(SCHEMAS))
    names = sorted(schema["properties"])
    arguments = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=len(names)))
    assert (problems(schema, arguments) == []) == jsonschema.Draft7Validator(_open(schema)).is_valid(arguments)


def _open(schema: Any) -> Any:
    """The schema without its ban on undeclared arguments, which callers decide on."""
    if isinstance(schema, dict):
        return {
            key: _open(value) for key, value in schema.items() if not (key == "additionalProperties" and value is False)
        }
    return [_open(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize(
    ("value", "fits"), [(3, True), (3.0, True), (3.5, False), (True, False), ("3", False), (None, False), ([3], False)]
)
def test_integers_are_whole_numbers_and_nothing_else(value: object, fits: bool) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert (problems(schema, {"n": value}) == []) == fits


def test_undeclared_arguments_are_a_problem_only_when_asked_for() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert problems(schema, {"n": 1, "m": 2}) == []
    assert problems(schema, {"n": 1, "m": 2}, strict=True) == ["'m' is not an argument (expected n)"]


def test_arguments_that_are_no_object_are_refused() -> None:
    assert problems({"type": "object"}, [1]) == ["arguments is an array of 1 (expected object)"]


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_that_can_be_counted_with_is_refused(kind: str, value: float) -> None:
    assert list(problems({"type": "object", "properties": {"n": {"type": kind}}}, {"n": value}))


def test_an_integer_written_as_a_float_has_its_bounds() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert not list(problems(schema, {"n": 5.0}))
    assert list(problems(schema, {"n": 1e300}))
