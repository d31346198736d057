"""Scores runs: matching, metrics and the best reference put together, for every profile.

Works through many runs in small groups: the texts that need embedding are collected over a group, encoded together,
then each run is aligned with each of its references. Pure but for the encoder.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from m3bench.server.scoring.alignment import CallAlignment, PendingAlignment, ScorableRun
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.profiles import M3, Profile
from m3bench.server.scoring.ranges import Ranges, score_ranges
from m3bench.server.scoring.signatures import Signatures, unknown
from m3bench.server.scoring.trajectory_score import MatchedCalls, PlacedCall, TrajectoryScore
from m3bench.tasks.readings import Readings
from m3bench.tasks.trajectory import Trajectory

if TYPE_CHECKING:
    from m3bench.server.scoring.alignment import Vectors

_GROUP_TEXTS = 96
"""Texts embedded together: a few full batches, and a progress bar that moves."""
_GROUP_RUNS = 256


def score(
    actual: Trajectory,
    references: Sequence[Trajectory],
    *,
    encoder: Encoder | None = None,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> TrajectoryScore:
    """Score one run against the best of its references.

    Args:
        actual: What the agent did.
        references: Trajectories that solve the task, at least one. The one with the highest average is kept, the
            first of equals.
        encoder: Embeds the texts; not called when no similarity is needed, and not needed by effect.
        profile: The way to score.
        signatures: What is known of the tools' schemas.
    """
    run = ScorableRun(actual=actual, references=references)
    return next(score_many([run], encoder=encoder, profile=profile, signatures=signatures))


def score_many(
    runs: Iterable[ScorableRun],
    *,
    encoder: Encoder | None = None,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> Iterator[TrajectoryScore]:
    """Score runs in order, each against the best of its references; takes them from the iterable as it goes."""
    return map(best_of, _score_all(runs, encoder, profile, signatures))


def score_each(
    run: ScorableRun,
    *,
    encoder: Encoder | None = None,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> list[TrajectoryScore]:
    """Score one run against each of its references: in another reading of its steps another one may be the best."""
    return next(_score_all([run], encoder, profile, signatures))


def best_of(scores: Sequence[TrajectoryScore]) -> TrajectoryScore:
    """The score against the best reference, the first of equals; one without an average is the last choice."""
    return max(scores, key=lambda each: -1.0 if each.average is None else each.average)


class RangedScore(NamedTuple):
    """A run against the best of its references, and what other readings of its record would make of it."""

    best: TrajectoryScore
    ranges: Ranges


def score_readings(
    run: ScorableRun,
    readings: Readings,
    order: Sequence[int],
    *,
    encoder: Encoder | None = None,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> RangedScore:
    """Score one run in the reading of its record that it is given in, with the ranges over all readings.

    Args:
        run: The run.
        readings: Every way to put its calls into steps.
        order: Which call stands at each place of the run's flattened trajectory.
        encoder: Embeds the texts.
        profile: The way to score.
        signatures: What is known of the tools' schemas.
    """
    scores = score_each(run, encoder=encoder, profile=profile, signatures=signatures)
    return RangedScore(best_of(scores), score_ranges(scores, readings, order))


class _Prepared(NamedTuple):
    run: ScorableRun
    alignments: Sequence[PendingAlignment]
    """One for each reference."""


def _score_all(
    runs: Iterable[ScorableRun], encoder: Encoder | None, profile: Profile, signatures: Signatures
) -> Iterator[list[TrajectoryScore]]:
    group: list[_Prepared] = []
    texts: dict[str, str] = {}
    for run in runs:
        if not run.references:
            raise ValueError("a run needs at least one reference")
        prepared = _Prepared(run, profile.matching.prepare(run, signatures, encoder))
        group.append(prepared)
        for alignment in prepared.alignments:
            texts |= alignment.texts
        if len(texts) >= _GROUP_TEXTS or len(group) >= _GROUP_RUNS:
            yield from _finish(group, texts, encoder, profile)
            group, texts = [], {}
    yield from _finish(group, texts, encoder, profile)


def _finish(
    group: Sequence[_Prepared], texts: Mapping[str, str], encoder: Encoder | None, profile: Profile
) -> Iterator[list[TrajectoryScore]]:
    vectors: Vectors = {}
    if texts and encoder is not None:
        vectors = dict(zip(texts, encoder.encode(list(texts.values())), strict=True))
    for run, alignments in group:
        yield [_scored(run, number, each.settle(vectors), profile) for number, each in enumerate(alignments)]


def _scored(run: ScorableRun, number: int, alignment: CallAlignment, profile: Profile) -> TrajectoryScore:
    reference, actual = _placed(run.references[number]), _placed(run.actual)
    values, failures = profile.measure(alignment)
    unanswered = [placed for placed in reference if placed.index not in alignment.matches]
    return TrajectoryScore(
        profile=profile.name,
        metrics=values,
        failures=failures,
        matches=tuple(
            MatchedCalls(
                reference=reference[place],
                answering=tuple(actual[index] for index in match.actual),
                similarity=match.similarity,
                way=match.way,
                differences=match.differences,
            )
            for place, match in alignment.matches.items()
        ),
        missed=tuple(placed for placed in unanswered if placed.index not in alignment.not_needed),
        extra=tuple(placed for placed in actual if placed.index not in alignment.answering),
        unneeded=tuple(placed for placed in unanswered if placed.index in alignment.not_needed),
        alignment=alignment,
        reference=number,
        references=len(run.references),
    )


def _placed(trajectory: Trajectory) -> tuple[PlacedCall, ...]:
    calls = [(number, call) for number, step in enumerate(trajectory.steps) for call in step.calls]
    return tuple(PlacedCall(index=index, step=step, call=call) for index, (step, call) in enumerate(calls))
