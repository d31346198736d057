"""A presentation is judged by what its slides show, a picture by what was to stay as it is, a folder by its files."""

import pytest
from PIL import Image, ImageDraw, ImageFilter
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from m3bench.tasks.answers.base import AnswerContext
from m3bench.tasks.answers.files import File, FolderHas
from m3bench.tasks.answers.office import DeckChart, DeckShows
from m3bench.tasks.checks import DeckHas, Evidence, PictureChanged

PERSON, OTHER = (20, 20, 60, 80), (120, 30, 180, 90)


def picture() -> Image.Image:
    image = Image.new("RGB", (200, 120), "white")
    draw = ImageDraw.Draw(image)
    for x in range(0, 200, 4):
        draw.line((x, 0, x, 120), fill="black")
    return image


def blurred(*boxes: tuple[int, int, int, int]) -> Image.Image:
    image = picture()
    for box in boxes:
        image.paste(image.crop(box).filter(ImageFilter.GaussianBlur(8)), box[:2])
    return image


@pytest.fixture
def evidence(tmp_path):
    (tmp_path / "media").mkdir()
    picture().save(tmp_path / "media" / "a.png")
    return Evidence(answer="", workspace=tmp_path)


def deck(evidence, image, *texts):
    file = evidence.workspace / "shown.png"
    image.save(file)
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "\n".join(texts)
    slide.shapes.add_picture(str(file), Inches(1), Inches(1))
    made.save(str(evidence.workspace / "made.pptx"))


@pytest.mark.parametrize(
    ("boxes", "reason"),
    [
        ((PERSON,), None),
        ((), "in the picture on the slide nothing is changed where something had to be"),
        ((OTHER,), "in the picture on the slide nothing is changed where something had to be"),
        ((PERSON, OTHER), "in the picture on the slide something else is changed too"),
    ],
)
def test_the_slide_must_show_the_picture_changed_where_it_was_asked_for(evidence, boxes, reason):
    deck(evidence, blurred(*boxes))
    assert DeckShows(source="media/a.png", boxes=(PERSON,)).problem(evidence) == reason


def test_another_picture_on_the_slide_is_not_it(evidence):
    deck(evidence, Image.new("RGB", (90, 90), "red"))
    assert DeckShows(source="media/a.png", boxes=(PERSON,)).problem(evidence)


def test_a_thing_may_be_named_in_any_of_its_words(evidence):
    deck(evidence, picture(), "Week 12", "a deep hole")
    assert DeckHas(texts=("week 12",), one_of=(("open pit", "hole"),)).problem(evidence) is None
    assert DeckHas(one_of=(("open pit", "hole"), ("open fire", "flames"))).problem(evidence) == "'open fire' not in it"


def test_what_was_to_stay_sharp_is_not_blurred(evidence):
    check = PictureChanged(source="media/a.png", pattern="*.png", boxes=(OTHER,), margin=2000, kept=(PERSON,))
    blurred(OTHER).save(evidence.workspace / "made.png")
    assert check.problem(evidence) is None
    blurred(OTHER, PERSON).save(evidence.workspace / "made.png")
    assert check.problem(evidence) == "a part is changed that should stay as it is"


def test_a_chart_on_a_slide_is_judged_by_its_numbers(evidence):
    check = DeckChart(values=(3.0, 1.5, 2.0))
    deck(evidence, picture())
    assert check.problem(evidence) == "there is no chart"
    made = Presentation()
    data = CategoryChartData()
    data.categories = ["a", "b", "c"]
    data.add_series("points", (1.5, 2.0, 3.0))
    frame = (XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data)
    made.slides.add_slide(made.slide_layouts[5]).shapes.add_chart(*frame)
    made.save(str(evidence.workspace / "made.pptx"))
    assert check.problem(evidence) is None
    assert DeckChart(values=(1.5, 2.0)).problem(evidence) == "no chart shows the numbers"


def test_a_folder_is_judged_by_the_files_in_it(evidence):
    papers = File(form="pdf", value="./owls", holds=(FolderHas(folder="owls", names=("2401.1", "2402.2")),))
    folder = evidence.workspace / "notes" / "owls"
    folder.mkdir(parents=True)
    (folder / "2401.1v2.pdf").write_bytes(b"%PDF-1.4")
    asked = AnswerContext(evidence=evidence)
    assert papers.problem("notes/owls", asked) == "2402.2 not in owls"
    (folder / "2402.2.pdf").write_bytes(b"not found")
    assert papers.problem("notes/owls", asked) == "2402.2 not in owls"
    (folder / "2402.2.pdf").write_bytes(b"%PDF-1.7")
    assert papers.problem("notes/owls", asked) is None
    assert papers.described == "folder with .pdf files: its path"


def test_a_mark_counts_in_the_colour_that_was_asked_for(evidence):
    check = PictureChanged(source="media/a.png", pattern="*.png", boxes=(OTHER,), colour=(255, 0, 0))
    for drawn, reason in (("#e01020", None), ("blue", "something is drawn in another colour")):
        image = picture()
        ImageDraw.Draw(image).ellipse(OTHER, outline=drawn, width=4)
        image.save(evidence.workspace / "made.png")
        assert check.problem(evidence) == reason


def test_a_dot_does_not_make_a_person_unrecognisable(evidence):
    check = PictureChanged(source="media/a.png", pattern="*.png", boxes=(PERSON,), least=0.02)
    image = picture()
    ImageDraw.Draw(image).rectangle((30, 30, 34, 34), fill="red")
    image.save(evidence.workspace / "made.png")
    assert check.problem(evidence) == "nothing is changed where something had to be"
    blurred(PERSON).save(evidence.workspace / "made.png")
    assert check.problem(evidence) is None
