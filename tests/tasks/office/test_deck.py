"""Slides as sheets of marks: words where LibreOffice puts them, shapes, tables and charts by name."""

import io
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR
from pptx.util import Inches, Pt

from m3bench.tasks.office import picture, reading
from m3bench.tasks.office.chart_data import Axis
from m3bench.tasks.office.marks import Inset, PrintedSheet, Surface, Typeface
from m3bench.tasks.office.scales import scale
from tests.pictures import encoded


@pytest.fixture
def deck() -> Any:
    return Presentation()


def blank(deck: Any) -> Any:
    return deck.slides.add_slide(deck.slide_layouts[6])


def sheets(deck: Any) -> list[PrintedSheet]:
    file = io.BytesIO()
    deck.save(file)
    return reading.sheets("deck.pptx", file.getvalue())


def boxed(slide: Any, words: str, size: float = 20, face: str = "Calibri", wide: float = 72) -> Any:
    shape = slide.shapes.add_textbox(Pt(10), Pt(50), Pt(wide), Pt(100))
    shape.text_frame.word_wrap = True
    run = shape.text_frame.paragraphs[0].add_run()
    run.text, run.font.name, run.font.size = words, face, Pt(size)
    return shape


@pytest.mark.parametrize(
    ("face", "width"), [("Calibri", 43.05), ("Arial", 50.13), ("Times New Roman", 49.11), ("Courier New", 48.03)]
)
def test_a_word_is_as_wide_and_stands_as_libreoffice_has_it(deck: Any, face: str, width: float) -> None:
    """The numbers are those of LibreOffice 7.4's PDF, in points."""
    boxed(blank(deck), "HxgH\nHxgH", face=face)
    first, second = sheets(deck)[0].words()
    assert first.width * 0.75 == pytest.approx(width, abs=0.3)
    assert (first.x * 0.75, first.y * 0.75) == pytest.approx((17.1, 73.5), abs=0.3)
    assert (second.y - first.y) * 0.75 == pytest.approx(24.01, abs=0.05)


def test_lines_end_at_the_box_and_what_is_too_long_sticks_out_of_it(deck: Any) -> None:
    boxed(blank(deck), "one two three four five six seven", wide=120)
    words = list(sheets(deck)[0].words())
    assert len({word.y for word in words}) == 4
    assert all(word.x + word.width <= (10 + 120 - 7.2) / 0.75 + 0.1 for word in words)
    assert max(word.box[3] for word in words) < 160 / 0.75
    boxed(blank(deck), "word " * 40, wide=120)
    assert max(word.box[3] for word in sheets(deck)[1].words()) > 160 / 0.75


def test_letters_are_made_smaller_where_the_box_says_so(deck: Any) -> None:
    shape = boxed(blank(deck), "word " * 40, wide=120)
    shape.text_frame._txBody.bodyPr.get_or_change_to_normAutofit()
    words = list(sheets(deck)[0].words())
    assert max(word.box[3] for word in words) <= 150 / 0.75 + 1
    assert words[0].face.size < 20 / 0.75


