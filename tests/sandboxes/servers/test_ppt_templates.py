"""Slide templates, colour schemes and generated outlines of the `ppt` server."""

from itertools import combinations
from typing import Any

import pytest
from PIL import ImageFont
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_FILL
from pptx.util import Emu, Pt

from m3bench.sandboxes.servers.ppt.blueprints import templates
from m3bench.sandboxes.servers.ppt.colours import SCHEMES, contrast
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import box, call, deck_with, picture, refused, saved, titles, xml

IDS = [
    "title_slide",
    "text_with_image",
    "two_column_text",
    "two_column_text_images",
    "three_column_layout",
    "agenda_slide",
    "chapter_intro",
    "thank_you_slide",
    "timeline_slide",
    "data_table_slide",
    "chart_comparison",
    "full_image_slide",
    "process_flow",
    "quote_testimonial",
    "key_metrics_dashboard",
    "before_after_comparison",
    "team_introduction",
    "minimalist_hero",
    "neon_cyberpunk",
    "nature_organic",
    "interactive_poll",
    "split_screen_comparison",
    "product_showcase",
]
WORDY = "Reimagining the analysis of literature through multimodal models for the preservation of cultural knowledge"


def test_the_templates_are_listed(bench: Bench) -> None:
    listed = call(bench, "list_slide_templates")
    assert [entry["id"] for entry in listed["available_templates"]] == IDS
    assert listed["total_templates"] == 23


def test_a_template_tells_its_roles(bench: Bench) -> None:
    info = call(bench, "get_template_info", template_id="title_slide")
    texts = {entry["role"]: entry for entry in info["elements"] if entry["type"] == "text"}
    assert list(texts) == ["title", "subtitle", "author"]
    assert texts["title"]["position"] == {"left": 0.7, "top": 1.27, "width": 8.4, "height": 2.62}
    assert info["color_schemes"] == list(SCHEMES)
    assert info["background_type"] == "gradient"
    assert refused(bench, "get_template_info", template_id="no") == "Template 'no' not found"


@pytest.mark.sample(6)
@pytest.mark.parametrize("id", IDS)
def test_a_template_shows_all_its_roles_in_every_scheme(bench: Bench, id: str) -> None:
    deck_with(bench)
    schemes = list(SCHEMES) if id == "title_slide" else [list(SCHEMES)[IDS.index(id) % 8]]
    for scheme in schemes:
        answer = call(bench, "create_slide_from_template", template_id=id, color_scheme=scheme)
        applied = answer["template_applied"]
        assert (applied["success"], applied["color_scheme"]) == (True, scheme)
        elements = applied["elements_created"]
        assert len(elements) == len(templates()[id].laid_out())
        assert not [element for element in elements if "error" in element]
    slide = saved(bench).slides[0]
    assert [element["index"] for element in elements if element["type"] == "text"]
    assert slide.shapes.title is not None
    assert slide.shapes.title.text_frame.text


@pytest.mark.sample(6)
@pytest.mark.parametrize("id", IDS)
def test_long_texts_fit_their_boxes(bench: Bench, id: str) -> None:
    deck_with(bench)
    roles = call(bench, "get_template_info", template_id=id)["elements"]
    content = {entry["role"]: WORDY for entry in roles if entry["type"] == "text"}
    call(bench, "create_slide_from_template", template_id=id, content_mapping=content)
    for shape in saved(bench).slides[0].shapes:
        if shape.has_text_frame and shape.text_frame.text == WORDY:
            assert _height(shape) <= shape.height / Pt(1), shape.name


