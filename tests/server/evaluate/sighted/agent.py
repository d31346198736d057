"""An agent that has read a person's description of a picture, and knows nothing else of it.

A description is a text with its facts listed: what is written, what is circled in which colour, what is there. The
agent looks for a picture of the family with these facts, as the code that makes such pictures could have made it, and
plays the family's plan for that one. The scene of the task's picture is never looked at.
"""

import random
import tomllib
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from m3bench.sandboxes.world.tables import load
from m3bench.server.evaluate.agents.blind import NOTHING, plays_out, understood
from m3bench.server.evaluate.agents.evidence import Evidence, phrases_of
from m3bench.server.evaluate.agents.imagination import Chooser, Decision
from m3bench.server.evaluate.agents.play import Play
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.base import Composition, Family, Kit, Unfit
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.families.texts import questions
from m3bench.tasks.folding import fold
from m3bench.tasks.render.outline import Outline

FOLDER = Path(__file__).with_name("descriptions")
TRIES, FRESH = 4000, 8
"""Pictures that are imagined at most, and how many of them from nothing."""


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """What people wrote, by task: `text` for people, `facts` for the agent."""
    return {
        task: described
        for file in sorted(FOLDER.glob("*.toml"))
        for task, described in tomllib.loads(file.read_text("utf-8")).items()
    }


async def sighted(play: Play) -> str:
    """Plays the picture that was described."""
    family, asked = FAMILIES[play.task.family], understood(play.task, questions(play.task.family))
    assert asked is not None
    facts = descriptions()[play.task.id]["facts"]
    guess = await anyio.to_thread.run_sync(partial(remembered, family, facts))
    solution = None
    if guess is not None:
        solution = await plays_out(play, family, guess, asked, random.Random(play.task.id))
    if solution is None:
        return NOTHING
    play.fields = right_fields(solution.fields)
    return solution.answer


def remembered(family: Family, facts: Mapping[str, Any]) -> Composition | None:
    """A picture with these facts; None when none is found."""
    kit, dice = Kit(Outline(), load), random.Random(repr(sorted(facts)))
    evidence = Evidence(hints=tuple(phrases_of(facts)))
    best, trace = -1.0, list[Decision]()
    for number in range(TRIES):
        telling = [place for place, decision in enumerate(trace) if decision.kind != "share"]
        changed = dice.choice(telling) if telling and dice.random() < 0.9 else dice.randrange(len(trace) or 1)
        fresh = number < FRESH
        chooser = Chooser(evidence, dice, () if fresh else trace, -1 if fresh else changed)
        try:
            made = family.compose(chooser, kit)
        except (Unfit, LookupError, ValueError, AssertionError):
            continue
        score = likeness(facts, made.facts)
        if score >= best:
            best, trace = score, chooser.trace
        if score > 1 - 1e-9:
            return made
    return None


def likeness(said: Any, there: Any) -> float:
    """How much of what is said of a picture holds of one, from 0 to 1: every name in its place, and no more of them."""
    if isinstance(said, Mapping) and isinstance(there, Mapping):
        return sum(likeness(value, there.get(name)) for name, value in said.items()) / max(1, len(said))
    if isinstance(said, list) and isinstance(there, list | tuple):
        named = [likeness(one, other) for one, other in zip(said, there, strict=False)]
        anywhere = sum(max((likeness(one, other) for other in there), default=0.0) for one in said)
        return (0.6 * anywhere + 0.4 * sum(named)) / max(1, len(said), len(there))
    if isinstance(said, str):
        return float(any(fold(said) == fold(phrase) for phrase in phrases_of(there)))
    return float(said == there)
