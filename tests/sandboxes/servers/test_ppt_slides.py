"""Slides, text and links of the `ppt` server, read back with python-pptx."""

from typing import Any

import pytest
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_FILL
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Pt

from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import box, call, deck_with, refused, saved, xml

LONG = "A sentence of some length that goes on and on. " * 20


def test_backgrounds_are_backgrounds_and_shift_no_shapes(bench: Bench) -> None:
    call(bench, "create_presentation", id="deck")
    colors = [[10, 20, 30], [40, 50, 60]]
    call(bench, "add_slide", layout_index=6, background_type="solid", background_colors=[[250, 240, 230]])
    call(bench, "add_slide", layout_index=6, background_type="gradient", background_colors=colors)
    call(bench, "add_slide", layout_index=6, background_type="professional_gradient", color_scheme="no such scheme")
    call(bench, "add_slide", layout_index=6)
    slides = list(saved(bench).slides)
    assert [slide.background.fill.type for slide in slides[:3]] == [
        MSO_FILL.SOLID,
        MSO_FILL.GRADIENT,
        MSO_FILL.GRADIENT,
    ]
    assert slides[0].background.fill.fore_color.rgb == RGBColor(250, 240, 230)
    assert [stop.color.rgb for stop in slides[1].background.fill.gradient_stops] == [
        RGBColor(10, 20, 30),
        RGBColor(40, 50, 60),
    ]
    assert [len(slide.shapes) for slide in slides] == [0, 0, 0, 0]
    assert slides[3].follow_master_background


def test_text_on_a_dark_background_is_light(bench: Bench) -> None:
    call(bench, "create_presentation", id="deck")
    call(bench, "add_slide", layout_index=5, title="a", background_type="solid", background_colors=[[10, 10, 60]])
    call(bench, "add_slide", layout_index=5, title="b", background_type="solid", background_colors=[[250, 250, 230]])
    dark, light = saved(bench).slides
    assert xml(dark).xpath("p:clrMapOvr/a:overrideClrMapping/@tx1") == ["lt1"]
    assert xml(light).xpath("p:clrMapOvr/a:masterClrMapping")


def test_a_slide_is_described(bench: Bench) -> None:
    deck_with(bench, 1, title="Title")
    call(bench, "manage_text", slide_index=0, operation="add", left=0.5, top=1, width=3, height=2, text="box")
    info = call(bench, "get_slide_info", slide_index=0)
    assert info["layout_name"] == "Title and Content"
    assert info["placeholders"] == [
        {"idx": 0, "type": "TITLE (1)", "name": "Title 1"},
        {"idx": 1, "type": "OBJECT (7)", "name": "Content Placeholder 2"},
    ]
    assert info["shapes"][2] == {
        "index": 2,
        "name": "TextBox 3",
        "shape_type": "TEXT_BOX (17)",
        "left": 457200,
        "top": 914400,
        "width": 2743200,
        "height": 1828800,
    }


def test_the_text_of_a_deck_is_read(bench: Bench) -> None:
    deck_with(bench, 1, 6, 5, title="First")
    call(bench, "add_bullet_points", slide_index=0, placeholder_idx=1, bullet_points=["one", "two"])
    call(bench, "manage_text", slide_index=0, operation="add", text="box")
    data = [["a", "b"], ["", "d"]]
    call(bench, "add_table", slide_index=2, rows=2, cols=2, left=1, top=1, width=4, height=1, data=data)
    slide = call(bench, "extract_slide_text", slide_index=0)
    assert slide["text_content"]["slide_title"] == "First"
    assert slide["text_content"]["all_text_combined"] == "First\none\ntwo\nbox"
    assert [entry["placeholder_idx"] for entry in slide["text_content"]["placeholders"]] == [0, 1]
    assert [entry["text"] for entry in slide["text_content"]["text_shapes"]] == ["box"]
    assert (slide["total_text_shapes"], slide["has_title"], slide["has_tables"]) == (3, True, False)
    table = call(bench, "extract_slide_text", slide_index=2)["text_content"]["table_text"]
    assert table[0]["table_content"] == [{"row": 0, "cells": ["a", "b"]}, {"row": 1, "cells": ["d"]}]
    whole = call(bench, "extract_presentation_text")
    assert (
        whole["all_presentation_text_combined"] == "=== SLIDE 1 ===\nFirst\none\ntwo\nbox\n\n=== SLIDE 3 ===\na\nb\nd"
    )
    assert (whole["total_slides"], whole["slides_with_text"], whole["slides_with_tables"]) == (3, 2, 1)
    assert "layout_name" in whole["slides_text"][0]
    short = call(bench, "extract_presentation_text", include_slide_info=False)
    assert set(short["slides_text"][0]) == {"slide_index", "text_content"}


