"""What a run left to look at, as pictures: the pages and pictures in the workspace that was kept with it.

Files come from an agent: one that cannot be shown is named with the reason, and never raises. Decks, workbooks and
documents are not shown, since nothing that comes with Python renders them as they look in an office program.
"""

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from m3bench.server.lab.judges.material import Picture
from m3bench.tasks.answers.files import File
from m3bench.tasks.checks import Evidence
from m3bench.tasks.drawing.files import png
from m3bench.tasks.studio.forms import FORMS, pages
from m3bench.tasks.studio.page import PageError
from m3bench.tasks.studio.rendering import LARGEST_SIDE
from m3bench.tasks.studio.rendering import png as rendered
from m3bench.tasks.task import MEDIA, Task

MAX_SHOWN = 8
"""Pictures of one run."""
MAX_PIXELS = 40_000_000
"""Of a picture file, before it is made smaller."""
PHOTOGRAPHS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp")
"""Endings of picture files; of several frames the first is shown."""


@dataclass(frozen=True, kw_only=True)
class Artefacts:
    """What a run left."""

    shown: tuple[Picture, ...] = ()
    unseen: tuple[str, ...] = ()
    """Files that cannot be shown, and why."""


def artefacts(task: Task, workspace: Path, brought: Mapping[str, bytes]) -> Artefacts:
    """What a run left to look at, in order of path.

    Where the task asks for files, these are the files of the kinds it asks for; else every page and picture.

    Args:
        task: The task.
        workspace: The files of the run.
        brought: What came with the task, by name in the folder of media: it is nobody's work.
    """
    wanted = {f".{field.value.form}" for field in task.fields if isinstance(field.value, File)}
    shown: list[Picture] = []
    unseen: list[str] = []
    files = {
        path.relative_to(workspace).as_posix(): path for path in Evidence(answer="", workspace=workspace).find("*")
    }
    for name, path in sorted(files.items()):
        form = PurePosixPath(name).suffix.casefold()
        if form not in (wanted or {*FORMS, *PHOTOGRAPHS}) or _was_brought(name, path, brought):
            continue
        try:
            found = _pictures(name, form, path.read_bytes())
        except Exception as error:  # whatever an agent's file makes a library raise
            why = str(error) if isinstance(error, PageError) else f"it cannot be read ({type(error).__name__})"
            unseen.append(f"{name}: {why}")
            continue
        room = MAX_SHOWN - len(shown)
        shown += found[:room]
        unseen += [f"{one.name}: {MAX_SHOWN} pictures are shown, and no more" for one in found[room:]]
    return Artefacts(shown=tuple(shown), unseen=tuple(unseen))


def _was_brought(name: str, path: Path, brought: Mapping[str, bytes]) -> bool:
    folder, _, base = name.rpartition("/")
    return folder == MEDIA and base in brought and path.read_bytes() == brought[base]


def _pictures(name: str, form: str, data: bytes) -> list[Picture]:
    """A file as pictures, one for each page."""
    if form in PHOTOGRAPHS:
        return [Picture(name=name, data=_photograph(data))]
    found = pages(name, data)
    titles = [name] if len(found) == 1 else [f"{name}, page {number}" for number in range(1, len(found) + 1)]
    return [Picture(name=title, data=rendered(page)) for title, page in zip(titles, found, strict=True)]


def _photograph(data: bytes) -> bytes:
    """A picture on white ground, no larger than a page and without what a file holds beside its pixels."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(data)) as file:
            if file.width * file.height > MAX_PIXELS:
                raise PageError(f"a picture of {file.width} × {file.height} pixels is too large to be shown")
            seen = file.convert("RGBA")
    ground = Image.new("RGBA", seen.size, "white")
    ground.alpha_composite(seen)
    ground.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    return png(ground.convert("RGB"))
