"""all-MiniLM-L6-v2 in numpy: sentence vectors without torch.

The network is six BERT layers, mean pooling and unit length. Texts of a batch lie end to end without padding, so
that every linear layer is one matrix product; attention runs once per group of equally long texts. Texts with the
same tokens are computed once, and batches are cut by tokens, longest first. Cosines agree with
sentence-transformers to about 1e-6 (a test holds 1e-5). Knows nothing of calls, caches or profiles.

Texts become token ids as the uncased BERT vocabulary wants them. That is written out here because the `tokenizers`
package costs fourteen others and this is a page: clean, split CJK, strip accents, lower-case, split at punctuation,
then the longest known piece first. Equality with the original is tested; only code points younger than its Unicode
tables may differ.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from m3bench.server.scoring import weights
from m3bench.server.scoring.weights import MiniLMWeights

MAX_TOKENS = 256
"""Longest input in tokens, the two frame tokens included; the rest of a text is not seen."""

_MAX_WORD_CHARACTERS = 100
_FIRST_LOOK_CHARACTERS = 4096
_UNSURE_WORDS = 8
_MEMO_WORDS = 50_000

_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """The tokenizer of one vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: index for index, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._start = self._ids["[CLS]"]
        self._end = self._ids["[SEP]"]
        self._memo: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids with the frame tokens, at most `MAX_TOKENS` of them."""
        ids = [index for word in _seen_words(text) for index in self._pieces(word)]
        return (self._start, *ids[: MAX_TOKENS - 2], self._end)

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._memo.get(word)
        if known is None:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            known = self._memo[word] = self._split(word)
        return known

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD_CHARACTERS:
            return (self._unknown,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                index = self._ids.get(prefix + word[start:end])
                if index is not None:
                    break
            else:
                return (self._unknown,)
            ids.append(index)
            start = end
        return tuple(ids)


def _seen_words(text: str) -> list[str]:
    """The normalised words of a text, as many as can matter: each is at least one token."""
    look = _FIRST_LOOK_CHARACTERS
    while True:
        seen = list(_words(text[:look]))
        if look >= len(text):
            return seen[: MAX_TOKENS - 2]
        # The cut may have fallen inside a word, so the last ones are not trusted.
        if len(seen) >= MAX_TOKENS - 2 + _UNSURE_WORDS:
            return seen[: MAX_TOKENS - 2]
        look *= 4


def _words(text: str) -> Iterator[str]:
    for position, part in enumerate(_SPECIAL.split(text)):
        if position % 2:
            yield part
        elif part.isascii():
            yield from _ASCII_WORD.findall(_ASCII_CONTROL.sub("", part).lower())
        else:
            yield from _unicode_words(part)


def _unicode_words(text: str) -> list[str]:
    return unicodedata.normalize("NFD", text.translate(_CLEAN)).translate(_PLAIN).split()


class _CleanTable(dict[int, str]):
    """Controls away, white space to spaces, CJK characters apart; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
            clean = " "
        # Unassigned code points stay: the original's tables are older than ours in places.
        elif character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
            clean = ""
        elif any(low <= code <= high for low, high in _CJK):
            clean = f" {character} "
        else:
            clean = character
        self[code] = clean
        return clean


