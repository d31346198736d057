"""The `dinox-mcp` server finds what is annotated, by any reasonable word, and draws what it is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from m3bench.sandboxes.servers.dinox_mcp import noticed
from m3bench.tasks.scene import Scene, SceneObject
from tests.pictures import assert_same_bytes, colour, encoded
from tests.sandboxes.servers.conftest import Bench
from tests.scenes import building_site, objects_of

OBJECTS = (
    SceneObject(label="construction worker", box=(10, 20, 60.04, 120), score=0.8),
    SceneObject(label="hard hat", box=(25, 20, 45, 32), score=0.9),
    SceneObject(label="apple", box=(200, 200, 230, 231.25), score=0.7),
    SceneObject(label="apple", box=(240, 100, 270, 130), score=0.7),
    SceneObject(label="hot dog", box=(300, 20, 340, 40), score=0.6),
    SceneObject(label="wine glass", box=(300, 100, 320, 150), score=0.6, aliases=("goblet",)),
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    file = encoded(building_site(4).resize((480, 320)), "PNG")
    bench = Bench(tmp_path / "workspace", (Scene.of(file, OBJECTS),))
    (bench.folder / "media").mkdir()
    (bench.folder / "media" / "site.png").write_bytes(file)
    return bench


def blocks(bench: Bench, tool: str, **arguments: Any) -> list[str]:
    arguments = {"imageFileUri": "./media/site.png", "includeDescription": False, **arguments}
    reply = bench.reply(f"dinox-mcp/{tool}", arguments)
    assert reply.outcome == "success", reply
    return [block["text"] for block in reply.result["content"]]


def found(bench: Bench, prompt: str) -> list[str]:
    """The names a prompt finds."""
    details = blocks(bench, "detect-objects-by-text", textPrompt=prompt)[1]
    return [entry["name"] for entry in json.loads(details.partition(": ")[2])]


def test_the_answer_has_counts_details_and_a_note(bench: Bench) -> None:
    counts, details, note = blocks(
        bench, "detect-objects-by-text", textPrompt="apple.hard hat", includeDescription=True
    )
    assert counts == "Objects detected in image: hard hat (1), apple (2)."
    prefix, _, entries = details.partition(": ")
    assert prefix == "Detailed object detection results"
    assert entries == json.dumps(json.loads(entries), indent=2)
    assert json.loads(entries) == [
        {
            "name": "hard hat",
            "bbox": {"xmin": 25, "ymin": 20, "xmax": 45, "ymax": 32},
            "description": "hard hat",
        },
        {"name": "apple", "bbox": {"xmin": 240, "ymin": 100, "xmax": 270, "ymax": 130}, "description": "apple"},
        {"name": "apple", "bbox": {"xmin": 200, "ymin": 200, "xmax": 230, "ymax": 231.2}, "description": "apple"},
    ]
    assert note.startswith("Note: ")


def test_everything_comes_by_confidence_then_from_the_top(bench: Bench) -> None:
    counts, details, _ = blocks(bench, "detect-all-objects")
    assert counts == (
        "Objects detected in image: hard hat (1), construction worker (1), apple (2), hot dog (1), wine glass (1)."
    )
    entries = json.loads(details.partition(": ")[2])
    assert entries[1] == {"name": "construction worker", "bbox": {"xmin": 10, "ymin": 20, "xmax": 60, "ymax": 120}}


def test_finding_nothing_is_an_answer(bench: Bench) -> None:
    counts, details, _ = blocks(bench, "detect-objects-by-text", textPrompt="giraffe")
    assert counts == "Objects detected in image: ."
    assert details == "Detailed object detection results: []"


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("person", ["person"]),
        ("People", ["People"]),
        ("human.person", ["human"]),
        ("workers", ["workers"]),
        ("hardhat", ["hardhat"]),
        ("hard-hats", ["hard-hats"]),
        ("a hat", ["a hat"]),
        ("helmet", ["helmet"]),
        ("safety helmet", ["safety helmet"]),
        ("yellow hard hat", ["yellow hard hat"]),
        ("blue hard hat", ["blue hard hat"]),
        ("apple.apples.fruit", ["apple", "apple"]),
        ("fruit, apple", ["apple", "apple"]),
        ("Fruit", ["Fruit", "Fruit"]),
        ("red apples", ["red apples", "red apples"]),
        ("dog", []),
        ("hot dogs", ["hot dogs"]),
        ("hot dog.dog", ["hot dog"]),
        ("food", ["food", "food", "food"]),
        ("goblets", ["goblets"]),
        ("wine glasses", ["wine glasses"]),
        ("glass", ["glass"]),
        ("animal", []),
        ("pineapple", []),
        ("app", []),
    ],
)
def test_a_term_finds_what_it_means_and_names_it(bench: Bench, prompt: str, names: list[str]) -> None:
    assert found(bench, prompt) == names


@pytest.mark.parametrize("prompt", ["", " . , ", "x" * 10_001])
def test_a_prompt_that_names_nothing_is_refused(bench: Bench, prompt: str) -> None:
    reply = bench.reply(
        "dinox-mcp/detect-objects-by-text",
        imageFileUri="./media/site.png",
        textPrompt=prompt,
        includeDescription=False,
    )
    assert reply.outcome == "invalid_arguments"
    assert reply.result["isError"] is False
    assert reply.result["content"][0]["text"].startswith("Failed to detect objects from image: the text prompt")


@pytest.mark.parametrize(
    "uri",
    [
        "media/site.png",
        "/workspace/media/site.png",
        "file:///workspace/media/site.png",
        "FILE:///workspace/media/s%69te.png",
        "file://localhost/workspace/media/site.png",
        "file://./media/site.png",
    ],
)
def test_a_picture_is_named_by_path_or_file_uri(bench: Bench, uri: str) -> None:
    assert blocks(bench, "detect-all-objects", imageFileUri=uri) == blocks(bench, "detect-all-objects")


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("https://example.org/site.png", "Only local image files are supported"),
        ("HTTP://example.org/site.png", "Only local image files are supported"),
        ("ftp://example.org/site.png", "is a URL"),
        ("file:///etc/passwd", "leaves the workspace"),
        ("file:///workspace/media/%2e%2e/%2e%2e/secret.png", "leaves the workspace"),
        ("./media/none.png", "File not found"),
        ("./media/notes.txt", "not a picture"),
    ],
)
@pytest.mark.parametrize("tool", ["detect-all-objects", "detect-human-pose-keypoints"])
def test_what_cannot_be_read_is_said_in_an_ordinary_text(bench: Bench, tool: str, uri: str, words: str) -> None:
    (bench.folder / "media" / "notes.txt").write_text("notes")
    reply = bench.reply(f"dinox-mcp/{tool}", imageFileUri=uri, includeDescription=True)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    text = reply.result["content"][0]["text"]
    assert text.startswith("Failed to detect ")
    assert words in text


def test_a_picture_that_is_not_the_tasks_is_a_plain_tool_error(bench: Bench) -> None:
    building_site(5).save(bench.folder / "media" / "other.png")
    reply = bench.reply("dinox-mcp/detect-all-objects", imageFileUri="media/other.png", includeDescription=False)
    assert reply.outcome == "gap"
    assert reply.result["isError"] is True
    text = reply.result["content"][0]["text"]
    assert text.startswith("Failed to detect objects from image: 'media/other.png' is not known here.")
    assert "only the pictures that came with the task" in text


def test_crops_and_copies_are_answered_in_their_own_pixels(tmp_path: Path) -> None:
    picture, objects = building_site(2), objects_of(2)
    bench = Bench(tmp_path / "workspace", (Scene.of(encoded(picture, "PNG"), objects),))
    crop = picture.crop((480, 0, 960, 640))
    crop.save(bench.folder / "crop.jpg", quality=80)
    entries = json.loads(blocks(bench, "detect-all-objects", imageFileUri="crop.jpg")[1].partition(": ")[2])
    crate = next(item for item in objects if item.label == "crate")
    [entry] = [entry for entry in entries if entry["name"] == "crate"]
    expected = [crate.box[0] - 480, crate.box[1], crate.box[2] - 480, crate.box[3]]
    assert list(entry["bbox"].values()) == pytest.approx(expected, abs=1)


def test_people_come_with_seventeen_points(tmp_path: Path) -> None:
    picture, objects = building_site(2), objects_of(2)
    bench = Bench(tmp_path / "workspace", (Scene.of(encoded(picture, "PNG"), objects),))
    picture.resize((480, 320)).save(bench.folder / "small.png")
    text, details, _ = blocks(bench, "detect-human-pose-keypoints", imageFileUri="small.png", includeDescription=True)
    workers = sorted((item for item in objects if item.label == "worker"), key=lambda item: -item.score)
    assert text == f"{len(workers)} human(s) detected in image."
    people = json.loads(details.removeprefix("Detailed human pose keypoints detection results: "))
    assert [list(person) for person in people] == [["name", "bbox", "pose", "description"]] * len(workers)
    assert list(people[0]["pose"])[:3] == ["nose", "leftEye", "rightEye"]
    assert len(people[0]["pose"]) == 17
    x, y, _ = workers[0].keypoints[0]
    assert people[0]["pose"]["nose"] == {
        "x": pytest.approx(x / 2, abs=0.1),
        "y": pytest.approx(y / 2, abs=0.1),
        "visible": "visible",
    }


def visualize(bench: Bench, **arguments: Any) -> Image.Image:
    box = {"xmin": 100, "ymin": 100, "xmax": 200, "ymax": 180}
    given = {"imageFileUri": "media/site.png", "detections": [{"name": "ladder", "bbox": box}], **arguments}
    text = bench.text("dinox-mcp/visualize-detection-result", given)
    path = text.removeprefix("Visualization saved to: /workspace/")
    assert path.startswith("dinox-mcp/site_visualized_2025-11-01T12-00-00-")
    with Image.open(bench.folder / path) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def test_a_visualization_changes_the_copy_only_at_boxes_and_labels(bench: Bench) -> None:
    before = (bench.folder / "media" / "site.png").read_bytes()
    drawn = visualize(bench, showLabels=False, boxThickness=3)
    with Image.open(bench.folder / "media" / "site.png") as original:
        assert ImageChops.difference(drawn, original.convert("RGB")).getbbox() == (100, 100, 200, 180)
    assert colour(drawn, 101, 140) == colour(drawn, 198, 140) == colour(drawn, 150, 178)
    assert colour(drawn, 103, 140) == colour(building_site(4).resize((480, 320)), 103, 140)
    assert_same_bytes((bench.folder / "media" / "site.png").read_bytes(), before, "site.png")
    labelled = visualize(bench)
    assert ImageChops.difference(drawn, labelled).getbbox() is not None


def test_each_name_has_its_own_colour(bench: Bench) -> None:
    boxes = [
        {"name": name, "bbox": {"xmin": 60 * place, "ymin": 200, "xmax": 60 * place + 50, "ymax": 250}}
        for place, name in enumerate(["cat", "dog", "cat"])
    ]
    drawn = visualize(bench, detections=boxes, showLabels=False)
    cat, dog, other_cat = (colour(drawn, 60 * place + 1, 225) for place in range(3))
    assert cat == other_cat != dog


def test_visualizations_never_replace_one_another(bench: Bench) -> None:
    visualize(bench)
    visualize(bench)
    assert len(list((bench.folder / "dinox-mcp").iterdir())) == 1
    visualize(bench, showLabels=False)
    names = sorted(path.name for path in (bench.folder / "dinox-mcp").iterdir())
    assert names == [f"site_visualized_2025-11-01T12-00-00-00{number}Z.png" for number in (0, 1)]


@pytest.mark.parametrize(
    "box",
    [(-50, -50, 20, 20), (400, 300, 9000, 9000), (600, 600, 700, 700), (200, 180, 100, 100), (50, 50, 50.2, 50.2)],
)
def test_boxes_of_any_shape_can_be_drawn(bench: Bench, box: tuple[float, ...]) -> None:
    corners = dict(zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True))
    assert visualize(bench, detections=[{"name": "näme\n漢字" * 30, "bbox": corners}]).size == (480, 320)


@pytest.mark.parametrize(
    "arguments",
    [
        {"fontSize": 0},
        {"fontSize": 1e6},
        {"boxThickness": -1},
        {"imageFileUri": "media/none.png"},
        {"imageFileUri": "https://example.org/site.png"},
        {"detections": [{"name": "x", "bbox": {"xmin": 0, "ymin": 0, "xmax": 1, "ymax": 1}}] * 2001},
    ],
    ids=["no font", "huge font", "no line", "no file", "web address", "too many boxes"],
)
def test_what_cannot_be_drawn_is_refused_and_leaves_no_file(bench: Bench, arguments: dict[str, Any]) -> None:
    reply = bench.reply(
        "dinox-mcp/visualize-detection-result", {"imageFileUri": "media/site.png", "detections": [], **arguments}
    )
    assert reply.outcome != "success"
    assert reply.result["content"][0]["text"].startswith("Failed to visualize detections: ")
    assert not (bench.folder / "dinox-mcp").exists()


def test_what_the_editing_tools_make_of_a_picture_is_still_known(tmp_path: Path) -> None:
    picture, objects = building_site(2), objects_of(2)
    file = encoded(picture, "PNG")
    bench = Bench(tmp_path / "workspace", (Scene.of(file, objects),))
    (bench.folder / "site.png").write_bytes(file)
    area = {"x1": 400, "y1": 300, "x2": 500, "y2": 400, "blur_strength": 25}
    edits: list[tuple[str, dict[str, Any]]] = [
        ("blur", {"input_path": "site.png", "areas": [area], "output_path": "1.png"}),
        ("change_color", {"input_path": "1.png", "palette": "sepia", "output_path": "2.jpg"}),
        ("draw_texts", {"input_path": "2.jpg", "texts": [{"text": "Site", "x": 400, "y": 60}], "output_path": "3.png"}),
        ("crop", {"input_path": "3.png", "x1": 100, "y1": 0, "x2": 900, "y2": 640, "output_path": "4.png"}),
    ]
    for tool, arguments in edits:
        bench.text(f"imagesorcery-mcp/{tool}", arguments)
    entries = json.loads(blocks(bench, "detect-all-objects", imageFileUri="4.png")[1].partition(": ")[2])
    crate = next(item for item in objects if item.label == "crate")
    expected = [crate.box[0] - 100, crate.box[1], crate.box[2] - 100, crate.box[3]]
    assert [list(entry["bbox"].values()) for entry in entries if entry["name"] == "crate"] == [
        pytest.approx(expected, abs=1)
    ]


def test_of_small_things_one_in_four_is_missed_and_of_tiny_ones_all() -> None:
    def left(side: float) -> int:
        spots = [(x * 20.0, y * 20.0) for x in range(40) for y in range(40)]
        things = [SceneObject(label="coin", box=(x, y, x + side, y + side)) for x, y in spots]
        scene = Scene(sha256="0" * 64, width=800, height=800, thumbnail=b"", objects=tuple(things))
        assert noticed(scene) == noticed(scene)
        return len(noticed(scene).objects)

    assert left(15) == 0
    assert 1120 <= left(19) <= 1280
    large = SceneObject(label="coin", box=(0, 0, 100, 100))
    scene = Scene(sha256="0" * 64, width=800, height=800, thumbnail=b"", objects=(large,))
    assert noticed(scene) == scene


def test_what_something_larger_hides_is_missed() -> None:
    cup = SceneObject(label="cup", box=(100, 100, 200, 200))
    for edge, count in ((190, 1), (150, 2)):
        box = SceneObject(label="box", box=(90, 90, edge, 400))
        scene = Scene(sha256="0" * 64, width=800, height=800, thumbnail=b"", objects=(cup, box))
        assert len(noticed(scene).objects) == count
