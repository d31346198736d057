"""Files that somebody else made are bounded, and the same file is the same picture everywhere."""

import io
import random
import zipfile
from collections.abc import Callable
from hashlib import sha256

import pytest
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Inches

from m3bench.tasks.office import picture, reading
from m3bench.tasks.office.marks import OfficeError
from tests.pictures import assert_same_bytes


def packed(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


MERGED = b'<worksheet><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'


@pytest.mark.parametrize(
    ("name", "made", "said"),
    [
        pytest.param("a.pptx", lambda: b"hello", "no office file", id="text"),
        pytest.param("a.docx", lambda: b"", "only .pptx, .xlsx", id="document"),
        pytest.param("a.xlsx", lambda: packed({"x.xml": b"<x/>"}), "no workbook", id="no workbook"),
        pytest.param("a.pptx", lambda: packed({"x.xml": b"<x/>"}), "no presentation", id="no presentation"),
        pytest.param(
            "a.xlsx", lambda: packed({"xl/workbook.xml": b" " * (8 << 20)}), "far larger than it looks", id="bomb"
        ),
        pytest.param("a.xlsx", lambda: packed({"xl/worksheets/sheet1.xml": MERGED}), "merges too many", id="merged"),
        pytest.param(
            "a.xlsx", lambda: packed({f"{number}.xml": random.randbytes(1 << 20) for number in range(13)}),
            "too much in it", id="large",
        ),
        pytest.param(
            "a.xlsx", lambda: packed({f"{number}": b"" for number in range(3100)}), "too large unpacked", id="many"
        ),
    ],
)  # fmt: skip
def test_what_is_no_file_of_its_kind_or_larger_than_it_looks_is_refused(
    name: str, made: Callable[[], bytes], said: str
) -> None:
    with pytest.raises(OfficeError, match=said):
        reading.sheets(name, made())


def test_the_picture_of_a_slide_has_the_same_bytes_everywhere() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Always the same"
    shape = slide.shapes.add_shape(MSO_SHAPE.ROUNDED_RECTANGLE, Inches(2), Inches(2), Inches(3), Inches(1.5))
    shape.text_frame.text, shape.rotation = "Tilted", 0
    file = io.BytesIO()
    deck.save(file)
    (sheet,) = reading.sheets("a.pptx", file.getvalue())
    pixels = picture.painted(sheet, 0.5).tobytes()
    assert sha256(pixels).hexdigest()[:16] == "29fa9cd19f038419"
    assert_same_bytes(picture.png(sheet, 0.5), picture.png(sheet, 0.5), "the same slide")
    assert max(picture.size(sheet, 50)) == picture.LARGEST_SIDE