def test_the_content_stands_in_the_slide(bench: Bench) -> None:
    deck_with(bench)
    content = {"title": "Reading", "subtitle": "A study", "author": "A. Author"}
    looks = {"template_id": "title_slide", "color_scheme": "corporate_gray"}
    answer = call(bench, "create_slide_from_template", **looks, content_mapping=content)
    assert answer["message"] == "Created slide 0 using template 'title_slide'"
    slide = saved(bench).slides[0]
    by_role = {entry["role"]: slide.shapes[entry["index"]] for entry in answer["template_applied"]["elements_created"]}
    assert {role: by_role[role].text_frame.text for role in content} == content
    assert slide.shapes.title is not None
    assert slide.shapes.title.text_frame.text == "Reading"
    assert slide.background.fill.type == MSO_FILL.GRADIENT
    assert slide.background.fill.gradient_stops[0].color.rgb == SCHEMES["corporate_gray"].primary
    assert [item.placeholder_format.idx for item in slide.placeholders] == [0], "empty placeholders are gone"


def test_roles_that_were_not_given_leave_nothing_behind(bench: Bench) -> None:
    deck_with(bench)
    call(bench, "create_slide_from_template", template_id="title_slide", content_mapping={"title": "Only"})
    steps = {"title": "Steps", "step_1": "One", "step_2": "Two"}
    answer = call(bench, "create_slide_from_template", template_id="process_flow", content_mapping=steps)
    text = call(bench, "extract_presentation_text")
    assert text["slides_text"][0]["text_content"]["all_text_combined"] == "Only"
    marks = [entry for entry in answer["template_applied"]["elements_created"] if entry["type"] == "shape"]
    assert len(marks) == 3, "a bar beneath the title and two numbered steps"


def test_a_picture_fills_its_frame_without_being_stretched(bench: Bench) -> None:
    picture(bench, size=(400, 100))
    deck_with(bench)
    answer = call(
        bench,
        "create_slide_from_template",
        template_id="full_image_slide",
        content_mapping={"title": "Wide"},
        image_paths={"image": "media/photo.png"},
    )
    entry = next(item for item in answer["template_applied"]["elements_created"] if item["type"] == "image")
    assert entry["enhanced_features"] == ["cropped_to_fill"]
    shape = saved(bench).slides[0].shapes[entry["index"]]
    assert box(shape) == (0, 0, 10, 7.5)
    assert shape.crop_left == shape.crop_right == pytest.approx((1 - (10 / 7.5) / 4) / 2, abs=1e-4)


def test_tables_and_charts_are_made_from_lines(bench: Bench) -> None:
    deck_with(bench)
    rows = "| Region | Sales |\n|---|---|\n| North | 42 |\n| South |"
    call(bench, "create_slide_from_template", template_id="data_table_slide", content_mapping={"table": rows})
    lines = {"chart_left": "A: 1,200\nB: -3.5", "chart_right": "x = 10 %\ny: 20%"}
    call(bench, "create_slide_from_template", template_id="chart_comparison", content_mapping=lines)
    first, second = saved(bench).slides
    table = next(shape.table for shape in first.shapes if shape.has_table)
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Region", "Sales"],
        ["North", "42"],
        ["South", ""],
    ]
    charts = [shape.chart for shape in second.shapes if shape.has_chart]
    assert [list(chart.plots[0].categories) for chart in charts] == [["A", "B"], ["x", "y"]]
    assert [list(chart.plots[0].series[0].values) for chart in charts] == [[1200.0, -3.5], [10.0, 20.0]]


def test_a_template_is_laid_beneath_what_a_slide_has(bench: Bench) -> None:
    deck_with(bench, 1, title="Kept title")
    call(bench, "add_bullet_points", slide_index=0, placeholder_idx=1, bullet_points=["kept"])
    answer = call(bench, "apply_slide_template", slide_index=0, template_id="agenda_slide", color_scheme="warm_red")
    assert answer["message"] == "Applied template 'agenda_slide' to slide 0"
    shapes = list(saved(bench).slides[0].shapes)
    areas = [entry["index"] for entry in answer["template_applied"]["elements_created"] if entry["type"] == "shape"]
    assert areas == [0, 1]
    assert [shape.text_frame.text for shape in shapes[2:]] == ["kept", "Kept title"]


