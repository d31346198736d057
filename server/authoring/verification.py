"""Verifies a set of tasks: every reference runs, in any order of a step's calls, passes the checks, and scores 1."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.server.authoring.lint import lint, lint_set
from m3bench.server.scoring import Encoder, open_encoder, score
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.toolservers.replay import play_call
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task


async def verify(
    library: Library, backend: Backend, *, parallel: int = 2, progress: Callable[[str], None] = lambda id: None
) -> list[str]:
    """What is wrong with a set; empty when nothing is.

    Args:
        library: The set.
        backend: Where references are played.
        parallel: Tasks that are proved at a time.
        progress: Told the id of each proved task.
    """
    problems: dict[str, list[str]] = {}
    encoder = open_encoder()
    limiter = anyio.CapacityLimiter(parallel)

    async def one(task: Task) -> None:
        async with limiter:
            found = [*lint(task, library, load_catalog().ready), *score_problems(task, encoder)]
            for number, reference in enumerate(task.references):
                where = f"reference {number + 1}: " if number else ""
                found += [where + problem async for problem in play_problems(library, task, reference, backend)]
            problems[task.id] = found
            progress(task.id)

    async with anyio.create_task_group() as group:
        for task in library.tasks.values():
            group.start_soon(one, task)
    return [
        *lint_set(library),
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


@dataclass(frozen=True, kw_only=True)
class Performance:
    """A reference, played."""

    calls: tuple[LoggedCall, ...]
    """In the order of the reference, however they were made."""
    files: dict[str, str]
    """What the workspace holds in the end: hashes by path."""
    findings: tuple[Finding, ...]


async def perform(
    library: Library, task: Task, reference: Reference, backend: Backend, *, backwards: bool = False
) -> Performance:
    """Play a reference in a fresh sandbox, one call after another, and run the checks.

    Args:
        library: The set.
        task: The task.
        reference: One of its references.
        backend: Where to play.
        backwards: The calls of each step are made in reversed order.
    """
    with TemporaryDirectory(prefix="m3bench-") as name:
        workspace = Path(name)
        (workspace / MEDIA).mkdir()
        for picture in task.pictures:
            (workspace / MEDIA / picture).write_bytes(library.picture(picture))
        spec = SandboxSpec(workspace=workspace, servers=task.servers, scenes=library.scenes(task))
        sandbox = await backend.open(spec)
        calls: list[LoggedCall] = []
        try:
            for step in reference.steps:
                made = [await _played(call, sandbox) for call in (reversed(step) if backwards else step)]
                calls += reversed(made) if backwards else made
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()
        evidence = Evidence(answer=task.answer, workspace=workspace, calls=calls)
        return Performance(
            calls=tuple(calls), files=_hashes(workspace), findings=tuple(check.run(evidence) for check in task.checks)
        )


async def _played(call: ReferenceCall, sandbox: Sandbox) -> LoggedCall:
    outcome, _, text = await play_call(call.tool, call.arguments, sandbox, load_catalog().ready)
    return LoggedCall(tool=call.tool, arguments=call.arguments, outcome=outcome, text=text)


def _hashes(workspace: Path) -> dict[str, str]:
    return {
        path.relative_to(workspace).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(workspace.rglob("*"))
        if path.is_file()
    }


async def play_problems(library: Library, task: Task, reference: Reference, backend: Backend) -> AsyncIterator[str]:
    """What is wrong with a reference when it is played, forwards and with each step in reversed order."""
    forward = await perform(library, task, reference, backend)
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
