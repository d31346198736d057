"""Other routes: which calls brought what a reference call is there for, though none of them is that call.

A call may have asked for more and got it, or have told the same facts. Whether it asked for more its arguments alone
decide: a range of days for one of them, several places for one, the same way on the map whichever tool finds it. Only
facts that can hardly stand in a result by chance, and that nobody put in, prove anything. Pure, and about one
reference call at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from m3bench.server.scoring.matching.agreement import Agreement, MadeCall, same_place
from m3bench.tasks.facts import MIN_DIGITS, Fact, Held, digits, facts_of, is_distinctive, leaves, number
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import PlannedCall
from m3bench.tasks.trajectory import JSON, Call

SURE_DIGITS = 6
"""A shorter number proves something only where the thing that it belongs to is named: a long list holds any year."""
RANGES = (("start_date", "end_date"), ("startTime", "endTime"), ("dateStart", "dateEnd"))
"""Pairs of arguments that are the ends of a time."""
REACH = frozenset({"hours", "limit", "max_results", "months_back", "n", "radiusMeters"})
"""Arguments of which more brings more."""
_MODES = {"drive": "driving", "walk": "walking", "bicycle": "bicycling"}


def by_more(
    wanted: Call,
    planned: PlannedCall,
    made: Sequence[MadeCall],
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
        asked = made[index]
        known = [fact for fact in planned.gives if asked.result is not None and is_distinctive(fact)]
        same_tool = agreement(index) if asked.call.tool == wanted.tool else None
        if covers(wanted, asked.call, same_tool) and all(asked.held.holds(fact) for fact in known):
            return {index}
    return _by_journeys(wanted, planned, made, order)


def _by_journeys(wanted: Call, planned: PlannedCall, made: Sequence[MadeCall], order: Sequence[int]) -> set[int]:
    """Calls that asked for one way each, and together for every way of a table; their figures must be the table's."""
    wishes = [*_journeys(wanted)]
    asked = {index: [*_journeys(made[index].call)] for index in order} if len(wishes) > 1 else {}
    holders = [
        next((index for index, ways in asked.items() if any(_same_journey(wish, way) for way in ways)), None)
        for wish in wishes
    ]
    found = {index for index in holders if index is not None}
    if not found or None in holders:
        return set()
    figures = [fact for fact in planned.gives if not isinstance(fact, str) and is_distinctive(fact)]
    known = [index for index in found if made[index].result is not None]
    told = all(any(made[index].held.holds(fact) for index in known) for fact in figures)
    return found if told or not known else set()


def by_parts(wanted: Call, order: Sequence[int], agreement: Callable[[int], Agreement]) -> set[int]:
    """Several calls of the tool that each asked for a part of a list, and together for all of it.

    Args:
        wanted: The reference call.
        order: The actual calls of its tool, the preferred ones first.
        agreement: How the arguments of one of them compare.
    """
    if kinds_of(wanted.tool).role == "computation":
        return set()  # what comes of a part of the numbers is no part of the result
    parts: dict[str, dict[int, list[JSON]]] = {}
    for index in order:
        found = agreement(index)
        if len(found.wrong) == 1 and not found.reworded and found.share == 1:
            argument, _, whole, part = found.wrong[0]
            items, others = _list(part), _list(whole)
            if items and len(others) > 1 and all(any(_equal(item, other) for other in others) for item in items):
                parts.setdefault(argument, {})[index] = items
    for argument, calls in parts.items():
        taken: set[int] = set()
        for item in _list(wanted.arguments.get(argument)):
            holder = next((index for index, items in calls.items() if any(_equal(item, held) for held in items)), None)
            if holder is None:
                break
            taken.add(holder)
        else:
            return taken
    return set()


