"""A run becomes a reference: judged, summarised, proved, and shown to somebody who says yes or no.

The stages are parameters, so that a model, a script or a person can take any of them except the proof. Only what is
proved reaches the reviewer, even after an edit. The decisions, who made them and why are recorded in `curation.jsonl`,
one line per decision.
"""

import getpass
import json
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from m3bench.server.lab.authoring.curation.judge import RunJudge
from m3bench.server.lab.authoring.curation.material import CurationMaterial, reference_hash
from m3bench.server.lab.authoring.curation.proof import Prover, known
from m3bench.server.lab.authoring.curation.summary import Proposal, Summariser
from m3bench.server.store.records import now
from m3bench.tasks.atomic_files import append_line
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.task import Reference

FILE = "curation.jsonl"

Kind = Literal["accepted", "rejected", "skipped", "rejected by the judge", "not proved"]
"""What became of a run; the last two never reached a person."""


@dataclass(frozen=True, kw_only=True)
class CurationDecision:
    """What became of a run."""

    run: str
    task: str
    decision: Kind
    reason: str = ""
    by: str = ""
    """Who decided: a person, a judge, or the prover."""
    seal: str | None = None
    """The run's own hash."""
    candidate: str | None = None
    """The hash of the reference that was decided on."""
    same_as: int | None = None
    """Which of the task's references it equals, from 1."""
    edited: bool = False
    time: str = ""


def note(folder: Path, decision: CurationDecision) -> None:
    """Add a decision to the record of a folder: one write of a whole line."""
    path = folder / FILE
    line = json.dumps({**asdict(decision), "time": now()}, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        append_line(path, line)
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error


def who(given: str | None) -> str:
    """The name to decide under: as given, as git knows the person, or the account's."""
    if given:
        return given
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        name = ""
    else:
        name = done.stdout.strip()
    if name:
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


MOST_PROPOSALS = 6
"""Candidates of one run that are tried."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A proved reference, as a reviewer sees it."""

    material: CurationMaterial
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

    material: CurationMaterial
    decision: CurationDecision
    reference: Reference | None = None
    """When it was accepted, or when nobody was asked: the proved reference."""
    problems: tuple[str, ...] = ()


async def curate(
    materials: Iterable[CurationMaterial],
    *,
    judge: RunJudge,
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
    material: CurationMaterial, judge: RunJudge, summariser: Summariser, prover: Prover, reviewer: Reviewer, by: str
) -> Curated:
    decision = CurationDecision(run=material.run, task=material.task.id, decision="skipped", seal=material.seal)
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


async def _proved(
    material: CurationMaterial, summariser: Summariser, prover: Prover
) -> tuple[Candidate | None, list[str]]:
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
