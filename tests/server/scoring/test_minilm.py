"""The numpy MiniLM against vectors of sentence-transformers, which runs the same weights in torch: stored and live."""

import math
import warnings

import numpy as np
import pytest

from m3bench.server.scoring import weights
from m3bench.server.scoring.encoder import SentenceTransformerEncoder
from m3bench.server.scoring.minilm import MiniLM, gelu
from tests.server.scoring.stored import FILE, VECTORS_OF
from tests.server.scoring.varied import varied_texts


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_cosines_equal_the_stored_ones_of_sentence_transformers(minilm: MiniLM) -> None:
    ours, theirs = minilm.encode(VECTORS_OF).astype(np.float64), np.load(FILE)["vectors"].astype(np.float64)
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() <= 1e-5
    assert np.abs((ours * theirs).sum(axis=1) - 1).max() <= 1e-5


@pytest.mark.torch
def test_cosines_equal_those_of_sentence_transformers(minilm: MiniLM) -> None:
    texts = varied_texts(400)
    ours = minilm.encode(texts).astype(np.float64)
    with warnings.catch_warnings():
        # What torch and its relatives warn of at import is not about us.
        warnings.simplefilter("ignore")
        theirs = SentenceTransformerEncoder(str(weights.find().folder)).encode(texts).astype(np.float64)
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() <= 1e-5
    assert np.abs((ours * theirs).sum(axis=1) - 1).max() <= 1e-5


def test_vectors_have_unit_length_and_do_not_depend_on_company(minilm: MiniLM) -> None:
    texts = ['{"title":"barn owl"}', "", "weather in Duluth", '{"title":"barn owl"}', "日本 " * 200]
    together = minilm.encode(texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    assert np.array_equal(together[0], together[3])
    for text, vector in zip(texts, together, strict=True):
        assert np.allclose(minilm.encode([text])[0], vector, atol=1e-6)


def test_the_key_is_what_the_network_sees(minilm: MiniLM) -> None:
    assert minilm.key("Barn  OWL") == minilm.key("barn owl")
    assert minilm.key("café") == minilm.key("cafe")
    assert minilm.key("barn owl") != minilm.key("owl barn")
    assert minilm.key("word " * 300) == minilm.key("word " * 300 + "unseen")


def test_no_texts_make_no_vectors(minilm: MiniLM) -> None:
    assert minilm.encode([]).shape == (0, 384)


def test_gelu_is_the_exact_one() -> None:
    x = np.linspace(-12, 12, 20_001, dtype=np.float32).reshape(-1, 1)
    exact = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x[:, 0].astype(float)])
    gelu(x)
    assert np.abs(x[:, 0] - exact).max() < 3e-6
