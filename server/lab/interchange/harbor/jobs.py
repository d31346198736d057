"""Harbor's jobs folder, as far as results are read from it: one folder per trial, with a `result.json`.

Only what is needed is read, and whatever else Harbor adds is let be: its own models change between versions.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from m3bench.server.lab.interchange.harbor.dataset import COLLECTED, ORGANISATION
from m3bench.tasks.errors import InputFileError

RESULT, CONFIG = "result.json", "config.json"
_DEPTH = 3
"""Folders between what a person names and a trial: the folder of all jobs, a job, or a trial itself."""


class _Model(BaseModel):
    name: str
    provider: str | None = None


class _Agent(BaseModel):
    name: str
    version: str
    model_info: _Model | None = None


class _Context(BaseModel):
    n_input_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None


class _Verified(BaseModel):
    rewards: dict[str, float] | None = None


class _Raised(BaseModel):
    exception_type: str
    exception_message: str = ""


class _Timing(BaseModel):
    started_at: datetime | None = None
    finished_at: datetime | None = None


class _Result(BaseModel):
    task_name: str
    trial_name: str
    agent_info: _Agent
    agent_result: _Context | None = None
    verifier_result: _Verified | None = None
    exception_info: _Raised | None = None
    agent_execution: _Timing | None = None
    started_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One attempt of an agent at a task."""

    folder: Path
    result: _Result

    @property
    def task(self) -> str | None:
        """The id of the task; None when it is not one of ours."""
        organisation, _, task = self.result.task_name.partition("/")
        return task if organisation == ORGANISATION and task else None

    @property
    def agent(self) -> str:
        """Who played: Harbor's name of the agent and, where it has one, its model."""
        model = self.result.agent_info.model_info
        if model is None:
            return self.result.agent_info.name
        return f"{self.result.agent_info.name} {model.provider + '/' if model.provider else ''}{model.name}"

    @property
    def collected(self) -> Path:
        """What Harbor collected from the server's container."""
        return self.folder / "artifacts" / COLLECTED.lstrip("/")

    @property
    def rewards(self) -> dict[str, float] | None:
        """What the verifier said; None when Harbor has no reward."""
        return self.result.verifier_result.rewards if self.result.verifier_result is not None else None

    @property
    def trouble(self) -> str:
        """What went wrong in Harbor; empty when nothing did."""
        raised = self.result.exception_info
        if raised is None:
            return ""
        said = raised.exception_message.strip().splitlines()
        return f"{raised.exception_type}: {said[0][:200]}" if said else raised.exception_type

    @property
    def seconds(self) -> float:
        """How long the agent took."""
        timing = self.result.agent_execution
        if timing is None or timing.started_at is None or timing.finished_at is None:
            return 0.0
        return round((timing.finished_at - timing.started_at).total_seconds(), 3)


def read_trials(folder: Path) -> tuple[list[Trial], list[tuple[Path, str]]]:
    """The trials below a folder in the order of their names, and those that cannot be read, each with the reason.

    Raises:
        InputFileError: There is no such folder, or no trial in it.
    """
    if not folder.is_dir():
        raise InputFileError(folder, "there is no such folder: name the one that `harbor run` wrote its jobs into")
    trials: list[Trial] = []
    unreadable: list[tuple[Path, str]] = []
    for place in _folders(folder, _DEPTH):
        try:
            trials.append(_trial(place))
        except InputFileError as error:
            unreadable.append((place, str(error)))
    if not trials and not unreadable:
        raise InputFileError(folder, "holds no trial: name the folder that `harbor run` wrote its jobs into")
    return trials, unreadable


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    """The folders of trials, sorted."""
    if _is_trial(folder):
        yield folder
    elif depth:
        for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
            yield from _folders(inner, depth - 1)


def _is_trial(folder: Path) -> bool:
    """Whether a folder is that of a trial, finished or not: those of jobs have a configuration of another form."""
    try:
        config: object = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and "trial_name" in config


def _trial(folder: Path) -> Trial:
    path = folder / RESULT
    try:
        return Trial(folder=folder, result=_Result.model_validate_json(path.read_bytes()))
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}): the trial did not end") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from None