def by_facts(
    wanted: Call,
    planned: PlannedCall,
    made: Sequence[MadeCall],
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
        return _opened(wanted, planned, made, sorted(used)) or _on_the_same(wanted, planned, made, order)
    if not telling:
        return _on_the_same(wanted, planned, made, order)
    if not any(is_distinctive(fact) for fact in telling):
        order = [index for index in order if kinds_of(made[index].call.tool).role == "computation"]
    if not computed and not any(isinstance(fact, str) or digits(fact) >= SURE_DIGITS for fact in telling):
        order = [index for index in order if _names(made[index], wanted)]
    holders = [[index for index in order if made[index].told(fact)] for fact in facts]
    alone = [index for index in order if all(index in holder for holder in holders)]
    if not any(fact in planned.news for fact in telling):
        return set([index for index in alone if index in used and _knows(made[index], wanted)][:1])
    holders = [[index for index in holder if not _is_of_another(made[index].call, wanted)] for holder in holders]
    parts = {holder[0] for holder in holders} if all(holders) else set()
    proven = {holder[0] for fact, holder in zip(facts, holders, strict=True) if holder and fact in telling}
    return set(alone[:1]) or (parts if parts == proven else set())


def _is_of_another(asked: Call, wanted: Call) -> bool:
    """Whether a call asks the same tool about another one of many things: its result is no part of what is wanted."""
    if asked.tool != wanted.tool:
        return False
    kinds = kinds_of(wanted.tool)
    names = [name for name in wanted.arguments.keys() & asked.arguments.keys() if kinds.kind(name) == "identity"]
    ends = {name for pair in RANGES for name in pair}
    pairs = [(wanted.arguments[name], asked.arguments[name]) for name in names if name not in ends]
    return any(isinstance(one, str) and isinstance(other, str) and fold(one) != fold(other) for one, other in pairs)


def _proofs(wanted: Call, planned: PlannedCall) -> list[Fact]:
    """The facts that show what a call was for: not what it put in itself, and no crumbs."""
    put_in = Held("\n".join(str(leaf) for leaf in leaves(wanted.arguments)))
    facts = [fact for fact in planned.gives if not put_in.holds(fact)]
    return [
        fact for fact in facts if is_distinctive(fact) or (not isinstance(fact, str) and digits(fact) >= MIN_DIGITS)
    ]


def _knows(made: MadeCall, wanted: Call) -> bool:
    """Whether a call is knowledge whose result names what a reference call asks about."""
    named = _named(wanted, "identity", "place")
    knowledge = kinds_of(made.call.tool).role == "knowledge"
    return knowledge and bool(named) and all(made.held.holds(fact) for fact in named)


def _names(made: MadeCall, wanted: Call) -> bool:
    """Whether a call or its result names one of the things that a reference call asks about."""
    named = _named(wanted, "identity", "place", "text")
    return not named or any(made.held.holds(fact) or made.asked.holds(fact) for fact in named)


def _named(wanted: Call, *kinds: str) -> list[Fact]:
    """The distinctive facts in those arguments of a call that are of some kinds."""
    known = kinds_of(wanted.tool)
    asked = [value for name, value in wanted.arguments.items() if known.kind(name) in kinds]
    return [fact for fact in facts_of(asked) if is_distinctive(fact)]


def _on_the_same(wanted: Call, planned: PlannedCall, made: Sequence[MadeCall], order: Sequence[int]) -> set[int]:
    """For a call that told little: another tool of the server, asked about the same, that told all of it.

    A number of two digits is no proof, but the page of a package has its version as the search for it has. Asked about
    the same is whoever uses the same words, or the id that one of the two found by its words.
    """
    kinds = kinds_of(wanted.tool)
    words = {
        fold(v) for n, v in wanted.arguments.items() if isinstance(v, str) and kinds.kind(n) in ("identity", "text")
    }
    for index in order:
        other = made[index]
        knowledge = other.call.server == wanted.server and kinds_of(other.call.tool).role == "knowledge"
        if knowledge and other.call.tool != wanted.tool and planned.gives and words:
            asked = {fold(str(leaf)) for leaf in leaves(other.call.arguments)}
            if words <= asked and all(other.held.holds(fact) for fact in planned.gives):
                return {index}
            found = {fold(str(thing)) for thing in planned.about}
            same = (found and found <= asked) or words <= {fold(str(thing)) for thing in other.about}
            if same and all(other.held.holds(fact) for fact in planned.gives if _counts(fact)):
                return {index}
    return set()


def _counts(fact: Fact) -> bool:
    """Whether a fact is a number or a longer text: a short one may be a word such as `total`."""
    return not isinstance(fact, str) or is_distinctive(fact)


def _opened(wanted: Call, planned: PlannedCall, made: Sequence[MadeCall], used: Sequence[int]) -> set[int]:
    """For a call that told only what it was asked for: a needed call of another tool of the server on the same thing.

    Whoever opens an article at once has found it.
    """
    for index in used:
        opened = made[index]
        other_tool = opened.call.server == wanted.server and opened.call.tool != wanted.tool
        if other_tool and planned.gives and all(opened.held.holds(f) and opened.asked.holds(f) for f in planned.gives):
            return {index}
    return set()


class Journey(NamedTuple):
    """One way from a place to another."""

    origin: JSON
    destination: JSON
    mode: str


def covers(wanted: Call, asked: Call, agreement: Agreement | None) -> bool:
    """Whether a call asks for all that another asks for.

    Args:
        wanted: The reference call.
        asked: The actual call.
        agreement: Of their arguments, when the tool is the same.
    """
    computed = kinds_of(wanted.tool).role == "computation"
    if agreement is not None and agreement.wrong and not (agreement.reworded or computed) and agreement.share == 1:
        names = {found.argument for found in agreement.wrong}
        ends = {name for pair in RANGES if names & {*pair} and _contains(wanted, asked, *pair) for name in pair}
        if all(found.argument in ends or _more(found.argument, found.wanted, found.asked) for found in agreement.wrong):
            return True
    wishes, journeys = [*_journeys(wanted)], [*_journeys(asked)]
    return bool(wishes) and all(any(_same_journey(wish, journey) for journey in journeys) for wish in wishes)


def _contains(wanted: Call, asked: Call, start: str, end: str) -> bool:
    """Whether the time that was asked for contains the wanted one; days and times are written so that they sort."""
    inner, outer = ([str(call.arguments.get(name, "")) for name in (start, end)] for call in (wanted, asked))
    return all(inner) and all(outer) and outer[0] <= inner[0] and inner[1] <= outer[1]


def _more(name: str, wanted: JSON, asked: JSON) -> bool:
    if name in REACH:
        less, more = number(wanted), number(asked)
        return less is not None and more is not None and more >= less
    one, other = _list(wanted), _list(asked)
    return bool(one) and len(other) > len(one) and all(any(_equal(item, found) for found in other) for item in one)


def _list(value: JSON) -> list[JSON]:
    if isinstance(value, list | tuple):
        return [*value]
    return [*value.split("|")] if isinstance(value, str) and "|" in value else [value] if value is not None else []


def _equal(one: JSON, other: JSON) -> bool:
    return one == other or same_place(one, other)


def _journeys(call: Call) -> Iterator[Journey]:
    """The ways that a call of the map asks for."""
    given = call.arguments
    mode = str(given.get("travelMode") or given.get("mode") or "driving").casefold()
    mode = _MODES.get(mode, mode)
    name = call.tool.removeprefix("google-maps/")
    if name == "distance_matrix":
        for origin in _list(given.get("origins")):
            for destination in _list(given.get("destinations")):
                yield Journey(origin, destination, mode)
    elif (
        name in ("compute_route", "directions_legacy") and not given.get("intermediates") and not given.get("waypoints")
    ):
        yield Journey(_end(given.get("origin")), _end(given.get("destination")), mode)


def _end(value: JSON) -> JSON:
    """The place at an end of a route, without the names of the fields around it."""
    while isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    return value


def _same_journey(one: Journey, other: Journey) -> bool:
    return (
        one.mode == other.mode
        and same_place(one.origin, other.origin)
        and same_place(one.destination, other.destination)
    )
