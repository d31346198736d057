"""The strongest agent without a model: thresholds, shapes, letters and codes in place of eyes.

It finds pen marks by colour and shape, reads what they enclose with OCR, the detector and the reader of codes, matches
that with the names and drawings of this repository, and plays the family's plan for a picture with what it found. It is
given the question and the picture as any client is, and nothing of the set. What it solves shows how much of a set a
clever engineer can do in a day without a model that sees.

A plan draws days, distances and amounts at random, since it is made to invent tasks. Here it draws what the question
says, and is played again, without repeating a call, where that did not come out.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.blind import NOTHING, QuestionMeaning, fits, understood
from m3bench.server.lab.headless.agents.composition_search import Chooser
from m3bench.server.lab.headless.agents.evidence import PictureEvidence
from m3bench.server.lab.headless.agents.picture_look import NotSeen, PictureLook
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.lab.headless.agents.threshold_families import SEEN, See
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families import research_station, stock_growth, travel_comparison
from m3bench.tasks.families.base import Composition, Family, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import ReferenceCall
from m3bench.tasks.trajectory import Call

TRIES = 16
PICTURES = ("google-air/heatmap_tile",)
"""Tools that answer with a picture and no text."""
NUMBERS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}


async def solution_of(play: AgentPlay, family: Family, picture: Composition, asked: QuestionMeaning) -> Solution | None:
    """What comes of a task with a picture; None when the plan does not work out."""
    hints = tuple(f"{value} {NUMBERS.get(value, '')}" for value in asked.values.values())
    evidence, dice, calls = PictureEvidence(hints=hints), random.Random(play.task.id), PlanCalls(play)
    draw = DRAWN.get((family.name, asked.goal))
    for _ in range(TRIES):
        reader = QuestionReader(evidence, dice, draw(asked.values) if draw else (), asked.values.values())
        try:
            found = await family.solve(reader, picture, play.pictures[0], Script(calls, asked.goal))
        except (Unfit, LookupError, ValueError, AssertionError, TypeError):
            # The world answered otherwise than it would for the right picture, or the values drawn make no task.
            continue
        if fits(found, asked):
            return found
    return None


class QuestionReader(Chooser):
    """Draws the numbers that the question says, then what fits it."""

    def __init__(
        self, evidence: PictureEvidence, dice: random.Random, drawn: Sequence[float], said: Iterable[str]
    ) -> None:
        super().__init__(evidence, dice)
        self._drawn = list(drawn)
        self._said = frozenset(said)

    def choice(self, seq: Any) -> Any:
        """The fraction that the question says, or what fits it."""
        fractions = [option for option in seq if isinstance(option, float) and f"{option:g}" in self._said]
        return fractions[0] if fractions else super().choice(seq)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """The next of the numbers while there are some."""
        return int(self._drawn.pop(0)) if self._drawn else super().randrange(start, stop, step)

    def uniform(self, a: float, b: float) -> float:
        """As `randrange`."""
        return self._drawn.pop(0) if self._drawn else super().uniform(a, b)


class PlanCalls:
    """Makes the calls of a plan, each once; one that fails shows that the picture is another."""

    def __init__(self, play: AgentPlay) -> None:
        self._play = play
        self._told: dict[str, str] = {}

    async def __call__(self, calls: Sequence[ReferenceCall]) -> list[str]:
        """Their texts."""
        names = [json.dumps([call.tool, dict(call.arguments)], sort_keys=True) for call in calls]
        missing = {name: call for name, call in zip(names, calls, strict=True) if name not in self._told}
        texts = await self._play.patient_step(
            [Call(tool=call.tool, arguments=call.arguments) for call in missing.values()]
        )
        if not all(text or call.tool in PICTURES for text, call in zip(texts, missing.values(), strict=True)):
            raise Unfit("a call told nothing")
        self._told |= dict(zip(missing, texts, strict=True))
        return [self._told[name] for name in names]


def _window(values: Mapping[str, str]) -> list[float]:
    start, end = (date.fromisoformat(values[name]) for name in ("start", "end"))
    return [(start - research_station._FIRST).days, (end - start).days]


def _trading(values: Mapping[str, str]) -> list[float]:
    """The first day as weeks and days after the first one there is, and how many weeks later the last one is."""
    end = _day(values["day"] if "day" in values else values["end"])
    starts = [_day(values["start"])] if "start" in values else [end - timedelta(weeks=weeks) for weeks in range(3, 9)]
    for start in starts:
        weeks, days = divmod((start - stock_growth.FIRST).days, 7)
        if weeks in range(33) and days in (0, 1):
            return [weeks, days, (end - start).days // 7]
    return []


def _coins(values: Mapping[str, str]) -> list[float]:
    """What the coins of the question are worth."""
    amount, _, name = values["coins"].partition(" ")
    worth = {coin["id"]: coin["value"] for coin in load("coins")}
    return [float(amount.replace(",", "")) * worth.get(name.rpartition("(")[2].rstrip(")"), 0.0)]


def _day(said: str) -> date:
    return datetime.strptime(said, "%d %B %Y").date()


def _past(values: Mapping[str, str]) -> list[float]:
    day = _day(values["day"])
    start, end = (int(values[name][:2]) for name in ("start", "end"))
    return [(travel_comparison._LAST_DAY - day).days, start, end - start]


DRAWN: dict[tuple[str, str], Callable[[Mapping[str, str]], list[float]]] = {
    ("crypto_purchase", "everything"): _coins,
    ("stock_growth", "growth"): _trading,
    ("stock_growth", "dividends"): _trading,
    ("research_station", "flares"): _window,
    ("research_station", "storm"): _window,
    ("travel_comparison", "past"): _past,
}
"""The numbers from which a plan has its days and hours, by family and goal."""


async def threshold(play: AgentPlay) -> str:
    """Plays what thresholds and shapes find in the picture."""
    family, see = EVERY.get(play.task.family), SEEN.get(play.task.family)
    asked = None if family is None else understood(play.task, questions(play.task.family))
    if family is None or see is None or asked is None or not play.images:
        return NOTHING
    look = PictureLook(play=play, family=family, goal=asked.goal, values=asked.values)
    for look.again in (False, True):
        solution = await _tried(look, see, asked)
        if solution is not None:
            play.fields = right_fields(solution.fields)
            return solution.answer
    return NOTHING


async def _tried(look: PictureLook, see: See, asked: QuestionMeaning) -> Solution | None:
    """The solution for what is seen; None when that makes no task."""
    try:
        facts = await see(look)
    except NotSeen:
        return None
    height, width = look.image.shape[:2]
    scene = Scene(sha256="", width=width, height=height, thumbnail=b"")
    picture = Composition(picture=b"", scene=scene, facts=facts)
    return await solution_of(look.play, look.family, picture, asked)
