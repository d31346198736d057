"""Files of pictures: nothing is lost, and the smaller of two ways to write one is taken."""

import random
from io import BytesIO

import pytest
from PIL import Image

from m3bench.tasks.render.canvas import smallest_png
from tests.pictures import assert_same_bytes, encoded, written


def gradient() -> Image.Image:
    return Image.merge("RGB", [Image.linear_gradient("L").resize((640, 480))] * 3)


def noise() -> Image.Image:
    return Image.frombytes("RGB", (67, 41), random.Random(1).randbytes(67 * 41 * 3))


@pytest.mark.parametrize(
    "image", [written(["Nine talks on a page"] * 9), gradient(), noise()], ids=["page", "gradient", "noise"]
)
def test_a_picture_is_read_back_as_it_was_and_is_no_larger_than_pillow_makes_it(image: Image.Image) -> None:
    made = smallest_png(image)
    with Image.open(BytesIO(made)) as back:
        assert (back.format, back.mode, back.size) == ("PNG", "RGB", image.size)
        assert_same_bytes(back.tobytes(), image.tobytes(), "the picture read back")
    assert len(made) <= len(encoded(image, "PNG", optimize=True))


def test_a_page_of_writing_is_smaller_than_pillow_makes_it() -> None:
    page = written(["Which posts lead r/gardening at the moment?"] * 12)
    assert len(smallest_png(page)) < 0.9 * len(encoded(page, "PNG", optimize=True))
