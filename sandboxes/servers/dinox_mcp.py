"""The `dinox-mcp` server: detects objects and people in the pictures of a run, and draws boxes on them.

It works offline and answers from what is known of the run's pictures, found again by content in copies: resized,
cropped, mirrored, turned or framed. It tells what kind of thing is where, and nothing of names, writing or condition.
Any other picture is given to a trained detector (`m3bench.sandboxes.vision`) where its weights were fetched, and every
result of it says so; without them the picture is unknown, which is a tool error. Other failures are ordinary texts, as
on the public server. Objects come by confidence, then from top to bottom and left to right. Two visualisations never
share a name, though the clock stands still.

The words of a prompt are understood from small tables of plain English nouns: plurals, spellings, synonyms and kinds.
What a picture's author calls a thing by another name belongs in the object's aliases. `match` says how closely a term
fits an object, so that of several terms the closest names it.

Like a real detector it misses what is very small or hidden (`noticed`): one in four of the things that take less than
`SMALL` of a picture, all below `TINY`, and whatever something larger of another kind covers by more than `HIDDEN`.
Which are missed depends on the picture alone: asking again, or about a copy, does not bring them back.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import IntEnum
from functools import cache, lru_cache
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from PIL import ImageChops
from PIL.Image import Image
from PIL.ImageFont import FreeTypeFont

from m3bench.sandboxes.content import pretty
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import decode_picture, open_picture, save_picture
from m3bench.sandboxes.recognition import Recogniser, clip
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.drawing.fonts import plain_font
from m3bench.tasks.drawing.sheet import Colour, Sheet
from m3bench.tasks.errors import LimitError, PathError, SoftError, ToolError
from m3bench.tasks.scene import Box, Scene, SceneObject

if TYPE_CHECKING:
    from m3bench.sandboxes.vision.detector import Detector

_FILLERS = {"a", "an", "the", "some", "any", "all", "every", "each"}

_NOT_THEIR_LAST_WORD = {
    *("hot dog", "teddy bear", "guinea pig", "sea lion", "sea horse", "prairie dog", "rubber duck", "toy dog"),
    *("computer mouse", "pc mouse", "baseball bat", "cricket bat", "paper plane", "piggy bank", "model ship"),
}
"""Names whose last word says something else: a hot dog is no dog."""


class Closeness(IntEnum):
    """How a term fits an object; less is closer."""

    NAME = 0
    ALIAS = 1
    SYNONYM = 2
    LAST_WORD = 3
    KIND = 4
    QUALIFIED = 5


def terms(prompt: str) -> list[str]:
    """The terms of a prompt, as they were written and in order, without repetitions."""
    pieces = (" ".join(piece.split()) for piece in re.split(r"[.,;\n]+", prompt))
    return list(dict.fromkeys(piece for piece in pieces if plain(piece)))


@lru_cache(4096)
def plain(words: str) -> str:
    """Words in the form they are compared in: small letters, singular, without articles and hyphens."""
    parts = re.sub(r"[\W_]+", " ", words.replace("'s", "").casefold()).split()
    while len(parts) > 1 and parts[0] in _FILLERS:
        parts.pop(0)
    if parts and " ".join(parts) != "glasses":
        parts[-1] = singular(parts[-1])
    return " ".join(parts)


def singular(word: str) -> str:
    """A noun in the singular; one that is there already comes back as it is."""
    if word in _plurals():
        return _plurals()[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")) or (word.endswith("uses") and not word.endswith("ouses")):
        return word[:-2]
    return word[:-1]


def match(term: str, item: SceneObject) -> Closeness | None:
    """How closely a term fits an object, None when it does not.

    A detector knows things and not how they are: `torn cable` and `cable with a plug` fit any cable.
    """
    words = plain(term.partition(" with ")[0]).split()
    for start in range(len(words)):
        noun = " ".join(words[start:])
        found = _match_noun(noun, item)
        if found is not None:
            return Closeness.QUALIFIED if start else found
        if noun in _NOT_THEIR_LAST_WORD:
            return None
    return None


def _match_noun(noun: str, item: SceneObject) -> Closeness | None:
    label = plain(item.label)
    aliases = [plain(alias) for alias in item.aliases]
    if _same_noun(noun, label):
        return Closeness.NAME
    if any(_same_noun(noun, alias) for alias in aliases):
        return Closeness.ALIAS
    names = {other for name in (label, *aliases) for other in (name, *_synonyms().get(_joined(name), ()))}
    if any(_same_noun(noun, name) for name in names):
        return Closeness.SYNONYM
    if any(name.endswith(f" {noun}") and name not in _NOT_THEIR_LAST_WORD for name in names):
        return Closeness.LAST_WORD
    if _joined(noun) in _kinds_of(names):
        return Closeness.KIND
    return None


def _kinds_of(names: Iterable[str]) -> set[str]:
    """Everything the names are a kind of, however far up, with the synonyms of that."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        tails = [] if name in _NOT_THEIR_LAST_WORD else [name.rpartition(" ")[2]]
        for kind in {kind for part in (name, *tails) for kind in _kinds().get(_joined(part), ())}:
            if _joined(kind) not in found:
                found.update(map(_joined, (kind, *_synonyms().get(_joined(kind), ()))))
                waiting.append(kind)
    return found


