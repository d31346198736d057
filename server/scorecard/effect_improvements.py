"""What each fault of a run cost by effect: the fault corrected alone, and the metrics of the profile computed anew.

The answers are kept: a correction adds, removes, moves or completes the calls it names and nothing else. Actual steps
have even places, so that a new one fits between any two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from m3bench.server.scorecard.call_words import (
    call_text,
    differences_text,
    left_out_text,
    listed,
    slot_text,
    tool_name,
    tools_text,
)
from m3bench.server.scorecard.model import Fault, Improvement, Match, ScoreCard
from m3bench.server.scoring.answers import Answer, Answers
from m3bench.server.scoring.effect_metrics import dependences, measure
from m3bench.tasks.plan import Plan, PlannedCall


class EffectCorrections:
    """The corrections of one card whose headline follows the effect of calls."""

    def __init__(self, card: ScoreCard, now: float) -> None:
        alignment = card.alignment
        self._now = now
        self._reference = alignment.reference_calls
        self._actual = alignment.actual_calls
        self._matches: Mapping[int, Match] = {match.reference: match for match in alignment.matches}
        self._missed = alignment.missed
        self._extra = alignment.extra
        self._instead = {one.reference: one for one in alignment.instead}
        none: tuple[tuple[int, ...], ...] = ((),) * len(self._reference)
        before = zip(alignment.needs or none, alignment.waits or none, strict=True)
        self._found = Answers(
            plan=Plan(calls=tuple(PlannedCall(needs=needs, waits=waits) for needs, waits in before)),
            reference_steps=tuple(step for step, _ in self._reference),
            steps=tuple(2 * step + 2 for step, _ in self._actual),
            answers={place: _answer(match.calls, match.similarity) for place, match in self._matches.items()},
            dropped=frozenset(alignment.not_needed),
            rejected={},
        )

    def all(self) -> Iterator[Improvement]:
        """Every correction, whatever it gains."""
        claimed: set[int] = set()
        for place in self._missed:
            yield self._answered(place, claimed)
        yield from self._left_out([place for place in self._extra if place not in claimed])
        for place, match in self._matches.items():
            if not match.full:
                yield self._completed(place, match)
        yield from self._gathered()
        yield from self._parted()
        yield from self._turned()

    def _average(self, found: Answers) -> float:
        return measure(found)["average"] or 0.0

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
            wanted = "" if note and not mine.failed else f": the reference calls {call_text(call)}"
            return self._improvement(
                kind="failed" if mine.failed else "unlike",
                average=self._average(self._with(place, (stand_in,))),
                reference=[place],
                actual=[stand_in],
                text=f"{tool_name(mine)} in step {where + 1}{' ' if mine.failed or not note else ': '}{said}{wanted}.",
            )
        new = len(self._actual)
        found = self._with(place, (new,))
        average, slot = max(
            (self._average(replace(found, steps=(*self._found.steps, slot))), -slot) for slot in self._slots([place])
        )
        return self._improvement(
            kind="missed",
            average=average,
            reference=[place],
            actual=[],
            text=f"{call_text(call)} is missing{slot_text(-slot, first=not self._actual)}.",
        )

    def _stand_in(self, place: int, claimed: set[int]) -> int | None:
        """A call that answers nothing and was meant for a missed one: the nearest, or one of its tool that failed."""
        free = [at for at in self._extra if at not in claimed]
        near = self._instead.get(place)
        if near is not None and near.actual in free:
            return near.actual
        tool = self._reference[place][1].tool
        return next((at for at in free if self._actual[at][1].tool == tool), None)

    def _with(self, place: int, actual: tuple[int, ...]) -> Answers:
        return replace(self._found, answers={**self._found.answers, place: _answer(actual, 1.0)})

    def _left_out(self, places: Sequence[int]) -> Iterator[Improvement]:
        if not places:
            return
        kept = [index for index in range(len(self._actual)) if index not in set(places)]
        at = {index: number for number, index in enumerate(kept)}
        found = replace(
            self._found,
            steps=tuple(self._found.steps[index] for index in kept),
            answers={
                place: replace(answer, actual=tuple(at[index] for index in answer.actual))
                for place, answer in self._found.answers.items()
            },
        )
        yield self._improvement(
            kind="extra",
            average=self._average(found),
            reference=[],
            actual=places,
            text=left_out_text([self._actual[place][1] for place in places]),
        )

    def _completed(self, place: int, match: Match) -> Improvement:
        """A call that gave all of what was wanted."""
        where, mine = self._actual[match.actual]
        return self._improvement(
            kind="arguments",
            average=self._average(self._with(place, match.calls)),
            reference=[place],
            actual=match.calls,
            text=f"{tool_name(mine)} in step {where + 1}, {match.note}: {differences_text(match.differences)}.",
        )

    def _gathered(self) -> Iterator[Improvement]:
        """Calls of one reference step that went out in several steps, sent together."""
        groups: dict[int, list[int]] = {}
        for place in self._matches:
            groups.setdefault(self._found.reference_steps[place], []).append(place)
        for group in groups.values():
            spread = sorted({self._first[place] for place in group})
            if len(spread) > 1:
                average = max(self._average(self._moved(group, slot)) for slot in {*spread, *self._slots(group)})
                steps = listed(str(slot // 2) for slot in spread)
                text = f"{self._names(group)} could go out together and went out apart, in steps {steps}."
                yield self._about("apart", average, group, text)

    def _parted(self) -> Iterator[Improvement]:
        """Calls that went out with one that they need, sent after it."""
        together: dict[int, dict[int, set[int]]] = {}
        for need, place in dependences(self._found):
            if self._first[need] == self._first[place]:
                together.setdefault(self._first[place], {}).setdefault(place, set()).add(need)
        for slot, waiting in sorted(together.items()):
            first = sorted(set().union(*waiting.values()) - waiting.keys())
            later = min((other for other in self._found.steps if other > slot), default=slot + 1)
            average = max(self._average(self._moved(sorted(waiting), to)) for to in {slot + 1, later})
            text = (
                f"{self._names(sorted(waiting))} should wait for {self._names(first or sorted(waiting))}: "
                f"they went out together in step {slot // 2}."
            )
            yield self._about("mixed", average, [*waiting, *first], text)

    def _turned(self) -> Iterator[Improvement]:
        """Calls that went out before one that they need, sent after it, or that one before them."""
        early: dict[int, list[int]] = {}
        for need, place in dependences(self._found):
            if self._first[need] > self._first[place]:
                early.setdefault(place, []).append(need)
        for place, late in early.items():
            after = max(self._first[need] for need in late)
            to = {after + 1, min((slot for slot in self._found.steps if slot > after), default=after + 1)}
            ways = [self._moved([place], slot) for slot in to] + [self._moved(late, self._first[place] - 1)]
            text = f"{self._names(late)} should come before {self._names([place])}: it was the other way round."
            yield self._about("order", max(map(self._average, ways)), [place, *late], text)

    @cached_property
    def _first(self) -> dict[int, int]:
        """Where each answered reference call was answered first."""
        return {
            place: min(self._found.steps[index] for index in answer.actual)
            for place, answer in self._found.answers.items()
        }

    def _moved(self, places: Iterable[int], slot: int) -> Answers:
        """The calls that answer these, in another step."""
        moved = {index for place in places for index in self._found.answers[place].actual}
        return replace(
            self._found, steps=tuple(slot if at in moved else old for at, old in enumerate(self._found.steps))
        )

    def _about(self, kind: Fault, average: float, places: Sequence[int], text: str) -> Improvement:
        actual = [index for place in places for index in self._matches[place].calls]
        return self._improvement(kind=kind, average=average, reference=places, actual=actual, text=text)

    def _slots(self, places: Sequence[int]) -> set[int]:
        """Where calls could go out: after all that they need, before all that need them, with others if they can."""
        needs = self._found.plan.needs
        before = max((self._first[need] for place in places for need in needs[place] if need in self._first), default=0)
        dependents = [other for other in self._first if any(place in needs[other] for place in places)]
        after = min((self._first[other] for other in dependents), default=None)
        fitting = {slot for slot in self._first.values() if slot > before and (after is None or slot < after)}
        return {before + 1} | ({after - 1} if after is not None else set()) | fitting

    def _names(self, places: Sequence[int]) -> str:
        return tools_text(self._actual[self._matches[place].actual][1] for place in places)


def _answer(actual: tuple[int, ...], similarity: float) -> Answer:
    return Answer(way="same effect", actual=actual, similarity=similarity, agreement=None)
