"""What would have raised the score: each fault of a run corrected alone, and scored again.

Works on a score card, so that any card can be asked, and under the profile that its headline follows. The matches are
kept: a correction adds, removes, moves or completes the calls it names and nothing else, and the metrics are computed
anew. What a correction would gain is therefore exact for the reference that counted; the gains of several do not add
up. What is wrong about the steps depends on what a call depends on: the two subclasses below.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from m3bench.proxy.steps.segmentation import Evidence
from m3bench.server.scorecard.model import (
    ActualCall,
    Alignment,
    ArgumentDifference,
    ExtraArgument,
    Fault,
    Improvement,
    Match,
    MissingArgument,
    ReferenceCall,
    ScoreCard,
)
from m3bench.server.scoring.alignment import CallAlignment, CallMatch
from m3bench.server.scoring.profiles import PROFILES, Profile
from m3bench.server.scoring.words import printable, value
from m3bench.tasks.plan import Plan, PlannedCall

OPEN: Evidence = "arrival"
"""The evidence of a step that may be the continuation of the one before it."""

LEAST = 0.0005
"""What gains less is not worth a line."""
MOST = 10
_NAMED = 3
"""Names that are _listed before the rest is counted."""


def improvements(card: ScoreCard, joined: Collection[int] = ()) -> tuple[Improvement, ...]:
    """The corrections that would raise the average, the best first; none when there is no average.

    What depends on a boundary of steps that the record leaves open is not said to be a fault, but to be one if.

    Args:
        card: The card, whose evidence says which steps may be the continuation of the one before them.
        joined: The steps, from 0, inside which another one may begin.
    """
    if card.average is None:
        return ()
    profile = PROFILES[card.scoring_profile]
    corrections = _PlanCorrections if profile.dependence == "plan" else _StepCorrections
    found = [each for each in corrections(card, profile, card.average, joined).all() if each.gain > LEAST]
    found.sort(key=lambda each: (-round(each.average, 9), each.kind, each.reference, each.actual))
    return tuple(_once(found)[:MOST])


def in_order(found: Sequence[Improvement]) -> list[Improvement]:
    """Corrections in the order in which they could be followed; what could be left out comes last."""
    return sorted(found, key=lambda one: (not one.reference, min(one.reference, default=0)))


def _once(found: Iterable[Improvement]) -> list[Improvement]:
    """Two steps in the wrong order can be corrected from either side: the first is kept."""
    kept: dict[tuple[Fault, frozenset[int], frozenset[int]], Improvement] = {}
    for each in found:
        kept.setdefault((each.kind, frozenset(each.reference), frozenset(each.actual)), each)
    return list(kept.values())


def _alignment_of(shown: Alignment, *, planned: bool) -> CallAlignment:
    """What the metrics need of a card's alignment. Actual steps have even numbers: a new one fits between any two."""
    none: tuple[tuple[int, ...], ...] = ((),) * len(shown.reference_calls)
    before = zip(shown.needs or none, shown.waits or none, strict=True)
    calls = tuple(PlannedCall(needs=needs, waits=waits) for needs, waits in before)
    return CallAlignment(
        matches={
            match.reference: CallMatch(actual=match.calls, similarity=match.similarity) for match in shown.matches
        },
        reference_sizes=tuple(map(len, shown.reference_steps)),
        actual_steps=tuple(2 * step + 2 for step, _ in shown.actual_calls),
        plan=Plan(calls=calls) if planned else None,
        not_needed=frozenset(shown.not_needed),
        slips=frozenset(instead.actual for instead in shown.instead if instead.slip),
    )


