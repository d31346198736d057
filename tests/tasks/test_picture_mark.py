"""The mark of a picture stands below it, changes nothing above, and only its own letters count."""

import zlib
from hashlib import sha256
from io import BytesIO

import pytest
from PIL import Image

from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import LETTERS, given, marked, new_mark
from tests.pictures import assert_same_bytes


def opened(picture: bytes) -> Image.Image:
    return Image.open(BytesIO(picture)).convert("RGB")


def saved(image: Image.Image, kind: str) -> bytes:
    file = BytesIO()
    image.save(file, kind)
    return file.getvalue()


def test_a_picture_stays_as_it_is_above_the_strip() -> None:
    library = Library()
    picture = library.picture(next(iter(library.tasks.values())).pictures[0])
    before, after = opened(picture), opened(marked(picture, "ACDE"))
    assert after.width == before.width
    assert_same_bytes(after.crop((0, 0, *before.size)).tobytes(), before.tobytes(), "the picture")
    strip = after.crop((0, before.height, *after.size))
    assert strip.getextrema()[0] == (32, 232), "dark letters on a light ground"
    assert marked(picture, "ACDE") == marked(picture, "ACDE")
    other = opened(marked(picture, "ACDF")).crop((0, before.height, *after.size))
    assert other.tobytes() != strip.tobytes()


def test_a_mark_hardly_makes_a_picture_larger() -> None:
    library = Library()
    names = [name for task in library.tasks.values() for name in task.pictures]
    for name in names[::40]:
        picture = library.picture(name)
        assert len(marked(picture, "ACDE")) < len(picture) * 1.6 + 4_000, name


def test_the_same_picture_and_mark_give_the_same_file_on_every_machine() -> None:
    rows = Image.linear_gradient("L").resize((400, 300))
    picture = saved(Image.merge("RGB", (rows, rows.rotate(180), rows)), "PNG")
    file = marked(picture, "KXDT")
    assert sha256(opened(file).tobytes()).hexdigest()[:16] == "8944192243441164"
    if "ng" not in zlib.ZLIB_RUNTIME_VERSION:
        assert sha256(file).hexdigest()[:16] == "d5e332af01657782"


@pytest.mark.parametrize(("kind", "mode", "size"), [("JPEG", "RGB", (400, 300)), ("PNG", "P", (400, 300)),
                                                    ("PNG", "RGB", (30, 20)), ("PNG", "RGBA", (640, 2))])  # fmt: skip
def test_pictures_of_other_kinds_get_one_too(kind: str, mode: str, size: tuple[int, int]) -> None:
    picture = saved(Image.new("RGB", size, (10, 200, 90)).convert(mode), kind)
    after = Image.open(BytesIO(marked(picture, "WXYA")))
    assert after.format == kind
    assert after.width == max(size[0], 240)
    assert after.height >= size[1] + 40


@pytest.mark.parametrize(
    "picture", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + b"\0" * 9]
)
def test_what_is_no_picture_is_left_alone(picture: bytes) -> None:
    assert marked(picture, "ACDE") == picture


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        ("", {"picture_mark": "kxdt"}),
        ("", {"pictureMark": "K X D T"}),
        ("The mark says nothing.\npicture_mark: KXDT", None),
        ('{"year": 1985, "picture_mark": "KXDT"}', {}),
        ("**Picture mark:** `KXDT`", None),
    ],
)
def test_a_mark_is_taken_as_people_and_models_write_it(answer: str, fields: dict[str, object] | None) -> None:
    assert given("KXDT", answer, fields)


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        ("KXDT", None),
        ("", {"picture_mark": None}),
        ("", {"picture_mark": ["KXDT", "KXDA"]}),
        ("", {"picture_mark": "KXDA", "Picture Mark": "KXDT"}),
        ("picture_mark: KXDA\npicture_mark: KXDT", None),
        ("picture_mark: KXD", {"mark": "KXDT"}),
    ],
)
def test_a_guess_among_others_is_none(answer: str, fields: dict[str, object] | None) -> None:
    assert not given("KXDT", answer, fields)


def test_marks_cannot_be_foretold() -> None:
    marks = {new_mark() for _ in range(100)}
    assert len(marks) > 90
    assert all(len(mark) == 4 and set(mark) <= set(LETTERS) for mark in marks)
