"""Verifies a set of tasks: every reference runs, in any order of a step's calls, passes the checks, and scores 1."""

from collections.abc import AsyncIterator, Callable

import anyio

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.lab.authoring.checkpoints import ProofCheckpoints
from m3bench.server.lab.authoring.fairness import unfair, unfair_together
from m3bench.server.lab.authoring.lint import NEEDLESS, lint, lint_set, needless
from m3bench.server.lab.authoring.planning import decided_by, derive, in_steps
from m3bench.server.lab.authoring.replay import Performance, perform
from m3bench.server.scoring import Encoder, open_encoder, score
from m3bench.server.scoring.alignment import ScorableRun
from m3bench.server.scoring.profiles import EFFECT
from m3bench.server.scoring.scorer import score_each
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import M3Error
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Reference, Task

READ_BY_AN_ENGINE = frozenset({"ocr/perform_ocr"})
"""Tools that compute with floats, which processors round differently: a letter of what is read may be another one."""


async def verify(
    library: Library,
    backend: Backend,
    *,
    parallel: int = 2,
    progress: Callable[[str], None] = lambda id: None,
    proofs: ProofCheckpoints | None = None,
) -> list[str]:
    """What is wrong with a set; empty when nothing is.

    Args:
        library: The set.
        backend: Where references are played.
        parallel: Tasks that are proved at a time.
        progress: Told the id of each proved task.
        proofs: What an earlier call that was stopped has proved; grows on the way.
    """
    problems: dict[str, list[str]] = {}
    encoder = open_encoder()
    limiter = anyio.CapacityLimiter(parallel)

    async def one(task: Task) -> None:
        async with limiter:
            found = [*lint(task, library, load_catalog().ready), *score_problems(task, encoder)]
            found += unfair(task, library) if task.fields else ()
            known = proofs is not None and task.id in proofs.done
            found += [] if known else await _play(task)
            problems[task.id] = found
            if proofs is not None and not known and not found:
                proofs.add(task.id)
            progress(task.id)

    async def _play(task: Task) -> list[str]:
        found = []
        try:
            for number, reference in enumerate(task.references):
                where = f"reference {number + 1}: " if number else ""
                found += [where + problem async for problem in play_problems(library, task, reference, backend)]
        except M3Error as error:
            # One task that cannot be played must not cost what was found about the others.
            found.append(f"cannot be played: {error}")
        return found

    async with anyio.create_task_group() as group:
        for task in library.tasks.values():
            group.start_soon(one, task)
    return [
        *lint_set(library),
        *unfair_together(library),
        *(f"{id}: {problem}" for id in library.tasks for problem in problems[id]),
    ]


def score_problems(task: Task, encoder: Encoder) -> list[str]:
    """References that do not score 1 on everything."""
    references = [reference.trajectory for reference in task.references]
    signatures = catalog_signatures(load_catalog())
    problems = []
    for number, reference in enumerate(references, 1):
        card = score(reference, references, encoder=encoder, signatures=signatures)
        low = {name: value for name, value in card.metrics.items() if value != 1}
        problems += [f"reference {number} scores {low}"] if low else []
    return problems


async def play_problems(library: Library, task: Task, reference: Reference, backend: Backend) -> AsyncIterator[str]:
    """What is wrong with a reference when it is played, forwards and with each step in reverse order.

    A plan that is stored with it must be the one that playing it gives, and it must score 1 by effect.
    """
    forward = await perform(library, task, reference, backend)
    steps = in_steps(reference, forward.calls)
    derived = derive(task.question, task.answer, steps, decided=decided_by(task), in_order=True)
    stored = library.plans(task)[task.references.index(reference)] if reference in task.references else derived
    plan = stored if stored.played else derived
    if not stored.played and needless(task.model_copy(update={"references": (reference,)}), [derived]):
        yield NEEDLESS
    if not _is_same(plan, derived, forward):
        yield "its plan is not what playing it gives: write it anew with `m3bench tasks plan`"
    scored = _scored(task, reference, plan, forward)
    low = {name: value for name, value in scored.metrics.items() if value != 1}
    if low:
        yield f"by effect it scores {low}"
        fewest = plan.fewest_steps(range(len(plan.calls)))
        if fewest < len(reference.steps):
            yield (
                f"it takes {len(reference.steps)} steps where its calls need {fewest}: put calls together that do not "
                "need each other or, where each step follows from the one before, write `m3bench tasks plan --in-order`"
            )
    for call in forward.calls:
        if call.outcome != "success":
            yield f"{call.tool}: {call.outcome}: {call.text[:200]}"
    for finding in forward.findings:
        if not finding.passed:
            yield f"the reference's own answer fails: {finding.check}: {finding.reason}"
    if any(len(step) > 1 for step in reference.steps):
        backward = await perform(library, task, reference, backend, backwards=True)
        for one, other in zip(forward.calls, backward.calls, strict=True):
            if one.text != other.text:
                yield f"{one.tool} depends on the order of its step"
        if forward.files != backward.files:
            yield "the files depend on the order of a step"


def _is_same(plan: Plan, derived: Plan, performance: Performance) -> bool:
    """Whether a plan is what playing gave; of what an engine read, the facts that are used count."""
    if len(plan.calls) != len(derived.calls):
        return False
    calls = tuple(
        new.model_copy(update={"result": old.result}) if made.tool in READ_BY_AN_ENGINE and new.gives else new
        for old, new, made in zip(plan.calls, derived.calls, performance.calls, strict=True)
    )
    again = Plan(calls=calls)
    return plan in (again, again.shown)


def _scored(task: Task, reference: Reference, plan: Plan, performance: Performance) -> TrajectoryScore:
    run = ScorableRun(
        actual=reference.trajectory,
        references=[reference.trajectory],
        plans=[plan],
        results=[call.text for call in performance.calls],
        said=task.answer,
        pictures=frozenset((*task.pictures, *task.recordings)),
    )
    return score_each(run, profile=EFFECT, signatures=catalog_signatures(load_catalog()))[0]
