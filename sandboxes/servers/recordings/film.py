"""The pictures of a film: single ones, and the moments at which they change."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from m3bench.sandboxes.servers.recordings.files import facts, opened
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import ToolError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_FRAMES = 20_000
_SMALL = (64, 36)
_CHANGE = 0.012
"""The share of a small copy of the picture that differs where something appears or goes; what drives past is less."""
_SHADES = 24
"""By how much a dot differs, of 255."""


def frame(workspace: Workspace, path: str, moment: float) -> "tuple[float, Image]":
    """The picture that a film shows at a moment, and since when it does.

    Raises:
        ToolError: The recording has no pictures, or ends before; and as `opened` does.
    """
    known = facts(workspace, path)
    if not 0 <= moment <= known.seconds:
        raise ToolError(
            f"There is no picture at {moment:g} s: the film lasts {known.seconds:.2f} s", outcome="invalid_arguments"
        )
    shown = None
    for at, one in _frames(workspace, path):
        if shown is not None and at > moment + 1e-6:
            break
        shown = (at, one)
    assert shown is not None
    return shown[0], shown[1].to_image()


def changes(workspace: Workspace, path: str) -> list[float]:
    """The moments at which the picture is clearly another than just before; the beginning is one of them.

    Raises:
        ToolError: The recording has no pictures; and as `opened` does.
    """
    import numpy as np

    found: list[float] = []
    before = None
    for at, one in _frames(workspace, path):
        small = one.reformat(*_SMALL, format="gray").to_ndarray().astype(np.float64)
        if before is None or float((np.abs(small - before) > _SHADES).mean()) > _CHANGE:
            found.append(round(at, 2))
        before = small
    return found


def _frames(workspace: Workspace, path: str) -> Iterator[tuple[float, Any]]:
    with opened(workspace, path) as container:
        if not container.streams.video:
            raise ToolError(f"{path} has no pictures: it is sound alone", outcome="invalid_arguments")
        for number, one in enumerate(container.decode(video=0)):
            if number >= MAX_FRAMES:
                return
            yield float(one.time or 0.0), one