class _PlainTable(dict[int, str]):
    """Accents away, lower case, punctuation apart; filled as characters are met.

    Character by character: lower-casing a whole string would turn a final sigma into its other form.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Mn":
            plain = ""
        elif category[0] == "P" or character in "$+<=>^`|~":
            plain = f" {character} "
        else:
            plain = character.lower()
        self[code] = plain
        return plain


_CLEAN = _CleanTable()
_PLAIN = _PlainTable()


Floats: TypeAlias = npt.NDArray[np.float32]

_HEADS = 12
_HEAD_SIZE = 32
_WIDTH = _HEADS * _HEAD_SIZE
_LAYERS = 6
_EPSILON = 1e-12
_BATCH_TOKENS = 1024
"""Large enough for full-speed matrix products, small enough for the activations to stay in the cache."""
_BLOCK_ROWS = 64
_MEMO_TEXTS = 10_000


class MiniLM:
    """The default encoder. The weights are looked up when first needed: the vocabulary for keys, all for vectors."""

    def __init__(self, find: Callable[[], MiniLMWeights] = weights.find) -> None:
        self._find = find
        self._memo: dict[str, tuple[int, ...]] = {}

    @property
    def id(self) -> str:
        """Names the weights and the input length: vectors with the same id are interchangeable."""
        return f"all-MiniLM-L6-v2:{weights.MODEL_SHA256[:16]}:{MAX_TOKENS}"

    def key(self, text: str) -> str:
        """The tokens, one character each: what is left of case, accents, spacing and the unseen rest of the text."""
        return "".join(map(chr, self._tokens(text)))

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, one row per text."""
        rows: dict[tuple[int, ...], list[int]] = {}
        for row, text in enumerate(texts):
            rows.setdefault(self._tokens(text), []).append(row)
        vectors = np.empty((len(texts), _WIDTH), np.float32)
        for batch in _batches(sorted(rows, key=len, reverse=True)):
            for tokens, vector in zip(batch, self._network.run(batch), strict=True):
                vectors[rows[tokens]] = vector
        return vectors

    def _tokens(self, text: str) -> tuple[int, ...]:
        # A text is asked for again and again: as a key, for the cache, to be encoded.
        tokens = self._memo.get(text)
        if tokens is None:
            if len(self._memo) >= _MEMO_TEXTS:
                self._memo.clear()
            tokens = self._memo[text] = self._tokenizer.encode(text)
        return tokens

    @cached_property
    def _weights(self) -> MiniLMWeights:
        return self._find()

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece(self._weights.vocabulary())

    @cached_property
    def _network(self) -> "_Network":
        return _Network(self._weights.tensors())


