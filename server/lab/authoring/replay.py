"""Plays trajectories and references in fresh sandboxes and sorts every call into the five outcomes.

A task gets a workspace and a sandbox of its own. `play` makes the calls of a step together: this is how a set of
references is tested against the servers, and how a world is measured by references written for another one. `perform`
plays one reference call by call, and tells what files are left and whether the checks pass.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.sandboxes.wire import decode, dump
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.answers.reading import findings_of
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.errors import InvalidArgumentsError, SandboxError, UnknownToolError
from m3bench.tasks.fault import owner_of_error
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import CALL_SECONDS, Outcome, Owner, recorded, text_of
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task
from m3bench.tasks.trajectory import Call, Trajectory


@dataclass(frozen=True, kw_only=True)
class ReplayedCall:
    """One call and what it came to."""

    task: str
    step: int
    call: Call
    outcome: Outcome
    owner: Owner
    text: str
    """The text of the result, or of the error."""

    @property
    def succeeded(self) -> bool:
        """Whether the tool did what was asked."""
        return self.outcome == "success"


@dataclass
class ReplayTally:
    """The outcomes of many calls."""

    calls: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    by_tool: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[ReplayedCall] = field(default_factory=list)

    def add(self, played: ReplayedCall) -> None:
        """Count a call."""
        self.calls += 1
        self.outcomes[played.outcome] += 1
        self.by_tool.setdefault(played.call.tool, Counter())[played.outcome] += 1
        if not played.succeeded:
            self.failures.append(played)

    def to_json(self) -> dict[str, object]:
        """The tally as JSON data, in a fixed order."""
        return {
            "calls": self.calls,
            "outcomes": dict(sorted(self.outcomes.items())),
            "by_tool": {tool: dict(sorted(counts.items())) for tool, counts in sorted(self.by_tool.items())},
            "failures": [
                {
                    "task": played.task,
                    "step": played.step,
                    "call": played.call.to_json(),
                    "outcome": played.outcome,
                    "owner": played.owner,
                    "text": played.text,
                }
                for played in self.failures
            ],
        }


async def play(
    task: str,
    trajectory: Trajectory,
    *,
    backend: Backend,
    catalog: Catalog,
    furnish: Callable[[Path], SandboxSpec] | None = None,
) -> AsyncIterator[ReplayedCall]:
    """Play a trajectory in a fresh workspace, step by step.

    Args:
        task: The name the calls are reported under.
        trajectory: What to play.
        backend: Where sandboxes come from.
        catalog: The tools that exist.
        furnish: Fills the workspace and says what the sandbox is for; an empty one when left out.
    """
    if not trajectory.calls:
        return
    with TemporaryDirectory(prefix="m3bench-") as name:
        folder = Path(name)
        spec = furnish(folder) if furnish is not None else SandboxSpec(workspace=folder)
        sandbox = await backend.open(spec)
        try:
            for number, step in enumerate(trajectory.steps, 1):
                for played in await _play_step(task, number, step.calls, sandbox, catalog):
                    yield played
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()


async def _play_step(
    task: str, number: int, calls: tuple[Call, ...], sandbox: Sandbox, catalog: Catalog
) -> list[ReplayedCall]:
    results: dict[int, ReplayedCall] = {}

    async def one(index: int, call: Call) -> None:
        outcome, owner, text = await play_call(call.tool, call.arguments, sandbox, catalog)
        results[index] = ReplayedCall(task=task, step=number, call=call, outcome=outcome, owner=owner, text=text)

    async with anyio.create_task_group() as tasks:
        for index, call in enumerate(calls):
            tasks.start_soon(one, index, call)
    return [results[index] for index in sorted(results)]


async def play_call(
    name: str, arguments: Mapping[str, object], sandbox: Sandbox, catalog: Catalog
) -> tuple[Outcome, Owner, str]:
    """Make one call; what it came to, by whose fault, and the text of the result or error."""
    try:
        tool = catalog.tool(name)
        taken = tool.read(arguments).arguments
        reply = await sandbox.call(tool.qualified, dump(taken), CALL_SECONDS)
    except UnknownToolError as error:
        return "unknown_tool", "agent", str(error)
    except InvalidArgumentsError as error:
        return "invalid_arguments", "agent", str(error)
    except SandboxError as error:
        return "failed", owner_of_error(error), str(error)
    return *recorded(reply.outcome), text_of(decode(reply.result))


@contextmanager
def workspace_with(media: Iterable[tuple[str, bytes]]) -> Iterator[Path]:
    """A workspace with a task's pictures and recordings; it is gone afterwards."""
    with TemporaryDirectory(prefix="m3bench-") as name:
        workspace = Path(name)
        (workspace / MEDIA).mkdir()
        for file, data in media:
            (workspace / MEDIA / file).write_bytes(data)
        yield workspace


@asynccontextmanager
async def opened(backend: Backend, spec: SandboxSpec) -> AsyncIterator[Sandbox]:
    """A sandbox that is closed afterwards, whatever happens; only then are all of its files in the workspace."""
    sandbox = await backend.open(spec)
    try:
        yield sandbox
    finally:
        with anyio.CancelScope(shield=True):
            await sandbox.aclose()


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
        backwards: Whether the calls of each step are made in reverse order.
    """
    with workspace_with(library.media(task)) as workspace:
        spec = SandboxSpec(workspace=workspace, servers=task.servers, scenes=library.scenes(task))
        calls: list[LoggedCall] = []
        async with opened(backend, spec) as sandbox:
            for step in reference.steps:
                made = [await _played(call, sandbox) for call in (reversed(step) if backwards else step)]
                calls += reversed(made) if backwards else made
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
