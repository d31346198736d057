"""Other routes: which calls brought what a reference call is there for, though none of them is that call.

A call may have asked for more and got it, or have told the same facts. Only facts that can hardly stand in a result by
chance, and that nobody put in, prove anything. Pure, and about one reference call at a time.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from m3bench.server.scoring.agreement import Agreement
from m3bench.server.scoring.coverage import covers
from m3bench.tasks.facts import MIN_DIGITS, Fact, Held, digits, facts_of, is_distinctive, leaves
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import PlannedCall
from m3bench.tasks.trajectory import Call

SURE_DIGITS = 6
"""A shorter number proves something only where the thing that it belongs to is named: a long list holds any year."""


class Told(Protocol):
    """An actual call with what it gave."""

    @property
    def call(self) -> Call:
        """The call."""

    @property
    def result(self) -> str | None:
        """The text of its result; None when it is not known."""

    @property
    def held(self) -> Held:
        """The result, asked for facts."""

    @property
    def asked(self) -> Held:
        """The arguments, asked for facts."""

    def told(self, fact: Fact) -> bool:
        """Whether it brought a fact that whoever made it did not put in."""


def by_more(
    wanted: Call,
    planned: PlannedCall,
    made: Sequence[Told],
    order: Sequence[int],
    agreement: Callable[[int], Agreement],
) -> set[int]:
    """A call that asked for more and got what was wanted; it may be one that answers another call too.

    Args:
        wanted: The reference call.
        planned: What it gives.
        made: The actual calls.
        order: Those to look at, the preferred ones first.
        agreement: How the arguments of one of the same tool compare.
    """
    for index in order:
        one = made[index]
        known = [fact for fact in planned.gives if one.result is not None and is_distinctive(fact)]
        same_tool = agreement(index) if one.call.tool == wanted.tool else None
        if covers(wanted, one.call, same_tool) and all(one.held.holds(fact) for fact in known):
            return {index}
    return set()


def by_facts(
    wanted: Call,
    planned: PlannedCall,
    made: Sequence[Told],
    order: Sequence[int],
    used: frozenset[int],
    common: frozenset[Fact] = frozenset(),
) -> set[int]:
    """Calls of any tool that told the same facts: one alone, or several together.

    What an earlier result held as well counts where needed knowledge told it of the same thing: a search may tell all
    that the details would.

    Args:
        wanted: The reference call.
        planned: What it gives.
        made: The actual calls.
        order: Those to look at, the preferred ones first.
        used: Those that answer something already.
        common: Facts that other reference calls of the tool give too, and that do not tell them apart.
    """
    computed = kinds_of(wanted.tool).role == "computation"
    facts = _proofs(wanted, planned)
    telling = [fact for fact in facts if (computed or is_distinctive(fact)) and fact not in common]
    if not facts:
        return _opened(wanted, planned, made, sorted(used))
    if not telling:
        return set()
    if not any(is_distinctive(fact) for fact in telling):
        order = [index for index in order if kinds_of(made[index].call.tool).role == "computation"]
    if not computed and not any(isinstance(fact, str) or digits(fact) >= SURE_DIGITS for fact in telling):
        order = [index for index in order if _names(made[index], wanted)]
    holders = [[index for index in order if made[index].told(fact)] for fact in facts]
    alone = [index for index in order if all(index in holder for holder in holders)]
    if not any(fact in planned.news for fact in telling):
        return set([index for index in alone if index in used and _knows(made[index], wanted)][:1])
    parts = {holder[0] for holder in holders} if all(holders) else set()
    proven = {holder[0] for fact, holder in zip(facts, holders, strict=True) if holder and fact in telling}
    return set(alone[:1]) or (parts if parts == proven else set())


def _proofs(wanted: Call, planned: PlannedCall) -> list[Fact]:
    """The facts that show what a call was for: not what it put in itself, and no crumbs."""
    put_in = Held("\n".join(str(leaf) for leaf in leaves(wanted.arguments)))
    facts = [fact for fact in planned.gives if not put_in.holds(fact)]
    return [
        fact for fact in facts if is_distinctive(fact) or (not isinstance(fact, str) and digits(fact) >= MIN_DIGITS)
    ]


def _knows(made: Told, wanted: Call) -> bool:
    """Whether a call is knowledge whose result names what a reference call asks about."""
    named = _named(wanted, "identity", "place")
    knowledge = kinds_of(made.call.tool).role == "knowledge"
    return knowledge and bool(named) and all(made.held.holds(fact) for fact in named)


def _names(made: Told, wanted: Call) -> bool:
    """Whether a call or its result names one of the things that a reference call asks about."""
    named = _named(wanted, "identity", "place", "text")
    return not named or any(made.held.holds(fact) or made.asked.holds(fact) for fact in named)


def _named(wanted: Call, *kinds: str) -> list[Fact]:
    """The distinctive facts in those arguments of a call that are of some kinds."""
    known = kinds_of(wanted.tool)
    asked = [value for name, value in wanted.arguments.items() if known.kind(name) in kinds]
    return [fact for fact in facts_of(asked) if is_distinctive(fact)]


def _opened(wanted: Call, planned: PlannedCall, made: Sequence[Told], used: Sequence[int]) -> set[int]:
    """For a call that told only what it was asked for: a needed call of another tool of the server on the same thing.

    Whoever opens an article at once has found it.
    """
    for index in used:
        one = made[index]
        other_tool = one.call.server == wanted.server and one.call.tool != wanted.tool
        if other_tool and planned.gives and all(one.held.holds(f) and one.asked.holds(f) for f in planned.gives):
            return {index}
    return set()
