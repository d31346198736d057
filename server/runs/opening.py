"""What the client of a run is told when it begins: the question, what to hand in, the rules, the media.

Pictures carry the run's mark on a strip below. Sound goes out as audio content. The protocol has no content for film:
it is linked as a resource. Either is also a resource and a file in the workspace, so that a client that takes neither
can work with tools.
"""

import struct
from base64 import b64encode
from collections.abc import Sequence

import anyio.to_thread

from m3bench.server.runs.handin import asked
from m3bench.server.runs.retrieval import OwnToolResult
from m3bench.server.runs.run import Run
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import marked
from m3bench.tasks.task import MEDIA, Task, picture_type, recording_type


async def shown_pictures(library: Library, run: Run) -> list[tuple[str, bytes]]:
    """Name and file of each picture; a run of an earlier version has no mark."""

    def drawn() -> list[tuple[str, bytes]]:
        files = [(name, library.picture(name)) for name in run.task.pictures]
        return [(name, marked(file, run.mark) if run.mark else file) for name, file in files]

    return await anyio.to_thread.run_sync(drawn)


RECORDING = "m3bench://run/recording"

_MP3_RATES = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
"""Thousands of bits a second by the number in the header of a file with at most 24,000 samples a second."""


async def recordings_of(library: Library, task: Task) -> list[tuple[str, bytes]]:
    """Name and file of each recording of a task."""
    return await anyio.to_thread.run_sync(lambda: [(name, library.recording(name)) for name in task.recordings])


def told_of_recordings(files: Sequence[tuple[str, bytes]]) -> list[str]:
    """What a client is told of its recordings: where they are, how long they last, and what helps without them."""
    lines = [line for name, data in files for line in _lines(name, data)]
    return [*lines, ""] if lines else []


def recording_blocks(files: Sequence[tuple[str, bytes]]) -> list[dict[str, object]]:
    """The content with which recordings go out."""
    return [
        {"type": "audio", "data": b64encode(data).decode(), "mimeType": recording_type(name)}
        if is_sound(name)
        else {"type": "resource_link", "uri": RECORDING, "name": name, "mimeType": recording_type(name)}
        for name, data in files
    ]


def recording_resource(files: Sequence[tuple[str, bytes]]) -> dict[str, object]:
    """The recordings as a resource."""
    return {
        "contents": [
            {"uri": RECORDING, "blob": b64encode(data).decode(), "mimeType": recording_type(name)}
            for name, data in files
        ]
    }


def is_sound(name: str) -> bool:
    """Whether a recording is sound; else it is film."""
    return recording_type(name).startswith("audio/")


def seconds(name: str, data: bytes) -> float | None:
    """How long an MP3 file of one bit rate or an MP4 file lasts; None when the file does not say."""
    if name.endswith(".mp3") and len(data) > 4 and data[0] == 0xFF and data[2] >> 4 < len(_MP3_RATES):
        rate = _MP3_RATES[data[2] >> 4]
        return len(data) / 125 / rate if rate else None
    at = data.find(b"mvhd")
    if name.endswith(".mp4") and at >= 0 and len(data) >= at + 24 and data[at + 4] == 0:
        scale, length = struct.unpack(">2I", data[at + 16 : at + 24])
        return float(length / scale) if scale else None
    return None


def _lines(name: str, data: bytes) -> list[str]:
    path, lasts = f"./{MEDIA}/{name}", seconds(name, data)
    length = f", {lasts:.0f} seconds" if lasts is not None else ""
    if is_sound(name):
        return [
            f"The sound is below ({recording_type(name)}{length}), at {path}, and the resource {RECORDING}.",
            "If you cannot hear it, the tools whose names begin with recordings write down what is said, find tones, "
            "take out noise and cut passages; recordings transcribe needs to be told which words may occur.",
        ]
    return [
        f"The film is at {path} ({recording_type(name)}{length}), and the resource {RECORDING}.",
        "If you cannot watch it, the tools whose names begin with recordings find the moments at which its picture "
        "changes and write single pictures to files, which the tools for pictures read.",
    ]


def limits_rule(calls: int, minutes: float) -> str:
    """The rule that says what a run may use."""
    return f"This run may make {calls} calls in {minutes:g} minutes."


async def opening(
    library: Library, run: Run, limits: Sequence[str], *, ranked: bool = False, pictures: bool = True
) -> OwnToolResult:
    """The result of `start_task`.

    Args:
        library: The set that the task is from.
        run: The run that begins.
        limits: Rules that are not the same for every run; the last says what it may use.
        ranked: Whether the client is not told the family.
        pictures: Whether the pictures are part of it.
    """
    task = run.task
    paths, sounds = ([f"./{MEDIA}/{name}" for name in names] for names in (task.pictures, task.recordings))
    recorded = await recordings_of(library, task)
    takes = {0: "", 1: "; they take the path above"}.get(len(paths + sounds), "; they take the paths above")
    handing_in = "your final answer and the fields" if task.fields or task.pictures else "your final answer"
    *more_rules, uses = limits
    rules = (
        f"Use the tools of this server{takes}. Files that they write lie in the same folder.",
        *more_rules,
        "Calls that do not depend on each other belong together: send them in one turn.",
        "A call that needs an earlier result comes after it. An error result says what to do next.",
        "Work on your own to the end: nobody answers questions about the task.",
        uses,
        f"When you are done, call submit with {handing_in}, then score.",
    )
    lines = [
        f"# Task {task.id}",
        "",
        task.question,
        "",
        *_where(paths),
        *told_of_recordings(recorded),
        *asked(task),
    ]
    lines += ["How this works"]
    lines += [f"- {rule}" for rule in rules]
    text = "\n".join([*lines, "", f"Run handle: {run.id}"])
    shown = await shown_pictures(library, run) if pictures else []
    images: list[dict[str, object]] = [
        {"type": "image", "data": b64encode(data).decode(), "mimeType": picture_type(name)} for name, data in shown
    ]
    facts: dict[str, object] = {
        "task": task.id,
        "family": task.family,
        "question": task.question,
        "pictures": paths,
        "run": run.id,
    }
    if ranked:
        del facts["family"]
    facts |= {"recordings": sounds} if sounds else {}
    facts |= {"fields": [field.shown() for field in task.fields]} if task.fields else {}
    content: list[dict[str, object]] = [{"type": "text", "text": text}, *images, *recording_blocks(recorded)]
    return {"content": content, "_meta": {"m3bench/task": facts}, "isError": False}


def _where(paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    if len(paths) == 1:
        return [f"The picture is below and at {paths[0]}.", ""]
    return [f"The pictures are below and at {', '.join(paths)}.", ""]
