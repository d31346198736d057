"""Scores a sealed run: alignment, structure ranges, call outcomes and checks in one score card.

Everything comes from the record, the workspace and the task; the same record gives the same card. The recorded calls
are read once, by `trajectory`; what follows works on the run that was played. `model` is the card's form, `markdown`
puts it into words.
"""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from m3bench.server.scorecard.conduct import conduct_of
from m3bench.server.scorecard.first_fault import first_fault
from m3bench.server.scorecard.improvements import improvements
from m3bench.server.scorecard.misperception import perception_of
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
    VoidReason,
)
from m3bench.server.scorecard.perception import hearing_of, sight_of
from m3bench.server.scorecard.trajectory import PlayedRun, played_run, result_text
from m3bench.server.scoring import (
    EFFECT,
    Encoder,
    Profile,
    RangedScore,
    ScorableRun,
    Signatures,
    TrajectoryScore,
    score_readings,
)
from m3bench.server.scoring.aggregate import METRICS
from m3bench.server.scoring.differences import DifferingArgument
from m3bench.server.scoring.profiles import M3, STRUCTURE
from m3bench.server.scoring.ranges import Range, Ranges
from m3bench.server.scoring.reasons import answer_note, miss_note, reasons
from m3bench.server.scoring.scorer import score_each
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.store.records import CallRecord, RunRecord, handed_in
from m3bench.tasks.answers.files import File
from m3bench.tasks.answers.grounding import SeenFacts, seen_in, ungrounded
from m3bench.tasks.answers.groups import Table
from m3bench.tasks.answers.reading import findings_of, read
from m3bench.tasks.bounded_text import bounded
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.errors import WeightsError
from m3bench.tasks.fault import void_run
from m3bench.tasks.plan import Plan
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import Trajectory
from m3bench.tasks.truth import Truth

logger = logging.getLogger(__name__)

VERSION = 7
"""Of the rules that the numbers follow; part of a run's manifest."""

_MAX_VALUE = 300
"""Characters of a field's value that a card shows."""


def score_run(
    run: RunRecord,
    task: Task,
    records: Sequence[CallRecord],
    workspace: Path,
    encoder: Encoder | None,
    client: Client | None = None,
    plans: Sequence[Plan] | None = None,
    scenes: Sequence[Scene] = (),
    truth: Truth | None = None,
    *,
    advice: bool = True,
) -> ScoreCard:
    """The score card of a submitted run.

    Args:
        run: The run.
        task: Its task.
        records: Its calls, without those to the benchmark's own tools.
        workspace: The files that it left.
        encoder: Embeds texts; the paper's metric, which alone needs it, is left out without one.
        client: Who played it.
        plans: What the calls of the task's references give and need; without them, calls are compared by the kinds
            of their arguments and by the reference's own order.
        scenes: What the detector knows of the task's pictures.
        truth: What is to be seen in them.
        advice: Whether it says what would have been better, for which every call is tried otherwise.
    """
    played = played_run(records, task.question, client)
    checked = _checked(run, task, played, workspace, scenes)
    scorable = _scorable(task, played, plans or (), said=bounded(handed_in(run)) if checked.solved else "")
    best, ranges = _scored(scorable, played, EFFECT)
    untraced = checked.untraced_after(best.metrics["recall"])
    card = ScoreCard(
        scoring_version=VERSION,
        scoring_profile="effect",
        task=task.id,
        family=task.family,
        metrics=dict(best.metrics),
        ranges=_kept(ranges),
        ranges_exact=ranges.exact,
        paper=_paper(scorable, played, encoder) if encoder is not None else None,
        success=checked.solved,
        checks=checked.results,
        grounded=None if untraced is None else not untraced,
        ungrounded=tuple(untraced or ()),
        outcomes=dict(sorted(Counter(call.outcome or "failed" for call in played.calls).items())),
        excluded=dict(sorted(Counter(record.owner or "proxy" for record in played.excluded).items())),
        gaps=played.gaps,
        gap_share=played.gaps / max(1, len(played.recorded)),
        reference=BestReference(index=best.reference, of=best.references),
        alignment=alignment_of(best, scorable.references[best.reference], _in_steps(played)),
        evidence=played.segmentation.evidence,
        open=played.segmentation.readings.open,
        contradictions=played.contradictions,
        reasons=reasons(best),
        client=client,
        sight=sight_of(run, task, played),
        hearing=hearing_of(task, played),
    )
    conduct = conduct_of(task, run, played, card.alignment, workspace)
    seen = perception_of(card, truth, checked.given) if truth is not None else None
    card = card.model_copy(update={"conduct": conduct, "perception": seen})
    if advice:
        better = improvements(card, played.segmentation.joined)
        fault = first_fault(card, prose=bool((run.answer or "").strip()))
        card = card.model_copy(update={"first_fault": fault, "improvements": better})
    return _without_numbers_if_void(card, played.excluded)