def _same_noun(one: str, other: str) -> bool:
    return _joined(one) == _joined(other)


def _joined(name: str) -> str:
    """`hard hat` and `hardhat` are the same."""
    return name.replace(" ", "")


@cache
def _plurals() -> Mapping[str, str]:
    """Irregular plural to singular."""
    return {record["id"]: record["singular"] for record in tables.load("irregular_plurals")}


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    """Joined name to all names of its group."""
    groups = [tuple(plain(name) for name in record["names"]) for record in tables.load("synonyms")]
    return {_joined(name): group for group in groups for name in group}


@cache
def _kinds() -> Mapping[str, tuple[str, ...]]:
    """Joined name to what it is a kind of."""
    found: dict[str, tuple[str, ...]] = {}
    for record in tables.load("kinds"):
        for member in record["members"]:
            key = _joined(plain(member))
            found[key] = (*found.get(key, ()), plain(record["id"]))
    return found


SMALL, TINY = 0.003, 0.0004
"""Shares of the picture's area."""
HIDDEN = 0.75
ONE_IN = 4
_CELLS = 12
"""Along a side, to measure what is covered."""


def noticed(scene: Scene) -> Scene:
    """A scene without what a detector misses."""
    kept = (item for number, item in enumerate(scene.objects) if not _missed(scene, number, item))
    return replace(scene, objects=tuple(kept))


def _missed(scene: Scene, number: int, item: SceneObject) -> bool:
    hidden = _covered(item.box, [other.box for other in scene.objects[number + 1 :] if other.label != item.label])
    left, top, right, bottom = item.box
    share = (right - left) * (bottom - top) * (1 - hidden) / (scene.width * scene.height)
    if share < TINY or hidden > HIDDEN:
        return True
    return share < SMALL and sha256(f"{scene.sha256} {number}".encode()).digest()[0] % ONE_IN == 0


def _covered(box: Box, others: list[Box]) -> float:
    """The share of a box that others lie over."""
    left, top, right, bottom = box
    near = [other for other in others if other[0] < right and other[2] > left and other[1] < bottom and other[3] > top]
    # What is worn or held is in front of somebody and hides nothing of note.
    near = [other for other in near if (other[2] - other[0]) * (other[3] - other[1]) >= (right - left) * (bottom - top)]
    if not near:
        return 0.0
    cells = [
        (left + (column + 0.5) / _CELLS * (right - left), top + (row + 0.5) / _CELLS * (bottom - top))
        for row in range(_CELLS)
        for column in range(_CELLS)
    ]
    over = sum(any(other[0] <= x <= other[2] and other[1] <= y <= other[3] for other in near) for x, y in cells)
    return over / len(cells)


_COLOURS: tuple[Colour, ...] = (
    (230, 25, 75),
    (31, 119, 212),
    (42, 157, 58),
    (245, 130, 49),
    (142, 36, 170),
    (0, 151, 157),
    (194, 24, 91),
    (109, 76, 65),
    (57, 73, 171),
    (122, 139, 0),
    (212, 161, 0),
    (69, 90, 100),
)
_LONGEST_LABEL = 80
_PADDING = 4


class Detection(NamedTuple):
    """A named box."""

    name: str
    box: Box


def draw(image: Image, detections: Sequence[Detection], *, font_size: int | None, thickness: int) -> None:
    """Draw on the picture itself; without a font size there are no labels. What lies outside is left out."""
    sheet = Sheet(image)
    font = plain_font(font_size) if font_size is not None else None
    names = list(dict.fromkeys(detection.name for detection in detections))
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None:
            left, top, right, bottom = part
            sheet.frame(left, top, max(left, right - 1), max(top, bottom - 1), colours[name], thickness)
    # Labels come last, so that no box runs through the words.
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None and font is not None:
            _label(sheet, font, name[:_LONGEST_LABEL], part, colours[name], image.width)


def _label(
    sheet: Sheet,
    font: FreeTypeFont,
    name: str,
    box: Box,
    colour: Colour,
    picture_width: int,
) -> None:
    """White words on a plate over the box, or inside it where there is no room above."""
    left, top, right, bottom = font.getbbox(name)
    width, height = right - left + 2 * _PADDING, bottom - top + 2 * _PADDING
    x = max(0, min(box[0], picture_width - width))
    y = box[1] - height if box[1] >= height else box[1]
    sheet.box(x, y, x + width - 1, y + height - 1, colour)
    sheet.text(x + _PADDING - left, y + _PADDING - top, name, font, (255, 255, 255))


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
