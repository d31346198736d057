"""A picture in a smaller size, with everything that is known of it at its new place."""

import io
from dataclasses import replace

from PIL import Image

from m3bench.tasks.families.base import Composition
from m3bench.tasks.scene import Box, Scene


def reduced(composition: Composition, share: float, *, colours: int = 0) -> Composition:
    """A composition whose picture has this share of its width and height; one that is not drawn stays as it is.

    Args:
        composition: What was drawn.
        share: Of its sides.
        colours: How many there are in it, 256 at most; many where it is left out.
    """
    if not composition.picture:
        return composition
    with Image.open(io.BytesIO(composition.picture)) as image:
        size = round(image.width * share), round(image.height * share)
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    # Scaled edges have many shades: six bits a channel still look like eight, and the file is a third smaller.
    plain = small.point([value & 0xFC | 2 for value in range(256)] * 3)
    if colours:
        plain = plain.quantize(colours, dither=Image.Dither.NONE)
    plain.save(out, "PNG", optimize=True)
    scene = composition.scene
    objects = [
        replace(
            one,
            box=_moved(one.box, share),
            keypoints=tuple((x * share, y * share, seen) for x, y, seen in one.keypoints),
        )
        for one in scene.objects
    ]
    texts = [replace(one, box=_moved(one.box, share)) for one in scene.texts]
    return replace(composition, picture=out.getvalue(), scene=Scene.of(out.getvalue(), objects, texts))


def _moved(box: Box, share: float) -> Box:
    left, top, right, bottom = (round(side * share, 1) for side in box)
    return left, top, right, bottom