def test_placeholders_are_filled(bench: Bench) -> None:
    deck_with(bench, 1, 0)
    call(bench, "populate_placeholder", slide_index=0, placeholder_idx=1, text="first\r\nsecond")
    call(bench, "add_bullet_points", slide_index=1, placeholder_idx=1, bullet_points=["a", "b\nstill b"])
    one, two = saved(bench).slides
    assert [paragraph.text for paragraph in one.placeholders[1].text_frame.paragraphs] == ["first", "second"]
    assert [paragraph.text for paragraph in two.placeholders[1].text_frame.paragraphs] == ["a", "b\vstill b"]
    assert xml(two).xpath(".//a:buChar/@char") == ["•", "•"]


def test_long_text_in_a_placeholder_gets_a_size_that_fits(bench: Bench) -> None:
    deck_with(bench, 1, title="A title that is far too long for one line of forty-four points on a slide " * 2)
    call(bench, "populate_placeholder", slide_index=0, placeholder_idx=1, text=LONG)
    title, body = saved(bench).slides[0].placeholders
    assert 10 <= title.text_frame.paragraphs[0].runs[0].font.size.pt < 44
    assert 10 <= body.text_frame.paragraphs[0].runs[0].font.size.pt < 32
    call(bench, "populate_placeholder", slide_index=0, placeholder_idx=1, text="short")
    assert saved(bench).slides[0].placeholders[1].text_frame.paragraphs[0].runs[0].font.size is None


def test_a_text_box_is_added_with_its_looks(bench: Bench) -> None:
    deck_with(bench, 6)
    answer = call(
        bench,
        "manage_text",
        slide_index=0,
        operation="add",
        left=1,
        top=4.5,
        width=8,
        height=1.5,
        text="Hello\nworld",
        font_size=24,
        font_name="Georgia",
        bold=True,
        italic=True,
        underline=True,
        color=[1, 2, 3],
        bg_color=[250, 240, 200],
        alignment="center",
        vertical_alignment="bottom",
    )
    assert answer == {"message": "Added text box to slide 0", "shape_index": 0, "text": "Hello\nworld"}
    shape = saved(bench).slides[0].shapes[0]
    assert box(shape) == (1, 4.5, 8, 1.5)
    assert shape.fill.fore_color.rgb == RGBColor(250, 240, 200)
    assert shape.text_frame.vertical_anchor == MSO_ANCHOR.BOTTOM
    for paragraph in shape.text_frame.paragraphs:
        font = paragraph.runs[0].font
        assert paragraph.alignment == PP_ALIGN.CENTER
        assert (font.size, font.name, font.color.rgb) == (Pt(24), "Georgia", RGBColor(1, 2, 3))
        assert (font.bold, font.italic, font.underline) == (True, True, True)


def test_auto_fit_scales_text_and_keeps_the_size_asked_for(bench: Bench) -> None:
    deck_with(bench, 6)
    for text, fit in ((LONG, True), (LONG, False), ("short", True)):
        call(bench, "manage_text", slide_index=0, operation="add", text=text, font_size=24, auto_fit=fit)
    fitted, plain, short = (xml(shape) for shape in saved(bench).slides[0].shapes)
    assert int(fitted.xpath(".//a:normAutofit/@fontScale")[0]) < 60_000
    assert fitted.xpath(".//a:rPr/@sz") == ["2400"]
    assert plain.xpath(".//a:bodyPr/a:noAutofit")
    assert short.xpath(".//a:normAutofit[not(@fontScale)]")


