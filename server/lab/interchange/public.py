"""Tasks and runs in the files of the public Open-M3-Bench set, out and in.

A task file lists id, image, type, a concrete prompt and a natural question; a reference file has the steps for each id;
a file of predictions has the steps that were taken and the final reply. The form knows one reference and one picture
per task, and neither checks nor tolerances: what does not fit is left out on the way out, and named on the way in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from m3bench.server.lab.interchange.episode import Episode
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import CallError, InputFileError, UserError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.strict_json import read_json
from m3bench.tasks.task import Reference, ReferenceCall, Task, TaskSet
from m3bench.tasks.trajectory import Trajectory, show
from m3bench.tasks.trajectory_files import TaskTrajectories, public_tasks_json, read_tasks

IMAGES = "images"
"""The folder of pictures in a public task file."""


def predictions(stories: Sequence[Episode]) -> list[JsonObject]:
    """Runs as a file of predictions."""
    entries: list[JsonObject] = []
    for story in stories:
        family = story.task.family if story.task is not None else None
        steps = story.trajectory.steps
        made = TaskTrajectories(id=story.run.task, family=family, trajectories=(story.trajectory,))
        entries.append(
            {
                **public_tasks_json([made])[0],
                "num_step": len(steps),
                "max_num_concurrent": max((len(step.calls) for step in steps), default=0),
                "final_reply": story.answer or "",
            }
        )
    return entries


def tasks_json(library: Library) -> list[JsonObject]:
    """A set as a public task file."""
    return [
        {
            "id": task.id,
            "image": f"{IMAGES}/{task.pictures[0]}" if task.pictures else "",
            "type": task.family,
            "prompt": task.wording,
            "question": task.question,
        }
        for task in library.tasks.values()
    ]


def references_json(library: Library) -> list[JsonObject]:
    """The first reference of each task of a set, as a public reference file."""
    return public_tasks_json(
        TaskTrajectories(id=task.id, family=task.family, trajectories=(task.references[0].trajectory,))
        for task in library.tasks.values()
    )


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A set made of public files."""

    library: MadeLibrary
    skipped: tuple[str, ...]
    """Tasks that were left out, and why."""
    defects: tuple[str, ...]
    """What is wrong with tasks that were taken, such as tools that do not exist here."""


def import_set(tasks: Path, references: Path, images: Path | None, *, name: str, version: str) -> Imported:
    """A set of tasks from a public task file and reference file.

    Args:
        tasks: The task file.
        references: The reference file.
        images: The folder that the task file's image paths start from; its own when left out.
        name: Of the set.
        version: Of the set.

    Raises:
        InputFileError: A file cannot be read, or is not what it should be.
        UserError: No task of the one file has a reference in the other.
    """
    known = read_tasks(references, keep_going=True)
    skipped = [str(error) for error in known.errors]
    defects = list(known.warnings)
    pictures: dict[str, bytes] = {}
    made: dict[str, Task] = {}
    for place, entry in enumerate(_entries(tasks)):
        id = entry.get("id") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(id, str) or not id:
            skipped.append(f"{tasks}, tasks[{place}]: is {show(entry)} without an id (expected a task)")
        elif id in made:
            skipped.append(f"{tasks}, task {id!r}: occurs twice; the first one counts")
        elif id not in known.tasks:
            skipped.append(f"{tasks}, task {id!r}: has no reference in {references}")
        else:
            try:
                files = _pictures(entry, images or tasks.parent, tasks, id)
                made[id] = _task(id, entry, known.tasks[id].trajectories[0], tuple(files), tasks)
            except InputFileError as error:
                skipped.append(str(error))
            else:
                pictures |= {f"pictures/{name}": content for name, content in files.items()}
                defects += _defects(made[id])
    if not made:
        raise UserError(f"No task of {tasks} has a reference in {references}: there is nothing to import.")
    skipped += [f"{references}, task {id!r}: is not in {tasks}" for id in known.tasks if id not in made]
    library = MadeLibrary(TaskSet(schema=2, name=name, version=version, tasks=tuple(made.values())), pictures)
    return Imported(library=library, skipped=tuple(dict.fromkeys(skipped)), defects=tuple(defects))


def _entries(path: Path) -> Iterable[object]:
    data = read_json(path)
    if isinstance(data, Mapping):
        return [{"id": id, **entry} if isinstance(entry, Mapping) else entry for id, entry in data.items()]
    if not isinstance(data, list):
        raise InputFileError(path, f"holds {show(data)} (expected a list of tasks)")
    return data


def _pictures(entry: Mapping[str, object], folder: Path, path: Path, id: str) -> dict[str, bytes]:
    image = entry.get("image")
    if image is None or image == "":
        return {}
    if not isinstance(image, str):
        raise InputFileError(path, f"is {show(image)} (expected a path)", task=id, field="image")
    inside = PurePosixPath(image)
    if inside.is_absolute() or ".." in inside.parts or "\\" in image:
        raise InputFileError(path, f"is {image!r}, which leaves its folder", task=id, field="image")
    try:
        return {inside.name: (folder / inside).read_bytes()}
    except (OSError, ValueError) as error:
        raise InputFileError(path, f"{image!r} cannot be read ({error})", task=id, field="image") from None


def _task(id: str, entry: Mapping[str, object], trajectory: Trajectory, pictures: tuple[str, ...], path: Path) -> Task:
    texts = {name: entry.get(name) for name in ("question", "prompt", "type")}
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise InputFileError(path, f"is {show(value)} (expected a string)", task=id, field=name)
    question = texts["question"] or texts["prompt"]
    if not question:
        raise InputFileError(path, "is absent or empty (expected a string)", task=id, field="question")
    steps = tuple(
        tuple(ReferenceCall(tool=call.tool, arguments=dict(call.arguments)) for call in step.calls)
        for step in trajectory.steps
    )
    if not trajectory.calls:
        raise InputFileError(path, "has no call in its reference", task=id)
    servers = tuple(sorted({call.server for call in trajectory.calls if call.server in load_catalog().ready.by_name}))
    return Task(
        id=id,
        family=str(texts["type"] or "imported"),
        question=str(question),
        wording=str(texts["prompt"] or question),
        pictures=pictures,
        servers=servers,
        references=(Reference(steps=steps),),
    )


def _defects(task: Task) -> list[str]:
    """What keeps a reference from running here."""
    catalog = load_catalog().ready
    found = []
    for number, step in enumerate(task.references[0].steps, 1):
        for call in step:
            try:
                catalog.tool(call.tool).check(call.arguments)
            except CallError as error:
                found.append(f"task {task.id!r}, step {number}: {error}")
    return found
