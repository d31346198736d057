"""What long work has finished so far, on disk: the families of a set that is being made, the tasks that are proved.

Work that was stopped or killed, or that failed after twenty minutes, goes on where it ended when the same command is
given again. What was kept is used only by the very same installation and for the very same request, and is gone when
the work is done.
"""

import json
import shutil
from hashlib import sha256
from pathlib import Path

from m3bench.tasks.atomic_files import append_line, write_atomically
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library, MadeLibrary

UNFINISHED = ".unfinished"
"""The folder of a set that is being made."""

_KEY = "key"
_PACKAGES = Path(__file__).parents[3]
_MAKING = ("tasks", "sandboxes", "server/lab/authoring", "server/scoring")
"""What tasks are made with: after a change in there nothing that was kept is used."""


def key_of(*request: object) -> str:
    """A name for a request and for the installation that carries it out."""
    digest = sha256(json.dumps(request, default=str).encode())
    for folder in _MAKING:
        for path in sorted((_PACKAGES / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found = path.stat()
                digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


class FamilyCheckpoints:
    """The finished families of a set that is being made.

    Args:
        folder: Where they are kept.
        key: Names the request, as `key_of` does.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._key = key

    def get(self, family: str) -> MadeLibrary | None:
        """A finished family; None when there is none, or one of another request."""
        place = self._folder / family
        try:
            if (place / _KEY).read_text() != self._key:
                return None
            found = Library(place)
            files = {name: data for name, data in found.files() if "/" in name}
            return MadeLibrary(found.set, files, {task.id: found.plans(task) for task in found.set.tasks})
        except (OSError, InputFileError):
            return None

    def put(self, family: str, made: MadeLibrary) -> None:
        """Keep a finished family; the key goes last, so that a torn one does not count."""
        place = self._folder / family
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        made.write(place)
        write_atomically(place / _KEY, self._key.encode())


class ProofCheckpoints:
    """The tasks that were proved so far, one a line.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.done = {found for line in lines if (found := _name(line))}
        """The ids of tasks that nothing is wrong with."""

    def add(self, task: str) -> None:
        """A task is proved."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self._path, json.dumps(task))

    def clear(self) -> None:
        """All is proved, or what is wrong is known."""
        self._path.unlink(missing_ok=True)


def _name(line: str) -> str:
    """The id in a line; nothing when it is torn."""
    try:
        found = json.loads(line)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""
