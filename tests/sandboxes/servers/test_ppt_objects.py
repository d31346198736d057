"""Pictures, tables, charts, shapes and fonts of the `ppt` server, read back with independent readers."""

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook
from PIL import Image, ImageFont
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
from pptx.enum.shapes import MSO_SHAPE, MSO_SHAPE_TYPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Pt

from tests.pictures import assert_same_bytes, colour, encoded
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import box, call, deck_with, picture, refused, saved, xml

SPOT: dict[str, Any] = {"slide_index": 0, "left": 1, "top": 1.5, "width": 5, "height": 3}
DATA: dict[str, Any] = {
    "categories": ["a", "b", "c"],
    "series_names": ["x", "y"],
    "series_values": [[1, 2, 3], [4, 5, 6]],
}
LABELS = {
    "column": {"ctr", "inBase", "inEnd", "outEnd"},
    "bar": {"ctr", "inBase", "inEnd", "outEnd"},
    "stacked_column": {"ctr", "inBase", "inEnd"},
    "stacked_bar": {"ctr", "inBase", "inEnd"},
    "line": {"b", "ctr", "l", "r", "t"},
    "line_markers": {"b", "ctr", "l", "r", "t"},
    "scatter": {"b", "ctr", "l", "r", "t"},
    "pie": {"bestFit", "ctr", "inEnd", "outEnd"},
    "radar": {"outEnd"},
    "radar_markers": {"outEnd"},
}
"""Where PowerPoint lets the values of a chart stand."""


def test_a_picture_goes_into_the_deck_as_it_is(bench: Bench) -> None:
    content = picture(bench)
    deck_with(bench, 6)
    put = {"slide_index": 0, "operation": "add", "image_source": "./media/photo.png"}
    assert call(bench, "manage_image", **put, left=0.5, top=1.5, width=3) == {
        "message": "Added image to slide 0",
        "shape_index": 0,
        "image_path": "./media/photo.png",
    }
    call(bench, "manage_image", **put, height=1)
    call(bench, "manage_image", **put, left=0.5, top=1.5, width=12.0, height=6.5)
    first, second, third = saved(bench).slides[0].shapes
    assert first.shape_type == MSO_SHAPE_TYPE.PICTURE
    assert_same_bytes(first.image.blob, content, "the picture")
    assert box(first) == (0.5, 1.5, 3, 2)
    assert box(second) == (1, 1, 1.5, 1)
    assert box(third) == (0.5, 1.5, 12, 6.5)


def test_a_large_picture_without_a_size_stays_on_the_slide(bench: Bench) -> None:
    picture(bench, size=(3000, 1000))
    deck_with(bench, 6)
    call(bench, "manage_image", slide_index=0, operation="add", image_source="media/photo.png")
    assert box(saved(bench).slides[0].shapes[0]) == (1, 1, 9, 3)


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_a_picture_may_come_as_base64(bench: Bench, prefix: str) -> None:
    content = picture(bench)
    deck_with(bench, 6)
    answer = call(
        bench,
        "manage_image",
        slide_index=0,
        operation="add",
        image_source=prefix + b64encode(content).decode(),
        source_type="base64",
    )
    assert answer == {"message": "Added image to slide 0", "shape_index": 0}
    assert_same_bytes(saved(bench).slides[0].shapes[0].image.blob, content, "the picture")


@pytest.mark.parametrize("kind", ["WEBP", "JPEG"])
def test_pictures_that_powerpoint_would_not_show_right_are_written_anew(bench: Bench, kind: str) -> None:
    image = Image.new("RGB", (60, 40), (200, 60, 60))
    exif = Image.Exif()
    exif[0x0112] = 6
    options = {"exif": exif} if kind == "JPEG" else {}
    (bench.folder / "photo").write_bytes(encoded(image, kind, **options))
    deck_with(bench, 6)
    call(bench, "manage_image", slide_index=0, operation="add", image_source="photo", width=2)
    shape = saved(bench).slides[0].shapes[0]
    with Image.open(BytesIO(shape.image.blob)) as inside:
        assert inside.format == ("PNG" if kind == "WEBP" else "JPEG")
        assert inside.size == ((60, 40) if kind == "WEBP" else (40, 60))


