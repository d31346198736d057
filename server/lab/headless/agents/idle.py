"""Agents that know nothing: one does nothing, one does anything, one parrots. They are the floor.

Arguments are drawn that fit a tool's schema and mean nothing.
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.tasks.catalog import Tool
from m3bench.tasks.trajectory import JSON, Call

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


CALLS, TOGETHER = 6, 3
"""How many calls the random agent makes at most, and how many of them in one step."""
TOOLS = 4
"""How many tools the parrot calls."""
SHORT = 3
"""Words up to this length are ignored."""


async def null(play: AgentPlay) -> str:
    """Makes no call."""
    return "I do not know."


async def anything(play: AgentPlay) -> str:
    """Calls tools of the profile at random, with random arguments that fit their schemas."""
    tools = await play.tools()
    words = _words(play.task.question)
    left = play.dice.randint(1, CALLS)
    while left:
        count = play.dice.randint(1, min(left, TOGETHER))
        chosen = play.dice.choices(tools, k=count)
        await play.step([_call(tool, play, words) for tool in chosen])
        left -= count
    return " ".join(play.dice.choices(words, k=5))


async def copycat(play: AgentPlay) -> str:
    """Calls the tools whose descriptions sound like the question, with the question's words; repeats the question.

    It looks at no result.
    """
    question = play.task.question
    asked = set(_words(question))
    tools = await play.tools()
    ranked = sorted(tools, key=lambda tool: (-len(asked & set(_words(f"{tool.name} {tool.description}"))), tool.name))
    words = [question, *_words(question)]
    await play.step([_call(tool, play, words) for tool in ranked[:TOOLS]])
    return f"{question} {', '.join(play.pictures)}"


def _call(tool: Tool, play: AgentPlay, words: Sequence[str]) -> Call:
    return Call(tool=tool.qualified, arguments=draw(tool, play.dice, words, play.pictures))


def _words(text: str) -> list[str]:
    found = (word.casefold() for word in re.findall(r"[^\W_]+", text))
    return [word for word in dict.fromkeys(found) if len(word) > SHORT]
