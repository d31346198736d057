"""What a client is told about handing in: the fields of a task, and which of them an answer lacks.

Texts are written for the model that reads them. Nothing here knows what is right.
"""

import json
from collections.abc import Mapping
from typing import Protocol, TypeAlias

from m3bench.tasks.answers.reading import absent, read, unknown
from m3bench.tasks.errors import RunError
from m3bench.tasks.picture_mark import FIELD, MEANING, is_mark, told
from m3bench.tasks.task import Task

Fields: TypeAlias = dict[str, object] | None
"""Fields as a client gave them; None when it gave none."""


class Submittable(Protocol):
    """A run that takes an answer."""

    @property
    def task(self) -> Task:
        """What is asked."""
        ...

    told_of_fields: bool
    """Whether an answer was looked through for missing fields: that is done once, and the next one is sealed."""


def send_back_once(run: Submittable, answer: str, fields: Fields) -> None:
    """Refuse the first answer of a run when it lacks fields.

    Raises:
        RunError: It does; the text says which and how to give them.
    """
    first, run.told_of_fields = not run.told_of_fields, True
    if first and (lacks := lacking(run.task, answer, fields)):
        raise RunError(lacks)


def asked(task: Task) -> list[str]:
    """The lines of a task that say what to hand in; none when it asks only for prose."""
    wanted = wanted_lines(task)
    if not wanted:
        return []
    to_do = "What to hand in: call submit with `answer`, a sentence or two for a person, and `fields`, an object with"
    return [to_do, *wanted, ""]


def wanted_lines(task: Task, *, sighted: bool = True) -> list[str]:
    """A line for each field of a task, and one for the mark of its picture where that is shown."""
    mark = [f"- `{FIELD}` (text): {MEANING}"] if task.pictures and sighted else []
    return [*(f"- {field.line}" for field in task.fields), *mark]


def lacking(task: Task, answer: str, fields: Mapping[str, object] | None) -> str | None:
    """What an answer lacks and how to give it; None when every field is there that must be.

    A file need not be named, and a client that does not see the picture has no mark: both are named only together with
    other fields.
    """
    found = read(task.fields, answer, fields)
    missing = absent(task.fields, found)
    strange = [name for name in unknown(task.fields, fields) if not is_mark(name)]
    if not missing and not strange:
        return None
    said = []
    if missing:
        names = [field.name for field in task.fields if field.name not in found]
        names += [FIELD] if task.pictures and told(answer, fields) is None else []
        said.append(f"missing: {', '.join(names)}")
    if strange:
        said.append(f"not asked for: {', '.join(strange[:8])}")
    example = {field.name: "…" for field in task.fields}
    wanted = "\n".join(wanted_lines(task))
    return (
        f"Nothing was submitted yet, because fields are {'; '.join(said)}. This task asks for these fields:\n{wanted}\n"
        f"Call submit again with `fields`, such as {json.dumps(example, ensure_ascii=False)}, or with a line "
        "`name: value` for each in `answer`. The next submit is sealed as it is."
    )
