"""Scores a sealed run: alignment, structure ranges, call outcomes and checks in one score card.

Everything comes from the record, the workspace and the task; the same record gives the same card. `model` is the
card's form, `markdown` puts it into words.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from m3bench.server.scorecard.hearing import hearing_of
from m3bench.server.scorecard.improvements import improvements
from m3bench.server.scorecard.model import (
    ActualCall,
    Alignment,
    ArgumentDifference,
    BestReference,
    ChangedArgument,
    CheckResult,
    Client,
    ExtraArgument,
    Instead,
    Match,
    MissingArgument,
    PaperScore,
    ReferenceCall,
    ScoreCard,
)
from m3bench.server.scorecard.sight import sight_of
from m3bench.server.scorecard.trajectory import PlayedRun, played_run, result_text
from m3bench.server.scorecard.void import without_numbers_if_void
from m3bench.server.scoring import Encoder, TrajectoryScore, effect_ranges, score
from m3bench.server.scoring.aggregate import METRICS
from m3bench.server.scoring.differences import Difference
from m3bench.server.scoring.effect_reasons import answer_note, miss_note, reasons
from m3bench.server.scoring.effect_scorer import Played, answers_of, score_by_effect
from m3bench.server.scoring.ranges import STRUCTURE, Ranges, best_of
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.scoring.texts import Signatures
from m3bench.server.store.records import CallRecord, RunRecord, handed_in
from m3bench.tasks.answers.grounding import Seen, seen_in, ungrounded
from m3bench.tasks.answers.outcome import findings_of
from m3bench.tasks.answers.reading import read
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.errors import WeightsError
from m3bench.tasks.plan import Plan
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import Trajectory

logger = logging.getLogger(__name__)

VERSION = 4
"""Of the rules that the numbers follow; part of a run's manifest."""


def score_run(
    run: RunRecord,
    task: Task,
    records: Sequence[CallRecord],
    workspace: Path,
    encoder: Encoder,
    client: Client | None = None,
    plans: Sequence[Plan] | None = None,
    scenes: Sequence[Scene] = (),
) -> ScoreCard:
    """The score card of a submitted run.

    Args:
        run: The run.
        task: Its task.
        records: Its calls, without those to the benchmark's own tools.
        workspace: The files that it left.
        encoder: Embeds texts.
        client: Who played it.
        plans: What the calls of the task's references give and need; without them, calls are compared by the kinds
            of their arguments and by the reference's own order.
        scenes: What there is to see in the task's pictures.
    """
    played = played_run(records, task.question, client)
    evidence = _evidence(run, played, workspace)
    findings = findings_of(task, evidence)
    untraced = _untraced(task, evidence, findings, scenes)
    solved = bool(findings) and all(finding.passed for finding in findings)
    outcomes = dict(sorted(Counter(record.outcome or "failed" for record in played.calls).items()))
    excluded = dict(sorted(Counter(record.owner or "proxy" for record in played.excluded).items()))
    gaps = sum(record.owner == "world" for record in records)
    made = Played(
        actual=played.trajectory,
        references=[reference.trajectory for reference in task.references],
        plans=plans or (),
        results=[result_text(played.calls[index]) for index in played.order],
        said=handed_in(run) if solved else "",
        pictures=frozenset((*task.pictures, *task.recordings)),
    )
    signatures = catalog_signatures(load_catalog())
    found = answers_of(made, signatures)
    best = score_by_effect(made, signatures, found)
    assert best.answers is not None
    ranges = effect_ranges.best_of(found, played.segmentation.readings, played.order)
    card = ScoreCard(
        scoring_version=VERSION,
        scoring_profile="effect",
        task=task.id,
        family=task.family,
        metrics=dict(best.metrics),
        ranges=_kept(ranges),
        ranges_exact=ranges.exact,
        paper=_paper(played, made.references, encoder, signatures),
        success=solved if findings else None,
        checks=tuple(
            CheckResult(check=finding.check, passed=finding.passed, reason=finding.reason) for finding in findings
        ),
        grounded=None if untraced is None else not untraced,
        ungrounded=tuple(untraced or ()),
        outcomes=outcomes,
        excluded=excluded,
        gaps=gaps,
        gap_share=gaps / max(1, len(records)),
        reference=BestReference(index=best.reference, of=best.references),
        alignment=alignment_of(best, made.references[best.reference], _in_steps(played)),
        evidence=played.segmentation.evidence,
        open=played.segmentation.readings.open,
        contradictions=tuple(
            f"{record.tool}: {decision.contradiction}"
            for record, decision in zip(played.calls, played.segmentation.decisions, strict=True)
            if decision.contradiction
        ),
        reasons=reasons(best.answers),
        client=client,
        sight=sight_of(run, task, records),
        hearing=hearing_of(task, records),
    )
    card = card.model_copy(update={"improvements": improvements(card)})
    return without_numbers_if_void(card, played.excluded)