def test_existing_text_is_formatted(bench: Bench) -> None:
    deck_with(bench, 5, title="Title")
    call(bench, "manage_text", slide_index=0, operation="format", shape_index=0, font_size=20, color=[9, 9, 9])
    run = saved(bench).slides[0].shapes.title.text_frame.paragraphs[0].runs[0]
    assert (run.text, run.font.size, run.font.color.rgb) == ("Title", Pt(20), RGBColor(9, 9, 9))


def test_text_is_set_run_by_run(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "manage_text", slide_index=0, operation="add", text="old")
    runs: list[dict[str, Any]] = [
        {"text": "bold ", "bold": True, "font_size": 20},
        {"text": "red", "color": [255, 0, 0], "hyperlink": "https://example.org"},
        {"text": "\nnext line", "italic": True, "font_name": "Arial"},
    ]
    answer = call(bench, "manage_text", slide_index=0, operation="format_runs", shape_index=0, text_runs=runs)
    assert answer["formatted_runs"] == [{"index": number, **run} for number, run in enumerate(runs)]
    first, second = saved(bench).slides[0].shapes[0].text_frame.paragraphs
    assert [run.text for run in first.runs] == ["bold ", "red", ""]
    assert (first.runs[0].font.bold, first.runs[0].font.size) == (True, Pt(20))
    assert first.runs[1].hyperlink.address == "https://example.org"
    assert (second.text, second.runs[0].font.italic, second.runs[0].font.name) == ("next line", True, "Arial")


def test_text_that_does_not_fit_is_found_and_repaired(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "manage_text", slide_index=0, operation="add", text=LONG, width=7, font_size=28, auto_fit=False)
    seen = call(bench, "manage_text", slide_index=0, operation="validate", shape_index=0, validation_only=True)
    assert (seen["fits"], seen["needs_optimization"], seen["estimated_overflow"]) == (False, True, True)
    assert seen["suggested_dimensions"]["height"] > 2
    assert 8 <= seen["suggested_font_size"] < 28
    assert saved(bench).slides[0].shapes[0].text_frame.paragraphs[0].runs[0].font.size == Pt(28)
    call(bench, "manage_text", slide_index=0, operation="validate", shape_index=0)
    size = saved(bench).slides[0].shapes[0].text_frame.paragraphs[0].runs[0].font.size
    assert size == Pt(seen["suggested_font_size"])
    again = call(bench, "manage_text", slide_index=0, operation="validate", shape_index=0)
    assert (again["fits"], again["warnings"], again["optimizations_applied"]) == (True, [], [])


def test_a_text_is_judged_before_it_is_written(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "manage_text", slide_index=0, operation="add", text="short")
    check = {"slide_index": 0, "operation": "validate", "shape_index": 0, "validation_only": True}
    assert call(bench, "manage_text", **check)["fits"]
    assert not call(bench, "manage_text", **check, text=LONG, font_size=30)["fits"]
    assert call(bench, "extract_slide_text", slide_index=0)["text_content"]["all_text_combined"] == "short"


def test_the_text_of_a_slide_is_tidied(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "manage_text", slide_index=0, operation="add", text=LONG, font_size=40, auto_fit=False)
    call(bench, "manage_text", slide_index=0, operation="add", text="fine", font_size=20)
    answer = call(bench, "optimize_slide_text", slide_index=0, min_font_size=6)
    sizes = [shape.text_frame.paragraphs[0].runs[0].font.size.pt for shape in saved(bench).slides[0].shapes]
    assert 6 <= sizes[0] < 15
    assert sizes[1] == 20
    assert answer["optimizations_applied"][0]["optimizations"][0] == f"font size 40 pt to {sizes[0]:g} pt"
    assert answer["settings"]["font_size_range"] == "6-36"
    again = call(bench, "optimize_slide_text", slide_index=0, min_font_size=6, optimize_spacing=False)
    assert again["optimizations_applied"] == []


