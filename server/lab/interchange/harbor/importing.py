"""Trials of Harbor as result sets: one for each agent and model, which reports and leaderboards read like any other.

A run is scored again from its log before it is taken, and Harbor's reward must be the one that comes out. Trials in
which no answer was handed in count as runs in which nothing was done. What is refuted, or has no reward, is left out
and listed, and its task is missing in the set.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Literal

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.harbor.dataset import SEAT
from m3bench.server.lab.interchange.harbor.jobs import Trial
from m3bench.server.lab.interchange.harbor.verdict import BUNDLE, TrialVerdict, judge
from m3bench.server.lab.interchange.rescoring import TOLERANCE, LocalInstallation
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.interchange.unpacking import nothing_done
from m3bench.server.lab.results.documents import file_name
from m3bench.server.lab.results.resultset import DATA, Header, Sample, SampleUsage, append_sample, write_header
from m3bench.server.scoring import Encoder
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.transfer import import_runs
from m3bench.tasks.errors import InputFileError

Outcome = Literal["scored", "not submitted", "void", "refuted", "incomplete"]


@dataclass(frozen=True, kw_only=True)
class CheckedTrial:
    """A trial, and whether its result counts."""

    trial: Trial
    outcome: Outcome
    why: str = ""
    judged: TrialVerdict | None = None

    @property
    def task(self) -> str:
        """The id of its task."""
        return self.trial.task or self.trial.result.task_name

    @property
    def run(self) -> SubmittedRun | None:
        """Its run, when it was scored and nothing contradicts it."""
        return self.judged.run if self.judged is not None and self.outcome == "scored" else None


def check_trial(trial: Trial, installation: LocalInstallation, encoder: Encoder) -> CheckedTrial:
    """Compare a trial's reward with what was recorded in it."""
    if trial.task is None or trial.task not in installation.library.tasks:
        return CheckedTrial(trial=trial, outcome="incomplete", why=f"{trial.result.task_name!r} is no task of this set")
    rewards = trial.rewards
    if not trial.collected.is_dir():
        why = trial.trouble or "nothing was collected from the server"
        return CheckedTrial(trial=trial, outcome="incomplete", why=why)
    try:
        judged = judge(trial.collected, SEAT, trial.task, installation, encoder)
    except InputFileError as error:
        return CheckedTrial(trial=trial, outcome="incomplete", why=str(error))
    if judged.outcome in ("void", "refuted"):
        return CheckedTrial(trial=trial, outcome=judged.outcome, why=judged.why, judged=judged)
    if rewards is None:
        why = f"Harbor has no reward ({trial.trouble or 'the verifier did not run'})"
        return CheckedTrial(trial=trial, outcome="incomplete", why=why)
    said, real = rewards.get("reward"), (judged.numbers or {})["reward"]
    if said is None or not isclose(said, real, rel_tol=0, abs_tol=TOLERANCE):
        why = f"Harbor's reward is {said}, and the record gives {real:.6g}"
        return CheckedTrial(trial=trial, outcome="refuted", why=why, judged=judged)
    return CheckedTrial(trial=trial, outcome=judged.outcome, why=judged.why, judged=judged)


def write_sets(
    trials: Sequence[CheckedTrial], folder: Path, installation: LocalInstallation, encoder: Encoder
) -> list[tuple[Path, Header]]:
    """Write a result set for each agent; returns where each is.

    Raises:
        InputFileError: A result set is there already, or one cannot be written.
    """
    agents = sorted({checked.trial.agent for checked in trials})
    places = {agent: folder / file_name(agent) for agent in agents}
    for place in places.values():
        if place.exists():
            raise InputFileError(place, "already exists: name another folder with -o")
    made = []
    for agent in agents:
        mine = [checked for checked in trials if checked.trial.agent == agent]
        made.append((places[agent], _write_set(agent, mine, places[agent], installation, encoder)))
    return made


def _write_set(
    agent: str, trials: Sequence[CheckedTrial], folder: Path, installation: LocalInstallation, encoder: Encoder
) -> Header:
    header = _header(agent, trials, installation.library.hash)
    write_header(folder, header)
    attempts: Counter[str] = Counter()
    samples: list[Sample] = []
    runs: list[tuple[RunRecord, Sequence[CallRecord]]] = []
    manifest = next((run.record.manifest for checked in trials if (run := checked.run) is not None), {})
    for checked in trials:
        attempts[checked.task] += 1
        repeat = attempts[checked.task]
        if checked.outcome == "void":
            lost = {"state": "void", "fault": "sandbox", "reason": checked.why}
            samples.append(_sample(checked, repeat).model_copy(update=lost))
        elif checked.run is not None:
            samples.append(_sample(checked, repeat, run=checked.run.record.id))
            runs.append((checked.run.record, checked.run.calls))
            _furnish(checked, folder / DATA)
        elif checked.outcome == "not submitted":
            _, idle = nothing_done(header, checked.task, repeat, manifest, installation.library, encoder)
            samples.append(_sample(checked, repeat, run=idle.id, reason=checked.why))
            runs.append((idle, ()))
    import_runs(folder / DATA, runs)
    for sample in samples:
        append_sample(folder, sample)
    return header


def _header(agent: str, trials: Sequence[CheckedTrial], set_hash: str) -> Header:
    tasks = Counter(checked.task for checked in trials)
    profiles = [str(run.record.manifest.get("profile")) for checked in trials if (run := checked.run) is not None]
    started = [when.isoformat() for checked in trials if (when := checked.trial.result.started_at) is not None]
    versions = sorted({checked.trial.result.agent_info.version for checked in trials})
    return Header(
        name=agent,
        kind="client",
        agent=agent,
        profile=_profile(profiles, tasks),
        repeats=max(tasks.values()),
        tasks=tuple(tasks),
        set_hash=set_hash,
        options={"harness": "harbor", "agent_versions": versions},
        started=min(started, default=""),
    )


def _profile(profiles: Sequence[str], tasks: Mapping[str, int]) -> str:
    """The profile as it was chosen: the profiles of single tasks are named by their kind alone."""
    kinds = {kind if name in tasks else profile for profile in profiles for kind, _, name in [profile.partition(":")]}
    return ", ".join(sorted(kinds))


def _sample(checked: CheckedTrial, repeat: int, *, run: str | None = None, reason: str = "") -> Sample:
    context = checked.trial.result.agent_result
    usage = SampleUsage()
    if context is not None:
        usage = SampleUsage(
            input_tokens=context.n_input_tokens or 0,
            output_tokens=context.n_output_tokens or 0,
            cost=context.cost_usd,
        )
    return Sample(
        task=checked.task,
        repeat=repeat,
        state="scored",
        run=run,
        reason=reason,
        usage=usage,
        seconds=checked.trial.seconds,
    )


def _furnish(checked: CheckedTrial, data: Path) -> None:
    """Write the files that a run left into its workspace."""
    assert checked.run is not None
    with Archive(checked.trial.collected / BUNDLE, NAMES) as archive:
        Submission(archive).furnish(checked.run, run_workspace(data, checked.run.record.id))
