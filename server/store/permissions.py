"""Who may look at a record: the account that made it, and nobody else."""

import os
from contextlib import suppress
from pathlib import Path

from m3bench.server.store.layout import BLOBS, DATABASE, OWNERS

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
    """Make an empty file that only this account can read, unless there is one already."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
