"""The reference encoder, and how it fails."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from m3bench.server.app import App
from m3bench.server.runs.versions import versions
from m3bench.server.scoring import weights
from m3bench.server.scoring.encoder import SentenceTransformerEncoder, open_encoder
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from tests.sets import write_set


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", ["sentence-transformers", f"sentence-transformers:{weights.find(download=False).folder}"]
)
def test_a_model_is_named_by_its_parameters(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = open_encoder(name)
        vectors = encoder.encode(["barn owl", "Barn owl"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    folder = Path(name.partition(":")[2] or weights.find(download=False).folder)
    named, digest, length, torch = encoder.id.split(":")
    assert (named, len(digest), length, torch) == (folder.name, 16, "256", "torch")
    assert encoder.key("Barn owl") != encoder.key("barn owl")


@pytest.mark.torch
def test_a_model_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UserError, match="cannot load") as caught:
            SentenceTransformerEncoder(str(tmp_path / "nothing")).encode(["x"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "word2vec", "sentence-transformers:", "all-MiniLM-L6-v2"])
def test_an_encoder_that_does_not_exist_is_told_which_do(name: str) -> None:
    with pytest.raises(UserError, match="choose minilm, sentence-transformers or sentence-transformers:MODEL"):
        open_encoder(name)


def test_an_encoder_whose_package_is_missing_is_refused_before_anything_is_scored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("m3bench.server.scoring.encoder.find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install 'm3bench\[sentence-transformers\]'"):
        App(Settings.of(data=tmp_path, encoder="sentence-transformers"))


def test_the_manifest_names_another_encoder_than_the_built_in_one(tmp_path: Path) -> None:
    library, catalog = Library(write_set(tmp_path / "set")), load_catalog()
    assert len(versions(library, catalog)["encoder"]) == 64
    assert versions(library, catalog, "sentence-transformers:x")["encoder"] == "sentence-transformers:x"


def test_without_the_package_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UserError, match=r"pip install 'm3bench\[sentence-transformers\]'"):
        SentenceTransformerEncoder("some/model").encode(["x"])
