"""JSON as types: what comes from outside is `object` until it is checked; what was checked, or is written, is this."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

JsonValue: TypeAlias = bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None

JsonObject: TypeAlias = dict[str, JsonValue]

Record: TypeAlias = Mapping[str, Any]
"""A record of a table of the world, or of a tool's answer: whoever reads it knows which fields it has."""
