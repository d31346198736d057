"""The text of a call, which is what gets embedded.

Two ways, one per profile. Equal texts are equal calls: similarity 1, with nothing to compute. What a tool's schema
says about defaults and unordered arrays comes in as a `Signature`, so this module needs no catalog.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from m3bench.tasks.trajectory import JSON, Call

_EXACT_FLOAT = 2.0**53


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What the text of a call needs to know about its tool."""

    defaults: Mapping[str, JSON]
    """Arguments whose absence means this value."""
    unordered: frozenset[str] = frozenset()
    """Array arguments whose order carries no meaning."""

    @classmethod
    def from_schema(cls, schema: Mapping[str, Any], unordered: frozenset[str] = frozenset()) -> "Signature":
        """The facts in a JSON Schema: the `default` of each property."""
        properties = schema.get("properties", {})
        return cls(
            defaults={name: entry["default"] for name, entry in properties.items() if "default" in entry},
            unordered=unordered,
        )


Signatures: TypeAlias = Callable[[str], Signature | None]
"""Tool name to signature; a mapping's `get` will do."""


def unknown(tool: str) -> Signature | None:
    """Nothing is known of any tool: no argument is dropped and no array sorted."""
    return None


def public_arguments(call: Call, signature: Signature | None) -> JSON:
    """The arguments as they are; `None` when there were none."""
    return None if call.bare else call.arguments


def public_text(call: Call, arguments: JSON) -> str:
    """JSON of the arguments alone: keys sorted, list order kept, non-ASCII kept, `null` when absent."""
    return _dump(arguments)


def m3_arguments(call: Call, signature: Signature | None) -> JSON:
    """The arguments in one spelling: numbers normalised, defaults dropped, unordered arrays sorted."""
    arguments = {name: _normal(value) for name, value in call.arguments.items()}
    if signature is not None:
        for name in signature.unordered & arguments.keys():
            value = arguments[name]
            if isinstance(value, list):
                arguments[name] = sorted(value, key=_dump)
        for name, default in signature.defaults.items():
            # Compared as text: in Python True == 1, in JSON it does not.
            if name in arguments and _dump(arguments[name]) == _dump(_normal(default)):
                del arguments[name]
    return arguments


def m3_text(call: Call, arguments: JSON) -> str:
    """The tool's name, a space, JSON of the arguments with sorted keys; absent arguments are an empty object."""
    return f"{call.tool} {_dump(arguments)}"


def _normal(value: JSON) -> JSON:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_FLOAT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value


def _dump(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # A lone surrogate is legal in JSON and in no encoding.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
