"""The tools of `dinox-mcp`: finds objects and people in the pictures of a run, and draws boxes on them.

It works offline and answers from what is known of the run's pictures, found again by content in copies: resized,
cropped, mirrored, turned or framed. It tells what kind of thing is where, and nothing of names, writing or condition;
very small and hidden things are missed (sight). Any other picture is given to a trained detector where its weights
were fetched (vision), and every result of it says so; without them it is not known, which is a tool error. Other
failures are ordinary texts, as on the public server. Objects come by confidence, then from top to bottom and left to
right. Two visualisations never share a name, though the clock
stands still.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from PIL import ImageChops
from PIL.Image import Image

from m3bench.sandboxes.content import pretty
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import decode_picture, open_picture, save_picture
from m3bench.sandboxes.recognition import Recogniser
from m3bench.sandboxes.servers.dinox_mcp.drawing import Detection, draw
from m3bench.sandboxes.servers.dinox_mcp.sight import noticed
from m3bench.sandboxes.servers.dinox_mcp.words import match, terms
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.errors import LimitError, PathError, SoftError, ToolError
from m3bench.tasks.scene import Box, SceneObject

if TYPE_CHECKING:
    from m3bench.sandboxes.vision.detector import Detector

server = ToolServer("dinox-mcp", error="{message}")

_OBJECTS_FAILED = "Failed to detect objects from image"
_POSES_FAILED = "Failed to detect human pose keypoints from image"
_DRAWING_FAILED = "Failed to visualize detections"

_FOLDER = "dinox-mcp"
"""Where visualisations go, in the workspace."""

_MAX_PROMPT = 10_000
_MAX_DETECTIONS = 2000

_BODY = (
    *("nose", "leftEye", "rightEye", "leftEar", "rightEar", "leftShoulder", "rightShoulder", "leftElbow"),
    *("rightElbow", "leftWrist", "rightWrist", "leftHip", "rightHip", "leftKnee", "rightKnee", "leftAnkle"),
    "rightAnkle",
)
"""The points of a pose, in COCO order."""

_BOX_NOTE = (
    "Note: bbox holds the corners {xmin, ymin, xmax, ymax} in pixels of this image; "
    "the origin (0,0) is its top-left corner, x grows to the right and y downwards."
)
_POSE_NOTE = (
    "Note: bbox holds the corners {xmin, ymin, xmax, ymax} in pixels of this image, with the origin (0,0) at its "
    "top-left corner; pose points are in the same coordinates, each marked visible or not visible."
)


@dataclass(frozen=True)
class _Seen:
    """What is in a picture, and which networks found it; none did where the picture is known."""

    objects: list[SceneObject]
    source: str = ""


@server.tool
def detect_objects_by_text(imageFileUri: str, textPrompt: str, includeDescription: bool, context: Context) -> list[str]:
    wanted = _terms(textPrompt)
    seen = _look(context, imageFileUri, _OBJECTS_FAILED)
    found = []
    for item in seen.objects:
        fitting = [(closeness, term) for term in wanted if (closeness := match(term, item)) is not None]
        if fitting:
            found.append((min(fitting, key=lambda pair: pair[0])[1], item))
    return _object_report(found, includeDescription, seen.source)


@server.tool
def detect_all_objects(imageFileUri: str, includeDescription: bool, context: Context) -> list[str]:
    seen = _look(context, imageFileUri, _OBJECTS_FAILED)
    return _object_report([(item.label, item) for item in seen.objects], includeDescription, seen.source)


@server.tool
def detect_human_pose_keypoints(imageFileUri: str, includeDescription: bool, context: Context) -> list[str]:
    seen = _look(context, imageFileUri, _POSES_FAILED, bodies=True)
    people = [item for item in seen.objects if len(item.keypoints) == len(_BODY)]
    entries = [_entry("person", item, includeDescription, seen.source, pose=_pose(item)) for item in people]
    return [
        f"{len(people)} human(s) detected in image.",
        f"Detailed human pose keypoints detection results: {pretty(entries)}",
        _POSE_NOTE,
        *_origin(seen.source),
    ]


@server.tool
def visualize_detection_result(
    imageFileUri: str,
    detections: list[dict[str, Any]],
    context: Context,
    fontSize: float = 24,
    boxThickness: float = 4,
    showLabels: bool = True,
) -> str:
    try:
        path = _path(imageFileUri)
        image = open_picture(context.workspace, path)
        boxes = [Detection(item["name"], _corners(item["bbox"])) for item in detections[: _MAX_DETECTIONS + 1]]
        if len(boxes) > _MAX_DETECTIONS:
            raise LimitError(f"more than {_MAX_DETECTIONS} detections: draw them on several copies")
        font_size, thickness = _size(fontSize, "fontSize", 400), _size(boxThickness, "boxThickness", 200)
        draw(image, boxes, font_size=font_size if showLabels else None, thickness=thickness)
        return f"Visualization saved to: {_save(context, image, path)}"
    except ToolError as error:
        raise SoftError(f"{_DRAWING_FAILED}: {error}", outcome=error.outcome) from error


def _terms(prompt: str) -> list[str]:
    found = terms(prompt) if len(prompt) <= _MAX_PROMPT else []
    if not found:
        problem = "is too long" if len(prompt) > _MAX_PROMPT else "names nothing"
        raise SoftError(
            f"{_OBJECTS_FAILED}: the text prompt {problem}: give nouns separated by periods, such as person.ladder",
            outcome="invalid_arguments",
        )
    return found


def _look(context: Context, uri: str, failed: str, *, bodies: bool = False) -> _Seen:
    """What can be seen in a picture, in the order of results."""
    try:
        path = _path(uri)
        file = context.workspace.existing(path).read_bytes()
        image = decode_picture(file, context.workspace.limits, path)
    except ToolError as error:
        raise SoftError(f"{failed}: {error}", outcome=error.outcome) from error
    recogniser = context.memory.get(server.name)
    if recogniser is None:
        recogniser = context.memory[server.name] = Recogniser(map(noticed, context.scenes))
    sighting = recogniser.recognise(file, image)
    if sighting is not None:
        return _Seen(_in_order(sighting.objects))
    detector = _detector(context)
    if detector is None:
        raise ToolError(
            f"{failed}: {path!r} is not known here. This detector works offline: it knows only the pictures that "
            "came with the task, and copies of them: resized, cropped, mirrored, turned or framed. Use one of those.",
            outcome="gap",
        )
    if bodies:
        return _Seen(_in_order(detector.people(image)), f"{weights.DETECTOR.name} and {weights.POSE.name}")
    return _Seen(_in_order(detector.objects(image)), weights.DETECTOR.name)


def _detector(context: Context) -> "Detector | None":
    """The trained one, read when a picture needs it; None where nobody fetched its weights."""
    if not weights.are_there():
        return None
    if "vision" not in context.memory:
        from m3bench.sandboxes.vision.detector import Detector

        context.memory["vision"] = Detector()
    found: Detector = context.memory["vision"]
    return found


def _in_order(objects: Iterable[SceneObject]) -> list[SceneObject]:
    return sorted(objects, key=lambda item: (-item.score, item.box[1], item.box[0], item.label))


def _path(uri: str) -> str:
    """The path argument in a file URI or a plain path."""
    scheme, _, rest = uri.partition("://")
    if scheme.lower() == "file":
        return unquote(rest.removeprefix("localhost") if rest.startswith("localhost/") else rest)
    if scheme.lower() in ("http", "https"):
        raise PathError(
            "Only local image files are supported: give a path in the workspace, such as ./media/a.png, not a URL",
            outcome="invalid_arguments",
        )
    return uri


def _object_report(found: list[tuple[str, SceneObject]], described: bool, source: str) -> list[str]:
    counts = Counter(name for name, _ in found)
    entries = [_entry(name, item, described, source) for name, item in found]
    return [
        f"Objects detected in image: {', '.join(f'{name} ({count})' for name, count in counts.items())}.",
        f"Detailed object detection results: {pretty(entries)}",
        _BOX_NOTE,
        *_origin(source),
    ]


def _origin(source: str) -> list[str]:
    """Says that a trained network has answered."""
    return (
        [f"Source: {source}. This picture is none of the task's: what is found in it may be wrong."] if source else []
    )


def _entry(name: str, item: SceneObject, described: bool, source: str, **more: object) -> dict[str, object]:
    box = dict(zip(("xmin", "ymin", "xmax", "ymax"), map(_decimal, item.box), strict=True))
    trained = {"score": item.score, "source": source} if source else {}
    return {"name": name, "bbox": box, **more, **trained} | ({"description": item.label} if described else {})


def _pose(item: SceneObject) -> dict[str, object]:
    return {
        name: {"x": _decimal(x), "y": _decimal(y), "visible": "visible" if seen >= 0.5 else "not visible"}
        for name, (x, y, seen) in zip(_BODY, item.keypoints, strict=True)
    }


def _decimal(value: float) -> float:
    """A number with one decimal, or none where that is 0, as JavaScript prints it."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _corners(box: dict[str, float]) -> Box:
    values = [box["xmin"], box["ymin"], box["xmax"], box["ymax"]]
    if not all(isfinite(value) for value in values):
        raise ToolError("a box has a corner that is not a finite number", outcome="invalid_arguments")
    left, top, right, bottom = values
    return (min(left, right), min(top, bottom), max(left, right), max(top, bottom))


def _size(value: float, name: str, most: int) -> int:
    if not 1 <= value <= most:
        raise ToolError(f"{name} must be from 1 to {most} pixels", outcome="invalid_arguments")
    return round(value)


def _save(context: Context, image: Image, path: str) -> str:
    """Write a visualisation beside earlier ones of the same picture; the same one again keeps its name."""
    workspace = context.workspace
    stem = workspace.resolve(path).stem[:100]
    for name in _names(stem):
        real = workspace.resolve(name)
        if not real.exists():
            save_picture(workspace, image, name)
            return workspace.show(real)
        if _same(open_picture(workspace, name), image):
            return workspace.show(real)
    raise PathError(f"{_FOLDER} holds too many visualizations of {stem!r}")


def _names(stem: str) -> Iterable[str]:
    for number in range(1000):
        moment = (NOW + timedelta(milliseconds=number)).isoformat(timespec="milliseconds")
        stamp = moment.replace("+00:00", "Z").replace(":", "-").replace(".", "-")
        yield f"{_FOLDER}/{stem}_visualized_{stamp}.png"


def _same(one: Image, other: Image) -> bool:
    return one.size == other.size and one.mode == other.mode and ImageChops.difference(one, other).getbbox() is None
