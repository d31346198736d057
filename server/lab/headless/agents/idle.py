"""Agents that know nothing: one does nothing, one does anything, one parrots. They are the floor."""

import re
from collections.abc import Sequence

from m3bench.server.lab.headless.agents.arguments import draw
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.tasks.catalog import Tool
from m3bench.tasks.trajectory import Call

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