def test_links_are_added_listed_changed_and_removed(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "manage_text", slide_index=0, operation="add", text="See the manual today\nSecond line", bold=True)
    link = {"slide_index": 0, "shape_index": 0}
    call(bench, "manage_hyperlinks", operation="add", **link, text="the manual", url="https://example.org/a")
    call(bench, "manage_hyperlinks", operation="add", **link, text="Second", url="mailto:x@example.org")
    call(bench, "manage_hyperlinks", operation="add", **link, text=" (more)", url="https://example.org/c")
    frame = saved(bench).slides[0].shapes[0].text_frame
    assert frame.text == "See the manual today (more)\nSecond line"
    assert [(run.text, run.hyperlink.address, run.font.bold) for run in frame.paragraphs[0].runs] == [
        ("See ", None, True),
        ("the manual", "https://example.org/a", True),
        (" today", None, True),
        (" (more)", "https://example.org/c", True),
    ]
    listed = call(bench, "manage_hyperlinks", operation="list", slide_index=0)
    assert listed["message"] == "Found 3 hyperlinks on slide 0"
    assert [entry["run_index"] for entry in listed["hyperlinks"]] == [1, 3, 4]
    assert call(bench, "manage_hyperlinks", operation="update", **link, run_index=4, url="https://example.org/d") == {
        "message": "Updated hyperlink from 'mailto:x@example.org' to 'https://example.org/d'",
        "old_url": "mailto:x@example.org",
        "new_url": "https://example.org/d",
        "text": "Second",
    }
    removed = call(bench, "manage_hyperlinks", operation="remove", **link, run_index=1)
    assert (removed["removed_url"], removed["text"]) == ("https://example.org/a", "the manual")
    assert saved(bench).slides[0].shapes[0].text_frame.text == "See the manual today (more)\nSecond line"
    assert "has no hyperlink" in refused(bench, "manage_hyperlinks", operation="remove", **link, run_index=1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["fade", "push", "wipe", "split", "random_bars", "Zoom"])
def test_transitions_are_written_read_and_removed(bench: Bench, kind: str) -> None:
    deck_with(bench, 6, 6)
    at = {"slide_index": 1}
    assert call(bench, "manage_slide_transitions", **at, operation="get")["transition_type"] is None
    call(bench, "manage_slide_transitions", **at, operation="set", transition_type="cut")
    call(bench, "manage_slide_transitions", **at, operation="set", transition_type=kind, duration=2.5)
    found = call(bench, "manage_slide_transitions", **at, operation="get")
    assert (found["transition_type"], found["duration"]) == (kind.lower(), 2.5)
    slides = saved(bench).slides
    tags = [child.tag.rpartition("}")[2] for child in xml(slides[1])]
    assert tags == ["cSld", "clrMapOvr", "AlternateContent"]
    assert not xml(slides[0]).xpath(".//p:transition")
    call(bench, "manage_slide_transitions", **at, operation="remove")
    assert not xml(saved(bench).slides[1]).xpath(".//p:transition")


def test_masters_and_layouts_are_read(bench: Bench) -> None:
    deck_with(bench)
    assert call(bench, "manage_slide_masters", operation="list")["total_masters"] == 1
    layouts = call(bench, "manage_slide_masters", operation="get_layouts")["layouts"]
    assert layouts[5] == {"index": 5, "name": "Title Only", "placeholder_count": 4}
    info = call(bench, "manage_slide_masters", operation="get_info", layout_index=0)
    assert info["layout_name"] == "Title Slide"
    assert info["placeholders"][1] == {"idx": 1, "type": "SUBTITLE (4)", "name": "Subtitle 2"}
    assert call(bench, "manage_slide_masters", operation="get_info")["layout_count"] == 11