def recall_so_far(task: Task, records: Sequence[CallRecord], plans: Sequence[Plan] = ()) -> float:
    """The recall by effect of a run that is under way, by the reference of which it has most."""
    run = _scorable(task, played_run(records, task.question), plans, said="")
    scores = score_each(run, profile=EFFECT, signatures=_signatures())
    return max(score.metrics["recall"] or 0.0 for score in scores)


def _scorable(task: Task, played: PlayedRun, plans: Sequence[Plan], *, said: str) -> ScorableRun:
    return ScorableRun(
        actual=played.trajectory,
        references=[reference.trajectory for reference in task.references],
        plans=plans,
        results=[played.calls[index].text for index in played.order],
        said=said,
        pictures=frozenset((*task.pictures, *task.recordings)),
    )


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """What the checks of a task say about a run."""

    findings: Sequence[Finding]
    given: Mapping[str, Sequence[object]]
    """What was handed in for each field."""
    right: Mapping[str, str]
    """The right values of fields that may be told."""
    columns: Mapping[str, Sequence[str]]
    """What the columns of tables are called."""
    untraced: Sequence[str] | None
    """The fields whose values cannot be traced to what the run saw; None when there is nothing to trace."""

    def untraced_after(self, recall: float | None) -> Sequence[str] | None:
        """The fields that cannot be traced: who made every needed call saw all that the right ones follow from."""
        if self.untraced is None or recall is None or recall < 1:
            return self.untraced
        right = {finding.check for finding in self.findings if finding.passed}
        return [name for name in self.untraced if name not in right]

    @property
    def solved(self) -> bool | None:
        """Whether all checks passed; None when there are none."""
        return all(finding.passed for finding in self.findings) if self.findings else None

    @property
    def results(self) -> tuple[CheckResult, ...]:
        """The findings as the card has them."""
        return tuple(
            CheckResult(
                check=finding.check,
                passed=finding.passed,
                reason=finding.reason,
                given=self._told(finding.check)[:_MAX_VALUE],
                right="" if finding.passed else self.right.get(finding.check, "")[:_MAX_VALUE],
            )
            for finding in self.findings
        )

    def _told(self, name: str) -> str:
        return " · ".join(_told_value(value, self.columns.get(name, ())) for value in self.given.get(name, ()))


def _told_value(value: object, columns: Sequence[str]) -> str:
    """A value as a person reads it; rows in the order of the columns, since a record gives back no order."""
    return value if isinstance(value, str) else json.dumps(_in_order(value, columns), ensure_ascii=False, default=str)


def _in_order(value: object, columns: Sequence[str]) -> object:
    match value:
        case list():
            return [_in_order(row, columns) for row in value]
        case dict():
            named = {name: value[name] for name in columns if name in value}
            return named | {name: value[name] for name in sorted(value, key=str) if name not in named}
        case _:
            return value


def _checked(run: RunRecord, task: Task, played: PlayedRun, workspace: Path, scenes: Sequence[Scene]) -> _Checked:
    calls = tuple(
        LoggedCall(tool=call.tool, arguments=dict(call.arguments), outcome=call.outcome or "failed", text=call.text)
        for call in played.calls
    )
    evidence = Evidence(answer=run.answer or "", fields=run.fields, workspace=workspace, calls=calls)
    findings = findings_of(task, evidence)
    given = read(task.fields, evidence.answer, evidence.fields)
    told = [field for field in task.fields if not isinstance(field.value, File)] if run.mode == "practice" else []
    right = {field.name: field.value.said() for field in told}
    columns = {field.name: field.value.columns for field in task.fields if isinstance(field.value, Table)}
    if not given:
        return _Checked(findings=findings, given={}, right=right, columns=columns, untraced=None)
    seen = SeenFacts([*(call.text for call in calls if call.outcome == "success"), *seen_in(scenes)])
    passed = {finding.check for finding in findings if finding.passed}
    untraced = ungrounded(task.fields, given, passed, seen)
    return _Checked(findings=findings, given=given, right=right, columns=columns, untraced=untraced)


