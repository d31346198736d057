"""Copies of a picture that were mirrored, turned or framed: ways to make them straight again, and the way back.

A way is a guess. Whoever recognises pictures tries each and keeps the one that fits; points found in the straight
picture are then carried back into the copy.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

Point = tuple[float, float]

MOST_DEGREES = 8
"""How far a picture may be turned by hand; quarter turns are tried too."""
_SAME_COLOUR = 12
"""Steps of brightness in which the colour of a frame may vary."""
_THICKEST = 0.3
"""The share of a side that a frame may take at each edge."""


class Way(NamedTuple):
    """A copy made straight."""

    name: str
    """The same for the same way at every size; a size may lack a way that another has."""
    image: Image.Image
    back: Callable[[float, float], Point]
    """From a point of the straight picture to the same one of the copy."""


def ways(image: Image.Image) -> Iterator[Way]:
    """Everything that a copy may be, the most common first."""
    width, height = image.size
    yield Way("mirrored", ImageOps.mirror(image), lambda x, y: (width - x, y))
    if framed := _inside(image):
        yield framed
    for sign in (1, -1):
        for degrees in range(1, MOST_DEGREES + 1):
            yield from _turned(image, sign * degrees)
    yield Way("upside down", image.transpose(Image.Transpose.ROTATE_180), lambda x, y: (width - x, height - y))
    yield Way("turned right", image.transpose(Image.Transpose.ROTATE_90), lambda x, y: (width - y, x))
    yield Way("turned left", image.transpose(Image.Transpose.ROTATE_270), lambda x, y: (y, height - x))
    yield Way("flipped", ImageOps.flip(image), lambda x, y: (x, height - y))


def _inside(image: Image.Image) -> Way | None:
    """What is inside a frame of one colour."""
    pixels = np.asarray(image.convert("RGB"), np.int16)
    other = (np.abs(pixels - pixels[0, 0]) > _SAME_COLOUR).any(axis=2)
    rows, columns = np.flatnonzero(other.any(axis=1)), np.flatnonzero(other.any(axis=0))
    if not len(rows):
        return None
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    across, down = max(left, image.width - right), max(top, image.height - bottom)
    if not across + down or across > _THICKEST * image.width or down > _THICKEST * image.height:
        return None
    return Way("framed", image.crop((left, top, right, bottom)), lambda x, y: (x + left, y + top))


def _turned(image: Image.Image, degrees: int) -> Iterator[Way]:
    """The picture turned back, its corners lost as they were, or whole where the copy was made larger for them."""
    straight = image.rotate(-degrees, Image.Resampling.BILINEAR)
    middle = (image.width / 2, image.height / 2)
    yield Way(f"turned by {degrees}", straight, lambda x, y: _around(middle, x, y, degrees))
    angle = math.radians(abs(degrees))
    share = math.cos(angle) ** 2 - math.sin(angle) ** 2
    wide = (image.width * math.cos(angle) - image.height * math.sin(angle)) / share
    tall = (image.height * math.cos(angle) - image.width * math.sin(angle)) / share
    if wide < image.width / 2 or tall < image.height / 2:
        return
    left, top = round((image.width - wide) / 2), round((image.height - tall) / 2)
    part = straight.crop((left, top, image.width - left, image.height - top))
    yield Way(f"turned by {degrees}, whole", part, lambda x, y: _around(middle, x + left, y + top, degrees))


def _around(middle: Point, x: float, y: float, degrees: float) -> Point:
    """A point turned about the middle, against the clock as pictures are."""
    angle = math.radians(degrees)
    right, down = x - middle[0], y - middle[1]
    return (
        middle[0] + right * math.cos(angle) + down * math.sin(angle),
        middle[1] - right * math.sin(angle) + down * math.cos(angle),
    )
