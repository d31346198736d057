"""Likeness: whether a small picture is a given part of a larger one, by its pixels.

Brightness is compared, not colour, and how it varies, not how bright it is: a part in grey, in sepia or with a thin
frame around it is still that part. Another part of the same size is not.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST = 0.8
"""Correlation of the two; parts that are not the same stay far below."""


def shows_part(source: Path, box: tuple[int, int, int, int], cut: "Image", shift: int) -> bool:
    """Whether a picture shows what lies in a box of the source, which may be a few pixels off."""
    import numpy as np
    from PIL import Image

    with Image.open(source) as file:
        whole = np.asarray(file.convert("L"), dtype=np.float32)
    part = np.asarray(cut.convert("L"), dtype=np.float32)
    tall, wide = part.shape
    best = -1.0
    for top in range(max(0, box[1] - shift), min(whole.shape[0] - tall, box[1] + shift) + 1):
        for left in range(max(0, box[0] - shift), min(whole.shape[1] - wide, box[0] + shift) + 1):
            best = max(best, _correlation(whole[top : top + tall, left : left + wide], part))
            if best >= LEAST:
                return True
    return False


def _correlation(one: Any, other: Any) -> float:
    import numpy as np

    first, second = one - one.mean(), other - other.mean()
    size = float(np.sqrt((first * first).sum() * (second * second).sum()))
    if size < 1e-6:
        return 1.0 if float(np.abs(one - other).max()) < 24 else 0.0
    return float((first * second).sum()) / size
