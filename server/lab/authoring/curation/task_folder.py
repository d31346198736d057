"""The folder that accepted references go to: an ordinary set of tasks, created or extended.

Each task is complete, with its picture, its scene and the references it had; the new ones are added as further
solutions. A folder that holds something else is not touched.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from m3bench.server.lab.authoring.curation.pipeline import FILE
from m3bench.server.lab.authoring.curation.proof import merged
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.task import Reference, Task, TaskSet


def check_folder(folder: Path) -> None:
    """Raise when a folder holds something that is not a set of tasks: it would be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise InputFileError(folder, "is a file: name a folder to write the set into")
    held = {path.name for path in folder.iterdir()} - {FILE} if folder.exists() else set()
    if held and "tasks.json" not in held:
        raise InputFileError(folder, "holds something that is not a set of tasks: name an empty or a new folder")


def add_references(folder: Path, source: Library, accepted: Iterable[tuple[str, Reference]]) -> Library:
    """Add references to the set in a folder; returns it.

    Args:
        folder: Where the set is, or will be.
        source: The set the tasks come from.
        accepted: Ids of tasks, each with a proved reference.
    """
    old = Library(folder) if (folder / "tasks.json").exists() else None
    tasks: dict[str, Task] = dict(old.tasks) if old is not None else {}
    for id, reference in accepted:
        tasks[id] = merged(tasks.get(id, source.task(id)), reference)
    if not tasks:
        return source
    files = {}
    for task in tasks.values():
        home = old if old is not None and task.id in old.tasks else source
        for name in task.pictures:
            files[f"pictures/{name}"] = home.picture(name)
            files |= {
                f"scenes/{name}.json": f"{json.dumps(scene.to_json(), ensure_ascii=False)}\n".encode()
                for scene in home.scenes(task.model_copy(update={"pictures": (name,)}))
            }
    name = old.set.name if old is not None else f"{source.set.name}-curated"
    version = old.set.version if old is not None else source.set.version
    made = MadeLibrary(TaskSet(schema=2, name=name, version=version, tasks=tuple(tasks.values())), files)
    write_set(made, folder)
    return Library(folder)


def write_set(made: MadeLibrary, folder: Path) -> None:
    """Write a set file by file, each atomically; `tasks.json` comes last, so that a set is never incomplete."""
    try:
        for name, data in sorted(made.files(), key=lambda item: item[0] == "tasks.json"):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, data)
    except OSError as error:
        raise InputFileError(folder, f"cannot be written ({error.strerror})") from error
