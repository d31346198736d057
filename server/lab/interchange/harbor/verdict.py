"""What became of the agent's run in a trial: laid out by the server's container, then held against its own log.

    collected.json   which run counts and what became of it
    run.m3run        that run as a submission bundle, when it was scored

Harbor carries both from the server's container to the verifier's, past the agent. The verifier scores the run again all
the same: what was changed on the way is worth nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES, pack_set
from m3bench.server.lab.interchange.rescoring import LocalInstallation, verify_bundle
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring import Encoder
from m3bench.server.store.records import RunRecord, State
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

COLLECTED, BUNDLE = "collected.json", "run.m3run"
REWARD, METRICS = "reward.json", "metrics.json"
REWARDS = ("reward", "solved")
"""What stands in `reward.json`: Harbor's tables have a column for each."""

NOT_SUBMITTED = {
    "none": "the agent did not start the task",
    "working": "the agent did not submit an answer",
    "abandoned": "the agent gave the task up",
}
"""Why a run has no score, by its state: each is the agent's doing and worth 0."""


class Collected(BaseModel):
    """The content of `collected.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["m3bench/harbor-run"] = "m3bench/harbor-run"
    version: Literal[1] = 1
    task: str
    state: State | Literal["none"]
    """Of the run that counts; `none` when there is none."""
    run: str | None = None
    reason: str = ""
    """Why it is void."""
    others: int = 0
    """Runs on other seats, or void ones before it, which do not count."""


@dataclass(frozen=True, kw_only=True)
class TrialVerdict:
    """The outcome of a trial."""

    outcome: Literal["scored", "not submitted", "void", "refuted"]
    task: str
    numbers: dict[str, float] | None = None
    """What Harbor is told; None when the trial says nothing about the agent."""
    why: str = ""
    """The reason, unless it was scored."""
    run: SubmittedRun | None = None
    """The run, when it was scored."""


def counted(runs: Sequence[RunRecord], seat: str, task: str) -> RunRecord | None:
    """The run that counts: the one on the agent's seat; a void one only when there is no other."""
    mine = sorted((run for run in runs if (run.seat, run.task) == (seat, task)), key=lambda run: run.started)
    return next((run for run in mine if run.state != "void"), mine[-1] if mine else None)


def lay_out(data: Path, seat: str, task: str, folder: Path) -> Collected:
    """Write down what became of the agent's run.

    Args:
        data: The server's data folder; there is none when nobody started anything.
        seat: Where the agent sits.
        task: What it was to solve.
        folder: Where Harbor collects.

    Raises:
        InputFileError: It cannot be written.
    """
    store = SqliteStore(data)
    try:
        runs = store.runs()
        run = counted(runs, seat, task)
        if run is None:
            collected = Collected(task=task, state="none", others=len(runs))
        else:
            collected = _collected(run, store, len(runs) - 1)
            if run.scorecard is not None:
                pack_set(_alone(read_resultset(data), run), store, folder / BUNDLE)
        write_atomically(folder / COLLECTED, f"{collected.model_dump_json(indent=1)}\n".encode())
    except OSError as error:
        raise InputFileError(folder, f"cannot be written ({error.strerror or error})") from error
    finally:
        store.close()
    return collected


def judge(folder: Path, seat: str, task: str, installation: LocalInstallation, encoder: Encoder) -> TrialVerdict:
    """Score what was collected again from its own log.

    Raises:
        InputFileError: Nothing was collected, or it cannot be read: the server failed, which says nothing of the agent.
    """
    collected = _read(folder / COLLECTED)
    if collected.task != task:
        return _refuted(task, f"the run is of the task {collected.task!r}")
    if collected.state in NOT_SUBMITTED:
        why = NOT_SUBMITTED[collected.state]
        return TrialVerdict(outcome="not submitted", task=task, numbers={"reward": 0.0, "solved": 0.0}, why=why)
    if collected.state == "void":
        return TrialVerdict(outcome="void", task=task, why=collected.reason)
    bundle = folder / BUNDLE
    if not bundle.exists():
        raise InputFileError(bundle, f"is missing, although the run is {collected.state}")
    try:
        verdict = verify_bundle(bundle, installation, encoder)
    except InputFileError as error:
        return _refuted(task, str(error))
    if not verdict.confirmed:
        first = verdict.differences[0]
        return _refuted(task, f"{first.where}: {first.what} is not as claimed ({len(verdict.differences)} differences)")
    return _scored(bundle, seat, task)


def numbers_of(card: ScoreCard) -> dict[str, float]:
    """The numbers of a run for Harbor: its average as `reward`, whether all is right as `solved`, and every metric."""
    known = {name: value for name, value in card.numbers.items() if value is not None}
    return {"reward": card.average or 0.0, "solved": float(card.success is True), **known}


def _scored(bundle: Path, seat: str, task: str) -> TrialVerdict:
    """The verdict on a bundle that was confirmed: it must hold one ranked run of this task on the agent's seat."""
    with Archive(bundle, NAMES) as archive:
        submission = Submission(archive)
        runs = [submission.run(id) for id in submission.runs]
    if len(runs) != 1:
        return _refuted(task, f"the bundle holds {len(runs)} runs, not one")
    record = runs[0].record
    if (record.task, record.seat, record.mode) != (task, seat, "ranked"):
        return _refuted(task, "the run is not the agent's ranked run of this task")
    card = card_of(record)
    if card is None:
        return _refuted(task, "the run has no score card")
    if card.void is not None:
        return TrialVerdict(outcome="void", task=task, why=card.void_reason)
    return TrialVerdict(outcome="scored", task=task, numbers=numbers_of(card), run=runs[0])


def _refuted(task: str, why: str) -> TrialVerdict:
    return TrialVerdict(outcome="refuted", task=task, numbers={"reward": 0.0, "solved": 0.0}, why=why)


def _collected(run: RunRecord, store: SqliteStore, others: int) -> Collected:
    card = card_of(run)
    reason = card.void_reason if card is not None else store.lost(run.id) if run.state == "void" else ""
    state: State = "void" if reason else run.state
    return Collected(task=run.task, state=state, run=run.id, reason=reason or "", others=others)


def _alone(everything: ResultSet, run: RunRecord) -> ResultSet:
    """A single run of a record, as a result set."""
    results = tuple(
        replace(result, sample=result.sample.model_copy(update={"repeat": 1}))
        for result in everything.results
        if result.run.id == run.id
    )
    void = tuple(
        sample.model_copy(update={"repeat": 1}) for sample in everything.void if sample.run == run.id
    )  # fmt: skip
    header = everything.header.model_copy(
        update={
            "name": run.task,
            "agent": next((result.card.client.name for result in results if result.card.client), "unknown client"),
            "repeats": 1,
            "tasks": (run.task,),
            "profile": str(run.manifest.get("profile")),
            "started": run.started,
        }
    )
    return replace(everything, header=header, results=results, void=void)


def _read(path: Path) -> Collected:
    try:
        return Collected.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}): the server was not asked, or failed") from error
    except ValidationError as error:
        raise InputFileError(path, error.errors(include_url=False, include_input=False)[0]["msg"]) from None
