"""What is really to be seen in a task's pictures: each thing, what its cues show, and whether it is meant.

It is data of the server's side. It lies beside the scenes of a set, is in no sandbox and in nothing that a client is
sent, so that what a run assumed can later be held against what was there.
"""

from math import comb, prod
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.tasks.scene import Box

TRUTHS = "truths"
"""The folder of a set that has them, one file for each task."""

Shown = str | int | float

Measure = Literal["state", "count", "reading", "relation", "kind", "order"]
"""What kind of value a cue shows."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CueTruth(_Model):
    """A cue that decides what is meant."""

    name: str
    skill: str
    """One of `data/skills.toml`."""
    phrase: str
    """What the question calls it."""
    measure: Measure = "state"


class Observation(_Model):
    """What a cue shows of one thing."""

    value: Shown
    """A state, a count, a reading, what it stands to; of two pictures `before > after`."""
    holds: bool
    box: Box | None = None
    """Where it is drawn, in the pixels of the picture."""
    picture: int = 0


class ThingTruth(_Model):
    """One of the things that could be meant."""

    name: str
    """As the world knows it: `pear`, a title, an ISBN."""
    label: str = ""
    """What a detector calls it; empty where it has no word."""
    words: tuple[str, ...] = ()
    """Other words by which a call or an answer may mean it: identifiers, spellings, queries."""
    box: Box | None = None
    """Where it is, in the pixels of the picture."""
    picture: int = 0
    """Which of the task's pictures, from 0."""
    cues: tuple[Observation, ...] = ()
    """One for each cue of the task, in their order."""
    meant: bool = False
    group: int = 0
    """Of what is meant: 0 where the question speaks of one group, or for the first one; 1 for the second."""


class Amount(_Model):
    """A number or a word that is to be read from a picture, beside what is meant."""

    name: str
    skill: str
    value: Shown
    thing: str = ""
    """Whose it is; empty where it belongs to the whole picture."""
    options: tuple[Shown, ...] = ()
    """All that it could be as far as anybody knows who did not look, this one among them."""
    within: float = 0
    """How far a careful reading may be off."""


class Truth(_Model):
    """What there is to see in the pictures of a task."""

    task: str = ""
    cues: tuple[CueTruth, ...] = ()
    things: tuple[ThingTruth, ...] = ()
    amounts: tuple[Amount, ...] = ()
    ordered: bool = False
    """Whether it matters which of the meant things comes first, beside which they are."""
    choices: int = Field(default=0, ge=0)
    """How many sets of things could be meant, where the composition allows fewer than any; 0 where any may be."""

    @property
    def skills(self) -> tuple[str, ...]:
        """The skills that decide."""
        return tuple(dict.fromkeys([*(cue.skill for cue in self.cues), *(amount.skill for amount in self.amounts)]))

    @property
    def meant(self) -> tuple[ThingTruth, ...]:
        """The things that are meant, in their order."""
        return tuple(thing for thing in self.things if thing.meant)

    @property
    def guesses(self) -> int:
        """How many equally likely guesses there are for whoever knows how many things are meant and sees nothing."""
        second = sum(thing.group for thing in self.meant)
        first, all_things = len(self.meant) - second, len(self.things)
        any_of = comb(all_things, first) * comb(all_things - first, second)
        return (self.choices or any_of) * prod(max(1, len(amount.options)) for amount in self.amounts)
