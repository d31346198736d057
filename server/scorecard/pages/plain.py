"""Values from outside, bounded for a page: any JSON in, JSON that a browser can hold and read out.

A text that is too long is cut and says how long it was; so is a list. Numbers that a browser cannot hold exactly
become text.
"""

import json
import math
from collections.abc import Mapping
from typing import TypedDict, overload

from m3bench.tasks.json_types import JsonObject, JsonValue

MAX_TEXT = 2000
MAX_ITEMS = 200
MAX_DEPTH = 12
EXACT = 2**53


class Excerpt(TypedDict):
    """The beginning of a text, and the size of the whole."""

    text: str
    size: int
    cut: bool


@overload
def shown(
    value: Mapping[str, object], *, text: int = MAX_TEXT, items: int = MAX_ITEMS, depth: int = MAX_DEPTH
) -> JsonObject: ...


@overload
def shown(value: object, *, text: int = MAX_TEXT, items: int = MAX_ITEMS, depth: int = MAX_DEPTH) -> JsonValue: ...


def shown(value: object, *, text: int = MAX_TEXT, items: int = MAX_ITEMS, depth: int = MAX_DEPTH) -> JsonValue:
    """The value, bounded."""
    if isinstance(value, str):
        return cut(value, text)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT else cut(_digits(value), text)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        found = {
            cut(str(name), text): shown(item, text=text, items=items, depth=depth - 1)
            for name, item in list(value.items())[:items]
        }
        return found | ({"…": f"{len(value) - items} more"} if len(value) > items else {})
    if isinstance(value, list | tuple):
        kept = [shown(item, text=text, items=items, depth=depth - 1) for item in value[:items]]
        return kept + ([f"… {len(value) - items} more"] if len(value) > items else [])
    return cut(str(value), text)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters in all)"


def excerpt(text: str, limit: int) -> Excerpt:
    """The beginning of a text with the size of the whole."""
    return {"text": text[:limit], "size": len(text), "cut": len(text) > limit}


def written(value: object) -> str:
    """Any JSON value as indented text."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        return f"an integer of {value.bit_length():,} bits"
