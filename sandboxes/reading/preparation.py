"""Makes a picture easy to read for an OCR engine: dark writing on white, large enough, nothing else in the way.

The steps were chosen by measuring words read right on slides, code, posters, receipts, tables, charts and
chats. Two of them decide: text twice as large, and no ruled lines, without which a table is read as one big
blot. White writing in a dark box is turned round box by box, since a picture may hold both kinds.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter, ImageOps
from scipy import ndimage

from m3bench.sandboxes.pictures import flat

Mask: TypeAlias = NDArray[np.uint8]
"""1 where something is, 0 elsewhere."""

MAX_PIXELS = 12_000_000
"""What an engine is given at most; larger pictures are scaled down."""
MAX_SIDE = 15_000
"""Half of what Tesseract takes, since a picture may still be doubled."""

_MARGIN = 12
_SMALLEST_BOX = (16, 32)
"""Height and width in pixels from which a dark patch may be a box with writing."""
_SMALLEST_BLOCK = 64
"""Side in pixels from which a dark patch without writing is a block to be wiped out, such as a chart's bar."""
_MAX_PATCHES = 50_000
"""A page of text has some thousands; more is the grain of a photograph, in which there are no boxes."""
_RULE_LENGTH = 100
_RULE_WIDTH = 7


def prepare(image: Image.Image) -> Image.Image:
    """A grey picture with dark writing on white, enlarged unless it is large already."""
    grey = ImageOps.autocontrast(flat(image).convert("L"), cutoff=0.5)
    scale = min((MAX_PIXELS / (grey.width * grey.height)) ** 0.5, MAX_SIDE / max(grey.size))
    if scale < 1:
        grey = grey.resize((max(1, int(grey.width * scale)), max(1, int(grey.height * scale))), Image.Resampling.BOX)
    pixels = np.array(grey)
    if _dark(pixels).mean() > 0.5:
        pixels = 255 - pixels
    # Bars that stand on an axis become boxes of their own only when the axis is gone.
    pixels = _without_boxes(_without_rules(_without_boxes(pixels)))
    clean = ImageOps.expand(Image.fromarray(pixels), _MARGIN, _edge_shade(pixels))
    if clean.width * clean.height * 4 > MAX_PIXELS:
        return clean
    return clean.resize((clean.width * 2, clean.height * 2), Image.Resampling.LANCZOS)


def _dark(pixels: NDArray[np.uint8]) -> Mask:
    """The darker of the two classes into which Otsu's threshold parts the pixels."""
    counts = np.bincount(pixels.ravel(), minlength=256).astype(float)
    below, sums = counts.cumsum(), (counts * np.arange(256)).cumsum()
    above = below[-1] - below
    spread = (sums[-1] * below - sums * below[-1]) ** 2 / np.maximum(below * above, 1)
    dark: Mask = (pixels <= spread.argmax()).astype(np.uint8)
    return dark


def _without_boxes(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """White writing in dark boxes becomes dark writing on white; dark blocks without writing are wiped out."""
    labels, count = ndimage.label(_dark(pixels))
    if count > _MAX_PATCHES:
        return pixels
    sizes = np.bincount(labels.ravel())
    result = pixels.copy()
    for label, place in enumerate(ndimage.find_objects(labels), 1):
        if _may_be_box(place, int(sizes[label]), pixels.shape):
            _clear_box(result[place], labels[place] == label)
    return result


def _may_be_box(place: tuple[slice, slice], size: int, page: tuple[int, ...]) -> bool:
    height, width = (side.stop - side.start for side in place)
    whole_page = height > 0.9 * page[0] and width > 0.9 * page[1]
    large = height >= _SMALLEST_BOX[0] and width >= _SMALLEST_BOX[1]
    return large and not whole_page and size >= 0.5 * height * width


def _clear_box(part: NDArray[np.uint8], body: NDArray[np.bool_]) -> None:
    """Change a patch in place when it is nearly a rectangle. Its holes tell a box of letters from a large letter."""
    gaps, count = ndimage.label(np.pad(~body, 1, constant_values=True))
    inside = gaps[1:-1, 1:-1] != 1
    holes = count - 1
    if inside.mean() < 0.85:
        return
    if holes == 0 and min(part.shape) >= _SMALLEST_BLOCK:
        part[inside] = 255
    elif holes >= 3:
        ground = float(np.median(part[body]))
        part[inside] = (255 - (part[inside] - ground) * 255 / max(255 - ground, 1)).clip(0, 255).astype(np.uint8)


def _without_rules(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Wipes out long thin lines: table borders, axes, underlines."""
    dark = _dark(pixels)
    rules = np.zeros_like(dark)
    for axis in (0, 1):
        thin = _runs(dark, _RULE_LENGTH, axis) & (1 - _runs(dark, _RULE_WIDTH, 1 - axis))
        # Crossings and corners are thick in both directions: reach over them.
        rules |= ndimage.grey_dilation(thin, size=_along(2 * _RULE_WIDTH + 1, axis)) & dark
    # One more pixel on each side takes the soft edge away.
    covered = np.asarray(Image.fromarray(rules * 255).filter(ImageFilter.MaxFilter(3)))
    return np.where(covered > 0, 255, pixels).astype(np.uint8)


def _runs(mask: Mask, length: int, axis: int) -> Mask:
    """What belongs to an unbroken run of at least that length."""
    opened: Mask = ndimage.grey_opening(mask, size=_along(length, axis))
    return opened


def _along(length: int, axis: int) -> tuple[int, int]:
    return (length, 1) if axis == 0 else (1, length)


def _edge_shade(pixels: NDArray[np.uint8]) -> int:
    return int(np.median(np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])))
