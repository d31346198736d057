"""The `ocr` server reads what is written in a picture and takes nothing else on its command line."""

import shutil
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from PIL import Image, ImageDraw, ImageFont, ImageOps

from m3bench.sandboxes import ocr as reading
from m3bench.sandboxes.ocr import OcrEngine, RapidOcr, Tesseract, find_engine, from_wheel, lines_of
from m3bench.sandboxes.servers.ocr import read_options
from m3bench.tasks.errors import SandboxError, ToolError
from tests.children import children
from tests.pictures import UNREADABLE, encoded, odd_pictures, write_unreadable, written
from tests.sandboxes.servers.conftest import Bench

pytestmark = pytest.mark.skipif(
    from_wheel() is None and shutil.which("tesseract") is None, reason="there is no Tesseract on this machine"
)

BULLETS = [
    "Revenue grew 13.18% to $4.2 million",
    "Operating costs fell by 7% year over year",
    "New offices opened in Lisbon and Osaka",
    "Headcount: 248 employees across 9 teams",
]
CODE = [
    "def moving_average(values, window):",
    "    total = 0.0",
    "    result = []",
    "    for index, value in enumerate(values):",
    "        total += value",
    "        if index >= window:",
    "            total -= values[index - window]",
    "            result.append(total / window)",
    "    return result",
]
TABLE = [
    ["Country", "Capital", "Population"],
    ["France", "Paris", "68,042,591"],
    ["Japan", "Tokyo", "123,802,000"],
    ["Kenya", "Nairobi", "53,330,978"],
]


def accuracy(lines: Sequence[str], text: str) -> float:
    """The share of the words that were read exactly."""
    expected, actual = Counter(" ".join(lines).split()), Counter(text.split())
    return (expected & actual).total() / expected.total()


def put(bench: Bench, image: Image.Image, name: str = "page.png") -> str:
    """Save a picture in the workspace and give its path."""
    (bench.folder / name).write_bytes(encoded(image, "JPEG" if name.endswith(".jpg") else "PNG"))
    return f"./{name}"


def slide() -> Image.Image:
    image = written(BULLETS, size=30, width=1280)
    page = Image.new("RGB", (1280, 720), "white")
    page.paste(image, (0, 160))
    pen = ImageDraw.Draw(page)
    pen.rectangle((0, 0, 1280, 120), fill="#0b3d91")
    pen.text((60, 35), "Quarterly Revenue Review 2025", font=ImageFont.load_default(52), fill="white")
    return page


def table() -> Image.Image:
    image = Image.new("RGB", (900, 400), "white")
    pen = ImageDraw.Draw(image)
    for row, cells in enumerate(TABLE):
        for column, cell in enumerate(cells):
            left, top = 40 + column * 270, 30 + row * 80
            pen.rectangle((left, top, left + 270, top + 80), outline="black", width=2)
            pen.text((left + 20, top + 25), cell, font=ImageFont.load_default(26), fill="black")
    return image


def test_a_slide_is_read_with_at_most_one_word_in_twenty_wrong(bench: Bench) -> None:
    text = bench.text("ocr/perform_ocr", input_data=put(bench, slide()))
    assert accuracy(["Quarterly Revenue Review 2025", *BULLETS], text) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("size", [18, 24])
def test_light_code_on_a_dark_screen_is_read_with_at_most_one_word_in_twenty_wrong(bench: Bench, size: int) -> None:
    image = written(CODE, size=size, ink="#d4d4d4", paper="#1e1e1e", width=700)
    assert accuracy(CODE, bench.text("ocr/perform_ocr", input_data=put(bench, image))) >= 0.95


def test_the_lines_of_a_table_do_not_hide_its_words(bench: Bench) -> None:
    text = bench.text("ocr/perform_ocr", input_data=put(bench, table()))
    assert [line.split() for line in text.splitlines() if line] == TABLE


def test_white_writing_in_boxes_is_read_beside_dark_writing_on_paper(bench: Bench) -> None:
    image = written(["Please choose one of these options"], size=26, width=700)
    page = Image.new("RGB", (700, 300), "white")
    page.paste(image, (0, 100))
    pen = ImageDraw.Draw(page)
    for left, label, colour in ((40, "Submit", "#1f6feb"), (300, "Cancel order", "#222222")):
        pen.rounded_rectangle((left, 20, left + 220, 80), 10, fill=colour)
        pen.text((left + 25, 32), label, font=ImageFont.load_default(26), fill="white")
    text = bench.text("ocr/perform_ocr", input_data=put(bench, page))
    assert text.split() == ["Submit", "Cancel", "order", "Please", "choose", "one", "of", "these", "options"]


def test_a_photo_taken_sideways_is_read_upright(bench: Bench) -> None:
    image = written(BULLETS).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    (bench.folder / "photo.jpg").write_bytes(encoded(image, "JPEG", exif=exif, quality=90))
    assert accuracy(BULLETS, bench.text("ocr/perform_ocr", input_data="photo.jpg")) == 1


