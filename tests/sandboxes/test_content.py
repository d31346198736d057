"""What tools return becomes content blocks; a gap of the world is said at the end without breaking the answer."""

import json

import pytest

from m3bench.sandboxes.content import blocks, with_gap_sentence
from m3bench.tasks.outcome import GAP_SENTENCE


@pytest.mark.parametrize("answer", ["No results.", "404 Client Error: Not Found", ""])
def test_plain_words_end_with_the_sentence(answer: str) -> None:
    (block,) = with_gap_sentence(blocks(answer))
    assert block["text"].startswith(answer)
    assert block["text"].split("\n")[-1] == GAP_SENTENCE


@pytest.mark.parametrize("answer", [{"results": [], "status": "ZERO_RESULTS"}, "[]", {}])
def test_json_stays_readable_and_the_sentence_follows_in_a_block_of_its_own(answer: object) -> None:
    first, last = with_gap_sentence(blocks(answer))
    assert json.loads(first["text"]) == (json.loads(answer) if isinstance(answer, str) else answer)
    assert last["text"] == GAP_SENTENCE


def test_an_answer_without_any_block_is_the_sentence_alone() -> None:
    assert with_gap_sentence(blocks([])) == [{"type": "text", "text": GAP_SENTENCE}]
