"""A cutting is judged by its pixels: the right part in any tone, and no other part of the same size."""

import random

import pytest
from PIL import Image, ImageDraw, ImageOps

from m3bench.tasks.checks import Evidence, PictureCut

BOX = (120, 80, 220, 180)


@pytest.fixture
def workspace(tmp_path):
    rng = random.Random(1)
    picture = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(picture)
    for _ in range(120):
        x, y, size = rng.randrange(400), rng.randrange(300), rng.randrange(5, 40)
        draw.ellipse((x, y, x + size, y + size), fill=tuple(rng.randrange(256) for _ in range(3)))
    (tmp_path / "media").mkdir()
    picture.save(tmp_path / "media" / "a.png")
    return tmp_path


def verdict(workspace, picture: Image.Image) -> str | None:
    picture.save(workspace / "cut.png")
    check = PictureCut(pattern="cut.png", size=(100, 100), tolerance=5, source="media/a.png", box=BOX)
    return check.problem(Evidence(answer="", workspace=workspace))


def test_the_right_part_is_right_in_another_tone_and_a_few_pixels_off(workspace):
    with Image.open(workspace / "media" / "a.png") as file:
        part, near = file.crop(BOX), file.crop((123, 77, 222, 178))
    framed = part.copy()
    ImageDraw.Draw(framed).rectangle((0, 0, 99, 99), outline="red", width=3)
    for picture in (
        part,
        near,
        ImageOps.grayscale(part),
        ImageOps.colorize(ImageOps.grayscale(part), "#210", "#fed"),
        framed,
    ):
        assert verdict(workspace, picture) is None


def test_another_part_of_the_same_size_is_wrong(workspace):
    with Image.open(workspace / "media" / "a.png") as file:
        other, mirrored = file.crop((20, 150, 120, 250)), ImageOps.mirror(file.crop(BOX))
    assert verdict(workspace, other) == "no picture shows that part"
    assert verdict(workspace, mirrored) == "no picture shows that part"
    assert verdict(workspace, Image.new("RGB", (100, 100), "white")) == "no picture shows that part"
    assert verdict(workspace, Image.new("RGB", (50, 50))) == "no picture of about 100×100 pixels was made"
