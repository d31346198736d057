"""Pen marks are told by colour and shape: what has the colour and is no line is no mark."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw

from m3bench.server.lab.headless.agents.pen_marks import (
    Pixels,
    arrow_tips,
    count_strokes,
    dashed_frame,
    is_cross,
    lines,
    loops,
    painted_over,
    pen_mask,
    ticked_squares,
)
from m3bench.server.lab.headless.agents.picture_look import NotSeen, closest, closest_name, first_number
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.scene import Box

SIZE = (640, 420)
THING = (200.0, 120.0, 360.0, 260.0)
CAR = (420, 300, 600, 380)


def drawn(*marks: Callable[[Canvas, random.Random], None], seed: int = 1) -> Pixels:
    """A pale picture with a red car, and marks on it."""
    image = Image.new("RGBA", SIZE, "#e8e4da")
    brush = ImageDraw.Draw(image)
    brush.rounded_rectangle(CAR, 24, fill=pen.RED)
    brush.rectangle((450, 315, 500, 345), fill="#c8e0f0")
    canvas = Canvas(Outline(), *SIZE)
    for mark in marks:
        mark(canvas, random.Random(seed))
    if canvas._waiting:
        image.alpha_composite(canvas._render(canvas._waiting))
    return np.asarray(image.convert("RGB"))


def ring(box: Box, colour: str = pen.RED) -> Callable[[Canvas, random.Random], None]:
    return lambda canvas, rng: pen.loop(canvas, rng, box, colour)


def around(found: Box, box: Box, off: float = 22) -> bool:
    """Whether a loop encloses a box, and little else."""
    return all(abs(one - other) < off for one, other in zip(found, box, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_a_ring_is_found_and_a_red_car_is_none(seed: int) -> None:
    (found,) = loops(drawn(ring(THING), seed=seed), "red")
    assert around(found.box, THING)
    assert loops(drawn(), "red") == []


def test_a_ring_around_a_red_car_is_found() -> None:
    box: Box = tuple(map(float, CAR))  # type: ignore[assignment]
    (found,) = loops(drawn(ring(box)), "red")
    assert around(found.box, box)


def test_rings_are_told_by_their_colours() -> None:
    other = (30.0, 30.0, 120.0, 100.0)
    image = drawn(ring(THING), ring(other, pen.BLUE))
    assert [around(mark.box, THING) for mark in loops(image, "red")] == [True]
    assert [around(mark.box, other) for mark in loops(image, "blue")] == [True]
    assert loops(image, "green") == []


def test_a_ring_that_another_one_covers_in_part_is_found() -> None:
    beside = (372.0, 120.0, 470.0, 260.0)
    (found,) = loops(drawn(ring(THING), ring(beside, pen.GREEN)), "red")
    assert around(found.box, THING, off=30)


def test_rings_come_row_by_row_from_the_left() -> None:
    boxes = [(300.0, 40.0, 380.0, 100.0), (60.0, 60.0, 140.0, 110.0), (60.0, 250.0, 140.0, 320.0)]
    found = loops(drawn(*map(ring, boxes)), "red")
    assert [around(mark.box, box) for mark, box in zip(found, (boxes[1], boxes[0], boxes[2]), strict=True)] == [
        True
    ] * 3


def test_a_tick_is_no_cross() -> None:
    for seed in range(5):
        image = drawn(
            lambda canvas, rng: pen.tick(canvas, rng, 100, 100, 34, pen.RED),
            lambda canvas, rng: pen.cross(canvas, rng, 100, 200, 28, pen.RED),
            seed=seed,
        )
        tick, cross = sorted(
            (mark for mark in lines(image, "red") if mark.size[0] < 60), key=lambda mark: mark.middle[1]
        )
        assert (is_cross(tick.mask), is_cross(cross.mask)) == (False, True)


@pytest.mark.parametrize("count", range(1, 10))
def test_strokes_are_counted_by_fives(count: int) -> None:
    for seed in range(3):
        image = drawn(lambda canvas, rng: pen.strokes(canvas, rng, 60, 200, count, pen.RED), seed=seed)
        assert count_strokes(image, "red", (30, 140, 360, 230)) == count


@pytest.mark.parametrize("ringed", [False, True])
@pytest.mark.parametrize("aside", [-1, 1])
def test_an_arrow_points_at_its_tip_also_into_a_ring(aside: int, ringed: bool) -> None:
    left, _, right, bottom = THING
    tip = ((right if aside > 0 else left) - 16 * aside, bottom - 16)

    def arrow(canvas: Canvas, rng: random.Random) -> None:
        pen.arrow(canvas, rng, tip, (tip[0] + 84 * aside, tip[1] + 74))

    for seed in range(4):
        (found,) = arrow_tips(drawn(*((ring(THING), arrow) if ringed else (arrow,)), seed=seed))
        assert abs(found[0] - tip[0]) < 14
        assert abs(found[1] - tip[1]) < 14


def test_a_ring_alone_is_no_arrow() -> None:
    for seed in range(4):
        assert arrow_tips(drawn(ring(THING), seed=seed)) == []


def test_a_square_with_a_tick_is_told_from_an_empty_one() -> None:
    image = Image.new("RGB", SIZE, "white")
    brush = ImageDraw.Draw(image)
    feet = [80 + 43 * number for number in range(6)]
    for y in feet:
        brush.rectangle((100, y - 27, 130, y + 3), outline="#6b7280", width=3)
        brush.text((160, y - 20), "writing beside it", fill="black")
    for y in (feet[1], feet[4]):
        brush.line([(106, y - 16), (113, y - 4), (128, y - 28)], fill="#1d3f8f", width=4)
    left, ticked = ticked_squares(np.asarray(image), feet)
    assert abs(left - 100) < 4
    assert ticked == [feet[1], feet[4]]


def test_an_empty_field_is_found_by_its_dashes() -> None:
    image = Image.new("RGB", (900, 500), "#f4f4f0")
    brush = ImageDraw.Draw(image)
    for y in (300, 420):
        for x in range(120, 800, 26):
            brush.rectangle((x, y - 2, x + 15, y + 1), fill="#22262e")
    found = dashed_frame(np.asarray(image))
    assert found is not None
    box, ink = found
    assert around(box, (120, 300, 796, 420), off=14)
    assert max(ink) < 80
    assert dashed_frame(np.asarray(Image.new("RGB", (900, 500), "#f4f4f0"))) is None


def test_a_line_is_painted_over_with_what_lies_beside_it() -> None:
    image = drawn(ring(THING))
    clean = painted_over(image, pen_mask(image, "red"))
    assert loops(clean, "red") == []


def test_a_name_is_known_in_spite_of_a_wrong_letter() -> None:
    names = ["Great Basin", "Great Sand Dunes", "Grand Canyon", "Everglades"]
    assert closest_name("Greaf Sand Dunes\nNational Park & Preserve", names) == "Great Sand Dunes"
    many = [f"Place {number}" for number in range(200)] + names
    assert closest_name("EVERGLADE5", many) == "Everglades"
    with pytest.raises(NotSeen, match="nothing is called"):
        closest_name("zzz qqq", names)


def test_all_phrases_of_a_thing_speak_for_it() -> None:
    sold = [("Zyrtec", "cetirizine"), ("Zantac", "ranitidine"), ("Allegra", "fexofenadine")]
    assert closest("Zytec\nCetirizine hydrochloride", sold, lambda pair: pair) == sold[0]


def test_a_number_is_read_before_its_unit() -> None:
    assert first_number("no 3\n62 cm", r"\d+(?=\s*cm)") == 62
    with pytest.raises(NotSeen, match="no number"):
        first_number("none")
