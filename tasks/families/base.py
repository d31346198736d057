"""What a family of tasks is: it composes a picture from a seed, then solves its own task by playing it.

The arguments of a reference come from what the earlier calls really answered, because the generator makes
those calls as it goes. `tasks` imports nothing of ours, so the way to play is handed in.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from m3bench.tasks.checks import Check
from m3bench.tasks.render.art import Art
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task

Wanted = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


class Play(Protocol):
    """Makes the calls of a step in a sandbox and returns their texts."""

    async def __call__(self, calls: Sequence[Wanted]) -> list[str]:
        """Every call must succeed."""
        ...


@dataclass(frozen=True, kw_only=True)
class Composition:
    """A picture and what is known of it."""

    picture: bytes
    scene: Scene
    facts: Mapping[str, Any]
    """What the family needs to ask and check; never shown to a client."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A task without its frame."""

    question: str
    wording: str
    checks: tuple[Check, ...]
    difficulty: str


class Family(Protocol):
    """A generator of tasks of one kind."""

    @property
    def name(self) -> str:
        """What the family is called."""
        ...

    @property
    def servers(self) -> tuple[str, ...]:
        """What its references need."""
        ...

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """Draw the picture of a task."""
        ...

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: "Script") -> Solution:
        """Play the task, its picture being at `path`, and say what was asked."""
        ...


@dataclass
class Script:
    """Plays steps and remembers them: the reference in the making."""

    play: Play
    steps: list[tuple[ReferenceCall, ...]] = field(default_factory=list)

    async def step(self, *calls: Wanted) -> list[str]:
        """Make the calls of a step."""
        texts = await self.play(calls)
        self.steps.append(tuple(ReferenceCall(tool=tool, arguments=arguments) for tool, arguments in calls))
        return texts


def frame(family: Family, id: str, picture: str, solution: Solution, script: Script) -> Task:
    """The finished task."""
    return Task(
        id=id,
        family=family.name,
        question=solution.question,
        wording=solution.wording,
        pictures=(picture,),
        servers=family.servers,
        references=(Reference(steps=tuple(script.steps)),),
        checks=solution.checks,
        difficulty=solution.difficulty,  # type: ignore[arg-type]
    )


def media(picture: str) -> str:
    """The path of a picture as clients name it."""
    return f"./{MEDIA}/{picture}"
