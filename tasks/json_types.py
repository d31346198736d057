"""JSON as types. What comes from outside is `object` until it is checked; what was checked or is written is JsonValue."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

JsonValue: TypeAlias = Union[None, bool, int, float, str, Sequence["JsonValue"], Mapping[str, "JsonValue"]]

JsonObject: TypeAlias = dict[str, JsonValue]
