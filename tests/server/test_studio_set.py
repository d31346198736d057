"""The set `studio`: whoever does not look at what they made solves next to nothing of it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.generation import stage
from m3bench.tasks.answers.fields import judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import STUDIO as FAMILIES
from m3bench.tasks.families.revisions import Work
from m3bench.tasks.library import STUDIO, Library
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.studio.page import Page
from m3bench.tasks.task import ReferenceCall

LIBRARY = Library(STUDIO)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}
INSTANCES = 6
every_family = pytest.mark.parametrize("family", FAMILIES)
RENDER = "studio/render_page"


@every_family
def test_pictures_are_small(family):
    assert all(len(LIBRARY.picture(task.pictures[0])) <= 200_000 for task in MEMBERS[family])


@every_family
def test_every_reference_renders_revises_and_renders_again(family):
    for task in MEMBERS[family]:
        for reference in task.references:
            steps = [{call.tool for call in step} for step in reference.steps]
            looks = [number for number, tools in enumerate(steps) if RENDER in tools]
            changes = [number for number, tools in enumerate(steps) if changes_something(tools)]
            assert looks[0] < changes[0] <= changes[-1] < looks[-1], task.id


def changes_something(tools: set[str]) -> bool:
    return any(tool.startswith(("ppt/", "excel/")) or tool.endswith("_element") for tool in tools)


@dataclass
class Made:
    """A fresh task: what its family composed, how it is solved, and what its reference leaves in the workspace."""

    composition: Composition
    solution: Solution
    calls: list[ReferenceCall]

    @property
    def work(self) -> Work:
        work = self.composition.facts["work"]
        assert isinstance(work, Work)
        return work


@cache
def made(family: str, number: int) -> Made:
    """A fresh task that nobody draws: whoever plays knows what is in its picture."""
    goals = tuple(questions(family))

    async def main() -> Made:
        for attempt in range(64):
            try:
                dice = random.Random(f"looking {family} {number} {attempt}")
                composition = FAMILIES[family].compose(dice, Kit(Outline(), load))
                scenes = (composition.scene,)
                async with stage(InProcessBackend(), "x", FAMILIES[family].servers, {}, scenes) as play:
                    script = Script(play, goals[number % len(goals)])
                    solution = await FAMILIES[family].solve(
                        random.Random(f"asked {number}"), composition, "./media/x.png", script
                    )
            except Unfit:
                continue
            return Made(composition, solution, [call for step in script.steps for call in step])
        raise AssertionError(f"{family} has no task")

    return anyio.run(main)


def solves(fresh: Made, page: Page, folder: Path) -> bool:
    """Whether somebody solves a task who hands in this page and knows everything else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / fresh.work.name).write_text(page.svg())
    fields = fresh.solution.fields
    handed_in = read(fields, "", right_fields(fields))
    return all(one.passed for one in judge(fields, handed_in, Evidence(answer="", workspace=folder)))


def asked_alone(work: Work) -> Page:
    """What somebody makes who puts in what was looked up and never renders."""
    page = work.draft
    for name in work.asked:
        if name in work.right:
            page = page.with_element(work.right[name])
        elif name in page:
            page = page.without([name])
    return page


AGENTS = {
    "hands in the draft": lambda work: work.draft,
    "makes the edits asked for": asked_alone,
    "mends everything there is": lambda work: work.everything,
    "counts letters": lambda work: work.estimated,
}


def solved(family: str, agent: str, folder: Path, count: int) -> int:
    found = [made(family, number) for number in range(count)]
    return sum(solves(one, AGENTS[agent](one.work), folder / str(number)) for number, one in enumerate(found))


@pytest.mark.slow
@pytest.mark.all_sample(12)
@pytest.mark.sample(2)
@every_family
@pytest.mark.parametrize("agent", AGENTS)
def test_whoever_does_not_look_solves_nothing(family, agent, tmp_path):
    """Whoever guesses may be lucky once."""
    assert solved(family, agent, tmp_path, INSTANCES) <= (agent == "counts letters")


@pytest.mark.all_sample(4)
@pytest.mark.seeds
@every_family
@pytest.mark.parametrize("agent", AGENTS)
def test_whoever_does_not_look_solves_one_in_ten_of_many_at_most(family, agent, tmp_path):
    assert solved(family, agent, tmp_path, 20) <= 2


@pytest.mark.all_sample(1)
@pytest.mark.seeds
@every_family
def test_whoever_looks_and_follows_what_is_seen_solves_everything(family, tmp_path):
    for number in range(20):
        fresh = made(family, number)
        assert solves(fresh, fresh.work.right, tmp_path / str(number))
        tools = [call.tool for call in fresh.calls]
        first = next(place for place, tool in enumerate(tools) if changes_something({tool}))
        assert RENDER in tools[:first]
        assert RENDER in tools[first:]


@pytest.mark.all_sample(3)
@pytest.mark.slow
@pytest.mark.sample(2)
@every_family
def test_whatever_was_right_may_not_be_touched(family, tmp_path):
    for number in range(2):
        fresh = made(family, number)
        work = fresh.work
        assert solves(fresh, work.right, tmp_path)
        untouched = [one for one in work.right.elements if one.name in work.draft and work.draft[one.name] == one]
        assert untouched
        for one in untouched:
            moved = work.right.with_element(one.moved(3, 0))
            assert not solves(fresh, moved, tmp_path), one.name
            assert not solves(fresh, work.right.without([one.name]), tmp_path), one.name
        cover = replace(untouched[0], name="cover")
        assert not solves(fresh, work.right.with_element(cover), tmp_path)


@pytest.mark.all_sample(3)
@pytest.mark.slow
@pytest.mark.sample(2)
@every_family
def test_every_single_fault_counts(family, tmp_path):
    for number in range(3):
        fresh = made(family, number)
        for one in faults(fresh.work):
            assert not solves(fresh, one, tmp_path)


def faults(work: Work) -> Sequence[Page]:
    """The right page with one element as it was drafted."""
    found = []
    for one in work.draft.elements:
        if one.name not in work.right or work.right[one.name] != one:
            found.append(work.right.with_element(one))
    return [*found, *(work.right.without([one.name]) for one in work.right.elements if one.name not in work.draft)]