def test_an_enhanced_copy_is_written(bench: Bench) -> None:
    content = picture(bench)
    deck_with(bench, 6)
    enhance = {"slide_index": 0, "operation": "enhance", "image_source": "media/photo.png"}
    first = call(bench, "manage_image", **enhance, enhancement_style="presentation")
    second = call(bench, "manage_image", **enhance, brightness=0.5)
    third = call(bench, "manage_image", **enhance, saturation=0, output_path="./media/grey.jpg")
    assert [answer["enhanced_path"] for answer in (first, second, third)] == [
        "./media/photo_enhanced.png",
        "./media/photo_enhanced-1.png",
        "./media/grey.jpg",
    ]
    assert_same_bytes((bench.folder / "media/photo.png").read_bytes(), content, "the photo")
    with Image.open(bench.folder / "media/photo_enhanced-1.png") as darker:
        assert colour(darker, 50, 10) == (100, 30, 30)
    with Image.open(bench.folder / "media/grey.jpg") as grey:
        assert max(colour(grey, 50, 10)) - min(colour(grey, 50, 10)) <= 2
    assert call(bench, "get_slide_info", slide_index=0)["shape_count"] == 0


def test_effects_are_stored_as_powerpoint_stores_them(bench: Bench) -> None:
    content = picture(bench)
    deck_with(bench, 6)
    call(bench, "manage_image", slide_index=0, operation="add", image_source="media/photo.png", width=3)
    effects = {
        "soft_edges": {"radius": 5},
        "shadow": {"distance": 4, "direction": 90, "color": [10, 20, 30], "transparency": 0.25},
        "glow": {"size": 10},
        "reflection": {"size": 0.5},
        "rotation": {"rotation": -15},
        "transparency": {"transparency": 0.4},
        "bevel": {"bevel_type": "soft_round"},
        "filter": {"filter_type": "grayscale"},
        "sparkle": {},
    }
    answer = call(bench, "apply_picture_effects", slide_index=0, shape_index=0, effects=effects)
    assert answer["message"] == "Applied 8 effects to shape 0 on slide 0"
    assert "sparkle" in answer["warnings"][0]
    call(bench, "apply_picture_effects", slide_index=0, shape_index=0, effects={"shadow": {"shadow_type": "inner"}})
    shape = saved(bench).slides[0].shapes[0]
    tags = [child.tag.rpartition("}")[2] for child in xml(shape).xpath("p:spPr/a:effectLst")[0]]
    assert tags == ["glow", "innerShdw", "reflection", "softEdge"]
    order = [child.tag.rpartition("}")[2] for child in xml(shape).spPr]
    assert order == ["xfrm", "prstGeom", "effectLst", "scene3d", "sp3d"]
    assert shape.rotation == 345
    assert xml(shape).xpath(".//a:alphaModFix/@amt") == ["60000"]
    assert shape.image.blob != content
    with Image.open(BytesIO(shape.image.blob)) as inside:
        assert len(set(colour(inside.convert("RGB"), 50, 10))) == 1
    assert len(saved(bench).slides[0].part.rels) == 2, "the unfiltered picture is gone"


