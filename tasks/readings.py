"""The readings of a record: every way to put its calls into steps that its evidence allows.

Between two neighbouring calls of a conversation there is a boundary, or there is not. Evidence comes in two forms:
calls that belong to one step (nothing may divide them), and a call that has seen an earlier answer (something must
divide the two, somewhere between them). A reading is any choice of boundaries that respects both; one more boundary
never breaks the second form, so the reading with all possible boundaries is always among them. Values only: `proxy`
finds the evidence, `server.scoring` computes what the readings are worth.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

Steps = tuple[tuple[int, ...], ...]
"""Indices of calls, by step; steps in the order of their first calls."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """The calls of one conversation, in order of arrival, and the evidence on them. Places are counted from 0."""

    calls: tuple[int, ...]
    """Indices among all calls of the run."""
    joined: tuple[bool, ...]
    """For each place, whether it is in the step of the place before it."""
    floor: tuple[int, ...]
    """For each place, the first place at which its step may begin; never falls."""

    @cached_property
    def possible(self) -> tuple[int, ...]:
        """Where a step may begin."""
        return tuple(place for place in range(len(self.calls)) if place == 0 or not self.joined[place])

    @cached_property
    def forced(self) -> frozenset[int]:
        """Where a step begins in every reading: the only place that can keep some call apart from what it saw."""
        alone = {0} if self.calls else set()
        before = latest = -1
        for place, floor in enumerate(self.floor):
            if place == 0 or not self.joined[place]:
                before, latest = latest, place
            if floor > 0 and before < floor <= latest:
                alone.add(latest)
        return frozenset(alone)

    @cached_property
    def open(self) -> tuple[int, ...]:
        """Where a step may begin or not."""
        return tuple(place for place in self.possible if place not in self.forced)

    def reading(self, wanted: Collection[int]) -> tuple[int, ...]:
        """Where steps begin when they begin where they must, at the wanted places, and as late as they can otherwise.

        A reading that has only the wanted boundaries is returned as it is.
        """
        begins = {place for place in self.possible if place in self.forced or place in wanted}
        latest = last = 0
        for place, floor in enumerate(self.floor):
            if place == 0 or not self.joined[place]:
                latest = place
            if place in begins:
                last = place
            if last < floor:
                begins.add(latest)
                last = latest
        return tuple(sorted(begins))

    def every(self) -> Iterator[tuple[int, ...]]:
        """Where steps begin, in each reading: as many as there are choices of open boundaries, less the forbidden."""
        for choice in itertools.product((False, True), repeat=len(self.open)):
            wanted = {place for place, begins in zip(self.open, choice, strict=True) if begins} | self.forced
            if len(self.reading(wanted)) == len(wanted):
                yield tuple(sorted(wanted))


@dataclass(frozen=True, kw_only=True)
class Readings:
    """All conversations of a run; nearly always there is one."""

    conversations: tuple[Conversation, ...]

    @property
    def open(self) -> int:
        """How many boundaries are open."""
        return sum(len(conversation.open) for conversation in self.conversations)

    def every(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Where steps begin in each conversation, in each reading."""
        yield from itertools.product(*(conversation.every() for conversation in self.conversations))

    def steps(self, begins: Sequence[Collection[int]]) -> Steps:
        """The steps when those of each conversation begin at these places."""
        steps: list[list[int]] = []
        for conversation, places in zip(self.conversations, begins, strict=True):
            for place, call in enumerate(conversation.calls):
                if place == 0 or place in places:
                    steps.append([])
                steps[-1].append(call)
        return tuple(sorted(map(tuple, steps)))
