"""What the client of a run is told when it begins: the question, what to hand in, the rules and the pictures."""

from base64 import b64encode
from collections.abc import Sequence

from m3bench.server.runs.handin import asked
from m3bench.server.runs.media import recording_blocks, recordings_of, shown_pictures, told_of_recordings
from m3bench.server.runs.retrieval import OwnToolResult
from m3bench.server.runs.run import Run
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, picture_type


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
