"""The plan for skills is wide: every family needs several, and none decides much of a set."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from m3bench.server.lab.headless.agents.blind import understood
from m3bench.tasks.families.base import questions
from m3bench.tasks.families.registry import DESK, FAMILIES, SNAPSHOTS, STUDIO
from m3bench.tasks.library import SETS, Library
from m3bench.tasks.skills import DECISIONS, SkillPlan, skill_plan, skills_of
from m3bench.tasks.task import Task

PLANNED = {**FAMILIES, **SNAPSHOTS, **STUDIO, **DESK}
MOST = 0.12
"""Of the decisions of a set, as many may rest on one skill."""
MARKED = 1 / 8


def asked(name: str) -> Iterator[tuple[Task, str]]:
    """The tasks of a bundled set, with their goals."""
    for task in Library(SETS / name).tasks.values():
        meaning = understood(task, questions(task.family))
        assert meaning is not None, task.id
        yield task, meaning.goal


def test_there_are_fourteen_skills_and_a_plan_for_every_goal() -> None:
    plan = skill_plan()
    assert len(plan.skills) == 14
    assert {family: set(goals) for family, goals in plan.plan.items()} == {
        family: set(questions(family)) for family in PLANNED
    }


@pytest.mark.parametrize("name", ["m3", "snapshots", "studio", "desk"])
def test_every_task_rests_on_two_skills_and_no_skill_on_much_of_a_set(name: str) -> None:
    counted: Counter[str] = Counter()
    families: dict[str, set[str]] = defaultdict(set)
    marked = total = 0
    for task, goal in asked(name):
        skills = skills_of(task.family, goal, task.skills)
        assert len(set(skills)) >= DECISIONS, task.id
        counted.update(skills)
        families[task.family].update(skills)
        marked += goal in skill_plan().marked.get(task.family, ())
        total += 1
    assert marked <= MARKED * total
    if name == "m3":
        assert counted.keys() == skill_plan().skills.keys()
        assert max(counted.values()) <= MOST * counted.total(), counted.most_common(3)
        assert min(map(len, families.values())) >= 3, families


def test_a_task_may_say_its_skills_itself() -> None:
    assert skills_of("museum", "elder", ("dial", "way")) == ("dial", "way")
    assert skills_of("unknown", "goal") == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"plan": {"museum": {"elder": ["sight", "dial"]}}}, "there is no skill sight"),
        ({"plan": {"museum": {"elder": ["dial", "dial"]}}}, "2 different skills are needed"),
        ({"marked": {"museum": ["elder"]}}, "museum has no goal elder"),
    ],
)
def test_a_plan_with_a_fault_says_where_it_is(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        SkillPlan.model_validate({"skills": {"dial": "a dial"}, "plan": {}} | change)
