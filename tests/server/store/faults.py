"""Faults on purpose: a database connection and a file layer that fail at a chosen step, as disks and kernels do."""

import builtins
import errno
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

Moment = Literal["before", "after"]
"""Whether a step fails without having done anything, or is done and reported as failed all the same."""

CODES = {
    "database or disk is full": sqlite3.SQLITE_FULL,
    "database is locked": sqlite3.SQLITE_BUSY,
    "disk I/O error": sqlite3.SQLITE_IOERR,
    "attempt to write a readonly database": sqlite3.SQLITE_READONLY,
    "database disk image is malformed": sqlite3.SQLITE_CORRUPT,
    "unable to open database file": sqlite3.SQLITE_CANTOPEN,
}

ERRNOS = (errno.ENOSPC, errno.EBUSY, errno.EIO, errno.EROFS, errno.EMFILE)


@dataclass
class Plan:
    """Which of the coming steps fail, and how."""

    faults: dict[int, tuple[str, Moment]] = field(default_factory=dict)
    """What is said, and when, by the number of steps that come before."""
    dead: bool = False
    """Whether the process counts as killed: nothing works any more."""
    steps: int = 0

    def fail(self, in_steps: int, says: str, moment: Moment = "before") -> None:
        """Let a coming step fail."""
        self.faults[self.steps + in_steps] = (says, moment)

    def take(self) -> tuple[str, Moment] | None:
        """The fault of the step that is made now."""
        self.steps += 1
        return ("disk I/O error", "before") if self.dead else self.faults.pop(self.steps - 1, None)


def sqlite_error(says: str) -> sqlite3.OperationalError:
    """An error as SQLite raises it."""
    error = sqlite3.OperationalError(says)
    error.sqlite_errorcode = CODES[says]
    return error


def faulty(plan: Plan) -> type[sqlite3.Connection]:
    """Connections of which every statement that writes is a step of a plan."""

    class Faulty(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql.startswith(("SELECT", "PRAGMA")):
                return super().execute(sql, *values)
            fault = plan.take()
            if fault is None:
                return super().execute(sql, *values)
            if fault[1] == "after":
                super().execute(sql, *values)
            if fault[0] == "database is locked" and not super().execute("PRAGMA busy_timeout").fetchone()[0]:
                # It is locked for longer than anybody waits: also for whoever tries after one who does not wait.
                plan.faults[plan.steps + self.in_transaction] = fault
            raise sqlite_error(fault[0])

    return Faulty


@contextmanager
def failing_files(folder: Path, number: int, code: int) -> Iterator[list[str]]:
    """Let one operation on files below a folder fail: opening to write, writing, syncing, moving, making, locking.

    Gives the names of the operations that were made, of which the one with that number failed.
    """
    made: list[str] = []
    real_os_open = os.open

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **kwargs: Any) -> Any:
            if real is real_os_open and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return real(*args, **kwargs)
            paths = [one for one in args[:2] if isinstance(one, str | os.PathLike)]
            if kwargs.get("dir_fd") is None and paths and not any(str(path).startswith(str(folder)) for path in paths):
                return real(*args, **kwargs)
            made.append(name)
            if len(made) - 1 == number:
                raise OSError(code, os.strerror(code), *map(str, paths[:1]))
            return real(*args, **kwargs)

        return operation

    class File:
        """A file whose writes are operations."""

        def __init__(self, file: Any) -> None:
            self._file = file
            self.write = counted("write", file.write)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def __enter__(self) -> "File":
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

    real_open = builtins.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not isinstance(file, int) and (mode[0] in "ra" or not str(file).startswith(str(folder))):
            return real_open(file, mode, *args, **kwargs)
        found = real_open(file, mode, *args, **kwargs) if isinstance(file, int) else counted_open(file, mode, *args)
        return File(found) if mode[0] == "w" else found

    counted_open = counted("open", real_open)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "replace", "rename", "mkdir", "fsync"):
            patch.setattr(os, name, counted(name, getattr(os, name)))
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        if os.name != "nt":
            import fcntl

            patch.setattr(fcntl, "flock", counted("lock", fcntl.flock))
        yield made
