"""Whether the model behind a client saw the picture: it did if it handed in the mark that only the picture shows."""

from collections.abc import Iterable
from typing import Literal

from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.picture_mark import given
from m3bench.tasks.task import Task

Sight = Literal["seen", "read by tools", "unseen"]
"""The model saw the picture; nothing shows that it did, and tools were given it; nothing shows that anybody looked."""

Hearing = Literal["played by a tool", "read by tools", "sent alone"]
"""Of sound or film: a tool handed it out; tools told of it in words; it was sent, and no tool was given it."""

WORDS: dict[Sight, str] = {
    "seen": "The model saw the picture: it handed in the picture's mark.",
    "read by tools": "Nothing shows that the model saw the picture: its mark was not handed in. Tools read it.",
    "unseen": "Nothing shows that anybody looked at the picture: its mark was not handed in, and no tool read it.",
}


def sight_of(run: RunRecord, task: Task, records: Iterable[CallRecord]) -> Sight | None:
    """How the picture of a run was seen; None when there is none, or when it carried no mark.

    Args:
        run: The run.
        task: Its task.
        records: Its calls, without those to the benchmark's own tools.
    """
    mark = run.manifest.get("mark")
    if not mark or not task.pictures:
        return None
    if given(mark, run.answer, run.fields):
        return "seen"
    names = [name.encode() for name in task.pictures]
    read = any(record.outcome == "success" and name in record.request for record in records for name in names)
    return "read by tools" if read else "unseen"
