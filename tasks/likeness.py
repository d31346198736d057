"""Likeness: whether a small picture is a given part of a larger one, and where a copy differs, by their pixels.

Brightness is compared, not colour, and how it varies, not how bright it is: a part in grey, in sepia or with a thin
frame around it is still that part. Another part of the same size is not.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageChops, ImageDraw

from m3bench.tasks.foreign_files import picture_in

Shades = npt.NDArray[np.floating]
"""Brightness by row and column."""

NEAR = 120
"""How far from a colour one may be and still be it, of 255."""

LEAST_DRAWN = 0.25
"""Share of the changed pixels that must have the colour that was asked for; the rest may be letters and soft edges."""

GRID = 240
"""Cells along the longer side of a picture in which a part of it is looked for."""
SMALLEST = 6
"""Pixels or cells along a side under which a part says nothing."""

LEAST = 0.8
"""Correlation of the two; parts that are not the same stay far below."""


def shows_part(source: Path, box: tuple[int, int, int, int], cut: Image.Image, shift: int) -> bool:
    """Whether a picture shows what lies in a box of the source, which may be a few pixels off."""
    whole = np.asarray(picture_in(source).convert("L"), dtype=np.float32)
    part = np.asarray(cut.convert("L"), dtype=np.float32)
    tall, wide = part.shape
    best = -1.0
    for top in range(max(0, box[1] - shift), min(whole.shape[0] - tall, box[1] + shift) + 1):
        for left in range(max(0, box[0] - shift), min(whole.shape[1] - wide, box[0] + shift) + 1):
            best = max(best, _correlation(whole[top : top + tall, left : left + wide], part))
            if best >= LEAST:
                return True
    return False


def place_of_part(source: Path, cut: Image.Image) -> tuple[int, int, int, int] | None:
    """The box of the source that a picture was cut out of, to about a hundredth of its size; None when of no part."""
    whole = picture_in(source).convert("L")
    if cut.width > whole.width or cut.height > whole.height or min(cut.size) < SMALLEST:
        return None
    by = min(max(1, -(-max(whole.size) // GRID)), min(cut.size) // SMALLEST)
    small, part = (np.asarray(image.reduce(by), dtype=np.float64) for image in (whole, cut.convert("L")))
    tall, wide = part.shape
    size = (small.shape[0] + tall, small.shape[1] + wide)
    spectrum = np.conj(np.fft.rfft2(part - part.mean(), s=size))
    alike = np.fft.irfft2(np.fft.rfft2(small, s=size) * spectrum, s=size)
    alike = alike[: small.shape[0] - tall + 1, : small.shape[1] - wide + 1]
    sums, squares = (_window_sums(values, tall, wide) for values in (small, small**2))
    spread = np.sqrt(np.maximum(squares - sums**2 / (tall * wide), 1e-6)) * max(float(part.std()), 1e-3)
    top, left = np.unravel_index(int(np.argmax(alike / spread)), alike.shape)
    if _correlation(small[top : top + tall, left : left + wide], part) < LEAST:
        return None
    return int(left) * by, int(top) * by, int(left) * by + cut.width, int(top) * by + cut.height


def iou(one: Sequence[float], other: Sequence[float]) -> float:
    """The intersection over union (IoU) of two boxes."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    common = max(0.0, across) * max(0.0, down)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return common / max(areas - common, 1e-9)


def copies(source: Path, made: Iterable[Path]) -> Iterator[tuple[Image.Image, Image.Image]]:
    """A picture, beside each of the files that were made and have its size."""
    picture = picture_in(source).convert("RGB")
    for path in made:
        copy = picture_in(path).convert("RGB")
        if copy.size == picture.size and path != source:
            yield picture, copy


def changes_elsewhere(
    source: Image.Image,
    copy: Image.Image,
    boxes: Sequence[tuple[int, int, int, int]],
    margin: int,
    kept: Sequence[tuple[int, int, int, int]] = (),
    least: float = 0.0,
    colour: tuple[int, int, int] | None = None,
) -> str | None:
    """What is wrong with a copy that should differ inside some boxes and nowhere else; None when nothing is.

    Args:
        source: The picture.
        copy: What was made of it, of the same size.
        boxes: Where something must have changed.
        margin: Pixels around a box that may have changed as well.
        kept: Where nothing may have changed.
        least: The share of each box that must have changed.
        colour: What must have been drawn in.
    """
    difference = ImageChops.difference(source, copy).convert("L").point(lambda value: 255 if value > 24 else 0)
    untouched = [box for box in boxes if _changed(difference.crop(box)) <= least]
    if untouched:
        places = "" if len(boxes) == 1 else f" in {len(untouched)} of {len(boxes)} places"
        return f"nothing is changed{places} where something had to be"
    if colour and not all(_drawn_in(colour, copy.crop(box), difference.crop(box)) for box in boxes):
        return "something is drawn in another colour"
    if any(difference.crop(box).getbbox() is not None for box in kept):
        return "a part is changed that should stay as it is"
    for left, top, right, bottom in boxes:
        ImageDraw.Draw(difference).rectangle((left - margin, top - margin, right + margin, bottom + margin), fill=0)
    return "something else is changed too" if difference.getbbox() is not None else None


def _changed(difference: Image.Image) -> float:
    """The share of pixels that differ."""
    return difference.histogram()[255] / (difference.width * difference.height)


def _drawn_in(colour: tuple[int, int, int], copy: Image.Image, difference: Image.Image) -> bool:
    """Whether a fair part of what differs has a colour, or nearly so."""
    away = np.abs(np.asarray(copy, dtype=np.int16) - np.asarray(colour, dtype=np.int16)).max(axis=2)
    changed = np.asarray(difference) > 0
    return bool((away[changed] <= NEAR).mean() >= LEAST_DRAWN)


def _window_sums(values: Shades, tall: int, wide: int) -> Shades:
    """Sums over every window of a size, by an integral image."""
    sums: Shades = np.pad(values.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    return sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]


def _correlation(one: Shades, other: Shades) -> float:
    """The normalized cross-correlation of two pictures of one size."""
    first, second = one - one.mean(), other - other.mean()
    size = float(np.sqrt((first * first).sum() * (second * second).sum()))
    if size < 1e-6:
        return 1.0 if float(np.abs(one - other).max()) < 24 else 0.0
    return float((first * second).sum()) / size