@cache
def _signatures() -> Signatures:
    return catalog_signatures(load_catalog())


def _scored(run: ScorableRun, played: PlayedRun, profile: Profile, encoder: Encoder | None = None) -> RangedScore:
    readings, order = played.segmentation.readings, played.order
    return score_readings(run, readings, order, encoder=encoder, profile=profile, signatures=_signatures())


def _kept(ranges: Ranges) -> dict[str, Range]:
    """The ranges that a card shows: those of structure always, the others where they are more than a value."""
    always = (*STRUCTURE, "average")
    return {name: (low, high) for name, (low, high) in ranges.values.items() if name in always or low < high}


def _paper(run: ScorableRun, played: PlayedRun, encoder: Encoder) -> PaperScore:
    """The same run by the paper's metric; unscored on a machine that has no encoder, which nothing else needs."""
    try:
        best, ranges = _scored(run, played, M3, encoder)
    except WeightsError as error:
        logger.warning("The paper's metric was not scored: %s", error)
        unscored = dict.fromkeys((*METRICS, "average"))
        return PaperScore(metrics=unscored, reference=0, reference_calls=len(run.references[0].calls), matched=0)
    return PaperScore(
        metrics=dict(best.metrics),
        ranges=_kept(ranges),
        ranges_exact=ranges.exact,
        reference=best.reference,
        reference_calls=best.alignment.reference_calls,
        matched=len(best.matches),
    )


def _in_steps(played: PlayedRun) -> list[list[ActualCall]]:
    calls = [
        ActualCall(tool=call.tool, arguments=call.arguments, outcome=call.outcome, coerced=call.coerced)
        for call in played.calls
    ]
    return [[calls[index] for index in step] for step in played.segmentation.steps]


def alignment_of(best: TrajectoryScore, reference: Trajectory, actual: Sequence[Sequence[ActualCall]]) -> Alignment:
    """Reference and actual calls by step, and which answers which.

    Args:
        best: The run scored by effect.
        reference: The reference that it was scored against.
        actual: The calls that were made, by step.
    """
    found = best.alignment
    planned = found.plan.calls if found.plan is not None else ()
    missed = {placed.index: placed.call for placed in best.missed}
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
                also=tuple(placed.index for placed in match.answering[1:]),
                similarity=match.similarity,
                strong=match.strong,
                differences=tuple(map(difference_of, match.differences)),
                way=match.way,
                note=answer_note(match),
            )
            for match in best.matches
        ),
        missed=tuple(missed),
        extra=tuple(placed.index for placed in best.extra),
        not_needed=tuple(placed.index for placed in best.unneeded),
        instead=tuple(
            Instead(
                reference=place,
                actual=near.actual,
                note=miss_note(near.agreement, missed[place].tool),
                slip=near.is_slip,
            )
            for place, near in found.nearest.items()
        ),
        needs=tuple(call.needs for call in planned),
        waits=tuple(call.waits for call in planned),
    )


def difference_of(found: DifferingArgument) -> ArgumentDifference:
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


def _without_numbers_if_void(card: ScoreCard, lost: Sequence[CallRecord]) -> ScoreCard:
    """The card as it counts, given the calls that failed through no fault of the agent.

    What was done stays on the card of a void run for people to see; nothing that could be averaged or ranked does.
    Which faults make a run void says `m3bench.tasks.fault`.
    """
    found = void_run((record.owner, _told(record)) for record in lost)
    if found is None:
        return card
    paper = card.paper and card.paper.model_copy(update={"metrics": dict.fromkeys(card.paper.metrics), "ranges": {}})
    return card.model_copy(
        update={
            "metrics": dict.fromkeys(card.metrics),
            "ranges": {},
            "paper": paper,
            "success": None,
            "grounded": None,
            "ungrounded": (),
            "reasons": {},
            "first_fault": "",
            "perception": None,
            "improvements": (),
            "void": VoidReason(fault=found.fault, words=found.words),
        }
    )


def _told(record: CallRecord) -> str:
    """What the client was told of a call; one without an answer was lost with the process."""
    if record.error is not None:
        return str(record.error[1])
    return result_text(record) or "The call has no answer on record."