def test_placeholders_take_place_size_and_bullets_from_their_layout(deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "A title"
    slide.placeholders[1].text_frame.text = "A point"
    sheet = sheets(deck)[0]
    assert [word.text for word in sheet.words()] == ["A", "title", "•", "A", "point"]
    assert {round(word.face.size * 0.75) for word in sheet.words("Title 1")} == {44}
    title = list(sheet.words("Title 1"))
    assert title[0].x + title[-1].x + title[-1].width == pytest.approx(960, abs=2), "it is centred"


def test_a_shape_has_its_outline_its_colour_and_its_writing_in_the_middle(deck: Any) -> None:
    slide = blank(deck)
    shape = slide.shapes.add_shape(MSO_SHAPE.OVAL, Inches(1), Inches(1), Inches(3), Inches(2))
    shape.fill.solid()
    shape.fill.fore_color.rgb = RGBColor(10, 120, 60)
    shape.text_frame.text = "Here"
    shape.text_frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    sheet = sheets(deck)[0]
    (area,) = (mark for mark in sheet.marks if isinstance(mark, Surface))
    assert area.fill == (10, 120, 60)
    assert area.box == pytest.approx((96, 96, 384, 288), abs=0.5)
    (word,) = sheet.words("Oval 1")
    assert word.face.colour == (255, 255, 255)
    assert (word.box[1] + word.box[3]) / 2 == pytest.approx(192, abs=6)
    seen = picture.painted(sheet)
    assert seen.getpixel((130, 192)) == (10, 120, 60)
    assert seen.getpixel((100, 100)) == (255, 255, 255), "the corner lies outside of the oval"


def test_a_row_of_a_table_grows_with_its_text(deck: Any) -> None:
    table = blank(deck).shapes.add_table(2, 2, Inches(1), Inches(1), Inches(3), Inches(0.8)).table
    table.cell(0, 0).text, table.cell(1, 1).text = "Head", "a text that needs several lines in such a cell"
    sheet = sheets(deck)[0]
    first, last = sheet.boxes["Table 1 1,1"], sheet.boxes["Table 1 2,2"]
    assert first[3] - first[1] == pytest.approx(0.4 * 96, abs=0.5)
    assert last[3] - last[1] > 60
    assert all(last[1] < word.y < last[3] for word in sheet.words() if word.text != "Head")


def test_a_picture_lies_where_it_is_put(deck: Any) -> None:
    data = io.BytesIO(encoded(Image.new("RGB", (40, 20), (200, 30, 30)), "PNG"))
    blank(deck).shapes.add_picture(data, Inches(2), Inches(1), Inches(4))
    sheet = sheets(deck)[0]
    (photo,) = (mark for mark in sheet.marks if isinstance(mark, Inset))
    assert photo.box == pytest.approx((192, 96, 576, 288))
    assert picture.painted(sheet, 0.5).getpixel((100, 60)) == (200, 30, 30)


@pytest.mark.parametrize("kind", ["COLUMN_CLUSTERED", "BAR_CLUSTERED", "LINE", "PIE"])
def test_a_chart_says_its_figures_names_and_title(deck: Any, kind: str) -> None:
    data = CategoryChartData()
    data.categories = ["North", "South", "West"]
    data.add_series("Sales", [12, 42, 30])
    spot = (Inches(1), Inches(1), Inches(6), Inches(4))
    chart = blank(deck).shapes.add_chart(XL_CHART_TYPE[kind], *spot, data).chart
    chart.has_legend, chart.has_title = True, True
    chart.chart_title.text_frame.text = "What was sold"
    sheet = sheets(deck)[0]
    words = {word.text for word in sheet.words()}
    assert {"North", "South", "West", "What", "was", "sold"} <= words
    assert kind == "PIE" or {"0", "5", "45", "Sales"} <= words, "as LibreOffice numbers the axis"
    assert all(word.box[0] >= 96 and word.box[2] <= 96 * 7 for word in sheet.words())


def test_the_bars_of_a_chart_are_as_long_as_their_figures(deck: Any) -> None:
    data = CategoryChartData()
    data.categories = ["a", "b"]
    data.add_series("x", [10, 40])
    blank(deck).shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(6), Inches(4), data)
    short, long = (mark.box for mark in sheets(deck)[0].marks if isinstance(mark, Surface) and mark.fill)
    assert (long[3] - long[1]) / (short[3] - short[1]) == pytest.approx(4, rel=0.01)
    assert long[3] == pytest.approx(short[3])


def test_an_axis_is_numbered_in_round_steps_beyond_the_largest_figure() -> None:
    axis = Axis(title_face=Typeface(), face=Typeface())
    for largest, last in ((88, 100), (60, 70), (42, 45)):
        assert scale(0, largest, axis, 400, 24).most == last, "as in LibreOffice"


def test_what_is_not_drawn_is_named(deck: Any) -> None:
    slide = blank(deck)
    slide.shapes.add_shape(MSO_SHAPE.SMILEY_FACE, 0, 0, Inches(1), Inches(1))
    boxed(slide, "odd", face="Papyrus")
    unknown = " ".join(sheets(deck)[0].unknown)
    assert "smileyFace" in unknown
    assert "Papyrus" in unknown
    boxed(blank(deck), "plain")
    assert sheets(deck)[1].unknown == ()


def test_text_that_is_not_broken_grows_to_both_sides_of_its_box(deck: Any) -> None:
    shape = boxed(blank(deck), "much wider than the box is", wide=60)
    shape.text_frame.word_wrap = False
    words = list(sheets(deck)[0].words())
    assert len({word.y for word in words}) == 1
    assert words[0].x + words[-1].x + words[-1].width == pytest.approx(2 * 40 / 0.75, abs=1)
