"""A result that is too large is brought to the size that a client takes; pictures stay, smaller."""

import json
import random
from base64 import b64decode, b64encode
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from m3bench.proxy.protocol.sizes import fitted, fitted_resource
from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.tasks.errors import RunError, without_paths
from tests.examples import examples

WHERE = "the whole of it is in ./results/1.json"


def noisy(width: int, height: int, kind: str = "PNG", mode: str = "RGB") -> str:
    """A picture that hardly packs."""
    pixels = random.Random(1).randbytes(width * height * len(mode))
    file = BytesIO()
    Image.frombytes(mode, (width, height), pixels).save(file, kind)
    return b64encode(file.getvalue()).decode()


def picture(width: int, height: int, kind: str = "PNG", mode: str = "RGB") -> dict[str, Any]:
    return {"type": "image", "data": noisy(width, height, kind, mode), "mimeType": f"image/{kind.lower()}"}


def cut(content: list[Any], most: int = MAX_RESULT_BYTES, **more: Any) -> dict[str, Any]:
    made = fitted(json.dumps({"content": content, **more}).encode(), WHERE, most)
    assert len(made) <= most
    found: dict[str, Any] = json.loads(made)
    return found


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGB"), ("PNG", "RGBA"), ("JPEG", "RGB")])
def test_a_picture_that_does_not_fit_is_made_smaller(kind: str, mode: str) -> None:
    text, shown, note = cut([{"type": "text", "text": "Seen."}, picture(700, 500, kind, mode)], 200_000)["content"]
    assert text["text"] == "Seen."
    assert shown["mimeType"] == "image/jpeg"
    size = Image.open(BytesIO(b64decode(shown["data"]))).size
    assert size[0] / size[1] == pytest.approx(1.4, abs=0.02)
    assert f"700 × 500 to {size[0]} × {size[1]} pixels" in note["text"]
    assert WHERE in note["text"]


def test_large_pictures_share_the_room_and_small_ones_stay() -> None:
    small, large = picture(40, 30), picture(900, 600)
    *shown, note = cut([large, small, large, {"type": "text", "text": "x" * 1000}], 300_000)["content"]
    assert shown[1] == small
    assert shown[3]["text"] == "x" * 1000
    assert len(shown[0]["data"]) > 100_000
    assert "2 pictures were made smaller" in note["text"]


def test_a_long_text_leaves_half_of_the_room_to_pictures() -> None:
    text, shown, _ = cut([{"type": "text", "text": "x" * 500_000}, picture(900, 600)], 200_000)["content"]
    assert text["text"]
    assert len(shown["data"]) > 60_000


def test_a_picture_inside_a_resource_is_made_smaller_too() -> None:
    inner = {"uri": "file:///a.png", "mimeType": "image/png", "blob": noisy(700, 500)}
    shown, _ = cut([{"type": "resource", "resource": inner}], 200_000)["content"]
    assert Image.open(BytesIO(b64decode(shown["resource"]["blob"]))).format == "JPEG"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "data": "A" * 300_000, "mimeType": "audio/mpeg"},
        {"type": "image", "data": "A" * 300_000, "mimeType": "image/png"},
        {"type": "image", "data": "é" * 300_000, "mimeType": "image/png"},
        {"type": "image", "data": 5, "more": "x" * 300_000},
        "x" * 300_000,
        {"type": "text", "text": ["x" * 300_000]},
    ],
)
def test_what_cannot_be_made_smaller_is_said_to_be_left_out(block: object) -> None:
    shown, note = cut([block], 200_000)["content"]
    assert "left out" in shown["text"]
    assert WHERE in note["text"]


def test_what_is_for_programs_goes_first() -> None:
    data = {"card": "x" * 300_000}
    found = cut([{"type": "text", "text": "Short."}], 200_000, structuredContent=data, _meta=data, isError=False)
    assert set(found) == {"content", "isError"}
    assert found["content"][0]["text"] == "Short."
    assert "structuredContent was left out, _meta was left out" in found["content"][1]["text"]


def test_structured_content_stays_where_there_is_room_for_it() -> None:
    assert cut([{"type": "text", "text": "x" * MAX_RESULT_BYTES}], structuredContent={"x": 1})["structuredContent"]


@settings(max_examples=examples(15))
@given(st.lists(st.sampled_from(["x", "é", '"', "\x00", "漢", "\ud800"]), min_size=1, max_size=4))
def test_a_text_keeps_its_beginning_whatever_it_is_made_of(letters: list[str]) -> None:
    text = "".join(letters) * (MAX_RESULT_BYTES // len(letters))
    found = cut([{"type": "text", "text": text}, {"type": "text", "text": text}])["content"]
    assert text.startswith(found[0]["text"])
    assert found[0]["text"]


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": ""}]])
def test_a_result_without_blocks_is_still_a_result(content: list[Any]) -> None:
    assert WHERE in cut(content, padding="x" * 10)["content"][-1]["text"]


def test_a_resource_that_is_no_picture_and_too_large_is_refused() -> None:
    with pytest.raises(RunError, match="at most 900000"):
        fitted_resource({"contents": [{"uri": "a:b", "blob": "A" * 1_000_000, "mimeType": "video/mp4"}]})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[Errno 2] No such file: '/home/ann/.m3bench/work/a.json'", "[Errno 2] No such file: 'a.json'"),
        ("The record in /data/m3bench could not be read: see /data/m3bench/.", "The record in m3bench could not be"),
        (r"C:\Users\ann\m3bench.db is locked", "m3bench.db is locked"),
        ("see ./media/a.png and https://a.example/b/c", "see ./media/a.png and https://a.example/b/c"),
        ("and/or 3/4", "and/or 3/4"),
    ],
)
def test_an_error_names_no_place_on_the_machine(text: str, told: str) -> None:
    assert without_paths(text).startswith(told)
