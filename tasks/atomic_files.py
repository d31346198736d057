"""Writes files so that a reader never sees half of one.

A file is written next to its destination and then moved there; a line is appended in a single write; a file with a
secret is its owner's alone from its first byte on. `OSError` passes through unchanged: the caller knows best what to
tell the user.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path

from m3bench.tasks.errors import InputFileError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file, replacing any existing one; if this is killed or the disk is full, the old file stays."""
    if path.exists() and not path.is_file():
        # A device or a pipe is written to and must not be replaced; for a folder this raises the right error.
        path.write_bytes(data)
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only this account can read and that is not there yet.

    Raises:
        FileExistsError: There is one already; it stays as it is.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def open_to_others(path: Path) -> bool:
    """Whether accounts other than the owner's can get at a file; where there are no such rights, nobody is told."""
    return os.name != "nt" and bool(path.stat().st_mode & 0o077)


def check_private(path: Path) -> None:
    """Raise `InputFileError` when others can read a file."""
    if open_to_others(path):
        raise InputFileError(path, "can be read by others: make it private (chmod 600)")


def read_private(path: Path, what: str) -> str:
    """The text of a file that only its owner can read.

    Raises:
        InputFileError: It cannot be read, or others can read it.
    """
    try:
        if path.is_file():
            check_private(path)
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputFileError(path, f"cannot be read as a {what}") from None


def append_line(path: Path, line: str) -> None:
    """Append a line in a single write: if this is killed, at most the last line is incomplete."""
    data = f"{line}\n".encode(errors="replace")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        if os.write(file, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)
