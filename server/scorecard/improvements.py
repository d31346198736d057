"""What would have raised the score: each fault of a run corrected alone, and scored again.

Works on a score card, so that any card can be asked, and under the profile that its headline follows; what is here is
for the paper's metric. The matches are kept: a correction adds, removes, moves or changes the calls it names and
nothing else, and the metrics are computed anew. What a correction would gain is therefore exact for the reference that
counted; the gains of several do not add up.
"""

from collections.abc import Iterable, Iterator, Sequence
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
from m3bench.server.scorecard.effect_improvements import EffectCorrections
from m3bench.server.scorecard.model import Fault, Improvement, Match, ScoreCard
from m3bench.server.scoring.metrics import Alignment, Link
from m3bench.server.scoring.profiles import M3
from m3bench.server.scoring.scorer import measure

LEAST = 0.0005
"""What gains less is not worth a line."""
MOST = 10


def improvements(card: ScoreCard) -> tuple[Improvement, ...]:
    """The corrections that would raise the average, the best first; none when there is no average."""
    if card.average is None:
        return ()
    corrections = EffectCorrections if card.scoring_profile == "effect" else _Corrections
    found = [one for one in corrections(card, card.average).all() if one.gain > LEAST]
    found.sort(key=lambda one: (-round(one.average, 9), one.kind, one.reference, one.actual))
    return tuple(_once(found)[:MOST])


def _once(found: Iterable[Improvement]) -> list[Improvement]:
    """Two steps in the wrong order can be corrected from either side: the first is kept."""
    kept: dict[tuple[Fault, frozenset[int], frozenset[int]], Improvement] = {}
    for one in found:
        kept.setdefault((one.kind, frozenset(one.reference), frozenset(one.actual)), one)
    return list(kept.values())