def _batches(texts: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    batch: list[tuple[int, ...]] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _BATCH_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


class _Network:
    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._words = tensors["embeddings.word_embeddings.weight"]
        # Every token is of type 0, so its vector joins the positions'.
        self._positions = (
            tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _Norm(tensors, "embeddings.LayerNorm")
        self._layers = [_Layer(tensors, f"encoder.layer.{index}") for index in range(_LAYERS)]

    def run(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Unit vectors of texts given as ids; equally long texts must be neighbours."""
        groups = [(length, len(list(group))) for length, group in groupby(texts, key=len)]
        ids = np.fromiter((index for text in texts for index in text), np.int32)
        hidden = self._words[ids]
        start = 0
        for length, count in groups:
            hidden[start : start + length * count].reshape(count, length, _WIDTH)[:] += self._positions[:length]
            start += length * count
        self._norm(hidden)
        for layer in self._layers:
            layer(hidden, groups)
        vectors = np.empty((len(texts), _WIDTH), np.float32)
        row = start = 0
        for length, count in groups:
            block = hidden[start : start + length * count].reshape(count, length, _WIDTH)
            block.mean(axis=1, out=vectors[row : row + count])
            row += count
            start += length * count
        vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        return vectors


class _Layer:
    def __init__(self, tensors: Mapping[str, Floats], name: str) -> None:
        # One product gives queries, keys and values; the scale of the scores is folded into the queries.
        scale = np.float32(_HEAD_SIZE**-0.5)
        part = f"{name}.attention.self"
        self._qkv = np.concatenate(
            [
                tensors[f"{part}.query.weight"] * scale,
                tensors[f"{part}.key.weight"],
                tensors[f"{part}.value.weight"],
            ]
        ).T
        self._qkv_bias = np.concatenate(
            [tensors[f"{part}.query.bias"] * scale, tensors[f"{part}.key.bias"], tensors[f"{part}.value.bias"]]
        )
        self._mix = tensors[f"{name}.attention.output.dense.weight"].T
        self._mix_bias = tensors[f"{name}.attention.output.dense.bias"]
        self._mix_norm = _Norm(tensors, f"{name}.attention.output.LayerNorm")
        self._up = tensors[f"{name}.intermediate.dense.weight"].T
        self._up_bias = tensors[f"{name}.intermediate.dense.bias"]
        self._down = tensors[f"{name}.output.dense.weight"].T
        self._down_bias = tensors[f"{name}.output.dense.bias"]
        self._down_norm = _Norm(tensors, f"{name}.output.LayerNorm")

    def __call__(self, hidden: Floats, groups: Sequence[tuple[int, int]]) -> None:
        """Transform in place."""
        mixed = self._attend(hidden, groups) @ self._mix
        mixed += self._mix_bias
        hidden += mixed
        self._mix_norm(hidden)
        wide = hidden @ self._up
        wide += self._up_bias
        gelu(wide)
        hidden += np.matmul(wide, self._down, out=mixed)
        hidden += self._down_bias
        self._down_norm(hidden)

    def _attend(self, hidden: Floats, groups: Sequence[tuple[int, int]]) -> Floats:
        qkv = hidden @ self._qkv
        qkv += self._qkv_bias
        context = np.empty_like(hidden)
        start = 0
        for length, count in groups:
            stop = start + length * count
            # [3, text, head, token, size], all views
            query, key, value = qkv[start:stop].reshape(count, length, 3, _HEADS, _HEAD_SIZE).transpose(2, 0, 3, 1, 4)
            scores = query @ key.swapaxes(-1, -2)
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            seen = context[start:stop].reshape(count, length, _HEADS, _HEAD_SIZE).transpose(0, 2, 1, 3)
            seen[:] = scores @ value
            start = stop
        return context


class _Norm:
    def __init__(self, tensors: Mapping[str, Floats], name: str) -> None:
        self._weight = tensors[f"{name}.weight"]
        self._bias = tensors[f"{name}.bias"]

    def __call__(self, hidden: Floats) -> None:
        """Normalise rows in place."""
        for start in range(0, len(hidden), _BLOCK_ROWS):
            rows = hidden[start : start + _BLOCK_ROWS]
            rows -= rows.mean(axis=1, keepdims=True)
            variance = np.einsum("ij,ij->i", rows, rows) / np.float32(_WIDTH)
            rows /= np.sqrt(variance + np.float32(_EPSILON))[:, None]
            rows *= self._weight
            rows += self._bias


# erf(x / √2) = x · P(x²) / Q(x²) for |x| ≤ 5.2, a minimax fit: GELU is off by at most 3e-7 beside rounding.
_ERF_LIMIT = np.float32(5.2)
_ERF_P = tuple(
    map(
        np.float32,
        (
            0.7978808032147133,
            0.14872113034353182,
            0.014042640272604547,
            0.0011319125429552824,
            1.4788401303659873e-05,
            -4.262966423547348e-08,
        ),
    )
)
_ERF_Q = tuple(
    map(
        np.float32,
        (1.0, 0.3530345179750555, 0.05148144262395148, 0.004117202961934868, 0.0001929281590623668),
    )
)


def gelu(values: Floats) -> None:
    """x · Φ(x) with the exact normal distribution function, in place, block by block to stay in the cache."""
    for start in range(0, len(values), _BLOCK_ROWS):
        x = values[start : start + _BLOCK_ROWS]
        clipped = np.clip(x, -_ERF_LIMIT, _ERF_LIMIT)
        square = clipped * clipped
        top = _polynomial(_ERF_P, square)
        top *= clipped
        top /= _polynomial(_ERF_Q, square)
        top += np.float32(1)
        top *= np.float32(0.5)
        x *= top


def _polynomial(coefficients: Sequence[np.float32], x: Floats) -> Floats:
    total = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total
