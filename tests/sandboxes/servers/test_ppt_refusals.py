"""What the `ppt` server does not take: each a clear error in the public server's form, and nothing changed."""

import math
import shutil
import zipfile
from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.chart.data import BubbleChartData
from pptx.enum.chart import XL_CHART_TYPE

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.workspace import Workspace, WorkspaceLimits
from m3bench.tasks.catalog import load_catalog
from tests.pictures import UNREADABLE, encoded, png_header, write_unreadable
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import call, deck_with, picture, refused

BOX = {"left": 1, "top": 1, "width": 4, "height": 3}
CHART = {"chart_type": "column", "categories": ["a", "b"], "series_names": ["s"], "series_values": [[1, 2]]}
RGB = "must be a valid RGB list [R, G, B] with values 0-255"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a deck of one slide: a title, a text box, a table, a chart and a picture."""
    bench = Bench(tmp_path_factory.mktemp("made") / "workspace")
    deck_with(bench, 5, title="Title")
    call(bench, "manage_text", slide_index=0, operation="add", text="text")
    call(bench, "add_table", slide_index=0, rows=2, cols=2, **BOX)
    call(bench, "add_chart", slide_index=0, **BOX, **CHART)
    picture(bench)
    call(bench, "manage_image", slide_index=0, operation="add", image_source="media/photo.png")
    return bench.folder


@pytest.fixture
def deck(made: Path, tmp_path: Path) -> Bench:
    """A copy of that workspace."""
    return Bench(shutil.copytree(made, tmp_path / "workspace"))


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("add_slide", {"layout_index": 11}, "Invalid layout index: 11. Available layouts: 0-10"),
        ("add_slide", {"layout_index": -1}, "Invalid layout index: -1. Available layouts: 0-10"),
        ("add_slide", {"background_type": "plaid"}, "Parameter 'background_type': 'plaid' is not known"),
        ("add_slide", {"background_type": "gradient", "background_colors": [[1, 2, 3]]}, "needs two colours"),
        ("add_slide", {"background_type": "solid", "background_colors": [[1, 2, 300]]}, RGB),
        ("get_slide_info", {"slide_index": 1}, "Invalid slide index: 1. Available slides: 0-0"),
        ("get_slide_info", {"slide_index": -1}, "Invalid slide index: -1. Available slides: 0-0"),
        ("extract_slide_text", {"slide_index": 99}, "Invalid slide index: 99. Available slides: 0-0"),
        (
            "populate_placeholder",
            {"slide_index": 0, "placeholder_idx": 7, "text": "x"},
            "Failed to populate placeholder: slide has no placeholder with idx 7. It has [0]",
        ),
        (
            "add_bullet_points",
            {"slide_index": 0, "placeholder_idx": 0, "bullet_points": []},
            "Parameter 'bullet_points': must have between 1 and 200 lines",
        ),
        (
            "manage_text",
            {"slide_index": 0, "operation": "erase"},
            "Invalid operation: erase. Must be 'add', 'format', 'validate', or 'format_runs'",
        ),
        ("manage_text", {"slide_index": 0, "operation": "format"}, "Parameter 'shape_index': is required"),
        ("manage_text", {"slide_index": 0, "operation": "format", "shape_index": 9}, "Invalid shape index: 9"),
        ("manage_text", {"slide_index": 0, "operation": "format", "shape_index": 4}, "Shape at index 4 has no text"),
        ("manage_text", {"slide_index": 0, "operation": "add", "color": [1, 2]}, f"Parameter 'color': {RGB}"),
        ("manage_text", {"slide_index": 0, "operation": "add", "bg_color": [1, 2, -3]}, f"Parameter 'bg_color': {RGB}"),
        ("manage_text", {"slide_index": 0, "operation": "add", "font_size": 0}, "Parameter 'font_size': must be"),
        ("manage_text", {"slide_index": 0, "operation": "add", "alignment": "middle"}, "Parameter 'alignment'"),
        ("manage_text", {"slide_index": 0, "operation": "add", "width": 0}, "Parameter 'width': must be a positive"),
        ("manage_text", {"slide_index": 0, "operation": "add", "left": 1e6}, "Parameter 'left': must be between"),
        ("manage_text", {"slide_index": 0, "operation": "add", "text": "a\x01b"}, "the character U+0001 at position 1"),
        ("manage_text", {"slide_index": 0, "operation": "add", "text": "a\ud800"}, "the character U+D800"),
        ("manage_text", {"slide_index": 0, "operation": "add", "text": "x" * 60_000}, "has 60000 characters"),
        (
            "manage_text",
            {"slide_index": 0, "operation": "add", "min_font_size": 20, "max_font_size": 10},
            "Parameter 'min_font_size': must not be larger than max_font_size",
        ),
        (
            "manage_text",
            {"slide_index": 0, "operation": "format_runs", "shape_index": 1, "text_runs": [{"bold": True}]},
            "Parameter 'text_runs[0]': must have a 'text'",
        ),
        (
            "manage_text",
            {"slide_index": 0, "operation": "format_runs", "shape_index": 1, "text_runs": [{"text": "x", "bold": 1}]},
            "Parameter 'text_runs[0].bold': must be true or false",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "add", "image_source": "media/none.png"},
            "Image file not found: media/none.png",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "frame", "image_source": "media/photo.png"},
            "Invalid operation: frame. Must be 'add' or 'enhance'",
        ),
        (
            "manage_image",
            {"slide_index": 1, "operation": "add", "image_source": "media/photo.png"},
            "Invalid slide index: 1",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "add", "image_source": "??", "source_type": "base64"},
            "Parameter 'image_source': is not valid base64 data",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "enhance", "image_source": "media/photo.png", "filter_type": "MAGIC"},
            "Parameter 'filter_type': 'MAGIC' is not known",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "enhance", "image_source": "media/photo.png", "output_path": "a.txt"},
            "no extension of a picture format",
        ),
        (
            "manage_image",
            {"slide_index": 0, "operation": "add", "image_source": "../../etc/passwd"},
            "leaves the workspace",
        ),
        ("add_table", {"slide_index": 0, "rows": 0, "cols": 2, **BOX}, "Parameter 'rows': must be a positive integer"),
        ("add_table", {"slide_index": 0, "rows": 10_000, "cols": 2, **BOX}, "Parameter 'rows': must be at most 75"),
        ("add_table", {"slide_index": 0, "rows": 2, "cols": 76, **BOX}, "Parameter 'cols': must be at most 75"),
        (
            "add_table",
            {"slide_index": 0, "rows": 2, "cols": 2, **BOX, "data": [["a", "b"]]},
            "Data has 1 rows but table should have 2 rows",
        ),
        (
            "add_table",
            {"slide_index": 0, "rows": 1, "cols": 2, **BOX, "data": [["a"]]},
            "Row 0 has 1 columns but table should have 2 columns",
        ),
        (
            "format_table_cell",
            {"slide_index": 0, "shape_index": 1, "row": 0, "col": 0},
            "Shape at index 1 is not a table",
        ),
        (
            "format_table_cell",
            {"slide_index": 0, "shape_index": 2, "row": 2, "col": 0},
            "Invalid row index: 2. Available rows: 0-1",
        ),
        ("add_shape", {"slide_index": 0, "shape_type": "blob", **BOX}, "Unsupported shape type: 'blob'. Available"),
        ("add_chart", {"slide_index": 0, **BOX, **CHART, "chart_type": "cake"}, "Invalid chart type: 'cake'. Valid"),
        (
            "add_chart",
            {"slide_index": 0, **BOX, **CHART, "series_names": ["a", "b"]},
            "Number of series names (2) must match number of series values (1)",
        ),
        (
            "add_chart",
            {"slide_index": 0, **BOX, **CHART, "series_values": [[1, 2, 3]]},
            "Series 's' has 3 values but there are 2 categories",
        ),
        (
            "add_chart",
            {"slide_index": 0, **BOX, **CHART, "series_values": [[1, math.nan]]},
            "Parameter 'series_values': must be an ordinary finite number, not nan",
        ),
        (
            "add_chart",
            {"slide_index": 0, **BOX, **CHART, "categories": [], "series_values": [[]]},
            "Parameter 'categories': must have between 1 and 1000 labels",
        ),
        ("add_chart", {"slide_index": 0, **BOX, **CHART, "legend_position": "behind"}, "Parameter 'legend_position'"),
        ("add_chart", {"slide_index": 0, **BOX, **CHART, "color_scheme": "mud"}, "Parameter 'color_scheme': 'mud' is"),
        (
            "update_chart_data",
            {"slide_index": 0, "shape_index": 2, "categories": ["a"], "series_data": [{"name": "x", "values": [1]}]},
            "Shape is not a chart",
        ),
        (
            "update_chart_data",
            {"slide_index": 0, "shape_index": 3, "categories": ["a"], "series_data": [{"name": "x"}]},
            "Each series must have 'name' and 'values' keys",
        ),
        (
            "update_chart_data",
            {"slide_index": 0, "shape_index": 3, "categories": ["a"], "series_data": [{"name": "x", "values": ["1"]}]},
            "Parameter 'series_data[0].values': must be a number",
        ),
        (
            "add_connector",
            {"slide_index": 0, "connector_type": "wavy", "start_x": 0, "start_y": 0, "end_x": 1, "end_y": 1},
            "Invalid connector type. Use: ['straight', 'elbow', 'curved']",
        ),
        (
            "add_connector",
            {"slide_index": 5, "connector_type": "elbow", "start_x": 0, "start_y": 0, "end_x": 1, "end_y": 1},
            "Slide index 5 out of range",
        ),
        (
            "apply_picture_effects",
            {"slide_index": 0, "shape_index": 1, "effects": {"glow": {}}},
            "Shape at index 1 is not a picture",
        ),
        (
            "apply_picture_effects",
            {"slide_index": 0, "shape_index": 4, "effects": {"glow": {"size": "big"}}},
            "Parameter 'effects.glow.size': must be a number",
        ),
        (
            "apply_picture_effects",
            {"slide_index": 0, "shape_index": 4, "effects": {"sparkle": {}}},
            "Parameter 'effects': holds no effect to apply",
        ),
        ("apply_professional_design", {"operation": "paint"}, "Invalid operation: paint"),
        ("apply_professional_design", {"operation": "enhance"}, "slide_index is required for enhance operation"),
        ("apply_slide_template", {"slide_index": 0, "template_id": "x"}, "Failed to apply template: Template 'x' not"),
        (
            "apply_slide_template",
            {"slide_index": 0, "template_id": "title_slide", "content_mapping": {"heading": "x"}},
            "has no role 'heading'. Its roles are: title, subtitle, author",
        ),
        (
            "create_slide_from_template",
            {"template_id": "x"},
            "Failed to apply template to new slide: Template 'x' not found",
        ),
        (
            "create_slide_from_template",
            {"template_id": "text_with_image", "image_paths": {"image": "none.png"}},
            "Image file not found: none.png",
        ),
        (
            "create_slide_from_template",
            {"template_id": "title_slide", "content_mapping": {"author": "x " * 5000}},
            "does not fit its box: shorten it",
        ),
        (
            "create_slide_from_template",
            {"template_id": "chart_comparison", "content_mapping": {"chart_left": "many"}},
            "needs lines such as 'North: 42'",
        ),
        ("create_slide_from_template", {"template_id": "title_slide", "layout_index": 44}, "Invalid layout index: 44"),
        ("create_presentation_from_templates", {"template_sequence": []}, "Template sequence cannot be empty"),
        (
            "create_presentation_from_templates",
            {"template_sequence": [{"content": {}}]},
            "No slide could be created: an item needs a 'template_id'",
        ),
        ("get_template_info", {"template_id": "x"}, "Template 'x' not found"),
        ("auto_generate_presentation", {"topic": "t", "slide_count": 2}, "Slide count must be between 3 and 20"),
        ("auto_generate_presentation", {"topic": " "}, "Parameter 'topic'"),
        (
            "manage_hyperlinks",
            {"operation": "add", "slide_index": 0, "shape_index": 1},
            "Both 'text' and 'url' are required for adding hyperlinks",
        ),
        (
            "manage_hyperlinks",
            {"operation": "add", "slide_index": 0, "shape_index": 1, "text": "x", "url": "javascript:alert(1)"},
            "'javascript' addresses are not allowed",
        ),
        ("manage_hyperlinks", {"operation": "list", "slide_index": 3}, "Slide index 3 out of range"),
        (
            "manage_hyperlinks",
            {"operation": "update", "slide_index": 0, "shape_index": 1, "run_index": 5, "url": "https://example.org"},
            "Run index 5 out of range",
        ),
        ("manage_slide_masters", {"operation": "list_all"}, "Unsupported operation: list_all"),
        ("manage_slide_masters", {"operation": "get_info", "master_index": 2}, "Master index 2 out of range"),
        (
            "manage_slide_transitions",
            {"slide_index": 0, "operation": "play"},
            "Unsupported operation: play. Use 'set', 'remove', or 'get'",
        ),
        (
            "manage_slide_transitions",
            {"slide_index": 0, "operation": "set", "transition_type": "teleport"},
            "Parameter 'transition_type': 'teleport' is not known",
        ),
        ("set_core_properties", {"title": "x" * 300}, "Parameter 'title': must have at most 255 characters"),
        ("set_core_properties", {"author": "a\x00"}, "the character U+0000"),
        ("create_presentation", {"id": " "}, "Parameter 'id': must have between 1 and 200 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    deck: Bench, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = _files(deck)
    assert message in refused(deck, tool, **arguments)
    assert _files(deck) == before


def test_an_empty_deck_says_what_to_do(bench: Bench) -> None:
    deck_with(bench)
    assert refused(bench, "get_slide_info", slide_index=0) == (
        "Invalid slide index: 0. Available slides: none (call add_slide first)"
    )


def _package(change: Callable[[str, bytes], bytes | None]) -> bytes:
    """A presentation with changed entries; None drops one."""
    source, target = BytesIO(), BytesIO()
    Presentation().save(source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target.getvalue()


def _bomb(name: str, content: bytes) -> bytes:
    return b"<a>" + b" " * 200_000_000 + b"</a>" if name == "docProps/app.xml" else content


Package = Callable[[], bytes]


def _whole() -> bytes:
    return _package(lambda name, content: content)


BROKEN: dict[str, tuple[Package, str]] = {
    "text.pptx": (lambda: b"no presentation", "is not a readable office file"),
    "empty.pptx": (lambda: b"", "is not a readable office file"),
    "cut.pptx": (lambda: _whole()[:9000], "is not a readable office file"),
    "encrypted.pptx": (
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
        "is encrypted or in an old binary",
    ),
    "other.pptx": (
        lambda: _package(lambda name, content: None if name.startswith("ppt/") else content),
        "not a readable Pow",
    ),
    "bare.pptx": (
        lambda: _package(lambda name, content: None if name == "[Content_Types].xml" else content),
        "not a readable",
    ),
    "torn.pptx": (
        lambda: _package(lambda name, content: content[:200] if name == "ppt/presentation.xml" else content),
        "not a readable PowerPoint presentation",
    ),
    "bomb.pptx": (lambda: _package(_bomb), "as a zip bomb is"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BROKEN)
def test_files_that_are_no_presentation_are_refused(bench: Bench, name: str) -> None:
    made, message = BROKEN[name]
    (bench.folder / name).write_bytes(made())
    for tool, argument in (
        ("open_presentation", "file_path"),
        ("create_presentation_from_template", "template_path"),
        ("get_template_file_info", "template_path"),
    ):
        assert message in refused(bench, tool, **{argument: name})
    assert call(bench, "list_presentations")["total_presentations"] == 0


@pytest.mark.parametrize(("name", "start"), [("ppt/more.xml", b"<r>"), ("ppt/more.png", b"\xef\xbb\xbf <r>")])
def test_a_file_full_of_xml_is_refused_before_it_is_parsed(bench: Bench, name: str, start: bytes) -> None:
    (bench.folder / "large.pptx").write_bytes(_whole())
    with zipfile.ZipFile(bench.folder / "large.pptx", "a") as archive:
        archive.writestr(name, start + b" " * 26_000_000 + b"</r>")
    assert "bytes of XML, the most a deck may have" in refused(bench, "open_presentation", file_path="large.pptx")


def test_entities_in_a_file_are_not_expanded(bench: Bench) -> None:
    (bench.folder / "secret.txt").write_text("secret")
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'

    def change(name: str, content: bytes) -> bytes:
        if name != "docProps/core.xml":
            return content
        head, _, rest = content.partition(b"?>")
        return head + b"?>" + bomb + rest.replace(b"<dc:title></dc:title>", b"<dc:title>&b;&f;</dc:title>")

    (bench.folder / "entities.pptx").write_bytes(_package(change))
    reply = bench.reply("ppt/open_presentation", file_path="entities.pptx")
    assert reply.result["isError"] is False
    if reply.outcome == "success":
        title = call(bench, "get_presentation_info")["core_properties"]["title"]
        assert "root:" not in title
        assert "aaaa" not in title


@pytest.mark.parametrize(
    ("entry", "old", "new"),
    [
        ("ppt/slides/slide1.xml", b'<a:off x="', b'<a:off x="left'),
        ("ppt/slides/slide1.xml", b"<p:nvPr>", b"<p:nvPr broken"),
        ("ppt/slides/_rels/slide1.xml.rels", b"slideLayout", b"elsewhere"),
        ("ppt/slideMasters/_rels/slideMaster1.xml.rels", b"/theme", b"/else"),
        ("ppt/_rels/presentation.xml.rels", b'Id="rId', b'Id="xId'),
    ],
)
def test_damage_inside_a_deck_is_found_when_it_is_opened(deck: Bench, entry: str, old: bytes, new: bytes) -> None:
    call(deck, "save_presentation", file_path="whole.pptx")
    with (
        zipfile.ZipFile(deck.folder / "media/whole.pptx") as source,
        zipfile.ZipFile(deck.folder / "damaged.pptx", "w") as target,
    ):
        assert old in source.read(entry)
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content.replace(old, new) if name == entry else content)
    assert refused(deck, "open_presentation", file_path="damaged.pptx").startswith("Failed to open presentation: ")


def test_charts_of_other_kinds_are_left_alone(bench: Bench) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = BubbleChartData()
    data.add_series("s").add_data_point(1, 2, 3)
    slide.shapes.add_chart(XL_CHART_TYPE.BUBBLE, 0, 0, 914400, 914400, data)
    deck.save(str(bench.folder / "bubbles.pptx"))
    call(bench, "open_presentation", file_path="bubbles.pptx")
    change = {"slide_index": 0, "shape_index": 0, "categories": ["a"], "series_data": [{"name": "x", "values": [1]}]}
    assert "a kind whose data cannot be replaced" in refused(bench, "update_chart_data", **change)
    call(bench, "apply_professional_design", operation="enhance", slide_index=0)


@pytest.mark.parametrize("name", UNREADABLE)
def test_files_that_are_no_picture_are_refused(bench: Bench, name: str) -> None:
    write_unreadable(bench.folder)
    deck_with(bench, 6)
    for operation in ("add", "enhance"):
        refused(bench, "manage_image", slide_index=0, operation=operation, image_source=name)
    refused(bench, "create_slide_from_template", template_id="full_image_slide", image_paths={"image": name})
    if content := UNREADABLE[name]:
        data = b64encode(content).decode()
        refused(bench, "manage_image", slide_index=0, operation="add", image_source=data, source_type="base64")


def test_pictures_inside_a_deck_are_measured_before_they_are_filtered(deck: Bench) -> None:
    call(deck, "save_presentation", file_path="small.pptx")
    with (
        zipfile.ZipFile(deck.folder / "media/small.pptx") as old,
        zipfile.ZipFile(deck.folder / "large.pptx", "w") as new,
    ):
        for name in old.namelist():
            new.writestr(name, png_header(30_000, 30_000) if name.endswith(".png") else old.read(name))
    call(deck, "open_presentation", file_path="large.pptx")
    effects = {"filter": {"filter_type": "blur"}}
    assert "pixels allowed" in refused(deck, "apply_picture_effects", slide_index=0, shape_index=4, effects=effects)


def test_a_deck_over_the_file_limit_stays_as_it_was(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, WorkspaceLimits(file_bytes=45_000))
    bench = Bench(tmp_path)
    bench.workspace = workspace
    bench._dispatcher = Dispatcher(load_catalog().ready, Context(workspace=workspace))
    deck_with(bench, 6)
    for name in ("a", "b"):
        noise = Image.effect_noise((120, 120), 100 if name == "a" else 50)
        (tmp_path / f"{name}.png").write_bytes(encoded(noise, "PNG"))
    put = {"slide_index": 0, "operation": "add"}
    call(bench, "manage_image", **put, image_source="a.png")
    assert "more than the 45000 allowed" in refused(bench, "manage_image", **put, image_source="b.png")
    assert call(bench, "get_slide_info", slide_index=0)["shape_count"] == 1


def test_there_is_an_end_to_the_number_of_decks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decks, "MAX_DECKS", 3)
    for _ in range(3):
        call(bench, "create_presentation")
    assert "3 presentations are open" in refused(bench, "create_presentation")
    call(bench, "create_presentation", id="presentation_2")


def _files(bench: Bench) -> dict[str, bytes]:
    return {
        str(path.relative_to(bench.folder)): path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()
    }
