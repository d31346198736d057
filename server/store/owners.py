"""Which m3bench processes are alive, told by locks that the system releases when a process dies.

A pid can be given to another process; a lock cannot outlive its holder. Every process that writes to a store
holds one, and whoever opens the store next sees which owners are gone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if os.name == "nt":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True

    def _wait_and_lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined, unused-ignore]
else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _wait_and_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this holds, no other process opens or closes the store in a folder, or tidies up there."""
    with (folder / "opening.lock").open("wb") as file:
        _wait_and_lock(file)
        yield


class Owner:
    """This process, as the store knows it."""

    def __init__(self, folder: Path, id: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.id = id
        self._path = folder / f"{self.id}.lock"
        self._file = self._path.open("wb")
        _lock(self._file)

    def close(self) -> None:
        """Be gone."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def owners(folder: Path) -> set[str]:
    """The ids of all processes that took a lock and did not give it back, dead or alive."""
    return {path.stem for path in folder.glob("*.lock")}


def dead(folder: Path, owner: str) -> bool:
    """Whether the process behind an owner id is gone; its lock file is removed on the way."""
    path = folder / f"{owner}.lock"
    try:
        with path.open("r+b") as file:
            if not _lock(file):
                return False
    except FileNotFoundError:
        return True
    with suppress(OSError):
        path.unlink()
    return True
