"""Reads and writes configuration files, atomically and with a backup next to each.

Links are followed, permissions are kept, and a read-only file is not touched.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from m3bench.tasks.errors import InputFileError

_SUFFIX = ".m3bench-backup"
_PRIVATE = 0o600


def read(path: Path) -> bytes | None:
    """What is in a file; None when it is not there.

    Raises:
        InputFileError: It is there and cannot be read.
    """
    try:
        if path.is_symlink() and not path.exists():
            raise InputFileError(path, f"is a link to {os.readlink(path)}, which does not exist; fix or delete it")
        if path.is_dir():
            raise InputFileError(path, "is a folder, where a file should be")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error


def write(path: Path, data: bytes) -> None:
    """Write a file atomically.

    Raises:
        InputFileError: It is read-only, or its folder cannot be written.
    """
    real = path.resolve()
    try:
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
        if mode is not None and (not mode & stat.S_IWUSR or not os.access(real, os.W_OK)):
            raise InputFileError(path, "is read-only")
        real.parent.mkdir(parents=True, exist_ok=True)
        _replace(real, data, mode)
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error


def remove(path: Path) -> None:
    """Remove a file.

    Raises:
        InputFileError: It cannot be removed.
    """
    try:
        path.resolve().unlink(missing_ok=True)
    except OSError as error:
        raise InputFileError(path, f"cannot be removed ({error.strerror})") from error


def backups(path: Path) -> list[Path]:
    """The backups of a file, the oldest first."""
    found = []
    number = 1
    while (kept := _backup(path, number)).is_file():
        found.append(kept)
        number += 1
    return found


def keep(path: Path, data: bytes) -> Path:
    """Keep what a file held beside it; an earlier backup with other content stays.

    Raises:
        InputFileError: The folder cannot be written.
    """
    earlier = backups(path)
    same = next((kept for kept in earlier if read(kept) == data), None)
    if same is not None:
        return same
    place = _backup(path, len(earlier) + 1)
    try:
        _replace(place, data, stat.S_IMODE(path.stat().st_mode))
    except OSError as error:
        raise InputFileError(place, f"cannot be written ({error.strerror})") from error
    return place


def _backup(path: Path, number: int) -> Path:
    return path.with_name(path.name + _SUFFIX + (f"-{number}" if number > 1 else ""))


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
        try:
            draft.write(data)
            draft.flush()
            os.fsync(draft.fileno())
            draft.close()
            # Configurations hold keys: a new one is for its owner alone.
            os.chmod(draft.name, mode if mode is not None else _PRIVATE)
            os.replace(draft.name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft.name)
            raise
