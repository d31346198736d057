"""Scores runs by effect: answers, metrics and the best reference put together.

The counterpart of `scorer` for profile `effect`. It needs no encoder; what it needs besides the calls are their
results, as far as they are known, and what the calls of each reference give and need.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from m3bench.server.scoring import texts
from m3bench.server.scoring.answers import NAME, Answer, Answers
from m3bench.server.scoring.differences import Difference, differences
from m3bench.server.scoring.effect import Made, find_answers
from m3bench.server.scoring.effect_metrics import measure
from m3bench.server.scoring.effect_reasons import NOTHING_NEEDED
from m3bench.server.scoring.metrics import Alignment, Link
from m3bench.server.scoring.profiles import M3
from m3bench.server.scoring.texts import Signatures
from m3bench.server.scoring.trajectory_score import Match, Placed, TrajectoryScore
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import Plan, unplayed
from m3bench.tasks.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class Played:
    """A run to be scored by effect."""

    actual: Trajectory
    references: Sequence[Trajectory]
    """At least one; the best of them counts."""
    plans: Sequence[Plan] = ()
    """What the calls of each reference give and need; empty when nobody has played them."""
    results: Sequence[str] | None = None
    """The text of each actual call's result; None when results are not known."""
    said: str = ""
    """What the client handed in and was right about; empty when it was not right."""
    pictures: frozenset[str] = field(default_factory=frozenset)
    """Names of the files that the run began with."""


def answers_of(played: Played, signatures: Signatures) -> list[Answers]:
    """How each reference was answered."""
    made = _made(played)
    plans = played.plans or [unplayed(reference) for reference in played.references]
    return [
        find_answers(reference, plan, made, said=played.said, pictures=played.pictures, signatures=signatures)
        for reference, plan in zip(played.references, plans, strict=True)
    ]


def score_by_effect(played: Played, signatures: Signatures, found: Sequence[Answers] | None = None) -> TrajectoryScore:
    """Score one run against the best of its references; the first of equals.

    Args:
        played: The run.
        signatures: Defaults and unordered arrays of the tools.
        found: How each reference was answered, when that is known already.
    """
    if not played.references:
        raise ValueError("a run needs at least one reference")
    found = answers_of(played, signatures) if found is None else found
    values = [measure(answers) for answers in found]
    best = max(range(len(found)), key=lambda number: (_rank(values[number]["average"]), -number))
    return _score(played, best, found[best], values[best], signatures)


def _rank(average: float | None) -> float:
    """A reference of which nothing was needed says nothing of the run: it is the last choice."""
    return -1.0 if average is None else average


def _made(played: Played) -> list[Made]:
    steps = [number for number, step in enumerate(played.actual.steps) for _ in step.calls]
    results: Sequence[str | None] = [None] * len(steps) if played.results is None else played.results
    return [
        Made(call=call, step=step, result=result)
        for call, step, result in zip(played.actual.calls, steps, results, strict=True)
    ]


def _score(
    played: Played, number: int, found: Answers, values: dict[str, float | None], signatures: Signatures
) -> TrajectoryScore:
    reference, actual = (_placed(one) for one in (played.references[number], played.actual))
    return TrajectoryScore(
        profile=NAME,
        metrics=values,
        failures={} if values["average"] is not None else dict.fromkeys(values, NOTHING_NEEDED),
        matches=tuple(
            Match(
                reference=reference[place],
                actual=actual[answer.actual[0]],
                similarity=answer.similarity,
                strong=answer.similarity >= M3.strong,
                differences=_differences(answer, reference[place], actual[answer.actual[0]], signatures),
            )
            for place, answer in found.answers.items()
        ),
        missed=tuple(one for one in reference if one.index not in found.answers and one.index not in found.dropped),
        extra=tuple(one for one in actual if one.index not in found.needed),
        alignment=Alignment(
            links=tuple(
                Link(found.reference_steps[place], found.steps[answer.actual[0]], answer.similarity)
                for place, answer in found.answers.items()
            ),
            reference_sizes=tuple(len(step.calls) for step in played.references[number].steps),
            actual_sizes=tuple(len(step.calls) for step in played.actual.steps),
            strong=M3.strong,
        ),
        reference=number,
        references=len(played.references),
        answers=found,
    )


def _placed(trajectory: Trajectory) -> tuple[Placed, ...]:
    calls = [(number, call) for number, step in enumerate(trajectory.steps) for call in step.calls]
    return tuple(Placed(index=index, step=step, call=call) for index, (step, call) in enumerate(calls))


def _differences(answer: Answer, reference: Placed, actual: Placed, signatures: Signatures) -> tuple[Difference, ...]:
    """The arguments that count and are not the same; of the same call, and of another tool, there are none."""
    if answer.way in ("same call", "another route"):
        return ()
    signature, kinds = signatures(reference.call.tool), kinds_of(reference.call.tool)
    wanted, asked = (texts.m3_arguments(one.call, signature) for one in (reference, actual))
    return tuple(
        one for one in differences(wanted, asked) if kinds.kind(one.argument.partition(".")[0]) != "presentation"
    )
