"""Does a value fit a JSON Schema? For the keywords the catalog uses, with problems a model can act on.

Not a general validator: `type`, `properties`, `required`, `items`, `additionalProperties`, `enum`, `anyOf`,
`minimum`, `maximum` and `minItems` are what the 232 schemas contain (a test checks the list). It costs
microseconds per call and nothing to import, which is why it is used instead of `jsonschema`; the tests
compare the two. Each problem names the field, what is wrong and what was expected.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

KEYWORDS = frozenset(
    [
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "enum",
        "anyOf",
        "minimum",
        "maximum",
        "minItems",
        "description",
        "default",
        "format",
    ]
)


MOST_PROBLEMS = 20
"""So many are told: a list of a million wrong numbers is one mistake."""


def problems(schema: Schema, value: object, *, strict: bool = False) -> list[str]:
    """What keeps `value` from fitting; empty when it fits.

    Args:
        schema: An object schema, as a tool's `inputSchema`.
        value: The arguments.
        strict: Whether undeclared arguments at the root are a problem. Most of the public servers ignore
            them whatever their schema says, so the caller decides.
    """
    found = list(islice(_check(schema, value, ""), MOST_PROBLEMS + 1))
    if len(found) > MOST_PROBLEMS:
        found[MOST_PROBLEMS:] = ["and there is more"]
    if strict and isinstance(value, Mapping):
        known = schema.get("properties", {})
        found += [
            f"{name!r} is not an argument (expected {', '.join(known) or 'none'})"
            for name in value
            if name not in known
        ]
    return found


def describe(schema: Schema) -> str:
    """The expected shape in a few words, such as `integer` or `array of string or null`."""
    if "enum" in schema:
        return "one of " + ", ".join(repr(choice) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(describe(branch) for branch in schema["anyOf"]))
    kind = schema.get("type", "any value")
    if kind == "array" and "type" in schema.get("items", {}):
        return f"array of {describe(schema['items'])}"
    if kind == "object" and schema.get("required"):
        return f"object with {', '.join(schema['required'])}"
    return str(kind)


def _check(schema: Schema, value: object, path: str) -> Iterator[str]:
    where = repr(path) if path else "arguments"
    if "anyOf" in schema:
        yield from _check_any(schema, value, path)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {_show(value)} (expected {describe(schema)})"
        return
    kind = schema.get("type")
    if kind is not None and not _has_type(kind, value):
        yield f"{where} is {_show(value)} (expected {describe(schema)})"
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            yield f"{where} is {value} (expected at least {schema['minimum']})"
        if "maximum" in schema and value > schema["maximum"]:
            yield f"{where} is {value} (expected at most {schema['maximum']})"
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{where} has {len(value)} items (expected at least {schema['minItems']})"
        items = schema.get("items")
        if items and not _all_plain(items, value):
            for index, item in enumerate(value):
                yield from _check(items, item, f"{path}[{index}]")
    elif isinstance(value, Mapping):
        yield from _check_object(schema, value, path)


def _check_object(schema: Schema, value: Mapping[str, object], path: str) -> Iterator[str]:
    declared = schema.get("properties", {})
    prefix = f"{path}." if path else ""
    for name in schema.get("required", ()):
        if name not in value:
            expected = describe(declared[name]) if name in declared else "a value"
            yield f"{prefix + name!r} is required but missing (expected {expected})"
    rest = schema.get("additionalProperties")
    for name, item in value.items():
        if name in declared:
            yield from _check(declared[name], item, prefix + name)
        elif isinstance(rest, Mapping):
            yield from _check(rest, item, prefix + name)


def _check_any(schema: Schema, value: object, path: str) -> Iterator[str]:
    """One problem for the whole choice, or those of the only branch whose type the value has."""
    branches = schema["anyOf"]
    attempts = [list(islice(_check(branch, value, path), MOST_PROBLEMS + 1)) for branch in branches]
    if not all(attempts):
        return
    close = [
        found
        for branch, found in zip(branches, attempts, strict=True)
        if "enum" not in branch and _has_type(branch.get("type"), value)
    ]
    if len(close) == 1:
        yield from close[0]
    else:
        yield f"{path!r} is {_show(value)} (expected {describe(schema)})"


MOST_INTEGER = 2.0**63
"""A float from here on is no whole number that a tool could count with; one beyond all numbers, `1e999`, is none."""

_PLAIN: Mapping[str, set[type]] = {"string": {str}, "integer": {int}, "number": {int, float}, "boolean": {bool}}


def _all_plain(items: Schema, value: list[object]) -> bool:
    """Whether all items are of the one type that is asked for, seen at a glance: a list may have millions."""
    kind = items.get("type")
    plain = _PLAIN.get(kind) if isinstance(kind, str) and items.keys() <= {"type", "description"} else None
    return plain is not None and set(map(type, value)) <= plain


def _has_type(kind: str | None, value: object) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            whole = isinstance(value, float) and value.is_integer() and abs(value) < MOST_INTEGER
            return (isinstance(value, int) or whole) and not isinstance(value, bool)
        case "number":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
            )
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case "null":
            return value is None
        case _:
            return True


def _show(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {value[:40]!r}{'…' if len(value) > 40 else ''}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"an array of {len(value)}"
        case _:
            return "an object"
