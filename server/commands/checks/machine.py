"""Looks at this machine: where runs are kept, who else is at it, and what keeps child processes in."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryFile

from m3bench.sandboxes.backends import bubblewrap
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.server.commands.checks.diagnostics import Diagnostic, Need, State
from m3bench.server.scoring.weights import find
from m3bench.server.settings import Settings
from m3bench.server.store.layout import OWNERS
from m3bench.server.store.owners import alone, dead, owners
from m3bench.tasks.errors import WeightsError

LITTLE_BYTES = 2 * 1024**3
"""A disk with less room than this is worth a word."""
TOO_LITTLE_BYTES = 256 * 1024**2
"""With less than this, the first large workspace fails."""


def check_data(settings: Settings) -> list[Diagnostic]:
    """The folder for the record of runs: whether it can be written, and how much room there is."""
    folder = _nearest(settings.data)
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        says = f"{folder} cannot be written ({error.strerror}): choose another folder with --data or M3BENCH_DATA."
        return [Diagnostic(subject="data folder", state="wrong", says=says, need="always")]
    return [
        Diagnostic(subject="data folder", state="ok", says=f"{settings.data} can be written.", need="always"),
        room("disk", folder, "Remove old runs with m3bench runs delete, or choose another folder with --data."),
    ]


def check_encoder(settings: Settings) -> list[Diagnostic]:
    """Whether the weights of the built-in encoder are at hand, which only the paper's metric needs."""
    try:
        found = find(download=False)
        found.vocabulary()
    except WeightsError as error:
        says = f"{error}. Until then score cards have everything but the paper's metric, which stays unscored."
        return [Diagnostic(subject="encoder", state="note", says=says, need="always")]
    says = f"The encoder of the paper's metric is in {found.folder}."
    return [Diagnostic(subject="encoder", state="ok", says=says, need="always")]


def check_double_starts(settings: Settings) -> list[Diagnostic]:
    """Whether several servers are at work on the same record."""
    alive = 0
    if (settings.data / OWNERS).is_dir():
        with alone(settings.data):
            alive = sum(not dead(settings.data / OWNERS, owner) for owner in owners(settings.data / OWNERS))
    state: State = "ok"
    says = "No other server uses the data folder." if alive == 0 else "One server uses the data folder."
    if alive > 1:
        state = "note"
        says = (
            f"{alive} servers use the data folder. They do not disturb each other; if you meant to run one, a client "
            "has started m3bench twice: look for it in both its user's and its project's configuration."
        )
    return [Diagnostic(subject="double starts", state=state, says=says, need="always")]


def check_walls(settings: Settings) -> list[Diagnostic]:
    """What keeps the tools of process sandboxes in."""
    isolation = Isolation()
    found, limits = isolation.prospect(), _limits(isolation)
    if not found.notices:
        says = "Process sandboxes have every guard: bubblewrap, seccomp, a user who is not root, and limits."
        return [Diagnostic(subject="walls", state="ok", says=says, need="process"), limits]
    remedy = "Use --sandbox docker for what is missing"
    if sys.platform == "linux" and bubblewrap.problem() is not None:
        remedy = f"Install the package bubblewrap, or allow unprivileged user namespaces; or {remedy.lower()}"
    return [Diagnostic(subject="walls", state="note", says=f"{found.notices[0]} {remedy}.", need="process"), limits]


def _limits(isolation: Isolation) -> Diagnostic:
    """What holds process sandboxes to their memory, processes and CPU."""
    says = "Control groups hold each process sandbox to its memory, processes and CPU."
    if isolation.delegation.groups is None:
        says = (
            "Process sandboxes are watched from outside for memory and processes, and CPU time is limited for each "
            f"process: {isolation.delegation.why}. "
            "`systemd-run --user --scope -p Delegate=yes m3bench serve` has the kernel hold them."
        )
    return Diagnostic(subject="limits", state="ok", says=says, need="process")


def room(subject: str, folder: Path, remedy: str) -> Diagnostic:
    """Whether there is room on the disk of a folder."""
    free = shutil.disk_usage(folder).free
    need: Need = "always" if subject == "disk" else "docker"
    says = f"{free / 1024**3:.1f} GB free at {folder}."
    if free >= LITTLE_BYTES:
        return Diagnostic(subject=subject, state="ok", says=says, need=need)
    state: State = "note" if free >= TOO_LITTLE_BYTES else "wrong"
    return Diagnostic(subject=subject, state=state, says=f"Only {says} {remedy}", need=need)


def _nearest(folder: Path) -> Path:
    """The folder, or the first above it that exists."""
    return next(path for path in (folder, *folder.resolve().parents) if path.is_dir())
