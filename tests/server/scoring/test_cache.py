"""Vectors on disk: kept, shared, and never a reason to fail."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from m3bench.server.scoring.cache import CachedEncoder, VectorCache, default_path
from m3bench.server.scoring.encoder import open_encoder
from tests.server.scoring.conftest import TrigramEncoder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "vectors.sqlite"


def test_a_text_is_encoded_once_on_a_machine(path: Path) -> None:
    first, second = TrigramEncoder(), TrigramEncoder()
    cache = VectorCache(path)
    vectors = CachedEncoder(first, cache).encode(["a", "b", "a"])
    cache.close()
    again = CachedEncoder(second, VectorCache(path)).encode(["b", "a", "c"])
    assert (first.encoded, second.encoded) == (["a", "b"], ["c"])
    assert np.array_equal(again[:2], vectors[[1, 0]])


def test_a_text_is_encoded_once_in_a_process_without_a_cache(encoder: TrigramEncoder) -> None:
    cached = CachedEncoder(encoder)
    assert np.array_equal(cached.encode(["a", "b"]), cached.encode(["b", "a"])[::-1])
    assert encoder.encoded == ["a", "b"]


def test_texts_that_look_the_same_to_the_encoder_share_a_vector() -> None:
    class Uncased(TrigramEncoder):
        def key(self, text: str) -> str:
            return text.lower()

    encoder = Uncased()
    vectors = CachedEncoder(encoder).encode(["Owl", "owl"])
    assert len(encoder.encoded) == 1
    assert np.array_equal(vectors[0], vectors[1])


def test_encoders_do_not_share_vectors(path: Path) -> None:
    cache = VectorCache(path)
    CachedEncoder(TrigramEncoder(), cache).encode(["a"])
    other = TrigramEncoder()
    other.id = "other"
    CachedEncoder(other, cache).encode(["a"])
    assert other.encoded == ["a"]


def test_many_texts_are_found_again(path: Path) -> None:
    texts = [f"text {number}" for number in range(1200)]
    CachedEncoder(TrigramEncoder(), VectorCache(path)).encode(texts)
    assert len(VectorCache(path).get("trigrams", texts)) == 1200


def test_the_oldest_vectors_go_first(path: Path) -> None:
    cache = VectorCache(path, max_vectors=3)
    vectors = TrigramEncoder().encode(["a", "b", "c", "d", "e"])
    for text, vector in zip("abcde", vectors, strict=True):
        cache.put("x", {text: vector})
    assert sorted(cache.get("x", list("abcde"))) == ["c", "d", "e"]


@pytest.mark.parametrize("blob", [b"", b"123", b"\0" * 256, b"\xff" * 256])
def test_damaged_vectors_are_encoded_again(path: Path, encoder: TrigramEncoder, blob: bytes) -> None:
    cache = VectorCache(path)
    expected = CachedEncoder(encoder, cache).encode(["a"])
    cache.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = ?", (blob,))
    connection.close()
    assert np.array_equal(CachedEncoder(encoder, VectorCache(path)).encode(["a"]), expected)
    assert encoder.encoded == ["a", "a"]


def test_a_file_that_is_no_database_is_left_alone_and_named(path: Path, encoder: TrigramEncoder) -> None:
    path.parent.mkdir()
    path.write_text("my precious notes" * 100)
    cache = VectorCache(path)
    assert CachedEncoder(encoder, cache).encode(["a"]).shape == (1, 64)
    assert cache.problem is not None
    assert "not a database" in cache.problem
    assert path.read_text().startswith("my precious notes")


def test_a_folder_that_cannot_be_made_is_named(path: Path, encoder: TrigramEncoder) -> None:
    path.parent.write_text("a file where the folder should be")
    cache = VectorCache(path)
    assert CachedEncoder(encoder, cache).encode(["a"]).shape == (1, 64)
    assert cache.problem is not None


def test_a_database_that_fails_later_is_given_up(path: Path, encoder: TrigramEncoder) -> None:
    cache = VectorCache(path)
    cache.put("x", {"a": encoder.encode(["a"])[0]})
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE vectors")
    connection.close()
    assert cache.get("x", ["a"]) == {}
    assert cache.problem is not None
    cache.put("x", {"a": encoder.encode(["a"])[0]})


def test_the_file_is_in_the_users_cache_folder() -> None:
    assert default_path().name == "vectors.sqlite"
    assert "m3bench" in default_path().parts


def test_the_built_in_model_is_opened_without_reading_weights(tmp_path: Path) -> None:
    encoder = open_encoder(weights=tmp_path / "none")
    assert encoder.id == "all-MiniLM-L6-v2:53aa51172d142c89:256"
