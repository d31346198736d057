"""Reading what a film shows: the moments at which its picture changes, and the writing at some of them."""

import json
from collections.abc import Sequence

from m3bench.tasks.families.base import Script, call
from m3bench.tasks.recording.film import PER_SECOND, Sign


async def read(path: str, signs: Sequence[Sign], play: Script) -> list[str]:
    """The writing that is read off some signs of a film, each in the middle of the time for which it is shown.

    One call reads all of them, at moments that are others in every film: whoever plays the calls of another task has
    found the changes of this film and read nothing of it.

    Args:
        path: The film.
        signs: Which ones.
        play: Makes the calls.
    """
    (text,) = await play.step(call("recordings/find_changes", {"path": path}))
    changes = json.loads(text)["changes"]
    times = [_moment(sign, changes) for sign in signs]
    (text,) = await play.step(call("recordings/read_frames", {"path": path, "times": times}))
    return [frame["text"] for frame in json.loads(text)["frames"]]


def _moment(sign: Sign, changes: Sequence[float]) -> float:
    """When a sign is to be seen, as follows from the changes."""
    first = next((at for at in changes if abs(at - sign.first / PER_SECOND) < 1e-6), sign.first / PER_SECOND)
    return round(first + (sign.last - sign.first) / PER_SECOND / 2, 2)
