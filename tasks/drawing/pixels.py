"""Changes to all pixels of a picture, computed with whole numbers: blending, blurring, recolouring, filtering.

The same operations exist in Pillow, where some of them round floating-point sums that lie exactly between two
shades, one way on one processor and the other way on another. Large pictures are worked on in bands of rows.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

Values = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]

_ONE = 1 << 16
_CUBIC = 1 << 12
_BAND_PIXELS = 1_000_000
_PASSES = 3


def blended(one: Image.Image, other: Image.Image, share: float) -> Image.Image:
    """A picture between two of the same size, or beyond them: `share` of the other; the alpha of the first."""
    weight = round(share * _ONE)

    def mix(first: Values, second: Values) -> Values:
        return (first.astype(np.int64) * (_ONE - weight) + second.astype(np.int64) * weight + _ONE // 2) >> 16

    return _changed(mix, one, other)


def recoloured(image: Image.Image, matrix: Sequence[Sequence[int]]) -> Image.Image:
    """An RGB picture whose new red, green and blue are sums of the old ones in thousandths."""
    shares = np.array(matrix, np.int32)

    def recolour(values: Values) -> Values:
        parts = [sum(values[..., old] * shares[new, old] for old in range(3)) for new in range(3)]
        return (np.stack(parts, axis=-1) + 500) // 1000

    return _changed(recolour, image)


class _Boxes(ImageFilter.MultibandFilter):
    """Averages over a square, three times over, which together come close to a Gaussian bell."""

    name = "Blur"

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def filter(self, image: Any) -> Any:
        return image.box_blur((self.radius, self.radius), _PASSES)


def blurred(image: Image.Image, sigma: float) -> Image.Image:
    """The picture, softened as by a Gaussian bell of that width in pixels."""
    variance = sigma * sigma / _PASSES
    whole = int((sqrt(12 * variance + 1) - 1) / 2)
    rest = (2 * whole + 1) * (whole * (whole + 1) - 3 * variance) / (6 * (variance - (whole + 1) ** 2))
    return image.filter(_Boxes(whole + rest)) if sigma else image.copy()


def filtered(image: Image.Image, kernel: Sequence[int], divisor: int) -> Image.Image:
    """Each pixel as a weighted sum of those around it; the kernel is a square, and the margin stays as it is."""
    side = round(sqrt(len(kernel)))
    reach = side // 2
    result = image.copy()
    rows = max(1, _BAND_PIXELS // max(1, image.width))
    for top in range(reach, image.height - reach, rows):
        bottom = min(image.height - reach, top + rows)
        values = np.asarray(image.crop((0, top - reach, image.width, bottom + reach)), np.int32)
        high, wide = bottom - top, image.width - 2 * reach
        if wide <= 0:
            break
        total = np.zeros((high, wide, *values.shape[2:]), np.int32)
        for number, weight in enumerate(kernel):
            if weight:
                # Pillow counts the rows of a kernel from the bottom.
                down, right = side - 1 - number // side, number % side
                total += weight * values[down : down + high, right : right + wide]
        made = np.clip((2 * total + divisor) // (2 * divisor), 0, 255).astype(np.uint8)
        result.paste(Image.fromarray(made), (reach, top))
    return result


def stretched(values: Numbers, width: int, height: int, shown: tuple[int, int] | None = None) -> Numbers:
    """A small grid of whole numbers as a larger one, smooth between them.

    Only the first `shown` columns and rows are computed, where that is given: the whole may be far too large.
    """
    columns, rows = shown or (width, height)
    return _along_columns(_along_columns(values, height, rows).T, width, columns).T


def _along_columns(values: Numbers, size: int, shown: int) -> Numbers:
    """Cubic interpolation down the columns, with weights in whole numbers."""
    count = len(values)
    total = np.zeros((min(size, shown), values.shape[1]), np.int64)
    places = [(2 * number + 1) * count for number in range(len(total))]
    """Twice the place of each new row's middle, in `size`-ths of an old row."""
    firsts = [(place - size) // (2 * size) for place in places]
    for offset in (-1, 0, 1, 2):
        gaps = [abs(place - size - 2 * size * (first + offset)) for place, first in zip(places, firsts, strict=True)]
        weights = np.array([_bell(gap, 2 * size) for gap in gaps], np.int64)
        rows = np.clip(np.array(firsts) + offset, 0, count - 1)
        total += weights[:, None] * values[rows]
    return (total + _CUBIC // 2) // _CUBIC


def _bell(gap: int, whole: int) -> int:
    """The weight of a value at a distance of `gap / whole`: the usual cubic, whose second piece is negative."""
    near = (3 * gap**3 - 5 * gap**2 * whole) * _CUBIC // (2 * whole**3) + _CUBIC
    far = (-(gap**3) + 5 * gap**2 * whole - 8 * gap * whole**2 + 4 * whole**3) * _CUBIC // (2 * whole**3)
    return near if gap <= whole else far


def ramp(values: Numbers, levels: Sequence[int], shades: Sequence[int], one: int) -> Numbers:
    """Shades in 256ths for values in parts of `one`: straight between the levels, and the same beyond the last."""
    result = np.full(values.shape, shades[0] * 256, np.int64)
    for (low, high), (start, end) in zip(pairwise(levels), pairwise(shades), strict=True):
        part = np.clip(values, low * one, high * one) - low * one
        result += part * ((end - start) * 256) // ((high - low) * one)
    return result


def _changed(change: Callable[..., Any], image: Image.Image, *others: Image.Image) -> Image.Image:
    """A picture made band by band from one or several of the same size."""
    result = Image.new(image.mode, image.size)
    rows = max(1, _BAND_PIXELS // max(1, image.width))
    for top in range(0, image.height, rows):
        box = (0, top, image.width, min(image.height, top + rows))
        values = [np.asarray(source.crop(box), np.int32) for source in (image, *others)]
        result.paste(Image.fromarray(np.clip(change(*values), 0, 255).astype(np.uint8)), box[:2])
    return result
