"""Files of trajectories: ours, and the public Open-M3-Bench format.

References and actual runs have the same shape: tasks by id, each with one or more trajectories — alternatives in
a file of references, repeats in a file of runs. Ours is marked with `"format": "m3bench/trajectories"`. The public
format is a list of tasks or a mapping from id to task, with one trajectory each. Reading never lets a parser's own
exception out: a bad file is an `InputFileError` that names the file, the task and the field.

Predictions are read with all their defects. A model wrote these calls, so a malformed one is something that it did: it
stays in the trajectory as a call that answers nothing, and is listed. Only what says nothing about calls at all is left
out.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError, TrajectoryError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.strict_json import read_json
from m3bench.tasks.trajectory import Call, Step, Trajectory, array, make_call, mapping, show

Kind = Literal["not_run", "no_reference", "duplicate", "task", "step", "call", "unknown_tool"]

NAMELESS = "(no name)"
UNREADABLE = "(unreadable arguments)"


@dataclass(frozen=True, kw_only=True)
class Defect:
    """Something in a file that was not scored as it stands."""

    kind: Kind
    """What it is; a `call` and an `unknown_tool` were counted all the same, the others were left out."""
    task: str = ""
    where: str = ""
    """The place in the task, such as `steps[0].calls[1].arguments`."""
    why: str

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        return asdict(self)


def predicted_steps(task: Mapping[str, object]) -> tuple[tuple[Step, ...], list[Defect]]:
    """The steps of a task, and what was wrong with them.

    Raises:
        TrajectoryError: There are no steps to speak of.
    """
    steps, defects = [], []
    found = task.get("steps")
    for index, entry in enumerate(array([] if found is None else found, "steps")):
        where = f"steps[{index}]"
        try:
            listed = mapping(entry, where).get("calls")
            calls = array([] if listed is None else listed, f"{where}.calls")
        except TrajectoryError as error:
            steps.append(Step())
            defects.append(Defect(kind="step", where=error.field, why=f"{error.problem}; left out"))
            continue
        made = []
        for place, call in enumerate(calls):
            one, defect = _call(call, f"{where}.calls[{place}]")
            made.append(one)
            defects += [defect] if defect is not None else []
        steps.append(Step(calls=tuple(made)))
    return tuple(steps), defects


def _call(data: object, where: str) -> tuple[Call, Defect | None]:
    name: object = None
    try:
        entry = mapping(data, where)
        name, arguments = entry.get("name"), entry.get("arguments")
        if isinstance(arguments, str) and (parsed := _object(arguments)) is not None:
            call = make_call(name, parsed, where, name_field="name")
            why = "is a text that holds an object; read as that object"
            return call, Defect(kind="call", where=f"{where}.arguments", why=why)
        return make_call(name, arguments, where, name_field="name"), None
    except TrajectoryError as error:
        tool = f"{name.strip()} {UNREADABLE}" if isinstance(name, str) and name.strip() else NAMELESS
        why = f"{error.problem}; counted as a call that answers nothing"
        return Call(tool=tool, bare=True), Defect(kind="call", where=error.field, why=why)


def _object(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


FORMAT = "m3bench/trajectories"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class TaskTrajectories:
    """The trajectories of one task."""

    id: str
    trajectories: tuple[Trajectory, ...]
    family: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """What a file held."""

    path: Path
    tasks: Mapping[str, TaskTrajectories]
    warnings: tuple[str, ...] = ()
    """What was odd but readable, such as an id that occurs twice."""
    errors: tuple[InputFileError, ...] = ()
    """Tasks that were left out because they could not be read; only when asked to keep going."""
    defects: tuple[Defect, ...] = ()
    """All of that by kind and place, and what was amended in predictions."""


_Parsed: TypeAlias = tuple[str | None, tuple[Trajectory, ...]]


@dataclass
class _Reading:
    path: Path
    keep_going: bool
    tasks: dict[str, TaskTrajectories] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    errors: list[InputFileError] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)


def read_tasks(path: Path | str, *, keep_going: bool = False, predictions: bool = False) -> TaskFile:
    """Read a file of either format.

    Args:
        path: The file.
        keep_going: Leave unreadable tasks out and list them in `errors`, instead of raising for the first.
        predictions: The file is what an agent did. In the public format it is then read with all its defects, which
            are listed, because they are the agent's.

    Raises:
        InputFileError: The file cannot be read, or is not what it should be.
    """
    path = Path(path)
    data = read_json(path)
    reading = _Reading(path, keep_going)
    public = partial(_predicted, reading) if predictions else _public
    if isinstance(data, Mapping) and "format" in data and not isinstance(data["format"], Mapping):
        _read_ours(data, reading)
    elif isinstance(data, list):
        reading.keep_going |= predictions
        for index, task in enumerate(data):
            _take(reading, _id(task), f"tasks[{index}]", partial(public, task))
    elif isinstance(data, Mapping):
        reading.keep_going |= predictions
        for key in getattr(data, "repeated", ()):
            _twice(reading, key)
        for key, task in data.items():
            _take(reading, _id(task) or key, key, partial(public, task))
    else:
        raise InputFileError(path, f"holds {show(data)} (expected a list of tasks or an object)")
    return TaskFile(
        path=path,
        tasks=reading.tasks,
        warnings=tuple(reading.warnings),
        errors=tuple(reading.errors),
        defects=tuple(reading.defects),
    )


def write_tasks(path: Path | str, tasks: Iterable[TaskTrajectories]) -> None:
    """Write our format."""
    _write(path, tasks_json(tasks))


def write_public_tasks(path: Path | str, tasks: Iterable[TaskTrajectories]) -> None:
    """Write the public format, which holds the first trajectory of each task."""
    _write(path, public_tasks_json(tasks))


def tasks_json(tasks: Iterable[TaskTrajectories]) -> dict[str, object]:
    """Our format, as a dict that `json.dumps` takes."""
    entries = []
    for task in tasks:
        entry: dict[str, object] = {"id": task.id}
        if task.family is not None:
            entry["family"] = task.family
        entry["trajectories"] = [trajectory.to_json() for trajectory in task.trajectories]
        entries.append(entry)
    return {"format": FORMAT, "version": VERSION, "tasks": entries}


def public_tasks_json(tasks: Iterable[TaskTrajectories]) -> list[JsonObject]:
    """The public format, as a list that `json.dumps` takes."""
    entries = []
    for task in tasks:
        steps: list[JsonObject] = [
            {"step": number, "calls": [_public_call(call) for call in step.calls]}
            for number, step in enumerate(task.trajectories[0].steps, start=1)
        ]
        entry: JsonObject = {"id": task.id}
        if task.family is not None:
            entry["type"] = task.family
        entries.append(entry | {"steps": steps})
    return entries


def _read_ours(data: Mapping[str, object], reading: _Reading) -> None:
    path = reading.path
    if data["format"] != FORMAT:
        raise InputFileError(path, f"is {show(data['format'])} (expected {FORMAT})", field="format")
    if data.get("version") != VERSION:
        problem = f"is {show(data.get('version'))} (this version of m3bench reads {VERSION})"
        raise InputFileError(path, problem, field="version")
    tasks = data.get("tasks")
    if not isinstance(tasks, list):
        raise InputFileError(path, f"is {show(tasks)} (expected an array)", field="tasks")
    for index, task in enumerate(tasks):
        _take(reading, _id(task), f"tasks[{index}]", partial(_ours, task))


def _take(reading: _Reading, task_id: str | None, place: str, parse: Callable[[], _Parsed]) -> None:
    try:
        family, trajectories = parse()
        if task_id is None:
            raise TrajectoryError("id", "is absent or empty (expected a string)")
    except TrajectoryError as error:
        where = f"{place}.{error.field}" if task_id is None else error.field
        problem = InputFileError(reading.path, error.problem, task=task_id, field=where)
        if not reading.keep_going:
            raise problem from None
        reading.errors.append(problem)
        reading.defects.append(
            Defect(kind="task", task=task_id or place, where=where, why=f"{error.problem}; left out")
        )
        return
    if task_id in reading.tasks:
        _twice(reading, task_id)
    reading.tasks[task_id] = TaskTrajectories(id=task_id, family=family, trajectories=trajectories)


def _twice(reading: _Reading, task_id: str) -> None:
    why = f"the id {show(task_id)} occurs twice; the last one counts"
    reading.warnings.append(f"{reading.path}: {why}")
    reading.defects.append(Defect(kind="duplicate", task=task_id, why=why))


def _id(task: object) -> str | None:
    value = task.get("id") if isinstance(task, Mapping) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return show(value)
    return value if isinstance(value, str) and value and len(value) <= 1000 else None


def _ours(task: object) -> _Parsed:
    entry = mapping(task, "task", ("id", "family", "trajectories"))
    trajectories = []
    for index, trajectory in enumerate(array(entry.get("trajectories"), "trajectories")):
        try:
            trajectories.append(Trajectory.from_json(trajectory))
        except TrajectoryError as error:
            raise TrajectoryError(f"trajectories[{index}].{error.field}", error.problem) from None
    if not trajectories:
        raise TrajectoryError("trajectories", "is empty (expected at least one)")
    return _family(entry.get("family"), "family"), tuple(trajectories)


def _public(task: object) -> _Parsed:
    entry = mapping(task, "task")
    return _family(entry.get("type"), "type"), (Trajectory(steps=tuple(_public_steps(entry))),)


def _predicted(reading: _Reading, task: object) -> _Parsed:
    entry = mapping(task, "task")
    steps, defects = predicted_steps(entry)
    reading.defects += [replace(defect, task=_id(entry) or defect.task) for defect in defects]
    kind = entry.get("type")
    return kind if isinstance(kind, str) and kind else None, (Trajectory(steps=steps),)


def _public_steps(task: Mapping[str, object]) -> Iterator[Step]:
    for index, step in enumerate(array(_or_empty(task.get("steps")), "steps")):
        where = f"steps[{index}]"
        calls = []
        for place, call in enumerate(array(_or_empty(mapping(step, where).get("calls")), f"{where}.calls")):
            spot = f"{where}.calls[{place}]"
            entry = mapping(call, spot)
            calls.append(make_call(entry.get("name"), entry.get("arguments"), spot, name_field="name"))
        yield Step(calls=tuple(calls))


def _or_empty(value: object) -> object:
    return [] if value is None else value


def _family(value: object, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TrajectoryError(where, f"is {show(value)} (expected a string)")
    return value or None


def _public_call(call: Call) -> JsonObject:
    return {"name": call.tool} if call.bare else {"name": call.tool, "arguments": dict(call.arguments)}


def _write(path: Path | str, data: object) -> None:
    path = Path(path)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1)
    try:
        # A lone surrogate cannot be written as UTF-8; its escaped form can.
        write_atomically(path, (text if _encodable(text) else json.dumps(data, allow_nan=False, indent=1)).encode())
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error})") from None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
