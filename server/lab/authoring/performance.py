"""Plays a reference in a fresh sandbox: what each call answered, what files are left, and whether the checks pass."""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.server.lab.authoring.replay import play_call
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.answers.outcome import findings_of
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task


@dataclass(frozen=True, kw_only=True)
class Performance:
    """A reference, played."""

    calls: tuple[LoggedCall, ...]
    """In the order of the reference, however they were made."""
    files: dict[str, str]
    """What the workspace holds in the end: hashes by path."""
    findings: tuple[Finding, ...]
    """What is right: with the answer in prose, and again with the fields as the task states them."""


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
        for file, data in library.media(task):
            (workspace / MEDIA / file).write_bytes(data)
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
        prose = Evidence(answer=task.answer, workspace=workspace, calls=calls)
        stated = replace(prose, answer="", fields=right_fields(task.fields))
        return Performance(
            calls=tuple(calls),
            files=_hashes(workspace),
            findings=(*findings_of(task, prose), *(findings_of(task, stated) if task.fields else ())),
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
