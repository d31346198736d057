"""How the sound or film of a run was taken in, as far as the record shows it."""

from collections.abc import Iterable

from m3bench.server.scorecard.sight import Hearing
from m3bench.server.store.records import CallRecord
from m3bench.tasks.task import Task

WORDS: dict[Hearing, str] = {
    "played by a tool": "A tool handed out sound or pictures of the recording.",
    "read by tools": "Tools read the recording and told of it in words: what is said or written, its tones or its "
    "changes.",
    "sent alone": "The recording was sent with the question, and no tool was given it: whoever answered took it as it "
    "was sent, or not at all.",
}

_HANDING_OUT = frozenset({"recordings/play_recording", "recordings/extract_frame"})


def hearing_of(task: Task, records: Iterable[CallRecord]) -> Hearing | None:
    """How the recording of a run was taken in; None when there is none.

    Args:
        task: The run's task.
        records: Its calls, without those to the benchmark's own tools.
    """
    if not task.recordings:
        return None
    names = [name.encode() for name in task.recordings]
    tools = {
        record.tool
        for record in records
        if record.outcome == "success" and any(name in record.request for name in names)
    }
    if tools & _HANDING_OUT:
        return "played by a tool"
    return "read by tools" if tools else "sent alone"
