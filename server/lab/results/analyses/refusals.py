"""Which of an argument's faults a tool refused a call for, found by holding its arguments against the schema again."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.schema import problems
from m3bench.tasks.table_tools import find_tool

ParameterError = Literal[
    "parameter type", "parameter range", "parameter object", "parameter missing", "parameter hallucinated"
]

_BOUNDS = ("minimum", "maximum", "minItems")


def refusals(tool: str, arguments: Mapping[str, Any]) -> set[ParameterError]:
    """The kinds of faults in the arguments of a call that was refused.

    Where the schema is kept, or is not known because the tool is a third party's, a value was refused by the tool
    itself: that is its range.
    """
    known = find_tool(tool)
    if known is None:
        return {"parameter range"}
    given = known.filled(read_arguments(known.input_schema, arguments).arguments)
    found = set(_faults(known.input_schema, given))
    if known.strict and set(given) - set(known.input_schema.get("properties", {})):
        found.add("parameter hallucinated")
    return found or {"parameter range"}


def _faults(schema: Mapping[str, Any], value: object) -> Iterator[ParameterError]:
    if "anyOf" in schema:
        if all(problems(branch, value) for branch in schema["anyOf"]):
            yield "parameter type"
        return
    if "enum" in schema:
        if value not in schema["enum"]:
            yield "parameter range"
        return
    if "type" in schema and problems({"type": schema["type"]}, value):
        yield "parameter type"
        return
    if problems({name: schema[name] for name in _BOUNDS if name in schema}, value):
        yield "parameter range"
    if isinstance(value, Mapping):
        if set(schema.get("required", ())) - set(value):
            yield "parameter missing"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from _faults(part, value[name])
    elif isinstance(value, list):
        for item in value:
            yield from _faults(schema.get("items", {}), item)
