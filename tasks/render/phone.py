"""A drawn picture as a phone would take it: at an angle, in uneven light, with a shadow, blur, noise and JPEG artefacts.

Everything comes from random numbers that are drawn before a pixel is touched, so a picture that is only laid out takes
as many. What was noted on the canvas is carried to where it is in the photograph. The file is a JPEG: noise makes PNG
files ten times as large, and the encoder inside Pillow gives the same bytes with and without vector instructions. As
for every drawn picture, another kind of processor may round a pixel differently.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFilter

from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box, Scene

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")

Point = tuple[float, float]

_QUALITY = 66
_CASTS = ((1.03, 1.0, 0.93), (1.05, 1.0, 0.88), (0.96, 1.0, 1.03), (1.0, 1.01, 0.97), (1.02, 0.99, 0.98))
"""What lamps and windows do to red, green and blue."""
_GRAIN = 7
"""The largest noise, in shades."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A photograph and what is to be seen in it."""

    data: bytes
    """A JPEG file; empty when nothing can be drawn."""
    scene: Scene
    way: tuple[float, ...] = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    """From the canvas to the photograph, as the rows of a matrix."""

    def seen(self, box: Box) -> Box | None:
        """Where a box of the canvas is in the photograph; None where that is outside."""
        return _moved(np.array(self.way).reshape(3, 3), box, (self.scene.width, self.scene.height))


@dataclass(frozen=True, kw_only=True)
class _Exposure:
    """How a photograph is taken."""

    corners: tuple[Point, ...]
    """What of the canvas is in its corners: upper left, upper right, lower right, lower left."""
    slope: Point
    """How much lighter it is at the right edge than at the left, and below than above."""
    dim: float
    """How much darker corners are."""
    cast: tuple[float, float, float]
    shadow: tuple[Point, ...]
    """The outline of what stands in the light, in shares of the photograph."""
    shade: float
    blur: float
    grain: int
    """Seed of the noise."""


def snapshot(canvas: Canvas, rng: random.Random, *, tilt: float = 1.0) -> Snapshot:
    """Take a photograph of what is on a canvas, as large as the canvas.

    Args:
        canvas: Whose outermost sixteenth may be cut off.
        rng: Where the phone is and how the light falls.
        tilt: How far it is held askew; 0 is straight.
    """
    how = _exposure(rng, canvas.width, canvas.height, tilt)
    away, back = _ways(how.corners, canvas.width, canvas.height)
    size = canvas.width, canvas.height
    objects = [
        replace(thing, box=box, keypoints=tuple((*_at(back, (x, y)), seen) for x, y, seen in thing.keypoints))
        for thing in canvas.objects
        if (box := _moved(back, thing.box, size))
    ]
    texts = [replace(text, box=box) for text in canvas.texts if (box := _moved(back, text.box, size))]
    if not canvas.art.drawn:
        laid_out = Scene(
            sha256="", width=size[0], height=size[1], thumbnail=b"", objects=tuple(objects), texts=tuple(texts)
        )
        return Snapshot(data=b"", scene=laid_out, way=tuple(map(float, back.flat)))
    seen = canvas.image().transform(size, Image.Transform.PERSPECTIVE, away, Image.Resampling.BICUBIC)
    data = jpeg(_exposed(seen, how), _QUALITY, optimize=True)
    return Snapshot(data=data, scene=Scene.of(data, objects, texts), way=tuple(map(float, back.flat)))


