"""The secret of a ranked set: its tasks and their names are made from it.

It comes from a file, which may be a descriptor such as `/dev/fd/3`, or from the environment, and never from an
argument, which everybody on a machine can read. What is made from it is only in memory. Its commitment can be published
before: whoever is shown the secret afterwards sees that it is the same.
"""

import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from m3bench.tasks.atomic_files import read_private, write_private
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.task import TaskSet

VARIABLE = "M3BENCH_SECRET"
"""Holds the secret itself."""

LEAST = 32
"""Characters of a secret: 128 bits, when they are hexadecimal digits."""

_NAME_LETTERS = 12


@dataclass(frozen=True, kw_only=True)
class Secret:
    """A secret; it does not show itself."""

    raw: bytes = field(repr=False)

    @property
    def commitment(self) -> str:
        """What can be published before."""
        return self._derived("commitment").hex()

    @property
    def seed(self) -> int:
        """What tasks are made from."""
        return int.from_bytes(self._derived("seed"))

    def name(self, id: str) -> str:
        """What a task and its files are called by, which tells nothing of it."""
        return f"task-{self._derived(f'task {id}').hex()[:_NAME_LETTERS]}"

    def _derived(self, purpose: str) -> bytes:
        return hmac.digest(self.raw, f"m3bench ranked {purpose}".encode(), "sha256")


class SecretLibrary(MadeLibrary):
    """A set of which nothing is written down before it is opened, neither references nor score cards."""

    @classmethod
    def of(cls, library: Library) -> "SecretLibrary":
        """A set whose tasks have names that tell nothing, in an order that tells nothing either."""
        tasks = tuple(sorted(library.set.tasks, key=lambda task: task.id))
        files = {name: data for name, data in library.files() if "/" in name}
        made = TaskSet(schema=2, name=library.set.name, version=library.set.version, tasks=tasks)
        return cls(made, files, {task.id: library.plans(task) for task in tasks})


def make_secret(path: Path) -> Secret:
    """A new secret, in a new file that only its owner can read.

    Raises:
        InputFileError: The file exists already, or cannot be written.
    """
    text = secrets.token_hex(32)
    try:
        write_private(path, f"{text}\n".encode())
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return Secret(raw=text.encode())


def read_secret(path: Path | None) -> Secret | None:
    """The secret of a file, or that of the environment; None when there is neither.

    Raises:
        InputFileError: The file cannot be read, or others can read it.
        UserError: The secret is too short.
    """
    text = os.environ.get(VARIABLE)
    if path is not None:
        text = read_private(path, "secret")
    if text is None:
        return None
    raw = text.strip().encode()
    if len(raw) < LEAST or len(set(raw)) < LEAST // 4:
        raise UserError(f"The secret is too short or too simple: {LEAST} random characters or more are needed.")
    return Secret(raw=raw)
