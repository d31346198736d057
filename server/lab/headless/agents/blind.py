"""The agent without eyes: every tool, the question and the code that makes such tasks, and never the picture.

It asks the tools that work on pictures for all they tell, searches for the picture that fits best, and plays the
family's plan for that one. A photograph is taken to be what tools tell, and what is likely where they tell nothing: a
part is where the detector has a thing of that name, or else in the middle; a number is how many of them it has, or a
small one; a subject is the first thing that it names, or what people photograph most. What the agent solves shows how
much of a set can be done without looking.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from typing import Any, NamedTuple

import anyio.to_thread

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.composition_search import Chooser, likely_compositions
from m3bench.server.lab.headless.agents.evidence import PictureEvidence, put_together
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.families.tool_answers import Found, read_objects
from m3bench.tasks.photos.facts import Detail, Photo
from m3bench.tasks.photos.recipes import RECIPES, Recipe, phrasings
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.task import ReferenceCall, Task
from m3bench.tasks.trajectory import Call

_SIDE = 800
"""Pixels of the longer side that every photograph of a set has at least."""
_SUBJECTS = ("cat", "dog", "flower", "mountain", "boat")
_SIGHTS = (("Eiffel Tower", "Paris, France"), ("Golden Gate Bridge", "San Francisco, California"))
_FOODS = ("apple", "banana", "orange")
_PLACES = ("first", "second", "third")


def guess_photos(
    recipe: str, values: Mapping[str, str], seen: Sequence[PictureEvidence], rng: random.Random
) -> tuple[Photo, ...]:
    """What the photographs of a task may show.

    Args:
        recipe: What kind of task it is.
        values: What the question says, by placeholder.
        seen: What tools tell of each photograph.
        rng: For guesses.
    """
    return tuple(_photo(recipe, values, place, one, rng) for place, one in enumerate(seen))


def _photo(recipe: str, values: Mapping[str, str], place: int, seen: PictureEvidence, rng: random.Random) -> Photo:
    things = [found.name for found in seen.objects]
    match recipe:
        case "cut":
            return Photo(parts=(_part(values[_PLACES[place]], seen, 0),))
        case "ring":
            return Photo(parts=(_part(values["part"], seen, 0),))
        case "hide":
            return Photo(parts=(_part(values["hidden"], seen, 0), _part(values["kept"], seen, 1)))
        case "tally":
            name = values[f"{_PLACES[place]}_things"]
            count = sum(thing in name or name.startswith(thing) for thing in things)
            return Photo(counts={name: count or rng.choice((1, 2, 2, 3, 4))})
        case "icons":
            return Photo(subject=things[0] if things else _SUBJECTS[place])
        case "higher" | "air":
            sight, town = _SIGHTS[place]
            return Photo(place=sight, town=town)
        case "meal":
            return Photo(food=things[0] if things else rng.choice(_FOODS), count=len(things) or rng.choice((1, 2, 3)))
        case "reading":
            return Photo(isbn=next(iter(seen.codes), "9780141439518"))
        case _:
            return Photo(thing=things[0] if things else "mug", count=len(things) or 2)


def _part(what: str, seen: PictureEvidence, number: int) -> Detail:
    """Where a part may be; parts of one photograph lie beside each other."""
    for found in seen.objects:
        if found.name in what:
            return Detail(what=what, box=found.box)
    left = _SIDE * (0.3 + 0.3 * number)
    return Detail(what=what, box=(left, _SIDE * 0.2, left + _SIDE * 0.25, _SIDE * 0.5))


class ToldChoices(random.Random):
    """Numbers and choices as a question says them, in place of random ones."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(0)
        self._said = [*values.values()]
        self._numbers = [int(said) for said in self._said if said.isdigit()]

    def choice(self, seq: Any) -> Any:
        """The option that the question names, or the first."""
        named = [
            option
            for option in seq
            if str(getattr(option, "what", option[0] if isinstance(option, tuple) else option)) in self._said
        ]
        return (named or list(seq))[0]

    def sample(self, population: Any, k: int, **options: Any) -> list[Any]:
        """The numbers that the question says, or the first of anything else."""
        return self._numbers[:k] if isinstance(population, range) else list(population)[:k]

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Nothing changes places."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """The next number of the question that lies between."""
        found = [
            number for number in self._numbers if number in range(start, stop if stop is not None else start, step)
        ]
        return found[0] if found else start

    def randint(self, a: int, b: int) -> int:
        """The last number of the question that lies between."""
        found = [number for number in self._numbers if a <= number <= b]
        return found[-1] if found else a

    def random(self) -> float:
        """Below a half where the question wants degrees Celsius."""
        return 0.0 if "Celsius" in self._said else 0.99


READ_WITH = ("--oem 3 --psm 6", "--oem 3 --psm 11")
"""One block of text, and text anywhere."""
SEARCHES = 4
"""Times that it tries to understand what the question means before it gives up."""
NOTHING = "I cannot say without seeing the picture."


class QuestionMeaning(NamedTuple):
    """What a question wants."""

    goal: str
    values: dict[str, str]


async def blind(play: AgentPlay) -> str:
    """Plays what the picture seems to be, by what tools say of it."""
    family = EVERY.get(play.task.family)
    recipe = next((candidate for candidate in RECIPES if candidate.name == play.task.family), None)
    if family is None and recipe is not None:
        return await _guessed(play, recipe)
    asked = None if family is None else understood(play.task, questions(play.task.family))
    if family is None or asked is None:
        return NOTHING
    # Of sound and film the tools for pictures tell nothing.
    evidence = put_together([await look(play, path) for path in play.pictures if play.task.pictures])
    dice = random.Random(f"blind {play.task.question} {evidence.readings} {evidence.objects}")
    kit = Kit(Outline(), load, goal=asked.goal)
    guesses = await anyio.to_thread.run_sync(likely_compositions, family, kit, evidence, dice)
    for guess in guesses:
        solution = await plays_out(play, family, guess, asked, dice)
        if solution is not None:
            play.fields = right_fields(solution.fields)
            return solution.answer
    return NOTHING


async def _guessed(play: AgentPlay, recipe: Recipe) -> str:
    """Plays a recipe for photographs with what tools tell, and with what is likely where they tell nothing."""
    asked = understood(play.task, {"": phrasings(recipe.name)})
    if asked is None:
        return NOTHING
    seen = [await look(play, path) for path in play.pictures]
    photos = guess_photos(recipe.name, asked.values, seen, random.Random(play.task.question))
    try:
        solution = await recipe.solve(ToldChoices(asked.values), photos, play.pictures, Script(_Caller(play)))
    except (Unfit, LookupError, ValueError, AssertionError, TypeError):
        return NOTHING
    play.fields = right_fields(solution.fields)
    return solution.answer


async def look(play: AgentPlay, path: str) -> PictureEvidence:
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
    return PictureEvidence(
        readings=tuple(text for text in readings if text and "No text detected" not in text),
        codes=tuple(_codes(codes)),
        objects=tuple(_objects(seen)),
        hints=tuple(re.findall(r'"description": "([^"]*)"', seen)),
    )


def understood(task: Task, ways: Mapping[str, Sequence[str]]) -> QuestionMeaning | None:
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
                return QuestionMeaning(goal, found.groupdict())
    return None


_CUES = frozenset({"which", "which_one"})
"""Placeholders that say which cues a picture has."""


def fits(solution: Solution, asked: QuestionMeaning) -> bool:
    """Whether a question with these values would have been asked; what the picture's cues are called is no matter."""
    return solution.given.keys() | _CUES >= asked.values.keys() and all(
        asked.values.get(name) == value for name, value in solution.given.items()
    )


async def plays_out(
    play: AgentPlay, family: Family, guess: Composition, asked: QuestionMeaning, dice: random.Random
) -> Solution | None:
    """The solution of the task that a picture would make; None when it makes none."""
    values = PictureEvidence(hints=tuple(asked.values.values()))
    for _ in range(SEARCHES):
        script = Script(_Caller(play), asked.goal)
        try:
            solution = await family.solve(Chooser(values, dice), guess, play.pictures[0], script)
        except (Unfit, LookupError, ValueError, AssertionError, TypeError):
            # The world answered otherwise than it would for the right picture.
            return None
        if fits(solution, asked):
            return solution
    return None


class _Caller:
    """Makes the calls of a plan; one that fails shows that the picture is another."""

    def __init__(self, play: AgentPlay) -> None:
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
    for result in found.get("metadata", {}).get("results", ()) if isinstance(found, dict) else ():
        yield str(result.get("data", ""))
