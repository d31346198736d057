"""The agent without eyes: every tool, the question and the code that makes such tasks, and never the picture.

It asks the tools that work on pictures for all they tell, imagines the picture that fits best, and plays the family's
plan for that one. What it solves shows how much of a set can be done without looking.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import anyio.to_thread

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.evidence import Evidence, put_together
from m3bench.server.lab.headless.agents.imagination import Chooser, imagine
from m3bench.server.lab.headless.agents.photo_guesses import Told, guess_photos
from m3bench.server.lab.headless.agents.play import Play
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, Unfit
from m3bench.tasks.families.detections import Found, read_objects
from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.families.texts import questions
from m3bench.tasks.photos.recipes import RECIPES, Recipe, phrasings
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.task import ReferenceCall, Task
from m3bench.tasks.trajectory import Call

READ_WITH = ("--oem 3 --psm 6", "--oem 3 --psm 11")
"""One block of text, and text anywhere."""
SEARCHES = 4
"""Times that it tries to understand what the question means before it gives up."""
NOTHING = "I cannot say without seeing the picture."


class Asked(NamedTuple):
    """What a question wants."""

    goal: str
    values: dict[str, str]


async def blind(play: Play) -> str:
    """Plays what the picture seems to be, by what tools say of it."""
    family = EVERY.get(play.task.family)
    recipe = next((one for one in RECIPES if one.name == play.task.family), None)
    if family is None and recipe is not None:
        return await _guessed(play, recipe)
    asked = None if family is None else understood(play.task, questions(play.task.family))
    if family is None or asked is None:
        return NOTHING
    # Of sound and film the tools for pictures tell nothing.
    evidence = put_together([await look(play, path) for path in play.pictures if play.task.pictures])
    dice = random.Random(f"blind {play.task.question} {evidence.readings} {evidence.objects}")
    kit = Kit(Outline(), load)
    guesses = await anyio.to_thread.run_sync(imagine, family, kit, evidence, dice)
    for guess in guesses:
        solution = await plays_out(play, family, guess, asked, dice)
        if solution is not None:
            play.fields = right_fields(solution.fields)
            return solution.answer
    return NOTHING


async def _guessed(play: Play, recipe: Recipe) -> str:
    """Plays a recipe for photographs with what tools tell, and with what is likely where they tell nothing."""
    asked = understood(play.task, {"": phrasings(recipe.name)})
    if asked is None:
        return NOTHING
    seen = [await look(play, path) for path in play.pictures]
    photos = guess_photos(recipe.name, asked.values, seen, random.Random(play.task.question))
    try:
        solution = await recipe.solve(Told(asked.values), photos, play.pictures, Script(_Caller(play)))
    except (Unfit, LookupError, ValueError, AssertionError, TypeError):
        return NOTHING
    play.fields = right_fields(solution.fields)
    return solution.answer


async def look(play: Play, path: str) -> Evidence:
    """All that tools tell of a picture."""
    seen, codes, *readings = await play.step(
        [
            Call(tool="dinox-mcp/detect-all-objects", arguments={"imageFileUri": path, "includeDescription": True}),
            Call(tool="pyzbar-mcp/scan_barcode", arguments={"image_paths": [path]}),
            *(
                Call(tool="ocr/perform_ocr", arguments={"input_data": path, "config": config})
                for config in READ_WITH
            ),
        ]
    )  # fmt: skip
    return Evidence(
        readings=tuple(text for text in readings if text and "No text detected" not in text),
        codes=tuple(_codes(codes)),
        objects=tuple(_objects(seen)),
        hints=tuple(re.findall(r'"description": "([^"]*)"', seen)),
    )


def understood(task: Task, ways: Mapping[str, Sequence[str]]) -> Asked | None:
    """The goal of a question and what its placeholders say; None when nobody asks like that."""
    for goal, phrased in ways.items():
        for phrasing in phrased:
            parts = re.split(r"\{(\w+)\}", phrasing)
            seen: set[str] = set()
            pattern = ""
            for number, part in enumerate(parts):
                if number % 2 == 0:
                    pattern += re.escape(part)
                else:
                    pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
                    seen.add(part)
            if found := re.fullmatch(pattern, task.question):
                return Asked(goal, found.groupdict())
    return None


async def plays_out(
    play: Play, family: Family, guess: Composition, asked: Asked, dice: random.Random
) -> Solution | None:
    """The solution of the task that a picture would make; None when it makes none."""
    values = Evidence(hints=tuple(asked.values.values()))
    for _ in range(SEARCHES):
        script = Script(_Caller(play), asked.goal)
        try:
            solution = await family.solve(Chooser(values, dice), guess, play.pictures[0], script)
        except (Unfit, LookupError, ValueError, AssertionError, TypeError):
            # The world answered otherwise than it would for the right picture.
            return None
        if dict(solution.given) == asked.values:
            return solution
    return None


class _Caller:
    """Makes the calls of a plan; one that fails shows that the picture is another."""

    def __init__(self, play: Play) -> None:
        self._play = play

    async def __call__(self, calls: Sequence[ReferenceCall]) -> list[str]:
        texts = await self._play.step([Call(tool=call.tool, arguments=call.arguments) for call in calls])
        if not all(texts):
            raise Unfit("a call told nothing")
        return texts


def _objects(text: str) -> Iterator[Found]:
    try:
        yield from read_objects(text)
    except (ValueError, LookupError, TypeError):
        # The detector has nothing to say, or is not there.
        return


def _codes(text: str) -> Iterator[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return
    for one in found.get("metadata", {}).get("results", ()) if isinstance(found, dict) else ():
        yield str(one.get("data", ""))
