"""The `pyzbar-mcp` server finds codes in pictures as cameras take them and reports them as pyzbar does."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import barcode
import numpy as np
import pytest
import segno
import zxingcpp
from barcode.writer import ImageWriter
from PIL import Image, ImageFilter, ImageOps

from tests.pictures import UNREADABLE, encoded, odd_pictures, png_header, write_unreadable
from tests.sandboxes.servers.conftest import Bench

BOOK = "9780140714845"
LINK = "https://example.com/visit/porto"
LABEL = "PKG-2025-0417"
UPC = "036000291452"


def code(kind: str, text: str, scale: int = 4) -> Image.Image:
    """A code as zxing-cpp draws it."""
    drawn = zxingcpp.create_barcode(text, getattr(zxingcpp.BarcodeFormat, kind)).to_image(scale=scale)
    return Image.fromarray(np.array(drawn)).convert("RGB")


def segno_code(text: str) -> Image.Image:
    """A QR code as segno draws it."""
    file = BytesIO()
    segno.make(text, micro=False).save(file, kind="png", scale=6)
    return Image.open(file).convert("RGB")


def barcode_code(kind: str, text: str) -> Image.Image:
    """A bar code with its digits as python-barcode draws it."""
    file = BytesIO()
    barcode.get(kind, text, writer=ImageWriter()).write(file, {"module_width": 0.3, "quiet_zone": 4})
    return Image.open(file).convert("RGB")


WRITERS = {
    "zxing EAN-13": (lambda: code("EAN13", BOOK), BOOK),
    "zxing UPC-A": (lambda: code("UPCA", UPC), f"0{UPC}"),
    "zxing Code 128": (lambda: code("Code128", LABEL, 3), LABEL),
    "zxing QR": (lambda: code("QRCode", LINK, 6), LINK),
    "segno QR": (lambda: segno_code(LINK), LINK),
    "python-barcode EAN-13": (lambda: barcode_code("ean13", BOOK), BOOK),
    "python-barcode Code 128": (lambda: barcode_code("code128", LABEL), LABEL),
    "python-barcode UPC-A": (lambda: barcode_code("upca", UPC), f"0{UPC}"),
}


def background(width: int = 1000, height: int = 760) -> Image.Image:
    """Coloured patches with grain."""
    random = np.random.default_rng(7)
    patches = Image.fromarray(random.integers(0, 255, (height // 24, width // 24, 3), dtype=np.uint8))
    colours = np.asarray(patches.resize((width, height), Image.Resampling.BICUBIC))
    return Image.fromarray((colours + random.normal(0, 10, colours.shape)).clip(0, 255).astype(np.uint8))


def photo(label: Image.Image, *, turn: float = 0, scale: float = 1, blur: float = 0, noise: float = 0) -> Image.Image:
    """A label lying on a busy background, as a camera sees it."""
    card = ImageOps.scale(ImageOps.expand(label, 14, "white").convert("RGBA"), scale)
    card = card.rotate(turn, expand=True, resample=Image.Resampling.BICUBIC)
    image = background()
    image.paste(card, ((image.width - card.width) // 2, (image.height - card.height) // 2), card)
    image = image.filter(ImageFilter.GaussianBlur(blur))
    grain = np.random.default_rng(8).normal(0, noise, (image.height, image.width, 3))
    return Image.fromarray((np.asarray(image) + grain).clip(0, 255).astype(np.uint8))


def faint(image: Image.Image) -> Image.Image:
    """The same picture in pale greys."""
    return image.point(lambda value: 150 + value // 8)


def scan(bench: Bench, image: Image.Image) -> list[dict[str, Any]]:
    """The results for a picture saved as a photo."""
    (bench.folder / "photo.jpg").write_bytes(encoded(image, "JPEG", quality=85))
    results: list[dict[str, Any]] = json.loads(bench.text("pyzbar-mcp/scan_barcode", image_paths="photo.jpg"))[
        "metadata"
    ]["results"]
    return results


@pytest.mark.sample(3)
@pytest.mark.parametrize("writer", WRITERS)
def test_codes_are_read_from_a_busy_picture_whoever_drew_them(bench: Bench, writer: str) -> None:
    draw, text = WRITERS[writer]
    assert [result["data"] for result in scan(bench, photo(draw(), turn=10))] == [text]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("EAN13", BOOK), ("QRCode", LINK)], ids=lambda kind: kind[0])
@pytest.mark.parametrize(
    "change",
    [
        lambda label: photo(label, turn=45),
        lambda label: photo(label, turn=90),
        lambda label: photo(label, turn=-160, noise=15),
        lambda label: photo(label, scale=0.5, noise=15),
        lambda label: photo(label, scale=1.6),
        lambda label: photo(label, blur=2),
        lambda label: photo(label, noise=40),
        lambda label: faint(photo(label)),
        lambda label: faint(photo(label, turn=20, blur=1.2, noise=10)),
    ],
    ids=["45°", "90°", "-160°, noise", "half, noise", "large", "blur", "noise", "faint", "all together"],
)
def test_turned_scaled_blurred_noisy_and_faint_codes_are_read(
    bench: Bench, change: Callable[[Image.Image], Image.Image], kind: tuple[str, str]
) -> None:
    format_name, text = kind
    assert [result["data"] for result in scan(bench, change(code(format_name, text, 4)))] == [text]


def test_the_result_of_a_book_is_laid_out_as_the_public_server_does(bench: Bench) -> None:
    page = Image.new("RGB", (640, 480), "white")
    page.paste(code("EAN13", BOOK), (100, 120))
    (bench.folder / "book.png").write_bytes(encoded(page, "PNG"))
    text = bench.text("pyzbar-mcp/scan_barcode", image_paths=["./book.png", "./missing.png"])
    assert text == (
        '{"message":"Found the ISBN 9780140714845: look the book up by this number.","metadata":{"results":'
        '[{"type":"EAN13","data":"9780140714845","rect":{"x":144,"y":120,"width":379,"height":199},'
        '"isbn":"9780140714845"}]}}'
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "text", "name", "data"),
    [
        ("EAN8", "96385074", "EAN8", "96385074"),
        ("UPCE", "01234565", "EAN13", "0012345000065"),
        ("Code39", "ABC-123", "CODE39", "ABC-123"),
        ("Code93", "ABC-123", "CODE93", "ABC-123"),
        ("Codabar", "A12345B", "CODABAR", "A12345B"),
        ("ITF", "12345670", "I25", "12345670"),
        ("Code128", LABEL, "CODE128", LABEL),
        ("DataBar", "0104012345123456", "DATABAR", "0104012345123456"),
        ("QRCode", "Grüße, 東京", "QRCODE", "Grüße, 東京"),
        ("PDF417", "boarding pass", "PDF417", "boarding pass"),
        ("DataMatrix", "part 7", "DATAMATRIX", "part 7"),
        ("Aztec", "ticket 12", "AZTEC", "ticket 12"),
    ],
)
def test_types_have_the_names_of_pyzbar(bench: Bench, kind: str, text: str, name: str, data: str) -> None:
    results = scan(bench, ImageOps.expand(code(kind, text), 40, "white"))
    assert [(result["type"], result["data"]) for result in results] == [(name, data)]


def test_only_the_numbers_of_books_are_isbns(bench: Bench) -> None:
    for number, is_book in (("4006381333931", False), ("9790260000438", False), ("9791034304967", True)):
        result = scan(bench, ImageOps.expand(code("EAN13", number), 40, "white"))[0]
        assert result.get("isbn") == (number if is_book else None)


def test_several_codes_come_from_top_to_bottom(bench: Bench) -> None:
    page = Image.new("RGB", (1100, 1000), "white")
    page.paste(code("QRCode", LINK), (600, 40))
    page.paste(code("EAN13", BOOK), (60, 300))
    page.paste(code("Code128", LABEL, 3), (200, 700))
    (bench.folder / "page.png").write_bytes(encoded(page, "PNG"))
    answer = json.loads(bench.text("pyzbar-mcp/scan_barcode", image_paths="page.png"))
    assert [result["data"] for result in answer["metadata"]["results"]] == [LINK, BOOK, LABEL]
    assert BOOK in answer["message"]


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize("turn", [0, 45, 60, 90])
def test_the_rectangle_lies_on_the_code_however_it_was_found(bench: Bench, turn: float) -> None:
    image = photo(code("EAN13", BOOK), turn=turn, noise=10)
    rect = scan(bench, image)[0]["rect"]
    middle = rect["x"] + rect["width"] / 2, rect["y"] + rect["height"] / 2
    assert abs(middle[0] - image.width / 2) < 60
    assert abs(middle[1] - image.height / 2) < 60
    assert 100 < max(rect["width"], rect["height"]) < 500


def test_the_three_messages_differ(bench: Bench) -> None:
    said = set()
    for image in (code("EAN13", BOOK), code("QRCode", LINK), Image.new("RGB", (200, 200), "white")):
        (bench.folder / "a.png").write_bytes(encoded(image, "PNG"))
        said.add(json.loads(bench.text("pyzbar-mcp/scan_barcode", image_paths="a.png"))["message"])
    assert len(said) == 3


def test_a_picture_without_a_code_gives_an_empty_list(bench: Bench) -> None:
    assert scan(bench, background(400, 300)) == []


def test_light_bars_on_dark_ground_are_read(bench: Bench) -> None:
    assert scan(bench, ImageOps.invert(code("QRCode", LINK, 6)))[0]["data"] == LINK


def test_a_photo_taken_sideways_gives_upright_rectangles(bench: Bench) -> None:
    page = Image.new("RGB", (700, 400), "white")
    page.paste(code("EAN13", BOOK), (20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = page.transpose(Image.Transpose.ROTATE_90)
    (bench.folder / "a.jpg").write_bytes(encoded(turned, "JPEG", exif=exif, quality=95))
    result = json.loads(bench.text("pyzbar-mcp/scan_barcode", image_paths="a.jpg"))["metadata"]["results"][0]
    assert result["rect"]["width"] > result["rect"]["height"]


def test_every_kind_of_picture_file_is_read(bench: Bench) -> None:
    for name, content in odd_pictures(code("QRCode", LINK)).items():
        (bench.folder / name).write_bytes(content)
        results = json.loads(bench.text("pyzbar-mcp/scan_barcode", image_paths=[name]))["metadata"]["results"]
        assert [result["data"] for result in results] == [LINK], name


@pytest.mark.parametrize("path", ["missing.png", "../a.png", "/etc/passwd", "http://example.com/a.png", ""])
def test_a_file_that_cannot_be_read_is_an_error_without_the_mark(bench: Bench, path: str) -> None:
    reply = bench.reply("pyzbar-mcp/scan_barcode", image_paths=path)
    assert reply.outcome == "not_found"
    assert reply.result["isError"] is False
    assert reply.result["content"][0]["text"] == json.dumps(
        {"error": f"Unable to read image file: {path}"}, separators=(",", ":")
    )


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_unreadable_files_are_refused(bench: Bench, name: str) -> None:
    write_unreadable(bench.folder)
    assert name in json.loads(bench.error("pyzbar-mcp/scan_barcode", image_paths=name))["error"]


def test_a_picture_too_large_says_so(bench: Bench) -> None:
    (bench.folder / "a.png").write_bytes(png_header(7_000, 7_000))
    assert "7000x7000 pixels" in bench.error("pyzbar-mcp/scan_barcode", image_paths="a.png")


def test_an_empty_list_is_an_error(bench: Bench) -> None:
    assert "image_paths is empty" in bench.error("pyzbar-mcp/scan_barcode", image_paths=[])


def test_a_long_argument_is_refused_at_once(bench: Bench) -> None:
    assert len(bench.error("pyzbar-mcp/scan_barcode", image_paths="A" * 50_000_000)) < 300
