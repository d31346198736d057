"""Arguments as clients send them, read as the schema asks for.

Some clients send `null` for what was left out, and numbers, booleans, lists and objects as text. Both are read as what
they stand for where the schema leaves no doubt: a `null` that does not fit an optional field means that it is absent,
and a string where no string fits is read as JSON if the value then fits. Nothing else is guessed: a number in place of
a string stays wrong, because its leading zeros are gone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from m3bench.tasks.schema import Schema, problems

LONGEST_PLAIN = 64
"""Characters of a number or a word that is read as one."""

MOST = 100
"""Arguments that are named as coerced, and characters of each name."""

_BRANCHES = ("anyOf", "oneOf")
_UNCLEAR = ("$ref", "allOf", "not", "if", "const")


@dataclass(frozen=True)
class Reading:
    """Arguments as a tool takes them."""

    arguments: Any
    coerced: tuple[str, ...] = ()
    """Those that were sent as text and read as something else; parts of them are joined with dots."""


def read_arguments(schema: Schema, arguments: object) -> Reading:
    """The arguments as they were meant; as they came when they fit, or when reading them otherwise does not help."""
    if not isinstance(arguments, Mapping) or not problems(schema, arguments):
        return Reading(arguments)
    coerced: list[str] = []
    taken = _read(schema, arguments, "", coerced)
    return Reading(taken, tuple(path[:MOST] for path in coerced[:MOST]))


def without_nulls(schema: Schema, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments without every `null` that stands for an optional one that was left out."""
    return {name: value for name, value in arguments.items() if value is not None or not _means_absent(schema, name)}


def _means_absent(schema: Schema, name: str) -> bool:
    declared = schema.get("properties", {})
    return name in declared and name not in schema.get("required", ()) and not _may_be_null(declared[name])


def _may_be_null(schema: object) -> bool:
    """Whether `null` may fit; also when the schema says it in words that are not read here."""
    if not isinstance(schema, Mapping) or schema.get("nullable") is True or any(word in schema for word in _UNCLEAR):
        return True
    for word in _BRANCHES:
        if word in schema:
            return any(map(_may_be_null, schema[word]))
    if "enum" in schema:
        return None in schema["enum"]
    kind = schema.get("type")
    return kind is None or kind == "null" or (isinstance(kind, list) and "null" in kind)


def _read(schema: Schema, value: object, path: str, coerced: list[str]) -> object:
    if "anyOf" in schema:
        kinds = [branch for branch in schema["anyOf"] if branch.get("type") != "null"]
        if problems(schema, value) and not isinstance(value, str) and len(kinds) == 1:
            return _read(kinds[0], value, path, coerced)
    if isinstance(value, str):
        return _read_text(schema, value, path, coerced)
    if isinstance(value, Mapping):
        present = without_nulls(schema, value)
        declared, rest = schema.get("properties", {}), schema.get("additionalProperties")
        return {
            name: _read(part, item, f"{path}.{name}" if path else name, coerced)
            if isinstance(part := declared.get(name, rest), Mapping)
            else item
            for name, item in present.items()
        }
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        return [_read(items, item, f"{path}[{index}]", coerced) for index, item in enumerate(value)]
    return value


def _read_text(schema: Schema, text: str, path: str, coerced: list[str]) -> object:
    if _takes_text(schema):
        return text
    plain = text.strip()
    if plain[:1] not in ("{", "[") and len(plain) > LONGEST_PLAIN:
        return text
    try:
        # Python's own way of writing them is what some frameworks send.
        found = json.loads({"True": "true", "False": "false"}.get(plain, plain), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    inside: list[str] = []
    found = _read(schema, found, path, inside) if isinstance(found, dict | list) else found
    if isinstance(found, str) or problems(schema, found):
        return text
    coerced.append(path)
    return found


def _takes_text(schema: Schema) -> bool:
    """Whether some string would fit, so that this one is wrong as a string and is nothing else."""
    if "anyOf" in schema:
        return any(map(_takes_text, schema["anyOf"]))
    if "enum" in schema:
        return any(isinstance(choice, str) for choice in schema["enum"])
    return schema.get("type") in (None, "string")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
