"""The `imagesorcery-mcp` server edits pictures as asked and leaves the source alone."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageStat

from m3bench.sandboxes.ocr import from_wheel
from tests.pictures import UNREADABLE, assert_same_bytes, colour, encoded, odd_pictures, write_unreadable
from tests.sandboxes.servers.conftest import Bench

WHITE = (255, 255, 255)
RED = (255, 0, 0)
BLUE = (0, 0, 255)


@pytest.fixture
def page(bench: Bench) -> Bench:
    """A white picture of 200 by 100 pixels, `page.png`."""
    (bench.folder / "page.png").write_bytes(encoded(Image.new("RGB", (200, 100), WHITE), "PNG"))
    return bench


def edit(bench: Bench, tool: str, source: str = "page.png", **arguments: Any) -> Image.Image:
    """The picture that a tool makes of a source."""
    answer = json.loads(bench.text(f"imagesorcery-mcp/{tool}", input_path=source, **arguments))
    with Image.open(bench.folder / answer["images"][0]) as image:
        image.load()
        return image


def shapes(name: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {name: list(items)}


def stripes(size: tuple[int, int] = (200, 100)) -> Image.Image:
    """Black and white columns, four pixels wide."""
    image = Image.new("RGB", size, WHITE)
    pen = ImageDraw.Draw(image)
    for left in range(0, size[0], 8):
        pen.rectangle((left, 0, left + 3, size[1]), fill="black")
    return image


def changed(before: Image.Image, after: Image.Image) -> tuple[int, int, int, int] | None:
    """The box in which two pictures differ."""
    return ImageChops.difference(before.convert("RGB"), after.convert("RGB")).getbbox()


DEFAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("crop", {"x1": 0, "y1": 0, "x2": 10, "y2": 10}, "cropped"),
    ("blur", {"areas": []}, "blurred"),
    ("draw_arrows", {"arrows": []}, "with_arrows"),
    ("change_color", {"palette": "sepia"}, "sepia"),
    ("change_color", {"palette": "grayscale"}, "grayscale"),
    ("draw_circles", {"circles": []}, "with_circles"),
    ("draw_lines", {"lines": []}, "with_lines"),
    ("draw_texts", {"texts": []}, "with_text"),
]


@pytest.mark.parametrize(("tool", "arguments", "ending"), DEFAULTS)
@pytest.mark.parametrize("name", ["./media/a.b.png", "/workspace/media/photo.JPG", "media/x.webp"])
def test_the_new_file_stands_beside_the_source_under_a_name_that_says_what_was_done(
    bench: Bench, tool: str, arguments: dict[str, Any], ending: str, name: str
) -> None:
    stem, suffix = name.rsplit(".", 1)
    source = bench.workspace.resolve(name)
    source.parent.mkdir()
    content = encoded(Image.new("RGB", (20, 10), RED), {"png": "PNG", "JPG": "JPEG", "webp": "WEBP"}[suffix])
    source.write_bytes(content)
    text = bench.text(f"imagesorcery-mcp/{tool}", input_path=name, **arguments)
    made = f"{stem}_{ending}.{suffix}"
    assert text == json.dumps({"images": [made]}, indent=2)
    assert bench.workspace.resolve(made).is_file()
    assert_same_bytes(source.read_bytes(), content, "the source")


def test_a_given_path_decides_the_name_and_the_format(page: Bench) -> None:
    for name, kind in (("out/a.jpg", "JPEG"), ("./b.webp", "WEBP"), ("/workspace/c.png", "PNG")):
        text = page.text("imagesorcery-mcp/crop", input_path="page.png", x1=0, y1=0, x2=10, y2=10.0, output_path=name)
        assert json.loads(text) == {"images": [name]}
        with Image.open(page.workspace.resolve(name)) as image:
            assert (image.format, image.size) == (kind, (10, 10))


def test_the_source_is_never_replaced(page: Bench) -> None:
    before = (page.folder / "page.png").read_bytes()
    for name in ("page.png", "./page.png", "/workspace/page.png", "out/../page.png"):
        text = page.error("imagesorcery-mcp/change_color", input_path="page.png", palette="sepia", output_path=name)
        assert "is the source itself" in text
    assert_same_bytes((page.folder / "page.png").read_bytes(), before, "page.png")


def test_an_output_name_that_is_no_picture_is_refused_before_any_work(page: Bench) -> None:
    for name in ("a.svg", "a.txt", "folder/", "a"):
        assert "end it in one of .png" in page.error(
            "imagesorcery-mcp/change_color", input_path="page.png", palette="sepia", output_path=name
        )
    assert [path.name for path in page.folder.iterdir()] == ["page.png"]


def test_crop_cuts_out_exactly_what_is_asked_for(bench: Bench) -> None:
    image = Image.new("RGB", (30, 20))
    image.putdata([(x * 8, y * 12, 0) for y in range(20) for x in range(30)])
    (bench.folder / "a.png").write_bytes(encoded(image, "PNG"))
    part = edit(bench, "crop", "a.png", x1=5, y1=3, x2=12, y2=20)
    assert part.size == (7, 17)
    assert changed(part, image.crop((5, 3, 12, 20))) is None


@pytest.mark.parametrize(
    "corners",
    [
        (-1, 0, 10, 10),
        (0, 0, 201, 10),
        (0, 0, 10, 101),
        (10, 0, 10, 10),
        (20, 0, 10, 10),
        (0, 50, 10, 40),
        (300, 0, 400, 9),
    ],
)
def test_crop_corners_outside_or_in_the_wrong_order_are_refused_with_the_size(
    page: Bench, corners: tuple[int, int, int, int]
) -> None:
    x1, y1, x2, y2 = corners
    text = page.error("imagesorcery-mcp/crop", input_path="page.png", x1=x1, y1=y1, x2=x2, y2=y2)
    assert text == (
        f"Error executing tool crop: Invalid crop coordinates: ({x1},{y1})→({x2},{y2}) for image size 200x100"
    )


def blurred(bench: Bench, areas: list[dict[str, Any]], **more: Any) -> Image.Image:
    (bench.folder / "stripes.png").write_bytes(encoded(stripes(), "PNG"))
    return edit(bench, "blur", "stripes.png", areas=areas, **more)


def test_blur_changes_the_areas_and_nothing_else(bench: Bench) -> None:
    after = blurred(bench, [{"x1": 40, "y1": 20, "x2": 80, "y2": 60, "blur_strength": 25}])
    assert changed(stripes(), after) == (40, 20, 80, 60)
    inside = ImageStat.Stat(after.convert("L").crop((45, 25, 75, 55)))
    assert inside.stddev[0] < 5


def test_the_same_edit_of_the_same_picture_gives_the_same_file_and_of_another_picture_its_own(bench: Bench) -> None:
    areas = [{"x1": 10, "y1": 10, "x2": 60, "y2": 60, "blur_strength": 9}]
    made = []
    for number, picture in enumerate((stripes(), stripes(), Image.new("RGB", (200, 100), RED))):
        (bench.folder / f"{number}.png").write_bytes(encoded(picture, "PNG"))
        edit(bench, "blur", f"{number}.png", areas=areas)
        made.append((bench.folder / f"{number}_blurred.png").read_bytes())
    assert made[0] == made[1]
    assert made[0] != made[2]
    edit(bench, "blur", "1.png", areas=areas, invert_areas=True)
    assert (bench.folder / "1_blurred.png").read_bytes() != made[0]


def test_blur_can_spare_the_areas_instead(bench: Bench) -> None:
    area = {"x1": 40, "y1": 20, "x2": 80, "y2": 60, "blur_strength": 25}
    after = blurred(bench, [area], invert_areas=True)
    assert changed(stripes().crop((40, 20, 80, 60)), after.crop((40, 20, 80, 60))) is None
    assert changed(stripes(), after) == (0, 0, 200, 100)


def test_the_strength_of_the_first_area_holds_for_all_and_is_made_odd(bench: Bench) -> None:
    left, right = {"x1": 0, "y1": 0, "x2": 50, "y2": 100}, {"x1": 100, "y1": 0, "x2": 150, "y2": 100}
    even = blurred(bench, [{**left, "blur_strength": 4}, {**right, "blur_strength": 99}])
    odd = blurred(bench, [{**left, "blur_strength": 5}, right], output_path="odd.png")
    usual = blurred(bench, [left, {**right, "blur_strength": 5}], output_path="usual.png")
    fifteen = blurred(bench, [{**left, "blur_strength": 15}, right], output_path="fifteen.png")
    assert changed(even, odd) is None
    assert changed(usual, fifteen) is None
    assert changed(odd, fifteen) is not None


def test_a_polygon_is_blurred_within_its_corners(bench: Bench) -> None:
    after = blurred(bench, [{"polygon": [[100, 10], [180, 90], [20, 90]]}])
    assert changed(stripes().crop((0, 0, 60, 40)), after.crop((0, 0, 60, 40))) is None
    assert changed(stripes().crop((90, 60, 110, 80)), after.crop((90, 60, 110, 80))) is not None


@pytest.mark.parametrize(
    ("area", "box"),
    [
        ({"x1": 80, "y1": 60, "x2": 40, "y2": 20}, (40, 20, 80, 60)),
        ({"x1": -50, "y1": -50, "x2": 40, "y2": 20}, (0, 0, 40, 20)),
        ({"x1": 160, "y1": 60, "x2": 9000, "y2": 9000}, (160, 60, 200, 100)),
        ({"x1": 300, "y1": 0, "x2": 400, "y2": 50}, None),
        ({"x1": 20, "y1": 20, "x2": 20, "y2": 60}, None),
        ({"x1": 20, "y1": 20, "x2": 60}, None),
        ({}, None),
    ],
)
def test_odd_areas_are_put_right_or_passed_over(
    bench: Bench, area: dict[str, Any], box: tuple[int, int, int, int] | None
) -> None:
    assert changed(stripes(), blurred(bench, [area])) == box


def test_a_blur_of_any_strength_ends(bench: Bench) -> None:
    area = {"x1": 0, "y1": 0, "x2": 200, "y2": 100}
    assert blurred(bench, [{**area, "blur_strength": 1}]).size == (200, 100)
    assert blurred(bench, [{**area, "blur_strength": 99_999}]).size == (200, 100)
    for strength in (0, -3, "much", 1e300):
        (bench.folder / "stripes.png").write_bytes(encoded(stripes(), "PNG"))
        text = bench.error(
            "imagesorcery-mcp/blur", input_path="stripes.png", areas=[{**area, "blur_strength": strength}]
        )
        assert "'blur_strength' in areas[0]" in text


@pytest.mark.parametrize("polygon", [[], [[1, 2]], "triangle", [[1, 2], [3, 4], [5]], [[1, 2], [3, 4], ["a", 6]], None])
def test_a_polygon_that_is_none_is_refused(page: Bench, polygon: object) -> None:
    text = page.error("imagesorcery-mcp/blur", input_path="page.png", areas=[{"polygon": polygon}])
    assert "'polygon' in areas[0]" in text


def test_grayscale_and_sepia(bench: Bench) -> None:
    (bench.folder / "a.png").write_bytes(encoded(Image.new("RGB", (8, 8), (100, 150, 200)), "PNG"))
    assert colour(edit(bench, "change_color", "a.png", palette="grayscale"), 4, 4) == (141, 141, 141)
    red, green, blue = colour(edit(bench, "change_color", "a.png", palette="sepia"), 4, 4)
    assert (red, green, blue) == pytest.approx((192, 171, 133), abs=1)


def test_colours_are_blue_green_red(page: Bench) -> None:
    after = edit(
        page, "draw_lines", lines=[{"x1": 0, "y1": 50, "x2": 199, "y2": 50, "color": [0, 0, 255], "thickness": 5}]
    )
    assert colour(after, 100, 50) == RED
    circle = {"center_x": 100, "center_y": 50, "radius": 20, "color": [255, 0, 0], "filled": True}
    assert colour(edit(page, "draw_circles", circles=[circle]), 100, 50) == BLUE


def test_a_line_has_the_asked_thickness_and_place(page: Bench) -> None:
    for thickness, box in (
        (1, (20, 50, 181, 51)),
        (3, (19, 49, 182, 52)),
        (9, (16, 46, 185, 55)),
        (0, (20, 50, 181, 51)),
    ):
        line = {"x1": 180, "y1": 50, "x2": 20, "y2": 50, "thickness": thickness}
        assert changed(Image.new("RGB", (200, 100), WHITE), edit(page, "draw_lines", lines=[line])) == box


def test_an_arrow_has_its_tip_at_the_end(page: Bench) -> None:
    after = edit(page, "draw_arrows", arrows=[{"x1": 20, "y1": 50, "x2": 180, "y2": 50, "tip_length": 0.25}])
    dark = [(x, y) for x in range(200) for y in range(100) if colour(after, x, y) == (0, 0, 0)]
    spread = {x: max(y for at, y in dark if at == x) - min(y for at, y in dark if at == x) for x, _ in dark}
    assert spread[180] == spread[100] == 0
    assert max(spread, key=lambda x: spread[x]) == pytest.approx(180 - 40 * 0.7071, abs=1)
    assert max(spread.values()) == pytest.approx(2 * 40 * 0.7071, abs=2)


def test_a_circle_is_drawn_on_its_radius(page: Bench) -> None:
    white = Image.new("RGB", (200, 100), WHITE)
    ring = {"center_x": 100, "center_y": 50, "radius": 30, "thickness": 5}
    after = edit(page, "draw_circles", circles=[ring])
    assert changed(white, after) == (68, 18, 133, 83)
    assert colour(after, 100, 50) == WHITE
    for disc in ({**ring, "filled": True}, {**ring, "thickness": -1}):
        after = edit(page, "draw_circles", circles=[disc])
        assert changed(white, after) == (70, 20, 131, 81)
        assert colour(after, 100, 50) == (0, 0, 0)


def test_a_circle_without_radius_is_a_dot(page: Bench) -> None:
    after = edit(page, "draw_circles", circles=[{"center_x": 100, "center_y": 50, "radius": 0, "thickness": 7}])
    assert changed(Image.new("RGB", (200, 100), WHITE), after) == (97, 47, 104, 54)


def test_text_stands_on_its_point_with_capitals_of_21_pixels(page: Bench) -> None:
    after = edit(page, "draw_texts", texts=[{"text": "HEH", "x": 40, "y": 70}])
    box = changed(Image.new("RGB", (200, 100), WHITE), after)
    assert box is not None
    left, top, right, bottom = box
    assert 40 <= left <= 44
    assert bottom == 70
    assert 20 <= bottom - top <= 22
    assert 50 <= right - left <= 75


def test_text_scales_with_font_scale_face_and_thickness(page: Bench) -> None:
    white = Image.new("RGB", (200, 100), WHITE)

    def size(**more: Any) -> tuple[int, float]:
        after = edit(page, "draw_texts", texts=[{"text": "HEH", "x": 20, "y": 80, **more}])
        box = changed(white, after)
        assert box is not None
        return box[3] - box[1], 255 - ImageStat.Stat(after.convert("L")).mean[0]

    usual = size()
    assert size(font_scale=2)[0] == pytest.approx(2 * usual[0], abs=2)
    assert size(font_face="FONT_HERSHEY_PLAIN")[0] == pytest.approx(9, abs=1)
    assert size(font_face="no such face") == usual
    assert usual[1] < size(thickness=2)[1] < size(thickness=4)[1]


@pytest.mark.skipif(
    from_wheel() is None and shutil.which("tesseract") is None, reason="there is no Tesseract on this machine"
)
def test_drawn_text_can_be_read_again(bench: Bench) -> None:
    (bench.folder / "a.png").write_bytes(encoded(Image.new("RGB", (1000, 200), (230, 235, 240)), "PNG"))
    text = "Expected Growth Estimation = 13.18%"
    entry = {"text": text, "x": 50, "y": 100, "font_scale": 1.2, "color": [0, 0, 255], "thickness": 2}
    edit(bench, "draw_texts", "a.png", texts=[entry], output_path="b.png")
    assert bench.text("ocr/perform_ocr", input_data="b.png") == text


@pytest.mark.parametrize(
    "text", ["Café São Paulo", "Ωμέγα", "Жизнь", "25 € → 30 €", "e\u0301te\u0301", "東京", "a\x00b", "\ud800"]
)
def test_text_in_any_letters_is_drawn(page: Bench, text: str) -> None:
    after = edit(page, "draw_texts", texts=[{"text": text, "x": 10, "y": 60, "font_scale": 0.5}])
    assert changed(Image.new("RGB", (200, 100), WHITE), after) is not None


def test_accents_and_other_alphabets_are_letters_and_not_boxes(page: Bench) -> None:
    drawn = {
        letter: edit(page, "draw_texts", texts=[{"text": letter, "x": 10, "y": 60}]).tobytes()
        for letter in "éüñßΩЖ€→\ue000"
    }
    assert len(set(drawn.values())) == len(drawn)


def test_lines_of_text_stand_below_each_other(page: Bench) -> None:
    one = edit(page, "draw_texts", texts=[{"text": "H", "x": 10, "y": 30}])
    two = edit(page, "draw_texts", texts=[{"text": "H\nH", "x": 10, "y": 30}], output_path="two.png")
    box = changed(one, two)
    assert box is not None
    assert box[1] > 30


Draw = tuple[str, str, dict[str, Any]]
DRAWINGS: list[Draw] = [
    ("draw_lines", "lines", {"x1": 10, "y1": 10, "x2": 90, "y2": 50}),
    ("draw_arrows", "arrows", {"x1": 10, "y1": 10, "x2": 90, "y2": 50}),
    ("draw_circles", "circles", {"center_x": 50, "center_y": 50, "radius": 20}),
    ("draw_texts", "texts", {"text": "label", "x": 10, "y": 50}),
]


@pytest.mark.parametrize(("tool", "name", "item"), DRAWINGS)
def test_shapes_outside_the_picture_leave_it_as_it_is(page: Bench, tool: str, name: str, item: dict[str, Any]) -> None:
    far = {key: value + 5000 if key in ("x", "x1", "x2", "center_x") else value for key, value in item.items()}
    near = {key: value - 5000 if key in ("y", "y1", "y2", "center_y") else value for key, value in item.items()}
    assert changed(Image.new("RGB", (200, 100), WHITE), edit(page, tool, **shapes(name, far, near))) is None


@pytest.mark.parametrize(("tool", "name", "item"), DRAWINGS)
def test_an_empty_list_gives_a_copy(page: Bench, tool: str, name: str, item: dict[str, Any]) -> None:
    assert changed(Image.new("RGB", (200, 100), WHITE), edit(page, tool, **shapes(name))) is None


@pytest.mark.sample(1)
@pytest.mark.parametrize(("tool", "name", "item"), DRAWINGS)
def test_ten_thousand_shapes_are_drawn(page: Bench, tool: str, name: str, item: dict[str, Any]) -> None:
    assert edit(page, tool, **shapes(name, *[item] * 10_000)).size == (200, 100)


@pytest.mark.parametrize(("tool", "name", "item"), DRAWINGS)
def test_enormous_shapes_are_drawn_or_refused(page: Bench, tool: str, name: str, item: dict[str, Any]) -> None:
    for more in ({"thickness": 32_767}, {"font_scale": 100}, {"radius": 100_000}, {"x2": 100_000, "y2": -100_000}):
        edit(page, tool, **shapes(name, {**item, **more}))
    for thickness in (10**9, -7, "wide", True):
        bad = {**item, "thickness": thickness}
        text = page.error(f"imagesorcery-mcp/{tool}", input_path="page.png", **{name: [item, bad]})
        assert "thickness" in text
        assert f"{name}[1]" in text


@pytest.mark.parametrize(("tool", "name", "item"), DRAWINGS)
def test_a_missing_or_senseless_value_is_refused_by_its_name(
    page: Bench, tool: str, name: str, item: dict[str, Any]
) -> None:
    for key in item:
        rest = {other: value for other, value in item.items() if other != key}
        assert f"{key}' is " in page.error(f"imagesorcery-mcp/{tool}", input_path="page.png", **{name: [rest]})
        for wrong in ([1], {"a": 1}, None):
            text = page.error(f"imagesorcery-mcp/{tool}", input_path="page.png", **{name: [{**item, key: wrong}]})
            assert key in text
    colors: list[object] = ["red", [0, 0], [0, 0, 256], [-1, 0, 0], [1, 2, 3, 4, 5], ["a", "b", "c"], {}]
    for color in colors:
        text = page.error(f"imagesorcery-mcp/{tool}", input_path="page.png", **{name: [{**item, "color": color}]})
        assert "color" in text
    assert [path.name for path in page.folder.iterdir()] == ["page.png"]


def test_coordinates_beyond_all_measure_are_refused(page: Bench) -> None:
    for value in (10**12, -(10**12), 1e300):
        line = {"x1": value, "y1": 0, "x2": 1, "y2": 1}
        assert "'x1' in lines[0]" in page.error("imagesorcery-mcp/draw_lines", input_path="page.png", lines=[line])


@pytest.mark.slow
def test_more_painting_than_a_sandbox_can_afford_is_refused_quickly(bench: Bench) -> None:
    (bench.folder / "a.png").write_bytes(encoded(Image.new("RGB", (2000, 2000)), "PNG"))
    disc = {"center_x": 1000, "center_y": 1000, "radius": 100_000, "filled": True}
    text = bench.error("imagesorcery-mcp/draw_circles", input_path="a.png", circles=[disc] * 20_000)
    assert "too many pixels" in text
    area = {"polygon": [[0, 0], [2000, 0], [1000, 2000]]}
    text = bench.error("imagesorcery-mcp/blur", input_path="a.png", areas=[area] * 1000)
    assert "too many pixels" in text
    words = {"text": "W" * 10_000, "x": 0, "y": 1000, "font_scale": 50}
    text = bench.error("imagesorcery-mcp/draw_texts", input_path="a.png", texts=[words] * 10_000)
    assert "smaller font_scale" in text
    assert "10001 characters" in bench.error(
        "imagesorcery-mcp/draw_texts", input_path="a.png", texts=[{"text": "x" * 10_001, "x": 0, "y": 0}]
    )


@pytest.mark.parametrize(("tool", "arguments", "ending"), DEFAULTS)
def test_transparency_is_kept(bench: Bench, tool: str, arguments: dict[str, Any], ending: str) -> None:
    image = Image.new("RGBA", (40, 40), (0, 200, 0, 255))
    image.paste((0, 0, 0, 0), (20, 0, 40, 40))
    for name, kind in (("a.png", "PNG"), ("a.webp", "WEBP")):
        (bench.folder / name).write_bytes(encoded(image, kind, **({"lossless": True} if kind == "WEBP" else {})))
        whole = {"x2": 40, "y2": 40} if tool == "crop" else {}
        alpha = edit(bench, tool, name, **{**arguments, **whole}).getchannel("A")
        assert changed(alpha, image.getchannel("A")) is None


def test_blur_does_not_bleed_what_is_transparent(bench: Bench) -> None:
    image = Image.new("RGBA", (40, 40), (255, 255, 255, 255))
    image.paste((0, 0, 0, 0), (20, 0, 40, 40))
    (bench.folder / "a.png").write_bytes(encoded(image, "PNG"))
    after = edit(bench, "blur", "a.png", areas=[{"x1": 0, "y1": 0, "x2": 40, "y2": 40, "blur_strength": 9}])
    assert min(colour(after, 19, 20)[:3]) >= 250
    assert 60 < colour(after, 19, 20)[3] < 200


def test_shapes_on_a_transparent_picture_are_opaque(bench: Bench) -> None:
    (bench.folder / "a.png").write_bytes(encoded(Image.new("RGBA", (40, 40)), "PNG"))
    after = edit(
        bench, "draw_circles", "a.png", circles=[{"center_x": 20, "center_y": 20, "radius": 9, "filled": True}]
    )
    assert colour(after, 20, 20) == (0, 0, 0, 255)
    assert colour(after, 1, 1)[3] == 0


def test_a_picture_taken_sideways_is_cut_as_it_is_seen(bench: Bench) -> None:
    upright = Image.new("RGB", (60, 40), RED)
    upright.paste(BLUE, (0, 0, 30, 20))
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = upright.transpose(Image.Transpose.ROTATE_90)
    (bench.folder / "a.jpg").write_bytes(encoded(stored, "JPEG", exif=exif, quality=95))
    part = edit(bench, "crop", "a.jpg", x1=0, y1=0, x2=30, y2=20)
    assert part.size == (30, 20)
    assert colour(part, 15, 10)[2] > 200
    assert not part.getexif()


def test_every_kind_of_picture_file_is_edited(bench: Bench) -> None:
    for name, content in odd_pictures(stripes()).items():
        (bench.folder / name).write_bytes(content)
        circle = {"center_x": 100, "center_y": 50, "radius": 40, "color": [0, 0, 255], "filled": True}
        after = edit(bench, "draw_circles", name, circles=[circle]).convert("RGB")
        assert after.size == (200, 100), name
        red, green, blue = colour(after, 100, 50)
        assert red > 230, name
        assert max(green, blue) < 30, name


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_unreadable_files_are_refused(bench: Bench, name: str) -> None:
    write_unreadable(bench.folder)
    text = bench.error("imagesorcery-mcp/change_color", input_path=name, palette="sepia", output_path="out.png")
    assert name in text
    assert not (bench.folder / "out.png").exists()


def test_a_missing_file_is_named(bench: Bench) -> None:
    text = bench.error("imagesorcery-mcp/crop", input_path="./none.png", x1=0, y1=0, x2=1, y2=1)
    assert text == "Error executing tool crop: Input file not found: ./none.png"


@pytest.mark.parametrize("path", ["../a.png", "/etc/passwd", "~/a.png", "http://example.com/a.png", "A" * 50_000_000])
def test_no_path_leads_out_of_the_workspace(page: Bench, path: str) -> None:
    assert len(page.error("imagesorcery-mcp/change_color", input_path=path, palette="sepia")) < 500
    assert (
        len(page.error("imagesorcery-mcp/change_color", input_path="page.png", palette="sepia", output_path=path)) < 500
    )


def test_a_circle_by_another_name_is_refused_by_the_missing_field(page: Bench) -> None:
    text = page.error("imagesorcery-mcp/draw_circles", image_path="page.png", coordinates=[[1, 2]])
    assert "'input_path' is required" in text


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_the_same_call_gives_the_same_file(prepared: Callable[[str], Bench], suffix: str) -> None:
    made = []
    for _ in range(2):
        bench = prepared("imagesorcery-mcp")
        edit(
            bench,
            "draw_texts",
            "./media/house.png",
            texts=[{"text": "Zürich 2025", "x": 20, "y": 60, "thickness": 2}],
            output_path=f"out.{suffix}",
        )
        made.append((bench.folder / f"out.{suffix}").read_bytes())
    assert made[0] == made[1]
