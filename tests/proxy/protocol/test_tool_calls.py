"""Results are cut to what every client takes, and say where the whole of them is."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES, trim
from tests.examples import examples


def cut(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    short = trim(json.dumps({"content": list(blocks), **more}).encode(), "the whole of it is in ./results/1.json")
    assert len(short) <= MAX_RESULT_BYTES
    found: dict[str, Any] = json.loads(short)
    assert "./results/1.json" in found["content"][-1]["text"]
    return found


def test_a_picture_that_does_not_fit_is_replaced_by_a_sentence_and_the_rest_stays() -> None:
    large = {"type": "image", "data": "A" * MAX_RESULT_BYTES}
    small = {"type": "image", "data": "A" * 100}
    found = cut({"type": "text", "text": "before"}, large, small)["content"]
    assert found[0]["text"] == "before"
    assert "image of" in found[1]["text"]
    assert found[2] == small


def test_structured_content_goes_when_there_is_no_room_for_it() -> None:
    assert "structuredContent" not in cut(structuredContent={"x": "y" * MAX_RESULT_BYTES}, isError=False)
    assert cut({"type": "text", "text": "x" * MAX_RESULT_BYTES}, structuredContent={"x": 1})["structuredContent"]


@settings(max_examples=examples(15))
@given(st.lists(st.sampled_from(["x", "é", '"', "\x00", "漢", "\ud800"]), min_size=1, max_size=4))
def test_a_text_keeps_its_beginning_whatever_it_is_made_of(letters: list[str]) -> None:
    text = "".join(letters) * (MAX_RESULT_BYTES // len(letters))
    found = cut({"type": "text", "text": text}, {"type": "text", "text": text})["content"]
    assert text.startswith(found[0]["text"])
    assert found[0]["text"]


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": ""}]])
def test_a_result_without_blocks_is_still_a_result(content: list[dict[str, Any]]) -> None:
    assert cut(*content, padding="x" * 10)["content"]
