"""Honest other routes, played on a real server: they score as well as the reference, and solve the task."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.lab.results.resultset import Sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from tests.server.scoring.routes.families import SPECIAL
from tests.server.scoring.routes.route import GENERAL, Route, Steps

ROUTES = (*GENERAL, *SPECIAL)
MEAN, LEAST = 0.95, 0.85
"""What all routes must reach together, and each of them: drawing strokes one by one costs step coherence."""
QUICK = ("barcode_lookup", "med_excel")
"""Families whose routes are played in the short run too."""


@dataclass(frozen=True)
class Walker:
    """An agent that takes a route."""

    name: str
    steps: Steps

    @property
    def play(self) -> Callable[[AgentPlay], Awaitable[str]]:
        return partial(_walk, self.steps)


async def _walk(steps: Steps, play: AgentPlay) -> str:
    for step in steps:
        await play.step(step)
    play.fields = right_fields(play.task.fields)
    return play.task.answer


@cache
def bundled() -> Library:
    """The bundled set, read once."""
    return Library()


@cache
def routes(family: str) -> tuple[tuple[Route, str, Steps], ...]:
    """Every route that applies in a family, with the first task in which it does."""
    return tuple(_routes(family))


def _routes(family: str) -> Iterator[tuple[Route, str, Steps]]:
    library = bundled()
    tasks = [task for task in library.tasks.values() if task.family == family]
    for route in ROUTES:
        found = ((task.id, route.steps(task, library.plans(task)[0])) for task in tasks)
        for id, steps in found:
            if steps is not None:
                yield route, id, steps
                break


def taken(folder: Path, task: str, steps: Steps) -> ScoreCard:
    """The score card of whoever takes a route."""
    choice = RunChoice(
        agent="walker", kind="baseline", folder=folder, ids=(task,), sandbox="inprocess", profile="full", parallel=1
    )
    plan = make_plan(choice)
    found: list[tuple[Sample, ScoreCard | None]] = []
    walker: Any = Walker("walker", steps)
    with plan.begin():
        anyio.run(play_plan, plan, walker, lambda sample, card: found.append((sample, card)))
    sample, card = found[0]
    assert card is not None, sample.reason
    return card


def test_there_are_sixty_routes_and_two_in_every_family() -> None:
    count = {family: len(routes(family)) for family in FAMILIES}
    assert sum(count.values()) >= 60
    assert min(count.values()) >= 2, count


@pytest.mark.all_sample(4)
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "family", [family if family in QUICK else pytest.param(family, marks=pytest.mark.slow) for family in FAMILIES]
)
def test_other_routes_are_worth_as_much_as_the_reference(family: str, tmp_path: Path) -> None:
    found = {}
    for number, (route, task, steps) in enumerate(routes(family)):
        card = taken(tmp_path / str(number), task, steps)
        assert card.success is True, (task, route.name, [check.reason for check in card.checks if not check.passed])
        found[f"{task}: {route.name}"] = card.average or 0.0
    assert min(found.values()) >= LEAST, found
    assert sum(found.values()) / len(found) >= MEAN, found
