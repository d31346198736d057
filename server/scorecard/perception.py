"""How the picture, sound or film of a run was taken in, as far as the record shows it.

That the model behind a client saw a picture is certain when it handed in the mark that only the picture shows.
"""

from m3bench.server.scorecard.model import Hearing, Sight
from m3bench.server.scorecard.trajectory import PlayedRun
from m3bench.server.store.records import RunRecord
from m3bench.tasks.picture_mark import given
from m3bench.tasks.task import Task

SIGHT_WORDS: dict[Sight, str] = {
    "seen": "The model saw the picture: it repeated the letters below it.",
    "read by tools": "Nothing shows that the model saw the picture: it did not repeat the letters below it. Tools read "
    "it.",
    "unseen": "Nothing shows that anybody looked at the picture: the letters printed below it to prove that were not "
    "handed in, and no tool read it.",
}

HEARING_WORDS: dict[Hearing, str] = {
    "played by a tool": "A tool handed out sound or pictures of the recording.",
    "read by tools": "Tools read the recording and told of it in words: what is said or written, its tones or its "
    "changes.",
    "sent alone": "The recording was sent with the question, and no tool was given it: whoever answered took it as it "
    "was sent, or not at all.",
}

_HANDING_OUT = frozenset({"recordings/play_recording", "recordings/extract_frame"})


def sight_of(run: RunRecord, task: Task, played: PlayedRun) -> Sight | None:
    """How the picture of a run was seen; None when there is none, or when it carried no mark."""
    mark = run.manifest.get("mark")
    if not mark or not task.pictures:
        return None
    if given(mark, run.answer, run.fields):
        return "seen"
    return "read by tools" if played.tools_given(task.pictures) else "unseen"


def hearing_of(task: Task, played: PlayedRun) -> Hearing | None:
    """How the recording of a run was taken in; None when there is none."""
    if not task.recordings:
        return None
    tools = played.tools_given(task.recordings)
    if tools & _HANDING_OUT:
        return "played by a tool"
    return "read by tools" if tools else "sent alone"
