"""What eyes must do for a task: fourteen skills, and which of them decide the tasks of each family.

A task may say its skills itself. `data/skills.toml` has the skills and, for each family and goal, those that its tasks
are to rest on.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator

_FILE = Path(__file__).parent / "data" / "skills.toml"

DECISIONS = 2
"""Skills that a task rests on at least, none of which depends on another."""


class SkillPlan(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    skills: dict[str, str]
    """What each is, by name."""
    plan: dict[str, dict[str, tuple[str, ...]]]
    """The skills that decide, by family and goal."""
    marked: dict[str, tuple[str, ...]] = {}
    """Goals, by family, whose tasks a mark of a pen may decide as well, among marks that mean nothing."""

    @model_validator(mode="after")
    def _known(self) -> "SkillPlan":
        for family, goals in self.plan.items():
            for goal, names in goals.items():
                unknown = sorted(set(names) - self.skills.keys())
                if unknown:
                    raise ValueError(f"{family}, {goal}: there is no skill {', '.join(unknown)}")
                if len(set(names)) < DECISIONS:
                    raise ValueError(f"{family}, {goal}: {DECISIONS} different skills are needed")
        for family, marked in self.marked.items():
            missing = sorted(set(marked) - self.plan.get(family, {}).keys())
            if missing:
                raise ValueError(f"{family} has no goal {', '.join(missing)}")
        return self


@cache
def skill_plan() -> SkillPlan:
    """The skills, and the plan for them."""
    return SkillPlan.model_validate(tomllib.loads(_FILE.read_text(encoding="utf-8")))


def skills_of(family: str, goal: str, said: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The skills that decide a task: what it says itself, or what is planned for its family and goal."""
    goals: Mapping[str, tuple[str, ...]] = skill_plan().plan.get(family, {})
    return said or goals.get(goal, ())
