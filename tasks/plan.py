"""A plan: a reference with what each of its calls gives and needs.

A call *gives* the facts of its result that a later call or the answer uses, and *needs* the calls whose facts it
uses, or whose files it works on. Both come from playing the reference. Which calls may go together follows from the
needs, not from the order in which somebody happened to write the reference down. Where a generator made a call only
after others and no value shows why, the call *waits* for them: that it was chosen by what they told can be, and need
not be. Nobody is blamed for not waiting, and nobody for waiting.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold
from m3bench.tasks.things import Thing
from m3bench.tasks.trajectory import Trajectory

SCHEMA: Literal[1] = 1
"""Version of the form."""


def digest(text: str) -> str:
    """A result in few letters; results that differ only in spacing have the same."""
    return sha256(fold(text).encode(errors="surrogatepass")).hexdigest()[:16] if text.strip() else ""


class PlannedCall(BaseModel):
    """One call of a plan; its place is that of the call in the flattened reference."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gives: tuple[Fact, ...] = ()
    """Facts of its result that a later call or the answer uses; first those that no earlier result holds."""
    new: int = 0
    """How many of them no earlier result holds."""
    needs: tuple[int, ...] = ()
    """Places of earlier calls."""
    waits: tuple[int, ...] = ()
    """Places of earlier calls that the generator made first, though nothing shows that this one needs them."""
    result: str = ""
    """A digest of its result: what it brings about when nothing of it is used as it is."""
    about: Thing = ()
    """What it was about, as the world resolved it; empty when its result does not say."""

    @property
    def news(self) -> tuple[Fact, ...]:
        """The facts that no earlier result holds."""
        return self.gives[: self.new]


class Plan(BaseModel):
    """What the calls of one reference give and need."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: tuple[PlannedCall, ...]

    @property
    def played(self) -> bool:
        """Whether somebody has played the reference, so that what its calls give is known."""
        return any(call.result or call.gives for call in self.calls)

    @cached_property
    def needs(self) -> Mapping[int, frozenset[int]]:
        """All that a call needs, directly or through others."""
        return _closed([call.needs for call in self.calls])

    @cached_property
    def before(self) -> Mapping[int, frozenset[int]]:
        """All that a call needs or waits for, directly or through others."""
        return _closed([(*call.needs, *call.waits) for call in self.calls])

    def fewest_steps(self, places: Collection[int]) -> int:
        """The steps that the best schedule takes for some of the calls: the longest chain among them."""
        depth: dict[int, int] = {}
        for place in sorted(places):
            depth[place] = 1 + max((depth[other] for other in self.before[place] if other in depth), default=0)
        return max(depth.values(), default=0)

    @property
    def shown(self) -> "Plan":
        """The plan with nothing but what playing the reference shows."""
        return Plan(calls=tuple(call.model_copy(update={"waits": ()}) for call in self.calls))


def _closed(direct: Sequence[Collection[int]]) -> Mapping[int, frozenset[int]]:
    """For each call, the calls before it: directly or through others."""
    known: dict[int, frozenset[int]] = {}
    for place, others in enumerate(direct):
        known[place] = frozenset(others).union(*(known[other] for other in others))
    return known


class Plans(BaseModel):
    """The plans of a set; the content of its `plans.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(default=SCHEMA, alias="schema")
    plans: Mapping[str, tuple[Plan, ...]]
    """By task, one for each of its references, in their order."""

    def to_json(self) -> bytes:
        """The file: a line for each task, and nothing that says nothing."""
        lines = [
            f" {json.dumps(task)}: "
            + json.dumps([plan.model_dump(mode="json", exclude_defaults=True) for plan in plans], ensure_ascii=False)
            for task, plans in self.plans.items()
        ]
        return ('{"schema": 1, "plans": {\n' + ",\n".join(lines) + "\n}}\n").encode()


def unplayed(reference: Trajectory) -> Plan:
    """The plan of a reference that nobody has played: each step needs the one before it."""
    calls: list[PlannedCall] = []
    before: tuple[int, ...] = ()
    for step in reference.steps:
        places = tuple(range(len(calls), len(calls) + len(step.calls)))
        calls += [PlannedCall(needs=before) for _ in places]
        before = places or before
    return Plan(calls=tuple(calls))