@pytest.mark.slow
def test_every_kind_of_picture_file_is_read(bench: Bench) -> None:
    for name, content in odd_pictures(written(BULLETS[:1], width=640)).items():
        (bench.folder / name).write_bytes(content)
        assert accuracy(BULLETS[:1], bench.text("ocr/perform_ocr", input_data=name)) == 1, name


def test_the_text_is_stripped_and_keeps_its_line_breaks(bench: Bench) -> None:
    path = put(bench, written(["First line", "Second line"]))
    assert bench.text("ocr/perform_ocr", input_data=path) == "First line\nSecond line"


def test_base64_data_is_read_like_the_file(bench: Bench) -> None:
    data = b64encode(encoded(written(["Gate B12 Boarding"]), "PNG")).decode()
    folded = "\n".join(data[start : start + 76] for start in range(0, len(data), 76))
    for given in (data, folded, f"data:image/png;base64,{data}"):
        assert bench.text("ocr/perform_ocr", input_data=given) == "Gate B12 Boarding"


def test_options_reach_tesseract(bench: Bench) -> None:
    path = put(bench, written(["Total 2814 paid"]))
    assert bench.text("ocr/perform_ocr", input_data=path, config="--psm 7") == "Total 2814 paid"
    digits = bench.text(
        "ocr/perform_ocr", input_data=path, config="--psm=7 -c tessedit_char_whitelist=0123456789 --oem 1"
    )
    assert "2814" in digits
    assert digits.replace(" ", "").isdigit()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("--psm 6 /etc/passwd", "'/etc/passwd'"),
        ("--psm 6 pdf", "'pdf'"),
        ("--tessdata-dir /tmp", "'--tessdata-dir'"),
        ("--user-words words.txt", "'--user-words'"),
        ("-l deu", "'-l'"),
        ("-c debug_file=/tmp/x", "'debug_file'"),
        ("-c tessedit_write_images=1", "'tessedit_write_images'"),
        ("-c tessedit_char_whitelist", "expected -c name=value"),
        ("--psm", "needs a value"),
        ("--psm 14", "from 0 to 13"),
        ("--oem -1", "from 0 to 3"),
        ("--psm 6; rm -rf .", "from 0 to 13"),
        ("--psm '6", "No closing quotation"),
        ("x" * 5000, "5000 characters"),
    ],
)
def test_other_options_are_refused(bench: Bench, config: str, said: str) -> None:
    path = put(bench, written(["Text"]))
    reply = bench.reply("ocr/perform_ocr", input_data=path, config=config)
    assert reply.outcome == "invalid_arguments"
    assert said in reply.result["content"][0]["text"]


def test_options_that_the_language_data_cannot_serve_are_refused(bench: Bench) -> None:
    path = put(bench, written(BULLETS))
    assert "'--oem 3 --psm 6'" in bench.error("ocr/perform_ocr", input_data=path, config="--oem 0")


def test_options_are_passed_on_in_their_order() -> None:
    assert read_options("--oem 3 --psm 6") == ["--oem", "3", "--psm", "6"]
    assert read_options("-c 'tessedit_char_whitelist=a b' --psm=7") == [
        "-c",
        "tessedit_char_whitelist=a b",
        "--psm",
        "7",
    ]
    assert read_options("") == []


@pytest.mark.parametrize("language", ["xyz", "eng+xyz", "", "../eng", "--psm"])
def test_an_unknown_language_is_refused_with_those_there_are(bench: Bench, language: str) -> None:
    text = bench.error("ocr/perform_ocr", input_data=put(bench, written(["Text"])), language=language)
    assert "Unsupported language" in text
    assert "eng" in text


def test_languages_are_listed_one_to_a_block(bench: Bench) -> None:
    blocks = bench.reply("ocr/get_supported_languages").result["content"]
    assert {"type": "text", "text": "eng"} in blocks


def test_a_picture_without_text_is_an_error(bench: Bench) -> None:
    path = put(bench, Image.new("RGB", (300, 200), "white"))
    assert bench.error("ocr/perform_ocr", input_data=path).endswith("No text detected in image")


@pytest.mark.parametrize("url", ["http://example.com/a.png", "HTTPS://example.com/a.png"])
def test_a_url_is_refused_for_want_of_a_network(bench: Bench, url: str) -> None:
    assert "no network" in bench.error("ocr/perform_ocr", input_data=url)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("./missing.png", "File not found: './missing.png'"),
        ("menu", "File not found: 'menu'"),
        ("../outside.png", "leaves the workspace"),
        ("/etc/passwd", "leaves the workspace"),
        ("file:///etc/passwd", "is a URL"),
        ("", "The path is empty"),
        ("iVBORw0KGgo=", "the base64 data"),
        ("data:image/png;base64,????", "neither the path of a file nor base64 data"),
        ("!" * 2000, "neither the path of a file nor base64 data"),
    ],
)
def test_input_that_is_no_picture_is_refused(bench: Bench, given: str, said: str) -> None:
    assert said in bench.error("ocr/perform_ocr", input_data=given)


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_unreadable_files_are_refused(bench: Bench, name: str) -> None:
    write_unreadable(bench.folder)
    assert name in bench.error("ocr/perform_ocr", input_data=name)


