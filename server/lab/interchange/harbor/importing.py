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
from typing import Any, Literal

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.harbor.dataset import SEAT
from m3bench.server.lab.interchange.harbor.jobs import Trial
from m3bench.server.lab.interchange.harbor.verdict import BUNDLE, Judged, judge
from m3bench.server.lab.interchange.rescoring import TOLERANCE, Installation
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.interchange.unpacking import nothing_done
from m3bench.server.lab.results.file_names import file_name
from m3bench.server.lab.results.resultset import DATA, Header, Sample, Usage, append_sample, write_header
from m3bench.server.scoring import Encoder
from m3bench.server.store.importing import import_runs
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.errors import InputFileError

Outcome = Literal["scored", "not submitted", "void", "refuted", "incomplete"]


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A trial and what it is worth."""

    trial: Trial
    outcome: Outcome
    why: str = ""
    judged: Judged | None = None

    @property
    def task(self) -> str:
        """The id of its task."""
        return self.trial.task or self.trial.result.task_name

    @property
    def run(self) -> SubmittedRun | None:
        """Its run, when it was scored and nothing speaks against it."""
        return self.judged.run if self.judged is not None and self.outcome == "scored" else None


def look(trial: Trial, installation: Installation, encoder: Encoder) -> Looked:
    """Hold a trial against what was recorded in it."""
    if trial.task is None or trial.task not in installation.library.tasks:
        return Looked(trial=trial, outcome="incomplete", why=f"{trial.result.task_name!r} is no task of this set")
    rewards = trial.rewards
    if not trial.collected.is_dir():
        why = trial.trouble or "nothing was collected from the server"
        return Looked(trial=trial, outcome="incomplete", why=why)
    try:
        judged = judge(trial.collected, SEAT, trial.task, installation, encoder)
    except InputFileError as error:
        return Looked(trial=trial, outcome="incomplete", why=str(error))
    if judged.outcome in ("void", "refuted"):
        return Looked(trial=trial, outcome=judged.outcome, why=judged.why, judged=judged)
    if rewards is None:
        why = f"Harbor has no reward ({trial.trouble or 'the verifier did not run'})"
        return Looked(trial=trial, outcome="incomplete", why=why)
    said, real = rewards.get("reward"), (judged.numbers or {})["reward"]
    if said is None or not isclose(said, real, rel_tol=0, abs_tol=TOLERANCE):
        why = f"Harbor's reward is {said}, and the record gives {real:.6g}"
        return Looked(trial=trial, outcome="refuted", why=why, judged=judged)
    return Looked(trial=trial, outcome=judged.outcome, why=judged.why, judged=judged)


def write_sets(
    looked: Sequence[Looked], folder: Path, installation: Installation, encoder: Encoder
) -> list[tuple[Path, Header]]:
    """Write a result set for each agent; returns where each is.

    Raises:
        InputFileError: A result set is there already, or one cannot be written.
    """
    agents = sorted({one.trial.agent for one in looked})
    places = {agent: folder / file_name(agent) for agent in agents}
    for place in places.values():
        if place.exists():
            raise InputFileError(place, "is there already: name another folder with -o")
    made = []
    for agent in agents:
        mine = [one for one in looked if one.trial.agent == agent]
        made.append((places[agent], _write_set(agent, mine, places[agent], installation, encoder)))
    return made


def _write_set(
    agent: str, looked: Sequence[Looked], folder: Path, installation: Installation, encoder: Encoder
) -> Header:
    header = _header(agent, looked, installation.library.hash)
    write_header(folder, header)
    attempts: Counter[str] = Counter()
    samples: list[Sample] = []
    runs: list[tuple[RunRecord, Sequence[CallRecord]]] = []
    manifest = next((run.record.manifest for one in looked if (run := one.run) is not None), {})
    for one in looked:
        attempts[one.task] += 1
        repeat = attempts[one.task]
        if one.outcome == "void":
            samples.append(_sample(one, repeat, state="void", fault="sandbox", reason=one.why))
        elif one.run is not None:
            samples.append(_sample(one, repeat, run=one.run.record.id))
            runs.append((one.run.record, one.run.calls))
            _furnish(one, folder / DATA)
        elif one.outcome == "not submitted":
            _, idle = nothing_done(header, one.task, repeat, manifest, installation.library, encoder)
            samples.append(_sample(one, repeat, run=idle.id, reason=one.why))
            runs.append((idle, ()))
    import_runs(folder / DATA, runs)
    for sample in samples:
        append_sample(folder, sample)
    return header


def _header(agent: str, looked: Sequence[Looked], set_hash: str) -> Header:
    tasks = Counter(one.task for one in looked)
    profiles = [str(run.record.manifest.get("profile")) for one in looked if (run := one.run) is not None]
    started = [when.isoformat() for one in looked if (when := one.trial.result.started_at) is not None]
    versions = sorted({one.trial.result.agent_info.version for one in looked})
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
    """The profile as it was chosen: those of each task have one name."""
    kinds = {kind if name in tasks else profile for profile in profiles for kind, _, name in [profile.partition(":")]}
    return ", ".join(sorted(kinds))


def _sample(one: Looked, repeat: int, **more: Any) -> Sample:
    context = one.trial.result.agent_result
    usage = Usage()
    if context is not None:
        usage = Usage(
            input_tokens=context.n_input_tokens or 0,
            output_tokens=context.n_output_tokens or 0,
            cost=context.cost_usd,
        )
    return Sample(
        **{"task": one.task, "repeat": repeat, "state": "scored", "usage": usage, "seconds": one.trial.seconds, **more}
    )


def _furnish(one: Looked, data: Path) -> None:
    """Lay out the files that a run left."""
    assert one.run is not None
    with Archive(one.trial.collected / BUNDLE, NAMES) as archive:
        Submission(archive).furnish(one.run, run_workspace(data, one.run.record.id))