@pytest.mark.slow
def test_templates_suit_other_slide_formats(bench: Bench) -> None:
    deck = saved(deck_with(bench))
    deck.slide_width, deck.slide_height = Emu(12192000), Emu(6858000)
    deck.save(str(bench.folder / "wide.pptx"))
    call(bench, "open_presentation", file_path="wide.pptx")
    call(bench, "create_presentation_from_templates", template_sequence=[{"template_id": id} for id in IDS])
    for slide in saved(bench).slides:
        for shape in slide.shapes:
            if shape.has_text_frame and shape.text_frame.text.strip():
                assert shape.left >= 0, (slide.slide_id, shape.name)
                assert shape.left + shape.width <= 12192000


def test_several_slides_are_made_in_one_call(bench: Bench) -> None:
    deck_with(bench)
    sequence: list[dict[str, Any]] = [
        {"template_id": "title_slide", "content": {"title": "One"}},
        {"template_id": "no_such_thing"},
        {"template_id": "minimalist_hero", "content": {"title": "x" * 40_000}},
        {"template_id": "quote_testimonial", "content": {"quote": "Two", "author": "B"}},
    ]
    answer = call(bench, "create_presentation_from_templates", template_sequence=sequence, presentation_title="Both")
    assert answer["warning"] == "Created presentation with 2 slides, 2 failed"
    assert [entry["position"] for entry in answer["creation_result"]["errors"]] == [1, 2]
    deck = saved(bench)
    assert titles(deck) == ["One", "Two"]
    assert deck.core_properties.title == "Both"
    whole = call(bench, "create_presentation_from_templates", template_sequence=sequence[:1])
    assert (whole["message"], whole["total_slides"]) == ("Created presentation with 1 slides", 3)


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "count"), [("business", 3), ("business", 4), ("business", 5), ("academic", 20), ("creative", 8)]
)
def test_an_outline_has_as_many_slides_as_asked_for(bench: Bench, kind: str, count: int) -> None:
    deck_with(bench)
    answer = call(
        bench,
        "auto_generate_presentation",
        topic="Safe hiking",
        slide_count=count,
        presentation_type=kind,
        include_images=True,
    )
    used = answer["templates_used"]
    assert len(used) == count == len(saved(bench).slides)
    assert (used[0], used[-1]) == ("title_slide", "thank_you_slide")
    assert "chart_comparison" in used
    assert answer["generation_result"]["success"] is True
    deck_with(bench)
    plain = call(bench, "auto_generate_presentation", topic="x", slide_count=count, include_charts=False)
    assert "chart_comparison" not in plain["templates_used"]


def test_the_schemes_are_told_and_can_be_read(bench: Bench) -> None:
    told = call(bench, "apply_professional_design", operation="get_schemes")
    assert told["available_schemes"][:4] == ["modern_blue", "corporate_gray", "elegant_green", "warm_red"]
    assert told["color_types"] == ["primary", "secondary", "accent1", "accent2", "light", "text"]
    for name, colours in told["schemes"].items():
        made = {purpose: RGBColor(*value) for purpose, value in colours.items()}
        white = RGBColor(255, 255, 255)
        assert contrast(made["primary"], white) >= 4.5, name
        assert contrast(made["primary"], made["light"]) >= 4.5, name
        assert contrast(made["text"], made["light"]) >= 7, name
        assert all(one != other for one, other in combinations(SCHEMES[name].series, 2)), name


def test_a_professional_slide_is_styled(bench: Bench) -> None:
    deck_with(bench)
    for kind in ("title", "title_content", "content", "blank"):
        call(
            bench,
            "apply_professional_design",
            operation="professional_slide",
            slide_type=kind,
            color_scheme="elegant_green",
            title="Safety",
            content=["First", "Second"],
        )
    deck = saved(bench)
    assert titles(deck) == ["Safety", "Safety", "Safety", ""]
    assert [shape.text_frame.text for shape in deck.slides[1].placeholders] == ["Safety", "First\nSecond"]
    font = deck.slides[1].shapes.title.text_frame.paragraphs[0].runs[0].font
    assert (font.bold, font.color.rgb) == (True, SCHEMES["elegant_green"].primary)


