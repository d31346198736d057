"""A sheet draws in its units, mixes colours by opacity, and stays within the picture."""

from PIL import Image

from m3bench.tasks.drawing.fonts import plain_font, regular, writable
from m3bench.tasks.drawing.sheet import Sheet, blend
from tests.pictures import colour

RED, WHITE = (255, 0, 0), (255, 255, 255)


def sheet(scale: int = 1) -> Sheet:
    return Sheet(Image.new("RGB", (40 * scale, 30 * scale), "white"), scale)


def test_units_are_as_many_pixels_as_the_scale_says() -> None:
    drawn = sheet(2)
    drawn.box(10, 5, 20, 15, RED)
    assert drawn.image.getbbox() == (0, 0, 80, 60)
    assert [colour(drawn.image, x, 20) for x in (19, 20, 40, 41)] == [WHITE, RED, RED, WHITE]


def test_half_opaque_shapes_let_the_ground_through() -> None:
    drawn = sheet()
    drawn.box(0, 0, 9, 9, RED, 0.5)
    drawn.oval(20, 15, 6, 6, RED, 0.5)
    drawn.polygon([(30, 20), (39, 20), (39, 29), (30, 29)], RED, 0.5)
    assert {colour(drawn.image, *at) for at in ((5, 5), (20, 15), (35, 25))} == {(255, 127, 127)}


def test_a_round_box_lacks_its_corners_and_nothing_else() -> None:
    drawn = sheet()
    drawn.box(5, 5, 34, 24, RED, corner=6)
    assert [colour(drawn.image, *at) for at in ((5, 5), (34, 24), (5, 14), (20, 5), (20, 14))] == [
        WHITE, WHITE, RED, RED, RED,
    ]  # fmt: skip


def test_an_arc_runs_clockwise_and_over_the_right_hand_side_where_it_must() -> None:
    drawn = sheet()
    drawn.arc(20, 15, 12, 300, 60, RED, 3)
    assert colour(drawn.image, 30, 15) == RED
    assert colour(drawn.image, 10, 15) == WHITE


def test_shapes_outside_of_the_picture_are_left_out() -> None:
    drawn = sheet()
    drawn.box(-20, -20, -1, -1, RED)
    drawn.box(20, 20, 10, 10, RED)
    drawn.oval(100, 100, 5, 5, RED)
    drawn.line([(-10, -10), (-10, 40)], RED, 4)
    assert drawn.image.getcolors() == [(1200, WHITE)]


def test_writing_is_drawn_in_known_fonts() -> None:
    for letters in (regular(14), plain_font(14)):
        drawn = sheet()
        drawn.text(20, 15, "Ag", letters, (0, 0, 0), anchor="mm", stroke=1, halo=RED)
        assert {WHITE, RED, (0, 0, 0)} <= {found for _, found in drawn.image.getcolors(1000) or ()}
    assert writable("Łódź, Straße, Ærø") == "Lodz, Strasse, Æro"


def test_a_blend_begins_and_ends_with_its_colours() -> None:
    assert [blend((0, 10, 20), (100, 10, 0), share) for share in (0, 0.5, 1)] == [
        (0, 10, 20), (50, 10, 10), (100, 10, 0),
    ]  # fmt: skip
