"""The text of a call in both profiles."""

import pytest

from m3bench.server.scoring.matching.text import M3_TEXT, PUBLIC_TEXT, TextMatching
from m3bench.server.scoring.signatures import UNORDERED, ToolSignature, catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.trajectory import Call

SIGNATURE = ToolSignature(defaults={"n": 3, "units": "us", "deep": {"a": 1}}, unordered=frozenset({"types"}))


def text(matching: TextMatching, call: Call, signature: ToolSignature | None = None) -> str:
    return matching.text(call, matching.arguments(call, signature))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call(tool="a/b", arguments={"z": 1, "a": [2, 1]}), '{"a":[2,1],"z":1}'),
        (Call(tool="a/b", arguments={"x": 3.0, "y": "Ωλ"}), '{"x":3.0,"y":"Ωλ"}'),
        (Call(tool="a/b"), "{}"),
        (Call(tool="a/b", bare=True), "null"),
        (Call(tool="a/b", arguments={"x": "\ud800"}), '{"x":"?"}'),
    ],
)
def test_the_public_text_is_sorted_json_of_the_arguments_alone(call: Call, expected: str) -> None:
    assert text(PUBLIC_TEXT, call, SIGNATURE) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call(tool="a/b", arguments={"z": 1, "a": 2}), 'a/b {"a":2,"z":1}'),
        (Call(tool="a/b", bare=True), "a/b {}"),
        (
            Call(tool="a/b", arguments={"x": 3.0, "y": [{"z": -0.0}], "w": 1e300}),
            'a/b {"w":1e+300,"x":3,"y":[{"z":0}]}',
        ),
        (Call(tool="a/b", arguments={"list": [3, 1, 2]}), 'a/b {"list":[3,1,2]}'),
        (Call(tool="a/b", arguments={"types": ["b", "a"], "n": 3.0}), 'a/b {"types":["a","b"]}'),
        (Call(tool="a/b", arguments={"types": "b,a", "n": 4}), 'a/b {"n":4,"types":"b,a"}'),
        (Call(tool="a/b", arguments={"n": True}), 'a/b {"n":true}'),
        (Call(tool="a/b", arguments={"deep": {"a": 1.0}, "units": "metric"}), 'a/b {"units":"metric"}'),
    ],
)
def test_the_m3_text_is_one_spelling_of_the_call(call: Call, expected: str) -> None:
    assert text(M3_TEXT, call, SIGNATURE) == expected


def test_without_a_signature_nothing_is_dropped_or_sorted() -> None:
    assert text(M3_TEXT, Call(tool="a/b", arguments={"types": ["b", "a"], "n": 3})) == 'a/b {"n":3,"types":["b","a"]}'


def test_the_catalog_gives_defaults_and_unordered_arrays() -> None:
    signatures = catalog_signatures(load_catalog())
    search = signatures("wiki/search")
    assert search is not None
    assert search.defaults["n"] == 3
    nearby = signatures("google-maps/places_nearby_search")
    assert nearby is not None
    assert nearby.unordered == {"includedTypes"}
    assert signatures("no/such") is None


def test_every_unordered_argument_is_an_array_of_a_tool_in_the_catalog() -> None:
    tools = load_catalog().by_tool
    for name, arguments in UNORDERED.items():
        for argument in arguments:
            schema = tools[name].input_schema["properties"][argument]
            assert "array" in {schema.get("type"), *(branch.get("type") for branch in schema.get("anyOf", ()))}
