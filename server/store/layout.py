"""Where everything lies in a data folder, and who may read it: file and folder names are spelled here and nowhere else.

A record belongs to the account that made it, and nobody else can read it.
"""

import os
from contextlib import suppress
from pathlib import Path

DATABASE = "m3bench.sqlite"
"""The file with runs, calls and answers."""

SIGN_INS = "sign-ins.sqlite"
"""The file with people who sign in, and what they allowed."""

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


PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


def make_private(folder: Path) -> None:
    """Make a data folder, or take over one that is empty or holds a record, for this account alone.

    A folder with other things in it keeps the permissions that somebody gave it; the record's own files and folders
    are private all the same.
    """
    try:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True)
    except FileExistsError:
        ours = (folder / DATABASE).exists() or not any(folder.iterdir())
        if ours and folder.stat().st_mode & 0o077:
            with suppress(PermissionError):
                folder.chmod(PRIVATE_FOLDER)
    for name in (BLOBS, OWNERS):
        (folder / name).mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    for path in folder.glob(f"{DATABASE}*"):
        with suppress(OSError):
            if path.stat().st_mode & 0o077:
                path.chmod(PRIVATE_FILE)


def private_file(path: Path) -> None:
    """Make an empty file that only this account can read, unless there is one already.

    One that is there is not opened: to close it would give up the locks of a database that this process has open.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
