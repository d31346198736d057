"""The plan as a client carried it out: which calls had to wait for which, in this run.

A call must wait for knowledge whose facts it uses, and for an action whose work it goes on with. It need not wait for a
look at a picture or for a computation, because the client has eyes and can add: what it saw or worked out itself needs
what went into it, and no more. Nor need it wait for knowledge that the reference took a value from where the client
said it otherwise: a way between two names does not need their positions. What somebody remembers is no such way, since
who uses a fact that only knowledge tells has to ask for it.
"""

from collections.abc import Mapping, Sequence

from m3bench.server.scoring.alignment import CallMatch
from m3bench.server.scoring.matching.agreement import MadeCall
from m3bench.tasks.facts import Fact, Held, leaves
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import Plan
from m3bench.tasks.trajectory import Call


def own_plan(plan: Plan, reference: Sequence[Call], made: Sequence[MadeCall], matches: Mapping[int, CallMatch]) -> Plan:
    """The plan with those needs alone that bind this client; the others become what a call may wait for.

    Args:
        plan: Of the reference.
        reference: Its calls.
        made: The actual calls.
        matches: Which of them answer which.
    """
    needs: list[set[int]] = []
    calls = list(plan.calls)
    for place, planned in enumerate(plan.calls):
        free = {need for need in planned.needs if _is_free(plan, reference, made, matches, need, place)}
        own = {*planned.needs} - free
        needs.append(own.union(*(needs[need] for need in free)))
        if free:
            changed = {"needs": tuple(sorted(needs[place])), "waits": tuple(sorted({*planned.waits, *free}))}
            calls[place] = planned.model_copy(update=changed)
    return Plan.model_construct(calls=tuple(calls))


def _is_free(
    plan: Plan,
    reference: Sequence[Call],
    made: Sequence[MadeCall],
    matches: Mapping[int, CallMatch],
    need: int,
    place: int,
) -> bool:
    """Whether the client need not wait for one call before it makes another."""
    role = kinds_of(reference[need].tool).role
    if role in ("perception", "computation"):
        return True
    match = matches.get(place)
    if role == "action" or need not in matches or match is None or match.way == "same call":
        return False
    taken = _taken(plan.calls[need].gives, reference[place])
    return bool(taken) and not any(made[index].asked.holds(fact) for index in match.actual for fact in taken)


def _taken(gives: Sequence[Fact], call: Call) -> list[Fact]:
    """The facts of a call that stand in the arguments of a later one."""
    asked = Held("\n".join(str(leaf) for leaf in leaves(call.arguments)))
    return [fact for fact in gives if asked.holds(fact)]
