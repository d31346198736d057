"""JSON as types: what comes from outside is `object` until it is checked; what was checked, or is written, is this."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonValue: TypeAlias = bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None

JsonObject: TypeAlias = dict[str, JsonValue]
