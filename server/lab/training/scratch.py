"""Folders for the workspaces of episodes: gone with the process that has one, and at the latest when another starts.

A process that is killed cannot tidy up. Its folder has a lock that nobody holds any more, by which the next one knows.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

if sys.platform != "win32":
    import fcntl

PREFIX = "m3bench-episodes-"
LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of this process's own; those of dead processes are removed first."""
    sweep()
    folder = Path(mkdtemp(prefix=PREFIX))
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _take(lock)
        # A host that runs as another user has to pass through.
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep() -> int:
    """Remove the folders of processes that are gone; how many there were."""
    removed = 0
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                if _take(lock):
                    shutil.rmtree(folder, ignore_errors=True)
                    removed += 1
            finally:
                os.close(lock)
    return removed


def _take(lock: int) -> bool:
    """Lock a file, unless another process has."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