def test_a_table_has_the_data_and_looks_asked_for(bench: Bench) -> None:
    deck_with(bench, 6)
    data = [["Name", "Size"], ["A", "1"], ["B", "2"]]
    looks = {"header_bg_color": [20, 40, 80], "body_bg_color": [250, 250, 250], "border_color": [1, 2, 3]}
    answer = call(bench, "add_table", **SPOT, rows=3, cols=2, data=data, header_font_size=14, **looks)
    assert answer == {"message": "Added 3x2 table to slide 0", "shape_index": 0, "rows": 3, "cols": 2}
    shape = saved(bench).slides[0].shapes[0]
    assert box(shape) == (1, 1.5, 5, 3)
    table = shape.table
    assert [[cell.text for cell in row.cells] for row in table.rows] == data
    head, body = table.cell(0, 0), table.cell(1, 0)
    assert (head.fill.fore_color.rgb, body.fill.fore_color.rgb) == (RGBColor(20, 40, 80), RGBColor(250, 250, 250))
    fonts = [cell.text_frame.paragraphs[0].runs[0].font for cell in (head, body)]
    assert [font.size for font in fonts] == [Pt(14), Pt(10)]
    assert [font.color.rgb for font in fonts] == [RGBColor(255, 255, 255), RGBColor(34, 34, 34)]
    assert body._tc.tcPr.xpath("*/a:solidFill/a:srgbClr/@val") == ["010203"] * 4
    plain = call(bench, "add_table", **SPOT, rows=1, cols=1, header_row=False)
    assert saved(bench).slides[0].shapes[plain["shape_index"]].table.first_row is False


def test_a_cell_is_formatted(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "add_table", **SPOT, rows=2, cols=2, data=[["a", "b"], ["c", "d"]])
    looks = {"font_size": 18, "font_name": "Arial", "bold": True, "italic": True, "color": [5, 6, 7]}
    more = {"bg_color": [200, 210, 220], "alignment": "right", "vertical_alignment": "bottom"}
    call(bench, "format_table_cell", slide_index=0, shape_index=0, row=1, col=1, **looks, **more)
    table = saved(bench).slides[0].shapes[0].table
    cell = table.cell(1, 1)
    paragraph = cell.text_frame.paragraphs[0]
    font = paragraph.runs[0].font
    assert (font.size, font.name, font.bold, font.italic) == (Pt(18), "Arial", True, True)
    assert (font.color.rgb, cell.fill.fore_color.rgb) == (RGBColor(5, 6, 7), RGBColor(200, 210, 220))
    assert (paragraph.alignment, cell.vertical_anchor) == (PP_ALIGN.RIGHT, MSO_ANCHOR.BOTTOM)
    assert table.cell(0, 0).text_frame.paragraphs[0].runs[0].font.italic is None


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("column", XL_CHART_TYPE.COLUMN_CLUSTERED),
        ("stacked_column", XL_CHART_TYPE.COLUMN_STACKED),
        ("bar", XL_CHART_TYPE.BAR_CLUSTERED),
        ("stacked_bar", XL_CHART_TYPE.BAR_STACKED),
        ("line", XL_CHART_TYPE.LINE),
        ("line_markers", XL_CHART_TYPE.LINE_MARKERS),
        ("pie", XL_CHART_TYPE.PIE),
        ("doughnut", XL_CHART_TYPE.DOUGHNUT),
        ("area", XL_CHART_TYPE.AREA),
        ("stacked_area", XL_CHART_TYPE.AREA_STACKED),
        ("scatter", XL_CHART_TYPE.XY_SCATTER),
        ("radar", XL_CHART_TYPE.RADAR),
        ("radar_markers", XL_CHART_TYPE.RADAR_MARKERS),
    ],
)
def test_every_kind_of_chart_is_drawn(bench: Bench, kind: str, expected: XL_CHART_TYPE) -> None:
    deck_with(bench, 6)
    for scheme in (None, "warm_red"):
        extra = {"color_scheme": scheme} if scheme else {}
        answer = call(
            bench,
            "add_chart",
            **SPOT,
            **DATA,
            chart_type=kind,
            title="Sales",
            x_axis_title="Quarter",
            y_axis_title="Units",
            has_data_labels=True,
            legend_position="bottom",
            **extra,
        )
        assert (answer["series_count"], answer["categories_count"], answer["chart_type"]) == (2, 3, kind)
        chart = saved(bench).slides[0].shapes[answer["shape_index"]].chart
        assert chart.chart_type == expected
        shown = [("x", [1.0, 2.0, 3.0]), ("y", [4.0, 5.0, 6.0])][: 1 if kind == "pie" else 2]
        assert [(series.name, list(series.values)) for series in chart.plots[0].series] == shown
        assert chart.chart_title.text_frame.text == "Sales"
        assert chart.legend.position == XL_LEGEND_POSITION.BOTTOM
        assert chart._chartSpace.xpath(".//c:dLbls/c:showVal/@val")[0] == "1"
        assert {*chart._chartSpace.xpath(".//c:dLblPos/@val")} <= LABELS.get(kind, set())
        if kind not in ("pie", "doughnut"):
            assert chart.category_axis.axis_title.text_frame.text == "Quarter"
            assert chart.value_axis.axis_title.text_frame.text == "Units"
            assert "warnings" not in answer
        else:
            assert "no axes" in answer["warnings"][0]
        if scheme:
            assert "97262C" in chart._chartSpace.xpath(".//a:srgbClr/@val")


