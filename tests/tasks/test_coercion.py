"""Arguments that clients write in their own way are read as what they stand for, and nothing is guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.coercion import read_arguments, without_nulls
from m3bench.tasks.errors import InvalidArgumentsError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.schema import problems

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 10},
        "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "loud": {"type": "boolean"},
        "level": {"enum": [1, 2]},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "box": {"type": "object", "properties": {"width": {"type": "number"}, "note": {"type": "string"}}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("sent", "taken", "coerced"),
    [
        ({"name": "a", "count": None, "loud": None, "box": None}, {"name": "a"}, ()),
        ({"name": "a", "share": None, "count": None}, {"name": "a", "share": None}, ()),
        ({"name": "a", "box": {"width": 1, "note": None}}, {"name": "a", "box": {"width": 1}}, ()),
        ({"name": "a", "count": "3"}, {"name": "a", "count": 3}, ("count",)),
        ({"name": "a", "share": " -2.5e1 "}, {"name": "a", "share": -25.0}, ("share",)),
        ({"name": "a", "loud": "true", "level": "2"}, {"name": "a", "loud": True, "level": 2}, ("loud", "level")),
        ({"name": "a", "loud": "False"}, {"name": "a", "loud": False}, ("loud",)),
        ({"name": "a", "sizes": "[1, 2]"}, {"name": "a", "sizes": [1, 2]}, ("sizes",)),
        ({"name": "a", "sizes": [1, "2"]}, {"name": "a", "sizes": [1, 2]}, ("sizes[1]",)),
        ({"name": "a", "box": '{"width": "4"}'}, {"name": "a", "box": {"width": 4}}, ("box",)),
        ({"name": "a", "box": {"width": "4"}}, {"name": "a", "box": {"width": 4}}, ("box.width",)),
    ],
)
def test_what_leaves_no_doubt_is_read_as_it_was_meant(sent: Any, taken: Any, coerced: tuple[str, ...]) -> None:
    found = read_arguments(SCHEMA, sent)
    assert (found.arguments, found.coerced) == (taken, coerced)
    assert json.dumps(found.arguments, sort_keys=True) == json.dumps(taken, sort_keys=True)


@pytest.mark.parametrize(
    "sent",
    [
        {"name": None},
        {"name": 12},
        {"name": "a", "count": "three"},
        {"name": "a", "count": "11"},
        {"name": "a", "count": "2.5"},
        {"name": "a", "count": True},
        {"name": "a", "loud": "yes"},
        {"name": "a", "loud": "1"},
        {"name": "a", "share": "NaN"},
        {"name": "a", "share": "1" * 5000},
        {"name": "a", "sizes": "1, 2"},
        {"name": "a", "sizes": "[" * 100_000},
        {"name": "a", "sizes": '["x"]'},
        {"name": "a", "level": "3"},
        {"name": "a", "stranger": None, "count": "x"},
    ],
)
def test_what_is_in_doubt_stays_wrong(sent: Any) -> None:
    found = read_arguments(SCHEMA, sent)
    assert found.coerced == ()
    assert problems(SCHEMA, found.arguments)


@given(st.text())
def test_a_string_where_a_string_fits_is_never_touched(text: str) -> None:
    sent = {"name": text, "either": text, "count": None}
    assert read_arguments(SCHEMA, sent).arguments == {"name": text, "either": text}


def test_every_optional_argument_of_every_tool_may_be_null() -> None:
    for server in load_catalog().servers:
        calls = load_examples(server.name).calls
        for tool in server.tools:
            arguments = dict(calls.get(tool.name, {}))
            declared, required = tool.input_schema.get("properties", {}), tool.input_schema.get("required", ())
            try:
                tool.check(arguments)
            except InvalidArgumentsError:
                continue
            absent = [name for name in declared if name not in required and name not in arguments]
            found = tool.read({**arguments, **dict.fromkeys(absent)})
            assert found.coerced == ()
            kept = {name: value for name, value in found.arguments.items() if value is not None}
            assert kept == {name: value for name, value in arguments.items() if value is not None}


def test_of_a_schema_that_says_it_in_other_words_null_is_left_alone() -> None:
    unclear: list[Any] = [{"$ref": "#/x"}, {"type": ["string", "null"]}, {"nullable": True, "type": "string"}, {}, True]
    for part in unclear:
        schema = {"type": "object", "properties": {"a": part}}
        assert without_nulls(schema, {"a": None}) == {"a": None}
    plain = {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}
    assert without_nulls(plain, {"a": None, "b": None}) == {"b": None}
