"""Scores runs: texts, alignment and metrics put together.

Works through many runs in small groups: the texts that need embedding are collected over a group, encoded together,
then each run is aligned with each of its references and the best reference is kept. Pure but for the encoder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.server.scoring import align
from m3bench.server.scoring.align import Keyed, Pair, Plan
from m3bench.server.scoring.differences import differences
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.metrics import Alignment, Link
from m3bench.server.scoring.profiles import AVERAGED, M3, Profile
from m3bench.server.scoring.texts import Signatures, unknown
from m3bench.server.scoring.trajectory_score import Match, Placed, TrajectoryScore
from m3bench.tasks.tolerance import read_as
from m3bench.tasks.trajectory import JSON, Call, Trajectory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = Mapping[str, npt.NDArray[np.floating]]

_GROUP_TEXTS = 96
"""Texts embedded together: a few full batches, and a progress bar that moves."""
_GROUP_RUNS = 256


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A run to be scored."""

    actual: Trajectory
    references: Sequence[Trajectory]
    """At least one; the best of them counts."""


def score(
    actual: Trajectory,
    references: Sequence[Trajectory],
    *,
    encoder: Encoder,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> TrajectoryScore:
    """Score one run against the best of its references.

    Args:
        actual: What the agent did.
        references: Trajectories that solve the task, at least one. The one with the highest average is kept, the
            first of equals.
        encoder: Embeds the texts; not called when no similarity is needed.
        profile: The way to score.
        signatures: What is known of the tools' schemas; used by profile `m3`.
    """
    attempt = Attempt(actual=actual, references=references)
    return next(score_many([attempt], encoder=encoder, profile=profile, signatures=signatures))


def score_many(
    attempts: Iterable[Attempt],
    *,
    encoder: Encoder,
    profile: Profile = M3,
    signatures: Signatures = unknown,
) -> Iterator[TrajectoryScore]:
    """Score runs in order; takes them from the iterable as it goes."""
    group: list[_Prepared] = []
    texts: dict[str, str] = {}
    for attempt in attempts:
        prepared = _prepare(attempt, encoder, profile, signatures)
        group.append(prepared)
        for plan in prepared.plans:
            for bucket in plan.open:
                texts |= bucket.texts
        if len(texts) >= _GROUP_TEXTS or len(group) >= _GROUP_RUNS:
            yield from _finish(group, texts, encoder, profile)
            group, texts = [], {}
    yield from _finish(group, texts, encoder, profile)


@dataclass(frozen=True, kw_only=True)
class _View:
    """A trajectory with the texts of its calls."""

    placed: tuple[Placed, ...]
    arguments: tuple[JSON, ...]
    keyed: tuple[Keyed, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    actuals: tuple[_View, ...]
    """The run as each reference reads it."""
    references: tuple[_View, ...]
    plans: tuple[Plan, ...]


def _prepare(attempt: Attempt, encoder: Encoder, profile: Profile, signatures: Signatures) -> _Prepared:
    if not attempt.references:
        raise ValueError("a run needs at least one reference")
    plain = _view(attempt.actual, encoder, profile, signatures)
    references = tuple(_view(reference, encoder, profile, signatures) for reference in attempt.references)
    actuals = tuple(
        _view(attempt.actual, encoder, profile, signatures, _Reader(reference))
        if profile.canonical and any(call.tolerances for call in reference.calls)
        else plain
        for reference in attempt.references
    )
    plans = tuple(
        align.plan(reference.keyed, actual.keyed) for reference, actual in zip(references, actuals, strict=True)
    )
    return _Prepared(actuals=actuals, references=references, plans=plans)


def _view(
    trajectory: Trajectory,
    encoder: Encoder,
    profile: Profile,
    signatures: Signatures,
    read: Callable[[Call], Call] = lambda call: call,
) -> _View:
    placed: list[Placed] = []
    arguments: list[JSON] = []
    keyed: list[Keyed] = []
    for number, step in enumerate(trajectory.steps):
        of_step = []
        for call in step.calls:
            compared = profile.arguments(read(call), signatures(call.tool))
            text = profile.text(call, compared)
            key = text if profile.canonical else encoder.key(text)
            # References consist of calls that succeed, so in `m3` one that failed cannot be any of them.
            if not (call.failed and profile.canonical):
                of_step.append(Keyed(len(placed), call.tool, text, key))
            placed.append(Placed(index=len(placed), step=number, call=call))
            arguments.append(compared)
        if profile.canonical:
            of_step.sort(key=lambda call: call.text)
        keyed += of_step
    return _View(
        placed=tuple(placed),
        arguments=tuple(arguments),
        keyed=tuple(keyed),
        sizes=tuple(len(step.calls) for step in trajectory.steps),
    )


class _Reader:
    """Reads calls as a reference does that tolerates other values.

    Each call is read as the tolerant reference call that it is most like. Of several that it is like to the same
    degree, the one that was read least so far takes it, so that calls which differ in nothing that counts are not
    all taken for the same one.
    """

    def __init__(self, reference: Trajectory) -> None:
        self._tolerant = [call for call in reference.calls if call.tolerances]
        self._taken: Counter[int] = Counter()

    def __call__(self, call: Call) -> Call:
        best: tuple[int, int] | None = None
        read = call
        for index, wanted in enumerate(self._tolerant):
            if wanted.tool != call.tool:
                continue
            arguments = read_as(wanted.arguments, wanted.tolerances, call.arguments)
            same = sum(wanted.arguments.get(name) == value for name, value in arguments.items())
            alike = (same - len(wanted.arguments.keys() ^ arguments.keys()), -self._taken[index])
            if best is None or alike > best:
                best, chosen, read = alike, index, Call(tool=call.tool, arguments=arguments)
        if best is not None:
            self._taken[chosen] += 1
        return read


def _finish(
    group: Sequence[_Prepared], texts: Mapping[str, str], encoder: Encoder, profile: Profile
) -> Iterator[TrajectoryScore]:
    vectors: Vectors = dict(zip(texts, encoder.encode(list(texts.values())), strict=True)) if texts else {}
    for prepared in group:
        cards = [_card(prepared, number, vectors, profile) for number in range(len(prepared.references))]
        # `max` keeps the first of equals. A reference whose average failed is the last choice.
        yield max(cards, key=lambda card: -1.0 if card.average is None else card.average)


def _card(prepared: _Prepared, number: int, vectors: "Vectors", profile: Profile) -> TrajectoryScore:
    reference, actual, plan = prepared.references[number], prepared.actuals[number], prepared.plans[number]
    pairs = list(plan.settled)
    for bucket in plan.open:
        pairs += align.solve(bucket, vectors, profile.weak, profile.ceiling)
    pairs.sort()
    alignment = Alignment(
        links=tuple(
            Link(reference.placed[pair.reference].step, actual.placed[pair.actual].step, pair.similarity)
            for pair in pairs
        ),
        reference_sizes=reference.sizes,
        actual_sizes=actual.sizes,
        strong=profile.strong,
    )
    values, failures = measure(alignment, profile)
    answered = {pair.reference for pair in pairs}
    answering = {pair.actual for pair in pairs}
    return TrajectoryScore(
        profile=profile.name,
        metrics=values,
        failures=failures,
        matches=tuple(_match(pair, reference, actual, profile) for pair in pairs),
        missed=tuple(placed for placed in reference.placed if placed.index not in answered),
        extra=tuple(placed for placed in actual.placed if placed.index not in answering),
        alignment=alignment,
        reference=number,
        references=len(prepared.references),
    )


def measure(alignment: Alignment, profile: Profile) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every metric of the profile and their average, and why those without a value have none."""
    values: dict[str, float | None] = {}
    failures: dict[str, str] = {}
    for name, metric in profile.metrics.items():
        try:
            values[name] = metric(alignment)
        except Exception as error:
            # A broken metric must not take the others, or the report, with it.
            values[name] = None
            failures[name] = f"{type(error).__name__}: {error}"
    averaged = [values.get(name) for name in AVERAGED]
    known = [value for value in averaged if value is not None]
    values["average"] = sum(known) / len(known) if len(known) == len(averaged) else None
    return values, failures


def _match(pair: Pair, reference: _View, actual: _View, profile: Profile) -> Match:
    return Match(
        reference=reference.placed[pair.reference],
        actual=actual.placed[pair.actual],
        similarity=pair.similarity,
        strong=pair.similarity >= profile.strong,
        differences=differences(reference.arguments[pair.reference], actual.arguments[pair.actual]),
    )
