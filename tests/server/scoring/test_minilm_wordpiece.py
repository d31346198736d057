"""Our tokenizer against the original, and against tokens of it that are stored."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from m3bench.server.scoring import weights
from m3bench.server.scoring.minilm import MAX_TOKENS, WordPiece
from tests.server.scoring.stored import FILE, TOKENS_OF
from tests.server.scoring.varied import varied_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> WordPiece:
    return WordPiece(weights.find(download=False).vocabulary())


@pytest.fixture(scope="module")
def original() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weights.find(download=False).folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def test_tokens_equal_the_stored_ones_of_the_original(tokenizer: WordPiece) -> None:
    stored = np.load(FILE)
    expected = np.split(stored["tokens"], stored["ends"][:-1])
    for text, tokens in zip(TOKENS_OF, expected, strict=True):
        assert list(tokenizer.encode(text)) == tokens.tolist(), text


@pytest.mark.torch
def test_tokens_equal_the_originals(tokenizer: WordPiece, original: "Tokenizer") -> None:
    texts = varied_texts(3000, seed=1)
    assert [text for text in texts if list(tokenizer.encode(text)) != original.encode(text).ids] == []


@pytest.mark.torch
@pytest.mark.parametrize(
    "text",
    [
        "",
        "İstanbul ΣΑΣ",
        "naïve café",
        "e\u0301",
        "a\u200bb",
        "\x00\x1b[31m",
        "日本語",
        "[CLS] [sep] [SEP]",
        "…—“”",
        "\ufffd",
    ],
)
def test_peculiar_texts_equal_the_originals(tokenizer: WordPiece, original: "Tokenizer", text: str) -> None:
    assert list(tokenizer.encode(text)) == original.encode(text).ids


@pytest.mark.torch
@pytest.mark.parametrize(
    "text",
    ["x" * 20_000, "word " * 5000, " " * 50_000 + "end", "é" * 20_000, "[SEP]" * 4000, "a" * 4095 + "[SEP] é" * 500],
    ids=["one word", "words", "blanks", "accents", "special", "cut"],
)
def test_long_texts_are_cut_where_the_original_cuts_them(
    tokenizer: WordPiece, original: "Tokenizer", text: str
) -> None:
    tokens = tokenizer.encode(text)
    assert list(tokens) == original.encode(text).ids
    assert len(tokens) <= MAX_TOKENS