def test_a_theme_colours_the_deck_or_only_what_comes_later(bench: Bench) -> None:
    deck_with(bench, 1)
    call(bench, "apply_professional_design", operation="theme", color_scheme="warm_red")
    assert [_accent(master) for master in saved(bench).slide_masters] == ["97262C"]
    keep = {"operation": "theme", "color_scheme": "elegant_green", "apply_to_existing": False}
    assert call(bench, "apply_professional_design", **keep)["applied_to_existing"] is False
    call(bench, "add_slide", layout_index=1)
    deck = saved(bench)
    assert [_accent(slide.slide_layout.slide_master) for slide in deck.slides] == ["97262C", "1D5B47"]
    assert [slide.slide_layout.name for slide in deck.slides] == ["Title and Content"] * 2
    numbers = [
        number for master in deck.slide_masters for number in xml(master).xpath("p:sldLayoutIdLst/p:sldLayoutId/@id")
    ] + deck.part._element.xpath(".//p:sldMasterId/@id")
    assert len(set(numbers)) == len(numbers)


def test_a_slide_is_enhanced(bench: Bench) -> None:
    deck_with(bench, 1, title="Title")
    call(bench, "add_bullet_points", slide_index=0, placeholder_idx=1, bullet_points=["a"])
    spot = {"slide_index": 0, "left": 1, "top": 1, "width": 3, "height": 2}
    call(bench, "add_shape", **spot, shape_type="oval", text="x")
    call(bench, "add_chart", **spot, chart_type="bar", categories=["a"], series_names=["s"], series_values=[[1]])
    enhance = {"operation": "enhance", "slide_index": 0, "color_scheme": "nature_earth"}
    answer = call(bench, "apply_professional_design", **enhance)
    assert answer["enhancements_applied"] == ["title", "content", "shapes", "charts"]
    title, body, oval, chart = saved(bench).slides[0].shapes
    scheme = SCHEMES["nature_earth"]
    assert title.text_frame.paragraphs[0].runs[0].font.color.rgb == scheme.primary
    assert body.text_frame.paragraphs[0].runs[0].font.color.rgb == scheme.text
    assert oval.fill.fore_color.rgb == scheme.primary
    assert chart.chart.plots[0].series[0].format.fill.fore_color.rgb == scheme.primary
    only = call(bench, "apply_professional_design", **enhance, enhance_title=False, enhance_charts=False)
    assert only["enhancements_applied"] == ["content", "shapes"]


def _accent(master: Any) -> str:
    relationships = master.part.rels.values()
    theme = next(item.target_part.blob for item in relationships if item.reltype.endswith("/theme"))
    colour = theme.partition(b"<a:accent1>")[2].partition(b'val="')[2][:6]
    return bytes(colour).decode()


def _height(shape: Any) -> float:
    """The height of a shape's text in points, by the widths of another font than the server has in mind."""
    frame = shape.text_frame
    room = (shape.width - frame.margin_left - frame.margin_right) / Pt(1)
    total = (frame.margin_top + frame.margin_bottom) / Pt(1)
    for paragraph in frame.paragraphs:
        run = paragraph.runs[0]
        indent = int(paragraph._p.pPr.get("marL", 0)) / Pt(1) if paragraph._p.pPr is not None else 0
        font = ImageFont.load_default(100)
        lines, used = 1, 0.0
        for word in run.text.split():
            wide = font.getlength(word + " ") / 100 * run.font.size.pt * (1.08 if run.font.bold else 1)
            if used and used + wide > room - indent:
                lines, used = lines + 1, 0.0
            used += wide
        total += lines * run.font.size.pt * 1.2
    return float(total)
