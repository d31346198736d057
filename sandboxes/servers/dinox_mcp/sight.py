"""What a detector does not notice: things that are very small or hidden by others.

Of things that take less than `SMALL` of a picture one in four is missed, of those below `TINY` every one, and so is
whatever something larger of another kind covers by more than `HIDDEN`. Which ones are missed hangs on the picture
alone: asking again, or about a copy, does not bring them back.
"""

from dataclasses import replace
from hashlib import sha256

from m3bench.tasks.scene import Box, Scene, SceneObject

SMALL, TINY = 0.003, 0.0004
"""Shares of the picture's area."""
HIDDEN = 0.75
ONE_IN = 4
_CELLS = 12
"""Along a side, to measure what is covered."""


def noticed(scene: Scene) -> Scene:
    """A scene without what a detector misses."""
    kept = (item for number, item in enumerate(scene.objects) if not _missed(scene, number, item))
    return replace(scene, objects=tuple(kept))


def _missed(scene: Scene, number: int, item: SceneObject) -> bool:
    hidden = _covered(item.box, [other.box for other in scene.objects[number + 1 :] if other.label != item.label])
    left, top, right, bottom = item.box
    share = (right - left) * (bottom - top) * (1 - hidden) / (scene.width * scene.height)
    if share < TINY or hidden > HIDDEN:
        return True
    return share < SMALL and sha256(f"{scene.sha256} {number}".encode()).digest()[0] % ONE_IN == 0


def _covered(box: Box, others: list[Box]) -> float:
    """The share of a box that others lie over."""
    left, top, right, bottom = box
    near = [one for one in others if one[0] < right and one[2] > left and one[1] < bottom and one[3] > top]
    # What is worn or held is in front of somebody and hides nothing of note.
    near = [one for one in near if (one[2] - one[0]) * (one[3] - one[1]) >= (right - left) * (bottom - top)]
    if not near:
        return 0.0
    cells = [
        (left + (column + 0.5) / _CELLS * (right - left), top + (row + 0.5) / _CELLS * (bottom - top))
        for row in range(_CELLS)
        for column in range(_CELLS)
    ]
    over = sum(any(one[0] <= x <= one[2] and one[1] <= y <= one[3] for one in near) for x, y in cells)
    return over / len(cells)