def test_a_chart_carries_its_data_sheet(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "add_chart", **SPOT, **DATA, chart_type="column", has_legend=False)
    series = [{"name": "new", "values": [7, 8.5]}]
    assert call(
        bench, "update_chart_data", slide_index=0, shape_index=0, categories=["p", "q"], series_data=series
    ) == {
        "message": "Updated chart data on slide 0, shape 0",
        "categories": ["p", "q"],
        "series_count": 1,
        "series_names": ["new"],
    }
    chart = saved(bench).slides[0].shapes[0].chart
    assert chart.has_legend is False
    assert list(chart.plots[0].categories) == ["p", "q"]
    sheet = load_workbook(BytesIO(chart.part.chart_workbook.xlsx_part.blob)).active
    assert sheet is not None
    assert list(sheet.iter_rows(values_only=True)) == [(None, "new"), ("p", 7), ("q", 8.5)]


def test_a_chart_that_gets_more_series_keeps_its_scheme(bench: Bench) -> None:
    deck_with(bench, 6)
    call(bench, "add_chart", **SPOT, **DATA, chart_type="bar", color_scheme="elegant_green")
    series = [{"name": name, "values": [1, 2, 3]} for name in "abcd"]
    call(bench, "update_chart_data", slide_index=0, shape_index=0, categories=["x", "y", "z"], series_data=series)
    chart = saved(bench).slides[0].shapes[0].chart
    colours = [str(item.format.fill.fore_color.rgb) for item in chart.plots[0].series]
    assert colours[0] == "1D5B47"
    assert len(set(colours)) == 4


def test_scatter_charts_take_numbers_from_the_categories(bench: Bench) -> None:
    deck_with(bench, 6)
    for categories in (["1.5", "2", "10"], ["low", "middle", "high"]):
        call(bench, "add_chart", **SPOT, **{**DATA, "categories": categories}, chart_type="scatter")
    charts = [shape.chart for shape in saved(bench).slides[0].shapes]
    found = [[float(x) for x in chart._chartSpace.xpath(".//c:ser[1]/c:xVal//c:v/text()")] for chart in charts]
    assert found == [[1.5, 2, 10], [1, 2, 3]]


def test_shapes_have_fill_line_and_text(bench: Bench) -> None:
    deck_with(bench, 6)
    looks = {"fill_color": [250, 250, 120], "line_color": [9, 8, 7], "line_width": 2.5, "font_size": 20}
    answer = call(bench, "add_shape", **SPOT, shape_type="Star", text="Wow", **looks)
    assert answer == {"message": "Added Star shape to slide 0", "shape_index": 0}
    shape = saved(bench).slides[0].shapes[0]
    assert shape.auto_shape_type == MSO_SHAPE.STAR_5_POINT
    assert (shape.fill.fore_color.rgb, shape.line.color.rgb) == (RGBColor(250, 250, 120), RGBColor(9, 8, 7))
    assert shape.line.width == Pt(2.5)
    run = shape.text_frame.paragraphs[0].runs[0]
    assert (run.text, run.font.size, run.font.color.rgb) == ("Wow", Pt(20), RGBColor(0x22, 0x22, 0x22))


