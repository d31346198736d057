"""A phone's photographs: what is noted stays where it is to be seen, and the same dice give the same bytes."""

import io
import random

import pytest
from PIL import Image

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.render.shapes import rect
from tests.art import art
from tests.pictures import assert_same_bytes
from tests.tasks.render.test_canvas import overlap


def taken(seed: str, drawn: bool = True) -> Snapshot:
    canvas = Canvas(art() if drawn else Outline(), 800, 600, "#d8d8d0")
    canvas.thing("box", rect(120, 90, 160, 220, "#1030c0"))
    canvas.thing("jar", rect(520, 380, 130, 100, "#1030c0"))
    canvas.text("Hello there", 300, 60, 30)
    return snapshot(canvas, random.Random(seed))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_boxes_are_where_things_are_in_the_photograph(seed: str) -> None:
    shot = taken(seed)
    with Image.open(io.BytesIO(shot.data)) as image:
        red, _, blue = image.convert("RGB").split()
    for thing in shot.scene.objects:
        left, top, right, bottom = (round(side) for side in thing.box)
        around = (left - 12, top - 12, right + 12, bottom + 12)
        lit = [part.crop(around).point(test) for part, test in ((red, _dark), (blue, _bright))]
        both = Image.composite(lit[0], Image.new("L", lit[0].size), lit[1])
        seen = both.getbbox()
        assert seen is not None
        moved = (seen[0] + around[0], seen[1] + around[1], seen[2] + around[0], seen[3] + around[1])
        assert overlap(thing.box, moved) >= 0.93


def _dark(value: int) -> int:
    return 255 * (value < 90)


def _bright(value: int) -> int:
    return 255 * (value > 100)


@pytest.mark.slow
def test_the_same_dice_give_the_same_bytes_and_others_another_photograph() -> None:
    assert_same_bytes(taken("a").data, taken("a").data, "a")
    assert taken("a").data != taken("b").data


def test_what_is_only_laid_out_has_its_boxes_at_the_same_places() -> None:
    shot, outline = taken("a"), taken("a", drawn=False)
    assert outline.data == b""
    assert [one.label for one in outline.scene.objects] == [one.label for one in shot.scene.objects]
    for one, other in zip(shot.scene.objects, outline.scene.objects, strict=True):
        assert overlap(one.box, other.box) >= 0.8


def test_straight_photographs_show_nearly_everything() -> None:
    canvas = Canvas(Outline(), 800, 600)
    canvas.note("box", (10, 10, 100, 100))
    (one,) = snapshot(canvas, random.Random(1), tilt=0).scene.objects
    assert overlap(one.box, (10, 10, 100, 100)) >= 0.85