class _Corrections:
    """The corrections of one card, whatever its profile."""

    def __init__(self, card: ScoreCard, profile: Profile, now: float, joined: Collection[int]) -> None:
        shown = card.alignment
        self._begun = frozenset(step for step, why in enumerate(card.evidence) if why == OPEN)
        self._joined = frozenset(joined)
        self._profile = profile
        self._now = now
        self._reference = shown.reference_calls
        self._actual = shown.actual_calls
        self._matches: Mapping[int, Match] = {match.reference: match for match in shown.matches}
        self._missed = shown.missed
        self._extra = shown.extra
        self._instead = {instead.reference: instead for instead in shown.instead}
        self._found = _alignment_of(shown, planned=profile.dependence == "plan")
        self._first = self._found.first_steps
        """Where each answered reference call was answered first."""

    def all(self) -> Iterator[Improvement]:
        """Every correction, whatever it gains."""
        claimed: set[int] = set()
        for place in self._missed:
            yield self._answered(place, claimed)
        yield from self._left_out([place for place in self._extra if place not in claimed])
        for place, match in self._matches.items():
            if not match.full:
                yield self._completed(place, match)
        yield from self._in_other_steps()

    def _in_other_steps(self) -> Iterator[Improvement]:
        """Calls that belong into other steps than they were sent in."""
        raise NotImplementedError

    def _slots(self, places: Sequence[int]) -> set[int]:
        """The steps in which reference calls that belong together could go out."""
        raise NotImplementedError

    def _average(self, found: CallAlignment) -> float:
        return self._profile.measure(found).values["average"] or 0.0

    def _improvement(
        self, *, kind: Fault, average: float, reference: Iterable[int], actual: Iterable[int], text: str
    ) -> Improvement:
        return Improvement(
            kind=kind, gain=average - self._now, average=average, reference=tuple(sorted(reference)),
            actual=tuple(sorted(set(actual))), text=text,
        )  # fmt: skip

    def _answered(self, place: int, claimed: set[int]) -> Improvement:
        """A missed call, answered: by the call that was made in its place, or by a new one."""
        _, call = self._reference[place]
        stand_in = self._stand_in(place, claimed)
        if stand_in is not None:
            claimed.add(stand_in)
            where, mine = self._actual[stand_in]
            note = self._instead[place].note if place in self._instead else ""
            said = "failed" if mine.failed else note or "asked for something else"
            wanted = "" if note and not mine.failed else f"; what was needed is {_call_text(call)}"
            joint = " " if mine.failed or not note else ": "
            return self._improvement(
                kind="failed" if mine.failed else "unlike",
                average=self._average(self._with(place, (stand_in,))),
                reference=[place],
                actual=[stand_in],
                text=f"{_tool_name(mine)} in step {where + 1}{joint}{said}{wanted}.",
            )
        found = self._with(place, (len(self._actual),))
        average, slot = max(
            (self._average(replace(found, actual_steps=(*found.actual_steps, slot))), -slot)
            for slot in self._slots([place])
        )
        return self._improvement(
            kind="missed",
            average=average,
            reference=[place],
            actual=[],
            text=f"{_call_text(call)} is missing{_slot_text(-slot, first=not self._actual)}.",
        )

    def _stand_in(self, place: int, claimed: set[int]) -> int | None:
        """A call that answers nothing and was meant for a missed one: the nearest, or one of its tool that failed."""
        free = [at for at in self._extra if at not in claimed]
        near = self._instead.get(place)
        if near is not None and near.actual in free:
            return near.actual
        tool = self._reference[place][1].tool
        return next((at for at in free if self._actual[at][1].tool == tool), None)

    def _with(self, place: int, actual: tuple[int, ...]) -> CallAlignment:
        """The alignment with one reference call fully answered."""
        matches = {**self._found.matches, place: CallMatch(actual=actual, similarity=1.0)}
        return replace(self._found, matches=matches)

    def _left_out(self, places: Sequence[int]) -> Iterator[Improvement]:
        if not places:
            return
        kept = [index for index in range(len(self._actual)) if index not in set(places)]
        at = {index: number for number, index in enumerate(kept)}
        found = replace(
            self._found,
            actual_steps=tuple(self._found.actual_steps[index] for index in kept),
            matches={
                place: replace(match, actual=tuple(at[index] for index in match.actual))
                for place, match in self._found.matches.items()
            },
        )
        yield self._improvement(
            kind="extra",
            average=self._average(found),
            reference=[],
            actual=places,
            text=_left_out_text([self._actual[place][1] for place in places]),
        )

    def _completed(self, place: int, match: Match) -> Improvement:
        """A call that gave all of what was wanted."""
        where, mine = self._actual[match.actual]
        note = f", {match.note}" if match.note else ""
        return self._improvement(
            kind="arguments",
            average=self._average(self._with(place, match.calls)),
            reference=[place],
            actual=match.calls,
            text=f"{_tool_name(mine)} in step {where + 1}{note}: {_differences_text(match.differences)}.",
        )

    def _moved(self, places: Iterable[int], slot: int) -> CallAlignment:
        """The calls that answer these, in another step."""
        moved = {index for place in places for index in self._found.matches[place].actual}
        steps = enumerate(self._found.actual_steps)
        return replace(self._found, actual_steps=tuple(slot if index in moved else step for index, step in steps))

    def _about(self, kind: Fault, average: float, places: Sequence[int], text: str) -> Improvement:
        actual = [index for place in places for index in self._matches[place].calls]
        return self._improvement(kind=kind, average=average, reference=places, actual=actual, text=text)

    def _apart_text(self, places: Sequence[int], slots: Sequence[int], ought: str) -> str:
        """That calls which belong together went out in several steps or, where that is open, what it cost if so."""
        names, steps = self._names(places), _listed(str(slot // 2) for slot in slots)
        between = range(slots[0] // 2, slots[-1] // 2)
        if all(step in self._begun for step in between):
            return (
                f"{names} {ought}. Whether they were sent so is open: they came one after the other and are "
                "read as steps "
                f"{steps}. If they did not, this is what it cost."
            )
        some = " Whether all of these are steps of their own is open." if self._begun.intersection(between) else ""
        return f"{names} {ought} but were sent apart, in steps {steps}.{some}"

    def _mixed_text(self, then: Sequence[int], first: Sequence[int], slot: int) -> str:
        """That calls went out with one that they need or, where that is open, what it cost if so."""
        should = f"{self._names(then)} should wait for {self._names(first)}"
        if slot // 2 - 1 in self._joined:
            return (
                f"{should}. Whether they did is open: they came one after the other and are read as one step, "
                f"{slot // 2}. If they did not, this is what it cost."
            )
        return f"{should}: they were sent together in step {slot // 2}."

    def _by_reference_step(self) -> dict[int, list[int]]:
        """The answered reference calls of each step of the reference."""
        groups: dict[int, list[int]] = {}
        for place in self._matches:
            groups.setdefault(self._found.reference_steps[place], []).append(place)
        return groups

    def _names(self, places: Sequence[int]) -> str:
        return tools_text(self._actual[self._matches[place].actual][1] for place in places)


class _PlanCorrections(_Corrections):
    """Where a call depends on those that its plan says it needs."""

    def _in_other_steps(self) -> Iterator[Improvement]:
        yield from self._gathered()
        yield from self._parted()
        yield from self._turned()

    def _slots(self, places: Sequence[int]) -> set[int]:
        """After all that the calls need, before all that need them, with others where that is possible."""
        plan = self._found.plan
        assert plan is not None
        before = max(
            (self._first[need] for place in places for need in plan.needs[place] if need in self._first), default=0
        )
        dependents = [other for other in self._first if any(place in plan.needs[other] for place in places)]
        after = min((self._first[other] for other in dependents), default=None)
        fitting = {slot for slot in self._first.values() if slot > before and (after is None or slot < after)}
        return {before + 1} | ({after - 1} if after is not None else set()) | fitting

    def _gathered(self) -> Iterator[Improvement]:
        """Calls of one reference step that went out in several steps, sent together."""
        for group in self._by_reference_step().values():
            spread = sorted({self._first[place] for place in group})
            if len(spread) > 1:
                average = max(self._average(self._moved(group, slot)) for slot in {*spread, *self._slots(group)})
                yield self._about(
                    "apart", average, group, self._apart_text(group, spread, "could have been sent together")
                )

    def _parted(self) -> Iterator[Improvement]:
        """Calls that went out with one that they need, sent after it."""
        together: dict[int, dict[int, set[int]]] = {}
        for need, place in self._found.dependences:
            if self._first[need] == self._first[place]:
                together.setdefault(self._first[place], {}).setdefault(place, set()).add(need)
        for slot, waiting in sorted(together.items()):
            first = sorted(set().union(*waiting.values()) - waiting.keys())
            later = min((other for other in self._found.actual_steps if other > slot), default=slot + 1)
            average = max(self._average(self._moved(sorted(waiting), to)) for to in {slot + 1, later})
            text = self._mixed_text(sorted(waiting), first or sorted(waiting), slot)
            yield self._about("mixed", average, [*waiting, *first], text)

    def _turned(self) -> Iterator[Improvement]:
        """Calls that went out before one that they need, sent after it, or that one before them."""
        early: dict[int, list[int]] = {}
        for need, place in self._found.dependences:
            if self._first[need] > self._first[place]:
                early.setdefault(place, []).append(need)
        for place, late in early.items():
            after = max(self._first[need] for need in late)
            to = {after + 1, min((slot for slot in self._found.actual_steps if slot > after), default=after + 1)}
            ways = [self._moved([place], slot) for slot in to] + [self._moved(late, self._first[place] - 1)]
            text = f"{self._names(late)} should come before {self._names([place])}: it was the other way round."
            yield self._about("order", max(map(self._average, ways)), [place, *late], text)


class _StepCorrections(_Corrections):
    """Where each step of the reference depends on those before it."""

    def _in_other_steps(self) -> Iterator[Improvement]:
        """All matches of a reference step in one actual step, at the right place among the others."""
        for step, mine in sorted(self._by_reference_step().items()):
            average = max(self._average(self._moved(mine, slot)) for slot in self._slots(mine))
            slots = sorted({self._first[place] for place in mine})
            mixed, turned = (
                self._one_side(step, self._mixed(step, slots)),
                self._one_side(step, self._turned(step, slots)),
            )
            if len(slots) > 1:
                yield self._about("apart", average, mine, self._apart_text(mine, slots, "belong together"))
            elif mixed:
                first, then = self._by_order(step, mine, mixed)
                yield self._about("mixed", average, [*mine, *mixed], self._mixed_text(then, first, slots[0]))
            elif turned:
                first, then = self._by_order(step, mine, turned)
                text = f"{self._names(first)} should come before {self._names(then)}: it was the other way round."
                yield self._about("order", average, [*mine, *turned], text)

    def _slots(self, places: Sequence[int]) -> set[int]:
        """With other calls of their reference step, or between what comes before and after it."""
        step = self._found.reference_steps[places[0]]
        links = self._found.links
        siblings = {link.actual_step for link in links if link.reference_step == step}
        before = max((link.actual_step for link in links if link.reference_step < step), default=0)
        after = min((link.actual_step for link in links if link.reference_step > step), default=None)
        return siblings | {before + 1} | ({after - 1} if after is not None else set())

    def _mixed(self, step: int, slots: Sequence[int]) -> list[int]:
        """Answered calls of other reference steps that went out in these steps."""
        return [place for place in self._others(step) if self._first[place] in slots]

    def _turned(self, step: int, slots: Sequence[int]) -> list[int]:
        """Answered calls of other reference steps that went out on the wrong side of one of these steps."""
        return [
            place
            for place in self._others(step)
            if self._first[place] not in slots
            and any((self._found.reference_steps[place] < step) != (self._first[place] < slot) for slot in slots)
        ]

    def _others(self, step: int) -> list[int]:
        return [place for place in self._matches if self._found.reference_steps[place] != step]

    def _one_side(self, step: int, places: list[int]) -> list[int]:
        """Those that come before the step in the reference or, when there are none, after it."""
        return [place for place in places if self._found.reference_steps[place] < step] or places

    def _by_order(self, step: int, mine: list[int], others: list[int]) -> tuple[list[int], list[int]]:
        return (others, mine) if self._found.reference_steps[others[0]] < step else (mine, others)


def _tool_name(call: ReferenceCall | ActualCall) -> str:
    """The name of a call's tool."""
    name = printable(call.tool)
    return name if len(name) <= 60 else f"{name[:59]}…"


def _call_text(call: ReferenceCall) -> str:
    """A call with its arguments."""
    arguments = ", ".join(f"{printable(name)}={value(item, 32)}" for name, item in call.arguments.items())
    return f"{_tool_name(call)}({arguments if len(arguments) <= 90 else arguments[:89] + '…'})"


def _differences_text(differences: Sequence[ArgumentDifference]) -> str:
    """What is different about the arguments of a call."""
    said = []
    for item in differences[:2]:
        name = printable(item.argument)[:40] or "the arguments"
        if isinstance(item, MissingArgument):
            said.append(f"{name} is missing, needed is {value(item.reference, 40)}")
        elif isinstance(item, ExtraArgument):
            said.append(f"{name} was not asked for")
        else:
            said.append(f"{name} is {value(item.actual, 40)}, needed is {value(item.reference, 40)}")
    if len(differences) > 2:
        said.append(f"{len(differences) - 2} more differ")
    return "; ".join(said) or "its arguments differ"


def _listed(words: Iterable[str]) -> str:
    """Words one after the other; the rest of many is counted."""
    *most, last = words
    if len(most) > _NAMED:
        return f"{', '.join(most[:_NAMED])} and {len(most) + 1 - _NAMED} more"
    return f"{', '.join(most)} and {last}" if most else last


def tools_text(calls: Iterable[ActualCall]) -> str:
    """The tools of some calls, each with how often it was called."""
    return _listed(f"{times} × {name}" if times > 1 else name for name, times in _tools(calls).items())


def _left_out_text(calls: Sequence[ActualCall]) -> str:
    """That calls could be left out, and which."""
    names = _tools(calls)
    some = [f"{name} ×{times}" if times > 1 else name for name, times in names.most_common(_NAMED)]
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    count = "1 call was" if len(calls) == 1 else f"{len(calls)} calls were"
    return f"{count} not needed and could be left out: {', '.join(some)}{rest}."


def _slot_text(slot: int, *, first: bool) -> str:
    """Where a new call would stand. Steps have even slots, so that a new one fits between any two.

    Args:
        slot: The slot.
        first: Whether it would be the first call of all.
    """
    if slot % 2 == 0:
        return f" in step {slot // 2}"
    return f" after step {slot // 2}" if slot > 1 else "" if first else " at the beginning"


def _tools(calls: Iterable[ActualCall]) -> Counter[str]:
    return Counter(map(_tool_name, calls))
