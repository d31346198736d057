"""LibreOffice shows what the `ppt` server wrote: a deck that uses every tool with something to see."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m3bench.sandboxes.servers.ppt.blueprints import templates
from m3bench.sandboxes.servers.ppt.charts import KINDS
from m3bench.sandboxes.servers.ppt.colours import SCHEMES
from m3bench.sandboxes.servers.ppt.images import PARAMETERS
from m3bench.sandboxes.servers.ppt.shapes import CONNECTORS, SHAPES
from tests.office import convert
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import call, picture, saved, titles

LONG = "A sentence of some length that goes on and on. " * 12


def _add_slide(bench: Bench, layout: int, **more: Any) -> int:
    index = call(bench, "add_slide", layout_index=layout, **more)["slide_index"]
    assert isinstance(index, int)
    return index


def _show_text(bench: Bench) -> None:
    first = _add_slide(bench, 0, title="Everything", background_type="professional_gradient")
    call(bench, "populate_placeholder", slide_index=first, placeholder_idx=1, text=LONG)
    call(bench, "manage_slide_transitions", slide_index=first, operation="set", transition_type="push", duration=2)
    slide = _add_slide(bench, 1, title=LONG[:90], background_type="gradient", gradient_direction="vertical")
    call(bench, "add_bullet_points", slide_index=slide, placeholder_idx=1, bullet_points=[LONG[:80]] * 6)
    call(bench, "manage_text", slide_index=slide, operation="add", text=LONG, bg_color=[255, 240, 200], top=5)
    call(
        bench, "manage_hyperlinks", operation="add", slide_index=slide, shape_index=2, text="more", url="https://a.org"
    )
    call(bench, "optimize_slide_text", slide_index=slide)


def _show_pictures(bench: Bench) -> None:
    slide = _add_slide(bench, 5, title="Pictures")
    for number, effect in enumerate(PARAMETERS):
        spot = {"left": 0.4 + number % 4 * 2.4, "top": 1.7 + number // 4 * 2.5, "width": 2}
        put = {"slide_index": slide, "operation": "add", "image_source": "media/photo.png", **spot}
        index = call(bench, "manage_image", **put)["shape_index"]
        call(bench, "apply_picture_effects", slide_index=slide, shape_index=index, effects={effect: {}})


def _show_drawings(bench: Bench) -> None:
    slide = _add_slide(bench, 6)
    for number, kind in enumerate(SHAPES):
        spot = {"left": 0.3 + number % 6 * 1.6, "top": 0.3 + number // 6 * 1.3, "width": 1.4, "height": 1}
        call(bench, "add_shape", slide_index=slide, shape_type=kind, text=kind.replace("_", " "), **spot)
    for number, kind in enumerate(CONNECTORS):
        ends = {"start_x": 1 + 3 * number, "start_y": 6, "end_x": 3 + 3 * number, "end_y": 7}
        call(bench, "add_connector", slide_index=slide, connector_type=kind, **ends)
    slide = _add_slide(bench, 5, title="Table")
    spot = {"left": 0.5, "top": 1.7, "width": 9, "height": 3}
    data = [["Name", "Note"]] + [[f"Row {number}", LONG[:60]] for number in range(5)]
    look = {"header_bg_color": [20, 60, 120], "border_color": [120, 120, 120]}
    call(bench, "add_table", slide_index=slide, rows=6, cols=2, data=data, **spot, **look)
    call(bench, "format_table_cell", slide_index=slide, shape_index=1, row=1, col=1, bold=True, alignment="right")


def _show_charts(bench: Bench) -> None:
    slide = -1
    for number, kind in enumerate(KINDS):
        if number % 4 == 0:
            slide = _add_slide(bench, 6)
        spot = {"left": 0.2 + number % 2 * 4.9, "top": 0.2 + number % 4 // 2 * 3.7, "width": 4.7, "height": 3.5}
        data = {"categories": ["1", "2", "3"], "series_names": ["a", "b"], "series_values": [[1, -2, 3], [4, 5, 6]]}
        look = {"title": kind, "has_data_labels": True, "color_scheme": list(SCHEMES)[number % 8]}
        call(bench, "add_chart", slide_index=slide, chart_type=kind, **spot, **data, **look)
    series = [{"name": name, "values": [1, 2]} for name in "xyz"]
    call(bench, "update_chart_data", slide_index=slide, shape_index=0, categories=["p", "q"], series_data=series)


def _show_designs(bench: Bench) -> None:
    sequence = [{"template_id": id} for id in templates()]
    call(bench, "create_presentation_from_templates", template_sequence=sequence, color_scheme="nature_earth")
    call(bench, "auto_generate_presentation", topic="Safe hiking", slide_count=6)
    call(bench, "apply_professional_design", operation="theme", color_scheme="warm_red", apply_to_existing=False)
    for kind in ("title", "title_content"):
        slide = {"operation": "professional_slide", "slide_type": kind, "title": "Styled", "content": ["a", "b"]}
        call(bench, "apply_professional_design", **slide)
    call(bench, "apply_slide_template", slide_index=1, template_id="text_with_image")
    call(bench, "apply_professional_design", operation="enhance", slide_index=3)


@pytest.mark.office
def test_a_deck_that_uses_everything_has_a_page_for_each_slide(bench: Bench, tmp_path: Path) -> None:
    picture(bench, size=(300, 200))
    call(bench, "create_presentation", id="all")
    for show in (_show_text, _show_pictures, _show_drawings, _show_charts, _show_designs):
        show(bench)
    call(bench, "save_presentation", file_path="all.pptx")
    count = call(bench, "get_presentation_info")["slide_count"]
    document = convert(bench.folder / "media/all.pptx", "pdf", tmp_path / "office").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", document)) == count == 40


@pytest.mark.office
def test_a_deck_that_another_program_wrote_is_opened_and_changed(
    prepared: Callable[[str], Bench], tmp_path: Path
) -> None:
    bench = prepared("ppt")
    call(bench, "save_presentation", file_path="tour.pptx")
    foreign = convert(bench.folder / "media/tour.pptx", "pptx", tmp_path / "office")
    (bench.folder / "foreign.pptx").write_bytes(foreign.read_bytes())
    call(bench, "open_presentation", file_path="foreign.pptx")
    assert call(bench, "get_presentation_info")["slide_count"] == 2
    kinds = [shape["shape_type"] for shape in call(bench, "get_slide_info", slide_index=1)["shapes"]]
    chart = kinds.index("CHART (3)")
    series = [{"name": "new", "values": [1, 2]}]
    call(bench, "update_chart_data", slide_index=1, shape_index=chart, categories=["a", "b"], series_data=series)
    call(bench, "apply_professional_design", operation="enhance", slide_index=1)
    call(bench, "create_slide_from_template", template_id="quote_testimonial", content_mapping={"quote": "Again"})
    deck = saved(bench)
    assert [item.name for item in deck.slides[1].shapes[chart].chart.plots[0].series] == ["new"]
    assert titles(deck) == ["Three days in the Alps", "The route in figures", "Again"]
