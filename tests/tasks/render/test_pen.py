"""What is drawn by hand shows what is meant, hides nothing, and is known to no tool."""

import random
from typing import Any

import pytest
from PIL import Image

from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box
from tests.art import art

BOX: Box = (120, 80, 300, 220)


def reds(image: Image.Image) -> set[tuple[int, int]]:
    """Where a picture is about as red as the pen."""
    pixels = image.convert("RGB")
    found = set()
    for x in range(pixels.width):
        for y in range(pixels.height):
            red, green, blue = pixels.getpixel((x, y))  # type: ignore[misc]
            if red > 180 and green < 120 and blue < 120:
                found.add((x, y))
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_a_loop_goes_around_a_thing_and_not_over_it(seed: int) -> None:
    canvas = Canvas(art(), 420, 300)
    pen.loop(canvas, random.Random(seed), BOX)
    canvas._settle()
    drawn = reds(canvas._image)
    left, top, right, bottom = BOX
    middle, level = (left + right) // 2, (top + bottom) // 2
    assert any(x < left and abs(y - level) < 9 for x, y in drawn)
    assert any(x > right and abs(y - level) < 9 for x, y in drawn)
    assert any(y < top and abs(x - middle) < 9 for x, y in drawn)
    assert any(y > bottom and abs(x - middle) < 9 for x, y in drawn)
    assert not any(left + 18 < x < right - 18 and top + 18 < y < bottom - 18 for x, y in drawn)


@pytest.mark.parametrize("box", [(2, 2, 120, 90), (300, 220, 418, 298)])
def test_a_loop_around_something_at_the_edge_stays_in_the_picture(box: Box) -> None:
    canvas = Canvas(art(), 420, 300)
    pen.loop(canvas, random.Random(3), box)
    drawn = reds(canvas.image())
    assert drawn
    assert all(3 <= x < 417 and 3 <= y < 297 for x, y in drawn)


@pytest.mark.parametrize("colour", pen.OTHERS)
def test_a_line_on_something_dark_has_a_pale_edge(colour: str) -> None:
    def pale(ground: str) -> int:
        canvas = Canvas(art(), 420, 300, ground)
        pen.loop(canvas, random.Random(2), BOX, colour)
        colours: list[tuple[int, Any]] = list(canvas.image().getcolors(420 * 300) or ())
        return sum(count for count, shade in colours if min(shade) > 200)

    assert pale("#12161c") > 1000
    assert pale("#909090") == 0


def test_what_is_circled_is_noted_nowhere() -> None:
    canvas = Canvas(art(), 420, 300)
    canvas.note("book", BOX)
    canvas.text("The one that is meant", 130, 150, 20)
    before = list(canvas._objects), list(canvas._texts)
    dice = random.Random(1)
    pen.circle(canvas, dice, [BOX], [(10, 10, 60, 60)])
    pen.arrow(canvas, dice, (100, 100), (20, 160))
    pen.tick(canvas, dice, 200, 200, 30)
    pen.cross(canvas, dice, 260, 200, 30)
    assert (canvas._objects, canvas._texts) == before


def test_nobody_draws_the_same_loop_twice() -> None:
    drawn = []
    for seed in (1, 1, 2):
        canvas = Canvas(art(), 420, 300)
        pen.loop(canvas, random.Random(seed), BOX)
        drawn.append(canvas.png())
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("count", [3, 4, 5, 9])
def test_strokes_are_as_many_as_they_say(count: int) -> None:
    canvas = Canvas(art(), 420, 120)
    pen.strokes(canvas, random.Random(count), 60, 90, count)
    drawn = " ".join(canvas._waiting)
    assert drawn.count("<path") == count


@pytest.mark.parametrize("seed", range(4))
def test_a_tick_and_a_cross_are_told_apart_by_their_strokes(seed: int) -> None:
    """A tick is one line; the two of a cross meet in its middle."""
    canvas = Canvas(art(), 120, 120)
    pen.tick(canvas, random.Random(seed), 60, 80, 40, pen.RED)
    assert len(canvas._waiting) == 1
    canvas = Canvas(art(), 120, 120)
    pen.cross(canvas, random.Random(seed), 60, 60, 40, pen.RED)
    assert len(canvas._waiting) == 2
    canvas._settle()
    drawn = reds(canvas._image)
    assert any(abs(x - 60) < 6 and abs(y - 60) < 6 for x, y in drawn)
    corners = [any(abs(x - cx) < 14 and abs(y - cy) < 14 for x, y in drawn) for cx in (40, 80) for cy in (40, 80)]
    assert corners == [True] * 4
