"""Reads what an agent did from a public file of predictions, with all its defects.

A model wrote these calls, so a malformed one is something that it did: it stays in the trajectory as a call that
answers nothing, and is listed. Only what says nothing about calls at all is left out. Files of references and our own
format are read strictly, by `files`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from m3bench.tasks.errors import TrajectoryError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.trajectory import Call, Step, array, make_call, mapping

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
