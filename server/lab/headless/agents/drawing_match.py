"""Template matching against our own drawings: is a part drawn where a thing of the picture would have it?

The drawing code of a family gives the template. A thing's box says where it stands and how large it is; what makes it
broken or sound is rendered in that place and held against the pixels, moved about by a few.
"""

import random
from itertools import product

import numpy as np
from scipy import ndimage

from m3bench.server.lab.headless.agents.pen_marks import Mask, Pixels, box_of
from m3bench.tasks.render import site
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.scene import Box

_X, _FOOT, _SIZE = 400.0, 400.0, 160.0
"""Where and how large a thing is drawn to see what box it has."""
_MOVES = tuple(product((-6, -3, 0, 3, 6), repeat=2))
_SEEN = 29.0
"""How much the pixels may be off a template on average, of 255: light makes colours warmer or darker."""


def off_template(image: Pixels, fragments: list[str]) -> float:
    """How much a picture is off the opaque pixels of a drawing on average; 255 where nothing is drawn."""
    if not fragments:
        return 255.0
    height, width = image.shape[:2]
    drawn = np.asarray(Canvas(Outline(), width, height)._render(fragments))
    rows, columns = np.nonzero(drawn[..., 3] > 220)
    if not len(rows):
        return 255.0
    wanted = drawn[rows, columns, :3].astype(float)
    best = 255.0
    for dx, dy in _MOVES:
        there = image[np.clip(rows + dy, 0, height - 1), np.clip(columns + dx, 0, width - 1)]
        best = min(best, float(np.abs(there - wanted).mean()))
    return best


def is_hazard(image: Pixels, name: str, box: Box) -> bool:
    """Whether a thing of a building site with this box is as dangerous as its name says, or in order."""
    x, foot, size = _placed(name, box)
    broken, sound = (off_template(image, part(random.Random(0), x, foot, size)) for part in site.MORE[name])
    if sound == 255.0:
        return broken < _SEEN
    if broken == 255.0:
        return sound >= _SEEN
    return broken < sound


def _placed(name: str, box: Box) -> tuple[float, float, float]:
    """Where a thing with a box stands, and how large it is."""
    drawn = np.asarray(Canvas(Outline(), 800, 600)._render(site.DRAWN[name](random.Random(0), _X, _FOOT, _SIZE)))
    rows, columns = np.nonzero(drawn[..., 3] > 0)
    left, right, bottom = columns.min(), columns.max() + 1, rows.max() + 1
    share = (box[2] - box[0]) / float(right - left)
    return box[0] + (_X - left) * share, box[3] + (_FOOT - bottom) * share, _SIZE * share


def coloured_parts(image: Pixels, colour: tuple[int, int, int], within: int) -> list[tuple[Box, Mask]]:
    """The connected parts whose colour is near one."""
    near = np.abs(image.astype(int) - np.array(colour)).max(2) <= within
    labels, _ = ndimage.label(near)
    return [(box_of(place), labels[place] == number) for number, place in enumerate(ndimage.find_objects(labels), 1)]


def shape_at(image: Pixels, colour: tuple[int, int, int], size: tuple[float, float], filled: float) -> Box | None:
    """The box of the part of a colour that has a size and fills so much of it, or None when none does.

    Args:
        image: The picture.
        colour: Of the part.
        size: Width and height.
        filled: The share of its box that it covers.
    """
    best, found = 0.5, None
    for box, mask in coloured_parts(image, colour, 44):
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) < 12:
            continue
        pairs = zip((width, height, float(mask.mean())), (*size, filled), strict=True)
        fits = [min(pair) / max(pair) for pair in pairs]
        if min(fits) > 0.7 and (score := fits[0] * fits[1] * fits[2]) > best:
            best, found = score, box
    return found
