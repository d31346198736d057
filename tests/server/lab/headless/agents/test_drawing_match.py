"""What is broken is told from what is sound by our own drawings of both."""

import random

import numpy as np
import pytest
from PIL import Image

from m3bench.server.lab.headless.agents.drawing_match import is_hazard, shape_at
from m3bench.server.lab.headless.agents.pen_marks import Pixels
from m3bench.tasks.render import site
from m3bench.tasks.render.art import visible
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.render.shapes import polygon
from m3bench.tasks.scene import Box

SIZE = (520, 420)


def placed(name: str, *, broken: bool, seed: int) -> tuple[Pixels, Box]:
    """A thing on sand in the evening light, and its box."""
    canvas, rng = Canvas(Outline(), *SIZE), random.Random(seed)
    x, foot, size = rng.uniform(220, 300), rng.uniform(300, 330), rng.uniform(130, 190)
    thing = canvas._render(site.DRAWN[name](rng, x, foot, size))
    image = Image.new("RGBA", SIZE, "#d8c3a0")
    image.alpha_composite(thing)
    fragments = site.MORE[name][0 if broken else 1](rng, x, foot, size)
    if fragments:
        image.alpha_composite(canvas._render(fragments))
    image.alpha_composite(Image.new("RGBA", SIZE, "#ffe9d222"))
    return np.asarray(image.convert("RGB")), visible(thing)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", site.MORE)
def test_a_thing_that_is_broken_is_told_from_one_in_order(name: str) -> None:
    for seed in range(3):
        for broken in (True, False):
            image, box = placed(name, broken=broken, seed=seed)
            assert is_hazard(image, name, box) is broken, (seed, broken)


def test_a_shape_is_told_by_colour_and_size() -> None:
    star = polygon([(100, 60), (190, 60), (145, 130)], "#f2c14e")
    large = polygon([(250, 60), (500, 60), (380, 300)], "#f2c14e")
    image = Image.new("RGBA", SIZE, "#fffefa")
    image.alpha_composite(Canvas(Outline(), *SIZE)._render([star, large]))
    pixels = np.asarray(image.convert("RGB"))
    found = shape_at(pixels, (242, 193, 78), (90, 70), 0.5)
    assert found is not None
    assert max(abs(one - other) for one, other in zip(found, (100, 60, 190, 130), strict=True)) < 4
    assert shape_at(pixels, (224, 122, 95), (90, 70), 0.5) is None