class _Corrections:
    """The corrections of one card. Actual steps have even places, so that a new one fits between any two."""

    def __init__(self, card: ScoreCard, now: float) -> None:
        alignment = card.alignment
        self._now = now
        self._reference = alignment.reference_calls
        self._actual = alignment.actual_calls
        self._sizes = tuple(map(len, alignment.reference_steps))
        self._matches = alignment.matches
        self._missed = alignment.missed
        self._extra = alignment.extra

    def all(self) -> Iterator[Improvement]:
        claimed: set[int] = set()
        for place in self._missed:
            yield self._answer(place, claimed)
        yield from self._leave_out([place for place in self._extra if place not in claimed])
        for number, match in enumerate(self._matches):
            if match.similarity < 1 - LEAST:
                yield self._correct(number, match)
        for step in sorted(set(self._steps)):
            yield from self._gather(step)

    @cached_property
    def _steps(self) -> list[int]:
        """The reference step of each match."""
        return [self._reference[match.reference][0] for match in self._matches]

    @cached_property
    def _links(self) -> list[Link]:
        return [
            Link(step, self._slot(match.actual), match.similarity)
            for step, match in zip(self._steps, self._matches, strict=True)
        ]

    def _slot(self, actual: int) -> int:
        return 2 * self._actual[actual][0] + 2

    def _average(self, links: Iterable[Link], calls: int) -> float:
        alignment = Alignment(links=tuple(links), reference_sizes=self._sizes, actual_sizes=(calls,), strong=M3.strong)
        return measure(alignment, M3)[0]["average"] or 0.0

    def _improvement(
        self, *, kind: Fault, average: float, reference: tuple[int, ...], actual: tuple[int, ...], text: str
    ) -> Improvement:
        gain = average - self._now
        return Improvement(kind=kind, gain=gain, average=average, reference=reference, actual=actual, text=text)

    def _answer(self, place: int, claimed: set[int]) -> Improvement:
        """A missed call, answered: by the call of that tool that answers nothing, or by a new one."""
        step, call = self._reference[place]
        stand_in = next((at for at in self._extra if at not in claimed and self._actual[at][1].tool == call.tool), None)
        if stand_in is not None:
            claimed.add(stand_in)
            link = Link(step, self._slot(stand_in), 1.0)
            where, mine = self._actual[stand_in]
            said = "failed" if mine.failed else "asked for something else"
            return self._improvement(
                kind="failed" if mine.failed else "unlike",
                average=self._average([*self._links, link], len(self._actual)),
                reference=(place,),
                actual=(stand_in,),
                text=f"{tool_name(mine)} in step {where + 1} {said}: the reference calls {call_text(call)}.",
            )
        average, slot = max(
            (self._average([*self._links, Link(step, slot, 1.0)], len(self._actual) + 1), -slot)
            for slot in self._slots(step)
        )
        return self._improvement(
            kind="missed",
            average=average,
            reference=(place,),
            actual=(),
            text=f"{call_text(call)} is missing{slot_text(-slot, first=not self._actual)}.",
        )

    def _leave_out(self, places: Sequence[int]) -> Iterator[Improvement]:
        if not places:
            return
        yield self._improvement(
            kind="extra",
            average=self._average(self._links, len(self._actual) - len(places)),
            reference=(),
            actual=tuple(places),
            text=left_out_text([self._actual[place][1] for place in places]),
        )

    def _correct(self, number: int, match: Match) -> Improvement:
        """A match with the reference's arguments."""
        links = list(self._links)
        links[number] = links[number]._replace(similarity=1.0)
        where, mine = self._actual[match.actual]
        return self._improvement(
            kind="arguments",
            average=self._average(links, len(self._actual)),
            reference=(match.reference,),
            actual=(match.actual,),
            text=f"{tool_name(mine)} in step {where + 1}: {differences_text(match.differences)}.",
        )

    def _gather(self, step: int) -> Iterator[Improvement]:
        """All matches of a reference step in one actual step, at the right place among the others."""
        mine = [number for number, other in enumerate(self._steps) if other == step]
        average, _ = max(
            (
                self._average(
                    (
                        link._replace(actual_step=slot) if number in set(mine) else link
                        for number, link in enumerate(self._links)
                    ),
                    len(self._actual),
                ),
                -slot,
            )
            for slot in self._slots(step)
        )
        slots = sorted({self._links[number].actual_step for number in mine})
        others = [number for number in range(len(self._links)) if self._steps[number] != step]
        mixed = self._one_side(step, [number for number in others if self._links[number].actual_step in slots])
        turned = self._one_side(
            step,
            [
                number
                for number in others
                if any((self._steps[number] < step) != (self._links[number].actual_step < place) for place in slots)
                and self._links[number].actual_step not in slots
            ],
        )
        if len(slots) > 1:
            spread = listed(str(place // 2) for place in slots)
            text = f"{self._names(mine)} belong together and went out apart, in steps {spread}."
            yield self._moved("apart", average, mine, [], text)
        elif mixed:
            first, then = (mixed, mine) if self._steps[mixed[0]] < step else (mine, mixed)
            together = f"they went out together in step {slots[0] // 2}"
            text = f"{self._names(then)} should wait for {self._names(first)}: {together}."
            yield self._moved("mixed", average, mine, mixed, text)
        elif turned:
            first, then = (turned, mine) if self._steps[turned[0]] < step else (mine, turned)
            text = f"{self._names(first)} should come before {self._names(then)}: it was the other way round."
            yield self._moved("order", average, mine, turned, text)

    def _one_side(self, step: int, numbers: list[int]) -> list[int]:
        """Those that come before the step in the reference or, when there are none, after it."""
        return [number for number in numbers if self._steps[number] < step] or numbers

    def _moved(self, kind: Fault, average: float, mine: list[int], others: list[int], text: str) -> Improvement:
        about = [self._matches[number] for number in (*mine, *others)]
        return self._improvement(
            kind=kind,
            average=average,
            reference=tuple(sorted(match.reference for match in about)),
            actual=tuple(sorted(match.actual for match in about)),
            text=text,
        )

    def _slots(self, step: int) -> set[int]:
        """Where calls of a reference step could stand: with its siblings, or between what comes before and after."""
        siblings = {link.actual_step for link in self._links if link.reference_step == step}
        before = max((link.actual_step for link in self._links if link.reference_step < step), default=0)
        after = min((link.actual_step for link in self._links if link.reference_step > step), default=None)
        return siblings | {before + 1} | ({after - 1} if after is not None else set())

    def _names(self, numbers: Sequence[int]) -> str:
        return tools_text(self._actual[self._matches[number].actual][1] for number in numbers)
