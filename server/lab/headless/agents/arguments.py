"""Arguments that fit a tool's schema and mean nothing."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.tasks.catalog import Tool
from m3bench.tasks.trajectory import JSON

OPTIONAL = 0.25
"""The share of optional arguments that are given."""

FALLBACK = ("north", "blue", "history", "7", "report")


def is_path(name: str) -> bool:
    """Whether an argument of this name is a file that a tool reads or writes."""
    return name.casefold().replace("_", "") in PATHS


PATHS = frozenset(
    {"imagefileuri", "filepath", "inputpath", "outputpath", "templatepath", "imagesource", "imagepaths", "savepath"}
    | {"fontpath", "url", "photoresource"}
)
"""Names of such arguments, without case and underscores."""


def draw(tool: Tool, dice: random.Random, words: Sequence[str] = (), files: Sequence[str] = ()) -> dict[str, JSON]:
    """Arguments for a tool: every required one, and some of the others.

    Args:
        tool: The tool.
        dice: Where chance comes from.
        words: Strings to use.
        files: Paths to use where a file is meant.
    """
    properties = tool.input_schema.get("properties", {})
    required = set(tool.input_schema.get("required", ()))
    return {
        name: dice.choice(files) if files and is_path(name) and _takes_text(schema) else value(schema, dice, words)
        for name, schema in properties.items()
        if name in required or dice.random() < OPTIONAL
    }


def value(schema: Mapping[str, Any], dice: random.Random, words: Sequence[str] = ()) -> JSON:
    """Something that fits a schema."""
    if "enum" in schema:
        chosen: JSON = dice.choice(schema["enum"])
        return chosen
    if "anyOf" in schema:
        return value(dice.choice(schema["anyOf"]), dice, words)
    match schema.get("type"):
        case "null":
            return None
        case "boolean":
            return dice.random() < 0.5
        case "integer" | "number":
            low, high = schema.get("minimum", 1), schema.get("maximum", 50)
            return dice.randint(int(low), int(high))
        case "array":
            count = max(schema.get("minItems", 0), dice.randint(1, 3))
            return [value(schema.get("items", {"type": "string"}), dice, words) for _ in range(count)]
        case "object":
            inner = schema.get("properties", {})
            return {name: value(inner[name], dice, words) for name in schema.get("required", ()) if name in inner}
        case _:
            return dice.choice(words or FALLBACK)


def _takes_text(schema: Mapping[str, Any]) -> bool:
    return any(kind.get("type") == "string" for kind in (schema, *schema.get("anyOf", ())))
