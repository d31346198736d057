"""Reading what a film shows: the moments at which its picture changes, single pictures, and the writing in them."""

import json
from collections.abc import Sequence

from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import Script, Unfit, call
from m3bench.tasks.recording.film import PER_SECOND, Sign
from m3bench.tasks.task import ReferenceCall

_ANYWHERE = "--oem 3 --psm 11"
"""Text anywhere in a picture."""


async def read(path: str, signs: Sequence[Sign], play: Script) -> list[str]:
    """The writing that is read off some signs of a film, each in the middle of the time for which it is shown.

    Args:
        path: The film.
        signs: Which ones.
        play: Makes the calls.
    """
    (text,) = await play.step(call("recordings/find_changes", {"path": path}))
    changes = json.loads(text)["changes"]
    shots = [_shot(path, number, sign, changes) for number, sign in enumerate(signs)]
    await play.step(*shots)
    try:
        return await play.step(*map(_reading, shots))
    except UserError as error:
        raise Unfit("the writing cannot be read") from error


def _reading(shot: ReferenceCall) -> ReferenceCall:
    """Reads a picture that was taken out of a film."""
    return call(
        "ocr/perform_ocr",
        {"input_data": shot.arguments["output_path"], "config": _ANYWHERE},
        free=("input_data", "config", "language"),
    )


def _shot(path: str, number: int, sign: Sign, changes: Sequence[float]) -> ReferenceCall:
    """The picture of a sign, at a moment that follows from the changes."""
    first = next((at for at in changes if abs(at - sign.first / PER_SECOND) < 1e-6), sign.first / PER_SECOND)
    half = (sign.last - sign.first) / PER_SECOND / 2
    return call(
        "recordings/extract_frame",
        {
            "path": path,
            "time": round(first + half, 2),
            "output_path": f"{path.removesuffix('.mp4')}-sign-{number + 1}.png",
        },
        free=("output_path",),
        near={"time": round(half, 2)},
    )
