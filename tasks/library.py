"""Finding tasks: the set that travels with the package, or one in a folder.

A set is a folder with `tasks.json`, `pictures/` and `scenes/` (what the detector knows of each picture, by the
picture's file name). Everything that says which tasks there are asks a library.
"""

import json
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from m3bench.tasks.catalog import nearest
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task, TaskSet

BUNDLED = Path(__file__).parent / "data" / "sets" / "starter"


class Library:
    """The tasks of one set.

    Args:
        folder: The set's folder; the one that travels with the package when left out.
    """

    def __init__(self, folder: Path = BUNDLED) -> None:
        self.folder = folder

    @cached_property
    def set(self) -> TaskSet:
        """The set, read and checked once."""
        path = self.folder / "tasks.json"
        try:
            return TaskSet.model_validate_json(path.read_bytes())
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror}): a set of tasks has a tasks.json") from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputFileError(path, first["msg"], field=field) from error

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Tasks by id, in the set's order."""
        return {task.id: task for task in self.set.tasks}

    @cached_property
    def hash(self) -> str:
        """What a manifest says of the set: any change in a task, picture or scene changes it."""
        digest = sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(self.folder).as_posix().encode())
                digest.update(sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def task(self, id: str) -> Task:
        """A task by id."""
        if id not in self.tasks:
            close = nearest(id, self.tasks)
            hint = f" Did you mean {', '.join(close)}?" if close else " list_tasks shows what there is."
            raise UserError(f"There is no task {id!r}.{hint}")
        return self.tasks[id]

    def picture(self, name: str) -> bytes:
        """A picture's file."""
        path = self.folder / "pictures" / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error

    def scenes(self, task: Task) -> tuple[Scene, ...]:
        """What the detector knows of a task's pictures."""
        found = []
        for name in task.pictures:
            path = self.folder / "scenes" / f"{name}.json"
            if path.exists():
                found.append(Scene.from_json(json.loads(path.read_bytes())))
        return tuple(found)
