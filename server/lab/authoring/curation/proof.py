"""Proves a candidate in fresh sandboxes; what is not proved is shown to nobody.

Beyond what every task has to pass (`verification`), a candidate has to be as short as it claims: no call uses a
value before an earlier step gave it, and each step needs the one before it, by a value, by a choice that was made
there, or because it comes out differently without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.lab.authoring.curation.judge import causal_problems
from m3bench.server.lab.authoring.curation.material import Act, CurationMaterial
from m3bench.server.lab.authoring.curation.summary import RuleSummariser
from m3bench.server.lab.authoring.lint import lint
from m3bench.server.lab.authoring.replay import Performance, perform
from m3bench.server.lab.authoring.verification import play_problems, score_problems
from m3bench.server.scoring import Encoder
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.families.base import DISTRACTORS
from m3bench.tasks.library import Library
from m3bench.tasks.task import Reference, Task


class Prover:
    """Proves candidates.

    Args:
        library: The set of the tasks.
        backend: Where candidates are played.
        encoder: What scores them.
    """

    def __init__(self, library: Library, backend: Backend, encoder: Encoder) -> None:
        self._library = library
        self._backend = backend
        self._encoder = encoder
        self._catalog = load_catalog().ready

    async def problems(self, material: CurationMaterial, reference: Reference) -> list[str]:
        """Why a candidate is no reference of its task; empty when it is one."""
        task = merged(material.task, reference)
        # What was wrong with the task before is not the candidate's fault.
        old = set(lint(material.task, self._library, self._catalog))
        found = [problem for problem in lint(task, self._library, self._catalog) if problem not in old]
        found += _shape_problems(reference)
        if task is not material.task:
            last = f"reference {len(task.references)} "
            found += [problem for problem in score_problems(task, self._encoder) if problem.startswith(last)]
        if found:
            return found
        found = [problem async for problem in play_problems(self._library, task, reference, self._backend)]
        if found:
            return found
        performance = await perform(self._library, task, reference, self._backend)
        played = replace(material, task=task, acts=_acts(reference, performance))
        return [*self._early_values(played), *await self._idle_steps(played, reference, performance)]

    def _early_values(self, played: CurationMaterial) -> Iterator[str]:
        for index, act in enumerate(played.acts):
            before = tuple(earlier for earlier in played.acts[:index] if earlier.step < act.step)
            seen = replace(played, acts=(*before, act))
            yield from causal_problems(seen, len(before), self._catalog.by_tool.get(act.tool))

    async def _idle_steps(self, played: CurationMaterial, reference: Reference, performance: Performance) -> list[str]:
        """Steps that do not need the one before them."""
        packed = RuleSummariser(self._catalog).levels(played, played.acts)
        found = []
        for number in range(1, len(reference.steps)):
            if any(level >= number for act, level in zip(played.acts, packed, strict=True) if act.step == number):
                continue
            steps = list(reference.steps)
            steps[number - 1], steps[number] = steps[number], steps[number - 1]
            swapped = Reference(steps=tuple(steps))
            other = await perform(self._library, played.task, swapped, self._backend)
            if _results(swapped, other) == _results(reference, performance) and other.files == performance.files:
                found.append(f"step {number + 1} needs nothing of step {number}: they are one step")
        return found


def merged(task: Task, reference: Reference) -> Task:
    """The task with a reference added; one that is there already is not added again."""
    if known(task, reference) is not None:
        return task
    used = {call.tool.partition("/")[0] for step in reference.steps for call in step}
    servers = (*task.servers, *sorted(used - set(task.servers)))
    distractors = [server for server in task.distractors if server not in servers]
    spare = sorted({tool.server for tool in load_catalog().ready.tools} - {*servers, *distractors})
    distractors += spare[: max(0, min(DISTRACTORS, len(task.distractors)) - len(distractors))]
    return task.model_copy(
        update={
            "references": (*task.references, reference),
            "servers": servers,
            "distractors": tuple(sorted(distractors)),
        }
    )


def known(task: Task, reference: Reference) -> int | None:
    """Which of a task's references has the same calls in the same steps, in any order within a step."""
    wanted = [sorted(_text(call.tool, call.arguments) for call in step) for step in reference.steps]
    for number, one in enumerate(task.references):
        if [sorted(_text(call.tool, call.arguments) for call in step) for step in one.steps] == wanted:
            return number
    return None


def _text(tool: str, arguments: dict[str, object]) -> str:
    return f"{tool} {sorted(arguments.items(), key=lambda item: item[0])}"


def _shape_problems(reference: Reference) -> Iterator[str]:
    if not reference.steps:
        yield "it has no steps"
    for number, step in enumerate(reference.steps, 1):
        if not step:
            yield f"step {number} has no calls"


def _acts(reference: Reference, performance: Performance) -> tuple[Act, ...]:
    places = [number for number, step in enumerate(reference.steps) for _ in step]
    return tuple(
        Act(tool=call.tool, arguments=call.arguments, outcome=call.outcome, text=call.text, step=place)
        for call, place in zip(performance.calls, places, strict=True)
    )


def _results(reference: Reference, performance: Performance) -> Sequence[tuple[str, str]]:
    calls = [call for step in reference.steps for call in step]
    return sorted(
        (_text(call.tool, call.arguments), done.text) for call, done in zip(calls, performance.calls, strict=True)
    )
