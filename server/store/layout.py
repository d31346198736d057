"""Where everything lies in a data folder: each file and folder name is spelled here and nowhere else.

Only names and paths; nothing is opened or made.
"""

from pathlib import Path

DATABASE = "m3bench.sqlite"
"""The file with runs, calls and answers."""

BLOBS = "blobs"
"""Folder of large values, each in a file named by its content hash."""

OWNERS = "owners"
"""Folder of the locks of living processes."""

WORKSPACES = "workspaces"
"""Folder of the workspaces of runs under way, by owner."""

RUNS = "runs"
"""Folder of what submitted runs left, by handle."""

JUDGES = "judges"
"""Folder of what judges said, a file for each run."""

BACKUPS = "backups"
"""Folder of copies of the database, made before it was changed, and of whole copies of the record."""


def database(folder: Path) -> Path:
    """The database of a data folder, whether or not it is there yet."""
    return folder / DATABASE


def run_folder(folder: Path, run: str) -> Path:
    """What is kept of a submitted run beside the database."""
    return folder / RUNS / run


def run_workspace(folder: Path, run: str) -> Path:
    """The files that a submitted run left."""
    return run_folder(folder, run) / "workspace"


def judgement(folder: Path, run: str) -> Path:
    """What judges said of a run, whether or not they were asked."""
    return folder / JUDGES / f"{run}.json"
