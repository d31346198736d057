"""In photographs that no task brings, the trained detector finds things and people, and says that it was it."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.vision.detector import Detector
from m3bench.server.commands.program import app
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.library import photographs_folder
from m3bench.tasks.scene import Scene, SceneObject
from tests.networks import networks
from tests.photographs import photographs
from tests.pictures import encoded
from tests.sandboxes.servers.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("networks")]

THERE = {
    "chelsea.png": {"cat"},
    "cat-tabby.jpg": {"cat"},
    "cat-tortoiseshell.jpg": {"cat"},
    "coffee.png": {"cup", "dining table"},
    "citrus.jpg": {"orange"},
    "astronaut.png": {"person"},
    "camera.png": {"person"},
    "living-room.jpg": {"chair", "couch"},
}
"""Photographs and things of the detector's vocabulary that anybody sees there."""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Path:
    return networks(monkeypatch)


@pytest.fixture
def originals() -> Path:
    photographs()
    return photographs_folder() / "originals"


@pytest.fixture
def bench(tmp_path: Path, place: Path, originals: Path) -> Bench:
    known = encoded(Image.effect_mandelbrot((320, 240), (-2, -1.5, 1, 1.5), 30).convert("RGB"), "PNG")
    scene = Scene.of(known, (SceneObject(label="apple", box=(10, 10, 60, 60)),))
    bench = Bench(tmp_path / "workspace", (scene,))
    (bench.folder / "known.png").write_bytes(known)
    for name in ("chelsea.png", "astronaut.png"):
        (bench.folder / name).write_bytes((originals / name).read_bytes())
    return bench


def told(bench: Bench, tool: str, picture: str, **arguments: Any) -> list[str]:
    reply = bench.reply(f"dinox-mcp/{tool}", {"imageFileUri": f"./{picture}", "includeDescription": False, **arguments})
    assert reply.outcome == "success", reply
    return [block["text"] for block in reply.result["content"]]


def entries(texts: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(texts[1].partition(": ")[2])
    return found


def test_what_anybody_sees_is_found(place: Path, originals: Path) -> None:
    detector = Detector()
    for name, things in THERE.items():
        found = detector.objects(Image.open(originals / name).convert("RGB"))
        assert things <= {item.label for item in found}, name
        assert all(0.5 <= item.score <= 1 for item in found)


def test_a_result_says_which_network_it_is_from(bench: Bench) -> None:
    texts = told(bench, "detect-objects-by-text", "chelsea.png", textPrompt="cat.dog")
    (cat,) = entries(texts)
    assert cat["name"] == "cat"
    assert cat["source"] == "SSDLite-MobileNetV2"
    assert cat["score"] > 0.9
    assert texts[-1].startswith("Source: SSDLite-MobileNetV2. ")


def test_a_picture_of_the_task_is_answered_as_ever(bench: Bench) -> None:
    texts = told(bench, "detect-all-objects", "known.png")
    assert len(texts) == 3
    assert entries(texts) == [{"name": "apple", "bbox": {"xmin": 10, "ymin": 10, "xmax": 60, "ymax": 60}}]


def test_the_points_of_a_body_lie_where_they_are(bench: Bench) -> None:
    texts = told(bench, "detect-human-pose-keypoints", "astronaut.png")
    assert texts[0] == "1 human(s) detected in image."
    (person,) = entries(texts)
    assert person["source"] == "SSDLite-MobileNetV2 and MoveNet Lightning"
    pose = person["pose"]
    # Looked up in the photograph, in its 512 pixels: the face is that of the woman, the shoulders those of the suit.
    for name, x, y in (("nose", 224, 124), ("leftEye", 246, 105), ("rightEye", 203, 100), ("leftShoulder", 330, 265)):
        assert abs(pose[name]["x"] - x) < 15, name
        assert abs(pose[name]["y"] - y) < 15, name
        assert pose[name]["visible"] == "visible"


def test_without_the_weights_the_picture_is_not_known(bench: Bench, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(weights, "folder", lambda: tmp_path / "nothing")
    reply = bench.reply("dinox-mcp/detect-all-objects", {"imageFileUri": "./chelsea.png", "includeDescription": False})
    assert reply.outcome == "gap"


def test_a_damaged_file_is_named(place: Path, tmp_path: Path, monkeypatch) -> None:
    for file in place.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "group1-shard3of5").write_bytes(b"\0" * 4_194_304)
    monkeypatch.setattr(weights, "folder", lambda: tmp_path)
    with pytest.raises(SandboxError, match="group1-shard3of5 is damaged: run m3bench tools vision"):
        Detector()


def test_the_command_brings_says_and_removes(tmp_path: Path, place: Path, monkeypatch) -> None:
    result = CliRunner().invoke(app, ["vision", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["there"] is True
    mine = tmp_path / "vision"
    monkeypatch.setattr(weights, "folder", lambda: mine)
    monkeypatch.setattr("m3bench.sandboxes.vision.fetching.folder", lambda: mine)
    mine.mkdir()
    (mine / "group1-shard1of5").write_bytes(b"damaged")
    assert CliRunner().invoke(app, ["vision", "--remove"]).exit_code == 0
    assert not mine.exists()
