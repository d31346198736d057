"""Large values of the record, kept once each in files named by the hash of their content."""

import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from m3bench.server.store.layout import PRIVATE_FILE, PRIVATE_FOLDER

BLOB_BYTES = 16 * 1024
"""Larger values go to a file."""

LARGE_BYTES = 4 << 20
"""From here on it pays to compute the hash in a thread of its own."""

YOUNG_SECONDS = 3600.0
"""For which a file may wait for the row that refers to it."""


class Blobs:
    """The files of large values.

    Args:
        folder: Where they lie.
        sync: Whether a file must survive the death of the machine when `pack` returns.
    """

    def __init__(self, folder: Path, *, sync: bool = False) -> None:
        self._folder = folder
        self._sync = sync

    def pack(self, value: bytes) -> bytes | str:
        """The value itself when it is small, else the name of the file that holds it.

        Raises:
            OSError: The file cannot be written.
        """
        if len(value) <= BLOB_BYTES:
            return value
        if len(value) > LARGE_BYTES:
            return self._pack_large(value)
        name = sha256(value).hexdigest()
        path = self._folder / name
        if not _has(path, len(value)):
            self._write(path, lambda: path, value)
        return name

    def _pack_large(self, value: bytes) -> str:
        """The same, with the hash computed while the file is written: a client waits for both."""
        names: list[str] = []
        hashing = threading.Thread(target=lambda: names.append(sha256(value).hexdigest()))
        hashing.start()

        def place() -> Path:
            hashing.join()
            return self._folder / names[0]

        try:
            self._write(self._folder / secrets.token_hex(8), place, value)
        finally:
            hashing.join()
        return names[0]

    def unpack(self, value: bytes | str | None) -> bytes | None:
        """The value behind what `pack` gave.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is not what was written.
        """
        if not isinstance(value, str):
            return value
        found = (self._folder / value).read_bytes()
        if sha256(found).hexdigest() != value:
            raise ValueError("its file was changed or damaged")
        return found

    def names(self, *, older_than: float = 0.0) -> list[str]:
        """The names of all files, or of those that nobody wrote or used again for some seconds."""
        if not older_than:
            return sorted(path.name for path in self._folder.iterdir())
        before, found = time.time() - older_than, []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    found.append(path.name)
        return sorted(found)

    def remove(self, name: str) -> None:
        """Forget a value."""
        (self._folder / name).unlink(missing_ok=True)

    def _write(self, path: Path, place: Callable[[], Path], value: bytes) -> None:
        """Write a file beside its place and move it there: nobody ever sees half of one."""
        self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE), "wb") as file:
                file.write(value)
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(place())
            if self._sync and os.name != "nt":
                _sync_folder(self._folder)
        finally:
            with suppress(OSError):
                draft.unlink()


def _has(path: Path, size: int) -> bool:
    """Whether a file is there and whole; it is young again then: nobody removes it before its row is written."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