def test_large_base64_data_is_refused_at_once(bench: Bench) -> None:
    assert "the base64 data" in bench.error("ocr/perform_ocr", input_data="A" * 50_000_000)
    assert "bytes allowed" in bench.error("ocr/perform_ocr", input_data="A" * 90_000_000)


def test_no_real_path_is_shown(bench: Bench) -> None:
    path = put(bench, written(BULLETS))
    for config in ("--psm 0", "--oem 2", "--psm 2"):
        text = bench.error("ocr/perform_ocr", input_data=path, config=config)
        assert "tessdata" not in text
        assert str(bench.folder) not in text


def program(folder: Path, source: str) -> str:
    """A program in Tesseract's place."""
    path = folder / "tesseract"
    path.write_text(f"#!{sys.executable} -S\n{source}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.slow
def test_reading_that_computes_too_long_is_stopped_and_leaves_no_process(tmp_path: Path) -> None:
    async def read() -> None:
        endless = Tesseract(program(tmp_path, "while True: pass"), cpu_seconds=1)
        with pytest.raises(ToolError, match="more than 1 seconds of a processor") as caught:
            await endless.read(written(BULLETS), "eng", ["--psm", "6"])
        assert caught.value.outcome == "invalid_arguments"

    before = children()
    anyio.run(read)
    assert children() <= before


def test_a_cancelled_call_leaves_no_process() -> None:
    async def read() -> None:
        picture = ImageOps.scale(written(BULLETS * 4), 3)
        with anyio.move_on_after(0.1) as scope:
            await find_engine().read(picture, "eng", ["--psm", "6"])
        assert scope.cancelled_caught

    before = children()
    anyio.run(read)
    assert children() <= before


def test_without_any_engine_the_error_says_what_to_install() -> None:
    with pytest.raises(SandboxError, match="install Tesseract"):
        find_engine(())


def test_the_first_engine_that_exists_is_taken() -> None:
    tesseract = Tesseract("/no/such/program")

    def missing() -> OcrEngine | None:
        return None

    assert find_engine((missing, lambda: tesseract)) is tesseract


def test_a_program_that_does_not_start_is_a_clear_error() -> None:
    with pytest.raises(SandboxError, match="Tesseract does not start"):
        anyio.run(Tesseract("/no/such/program").languages)


def test_a_program_that_is_killed_is_not_the_agents_fault(tmp_path: Path) -> None:
    killed = Tesseract(program(tmp_path, "import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(SandboxError, match="signal 9"):
        anyio.run(killed.languages)


def test_pieces_of_text_are_put_together_to_lines() -> None:
    pieces = [
        ((200.0, 52.0, 260.0, 78.0), "2.49"),
        ((10.0, 10.0, 90.0, 40.0), "SHOP"),
        ((10.0, 50.0, 80.0, 80.0), "Milk"),
    ]
    assert lines_of(pieces) == "SHOP\nMilk 2.49"


def test_rapidocr_results_become_lines() -> None:
    corners = [[[10, 10], [90, 12], [90, 40], [10, 38]], [[100, 11], [150, 11], [150, 39], [100, 39]]]
    engine = RapidOcr(lambda picture: SimpleNamespace(boxes=corners, txts=("Corner", "Market")))
    nothing = RapidOcr(lambda picture: SimpleNamespace(boxes=None, txts=None))
    picture = Image.new("RGB", (10, 10))
    assert anyio.run(engine.read, picture, "eng", []) == "Corner Market"
    assert anyio.run(nothing.read, picture, "eng", []) == ""


def test_the_same_picture_gives_the_same_text_every_time(
    prepared: Callable[[str], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = set()
    for _ in range(3):
        monkeypatch.setattr(reading, "_TEXTS", {})
        texts.add(prepared("ocr").text("ocr/perform_ocr", input_data="./media/hours.png"))
    assert len(texts) == 1


@pytest.mark.slow
def test_what_was_read_is_not_read_again_unless_something_differs(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_TEXTS", {})
    monkeypatch.setattr(reading, "MOST_TEXTS", 2)
    reads: list[tuple[int, ...]] = []
    read = Tesseract.read

    async def counted(engine: Tesseract, picture: Image.Image, language: str, options: Sequence[str]) -> str:
        reads.append(picture.size)
        return await read(engine, picture, language, options)

    monkeypatch.setattr(Tesseract, "read", counted)
    first, second = put(bench, written(BULLETS), "one.png"), put(bench, written(CODE), "two.png")
    texts = [
        bench.text("ocr/perform_ocr", input_data=path, config=config)
        for path, config in [(first, "--psm 6"), (first, "--psm 6"), (second, "--psm 6"), (first, "--psm 4")]
    ]
    assert len(reads) == 3
    assert texts[0] == texts[1] != texts[2]
    # The first two are the oldest of three and were given up.
    assert bench.text("ocr/perform_ocr", input_data=first, config="--psm 6") == texts[0]
    assert len(reads) == 4
