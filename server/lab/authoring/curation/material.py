"""What curation works on: a recorded run with its task, as plain values.

Taken from the record once; the stages after it are pure functions over this and never look into a store. What the
client could know from the start is here too: the question, and what there is to see in the task's pictures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from json import dumps
from pathlib import Path

from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.trajectory import played_run
from m3bench.server.store.contract import Store
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.records import OWN_TOOLS, RunRecord
from m3bench.tasks.answers.reading import findings_of
from m3bench.tasks.checks import Evidence, Finding, LoggedCall
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Reference, Task

MOST_SAID = 300_000
"""Characters of an answer in which values are looked for."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """A call of the run with what it answered."""

    tool: str
    arguments: Mapping[str, object]
    outcome: str
    text: str
    step: int = 0
    """Its step according to the record, from 0."""

    @property
    def succeeded(self) -> bool:
        """Whether the tool did what was asked."""
        return self.outcome == "success"

    @cached_property
    def said(self) -> str:
        """The answer with its case folded, to look for values in; of a huge one, the part that a client can have
        read."""
        return self.text[:MOST_SAID].casefold()

    @cached_property
    def key(self) -> str:
        """The same for calls that ask for the same."""
        return f"{self.tool} {dumps(self.arguments, sort_keys=True, ensure_ascii=False)}"


@dataclass(frozen=True, kw_only=True)
class CurationMaterial:
    """A recorded run."""

    run: str
    seal: str | None
    state: str
    task: Task
    acts: tuple[Act, ...]
    """In order of arrival; calls that failed through no fault of the agent are left out."""
    answer: str
    seen: str = ""
    """What there is to see in the task's pictures, in one case."""
    findings: tuple[Finding, ...] = ()
    """What the task's checks say of the run."""

    @cached_property
    def asked(self) -> str:
        """The question, in one case."""
        return self.task.question.casefold()

    @cached_property
    def pictures(self) -> frozenset[str]:
        """Paths of the task's pictures, as `path_of` writes them."""
        return frozenset(f"{MEDIA}/{name}" for name in self.task.pictures)


def gather(store: Store, library: Library, run: RunRecord) -> CurationMaterial:
    """A run from the record.

    Raises:
        UserError: Its task is not in the set.
    """
    if run.task not in library.tasks:
        raise UserError(
            f"The run {run.id[:12]} was made on the task {run.task!r}, which is not in the set"
            f" {library.set.name!r}: name the folder of its set with --tasks."
        )
    task = library.task(run.task)
    found = played_run([call for call in store.calls(run.id) if call.tool not in OWN_TOOLS], task.question)
    place = {index: number for number, step in enumerate(found.segmentation.steps) for index in step}
    steps = found.trajectory.calls
    arguments = {index: steps[at].arguments for at, index in enumerate(found.order)}
    acts = tuple(
        Act(
            tool=call.tool,
            arguments=arguments[index],
            outcome=call.outcome or "failed",
            text=call.text,
            step=place[index],
        )
        for index, call in enumerate(found.calls)
    )
    return CurationMaterial(
        run=run.id,
        seal=run.seal,
        state=run.state,
        task=task,
        acts=acts,
        answer=run.answer or "",
        seen=seen(library, task),
        findings=_findings(run, task, acts, run_workspace(store.folder, run.id)),
    )


def seen(library: Library, task: Task) -> str:
    """What there is to see in a task's pictures: writing, and what things are called."""
    words = [
        word
        for scene in library.scenes(task)
        for word in (
            *(text.text for text in scene.texts),
            " ".join(text.text for text in scene.texts),
            *(name for thing in scene.objects for name in (thing.label, *thing.aliases)),
        )
    ]
    return "\n".join(words).casefold()


def reference_hash(reference: Reference) -> str:
    """A name for a reference: changes with any call, argument or tolerance, not with the note."""
    data = reference.model_dump(mode="json", exclude={"note"})
    return sha256(dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def path_of(text: str) -> str:
    """A path as it is compared: without the folder sign or the sandbox's name for the workspace in front."""
    return text.removeprefix("/workspace/").removeprefix("./")


def _findings(run: RunRecord, task: Task, acts: tuple[Act, ...], workspace: Path) -> tuple[Finding, ...]:
    """From the score card when there is one: the workspace may be gone."""
    card = card_of(run)
    if card is not None:
        return tuple(Finding(check=check.check, passed=check.passed, reason=check.reason) for check in card.checks)
    if run.state not in ("submitted", "scored"):
        return ()
    calls = tuple(
        LoggedCall(tool=act.tool, arguments=dict(act.arguments), outcome=act.outcome, text=act.text) for act in acts
    )
    return findings_of(task, Evidence(answer=run.answer or "", fields=run.fields, workspace=workspace, calls=calls))