def _kept(ranges: Ranges) -> dict[str, tuple[float, float]]:
    return {
        name: (low, high)
        for name, (low, high) in ranges.values.items()
        if name in (*STRUCTURE, "average") or low < high
    }


def _paper(played: PlayedRun, references: Sequence[Trajectory], encoder: Encoder, signatures: Signatures) -> PaperScore:
    """The same run by the paper's metric; unscored on a machine that has no encoder, which nothing else needs."""
    try:
        return _by_words(played, references, encoder, signatures)
    except WeightsError as error:
        logger.warning("The paper's metric was not scored: %s", error)
        unscored = dict.fromkeys((*METRICS, "average"))
        return PaperScore(metrics=unscored, reference=0, reference_calls=len(references[0].calls), matched=0)


def _by_words(
    played: PlayedRun, references: Sequence[Trajectory], encoder: Encoder, signatures: Signatures
) -> PaperScore:
    best = score(played.trajectory, references, encoder=encoder, signatures=signatures)
    ranges = best_of(_each(best, played, references, encoder, signatures), played.segmentation.readings, played.order)
    return PaperScore(
        metrics=dict(best.metrics),
        ranges=_kept(ranges),
        ranges_exact=ranges.exact,
        reference=best.reference,
        reference_calls=best.alignment.reference_calls,
        matched=len(best.matches),
    )


def _each(
    best: TrajectoryScore,
    played: PlayedRun,
    references: Sequence[Trajectory],
    encoder: Encoder,
    signatures: Signatures,
) -> list[TrajectoryScore]:
    """The run against each reference: in another reading of the steps another one may be the best."""
    if not played.segmentation.readings.open:
        return [best]
    return [
        best
        if number == best.reference
        else score(played.trajectory, [reference], encoder=encoder, signatures=signatures)
        for number, reference in enumerate(references)
    ]


def _in_steps(played: PlayedRun) -> list[list[ActualCall]]:
    calls = [
        ActualCall(
            tool=record.tool,
            arguments=record.taken.arguments,
            outcome=record.outcome,
            coerced=record.taken.coerced,
        )
        for record in played.calls
    ]
    return [[calls[index] for index in step] for step in played.segmentation.steps]


def alignment_of(best: TrajectoryScore, reference: Trajectory, actual: Sequence[Sequence[ActualCall]]) -> Alignment:
    """Reference and actual calls by step, and which answers which by effect.

    Args:
        best: The run scored by effect.
        reference: The reference that it was scored against.
        actual: The calls that were made, by step.
    """
    found = best.answers
    assert found is not None
    return Alignment(
        reference_steps=tuple(
            tuple(ReferenceCall(tool=call.tool, arguments=dict(call.arguments)) for call in step.calls)
            for step in reference.steps
        ),
        actual_steps=tuple(map(tuple, actual)),
        matches=tuple(
            Match(
                reference=match.reference.index,
                actual=match.actual.index,
                also=answer.actual[1:],
                similarity=match.similarity,
                strong=match.strong,
                differences=tuple(map(difference_of, match.differences)),
                way=answer.way,
                note=answer_note(answer, [found.tools[index] for index in answer.actual]),
            )
            for match, answer in zip(best.matches, found.answers.values(), strict=True)
        ),
        missed=tuple(placed.index for placed in best.missed),
        extra=tuple(placed.index for placed in best.extra),
        not_needed=tuple(sorted(found.dropped)),
        instead=tuple(
            Instead(reference=place, actual=actual, note=miss_note(agreement, found.reference_tools[place]))
            for place, (actual, agreement) in found.rejected.items()
        ),
        needs=tuple(call.needs for call in found.plan.calls),
        waits=tuple(call.waits for call in found.plan.calls),
    )


def difference_of(found: Difference) -> ArgumentDifference:
    """A difference as a card holds it."""
    match found.kind:
        case "missing":
            return MissingArgument(argument=found.argument, kind="missing", reference=found.reference)
        case "extra":
            return ExtraArgument(argument=found.argument, kind="extra", actual=found.actual)
        case "changed":
            return ChangedArgument(
                argument=found.argument, kind="changed", reference=found.reference, actual=found.actual
            )


def _evidence(run: RunRecord, played: PlayedRun, workspace: Path) -> Evidence:
    calls = tuple(
        LoggedCall(
            tool=record.tool,
            arguments=record.taken.arguments,
            outcome=record.outcome or "failed",
            text=result_text(record),
        )
        for record in played.calls
    )
    return Evidence(answer=run.answer or "", fields=run.fields, workspace=workspace, calls=calls)


def _untraced(task: Task, evidence: Evidence, findings: Sequence[Finding], scenes: Sequence[Scene]) -> list[str] | None:
    """The fields whose values cannot be traced to what the run saw; None when there is nothing to trace."""
    given = read(task.fields, evidence.answer, evidence.fields)
    if not given:
        return None
    seen = Seen([*(call.text for call in evidence.calls if call.outcome == "success"), *seen_in(scenes)])
    return ungrounded(task.fields, given, {one.check for one in findings if one.passed}, seen)
