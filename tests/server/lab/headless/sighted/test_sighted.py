"""What a task needs of its picture can be seen: from a description by somebody who looked, an agent solves it."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from m3bench.server.commands.run import plans_of_agents, play_agents
from m3bench.server.lab.headless.agents.blind import NOTHING
from m3bench.server.lab.headless.agents.play import AgentPlay, Hidden
from m3bench.server.lab.headless.agents.registry import BaselineAgent
from m3bench.server.lab.headless.plan import RunChoice
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from m3bench.tasks.trajectory import Call
from tests.server.lab.headless.sighted.agent import descriptions, reader
from tests.server.lab.headless.sighted.recollection import Noted, Unknown, recollected

ENOUGH = 0.95


@dataclass(frozen=True, kw_only=True)
class Sighted(BaselineAgent):
    """Not in the registry: it can play only what was described."""

    notes: Mapping[str, Noted]

    @property
    def play(self) -> Callable[[AgentPlay], Awaitable[str]]:
        return reader(self.notes)


class Silent(AgentPlay):
    """A run in which no tool says anything."""

    async def step(self, calls: Sequence[Call]) -> list[str]:
        return ["" for _ in calls]


def solved(notes: Mapping[str, Noted], folder: Path) -> set[str]:
    """The tasks that somebody with these notes solves."""
    agent = Sighted(name="sighted", about="has read what somebody saw", where="", notes=notes)
    choice = RunChoice(agent="", kind="baseline", folder=folder, ids=tuple(notes), profile="full", sandbox="inprocess")
    play_agents(plans_of_agents(choice, [agent], folder / "out"))
    return {result.sample.task for result in read_resultset(folder / "out").results if result.card.success}


def test_two_pictures_of_every_family_are_described() -> None:
    assert Counter(task.rpartition("-")[0] for task in descriptions()) == dict.fromkeys(FAMILIES, 2)


@pytest.mark.slow
@pytest.mark.parametrize("each", [2, pytest.param(1, marks=pytest.mark.night)])
def test_what_is_asked_can_be_seen(each: int, tmp_path: Path) -> None:
    notes = {task: described["facts"] for task, described in list(descriptions().items())[::each]}
    found = solved(notes, tmp_path)
    print(f"{len(found)} of {len(notes)} solved")
    assert len(found) >= ENOUGH * len(notes), sorted(set(notes) - found)


@pytest.mark.slow
def test_notes_on_another_picture_solve_nothing(tmp_path: Path) -> None:
    notes = {task: described["facts"] for task, described in descriptions().items()}
    others = {f"{task.removesuffix('-6')}-3": noted for task, noted in notes.items() if task.endswith("-6")}
    assert len(others) == len(notes) / 2
    others = dict(list(others.items())[::2])
    assert solved(others, tmp_path) == set()


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_description_alone_is_no_answer() -> None:
    notes = {task: described["facts"] for task, described in descriptions().items()}
    library, sighted = Library(), reader(notes)
    for task in sorted(notes)[::2]:
        play = Silent(
            client=cast(Any, None),
            connect=cast(Any, None),
            task=library.task(task),
            library=library,
            run="run",
            pictures=("./media/picture.png",),
            shown=frozenset(),
            hidden=Hidden(files=(), texts=()),
            dice=random.Random(0),
        )
        assert (await sighted(play), play.fields) == (NOTHING, None)


def test_what_nobody_noted_stays_unknown() -> None:
    noted = recollected(FAMILIES["fipe_car"], {"brand": "Honda"})
    assert noted.facts == {"brand": "Honda"}


@pytest.mark.slow
def test_a_name_stands_for_what_the_family_knows_of_it() -> None:
    (tower,) = recollected(FAMILIES["travel_comparison"], {"landmarks": ["Eiffel Tower"]}).facts["landmarks"]
    assert (tower["name"], tower["city_id"]) == ("Eiffel Tower", "paris")
    with pytest.raises(Unknown, match="Tower of Nowhere"):
        recollected(FAMILIES["travel_comparison"], {"landmarks": ["Tower of Nowhere"]})
