"""Marks in a picture count by where they are and by their colour."""

import pytest
from PIL import Image, ImageDraw, ImageFilter

from m3bench.tasks.answers.drawings import PictureMarked, PictureToned
from m3bench.tasks.checks import Evidence

ONE, TWO, THREE = (40, 60, 140, 160), (400, 60, 500, 120), (380, 260, 520, 340)
RED = (255, 0, 0)


@pytest.fixture
def evidence(tmp_path):
    (tmp_path / "media").mkdir()
    Image.new("RGB", (600, 400), "#cfe0b0").save(tmp_path / "media" / "a.png")
    return Evidence(answer="", workspace=tmp_path)


def draw(evidence):
    image = Image.new("RGB", (600, 400), "#cfe0b0")
    return image, ImageDraw.Draw(image)


def problem(evidence, image, **wanted):
    image.save(evidence.workspace / "drawn.png")
    return PictureMarked(source="media/a.png", pattern="drawn.png", colour=RED, **wanted).run(evidence).reason


def test_a_line_leads_from_thing_to_thing_whether_it_begins_in_the_middle_or_at_the_edge(evidence):
    for ends in ((90, 110, 450, 90), (145, 105, 395, 92)):
        image, pen = draw(evidence)
        pen.line(ends, fill=(230, 20, 10), width=5)
        assert not problem(evidence, image, lines=((ONE, TWO),))


@pytest.mark.parametrize(
    ("ends", "colour"),
    [((450, 100, 450, 300), RED), ((90, 110, 450, 90), (0, 0, 255)), ((90, 110, 200, 105), RED)],
    ids=["between others", "in another colour", "too short"],
)
def test_a_line_elsewhere_in_another_colour_or_too_short_is_missing(evidence, ends, colour):
    image, pen = draw(evidence)
    pen.line(ends, fill=colour, width=5)
    assert "missing" in problem(evidence, image, lines=((ONE, TWO),))


def test_a_ring_may_be_round_or_square_or_cut_off_by_the_edge(evidence):
    image, pen = draw(evidence)
    pen.ellipse((20, 40, 160, 180), outline=RED, width=4)
    pen.rectangle((390, 50, 510, 130), outline=RED, width=4)
    pen.ellipse((350, 200, 550, 400), outline=RED, width=4)
    assert not problem(evidence, image, rings=(ONE, TWO, THREE))


def test_a_name_on_a_thing_is_no_ring_and_a_ring_around_everything_is_one_too_many(evidence):
    image, pen = draw(evidence)
    pen.text((60, 100), "zebra zebra", fill=RED)
    pen.text((430, 100), "fox", fill=RED)
    assert "rings" in problem(evidence, image, rings=(ONE,))
    pen.ellipse((20, 40, 160, 180), outline=RED, width=4)
    assert not problem(evidence, image, rings=(ONE,), bare=(TWO, THREE), labels=(ONE, TWO))
    assert "no mark" in problem(evidence, image, labels=(ONE, THREE))
    pen.ellipse((380, 20, 520, 160), outline=RED, width=4)
    assert "something else" in problem(evidence, image, rings=(ONE,), bare=(TWO, THREE))


def test_somebody_is_hidden_by_a_blur_or_a_bar_and_not_by_a_dot_or_a_blurred_head(evidence):
    person, head = (200, 100, 260, 260), (200, 100, 260, 140)
    plain, pen = draw(evidence)
    for y in range(100, 260, 12):
        pen.rectangle((205, y, 255, y + 5), fill="black")
    plain.save(evidence.workspace / "media" / "a.png")
    for part, hidden in ((person, True), (head, False)):
        image = plain.copy()
        image.paste(image.crop(part).filter(ImageFilter.GaussianBlur(12)), part[:2])
        assert (not problem(evidence, image, hidden=(person,))) is hidden
    for bar, hidden in ((person, True), ((225, 110, 235, 120), False)):
        image = plain.copy()
        ImageDraw.Draw(image).rectangle(bar, fill="black")
        assert (not problem(evidence, image, hidden=(person,))) is hidden


@pytest.mark.parametrize(
    ("shades", "tone"),
    [
        (((40, 40, 41), (200, 200, 200)), "grayscale"),
        (((60, 50, 35), (240, 214, 170)), "sepia"),
        (((60, 50, 35), (90, 140, 60)), "colours"),
    ],
)
def test_a_tone_is_told_from_others(evidence, shades, tone):
    image = Image.new("RGB", (60, 40), shades[0])
    image.paste(shades[1], (0, 0, 30, 40))
    image.save(evidence.workspace / "toned.png")
    for one in ("grayscale", "sepia"):
        assert PictureToned(pattern="toned.png", tone=one).run(evidence).passed is (one == tone)
