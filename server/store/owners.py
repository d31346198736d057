"""Which m3bench processes are alive, told by locks that the system releases when a process dies.

A pid can be given to another process; a lock cannot outlive its holder. Every process that writes to a store
holds one, and whoever opens the store next sees which owners are gone.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from m3bench.server.store.layout import PRIVATE_FILE, PRIVATE_FOLDER
from m3bench.tasks.errors import StoreError

if os.name == "nt":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


OPENING_SECONDS = 15.0
"""How long to wait for another process that opens or closes the same store."""

_LOOK_SECONDS = 0.005


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this holds, no other process opens or closes the store in a folder, or tidies up there.

    Raises:
        StoreError: Another process does so and does not come to an end.
        OSError: The folder cannot be used.
    """
    deadline = time.monotonic() + OPENING_SECONDS
    with _private(folder / "opening.lock") as file:
        while not _lock(file):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"Another m3bench has been opening or closing the record in {folder} for more than "
                    f"{OPENING_SECONDS:g} seconds: stop it, or choose another folder with --data."
                )
            time.sleep(_LOOK_SECONDS)
        yield


class OwnerLock:
    """This process, as the store knows it."""

    def __init__(self, folder: Path, id: str) -> None:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.id = id
        self._path = folder / f"{self.id}.lock"
        self._file = _private(self._path)
        try:
            _lock(self._file)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Be gone; doing it twice is fine. A lock file that cannot be removed is removed by who finds it next."""
        self._file.close()
        with suppress(OSError):
            self._path.unlink()


def owners(folder: Path) -> set[str]:
    """The ids of all processes that took a lock and did not give it back, dead or alive."""
    return {path.stem for path in folder.glob("*.lock")}


def living(folder: Path) -> set[str]:
    """The ids of the processes that live; lock files of others are removed on the way."""
    return {owner for owner in owners(folder) if not dead(folder, owner)}


def dead(folder: Path, owner: str) -> bool:
    """Whether the process behind an owner id is gone; its lock file is removed on the way."""
    path = folder / f"{owner}.lock"
    try:
        with path.open("r+b") as file:
            if not _lock(file):
                return False
    except FileNotFoundError:
        return True
    except OSError:
        return False  # Who cannot be asked is not taken for dead.
    with suppress(OSError):
        path.unlink()
    return True


def _private(path: Path) -> IO[bytes]:
    """A file to hold a lock on, for this account alone."""
    return open(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE), "r+b")
