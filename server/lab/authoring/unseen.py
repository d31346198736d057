"""Completes the needs of a plan by what leaves no trace in a record: what was read by eye, worked out or chosen.

Whatever follows up one of several things of which the step before asked a tool the same, while others are not followed
up, was chosen: it needs all of those calls, because they were compared. Otherwise, a call that by its values could go
out before the step it is in was held back by something. In this order:

    read        it names what no result says, and pictures were looked at before: it needs those looks.
    worked out  it has numbers that stand nowhere: it needs what the step before told.
    chosen      it uses what an earlier step told, and the step before asked a tool the same of more things than there
                are calls now: it needs them all.
    in order    nothing of this is seen, and a generator made the steps one after another: it waits for the step
                before. A choice by a single result ("if it rains") looks like this, and so does mere habit; therefore
                waiting only counts where the steps of the best schedule are counted.

A call that only opens an empty file waits for nothing while others of its step do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from m3bench.server.scoring.agreement import says_nothing
from m3bench.tasks.checks import LoggedCall
from m3bench.tasks.facts import Fact, Held, digits, facts_of, leaves
from m3bench.tasks.kinds import Role, kinds_of
from m3bench.tasks.trajectory import Call


@dataclass(frozen=True, kw_only=True)
class Sequel:
    """A call of a reference, at its place in the order of calls."""

    step: int
    call: LoggedCall
    loose: tuple[Fact, ...]
    """The facts of its arguments that neither the question nor an earlier result tells."""

    @property
    def role(self) -> Role:
        """What its tool is for."""
        return kinds_of(self.call.tool).role

    @cached_property
    def named(self) -> frozenset[Fact]:
        """What its arguments name; numbers of one digit name nothing."""
        return frozenset(fact for fact in facts_of(self.call.arguments) if isinstance(fact, str) or digits(fact) > 1)

    @cached_property
    def says(self) -> Held:
        """Its arguments, asked for facts."""
        return arguments_of(self.call)

    @property
    def opens(self) -> bool:
        """Whether it only opens an empty file."""
        given: Mapping[str, Any] = self.call.arguments
        call = Call(tool=self.call.tool, arguments=given)
        return self.role == "action" and says_nothing(call, kinds_of(call.tool), frozenset())


def arguments_of(call: LoggedCall) -> Held:
    """What a call says, asked for facts."""
    return Held("\n".join(str(leaf) for leaf in leaves(call.arguments)))


def complete(calls: Sequence[Sequel], needs: list[set[int]]) -> list[set[int]]:
    """Add to each call's needs what cannot be seen; what each call would wait for if a generator had made the steps.

    Args:
        calls: In order, step by step.
        needs: Places of the earlier calls that each call is seen to need; grows.
    """
    waits: list[set[int]] = [set() for _ in calls]
    levels: dict[int, int] = {}

    def level(place: int) -> int:
        return 1 + max((levels[other] for other in needs[place] | waits[place]), default=-1)

    for step in range(calls[-1].step + 1 if calls else 0):
        here = [place for place, one in enumerate(calls) if one.step == step]
        before = [place for place, one in enumerate(calls) if one.step == step - 1]
        last = max((levels[place] for place in before), default=-1)
        anchors = [place for place in before if levels[place] == last]
        used = set[int]().union(*(needs[place] for place in here))
        for place in here:
            one = calls[place]
            if one.opens:
                continue
            needs[place] |= _compared(place, here, before, calls, used)
            if level(place) <= last:
                needs[place] |= _read(one, calls)
            if level(place) <= last:
                needs[place] |= _worked_out(one, [calls[at] for at in anchors], anchors)
            if level(place) <= last and needs[place]:
                needs[place] |= _chosen(here, before, calls)
        held = [place for place in here if level(place) <= last]
        opening = {place for place in held if calls[place].opens}
        for place in held:
            if place not in opening or len(opening) == len(here):
                waits[place] |= {at for at in anchors if calls[at].role != "action"} or {*anchors}
        levels |= {place: level(place) for place in here}
    return waits


def _read(one: Sequel, calls: Sequence[Sequel]) -> set[int]:
    """The last looks at pictures, of a call that names something no result says."""
    if not any(isinstance(fact, str) for fact in one.loose):
        return set()
    looks = [(other.step, at) for at, other in enumerate(calls) if other.role == "perception" and other.step < one.step]
    return {at for step, at in looks if step == max(looks)[0]}


def _worked_out(one: Sequel, earlier: Sequence[Sequel], places: Sequence[int]) -> set[int]:
    """What the step before told, of a call with numbers that stand nowhere."""
    if not any(isinstance(fact, float) for fact in one.loose):
        return set()
    told = {at: other.role for at, other in zip(places, earlier, strict=True) if other.role != "action"}
    # What was computed stands where it is used as it is.
    return {at for at, role in told.items() if role != "computation"} or {*told}


def _compared(
    place: int, here: Sequence[int], before: Sequence[int], calls: Sequence[Sequel], used: set[int]
) -> set[int]:
    """The calls of the step before that were compared, of a call that follows up some of them while others are not.

    Args:
        place: The call.
        here: The calls of its step.
        before: The calls of the step before.
        calls: All calls.
        used: What the calls of the step are seen to need.
    """
    found: set[int] = set()
    for group in _groups(before, calls):
        common = frozenset.intersection(*(calls[at].named for at in group))
        own = {at: calls[at].named - common for at in group}
        followed = {at for at in group if at in used or any(_names(calls[other], own[at]) for other in here)}
        if len(followed) < len(group) and any(_names(calls[place], own[at]) for at in group):
            found |= {*group}
    return found


def _chosen(here: Sequence[int], before: Sequence[int], calls: Sequence[Sequel]) -> set[int]:
    """The calls of the step before that asked a tool the same of more things than there are calls now."""
    return {at for group in _groups(before, calls) if len(group) > len(here) for at in group}


def _groups(before: Sequence[int], calls: Sequence[Sequel]) -> Iterator[list[int]]:
    """The calls of a step that ask a tool the same of several things."""
    for tool in sorted({calls[at].call.tool for at in before if calls[at].role in ("knowledge", "perception")}):
        group = [at for at in before if calls[at].call.tool == tool]
        if len(group) > 1:
            yield group


def _names(one: Sequel, facts: frozenset[Fact]) -> bool:
    return any(one.says.holds(fact) for fact in facts)
