"""The reference encoder, and how it fails."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from m3bench.server.scoring import weights
from m3bench.server.scoring.encoder import SentenceTransformerEncoder, open_encoder
from m3bench.tasks.errors import UserError


def test_a_model_is_named_by_its_parameters() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = open_encoder(str(weights.find().folder))
        vectors = encoder.encode(["barn owl", "Barn owl"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    name, digest, length, torch = encoder.id.split(":")
    assert (name, len(digest), length, torch) == ("model", 16, "256", "torch")
    assert encoder.key("Barn owl") != encoder.key("barn owl")


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UserError, match="cannot load") as caught:
            SentenceTransformerEncoder(str(tmp_path / "nothing")).encode(["x"])
    assert "\n" not in str(caught.value)


def test_without_the_package_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UserError, match=r"pip install 'm3bench\[sentence-transformers\]'"):
        SentenceTransformerEncoder("some/model").encode(["x"])