def test_connectors_run_from_point_to_point(bench: Bench) -> None:
    deck_with(bench, 6)
    for kind in ("straight", "elbow", "curved"):
        call(
            bench,
            "add_connector",
            slide_index=0,
            connector_type=kind,
            start_x=6,
            start_y=1,
            end_x=2,
            end_y=3.5,
            line_width=3,
            color=[200, 0, 0],
        )
    shapes = list(saved(bench).slides[0].shapes)
    assert [xml(shape).xpath(".//a:prstGeom/@prst")[0] for shape in shapes] == [
        "line",
        "bentConnector3",
        "curvedConnector3",
    ]
    for shape in shapes:
        ends = [shape.begin_x, shape.begin_y, shape.end_x, shape.end_y]
        assert [value / 914400 for value in ends] == [6, 1, 2, 3.5]
        assert (shape.line.width, shape.line.color.rgb) == (Pt(3), RGBColor(200, 0, 0))


def test_a_font_file_is_described_and_cut_down(prepared: Callable[[str], Bench]) -> None:
    bench = prepared("ppt")
    font = "media/deck_blocks.ttf"
    original = (bench.folder / font).read_bytes()
    assert call(bench, "manage_fonts", operation="analyze", font_path=font) == {
        "file_path": font,
        "font_family": "Deck Blocks",
        "font_style": "Regular",
        "num_glyphs": 15,
        "file_size": len(original),
        "analysis_success": True,
    }
    advice = call(bench, "manage_fonts", operation="recommend", font_path=font, presentation_type="academic")
    assert advice["recommendations"]["suitability"] == "limited"
    paths = [
        call(bench, "manage_fonts", operation="optimize", font_path=font, text_content="DEÄ")["optimized_path"]
        for _ in range(2)
    ]
    assert paths == ["media/deck_blocks_optimized.ttf", "media/deck_blocks_optimized-1.ttf"]
    small = (bench.folder / paths[0]).read_bytes()
    assert len(small) < len(original)
    for letter in "DEÄ":
        assert _drawn(small, letter) == _drawn(original, letter)
    assert _drawn(small, "K") != _drawn(original, "K")


def test_what_is_no_font_is_refused(bench: Bench, prepared: Callable[[str], Bench]) -> None:
    font = (prepared("ppt").folder / "media/deck_blocks.ttf").read_bytes()
    broken = {
        "text.ttf": b"hello",
        "empty.ttf": b"",
        "cut.ttf": font[:500],
        "lies.ttf": font[:4] + b"\xff\xff" + font[6:],
        "otto.otf": b"OTTO" + font[4:],
    }
    for name, content in broken.items():
        (bench.folder / name).write_bytes(content)
        if name != "otto.otf":
            assert "cannot be used as a font" in refused(bench, "manage_fonts", operation="analyze", font_path=name)
    assert "Font file not found" in refused(bench, "manage_fonts", operation="analyze", font_path="none.ttf")
    (bench.folder / "good.ttf").write_bytes(font)
    assert "none of the characters" in refused(
        bench, "manage_fonts", operation="optimize", font_path="good.ttf", text_content="xyz"
    )
    assert refused(bench, "manage_fonts", operation="melt", font_path="good.ttf").startswith("Invalid operation: melt")


def _drawn(font: bytes, letter: str) -> bytes:
    mask = ImageFont.truetype(BytesIO(font), 40).getmask(letter)
    return bytes(mask)
