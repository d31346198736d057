"""A run becomes a reference: judged, summarised, proved, and shown to somebody who says yes or no.

The stages are parameters, so that a model, a script or a person can take any of them except the proof. Only what is
proved reaches the reviewer, even after an edit.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pydantic import ValidationError

from m3bench.server.lab.authoring.curation.decisions import Decision
from m3bench.server.lab.authoring.curation.judge import Judge
from m3bench.server.lab.authoring.curation.material import Material, reference_hash
from m3bench.server.lab.authoring.curation.proof import Prover, known
from m3bench.server.lab.authoring.curation.summary import Proposal, Summariser
from m3bench.tasks.task import Reference

MOST_PROPOSALS = 6
"""Candidates of one run that are tried."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A proved reference, as a reviewer sees it."""

    material: Material
    proposal: Proposal
    edited: bool = False
    same_as: int | None = None
    """Which of the task's references it equals, from 0."""
    problems: tuple[str, ...] = ()
    """Why the reviewer's last edit was not taken."""


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a reviewer says."""

    kind: Literal["accept", "reject", "skip", "edit"]
    reason: str = ""
    text: str = ""
    """Of an edit: the reference as JSON."""


class Reviewer(Protocol):
    """Says yes or no to a proved candidate."""

    def review(self, candidate: Candidate) -> Ruling:
        """Look at it and decide; an edit is proved and comes back."""
        ...


@dataclass(frozen=True, kw_only=True)
class Curated:
    """What became of a run."""

    material: Material
    decision: Decision
    reference: Reference | None = None
    """When it was accepted, or when nobody was asked: the proved reference."""
    problems: tuple[str, ...] = ()


async def curate(
    materials: Iterable[Material],
    *,
    judge: Judge,
    summariser: Summariser,
    prover: Prover,
    reviewer: Reviewer,
    by: str,
    on_decision: Callable[[Curated], None] = lambda curated: None,
) -> list[Curated]:
    """Take runs through all stages.

    Args:
        materials: The runs.
        judge: Accepts or rejects a run.
        summariser: Proposes candidates.
        prover: Proves them.
        reviewer: Decides on what is proved.
        by: Whose decisions they are.
        on_decision: Told each outcome as soon as there is one, so that none is lost.
    """
    found = []
    for material in materials:
        curated = await _one(material, judge, summariser, prover, reviewer, by)
        on_decision(curated)
        found.append(curated)
    return found


async def _one(
    material: Material, judge: Judge, summariser: Summariser, prover: Prover, reviewer: Reviewer, by: str
) -> Curated:
    decision = Decision(run=material.run, task=material.task.id, decision="skipped", seal=material.seal)
    verdict = await judge.judge(material)
    if not verdict.accepted:
        reason = "; ".join(verdict.reasons)
        decision = replace(decision, decision="rejected by the judge", reason=reason, by=verdict.judge)
        return Curated(material=material, decision=decision, problems=verdict.reasons)
    candidate, problems = await _proved(material, summariser, prover)
    if candidate is None:
        decision = replace(decision, decision="not proved", reason="; ".join(problems), by="proof")
        return Curated(material=material, decision=decision, problems=tuple(problems))
    candidate, ruling = await _reviewed(candidate, prover, reviewer)
    reference = candidate.proposal.reference
    kinds = {"accept": "accepted", "reject": "rejected", "skip": "skipped"}
    decision = replace(
        decision,
        decision=kinds[ruling.kind],  # type: ignore[arg-type]
        reason=ruling.reason,
        by=by,
        candidate=reference_hash(reference),
        same_as=None if candidate.same_as is None else candidate.same_as + 1,
        edited=candidate.edited,
    )
    return Curated(material=material, decision=decision, reference=reference if ruling.kind != "reject" else None)


async def _proved(material: Material, summariser: Summariser, prover: Prover) -> tuple[Candidate | None, list[str]]:
    """The first proposal that is proved, or what was wrong with the first."""
    problems: list[str] = []
    number = 0
    async for proposal in summariser.propose(material):
        found = await prover.problems(material, proposal.reference)
        if not found:
            same = known(material.task, proposal.reference)
            return Candidate(material=material, proposal=proposal, same_as=same), []
        problems = problems or found
        number += 1
        if number == MOST_PROPOSALS:
            break
    return None, problems or ["nothing was proposed"]


async def _reviewed(candidate: Candidate, prover: Prover, reviewer: Reviewer) -> tuple[Candidate, Ruling]:
    while True:
        ruling = reviewer.review(candidate)
        if ruling.kind != "edit":
            return candidate, ruling
        try:
            reference = Reference.model_validate(json.loads(ruling.text))
        except (json.JSONDecodeError, RecursionError) as error:
            candidate = replace(candidate, problems=(f"the edit is not JSON: {error}",))
            continue
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            candidate = replace(candidate, problems=(f"the edit is not a reference: {where}: {first['msg']}",))
            continue
        problems = await prover.problems(candidate.material, reference)
        if problems:
            candidate = replace(candidate, problems=tuple(problems))
        else:
            proposal = replace(candidate.proposal, reference=reference)
            same = known(candidate.material.task, reference)
            candidate = replace(candidate, proposal=proposal, edited=True, same_as=same, problems=())
