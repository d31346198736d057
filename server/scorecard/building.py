"""Scores a sealed run: alignment, structure ranges, call outcomes and checks in one score card.

Everything comes from the record, the workspace and the task; the same record gives the same card. The card is
plain data, so that it can be stored, shown and compared; `cards` puts it into words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from m3bench.server.scorecard.costs import gains
from m3bench.server.scorecard.trajectory import Course, course, result_text
from m3bench.server.scoring import Encoder, Scorecard, score
from m3bench.server.scoring.metrics import Link, merge_purity, order_consistency, step_coherence
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.reasons import reason
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, LoggedCall
from m3bench.tasks.task import Task

VERSION = 2

STRUCTURE = {"step_coherence": step_coherence, "order_consistency": order_consistency, "merge_purity": merge_purity}
"""The metrics that depend on how calls were put into steps."""


def score_run(
    run: RunRecord, task: Task, records: Sequence[CallRecord], workspace: Path, encoder: Encoder
) -> dict[str, Any]:
    """The score card of a submitted run."""
    found = course(records, task.question)
    references = [reference.trajectory for reference in task.references]
    signatures = catalog_signatures(load_catalog())
    best = score(found.trajectory, references, encoder=encoder, signatures=signatures)
    findings = [check.run(_evidence(run, found, workspace)) for check in task.checks]
    card = {
        "version": VERSION,
        "task": task.id,
        "family": task.family,
        "metrics": dict(best.metrics),
        "ranges": _ranges(best, found),
        "success": all(finding.passed for finding in findings) if findings else None,
        "checks": [vars(finding) for finding in findings],
        "outcomes": dict(sorted(Counter(record.outcome or "failed" for record in found.calls).items())),
        "excluded": dict(sorted(Counter(record.owner or "proxy" for record in found.excluded).items())),
        "reference": {"index": best.reference, "of": best.references},
        "alignment": _alignment(best, task, found),
        "evidence": list(found.segmentation.evidence),
        "open": sum(decision.open for decision in found.segmentation.decisions),
        "reasons": {name: reason(best, name) for name in AVERAGED},
    }
    return card | {"gains": gains(card)}


def _ranges(best: Scorecard, found: Course) -> dict[str, list[float]]:
    """Lowest and highest value of each structure metric over all readings of the steps.

    Which calls match does not depend on steps, so only the places of the matches change.
    """
    values: dict[str, list[float]] = {name: [] for name in STRUCTURE}
    for steps in found.segmentation.readings():
        place = {index: number for number, step in enumerate(steps) for index in step}
        links = tuple(
            Link(match.reference.step, place[found.order[match.actual.index]], match.similarity)
            for match in best.matches
        )
        alignment = replace(best.alignment, links=links, actual_sizes=tuple(len(step) for step in steps))
        for name, metric in STRUCTURE.items():
            values[name].append(metric(alignment))
    return {name: [min(seen), max(seen)] for name, seen in values.items()}


def _alignment(best: Scorecard, task: Task, found: Course) -> dict[str, Any]:
    """Reference and actual calls by step, and which answers which."""
    return {
        "reference_steps": [
            [{"tool": call.tool, "arguments": call.arguments} for call in step]
            for step in task.references[best.reference].steps
        ],
        "actual_steps": [[_shown(found.calls[index]) for index in step] for step in found.segmentation.steps],
        "matches": [
            {
                "reference": match.reference.index,
                "actual": match.actual.index,
                "similarity": match.similarity,
                "strong": match.strong,
                "differences": [difference.to_json() for difference in match.differences],
            }
            for match in best.matches
        ],
        "missed": [placed.index for placed in best.missed],
        "extra": [placed.index for placed in best.extra],
    }


def _shown(record: CallRecord) -> dict[str, Any]:
    return {"tool": record.tool, "arguments": record.arguments, "outcome": record.outcome}


def _evidence(run: RunRecord, found: Course, workspace: Path) -> Evidence:
    calls = tuple(
        LoggedCall(
            tool=record.tool, arguments=record.arguments, outcome=record.outcome or "failed", text=result_text(record)
        )
        for record in found.calls
    )
    return Evidence(answer=run.answer or "", workspace=workspace, calls=calls)