def _exposure(rng: random.Random, width: int, height: int, tilt: float) -> _Exposure:
    def inside(x: int, y: int) -> Point:
        across, down = (rng.uniform(0.004, 0.004 + 0.056 * tilt) for _ in range(2))
        return width * (across if not x else 1 - across), height * (down if not y else 1 - down)

    corners = tuple(inside(x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    slope = rng.uniform(-0.16, 0.16), rng.uniform(-0.12, 0.12)
    dim, cast = rng.uniform(0.08, 0.22), rng.choice(_CASTS)
    # A head or an arm at one of the lower corners.
    left, wide, tall = rng.choice((True, False)), rng.uniform(0.25, 0.6), rng.uniform(0.3, 0.85)
    outline = [(-0.1, 1.1), (-0.1, 1 - tall), (wide * 0.45, 1 - tall * rng.uniform(0.7, 1.0)), (wide, 1.1)]
    shadow = tuple((x if left else 1 - x, y) for x, y in outline)
    shade, blur, grain = rng.uniform(0.12, 0.26), rng.uniform(0.55, 1.0), rng.randrange(1 << 30)
    return _Exposure(
        corners=corners, slope=slope, dim=dim, cast=cast, shadow=shadow, shade=shade, blur=blur, grain=grain
    )


def _exposed(image: Image.Image, how: _Exposure) -> Image.Image:
    """Light, shadow, blur and noise on what is seen."""
    width, height = image.size
    x = np.linspace(-0.5, 0.5, width)[None, :]
    y = np.linspace(-0.5, 0.5, height)[:, None]
    light = 1 + how.slope[0] * x + how.slope[1] * y - how.dim * 2 * (x * x + y * y)
    light *= 1 - how.shade * _shadow(how.shadow, width, height)
    pixels = np.asarray(image.filter(ImageFilter.GaussianBlur(how.blur)), dtype=np.float64)
    pixels = pixels * light[:, :, None] * np.array(how.cast)
    # The difference of two bytes is small more often than large, as noise is; colours flicker less than brightness.
    source = random.Random(how.grain)
    grain = _noise(source, (height, width, 1), _GRAIN) + _noise(source, (height, width, 3), _GRAIN // 2)
    return Image.fromarray(np.clip(np.rint(pixels + grain), 0, 255).astype(np.uint8))


def _noise(source: random.Random, shape: tuple[int, int, int], most: int) -> "NDArray[np.float64]":
    count = shape[0] * shape[1] * shape[2]
    one, other = (np.frombuffer(source.randbytes(count), np.uint8).reshape(shape).astype(np.float64) for _ in range(2))
    return (one - other) * (most / 255)


def _shadow(outline: Sequence[Point], width: int, height: int) -> "NDArray[np.float64]":
    """How deep in the shadow each pixel is, from 0 to 1; its edge is soft."""
    small = Image.new("L", (width // 8, height // 8), 0)
    ImageDraw.Draw(small).polygon([(x * small.width, y * small.height) for x, y in outline], fill=255)
    soft = small.filter(ImageFilter.GaussianBlur(small.width / 22))
    return np.asarray(soft.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float64) / 255


def _ways(corners: Sequence[Point], width: int, height: int) -> tuple[tuple[float, ...], "NDArray[np.float64]"]:
    """The way from the photograph to the canvas, as Pillow takes it, and the way back."""
    rows, wanted = [], []
    for (u, v), (x, y) in zip(((0, 0), (width, 0), (width, height), (0, height)), corners, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
        wanted += [x, y]
    found = [float(number) for number in np.linalg.solve(np.array(rows, float), np.array(wanted))]
    return tuple(found), np.linalg.inv(np.array([*found, 1.0]).reshape(3, 3))


def _at(way: "NDArray[np.float64]", point: Point) -> Point:
    x, y, scale = (float(number) for number in way @ (*point, 1.0))
    return round(x / scale, 1), round(y / scale, 1)


def _moved(way: "NDArray[np.float64]", box: Box, size: tuple[int, int]) -> Box | None:
    """Where a box of the canvas is in the photograph; None where that is outside."""
    left, top, right, bottom = box
    points = [_at(way, corner) for corner in ((left, top), (right, top), (right, bottom), (left, bottom))]
    x, y = [point[0] for point in points], [point[1] for point in points]
    cut = max(0.0, min(x)), max(0.0, min(y)), min(float(size[0]), max(x)), min(float(size[1]), max(y))
    return cut if cut[2] - cut[0] > 1 and cut[3] - cut[1] > 1 else None
