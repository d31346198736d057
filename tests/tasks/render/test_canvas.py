"""What a canvas says of a picture is what can be seen in it."""

import io
import random
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from m3bench.tasks.families import items_price
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.art import FACES, Art, names
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box
from tests.art import art
from tests.examples import examples
from tests.pictures import assert_same_bytes


@pytest.fixture(scope="module")
def kit() -> Art:
    return art()


def pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    common = max(0, width) * max(0, height)
    return common / (_area(one) + _area(other) - common)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


@settings(max_examples=examples(12), deadline=None)
@given(
    name=st.sampled_from(sorted(names())), x=st.integers(200, 600), y=st.integers(300, 560),
    height=st.integers(60, 240), turn=st.floats(-30, 30), flip=st.booleans(),
)  # fmt: skip
def test_the_box_of_an_object_is_where_its_pixels_are(name, x, y, height, turn, flip):
    plain, with_object = (Canvas(art(), 800, 600, "#ff00ff") for _ in range(2))
    box = with_object.place(name, x, y, height, turn=turn, flip=flip, shadow=False)
    seen = (
        ImageChops.difference(pixels(plain.png()), pixels(with_object.png()))
        .convert("L")
        .point(lambda v: 255 * (v > 8))
    )
    found = seen.getbbox()
    assert found is not None
    assert overlap(box, found) >= 0.9


def test_the_box_of_a_drawing_is_where_its_pixels_are(kit):
    canvas = Canvas(kit, 800, 600, "#ff00ff")
    look = items_price.Pack(brand="Acme", name="Oat Flakes", shape="bottle")
    box = items_price.pack(canvas, random.Random(1), 400, 500, 200, 300, look)
    assert overlap(box, (300, 200, 500, 500)) >= 0.9


def test_every_face_writes_with_its_own_font(kit):
    widths = set()
    for face in FACES:
        canvas = Canvas(kit, 900, 100)
        canvas.text("Hamburgefonstiv", 10, 70, 60, face=face)
        box = ImageChops.invert(pixels(canvas.png()).convert("L")).point(lambda v: 255 * (v > 60)).getbbox()
        assert box is not None, face
        assert abs((box[2] - box[0]) - kit.width("Hamburgefonstiv", 60, face)) < 14, face
        widths.add(box)
    assert len(widths) == len(FACES)


def test_a_line_is_made_smaller_until_it_fits(kit):
    canvas = Canvas(kit, 800, 200)
    left, _, right, _ = canvas.text("a rather long line of writing", 10, 100, 80, width=300)
    assert right - left <= 301


@pytest.mark.slow
def test_the_same_dice_give_the_same_bytes_and_others_other_ones(kit):
    def drawn(seed: int) -> bytes:
        canvas = Canvas(kit, 800, 600)
        rng = random.Random(seed)
        backdrops.outdoors(canvas, rng)
        canvas.place("fox", 400, 500, 150)
        canvas.light(rng)
        return canvas.png()

    assert_same_bytes(drawn(1), drawn(1), "drawn twice")
    assert sha256(drawn(1)).digest() != sha256(drawn(2)).digest()
