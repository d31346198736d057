"""The record of decisions on candidates, who made them and why: `curation.jsonl`, one line per decision."""

import getpass
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from m3bench.server.store.records import now
from m3bench.tasks.atomic_files import append_line
from m3bench.tasks.errors import InputFileError

FILE = "curation.jsonl"

Kind = Literal["accepted", "rejected", "skipped", "rejected by the judge", "not proved"]
"""What became of a run; the last two never reached a person."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What became of a run."""

    run: str
    task: str
    decision: Kind
    reason: str = ""
    by: str = ""
    """Who decided: a person, a judge, or the prover."""
    seal: str | None = None
    """The run's own hash."""
    candidate: str | None = None
    """The hash of the reference that was decided on."""
    same_as: int | None = None
    """Which of the task's references it equals, from 1."""
    edited: bool = False
    time: str = ""


def note(folder: Path, decision: Decision) -> None:
    """Add a decision to the record of a folder: one write of a whole line."""
    path = folder / FILE
    line = json.dumps({**asdict(decision), "time": now()}, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        append_line(path, line)
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error


def who(given: str | None) -> str:
    """The name to decide under: as given, as git knows the person, or the account's."""
    if given:
        return given
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        name = ""
    else:
        name = done.stdout.strip()
    if name:
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
