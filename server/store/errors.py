"""Why the record cannot be read or written, in words that name the cause and the remedy.

SQLite says "disk I/O error" for a full disk and "unable to open database file" for a dozen things. This module looks
at the error's code and, where that leaves it open, at the folder itself.
"""

import errno
import os
import shutil
import sqlite3
from pathlib import Path

from m3bench.tasks.errors import StoreError

HARDLY_ANY_BYTES = 64 * 1024
"""With less room than this, an I/O error is taken for a full disk."""

_OF_SQLITE = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_AUTH: "read-only",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_FORMAT: "damaged",
    sqlite3.SQLITE_IOERR: "broken",
    sqlite3.SQLITE_NOMEM: "memory",
}

_OF_SYSTEM = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "too large",
    errno.EBUSY: "locked",
    errno.EAGAIN: "locked",
    errno.EROFS: "read-only",
    errno.EACCES: "read-only",
    errno.EPERM: "read-only",
    errno.ENOENT: "gone",
    errno.ENOTDIR: "a file",
    errno.ESTALE: "gone",
    errno.EMFILE: "open files",
    errno.ENFILE: "open files",
    errno.EIO: "broken",
    errno.ENOMEM: "memory",
}

_CAUSES = {
    "full": ("the disk is full", "free some disk space at {folder}"),
    "too large": ("a file would grow beyond the limit set for this process", "raise the limit (ulimit -f)"),
    "locked": (
        "another program has locked the database",
        "end or wait for the program that holds {folder} open, such as a backup or a database viewer",
    ),
    "read-only": (
        "the file system or the permissions do not allow writing",
        "make {folder} writable for this account, or choose another folder with --data",
    ),
    "damaged": (
        "the database is damaged",
        "`m3bench store check` names the affected runs, `m3bench store repair` keeps the others",
    ),
    "broken": ("the disk reports an input/output error", "look into the system's log and check the disk of {folder}"),
    "gone": (
        "the folder or its database is gone",
        "put {folder} back, or start m3bench again to begin a new record there",
    ),
    "a file": ("a file is where a folder should be", "name a folder with --data"),
    "open files": ("this process has too many open files", "raise the limit (ulimit -n), or close some clients"),
    "memory": ("there is not enough memory", "close other programs"),
}


def explain(error: BaseException, folder: Path, *, reading: bool = False) -> StoreError:
    """The error that a person or a model reads in place of one of SQLite or of the system."""
    if isinstance(error, StoreError):
        return error
    kind = _kind(error, folder)
    what = "read" if reading else "written"
    if kind is None:
        remedy = "`m3bench doctor` looks for the reason"
        return StoreError(f"The record in {folder} could not be {what} ({_plain(error)}): {remedy}.")
    cause, remedy = _CAUSES[kind]
    return StoreError(f"The record in {folder} could not be {what}, because {cause}: {remedy.format(folder=folder)}.")


def _kind(error: BaseException, folder: Path) -> str | None:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else None
        found = _OF_SQLITE.get(primary) if primary is not None else None
        if primary == sqlite3.SQLITE_CANTOPEN or found == "broken":
            # SQLite does not pass on what the system said: ask the system again.
            return _look(folder) or found or "gone"
        return found
    if isinstance(error, OSError):
        return _OF_SYSTEM.get(error.errno or 0)
    return None


def _look(folder: Path) -> str | None:
    """What the system says about a folder that SQLite could not work in; None when all seems well."""
    try:
        os.close(os.open(folder, os.O_RDONLY))
        if shutil.disk_usage(folder).free < HARDLY_ANY_BYTES:
            return "full"
    except OSError as error:
        return _OF_SYSTEM.get(error.errno or 0)
    return None if os.access(folder, os.W_OK) else "read-only"


def _plain(error: BaseException) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
